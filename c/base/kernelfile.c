#include "kernelfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

/* For a file of /proc/sys the kernel allocates and clears all that a read asks for: ask little of small ones. */
#define PAGE 4096u
#define MOST_ASKED (64u << 10)
/* Below this a text made line by line that comes short is at its end: the next line, of whatever file, would have fitted. */
#define SURELY_WHOLE (PAGE / 2)

/* Readings after which a file that was not there is looked for again, where not every kernel has it. */
#define SELDOM 10u

/* Of the loop that sends, one text at a time, and behind it something small, or an index of what is in the text. Only
 * what is used of it costs memory. */
static char shared[MOST_BYTES + INDEX_BYTES] LARGE;
static size_t used_of_shared;

bool means_absent(const char *path, int error) {
  return error == ENOENT || error == ENOTDIR || error == EOPNOTSUPP || access(path, F_OK) != 0;
}

void add_unreadable(struct words *words, const char *path, int error, size_t most) {
  add_text(words, "cannot read ");
  add_text(words, path);
  add_text(words, ": ");
  if (error == NOT_REGULAR) {
    add_text(words, "not a regular file");
  } else if (error == TOO_LARGE) {
    add_text(words, "larger than ");
    add_number(words, most);
    add_text(words, " bytes");
  } else {
    add_text(words, error_name(error));
  }
}

int open_regular(const char *path, int *error) {
  /* A FIFO that somebody planted must not hang us (NONBLOCK), nor a terminal become ours (NOCTTY). */
  const int fd = openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd == -1) {
    *error = errno;
    return -1;
  }
  struct stat stats;
  if (fstat(fd, &stats) == 0 && S_ISREG(stats.st_mode)) return fd;
  *error = NOT_REGULAR;
  close(fd);
  return -1;
}

int read_whole(int fd, int flags, uint32_t ask, char *into, size_t room, size_t *length) {
  return read_enough(fd, flags, ask, into, room, length, NULL);
}

int read_enough(int fd, int flags, uint32_t ask, char *into, size_t room, size_t *length, bool (*enough)(struct span)) {
  size_t used = 0;
  for (;;) {
    if (used >= room) return TOO_LARGE;
    const size_t asked = ask < room - used ? ask : room - used;
    const ssize_t got = pread(fd, into + used, asked, (off_t)used);
    if (got < 0) return errno;
    used += (size_t)got;
    const bool is_short = (size_t)got < asked;
    if (got == 0 || (is_short && ((flags & FILE_IN_LINES) == 0 || used < SURELY_WHOLE))) break;
    if (enough != NULL && enough((struct span){into, used})) break;
    ask = is_short ? PAGE : ask * 4 < MOST_ASKED ? ask * 4 : MOST_ASKED;
  }
  *length = used;
  return 0;
}

static const char *path_of(const struct kernel_file *file, char *path, size_t room) {
  struct words words = {path, room, 0};
  add_text(&words, *file->root);
  add_text(&words, file->leaf);
  return text_of(&words);
}

char *file_place(void) { return shared + used_of_shared; }

bool file_read(struct kernel_file *file, struct span *text) {
  char path[1024];
  int error = 0;
  if (file->absent > 0) {
    file->absent--;
    return false;
  }
  if (file->fd == -1) file->fd = open_regular(path_of(file, path, sizeof path), &error);
  if (file->fd != -1) {
    size_t length = 0;
    const uint32_t ask = file->ask > PAGE ? file->ask : PAGE;
    error = read_enough(file->fd, file->flags, ask, shared, MOST_BYTES, &length, file->enough);
    *text = (struct span){shared, length};
    used_of_shared = length;
    /* One byte more than there was, so that the next read comes short. */
    file->ask = (uint32_t)(length / PAGE + 1) * PAGE;
  }
  if (error == 0) return true;
  file_close(file);
  const bool is_absent = (file->flags & FILE_OPTIONAL) != 0 && means_absent(path_of(file, path, sizeof path), error);
  if (is_absent) file->absent = SELDOM - 1;
  if (!file->told && !is_absent) {
    char why[1200];
    struct words words = WORDS(why);
    add_unreadable(&words, path_of(file, path, sizeof path), error, MOST_BYTES);
    tell(text_of(&words));
    file->told = true;
  }
  return false;
}

bool file_parsed(struct kernel_file *file, enum parsed parsed) {
  const char *root = *file->root;
  tell_once(&file->told, parsed != REFUSED, root, file->leaf, " has unexpected content: its readings are left out");
  if (parsed == REFUSED) return false;
  tell_once(&file->told_in_part, parsed == WHOLE, root, file->leaf, " has a line that is not understood: it is left out");
  return true;
}

void file_close(struct kernel_file *file) {
  if (file->fd != -1) close(file->fd);
  file->fd = -1;
}

int read_once(const char *path, int flags, size_t most, char *into, size_t room, struct span *text) {
  int error = 0;
  const int fd = open_regular(path, &error);
  if (fd == -1) return error;
  const bool cut = most > 0 && most < room;
  size_t length = cut ? most : 0;
  error = read_whole(fd, flags, PAGE, into, cut ? most : room, &length);
  close(fd);
  if (error != 0 && !(cut && error == TOO_LARGE)) return error;
  *text = (struct span){into, length};
  return 0;
}

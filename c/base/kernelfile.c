#include "kernelfile.h"

#include <errno.h>
#include <unistd.h>

#include "say.h"

/* Readings after which a file that was not there is looked for again, where not every kernel has it. */
#define SELDOM 10u
/* What a text gets room for at first. */
#define MOST_FIRST (128u << 10)

/* Of the loop that sends, one text at a time, and behind it something small, or an index of what is in the text. */
static struct room shared;
static size_t used_of_shared;
#define PLACE_BYTES (2 * SMALL_BYTES)

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

static const char *kernel_path(const struct kernel_file *file, char *path, size_t room) {
  struct words words = {path, room, 0};
  add_text(&words, *file->root);
  add_text(&words, file->leaf);
  return text_of(&words);
}

char *file_place(void) { return shared.at + used_of_shared; }

bool file_room(struct span *text, size_t bytes) {
  const bool has_room = make_room(&shared, used_of_shared + bytes);
  text->at = shared.at;
  return has_room;
}

int read_growing(const struct kernel_file *file, struct room *room, size_t spare, struct span *text) {
  const uint32_t ask = file->ask > PAGE ? file->ask : PAGE;
  for (size_t wanted = MOST_FIRST;; wanted = 2 * room->bytes) {
    if (!make_room(room, wanted + spare)) return ENOMEM;
    const size_t most = room->bytes - spare < MOST_BYTES ? room->bytes - spare : MOST_BYTES;
    size_t length = 0;
    const int error = read_enough(file->fd, file->flags, ask, room->at, most, &length, file->enough);
    *text = (struct span){room->at, length};
    if (error != TOO_LARGE || most == MOST_BYTES) return error;
  }
}

bool file_read(struct kernel_file *file, struct span *text) {
  char path[1024];
  struct stat stats;
  int error = 0;
  if (file->absent > 0) {
    file->absent--;
    return false;
  }
  if (file->fd == -1) file->fd = open_regular(kernel_path(file, path, sizeof path), &stats, &error);
  if (file->fd != -1) {
    error = read_growing(file, &shared, PLACE_BYTES, text);
    used_of_shared = text->len;
    /* One byte more than there was, so that the next read comes short. */
    file->ask = (uint32_t)(text->len / PAGE + 1) * PAGE;
  }
  if (error == 0) return true;
  file_close(file);
  const bool is_absent = (file->flags & FILE_OPTIONAL) != 0 &&
    means_absent(kernel_path(file, path, sizeof path), error);
  if (is_absent) file->absent = SELDOM - 1;
  if (!file->told && !is_absent) {
    char why[1200];
    struct words words = WORDS(why);
    add_unreadable(&words, kernel_path(file, path, sizeof path), error, MOST_BYTES);
    tell(text_of(&words));
    file->told = true;
  }
  return false;
}

bool file_parsed(struct kernel_file *file, enum parsed parsed) {
  const char *root = *file->root;
  tell_once(&file->told, parsed != REFUSED, root, file->leaf, " has unexpected content: its readings are left out");
  if (parsed == REFUSED) return false;
  tell_once(&file->told_in_part, parsed == WHOLE, root, file->leaf,
            " has a line that is not understood: it is left out");
  return true;
}

void file_close(struct kernel_file *file) {
  if (file->fd != -1) close(file->fd);
  file->fd = -1;
}

int read_once(const char *path, int flags, size_t most, char *into, size_t room, struct span *text) {
  struct stat stats;
  int error = 0;
  const int fd = open_regular(path, &stats, &error);
  if (fd == -1) return error;
  const bool cut = most > 0 && most < room;
  size_t length = cut ? most : 0;
  error = read_whole(fd, flags, PAGE, into, cut ? most : room, &length);
  close(fd);
  if (error != 0 && !(cut && error == TOO_LARGE)) return error;
  *text = (struct span){into, length};
  return 0;
}

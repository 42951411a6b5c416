#include "wholefile.h"

#include <errno.h>
#include <unistd.h>

/* For a file of /proc/sys the kernel allocates and clears all that a read asks for: ask little of small ones. */
#define MOST_ASKED (64u << 10)
/* Below this a text made line by line that comes short is at its end: the next line, of whatever file, would have
 * fitted. */
#define SURELY_WHOLE (PAGE / 2)

int open_regular(const char *path, struct stat *stats, int *error) {
  const int fd = open_to_read(path, 0);
  if (fd == -1) {
    *error = errno;
    return -1;
  }
  if (fstat(fd, stats) == 0 && S_ISREG(stats->st_mode)) return fd;
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

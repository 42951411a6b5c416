#include "smallfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/fault.h"

/* One byte more than its size is read: it may have grown. */
static const char *read_whole(int fd, char *text, size_t *length) {
  *length = 0;
  while (*length <= MOST_FILE) {
    const ssize_t got = read(fd, text + *length, MOST_FILE + 1 - *length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return strerror(errno);
    if (got == 0) return NULL;
    *length += (size_t)got;
  }
  return "larger than 8 MiB";
}

static const char *check(const struct stat *st) {
  if (!S_ISREG(st->st_mode)) return "it is not a file";
  if ((st->st_mode & 022) != 0) return "others than its owner can write it";
  return NULL;
}

const char *smallfile_read(const char *path, char **text, size_t *length, double *age) {
  struct stat st;
  struct timespec now;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make us wait */
  const char *why = fd < 0 || fstat(fd, &st) != 0 ? strerror(errno) : check(&st);
  *text = why == NULL ? (char *)malloc(MOST_FILE + 1) : NULL; /* pages are allocated only when they are read into */
  if (why == NULL) why = *text == NULL ? "out of memory" : read_whole(fd, *text, length);
  if (fd >= 0) close(fd);
  if (why != NULL) {
    free(*text);
    *text = NULL;
    return fault("cannot read %s: %s", quoted(path, strlen(path)), why);
  }
  clock_gettime(CLOCK_REALTIME, &now);
  if (age != NULL) *age = (double)(now.tv_sec - st.st_mtim.tv_sec) + (double)(now.tv_nsec - st.st_mtim.tv_nsec) / 1e9;
  return NULL;
}

#include "smallfile.h"

#include <stdlib.h>
#include <unistd.h>

#include "fault.h"
#include "wholefile.h"

static const char *smallfile_why_not(int error) {
  return error == NOT_REGULAR ? "it is not a file" : error == TOO_LARGE ? "larger than 8 MiB" : strerror(error);
}

static const char *smallfile_read_fd(int fd, const struct stat *st, char **text, size_t *length) {
  if ((st->st_mode & 022) != 0) return "others than its owner can write it";
  const size_t room = room_of(st, MOST_FILE);
  *text = (char *)malloc(room);
  if (*text == NULL) return "out of memory";
  const int error = read_whole(fd, FILE_IN_LINES, PAGE, *text, room, length);
  return error == 0 ? NULL : smallfile_why_not(error);
}

const char *smallfile_read(const char *path, char **text, size_t *length, double *age) {
  struct stat st;
  struct timespec now;
  int error;
  const int fd = open_regular(path, &st, &error);
  *text = NULL;
  const char *why = fd < 0 ? smallfile_why_not(error) : smallfile_read_fd(fd, &st, text, length);
  if (fd >= 0) close(fd);
  if (why != NULL) {
    free(*text);
    *text = NULL;
    return fault("cannot read %s: %s", quoted(path, strlen(path)), why);
  }
  clock_gettime(CLOCK_REALTIME, &now);
  *age = (double)(now.tv_sec - st.st_mtim.tv_sec) + (double)(now.tv_nsec - st.st_mtim.tv_nsec) / 1e9;
  return NULL;
}

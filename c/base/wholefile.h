/* Opens and reads whole files, and waits for nobody, whatever has taken the place of one. Whom a file must belong to,
 * and who may write it, is the caller's to judge. */
#ifndef BB_WHOLEFILE_H
#define BB_WHOLEFILE_H
#include <fcntl.h>
#include <sys/stat.h>

#include "text.h"

#define PAGE 4096u

/* What went wrong: an error number, or one of these. */
enum { NOT_REGULAR = -1, TOO_LARGE = -2 };

enum {
  /* The kernel makes it line by line, and returns about a page at a time: a short read is not its end. */
  FILE_IN_LINES = 1,
  /* Not every kernel has it: if it is missing, there is no log line. */
  FILE_OPTIONAL = 2,
};

/* Opens to read: a FIFO that somebody planted must not hang us (NONBLOCK), nor a terminal become ours (NOCTTY). */
static inline int open_to_read(const char *path, int flags) {
  return openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
}
/* The same for a regular file, and its state; returns the descriptor, or -1 with the error in `error`. */
int open_regular(const char *path, struct stat *stats, int *error);

/* The room for a file of at most `most` bytes, which may grow a little until it is read. */
static inline size_t room_of(const struct stat *stats, size_t most) {
  const size_t room = (size_t)stats->st_size + 16 * PAGE;
  return room <= most ? room : most + 1;
}
/* Reads from offset 0 to the end, which must come before `room`, or until there is enough; at first `ask` bytes. 0, or
 * the error. */
int read_whole(int fd, int flags, uint32_t ask, char *into, size_t room, size_t *length);
int read_enough(int fd, int flags, uint32_t ask, char *into, size_t room, size_t *length, bool (*enough)(struct span));

#endif

// Preloaded into a program, makes calls hang for one path, as a dead file system does: while HANG_FIFO names a FIFO,
// statfs of HANG_PATH, and openat of it by another thread than the first, wait until somebody opens that FIFO for
// writing. Changes nothing else.

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

static void hang(const char *path) {
  const char *hung = getenv("HANG_PATH"), *fifo = getenv("HANG_FIFO");
  if (hung == NULL || fifo == NULL || strcmp(path, hung) != 0) return;
  int fd = open(fifo, O_RDONLY | O_CLOEXEC);
  if (fd != -1) close(fd);
}

/** The function that this one stands before. ISO C has no cast from what dlsym gives to a function. */
#define NEXT(name, result)           \
  int (*next)(const char *, result); \
  *(void **)&next = dlsym(RTLD_NEXT, name)

int statfs(const char *path, struct statfs *into) {
  hang(path);
  NEXT("statfs", struct statfs *);
  return next(path, into);
}

int statfs64(const char *path, struct statfs64 *into) {
  hang(path);
  NEXT("statfs64", struct statfs64 *);
  return next(path, into);
}

/** The C library's own statvfs calls the kernel itself, past the two functions above. */
int statvfs(const char *path, struct statvfs *into) {
  hang(path);
  NEXT("statvfs", struct statvfs *);
  return next(path, into);
}

int openat(int folder, const char *path, int flags, ...) {
  if (gettid() != getpid()) hang(path);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  int (*next)(int, const char *, int, ...);
  *(void **)&next = dlsym(RTLD_NEXT, "openat");
  return next(folder, path, flags, mode);
}

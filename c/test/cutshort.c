/* Cuts a board short while it is read, preloaded into a program that reads one: CUT_SHORT behind its second look
 * at the file's size, after which it copies; CUT_AT_LOOK behind the library's first look at the clock, after which it
 * judges. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int looks;
  int (*real)(clockid_t, struct timespec *);
  // ISO C has no cast from what dlsym gives to a function.
  *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("CUT_AT_LOOK");
  if (path != NULL && clock == CLOCK_MONOTONIC_COARSE && ++looks == 1 && truncate(path, 4096) != 0) abort();
  return real(clock, now);
}

off_t lseek(int fd, off_t offset, int whence) {
  static int looks;
  off_t (*real)(int, off_t, int);
  *(void **)&real = dlsym(RTLD_NEXT, "lseek");
  const off_t bytes = real(fd, offset, whence);
  const char *path = getenv("CUT_SHORT");
  if (path != NULL && whence == SEEK_END && ++looks == 2 && truncate(path, 4096) != 0) abort();
  return bytes;
}

/* Cuts a board short while it is read, preloaded into a program that reads one: behind its second look at the file's
 * size, after which it copies. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

off_t lseek(int fd, off_t offset, int whence) {
  static int looks;
  off_t (*real)(int, off_t, int);
  // ISO C has no cast from what dlsym gives to a function.
  *(void **)&real = dlsym(RTLD_NEXT, "lseek");
  const off_t bytes = real(fd, offset, whence);
  const char *path = getenv("CUT_SHORT");
  if (path != NULL && whence == SEEK_END && ++looks == 2 && truncate(path, 4096) != 0) abort();
  return bytes;
}

// Preloaded into a program, answers its requests for huge pages: each is noted as a byte in the file COLLAPSE_LOG,
// takes COLLAPSE_MS ms, and ends with the error COLLAPSE_ERROR (0: success, but nothing is done). Changes nothing else.

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

int madvise(void *at, size_t length, int advice) {
  if (advice != MADV_COLLAPSE) return (int)syscall(SYS_madvise, at, length, advice);
  const int log = open(getenv("COLLAPSE_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0 || write(log, ".", 1) != 1) abort();
  close(log);
  usleep((useconds_t)atoi(getenv("COLLAPSE_MS")) * 1000);
  errno = atoi(getenv("COLLAPSE_ERROR"));
  return errno == 0 ? 0 : -1;
}

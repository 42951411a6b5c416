/* For tests, preloaded: a clock that stands still while the helper works, and waits that are over at once. So a minute
 * takes no time, and is a minute to the millisecond. HURRY_LOG is told of each wait, in seconds; the next wait renames
 * FILE.hold beside it to FILE.held, and lasts until that is removed. With HURRY_TORN a file is replaced as none must
 * be, in two pieces: whoever looks for torn files has to find these. With HURRY_END it is ended just before. With
 * HURRY_TICKS the clock goes on with the pauses of the thread that writes during a call. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec now = {1000, 0};

int clock_gettime(clockid_t clock, struct timespec *into) {
  if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, into);
  *into = now;
  return 0;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most) {
  static const struct timespec at_once = {0, 0};
  static int (*real)(const sigset_t *, siginfo_t *, const struct timespec *);
  if (real == NULL) {
    void *found = dlsym(RTLD_NEXT, "sigtimedwait");
    memcpy(&real, &found, sizeof found);
  }
  const char *log = getenv("HURRY_LOG");
  if (log != NULL) {
    char line[64];
    const int length = snprintf(line, sizeof line, "%lld.%03ld\n", (long long)most->tv_sec, most->tv_nsec / 1000000);
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (write(fd, line, (size_t)length) < 0) abort();
    close(fd);
    char hold[4096], held[4096];
    snprintf(hold, sizeof hold, "%s.hold", log);
    snprintf(held, sizeof held, "%s.held", log);
    if (renameat(AT_FDCWD, hold, AT_FDCWD, held) == 0)
      while (access(held, F_OK) == 0) usleep(1000);
    usleep(1000);
  }
  now.tv_sec += most->tv_sec + (now.tv_nsec + most->tv_nsec) / 1000000000;
  now.tv_nsec = (now.tv_nsec + most->tv_nsec) % 1000000000;
  return real(set, info, &at_once);
}

int nanosleep(const struct timespec *pause, struct timespec *left) {
  if (getenv("HURRY_TICKS") == NULL) return (int)syscall(SYS_nanosleep, pause, left);
  now.tv_sec++;
  usleep(1000);
  return 0;
}

int rename(const char *from, const char *to) {
  char text[1 << 16];
  if (getenv("HURRY_END") != NULL) raise(SIGTERM);
  if (getenv("HURRY_TORN") == NULL) return renameat(AT_FDCWD, from, AT_FDCWD, to);
  const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const ssize_t length = read(in, text, sizeof text), half = length / 2;
  if (half < 0 || write(out, text, (size_t)half) < 0 || write(out, text + half, (size_t)(length - half)) < 0) abort();
  close(in);
  close(out);
  return unlink(from);
}

// Preloaded into a daemon, stands in for what no test can have of the system: a wall clock that steps, a receive thread
// that is held at a chosen point of its drain, a small socket buffer, a slow name service. STANDIN names a file of
// words by which a test steers it:
//
//   word 0     where the receive thread is to be held, and as long as it says so: a `point`, 0 nowhere
//   word 1     how often it was held
//   word 2     for BEFORE_RECEIVE: at which call of a drain, from 0; ANY_CALL: at each
//   word 3     1: the kernel's receive times are not stepped
//   word 4     the largest socket buffer that is granted, bytes; 0: the kernel decides
//   word 5     how long it takes to find the name `slow.invalid`, which is 127.0.0.1, ms
//   word 6     datagrams that are to be taken away before the daemon sees them
//   word 7     steps of the wall clock that follow
// word 8 …   of each step: CLOCK_REALTIME of the kernel at which it takes effect, and how far the clock is off from
// then on, ns

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

enum point { NOWHERE, BEGUN, BEFORE_RECEIVE, AFTER_RECEIVE, AFTER_DRAIN };
enum word { HOLD, HELD, CALL, UNSTEPPED, BUFFER, LOOKUP, STEAL, STEPS, FIRST_STEP };

#define SECOND INT64_C(1000000000)
#define FILE_BYTES 4096
#define ANY_CALL UINT64_MAX

/** The function that this one stands before. ISO C has no cast from what dlsym gives to a function. */
#define NEXT(name, result, ...)     \
  static result (*next)(__VA_ARGS__); \
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, name)

static uint64_t *words;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("STANDIN");
  const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  void *map = fd < 0 ? MAP_FAILED : mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) words = (uint64_t *)map;
}

static uint64_t word(unsigned i) { return words == NULL ? 0 : __atomic_load_n(&words[i], __ATOMIC_ACQUIRE); }

/** How far the wall clock is off at this time of the kernel's. */
static int64_t offset_at(int64_t real_ns) {
  int64_t offset = 0;
  for (unsigned i = 0; i < word(STEPS); i++)
    if (real_ns >= (int64_t)word(FIRST_STEP + 2 * i)) offset = (int64_t)word(FIRST_STEP + 2 * i + 1);
  return offset;
}

static void shift(struct timespec *t) {
  const int64_t real = (int64_t)t->tv_sec * SECOND + t->tv_nsec;
  const int64_t shifted = real + offset_at(real);
  t->tv_sec = shifted / SECOND;
  t->tv_nsec = shifted % SECOND;
}

/** Calls of recvmmsg in the drain under way; of the thread that drains. */
static _Thread_local int calls, drains;

static void hold(enum point point) {
  if (drains == 0 || word(HOLD) != point) return;
  __atomic_add_fetch(&words[HELD], 1, __ATOMIC_RELEASE);
  const struct timespec pause = {0, 500000};
  while (word(HOLD) == point) nanosleep(&pause, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
  NEXT("clock_gettime", int, clockid_t, struct timespec *);
  if (clock == CLOCK_BOOTTIME && calls > 0) {
    // The first look at this clock after a drain has taken what there was.
    hold(AFTER_DRAIN);
    calls = 0;
  }
  const int result = next(clock, t);
  if (result == 0 && clock == CLOCK_REALTIME) shift(t);
  return result;
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length) {
  NEXT("getsockopt", int, int, int, int, void *, socklen_t *);
  if (level == SOL_SOCKET && option == SO_MEMINFO) {
    // Asked of every socket when a drain has begun.
    drains++;
    hold(BEGUN);
  }
  return next(fd, level, option, value, length);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
  NEXT("setsockopt", int, int, int, int, const void *, socklen_t);
  const int most = (int)word(BUFFER);
  if (level != SOL_SOCKET || most == 0) return next(fd, level, option, value, length);
  if (option == SO_RCVBUFFORCE) {
    errno = EPERM;
    return -1;
  }
  int granted = 0;
  if (option == SO_RCVBUF && length == sizeof granted) {
    memcpy(&granted, value, sizeof granted);
    if (granted > most) return next(fd, level, option, &most, sizeof most);
  }
  return next(fd, level, option, value, length);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
  NEXT("recvmmsg", int, int, struct mmsghdr *, unsigned, int, struct timespec *);
  if (word(CALL) == ANY_CALL || word(CALL) == (uint64_t)calls) hold(BEFORE_RECEIVE);
  calls++;
  int got = next(fd, messages, count, flags, timeout);
  int error = errno;
  if (got > 0 && word(STEAL) > 0) {
    __atomic_sub_fetch(&words[STEAL], 1, __ATOMIC_RELEASE);
    if (--got == 0) {
      got = -1;
      error = EAGAIN;
    }
  }
  for (int i = 0; i < got && word(UNSTEPPED) == 0; i++) {
    struct msghdr *m = &messages[i].msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
      struct timespec t;
      memcpy(&t, CMSG_DATA(c), sizeof t);
      shift(&t);
      memcpy(CMSG_DATA(c), &t, sizeof t);
    }
  }
  hold(AFTER_RECEIVE);
  errno = error;
  return got;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  NEXT("getaddrinfo", int, const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (name == NULL || strcmp(name, "slow.invalid") != 0) return next(name, service, hints, found);
  const int64_t ms = (int64_t)word(LOOKUP);
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
  return next("127.0.0.1", service, hints, found);
}

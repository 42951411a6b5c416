/* A bulk-synchronous job: one thread on each CPU computes for about a millisecond, and then all wait for the last one.
 * So whatever keeps one thread from its CPU delays all of them.
 *   barrier              reads a number of seconds from each line of stdin, works for so long, and prints the number of
 *                        steps, and their mean, median, 99th percentile and 99.9th percentile, us
 *   barrier sink PORT    has a UDP socket on 127.0.0.1 that nobody reads, for agents that send */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define STEP_NS 1000000
#define MOST_STEPS (1u << 20)

static unsigned threads;
static uint64_t rounds_in_step;
static _Atomic unsigned arrived;
static _Atomic unsigned step; /* changes when the last thread has arrived; the others wait for that */
static _Atomic int64_t last_step; /* the helpers end after this step; -1: unknown yet */
static uint32_t took[MOST_STEPS]; /* ns */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* Only registers: this measures the CPU, and not memory. */
static uint64_t work(uint64_t rounds, uint64_t x) {
  for (uint64_t i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

/* Returns the number of the step that has ended. */
static unsigned wait_for_all(void) {
  const unsigned mine = atomic_load(&step);
  if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
    atomic_store(&arrived, 0);
    atomic_store(&step, mine + 1);
    return mine;
  }
  while (atomic_load(&step) == mine)
    ;
  return mine;
}

static void stay_on(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *helper(void *number) {
  stay_on((unsigned)(uintptr_t)number);
  uint64_t x = 88172645463325252u;
  do x = work(rounds_in_step, x);
  while (wait_for_all() != atomic_load(&last_step));
  return (void *)(uintptr_t)(x & 1);
}

static int by_size(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void block(double seconds) {
  pthread_t helpers[1024];
  atomic_store(&last_step, -1);
  for (unsigned i = 1; i < threads; i++) pthread_create(&helpers[i], NULL, helper, (void *)(uintptr_t)i);
  uint64_t x = 88172645463325252u;
  size_t count = 0;
  const int64_t began = now_ns(), until = began + (int64_t)(seconds * (double)SECOND);
  int64_t last = began;
  for (bool end = false; !end;) {
    x = work(rounds_in_step, x);
    end = last >= until || count + 1 == MOST_STEPS;
    if (end) atomic_store(&last_step, atomic_load(&step)); /* before this step's barrier, after which they check it */
    wait_for_all();
    const int64_t now = now_ns();
    took[count++] = (uint32_t)(now - last);
    last = now;
  }
  for (unsigned i = 1; i < threads; i++) pthread_join(helpers[i], NULL);
  /* The first step includes the start of the threads. */
  double sum = 0;
  for (size_t i = 1; i < count; i++) sum += took[i];
  qsort(took + 1, count - 1, sizeof took[0], by_size);
  const uint32_t *sorted = took + 1;
  const size_t n = count - 1;
  printf("%zu %.3f %.3f %.3f %.3f\n", n, sum / (double)n / 1e3, sorted[n / 2] / 1e3, sorted[n * 99 / 100] / 1e3, sorted[n * 999 / 1000] / 1e3);
  fflush(stdout);
  if (x == 0) exit(3);
}

static int sink(const char *port) {
  const struct sockaddr_in at = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(fd, (const struct sockaddr *)&at, sizeof at) != 0) return 1;
  for (;;) sleep(3600);
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc == 3 && strcmp(argv[1], "sink") == 0) return sink(argv[2]);
  threads = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
  if (threads > 1024) return 1;
  stay_on(0);
  /* The shortest of many trials: undisturbed steps take as long. */
  const uint64_t trial = 100000;
  int64_t least = SECOND;
  uint64_t x = 1;
  for (int i = 0; i < 2000; i++) {
    const int64_t began = now_ns();
    x = work(trial, x);
    const int64_t one = now_ns() - began;
    if (one < least) least = one;
  }
  if (x == 0) return 3;
  rounds_in_step = trial * STEP_NS / (uint64_t)least;
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) block(atof(line));
  return 0;
}

/* The clocks of this machine. */
#ifndef BB_CLOCK_H
#define BB_CLOCK_H
#include <stdint.h>
#include <time.h>

/* That clock, ns. */
static inline int64_t bb_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The same in ms. */
static inline int64_t bb_clock_ms(clockid_t clock) { return bb_clock_ns(clock) / 1000000; }

#endif

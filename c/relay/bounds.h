/* Between which times of this machine a time of a master's lies; see proto/relay-v1.md, Time. Pure. */
#ifndef BB_BOUNDS_H
#define BB_BOUNDS_H
#include <stdbool.h>
#include <stdint.h>

/* A ping: when it was asked and answered by this machine's CLOCK_MONOTONIC, and the master's between the two, ns. */
struct bb_mirror_clock {
  int64_t asked_ns, relay_ns, answered_ns;
};

/* The largest difference between the rates of two clocks: one part in so many. */
#define BOUNDS_RATE 1000
/* Times further away than this are unknown, so that nothing overflows. */
#define BOUNDS_FARTHEST_NS (INT64_C(1) << 61)

static inline int64_t bounds_drift(int64_t span_ns) { return (span_ns < 0 ? -span_ns : span_ns) / BOUNDS_RATE + 1; }

static inline bool bounds_are_known(const struct bb_mirror_clock *c, uint64_t time_ns) {
  return time_ns < (uint64_t)BOUNDS_FARTHEST_NS && c->relay_ns >= 0 && c->relay_ns < BOUNDS_FARTHEST_NS;
}

static inline int64_t bounds_lower(const struct bb_mirror_clock *c, uint64_t time_ns) {
  const int64_t span = c->relay_ns - (int64_t)time_ns;
  return c->asked_ns - span - bounds_drift(span);
}

static inline int64_t bounds_upper(const struct bb_mirror_clock *c, uint64_t time_ns) {
  const int64_t span = c->relay_ns - (int64_t)time_ns;
  return c->answered_ns - span + bounds_drift(span);
}

/* For display: a time before this machine's boot is shown as its boot; 0 stays 0. */
static inline uint64_t bounds_shown(const struct bb_mirror_clock *c, uint64_t time_ns) {
  if (time_ns == 0 || !bounds_are_known(c, time_ns)) return 0;
  const int64_t at = bounds_lower(c, time_ns);
  return at > 0 ? (uint64_t)at : 1;
}

#endif

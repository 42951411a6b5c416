/* How limits apply to nodes that report rarely. Pure. */
#ifndef BB_INTERVAL_H
#define BB_INTERVAL_H
#include <stdbool.h>
#include <stdint.h>

/* No board has a shorter longest interval. */
#define BB_LEAST_LONGEST_MS 60000

/* A limit, ns, for a node of this interval: as many of its intervals as the limit is seconds, when these are longer
 * than one. An interval counts as the board's longest one if it is longer: anybody may be able to send a report that
 * says ten minutes, and it would hold for 45. `longest_ms` 0: the board has none.
 * In two steps, exact as in one: 24 h of a node that reports every ten minutes are no 64 bits. Beyond what there is:
 * INT64_MAX, forever. */
static inline int64_t bb_limit_for(uint64_t limit_ns, uint32_t interval_ms, uint64_t longest_ms) {
  uint64_t whole;
  if (longest_ms != 0 && longest_ms < BB_LEAST_LONGEST_MS) longest_ms = BB_LEAST_LONGEST_MS;
  if (longest_ms != 0 && interval_ms > longest_ms) interval_ms = (uint32_t)longest_ms;
  if (interval_ms > 1000) {
    if (__builtin_mul_overflow(limit_ns / 1000, interval_ms, &whole)) return INT64_MAX;
    if (__builtin_add_overflow(whole, limit_ns % 1000 * interval_ms / 1000, &limit_ns)) return INT64_MAX;
  }
  return limit_ns < INT64_MAX ? (int64_t)limit_ns : INT64_MAX;
}

/* Whether two machines still count as reporting as one, which was last seen at `clone_ns` (0: never): a minute, or
 * sixty intervals. */
static inline bool bb_clone_lasts(uint64_t clone_ns, uint64_t now_ns, uint32_t interval_ms, uint64_t longest_ms) {
  return clone_ns != 0 && (int64_t)(now_ns - clone_ns) <= bb_limit_for(UINT64_C(60000000000), interval_ms, longest_ms);
}

#endif

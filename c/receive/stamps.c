#include "stamps.h"

#include "../base/clock.h"

#define CLOCK_STEP_NS INT64_C(10000000)

int64_t stamps_clock_distance(void) {
  int64_t best = 0, narrowest = INT64_MAX;
  for (int i = 0; i < 3 && narrowest > 20000; i++) {
    const int64_t before = bb_clock_ns(CLOCK_MONOTONIC);
    const int64_t real = bb_clock_ns(CLOCK_REALTIME);
    const int64_t after = bb_clock_ns(CLOCK_MONOTONIC);
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = real - (before + narrowest / 2);
  }
  return best;
}

void stamps_set_heard(struct heard *h, int64_t ns, int64_t distance) {
  h->heard_ns = h->sampled_ns = ns;
  h->heard_offset = h->sampled_offset = distance;
}

/* The kernel's time converted to the monotonic clock. What we read now arrived after everything that was heard
 * before, so it is no older than that. If the wall clock stepped meanwhile, that bound is all we know: better too
 * old than too young. The two distances of the clocks were sampled before that bound and after this datagram was
 * read, so its arrival lies between them, however long we were preempted. On a socket that we have not drained
 * before, the bound was set by another receiver, perhaps for another socket. It proves nothing here, so a datagram
 * that needs the bound gets no stamp: 0. */
int64_t stamps_of(const struct heard *h, int64_t kernel_ns, int64_t distance, int64_t taken_ns) {
  const int64_t moved = distance - h->heard_offset;
  const int64_t bound_ns = h->inherited ? 0 : h->heard_ns;
  if (kernel_ns == 0 || moved > CLOCK_STEP_NS || moved < -CLOCK_STEP_NS) return bound_ns;
  const int64_t ns = kernel_ns - distance;
  if (ns < h->heard_ns) return bound_ns;
  return ns > taken_ns ? taken_ns : ns;
}

/* If it was left empty, until the drain began; otherwise until the last datagram that was read arrived, because a
 * socket is a queue. In a flood that never lets it be empty, we are late by what waits in its buffer, but not deaf.
 * Never later than the beginning of the drain, because later drops have not been counted. */
void stamps_drained(struct heard *h, int64_t began_ns, int64_t distance) {
  if (h->empty) {
    stamps_set_heard(h, began_ns, distance);
    h->inherited = false;
    return;
  }
  if (h->latest_ns > h->heard_ns) {
    h->heard_ns = h->latest_ns < began_ns ? h->latest_ns : began_ns;
    if (h->sampled_ns > h->heard_ns) return; /* what comes may have arrived before it was sampled */
    h->heard_offset = h->sampled_offset;
    h->sampled_ns = began_ns;
    h->sampled_offset = distance;
  }
}

#include "stamps.h"

#include "../base/clock.h"

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

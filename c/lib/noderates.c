/* Counters per second, of a node on the board or between two reports. No system call, no lock, no memory of its own. */
#include "../judge/rates.h"

#include "internal.h"

static int rates_between(const struct bb_report *before, const struct bb_report *after, struct beoboard_rates *out,
                         size_t size) {
  struct bb_span span;
  if (!bb_span_of(before, after, &span)) return -ENODATA;
  struct beoboard_rates rates;
  bb_rates_of(&span, &rates);
  give(out, size, &rates, sizeof rates);
  return 0;
}

int beoboard_rates_between(const struct beoboard_report *before, const struct beoboard_report *after,
                           struct beoboard_rates *out, size_t size) {
  if (before == NULL || after == NULL || out == NULL || size == 0) return -EINVAL;
  return rates_between((const struct bb_report *)before, (const struct bb_report *)after, out, size);
}

int beoboard_rates(const beoboard *b, int index, struct beoboard_rates *out, size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (out == NULL || size == 0) return -EINVAL;
  struct bb_slot pair[2];
  int newest;
  const int n = bb_pair(b, (uint64_t)index, pair, &newest);
  if (n < 2) return n < 0 ? n : -ENODATA;
  return rates_between(&pair[1 - newest].report, &pair[newest].report, out, size);
}

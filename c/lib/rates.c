/* Takes rates from two reports of a node, by the rules for readers in proto/stat-v1.md; which counters there are is generated
 * from that document. Pure but for beoboard_rates(), which fetches the two. */
#include <math.h>

#include "header.gen.h"
#include "internal.h"

/* Two reports, as bytes, and their common ground. */
struct span {
  const uint8_t *before, *after;
  uint64_t valid;            /* measured in both */
  double seconds, slow;      /* NaN: no time has passed */
  bool is_same_run;
};

static uint64_t get(const uint8_t *bytes, size_t offset, size_t width) {
  uint64_t value = 0;
  memcpy(&value, bytes + offset, width); /* little-endian */
  return value;
}

#define GET(report, name) get(report, offsetof(struct bb_report, name), sizeof(((struct bb_report *)0)->name))

static void put(void *rates, size_t offset, double rate) { memcpy((uint8_t *)rates + offset, &rate, sizeof rate); }

static double seconds(uint64_t before, uint64_t after) { return after > before ? (double)(after - before) / 1e9 : NAN; }

/* How far a counter moved; NaN where that is no evidence. */
static double moved(const struct bb_counter *c, const uint8_t *before, const uint8_t *after) {
  const uint64_t from = get(before, c->at, c->bytes), to = get(after, c->at, c->bytes);
  if (c->bytes == 8) return to < from ? NAN : (double)(to - from);
  const uint32_t modulo = (uint32_t)(to - from);
  return modulo < UINT32_C(1) << 31 ? (double)modulo : NAN;
}

/* The times of a CPU that came or went join or leave the sums, by hours. */
static bool has_other_cpus(const struct span *s) {
  return (s->valid & BB_VALID_CPUS) != 0 && GET(s->before, cpus_online) != GET(s->after, cpus_online);
}

/* What has no base has no rate: division of NaN, and by it, is NaN. Shares are of the sum of those times that have a rate (the
 * kernel lets iowait go back a little), but not without cpu_idle_ms, or over other CPUs. */
static void add_counters(const struct span *s, struct beoboard_rates *out) {
  const size_t n = sizeof bb_report_counters / sizeof bb_report_counters[0];
  double cpu_ms = 0;
  for (size_t i = 0; i < n; i++) {
    const struct bb_counter *c = &bb_report_counters[i];
    double by = NAN;
    if ((c->set < 0 || (s->valid >> c->set & 1) != 0) && (!c->of_run || s->is_same_run)) by = moved(c, s->before, s->after);
    put(out, c->rate, by / (c->slow ? s->slow : s->seconds));
    if (c->share == 0) continue;
    put(out, c->share, by);
    if (!isnan(by)) cpu_ms += by;
  }
  const bool has_shares = cpu_ms > 0 && !isnan(out->cpu_idle_pct) && !isnan(s->seconds) && !has_other_cpus(s);
  for (size_t i = 0; i < n; i++) {
    const struct bb_counter *c = &bb_report_counters[i];
    if (c->share == 0) continue;
    double by;
    memcpy(&by, (uint8_t *)out + c->share, sizeof by);
    put(out, c->share, has_shares ? 100 * by / cpu_ms : NAN);
  }
}

/* All rates of an entry; none of one whose partner is NULL. */
static void add_interface(const uint8_t *before, const uint8_t *after, double base, struct beoboard_net_rates *out) {
  if (before != NULL) memcpy(out->name, after + offsetof(struct bb_net_if, name), sizeof out->name - 1);
  for (size_t i = 0; i < sizeof bb_net_counters / sizeof bb_net_counters[0]; i++)
    put(out, bb_net_counters[i].rate, before == NULL ? NAN : moved(&bb_net_counters[i], before, after) / base);
}

/* Interfaces go by name, never by place; of two that are called the same the last counts, as in src/shm/rates.ts. */
static const uint8_t *partner(const uint8_t *report, const uint8_t *entry) {
  if (entry[0] == 0) return NULL;
  for (int i = BB_NET_ENTRIES - 1; i >= 0; i--) {
    const uint8_t *other = report + offsetof(struct bb_report, net) + (size_t)i * BB_NET_IF_BYTES;
    if (strncmp((const char *)other, (const char *)entry, sizeof(((struct bb_net_if *)0)->name)) == 0) return other;
  }
  return NULL;
}

static void add_interfaces(const struct span *s, struct beoboard_rates *out) {
  int n = 0;
  for (size_t i = 0; i < BB_NET_ENTRIES; i++) {
    const uint8_t *after = s->after + offsetof(struct bb_report, net) + i * BB_NET_IF_BYTES;
    const bool is_there = (s->valid & BB_VALID_NET) != 0 && !isnan(s->seconds);
    const uint8_t *before = is_there ? partner(s->before, after) : NULL;
    if (before != NULL) add_interface(before, after, s->seconds, &out->net[n++]);
  }
  while (n < BB_NET_ENTRIES) add_interface(NULL, NULL, NAN, &out->net[n++]);
}

/* Sums have a rate only when as many interfaces were added into them. */
static void add_sum(const struct span *s, size_t offset, uint64_t set, double base, struct beoboard_net_rates *out) {
  const uint8_t *before = s->before + offset, *after = s->after + offset;
  const size_t state = offsetof(struct bb_net_if, state);
  const bool has = (s->valid & set) != 0 && !isnan(base) && before[0] != 0 && after[0] != 0 &&
                   get(before, state, 4) >> 16 == get(after, state, 4) >> 16;
  add_interface(has ? before : NULL, after, base, out);
}

static int take(const uint8_t *before, const uint8_t *after, struct beoboard_rates *out, size_t size) {
  if (GET(before, boot_id) != GET(after, boot_id)) return -ENODATA;
  const struct span s = {
      .before = before,
      .after = after,
      .valid = GET(before, valid) & GET(after, valid),
      .seconds = seconds(GET(before, t_boot_ns), GET(after, t_boot_ns)),
      .slow = seconds(GET(before, slow_boot_ns), GET(after, slow_boot_ns)),
      .is_same_run = GET(before, start_boot_ns) == GET(after, start_boot_ns),
  };
  struct beoboard_rates rates;
  memset(&rates, 0, sizeof rates);
  rates.seconds = s.seconds;
  rates.slow_seconds = s.slow;
  add_counters(&s, &rates);
  add_interfaces(&s, &rates);
  add_sum(&s, offsetof(struct bb_report, net_rest), BB_VALID_NET, s.seconds, &rates.net_rest);
  add_sum(&s, offsetof(struct bb_report, fabric), BB_VALID_FABRIC, s.slow, &rates.fabric);
  give(out, size, &rates, sizeof rates);
  return 0;
}

int beoboard_rates_between(const struct beoboard_report *before, const struct beoboard_report *after,
                           struct beoboard_rates *out, size_t size) {
  if (before == NULL || after == NULL || out == NULL || size == 0) return -EINVAL;
  return take((const uint8_t *)before, (const uint8_t *)after, out, size);
}

int beoboard_rates(const beoboard *b, int index, struct beoboard_rates *out, size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (out == NULL || size == 0) return -EINVAL;
  uint64_t pair[2][BB_SLOT_BYTES / 8];
  int newest;
  const int n = bb_pair(b, (uint64_t)index, pair, &newest);
  if (n < 2) return n < 0 ? n : -ENODATA;
  const size_t at = offsetof(struct bb_slot, report);
  return take((const uint8_t *)pair[1 - newest] + at, (const uint8_t *)pair[newest] + at, out, size);
}

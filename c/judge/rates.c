/* The table of counters is generated from proto/stat-v1.md, which has the rules. */
#include "rates.h"

#include "../beoboard.h"
#include "../format/header.gen.h"

static void rates_put(void *rates, size_t offset, double rate) {
  memcpy((uint8_t *)rates + offset, &rate, sizeof rate);
}

/* The times of a CPU that was added or removed change the sums by hours. */
static bool has_other_cpus(const struct bb_span *s) {
  return (s->valid & BB_VALID_CPUS) != 0 && s->before->cpus_online != s->after->cpus_online;
}

/* Shares are of the sum of the times that have a rate (the kernel lets iowait decrease a little), but there are none
 * without cpu_idle_ms, or over other CPUs. */
void bb_shares_of(const struct bb_span *s, double share[BB_CPU_KINDS]) {
  const size_t first = offsetof(struct bb_report, cpu_user_ms),
               idle = (offsetof(struct bb_report, cpu_idle_ms) - first) / 8;
  double all = 0;
  for (size_t i = 0; i < BB_CPU_KINDS; i++) {
    share[i] = bb_moved_at(s->before, s->after, first + 8 * i, 8);
    if (!isnan(share[i])) all += share[i];
  }
  const bool has_shares =
      (s->valid & BB_VALID_STAT) != 0 && all > 0 && !isnan(share[idle]) && !isnan(s->seconds) && !has_other_cpus(s);
  for (size_t i = 0; i < BB_CPU_KINDS; i++) share[i] = has_shares ? 100 * share[i] / all : NAN;
}

static void add_traffic(double traffic[BB_TRAFFIC_KINDS], const struct bb_net_if *before, const struct bb_net_if *after,
                        double seconds) {
  for (size_t i = 0; i < BB_TRAFFIC_KINDS; i++) {
    const size_t at = offsetof(struct bb_net_if, rx_bytes) + 8 * i;
    traffic[i] += bb_moved_at(before, after, at, 8) / seconds;
  }
}

/* Adds all that have a rate; false: one has none, or there are none. */
static bool add_all_traffic(const struct bb_span *s, double traffic[BB_TRAFFIC_KINDS]) {
  const bool rest = s->after->net_rest.name[0] != 0;
  bool any = rest;
  if (!bb_has_net(s) || (rest && !bb_has_rest(s))) return false;
  if (rest) add_traffic(traffic, &s->before->net_rest, &s->after->net_rest, s->seconds);
  for (int i = 0; i < BB_NET_ENTRIES; i++) {
    const struct bb_net_if *const after = &s->after->net[i];
    if (after->name[0] == 0) continue;
    const struct bb_net_if *const before = bb_partner(s->before, after);
    if (before == NULL) return false;
    add_traffic(traffic, before, after, s->seconds);
    any = true;
  }
  return any;
}

void bb_traffic_of(const struct bb_span *s, double traffic[BB_TRAFFIC_KINDS]) {
  for (size_t i = 0; i < BB_TRAFFIC_KINDS; i++) traffic[i] = 0;
  if (add_all_traffic(s, traffic)) return;
  for (size_t i = 0; i < BB_TRAFFIC_KINDS; i++) traffic[i] = NAN;
}

/* Without a time base there is no rate: a division of or by NaN is NaN. */
static void add_counters(const struct bb_span *s, struct beoboard_rates *out) {
  const bool is_same_run = bb_is_same_run(s);
  double share[BB_CPU_KINDS];
  bb_shares_of(s, share);
  size_t kind = 0;
  for (size_t i = 0; i < sizeof bb_report_counters / sizeof bb_report_counters[0]; i++) {
    const struct bb_counter *c = &bb_report_counters[i];
    double by = NAN;
    if ((c->set < 0 || (s->valid >> c->set & 1) != 0) && (!c->of_run || is_same_run))
      by = bb_moved_at(s->before, s->after, c->at, c->bytes);
    rates_put(out, c->rate, by / (c->slow ? s->slow : s->seconds));
    if (c->share != 0 && kind < BB_CPU_KINDS) rates_put(out, c->share, share[kind++]);
  }
}

/* All rates of an entry; none if its partner is NULL. */
static void add_interface(const struct bb_net_if *before, const struct bb_net_if *after, double base,
                          struct beoboard_net_rates *out) {
  if (before != NULL) memcpy(out->name, after->name, sizeof out->name - 1);
  for (size_t i = 0; i < sizeof bb_net_counters / sizeof bb_net_counters[0]; i++)
    rates_put(out, bb_net_counters[i].rate,
        before == NULL ? NAN : bb_moved_at(before, after, bb_net_counters[i].at, bb_net_counters[i].bytes) / base);
}

static void add_interfaces(const struct bb_span *s, struct beoboard_rates *out) {
  int n = 0;
  for (int i = 0; bb_has_net(s) && i < BB_NET_ENTRIES; i++) {
    const struct bb_net_if *before = bb_partner(s->before, &s->after->net[i]);
    if (before != NULL) add_interface(before, &s->after->net[i], s->seconds, &out->net[n++]);
  }
  while (n < BB_NET_ENTRIES) add_interface(NULL, NULL, NAN, &out->net[n++]);
}

void bb_rates_of(const struct bb_span *s, struct beoboard_rates *out) {
  memset(out, 0, sizeof *out);
  out->seconds = s->seconds;
  out->slow_seconds = s->slow;
  add_counters(s, out);
  add_interfaces(s, out);
  add_interface(bb_has_rest(s) ? &s->before->net_rest : NULL, &s->after->net_rest, s->seconds, &out->net_rest);
  add_interface(bb_has_fabric(s) ? &s->before->fabric : NULL, &s->after->fabric, s->slow, &out->fabric);
}

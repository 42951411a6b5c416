/* Two reports of a node and how far its counters moved between them, by the rules for readers in proto/stat-v1.md.
 * Pure. */
#ifndef BB_RATES_H
#define BB_RATES_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../format/layout.gen.h"

/* Interfaces that have their own entry in a report. */
#define BB_NET_ENTRIES ((int)(sizeof(((struct bb_report *)0)->net) / sizeof(struct bb_net_if)))

/* Two reports of the same boot, and what they have in common. */
struct bb_span {
  const struct bb_report *before, *after;
  uint64_t valid;       /* measured in both */
  double seconds, slow; /* the time between the two ticks, and between the two slow rounds; NaN: no time has passed */
};

static inline double bb_seconds(uint64_t before, uint64_t after) {
  return after > before ? (double)(after - before) / 1e9 : NAN;
}

/* False: they are of two boots, and have no rates. */
static inline bool bb_span_of(const struct bb_report *before, const struct bb_report *after, struct bb_span *s) {
  if (before->boot_id != after->boot_id) return false;
  s->before = before;
  s->after = after;
  s->valid = before->valid & after->valid;
  s->seconds = bb_seconds(before->t_boot_ns, after->t_boot_ns);
  s->slow = bb_seconds(before->slow_boot_ns, after->slow_boot_ns);
  return true;
}

/* How far a counter moved; NaN if that proves nothing. */
static inline double bb_moved_64(uint64_t from, uint64_t to) { return to < from ? NAN : (double)(to - from); }

static inline double bb_moved_32(uint32_t from, uint32_t to) {
  const uint32_t modulo = to - from;
  return modulo < UINT32_C(1) << 31 ? (double)modulo : NAN;
}

/* A number of so many bytes, at most eight, at an offset from there. */
static inline uint64_t bb_number_at(const void *from, size_t at, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, (const uint8_t *)from + at, bytes); /* little-endian */
  return value;
}

/* How far a counter of four or eight bytes moved, which lies at the same offset in both. */
static inline double bb_moved_at(const void *before, const void *after, size_t at, size_t bytes) {
  const uint64_t from = bb_number_at(before, at, bytes), to = bb_number_at(after, at, bytes);
  return bytes == 8 ? bb_moved_64(from, to) : bb_moved_32((uint32_t)from, (uint32_t)to);
}

static inline bool bb_has_net(const struct bb_span *s) { return (s->valid & BB_VALID_NET) != 0 && !isnan(s->seconds); }

/* The same interface in a report: by name, never by place; of two with the same name the last one counts, as in
 * src/shm/rates.ts. NULL: it does not exist, or this is not a used entry. */
static inline const struct bb_net_if *bb_partner(const struct bb_report *report, const struct bb_net_if *entry) {
  if (entry->name[0] == 0) return NULL;
  for (int i = BB_NET_ENTRIES - 1; i >= 0; i--)
    if (strncmp(report->net[i].name, entry->name, sizeof entry->name) == 0) return &report->net[i];
  return NULL;
}

/* Each run of a sender begins its sums anew. */
static inline bool bb_is_same_run(const struct bb_span *s) {
  return s->before->start_boot_ns == s->after->start_boot_ns;
}

/* Whether sums have rates: both reports are of one run and have them, with the same number of interfaces. */
static inline bool bb_is_same_sum(const struct bb_span *s, const struct bb_net_if *before,
                                  const struct bb_net_if *after) {
  return bb_is_same_run(s) && before->name[0] != 0 && after->name[0] != 0 && before->state >> 16 == after->state >> 16;
}

static inline bool bb_has_rest(const struct bb_span *s) {
  return bb_has_net(s) && bb_is_same_sum(s, &s->before->net_rest, &s->after->net_rest);
}

static inline bool bb_has_fabric(const struct bb_span *s) {
  return (s->valid & BB_VALID_FABRIC) != 0 && !isnan(s->slow) &&
         bb_is_same_sum(s, &s->before->fabric, &s->after->fabric);
}

/* The report's cpu_*_ms, and the counters of an entry that are added up over all interfaces: rx_bytes, tx_bytes,
 * rx_packets and tx_packets. Each lie one after another. */
#define BB_CPU_KINDS 8
#define BB_TRAFFIC_KINDS 4
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_steal_ms) ==
                     offsetof(struct bb_report, cpu_user_ms) + 8 * (BB_CPU_KINDS - 1),
                 "cpu_*_ms");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, tx_packets) ==
                     offsetof(struct bb_net_if, rx_bytes) + 8 * (BB_TRAFFIC_KINDS - 1),
                 "rx_* and tx_*");

/* Per cent of all CPU time, by kind; NaN: unknown. */
void bb_shares_of(const struct bb_span *s, double share[BB_CPU_KINDS]);

/* All network entries of a node together, per second; without the fabric, whose traffic may be part of them. NaN:
 * unknown, and so is the sum as long as one of them has no rate, because the rest would look like all of it. */
void bb_traffic_of(const struct bb_span *s, double traffic[BB_TRAFFIC_KINDS]);

/* All rates of beoboard.h between the two reports of a span. */
struct beoboard_rates;
void bb_rates_of(const struct bb_span *s, struct beoboard_rates *out);
#endif

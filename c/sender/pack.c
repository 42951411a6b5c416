#include "pack.h"

#include "../collect/collect.h"
#include "slow/rounds.h"

static uint32_t flags_of(const struct tick *tick) {
  uint64_t flags = 0;
  if (tick->seq == 0) flags |= BB_FLAGS_FIRST;
  if (tick->goodbye) flags |= BB_FLAGS_GOODBYE;
  if (tick->late) flags |= BB_FLAGS_LATE;
  if (tick->skipped) flags |= BB_FLAGS_SKIPPED;
  return (uint32_t)flags;
}

/* Writes the signature over everything before it. It is not in signingkey.c, whose code is needed only at the start. */
static void sign(struct bb_report *report, const struct key *key) {
  uint8_t tag[BB_SHA256_BYTES];
  bb_hmac(&key->hmac, report, offsetof(struct bb_report, tag), tag);
  memcpy(report->tag, tag, sizeof report->tag);
}

void pack(struct bb_report *report, const struct identity *identity, const struct tick *tick) {
  struct details details;
  const uint64_t began_ns = bb_clock_ns(CLOCK_MONOTONIC);
  rounds_fill(report, &details);
  report->magic = BB_STAT_MAGIC;
  report->version = BB_STAT_VERSION;
  report->length = BB_REPORT_BYTES;
  report->cluster_id = identity->cluster_id;
  report->boot_id = identity->boot_id;
  report->seq = (uint32_t)tick->seq; /* it counts modulo 2^32, because a sender can run forever */
  report->interval_ms = identity->interval_ms;
  report->t_real_ns = tick->clocks.real_ns;
  report->t_boot_ns = tick->clocks.boot_ns;
  report->valid |= BB_VALID_SENDER;
  report->flags |= flags_of(tick);
  report->key_id = identity->key.id;
  report->auth_alg = identity->key.alg;
  memcpy(report->hostname, identity->name, sizeof report->hostname);
  report->agent_version = identity->agent_version;
  report->start_boot_ns = identity->start_boot_ns;
  collect(report, (int64_t)tick->clocks.boot_ns, &details);
  report->late_us = saturated_32(tick->late_ns / 1000);
  report->collect_us = saturated_32(machine->us_since(began_ns));
  report->agent_cpu_ms = (uint32_t)machine->cpu_ms();
  report->missed_ticks = tick->missed;
  if (identity->key.alg != BB_AUTH_ALG_NONE) sign(report, &identity->key);
}

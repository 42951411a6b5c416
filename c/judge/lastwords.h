/* What the last two reports of a node say that has fallen silent or was booted. Pure. The table is in
 * proto/board-v2.md; the hottest sensor is not in it, because that takes other nodes. */
#ifndef BB_LASTWORDS_H
#define BB_LASTWORDS_H
#include "problems.h"
#include "rates.h"

/* Linux's numbers: TAINT_MACHINE_CHECK, TAINT_DIE and TAINT_SOFTLOCKUP. */
#define BB_TAINT_FAULTS (UINT32_C(1) << 4 | UINT32_C(1) << 7 | UINT32_C(1) << 14)
#define BB_LOW_MEMORY_PERCENT 2
#define BB_STALLED_PERCENT 90

/* Whether an interface had a carrier before, and has none now. */
static inline bool bb_lost_carrier(const struct bb_report *before, const struct bb_report *r) {
  for (int i = 0; i < BB_NET_ENTRIES; i++) {
    const struct bb_net_if *is = &r->net[i], *was = bb_partner(before, is);
    if (was != NULL && (was->state & ~is->state & BB_NET_STATE_CARRIER) != 0) return true;
  }
  return false;
}

/* Bits by enum bb_last_words. `before`: the report before the last, NULL if there is none. */
static inline uint32_t bb_last_words(const struct bb_report *r, const struct bb_report *before) {
  const uint32_t problems = bb_problems(r, before);
  const bool is_pair = before != NULL && before->boot_id == r->boot_id;
  const uint64_t both = is_pair ? before->valid & r->valid : 0;
  uint32_t rows = 0;
#define ROW(WHAT, holds) rows |= (uint32_t)((holds) != 0) << BB_LAST_WORDS_##WHAT
#define HAS(SET) ((r->valid & BB_VALID_##SET) != 0)
#define BOTH(SET) ((both & BB_VALID_##SET) != 0)
#define SHOWS(WHAT) (problems >> BEOBOARD_PROBLEM_##WHAT & 1)
  ROW(MEMORY_ERRORS, (BOTH(EDAC) && bb_rose(before->edac_ue, r->edac_ue)) ||
                         (BOTH(MEMORY) && r->mem_corrupted_kib > before->mem_corrupted_kib));
  ROW(KERNEL_FAULT, BOTH(TAINT) && (r->taint & ~before->taint & BB_TAINT_FAULTS) != 0);
  ROW(ROOT_READONLY, SHOWS(ROOT_READONLY));
  ROW(ROOT_FULL, SHOWS(ROOT_FULL));
  ROW(MEMORY_LOW,
      HAS(MEMORY) && (uint64_t)r->mem_avail_mib * 100 < (uint64_t)r->mem_total_mib * BB_LOW_MEMORY_PERCENT);
  ROW(OOM, SHOWS(OOM));
  ROW(MEMORY_STALLED, HAS(PSI_MEM) && r->psi_mem_full10 > 100 * BB_STALLED_PERCENT);
  ROW(IO_STALLED, HAS(PSI_IO) && r->psi_io_full10 > 100 * BB_STALLED_PERCENT);
  ROW(NO_CARRIER, BOTH(NET) && bb_lost_carrier(before, r));
  ROW(THROTTLED, SHOWS(THROTTLED));
  ROW(LATE, HAS(SENDER) && r->late_us > UINT64_C(1000) * r->interval_ms);
#undef SHOWS
#undef BOTH
#undef HAS
#undef ROW
  return rows;
}

#endif

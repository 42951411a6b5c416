/* The memory of trouble of a record: what is concluded from its reports before they are overwritten. The rules are in
 * proto/board-v2.md, "Memory of trouble". For whoever lays reports on a board, a receiver or a mirror. */
#ifndef BB_MEMORY_H
#define BB_MEMORY_H
#include "column.h"
#include "mapped.h"

/* What a report comes after. */
struct bb_after {
  uint64_t what;     /* bits; 0: the report before it, as nearly always */
  int64_t passed_ns; /* since that one */
};
#define BB_AFTER_NONE 1 /* no report */
#define BB_AFTER_GAP 2  /* one that is too long ago */
#define BB_AFTER_BOOT 4 /* one of another boot */
#define BB_AFTER_BEGIN 8 /* the one with which a silence that lasts seemed to begin: it begins with this one */

/* The rest of bb_memory_begin(), of a report that may come after a gap, or of another boot. */
struct bb_after bb_memory_begin_anew(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report,
                                     int64_t stamp_ns);

/* A report of a record was accepted, and is about to be stored. `newest`: the slot of the one before it, -1: there is
 * none. */
static inline struct bb_after bb_memory_begin(struct bb_mapped *b, uint32_t record, int newest,
                                              const struct bb_report *report, int64_t stamp_ns) {
  if (newest < 0) return (struct bb_after){.what = BB_AFTER_NONE};
  const struct bb_slot *before = slot_at(b, record, (uint32_t)newest);
  const int64_t passed_ns = from_to(before->stamp_ns, (uint64_t)stamp_ns);
  /* No limit is shorter. */
  if (before->report.boot_id == report->boot_id && passed_ns <= (int64_t)b->header->uncertain_after_ns)
    return (struct bb_after){.passed_ns = passed_ns};
  return bb_memory_begin_anew(b, record, newest, report, stamp_ns);
}

/* And it has been stored, by bb_store_report(). */
void bb_memory_end(struct bb_mapped *b, uint32_t record, struct bb_after after, const struct bb_report *report,
                   int64_t stamp_ns);

/* Ends the episodes of a record that its newest report does not measure, as another boot does: `problems`, a bit each;
 * and a source that is gone is no longer expected. False: there was nothing to clear. */
bool bb_memory_clear(struct bb_mapped *b, uint32_t record, uint32_t *problems);

/* Notes which nodes are silent at `now_ns`. Once a second, after the heartbeat. */
void bb_memory_survey(struct bb_mapped *b, int64_t now_ns);

/* Makes the memory of a record agree with its two reports, whenever the writer before was killed. `now_ns`:
 * CLOCK_MONOTONIC. */
void bb_memory_repair(struct bb_mapped *b, uint32_t record, int64_t now_ns);
#endif

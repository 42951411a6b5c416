/* The memory of trouble of a record: what is concluded from its reports before they are overwritten. The rules are in
 * proto/board-v2.md, "Memory of trouble". For whoever lays reports on a board, a receiver or a mirror. */
#ifndef BB_MEMORY_H
#define BB_MEMORY_H
#include "mapped.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a report comes after. */
struct bb_after {
  bool is_first, is_gap, is_boot; /* no report; one that is too long ago; one of another boot */
  int64_t passed_ns;              /* since that one */
};

/* A report of a record was accepted, and is about to be stored. `newest`: the slot of the one before it, -1: there is
 * none. */
struct bb_after bb_memory_begin(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report,
                                int64_t stamp_ns);

/* And it has been stored, by bb_store_report(). */
void bb_memory_end(struct bb_mapped *b, uint32_t record, struct bb_after after, const struct bb_report *report,
                   int64_t stamp_ns);

/* Notes which nodes are silent at `now_ns`. Once a second, after the heartbeat. */
void bb_memory_survey(struct bb_mapped *b, int64_t now_ns);

/* Makes the memory of a record agree with its two reports, whenever the writer before was killed. */
void bb_memory_repair(struct bb_mapped *b, uint32_t record);

#ifdef __cplusplus
}
#endif
#endif

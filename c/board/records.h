/* What both writers, a receiver's and a mirror's, do with the parts of a board: events, the index of names, the blocks
 * of a record. Each step leaves a board that can be repaired after a kill. */
#ifndef BB_RECORDS_H
#define BB_RECORDS_H
#include "../rules/order.h"
#include "arrival.h"
#include "mapped.h"

/* Writes the next event. `arrival`: of its report; NULL: the event is detected now. */
void bb_add_event(struct bb_mapped *b, enum bb_event_kind kind, uint64_t subject, uint64_t detail,
                  const struct bb_arrival *arrival);

/* The record of a name with a known hash; NONE: there is none. */
uint32_t bb_record_of(const struct bb_mapped *b, const char *name, uint64_t hash);

/* The name's hash on this board. */
uint64_t bb_hash_of(const struct bb_mapped *b, const char *name);

/* A new record for a name without one. NONE if the board is full. */
uint32_t bb_new_record(struct bb_mapped *b, const char *name);

/* A rejection in the form of the order block. */
struct bb_refusal {
  enum bb_reason reason;
  int64_t offset_us;
};

/* Writes a record's order block; `refusal`: NULL for an accepted report. */
void bb_store_order(struct bb_mapped *b, uint32_t record, const struct bb_order *o, const struct bb_refusal *refusal,
                    const struct bb_arrival *arrival);

/* Writes a report into the older slot of a record, so that the newer one stays readable whatever happens meanwhile.
 * `newest`: the newer slot; -1: there is none. */
void bb_store_report(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report,
                     const struct bb_arrival *arrival);

/* The header of a fresh board: its identity and its geometry. */
void bb_fresh_header(struct bb_board_header *h, const struct bb_cluster *cluster, uint32_t capacity);

/* Sets the writer of this board from now on. */
void bb_begin_instance(struct bb_mapped *b, uint64_t instance);

/* The node's wall clock minus the master's, in us. */
static inline int64_t offset_us(const struct bb_report *report, const struct bb_arrival *arrival) {
  return (int64_t)(report->t_real_ns / 1000) - arrival->stamp_real_ns / 1000;
}

#endif

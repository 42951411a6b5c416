/* Rejections: counts them, keeps their senders, and writes events for new ones. */
#ifndef BB_REJECTED_H
#define BB_REJECTED_H
#include "records.h"

struct bb_rejections {
  struct bb_mapped *board;
  bool has_keys; /* signatures are verified */
  /* Events without a record in the present second. */
  int64_t second_began_ns;
  uint32_t events;
};

/* Counts a rejection, and records its sender. The name in `datagram` is used if its length is that of a report.
 * Returns the reason. */
int bb_reject(struct bb_rejections *rejections, enum bb_reason reason, const uint8_t *datagram, size_t length,
              const struct bb_arrival *arrival);

/* Rejects a report of a node that has a record, and notes that in the record. */
int bb_reject_report(struct bb_rejections *rejections, uint32_t record, const struct bb_order *order,
                     const struct bb_report *report, enum bb_reason reason, const struct bb_arrival *arrival);

#endif

/* What one look over all nodes tells of each, by a private copy of the board: for programs that look once and end, before any of
 * their JavaScript is compiled. Pure. */
#ifndef BB_OVERVIEW_H
#define BB_OVERVIEW_H
#include "board.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of every node, by the number of its record in the copy. */
struct bb_overview {
  double *ages;      /* of its newest report, ms; -1: there is none */
  double *skews;     /* its wall clock less the master's, s: by its newest report, less the time that collecting took; 0: there is none */
  uint32_t *ails;    /* bits by enum beoboard_ailment: what ails it; 0 unless it is live or uncertain */
  uint32_t *kernels; /* a number for its kernel release: equal for equal ones, unequal for nearly all others; 0: not live, not known */
  uint8_t *states;   /* an enum beoboard_state */
  uint8_t *known;    /* the same as of the receiver's last heartbeat: what was known before it stalled, or was retired */
};

/* All of it in one piece of memory, in the order above: its bytes for so many nodes, and where the parts lie. Aligned to 8. */
size_t bb_overview_bytes(uint64_t nodes);
struct bb_overview bb_overview_at(uint8_t *memory, uint64_t nodes);

/* Whether a copy of so many bytes can be one that bb_board_snapshot() made of so many nodes. */
bool bb_copy_holds(const uint8_t *copy, size_t bytes, uint64_t nodes);

/* The newest slot of a record of such a copy, and the one before it; NULL: there is none. */
const struct bb_slot *bb_copy_slots(const struct bb_board_header *h, const uint8_t *record, const struct bb_slot **before);

/* By a copy that bb_board_snapshot() made; `look->stalled` is set. False, and nothing is written, when `bytes` cannot hold so many nodes, or
 * the copy is none. */
bool bb_overview(const uint8_t *copy, size_t bytes, struct bb_look *look, const struct bb_overview *out);

/* The states alone, by a copy that bb_board_roll() made; likewise. */
bool bb_overview_states(const uint8_t *copy, size_t bytes, struct bb_look *look, uint8_t *states);

#ifdef __cplusplus
}
#endif
#endif

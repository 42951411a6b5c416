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
  uint8_t *states;   /* an enum beoboard_state */
  double *ages;      /* of its newest report, ms; -1: there is none */
  double *skews;     /* its wall clock less the master's, s; 0 unless it is live */
  uint32_t *kernels; /* a number for its kernel release: equal for equal ones, unequal for nearly all others; 0: not live, not known */
};

/* By a copy that bb_board_snapshot() made. False, and nothing is written, when `bytes` cannot hold so many nodes, or the copy is none. */
bool bb_overview(const uint8_t *copy, size_t bytes, const struct bb_look *look, const struct bb_overview *out);

/* The states alone, by a copy that bb_board_roll() made. */
bool bb_overview_states(const uint8_t *copy, size_t bytes, const struct bb_look *look, uint8_t *states);

#ifdef __cplusplus
}
#endif
#endif

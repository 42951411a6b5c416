/* The result of one look at all nodes, from a private copy of the board: for programs that look once and end before
 * their JavaScript is compiled. Pure. */
#ifndef BB_OVERVIEW_H
#define BB_OVERVIEW_H
#include "../board/reader.h"

/* Of every node, by the number of its record in the copy. */
struct bb_overview {
  double *ages;      /* the age of the newest report, ms; -1: there is none */
  /* its wall clock minus the master's, s: from its newest report, minus the time that collecting took; 0: there is
   * none */
  double *skews;
  uint32_t *problems;    /* its problems, bits by enum beoboard_problem; 0 unless it is live or uncertain */
  /* a number for its kernel release: the same for the same release, and different for nearly all others; 0: not live,
   * unknown */
  uint32_t *kernels;
  uint32_t *unmeasured;  /* those that its newest report does not measure, and that are no longer shown as present */
  uint32_t *unsettled;   /* those that it does not measure, and that the last one to measure them showed */
  uint32_t *measured;    /* those that its newest report can show; of several sets that show one, it has some */
  uint32_t *intervals;   /* the interval of its newest report, ms; 0: there is none */
  uint32_t *lates;       /* how late that was made, us; 0: in time, or unknown */
  uint8_t *told;         /* 0: no trouble of it is remembered */
  uint8_t *states;   /* an enum beoboard_state */
  /* the same at the receiver's last heartbeat: what was known before it stalled, or its board was retired */
  uint8_t *known;
};

/* All of it in one piece of memory, in the order above: its size for so many nodes, and the places of the parts.
 * Aligned to 8. */
size_t bb_overview_bytes(uint64_t nodes);
struct bb_overview bb_overview_at(uint8_t *memory, uint64_t nodes);

/* What is not measured for so long is no longer shown as present: a minute, and three slow rounds of its node. */
uint64_t bb_unmeasured_limit_ms(uint32_t interval_ms, uint64_t longest_ms);

/* Whether a copy of so many bytes can be one of so many nodes. */
bool bb_copy_holds(const uint8_t *copy, size_t bytes, uint64_t nodes);

/* The newest slot of a record in such a copy, and the one before it; NULL: there is none. */
const struct bb_slot *bb_copy_slots(const struct bb_board_header *h, const uint8_t *record,
                                    const struct bb_slot **before);

/* Judges a copy of a board, and sets `look->stalled`. False, and nothing is written, if `bytes` is too small for so
 * many nodes, or if it is no such copy. `from`: of which board each record, from number `first` on, is copied before
 * it is judged; NULL: all were. The other makes the copy, too, and leaves the results behind it. */
bool bb_overview(const uint8_t *copy, size_t bytes, struct bb_look *look, const struct bb_overview *out,
                 const struct bb_board *from, uint64_t first);
bool bb_overview_snapshot(const struct bb_board *b, uint8_t *to, size_t bytes, uint64_t first, struct bb_look *look);

/* Only the states, from a copy without records; likewise. */
bool bb_overview_states(const uint8_t *copy, size_t bytes, struct bb_look *look, uint8_t *states);
#endif

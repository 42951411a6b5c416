/* Collects what has changed on a board since the last sweep, as entries of a batch; see proto/relay-v1.md. Only
 * reads the board, and does not know who sends the batches. */
#ifndef BB_SWEEP_H
#define BB_SWEEP_H
#include "../board/reader.h"

struct bb_sweep;

/* For a board that stays mapped as long as this is used. NULL: no memory. */
struct bb_sweep *bb_sweep_new(const struct bb_board *board);
void bb_sweep_free(struct bb_sweep *sweep);

/* Begins a sweep: loads the board's own state into `out` (except flags and entries), and then goes through its
 * records. The time of the sweep is from before this call. `thorough`: includes counters and all links.
 * `asked_bytes`: at most so many bytes are used for requested records. False if the file was cut short. */
bool bb_sweep_begin(struct bb_sweep *sweep, bool thorough, size_t asked_bytes, struct bb_relay_board *out);

/* How a sweep continues. */
enum bb_sweep_state {
  BB_SWEEP_MORE,     /* there was no more room: the rest goes into another batch */
  /* it ends, and everything that arrived before its heartbeats is in its entries or in earlier ones */
  BB_SWEEP_COMPLETE,
  BB_SWEEP_PARTIAL,  /* it ends, and something could not be copied whole: its heartbeats do not count */
  BB_SWEEP_BACKWARD, /* a record has an older report than before: this is no longer the same board */
  BB_SWEEP_CUT,      /* the file was cut short */
};

/* Writes entries of the sweep, at most `room` bytes (at least 8 KiB; aligned to 8). */
enum bb_sweep_state bb_sweep_next(struct bb_sweep *sweep, uint8_t *to, size_t room, size_t *bytes, uint32_t *entries);

/* Marks everything on the board as already swept. */
enum bb_sweep_state bb_sweep_prime(struct bb_sweep *sweep);

/* Makes the next sweeps include these records again. Numbers beyond the board's are ignored. */
void bb_sweep_ask(struct bb_sweep *sweep, const uint32_t *numbers, size_t count);

/* The index of `count` records from number `first` on, as of the last sweep. Returns how many there are. */
uint32_t bb_sweep_index(const struct bb_sweep *sweep, uint32_t first, uint32_t count, struct bb_relay_indexed *out);

/* The records that the last sweep found; and one bit for each link that is up and not dark. */
uint32_t bb_sweep_records(const struct bb_sweep *sweep);
uint64_t bb_sweep_links_well(const struct bb_sweep *sweep);
#endif

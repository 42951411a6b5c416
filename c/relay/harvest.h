/* Collects what has changed on a board since the last sweep, as entries of a batch; see proto/relay-v1.md. Only
 * reads the board, and does not know who sends the batches. */
#ifndef BB_HARVEST_H
#define BB_HARVEST_H
#include "../board/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_harvest;

/* For a board that stays mapped as long as this is used. NULL: no memory. */
struct bb_harvest *bb_harvest_new(const struct bb_board *board);
void bb_harvest_free(struct bb_harvest *harvest);

/* Begins a sweep: loads the board's own state into `out` (except flags and entries), and then goes through its
 * records. The time of the sweep is from before this call. `thorough`: includes counters and all links.
 * `asked_bytes`: at most so many bytes are used for requested records. False if the file was cut short. */
bool bb_harvest_begin(struct bb_harvest *harvest, bool thorough, size_t asked_bytes, struct bb_relay_board *out);

/* How a sweep continues. */
enum bb_harvest_state {
  BB_HARVEST_MORE,     /* there was no more room: the rest goes into another batch */
  BB_HARVEST_COMPLETE, /* it ends, and everything that arrived before its heartbeats is in its entries or in earlier ones */
  BB_HARVEST_PARTIAL,  /* it ends, and something could not be copied whole: its heartbeats do not count */
  BB_HARVEST_BACKWARD, /* a record has an older report than before: this is no longer the same board */
  BB_HARVEST_CUT,      /* the file was cut short */
};

/* Writes entries of the sweep, at most `room` bytes (at least 8 KiB; aligned to 8). */
enum bb_harvest_state bb_harvest_take(struct bb_harvest *harvest, uint8_t *to, size_t room, size_t *bytes, uint32_t *entries);

/* Marks everything on the board as already taken. */
enum bb_harvest_state bb_harvest_prime(struct bb_harvest *harvest);

/* Makes the next sweeps take these records again. Numbers beyond the board's are ignored. */
void bb_harvest_ask(struct bb_harvest *harvest, const uint32_t *numbers, size_t count);

/* The index of `count` records from number `first` on, as of the last sweep. Returns how many there are. */
uint32_t bb_harvest_index(const struct bb_harvest *harvest, uint32_t first, uint32_t count, struct bb_relay_indexed *out);

/* The records that the last sweep found; and one bit for each link that is up and not dark. */
uint32_t bb_harvest_records(const struct bb_harvest *harvest);
uint64_t bb_harvest_links_well(const struct bb_harvest *harvest);

#ifdef __cplusplus
}
#endif
#endif

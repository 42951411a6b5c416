/* Collects what has changed on a board since it was last swept over, as entries of a batch; see proto/relay-v1.md. Reads the board alone, and
 * knows nothing of who carries the batches. */
#ifndef BB_HARVEST_H
#define BB_HARVEST_H
#include "board.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_harvest;

/* For a board that stays mapped as long as this is used. NULL: no memory. */
struct bb_harvest *bb_harvest_new(const struct bb_board *board);
void bb_harvest_free(struct bb_harvest *harvest);

/* Begins a sweep: loads what the board says of itself into `out` (but for flags and entries), and then goes over its records. The time of the
 * sweep is one from before this is called. `thorough`: looks at counters and all links, too. `asked_bytes`: so many at most are spent on what was
 * asked for. False when the file was cut short. */
bool bb_harvest_begin(struct bb_harvest *harvest, bool thorough, size_t asked_bytes, struct bb_relay_board *out);

/* How a sweep goes on. */
enum bb_harvest_state {
  BB_HARVEST_MORE,     /* there was no more room: the rest goes into another batch */
  BB_HARVEST_COMPLETE, /* it ends, and whatever arrived before its heartbeats is in the entries of it or of one before */
  BB_HARVEST_PARTIAL,  /* it ends, and something could not be copied whole: its heartbeats do not count */
  BB_HARVEST_BACKWARD, /* a record has an older report than before: this is no longer the same board */
  BB_HARVEST_CUT,      /* the file was cut short */
};

/* Writes entries of the sweep, at most `room` bytes of them (8 KiB and more; aligned to 8). */
enum bb_harvest_state bb_harvest_take(struct bb_harvest *harvest, uint8_t *to, size_t room, size_t *bytes, uint32_t *entries);

/* Notes what is on the board as if it had been taken. */
enum bb_harvest_state bb_harvest_prime(struct bb_harvest *harvest);

/* Has the next sweeps take these records again. Numbers beyond the board's are passed over. */
void bb_harvest_ask(struct bb_harvest *harvest, const uint32_t *numbers, size_t count);

/* The index of `count` records from number `first` on, as they were taken by the last sweep. How many there are. */
uint32_t bb_harvest_index(const struct bb_harvest *harvest, uint32_t first, uint32_t count, struct bb_relay_indexed *out);

/* Records that the last sweep found; and of links a bit for each that is up and not dark. */
uint32_t bb_harvest_records(const struct bb_harvest *harvest);
uint64_t bb_harvest_links_well(const struct bb_harvest *harvest);

#ifdef __cplusplus
}
#endif
#endif

/* Which of the two slots of a record holds its newest report. No system call, no lock, no memory of its own. */
#ifndef BB_NEWEST_H
#define BB_NEWEST_H
#include "parts.h"

/* What is newest when we look:
 *   - both heads even: a slot only ever gets newer, so the higher of the two is no older than what was newest before;
 *   - one odd: it is being written, and the writer always writes the older one, so the other, loaded after that was
 *     seen, is the newest (acquire, and fence (A) of the sequence lock). Loaded before, it might have been overtaken
 *     twice, and we would go back in time.
 * Then that slot alone is copied, as much of it as is wanted; its head is loaded again for that, and can only have
 * become newer. Its sequence; 0: there is no report; 1: no whole copy was to be had. `which`: the number of the
 * slot. */
static inline uint64_t bb_newest_parts(const struct bb_board *b, uint64_t index, void *to, const struct bb_part *parts,
                                       size_t count, int *which) {
  const uint8_t *const slots[2] = {shared_slot(b, index, 0), shared_slot(b, index, 1)};
  for (int attempt = 0; attempt < BB_SLOT_ATTEMPTS; attempt++) {
    const uint64_t one = bb_load_acquire((const uint64_t *)(const void *)slots[0]);
    const uint64_t other = bb_load_acquire((const uint64_t *)(const void *)slots[1]);
    *which = (one & 1) != 0 ? 1 : (other & 1) != 0 ? 0 : one > other ? 0 : 1;
    bool is_empty = false;
    const uint64_t sequence =
        bb_read_parts(to, slots[*which], parts, count, offsetof(struct bb_slot, tail), 1, &is_empty);
    if (sequence != 0 || is_empty) return sequence;
  }
  return 1;
}

/* The same of all that stands in its first `bytes`. */
static inline uint64_t bb_newest_of(const struct bb_board *b, uint64_t index, void *to, size_t bytes, int *which) {
  const struct bb_part all = {0, bytes};
  const uint64_t sequence = bb_newest_parts(b, index, to, &all, 1, which);
  if (sequence > 1) *(uint64_t *)to = sequence; /* head as it was when the copy began */
  return sequence;
}

/* Copies the parts of both slots, each with its head as it was when the copy began. Returns how many reports there are,
 * or -1: no whole copy was to be had. `*newest`: which of the two is the newest. */
static inline int bb_pair_parts(const struct bb_board *b, uint64_t index, struct bb_slot pair[2],
                                const struct bb_part *parts, size_t count, int *newest) {
  int which;
  *newest = 0;
  const uint64_t sequence = bb_newest_parts(b, index, &pair[0], parts, count, &which);
  if (sequence < 2) return sequence == 0 ? 0 : -1;
  bool is_empty;
  const uint64_t other = bb_read_parts(&pair[1], shared_slot(b, index, 1 - which), parts, count,
                                       offsetof(struct bb_slot, tail), BB_TRIES, &is_empty);
  pair[0].head = sequence;
  pair[1].head = other;
  if (other > sequence) *newest = 1; /* a report may have arrived meanwhile */
  return other == 0 ? 1 : 2;
}

#endif

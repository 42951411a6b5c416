/* What the source files of the library share: the handle, and one look at the receiver's evidence. Only reads;
 * ../board/seqlock.h defines the memory order. */
#ifndef BB_INTERNAL_H
#define BB_INTERNAL_H
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "../board/parts.h"

/* The library exports only what the header declares; everything else is compiled with hidden visibility. */
#pragma GCC visibility push(default)
#include "../beoboard.h"
#pragma GCC visibility pop
#include "../judge/liveness.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "boards are little-endian, and are read as they lie"
#endif

struct beoboard {
  struct bb_board board; /* without its file descriptor: a daemon may close descriptors that it does not know */
  uid_t named, user;     /* whose boards are trusted besides root's and our own; (uid_t)-1: nobody's */
  char path[];
};

/* 0, or the result of a call with this index. */
static inline int index_fault(const beoboard *b, int index) {
  if (b == NULL) return -EINVAL;
  if (index < 0) return index;
  return (uint32_t)index < nodes_of(&b->board) ? 0 : -EINVAL;
}

/* ns; if no clock can be read, a time far from any heartbeat: every board is stalled then. */
static inline uint64_t read_clock(clockid_t clock) {
  struct timespec t;
  const int error = errno;
  if (clock_gettime(clock, &t) == 0) return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
  errno = error;
  return UINT64_C(1) << 62;
}

/* One look, in the order of the contract: the clock first, then the heartbeat (acquire), so that what the receiver had
 * laid on the board by that heartbeat is seen by all loads that follow, and no age is measured to a later moment than
 * this. */
static inline void look_by(const beoboard *b, clockid_t clock, struct evidence *e) {
  const struct bb_board_header *h = header_of(&b->board);
  e->now = read_clock(clock);
  e->heartbeat = bb_load_acquire(&h->heartbeat_ns);
  e->uncertain_after = bb_load(&h->uncertain_after_ns);
  e->silent_after = bb_load(&h->silent_after_ns);
  e->longest_ms = bb_load(&h->longest_interval_ms);
  e->flags = bb_load(&h->state);
}

/* `again`: something was more than a second ahead of the last look. We may have been preempted between the clock and
 * the loads, or the coarse clock stands still because its CPU does: a whole new look with the precise clock
 * distinguishes that from a clock that is not ours. */
static inline void look(const beoboard *b, bool again, struct evidence *e) {
  look_by(b, again ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE, e);
  if (!again && from_to(e->now, e->heartbeat) > BB_AHEAD_NS) look_by(b, CLOCK_MONOTONIC, e);
}

/* The present evidence for a link. A number without an entry has none, whatever is stored there. */
static inline struct bb_link_evidence load_link(const beoboard *b, uint64_t link) {
  return has_entry(link, links_of(&b->board)) ? load_evidence(&b->board, link) : no_evidence;
}

/* The word of a node, loaded after the evidence of its link; see "How one node is judged" in the contract. */
static inline uint64_t load_word(const beoboard *b, uint64_t index, struct bb_link_evidence *by) {
  const uint64_t *column = column_of(&b->board, index);
  uint64_t word = bb_load(column);
  for (int tries = 2; tries > 0; tries--) {
    const unsigned link = link_of(word);
    *by = load_link(b, link);
    word = bb_load(column);
    if (link_of(word) == link) return word;
  }
  *by = no_evidence; /* it came by another link each time: it is being heard right now */
  return word;
}

/* Copies a struct to a program that knows `size` bytes of it. */
static inline void give(void *out, size_t size, const void *from, size_t bytes) {
  memcpy(out, from, size < bytes ? size : bytes);
  if (size > bytes) memset((uint8_t *)out + bytes, 0, size - bytes);
}

/* Both slots of a record, in any order. Returns how many reports there are, or -EAGAIN; `newest`: which of them is
 * the newest. */
int bb_pair(const beoboard *b, uint64_t index, struct bb_slot pair[2], int *newest);

#endif

/* What the source files of the library share: the handle, and one look at the receiver's evidence. Only reads;
 * ../board/seqlock.h defines the memory order. */
#ifndef BB_INTERNAL_H
#define BB_INTERNAL_H
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "../board/reader.h"
#include "../board/seqlock.h"

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

static inline const struct bb_board_header *header_of(const beoboard *b) {
  return (const struct bb_board_header *)b->board.map;
}

static inline const uint64_t *column_of(const beoboard *b, uint64_t index) {
  return (const uint64_t *)(b->board.map + b->board.header.column_offset + index * b->board.header.column_stride);
}

static inline const uint8_t *record_of(const beoboard *b, uint64_t index) {
  return b->board.map + b->board.header.records_offset + index * b->board.header.record_stride;
}

/* Records in use: never more than the geometry that was checked when the board was opened. */
static inline uint32_t nodes_of(const beoboard *b) {
  /* Acquire: names and entries were written before the count. */
  const uint64_t count = bb_load_acquire(&header_of(b)->count);
  return count < b->board.header.capacity ? (uint32_t)count : b->board.header.capacity;
}

/* 0, or the result of a call with this index. */
static inline int index_fault(const beoboard *b, int index) {
  if (b == NULL) return -EINVAL;
  if (index < 0) return index;
  return (uint32_t)index < nodes_of(b) ? 0 : -EINVAL;
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
  const struct bb_board_header *h = header_of(b);
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

/* Links with an entry, from number 1 on: never more than have their own number. */
static inline uint32_t links_of(const beoboard *b) {
  /* Acquire: an entry was written before it was counted. */
  const uint64_t used = bb_load_acquire(&header_of(b)->links_used);
  return used < BB_LINK_OTHERS ? (uint32_t)used : BB_LINK_OTHERS - 1;
}

/* The table's entry of a link that has one. */
static inline struct bb_link_evidence load_entry(const beoboard *b, uint64_t link) {
  const struct bb_link_evidence *shared = &header_of(b)->evidence[link];
  struct bb_link_evidence by;
  /* Acquire: what came by that heartbeat, and the listening-since before it, are visible to the loads that follow. */
  by.heartbeat_ns = bb_load_acquire(&shared->heartbeat_ns);
  by.listening_since_ns = bb_load(&shared->listening_since_ns);
  return by;
}

/* The present evidence for a link. A number without an entry has none, whatever is stored there. */
static inline struct bb_link_evidence load_link(const beoboard *b, uint64_t link) {
  return has_entry(link, links_of(b)) ? load_entry(b, link) : no_evidence;
}

/* The same for all links: for callers that judge more nodes than there are links. */
static inline void load_links(const beoboard *b, struct bb_link_evidence all[BB_LINKS]) {
  const uint32_t used = links_of(b);
  for (unsigned i = 0; i < BB_LINKS; i++) all[i] = has_entry(i, used) ? load_entry(b, i) : no_evidence;
}

/* The word of a node, loaded after the evidence of its link; see "How one node is judged" in the contract. */
static inline uint64_t load_word(const beoboard *b, uint64_t index, struct bb_link_evidence *by) {
  const uint64_t *column = column_of(b, index);
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

/* The record of that name, or -1. */
int64_t bb_find(const beoboard *b, const char *name);

/* The newest report's slot, its first `bytes` into `to` (words; room for BB_SLOT_BYTES if it is the whole slot).
 * Returns its sequence, 0 if there is no report, 1 if no whole copy could be made. `which`: the slot it came from. */
uint64_t bb_newest(const beoboard *b, uint64_t index, uint64_t *to, size_t bytes, int *which);

/* Both slots of a record, in any order. Returns how many reports there are, or -EAGAIN; `newest`: which of them is
 * the newest. */
int bb_pair(const beoboard *b, uint64_t index, uint64_t pair[2][BB_SLOT_BYTES / 8], int *newest);

#endif

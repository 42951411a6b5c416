/* The parts of a board that is mapped for reading: where they are, and how each is loaded. No system call: the size of
 * the file is for the caller to check, if at all. */
#ifndef BB_PARTS_H
#define BB_PARTS_H
#include <string.h>

#include "column.h"
#include "reader.h"
#include "seqlock.h"

static inline const struct bb_board_header *header_of(const struct bb_board *b) {
  return (const struct bb_board_header *)(const void *)b->map;
}

/* Entry `i` of a table of the board. */
static inline const void *entry_at(const struct bb_board *b, uint64_t offset, uint64_t stride, uint64_t i) {
  return b->map + offset + i * stride;
}

static inline const uint64_t *index_entry_of(const struct bb_board *b, uint64_t i) {
  return (const uint64_t *)entry_at(b, b->header.index_offset, b->header.index_stride, i);
}

static inline const uint64_t *column_of(const struct bb_board *b, uint64_t index) {
  return (const uint64_t *)entry_at(b, b->header.column_offset, b->header.column_stride, index);
}

static inline const uint8_t *record_of(const struct bb_board *b, uint64_t index) {
  return (const uint8_t *)entry_at(b, b->header.records_offset, b->header.record_stride, index);
}

static inline const uint8_t *shared_slot(const struct bb_board *b, uint64_t index, int i) {
  return record_of(b, index) + b->header.slots_offset + (size_t)i * b->header.slot_stride;
}

/* The memory of a record. NULL: the board has none that reaches so far, or nothing is remembered yet. */
static inline const struct bb_memory *shared_memory(const struct bb_board *b, uint64_t index) {
  if (b->header.memory_bytes < sizeof(struct bb_memory)) return NULL;
  const void *at = record_of(b, index) + b->header.memory_offset;
  const struct bb_memory *m = (const struct bb_memory *)at;
  return bb_load(&m->remembers_since_ns) == 0 ? NULL : m;
}

/* Records in use: never more than in the geometry that was checked when the board was opened. */
static inline uint32_t nodes_of(const struct bb_board *b) {
  /* Acquire: names and entries were written before the count. */
  const uint64_t count = bb_load_acquire(&header_of(b)->count);
  return count < b->header.capacity ? (uint32_t)count : b->header.capacity;
}

/* ---- links ---- */

/* Links with an entry, from number 1 on: never more than have their own number. */
static inline uint32_t links_of(const struct bb_board *b) {
  /* Acquire: an entry was written before it was counted. */
  const uint64_t used = bb_load_acquire(&header_of(b)->links_used);
  return used < BB_LINK_OTHERS ? (uint32_t)used : BB_LINK_OTHERS - 1;
}

/* The evidence for a link that has an entry. */
static inline struct bb_link_evidence load_evidence(const struct bb_board *b, uint64_t link) {
  const struct bb_link_evidence *shared = &header_of(b)->evidence[link];
  struct bb_link_evidence by;
  /* Acquire: what came by that heartbeat, and the listening-since before it, are visible to the loads that follow. */
  by.heartbeat_ns = bb_load_acquire(&shared->heartbeat_ns);
  by.listening_since_ns = bb_load(&shared->listening_since_ns);
  return by;
}

/* The same for all links. A number without an entry has none, whatever is stored there. */
static inline void load_links(const struct bb_board *b, struct bb_link_evidence all[BB_LINKS]) {
  const uint32_t used = links_of(b);
  for (unsigned i = 0; i < BB_LINKS; i++) all[i] = has_entry(i, used) ? load_evidence(b, i) : no_evidence;
}

/* A link that has an entry. Its evidence is loaded first: what the receiver had found out about the link by that
 * heartbeat is in the entry. */
static inline struct bb_link_copy read_link(const struct bb_board *b, uint32_t link) {
  struct bb_link_copy copy = {.evidence = load_evidence(b, link)};
  bb_copy_out(&copy.link, entry_at(b, b->header.links_offset, b->header.links_stride, link), sizeof copy.link);
  return copy;
}

/* ---- rejected senders, and events ---- */

/* False: the entry is empty, or no whole copy was to be had. */
static inline bool read_sender(const struct bb_board *b, uint32_t i, struct bb_sender *sender) {
  bool is_empty;
  return bb_read_block(sender, entry_at(b, b->header.senders_offset, b->header.senders_stride, i), sizeof *sender,
                       offsetof(struct bb_sender, tail), BB_TRIES, &is_empty) != 0;
}

/* No receiver can count that far; the sequences of such numbers, which only a corrupt board has, would overflow. */
#define MOST_EVENT (UINT64_C(1) << 61)

/* The number of the newest event. */
static inline uint64_t newest_event(const struct bb_board *b) {
  /* Acquire: an event was written before its number. */
  const uint64_t last = bb_load_acquire(&header_of(b)->event_last);
  return last < MOST_EVENT ? last : 0;
}

/* The first event from number `next` on that is kept. */
static inline uint64_t first_event(const struct bb_board *b, uint64_t next, uint64_t last) {
  const uint64_t kept = b->header.events;
  /* A cursor from another board, beyond the end of this one: from the beginning. */
  if (next == 0 || next > last + 1) next = 1;
  return last >= kept && next <= last - kept ? last - kept + 1 : next;
}

/* Event number n, unless a later one has replaced it, or it belongs to the last board. */
static inline bool read_event(const struct bb_board *b, uint64_t n, struct bb_event *event) {
  bool is_empty;
  return bb_read_block(event, entry_at(b, b->header.events_offset, b->header.events_stride, n % b->header.events),
                       sizeof *event, offsetof(struct bb_event, tail), BB_TRIES, &is_empty) == 2 * n;
}

#endif

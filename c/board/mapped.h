/* A board that is mapped for writing, and the places of its parts. */
#ifndef BB_MAPPED_H
#define BB_MAPPED_H
#include <string.h>
#include <sys/stat.h>

#include "../rules/keyring.h"
#include "reader.h"

#define NONE BB_NO_RECORD
#define SECOND INT64_C(1000000000)

/* Whose board it is. */
struct bb_cluster {
  const char *name; /* "": none */
  uint32_t id;
};

/* A board that is mapped for writing. */
struct bb_mapped {
  uint8_t *map;
  size_t bytes;
  dev_t device;
  ino_t inode;
  struct bb_board_header *header;
};

/* ---- parts of a board ---- */

static inline uint64_t *index_entry(const struct bb_mapped *b, uint64_t i) {
  return (uint64_t *)(b->map + b->header->index_offset + i * b->header->index_stride);
}

static inline uint64_t *column_word(const struct bb_mapped *b, uint32_t i) {
  return (uint64_t *)(b->map + b->header->column_offset + (uint64_t)i * b->header->column_stride);
}

static inline struct bb_record *record_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_record *)(b->map + b->header->records_offset + (uint64_t)i * b->header->record_stride);
}

static inline struct bb_slot *slot_at(const struct bb_mapped *b, uint32_t i, uint32_t slot) {
  uint8_t *const record = (uint8_t *)record_at(b, i);
  return (struct bb_slot *)(record + b->header->slots_offset + (uint64_t)slot * b->header->slot_stride);
}

/* On a board that we write: of another one it may be shorter, or missing. */
static inline struct bb_memory *memory_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_memory *)((uint8_t *)record_at(b, i) + b->header->memory_offset);
}

static inline struct bb_link *link_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_link *)(b->map + b->header->links_offset + (uint64_t)i * b->header->links_stride);
}

static inline struct bb_sender *sender_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_sender *)(b->map + b->header->senders_offset + (uint64_t)i * b->header->senders_stride);
}

static inline struct bb_event *event_at(const struct bb_mapped *b, uint64_t number) {
  return (struct bb_event *)(b->map + b->header->events_offset + number % b->header->events * b->header->events_stride);
}

/* No receiver can count that far, and after the highest number the next one would be 0. */
#define MOST_SEQUENCE (UINT64_C(1) << 62)

static inline bool is_whole(const struct bb_slot *slot) {
  return slot->head != 0 && (slot->head & 1) == 0 && slot->head == slot->tail && slot->head < MOST_SEQUENCE;
}

/* The newest whole slot of a record, 0 or 1; -1 if it has no report. */
static inline int newest_slot(const struct bb_mapped *b, uint32_t record) {
  const struct bb_slot *a = slot_at(b, record, 0), *c = slot_at(b, record, 1);
  if (!is_whole(a) && !is_whole(c)) return -1;
  if (!is_whole(a)) return 1;
  if (!is_whole(c)) return 0;
  return a->head > c->head ? 0 : 1;
}

#endif

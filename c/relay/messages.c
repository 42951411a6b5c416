#include "messages.h"

#include <string.h>

static bool read_head(struct bb_relay_head *head, const uint8_t *message, size_t length, uint32_t kind, size_t least) {
  if (length < sizeof *head + least) return false;
  memcpy(head, message, sizeof *head);
  return head->magic == BB_RELAY_MAGIC && head->version == BB_RELAY_VERSION && head->kind == kind;
}

/* The least that an entry has: of a record, what a relay of the first version sends. */
static const size_t least_bytes[BB_RELAY_ENTRY_COUNT] = {
  [BB_RELAY_ENTRY_REPORT] = sizeof(struct bb_relay_report),
  [BB_RELAY_ENTRY_RECORD] = offsetof(struct bb_relay_record, clone_since_ns),
  [BB_RELAY_ENTRY_LINK] = sizeof(struct bb_relay_link),
};

/* Kind and size of the entry at that place; false: it leads out of the message, or is too small for its contents. */
static bool read_sizes(const uint8_t *at, size_t left, uint16_t *kind, uint16_t *bytes) {
  if (left < 8) return false;
  memcpy(kind, at, sizeof *kind);
  memcpy(bytes, at + 2, sizeof *bytes);
  if (*bytes < 8 || *bytes % 8 != 0 || *bytes > left) return false;
  return *kind >= BB_RELAY_ENTRY_COUNT || *bytes >= least_bytes[*kind];
}

bool relay_read_batch(struct relay_batch *b, const uint8_t *message, size_t length) {
  if (!read_head(&b->head, message, length, BB_RELAY_KIND_BATCH, sizeof b->board)) return false;
  memcpy(&b->board, message + sizeof b->head, sizeof b->board);
  b->entries = message + sizeof b->head + sizeof b->board;
  b->bytes = length - sizeof b->head - sizeof b->board;
  uint32_t entries = 0;
  uint16_t kind, bytes;
  for (size_t at = 0; at < b->bytes; at += bytes, entries++)
    if (!read_sizes(b->entries + at, b->bytes - at, &kind, &bytes)) return false;
  return entries == b->board.entries && b->board.stat_hash == BB_HASH_STAT_V1;
}

bool relay_next_entry(const struct relay_batch *b, size_t *at, struct relay_entry *e) {
  if (*at >= b->bytes || !read_sizes(b->entries + *at, b->bytes - *at, &e->kind, &e->bytes)) return false;
  const size_t room = sizeof *e - offsetof(struct relay_entry, report);
  if (e->kind == BB_RELAY_ENTRY_RECORD) memset(&e->record, 0, sizeof e->record);
  memcpy(&e->report, b->entries + *at, e->bytes < room ? e->bytes : room);
  *at += e->bytes;
  return true;
}

bool relay_read_index(struct relay_index *i, const uint8_t *message, size_t length) {
  if (!read_head(&i->head, message, length, BB_RELAY_KIND_INDEX, sizeof i->index)) return false;
  memcpy(&i->index, message + sizeof i->head, sizeof i->index);
  i->entries = message + sizeof i->head + sizeof i->index;
  const size_t bytes = length - sizeof i->head - sizeof i->index, each = sizeof(struct bb_relay_indexed);
  return bytes % each == 0 && bytes / each == i->index.count && i->index.part < i->index.parts &&
         i->index.first <= i->index.records && i->index.count <= i->index.records - i->index.first;
}

struct bb_relay_indexed relay_indexed(const struct relay_index *i, uint32_t n) {
  struct bb_relay_indexed e;
  memcpy(&e, i->entries + (size_t)n * sizeof e, sizeof e);
  return e;
}

/* The messages of a relay, from their head on; see proto/relay-v1.md. A message is checked as a whole before anything
 * of it is used. Pure. */
#ifndef BB_MESSAGES_H
#define BB_MESSAGES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../format/layout.gen.h"

struct relay_batch {
  struct bb_relay_head head;
  struct bb_relay_board board;
  const uint8_t *entries;
  size_t bytes; /* of the entries */
};

/* An entry of a batch, aligned; where a relay of an earlier version says less of a record, the rest is zero. */
struct relay_entry {
  uint16_t kind, bytes;
  union {
    struct bb_relay_report report;
    struct bb_relay_record record;
    struct bb_relay_link link;
  };
};

struct relay_index {
  struct bb_relay_head head;
  struct bb_relay_index index;
  const uint8_t *entries;
};

/* False: it is no batch, or not whole. */
bool relay_read_batch(struct relay_batch *batch, const uint8_t *message, size_t length);

/* The entry at byte `*at` of a batch that was read, which goes on to the next one. False: there is none. */
bool relay_next_entry(const struct relay_batch *batch, size_t *at, struct relay_entry *entry);

/* False: it is no index, or not whole. */
bool relay_read_index(struct relay_index *index, const uint8_t *message, size_t length);

/* Entry `n` of an index. */
struct bb_relay_indexed relay_indexed(const struct relay_index *index, uint32_t n);

#endif

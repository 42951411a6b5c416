/* Snapshots of a board that nobody looks at while they are copied. */
#ifndef BB_TEST_SNAPSHOT_H
#define BB_TEST_SNAPSHOT_H
#include "../board/reader.h"

static inline size_t bb_board_snapshot_bytes(const struct bb_board *b) {
  return bb_board_bytes(b, b->header.record_stride);
}

/* 0; -1 if the file was cut short. */
static inline int bb_board_snapshot(const struct bb_board *b, void *out, size_t size, uint64_t first,
                                    struct bb_look *look) {
  uint8_t *to = bb_board_begin(b, out, size, first, b->header.record_stride, look);
  if (to == NULL) return -1;
  for (uint64_t i = 0; i < look->nodes; i++, to += b->header.record_stride) bb_board_copy(b, first + i, to);
  return 0;
}
#endif

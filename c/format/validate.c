#include "validate.h"

#include <string.h>

#include "../base/naming.h"

int bb_is_name(const char name[64]) {
  static const char zeros[64];
  const struct span text = {name, strnlen(name, 64)};
  return is_node_name(text, false) && memcmp(name + text.len, zeros, 64 - text.len) == 0;
}

/* So many bytes, 1 to 8, as a number: little-endian, like the host; the build refuses any other. Eight are read if
 * there are eight: one load costs less than a loop over bytes that are rarely more than four. */
static uint64_t bytes_at(const uint8_t *datagram, size_t offset, size_t bytes) {
  const size_t most = BB_REPORT_BYTES - sizeof(uint64_t);
  const size_t from = offset < most ? offset : most;
  uint64_t word;
  memcpy(&word, datagram + from, sizeof word);
  return word >> 8 * (offset - from) & UINT64_MAX >> 8 * (sizeof word - bytes);
}

/* The loops over the contract's tables are unrolled: then the tables are constants of the code, and the compiler
 * does most of the work. */

/* Among the violated ranges, the reason that comes first. */
static enum bb_reason broken_range(const uint8_t *datagram) {
  enum bb_reason reason = BB_REASON_NONE;
#pragma GCC unroll 32
  for (size_t i = 0; i < sizeof bb_report_ranges / sizeof bb_report_ranges[0]; i++) {
    const struct bb_range *range = &bb_report_ranges[i];
    const uint64_t value = bytes_at(datagram, range->offset, range->bytes);
    if (value >= range->least && value <= range->most) continue;
    if (range->reason == BB_REASON_INTERVAL) return BB_REASON_INTERVAL;
    reason = BB_REASON_RANGE;
  }
  return reason;
}

/* A field of a datagram, which need not be aligned. */
#define FIELD(variable, field) memcpy(&(variable), datagram + offsetof(struct bb_report, field), sizeof(variable))

static int has_reserved(const uint8_t *datagram) {
  uint64_t valid;
  uint32_t flags;
  uint64_t any = 0;
  FIELD(valid, valid);
  FIELD(flags, flags);
#pragma GCC unroll 32
  for (size_t i = 0; i < sizeof bb_report_reserved / sizeof bb_report_reserved[0]; i++)
    any |= bytes_at(datagram, bb_report_reserved[i].offset, bb_report_reserved[i].bytes);
  return any != 0 || (valid & ~BB_VALID_KNOWN) != 0 || (flags & ~BB_FLAGS_KNOWN) != 0;
}

enum bb_reason bb_validate(const uint8_t *datagram, size_t length, uint32_t cluster_id) {
  if (length != BB_REPORT_BYTES) return BB_REASON_SIZE;
  uint32_t magic, cluster;
  uint16_t version, told_length;
  FIELD(magic, magic);
  FIELD(version, version);
  FIELD(told_length, length);
  FIELD(cluster, cluster_id);
  if (magic != BB_STAT_MAGIC) return BB_REASON_MAGIC;
  if (version != BB_STAT_VERSION) return BB_REASON_VERSION;
  if (told_length != BB_REPORT_BYTES) return BB_REASON_LENGTH;
  if (cluster != cluster_id) return BB_REASON_CLUSTER;
  if (has_reserved(datagram)) return BB_REASON_RESERVED;
  if (!bb_is_name((const char *)datagram + offsetof(struct bb_report, hostname))) return BB_REASON_NAME;
  return broken_range(datagram);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the datagram and the board are little-endian, and read without conversion: no big-endian hosts"
#endif

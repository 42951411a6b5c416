#include "validate.h"

#include <string.h>

int bb_is_name(const char name[64]) {
  size_t length = 0;
  for (; length < 64 && name[length] != 0; length++) {
    const char c = name[length];
    const int alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!alnum && (length == 0 || (c != '.' && c != '_' && c != '-'))) return 0;
  }
  if (length == 0 || length == 64) return 0;
  char any = 0;
  for (size_t i = length; i < 64; i++) any |= name[i];
  return any == 0;
}

/* A field of 1, 2 or 4 bytes: little-endian, as the host is; the build refuses any other. */
static uint32_t value_at(const uint8_t *datagram, const struct bb_range *range) {
  uint32_t word;
  uint16_t half;
  switch (range->bytes) {
    case 4: memcpy(&word, datagram + range->offset, 4); return word;
    case 2: memcpy(&half, datagram + range->offset, 2); return half;
    default: return datagram[range->offset];
  }
}

/* Of the ranges that are broken, the reason that comes first. */
static enum bb_reason broken_range(const uint8_t *datagram) {
  enum bb_reason reason = BB_REASON_NONE;
  for (size_t i = 0; i < sizeof bb_report_ranges / sizeof bb_report_ranges[0]; i++) {
    const struct bb_range *range = &bb_report_ranges[i];
    const uint32_t value = value_at(datagram, range);
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
  uint8_t any = 0;
  FIELD(valid, valid);
  FIELD(flags, flags);
  for (size_t i = 0; i < sizeof bb_report_reserved / sizeof bb_report_reserved[0]; i++)
    for (size_t k = 0; k < bb_report_reserved[i].bytes; k++) any |= datagram[bb_report_reserved[i].offset + k];
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
  if (magic != 0x31525342u) return BB_REASON_MAGIC;
  if (version != 1) return BB_REASON_VERSION;
  if (told_length != BB_REPORT_BYTES) return BB_REASON_LENGTH;
  if (cluster != cluster_id) return BB_REASON_CLUSTER;
  if (has_reserved(datagram)) return BB_REASON_RESERVED;
  if (!bb_is_name((const char *)datagram + offsetof(struct bb_report, hostname))) return BB_REASON_NAME;
  return broken_range(datagram);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the datagram and the board are little-endian, and read without conversion: no big-endian hosts"
#endif

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
  for (size_t i = length; i < 64; i++)
    if (name[i] != 0) return 0;
  return 1;
}

static uint32_t value_at(const uint8_t *datagram, const struct bb_range *range) {
  uint32_t value = 0; /* little-endian, as the host is: the build refuses any other */
  memcpy(&value, datagram + range->offset, range->bytes);
  return value;
}

/* The first range that is broken for this reason. */
static int breaks_range(const uint8_t *datagram, enum bb_reason reason) {
  for (size_t i = 0; i < sizeof bb_report_ranges / sizeof bb_report_ranges[0]; i++) {
    const struct bb_range *range = &bb_report_ranges[i];
    const uint32_t value = value_at(datagram, range);
    if (range->reason == reason && (value < range->least || value > range->most)) return 1;
  }
  return 0;
}

static int has_reserved(const uint8_t *datagram, const struct bb_report *report) {
  if (report->valid & ~BB_VALID_KNOWN) return 1;
  if (report->flags & ~BB_FLAGS_KNOWN) return 1;
  for (size_t i = 0; i < sizeof bb_report_reserved / sizeof bb_report_reserved[0]; i++)
    for (size_t k = 0; k < bb_report_reserved[i].bytes; k++)
      if (datagram[bb_report_reserved[i].offset + k] != 0) return 1;
  return 0;
}

enum bb_reason bb_validate(const uint8_t *datagram, size_t length, uint32_t cluster_id) {
  if (length != BB_REPORT_BYTES) return BB_REASON_SIZE;
  struct bb_report report; /* a copy: the datagram need not be aligned */
  memcpy(&report, datagram, sizeof report);
  if (report.magic != 0x31525342u) return BB_REASON_MAGIC;
  if (report.version != 1) return BB_REASON_VERSION;
  if (report.length != BB_REPORT_BYTES) return BB_REASON_LENGTH;
  if (report.cluster_id != cluster_id) return BB_REASON_CLUSTER;
  if (has_reserved(datagram, &report)) return BB_REASON_RESERVED;
  if (!bb_is_name(report.hostname)) return BB_REASON_NAME;
  if (breaks_range(datagram, BB_REASON_INTERVAL)) return BB_REASON_INTERVAL;
  if (breaks_range(datagram, BB_REASON_RANGE)) return BB_REASON_RANGE;
  return BB_REASON_NONE;
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the datagram and the board are little-endian, and read without conversion: no big-endian hosts"
#endif

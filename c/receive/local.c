#include "local.h"

#include <stdlib.h>
#include <string.h>

#include "../base/ipaddress.h"

struct bb_address {
  uint8_t address[16];
  unsigned index;
  uint32_t dump;
};

/* Both ends belong to it. */
struct bb_range {
  uint8_t first[16], last[16];
};

/* ---- addresses ---- */

static int compare_address(const struct bb_address *a, const uint8_t address[16], unsigned index) {
  const int order = memcmp(a->address, address, 16);
  return order != 0 ? order : a->index < index ? -1 : a->index > index;
}

/* The place of that address on that interface, or where it would be. */
static size_t place_of_address(const struct bb_addresses *s, const uint8_t address[16], unsigned index) {
  size_t low = 0, high = s->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_address(&s->all[middle], address, index) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool is_at(const struct bb_addresses *s, size_t at, const uint8_t address[16], unsigned index) {
  return at < s->count && compare_address(&s->all[at], address, index) == 0;
}

bool bb_addresses_add(struct bb_addresses *s, const uint8_t address[16], unsigned index, uint32_t dump) {
  const size_t at = place_of_address(s, address, index);
  if (!is_at(s, at, address, index)) {
    if (s->count == s->room) {
      const size_t room = s->room == 0 ? 16 : s->room * 2;
      struct bb_address *all = (struct bb_address *)realloc(s->all, room * sizeof *all);
      if (all == NULL) return false;
      s->all = all;
      s->room = room;
    }
    memmove(&s->all[at + 1], &s->all[at], (s->count - at) * sizeof *s->all);
    s->count++;
    s->all[at].index = index;
    memcpy(s->all[at].address, address, 16);
  }
  s->all[at].dump = dump;
  return true;
}

void bb_addresses_remove(struct bb_addresses *s, const uint8_t address[16], unsigned index) {
  const size_t at = place_of_address(s, address, index);
  if (!is_at(s, at, address, index)) return;
  s->count--;
  memmove(&s->all[at], &s->all[at + 1], (s->count - at) * sizeof *s->all);
}

void bb_addresses_keep(struct bb_addresses *s, uint32_t dump) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++)
    if (s->all[i].dump == dump) s->all[kept++] = s->all[i];
  s->count = kept;
}

static bool is_loopback(const uint8_t address[16]) {
  static const uint8_t one[16] = {[15] = 1};
  return is_v4(address) ? address[12] == 127 : memcmp(address, one, sizeof one) == 0;
}

bool bb_addresses_have(const struct bb_addresses *s, const uint8_t address[16], unsigned index) {
  if (is_link_local(address)) return is_at(s, place_of_address(s, address, index), address, index);
  const size_t at = place_of_address(s, address, 0);
  return (at < s->count && memcmp(s->all[at].address, address, 16) == 0) || is_loopback(address);
}

/* ---- networks ---- */

static int compare_ranges(const void *a, const void *b) {
  return memcmp(((const struct bb_range *)a)->first, ((const struct bb_range *)b)->first, 16);
}

static struct bb_range range_of(const struct bb_network *network) {
  struct bb_range range;
  for (unsigned i = 0; i < 16; i++) {
    const unsigned bits = network->bits > 8 * i ? network->bits - 8 * i : 0;
    const uint8_t free_bits = bits >= 8 ? 0 : (uint8_t)(0xff >> bits);
    range.first[i] = network->address[i] & (uint8_t)~free_bits;
    range.last[i] = network->address[i] | free_bits;
  }
  return range;
}

bool bb_networks_set(struct bb_networks *n, const struct bb_network *all, size_t count) {
  struct bb_range *ranges = (struct bb_range *)malloc((count > 0 ? count : 1) * sizeof *ranges);
  if (ranges == NULL) return false;
  for (size_t i = 0; i < count; i++) ranges[i] = range_of(&all[i]);
  qsort(ranges, count, sizeof *ranges, compare_ranges);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    /* Two networks are apart, or one contains the other: then the larger one came first, or both are the same. */
    if (kept > 0 && memcmp(ranges[i].first, ranges[kept - 1].last, 16) <= 0) {
      if (memcmp(ranges[i].last, ranges[kept - 1].last, 16) > 0) ranges[kept - 1] = ranges[i];
    } else {
      ranges[kept++] = ranges[i];
    }
  }
  free(n->ranges);
  *n = (struct bb_networks){ranges, kept};
  return true;
}

bool bb_networks_hold(const struct bb_networks *n, const uint8_t address[16]) {
  size_t low = 0, high = n->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (memcmp(n->ranges[middle].last, address, 16) < 0) low = middle + 1;
    else high = middle;
  }
  return low < n->count && memcmp(n->ranges[low].first, address, 16) <= 0;
}

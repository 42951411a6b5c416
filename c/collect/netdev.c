/* /proc/net/dev: traffic of the network interfaces, and their places in the report. Leaves out lines that are not
 * understood: the report tells how many interfaces are in it. */
#include "parse.h"

/* A name that the kernel gives to an interface; no other text may become part of a path. */
bool is_interface_name(struct span name) {
  unsigned characters = 0;
  if (span_is(name, SPAN(".")) || span_is(name, SPAN(".."))) return false;
  for (struct span left = name; left.len > 0 && characters < 16; characters++) {
    uint32_t character;
    left = without(left, next_character(left, &character));
    if (is_blank(character) || character == '/') return false;
  }
  return characters >= 1 && characters <= 15;
}

enum { RX_BYTES, RX_PACKETS, RX_ERRORS, RX_DROPS, TX_BYTES = 8, TX_PACKETS, TX_ERRORS, TX_DROPS, COLUMNS };

static bool netdev_parse_line(struct span line, struct interface *one) {
  /* A blank need not follow the colon; before 4.20 a name can have colons, too. */
  size_t colon = line.len;
  while (colon > 0 && line.at[colon - 1] != ':') colon--;
  if (colon == 0) return false;
  const struct span name = trimmed((struct span){line.at, colon - 1});
  if (!is_interface_name(name)) return false;
  one->name = (struct span){one->text, copy_utf8(one->text, sizeof one->text, name)};
  one->name_print = fingerprint(FINGERPRINT, one->name);
  struct span left = without(line, colon), word;
  uint64_t value[COLUMNS] = {0};
  for (unsigned i = 0; i < COLUMNS; i++) {
    if (!next_word(&left, &word)) return false;
    const bool wanted = i <= RX_DROPS || i >= TX_BYTES;
    if (wanted && !text_u64(word, &value[i])) return false;
  }
  one->rx_bytes = value[RX_BYTES];
  one->rx_packets = value[RX_PACKETS];
  one->rx_errors = value[RX_ERRORS];
  one->rx_drops = value[RX_DROPS];
  one->tx_bytes = value[TX_BYTES];
  one->tx_packets = value[TX_PACKETS];
  one->tx_errors = value[TX_ERRORS];
  one->tx_drops = value[TX_DROPS];
  return true;
}

/* All interfaces in the kernel's order. The two heading lines are required; there may be no interfaces. */
enum parsed parse_netdev(struct span text, struct interface *all, unsigned *count, uint64_t *names) {
  if (!ends(text, SPAN("\n"))) return REFUSED;
  unsigned number = 0;
  *count = 0;
  *names = FINGERPRINT;
  for (struct span left = text, line; next_line(&left, &line);) {
    if (++number <= 2) {
      if (find_char(line, '|') == NULL) return REFUSED;
    } else if (netdev_parse_line(line, &all[*count])) {
      *names = fingerprint_with(*names, all[(*count)++].name_print);
    }
  }
  return number < 2 ? REFUSED : parsed_lines(number - 2, *count);
}

/* The number of entries of `net` in the report; further interfaces are added to `net_rest`. */
#define PLACES 3u

/* In UTF-8, cut at a character. */
static void put_name(char field[16], struct span name) {
  while (name.len > 15) {
    name.len = 15;
    while (name.len > 0 && ((unsigned char)name.at[name.len] & 0xc0) == 0x80) name.len--;
  }
  memcpy(field, name.at, name.len);
}

static uint32_t mbps_of(const struct name_index *index, const struct speeds *speeds, const struct interface *one) {
  const int64_t at = place_of(index, one->name_print);
  return at < 0 ? 0 : speed_at(speeds, (unsigned)at)->mbps;
}

static uint32_t state_of(uint32_t bits, uint32_t interfaces) {
  return bits + (interfaces < 0xffff ? interfaces : 0xffff) * UINT32_C(0x10000);
}

static void put_one(struct bb_net_if *entry, const struct interface *one, uint32_t mbps, uint32_t state) {
  put_name(entry->name, one->name);
  entry->rx_bytes = one->rx_bytes;
  entry->tx_bytes = one->tx_bytes;
  entry->rx_packets = one->rx_packets;
  entry->tx_packets = one->tx_packets;
  entry->errors = (uint32_t)(one->rx_errors + one->tx_errors); /* both count modulo 2^32 */
  entry->drops = (uint32_t)(one->rx_drops + one->tx_drops);
  entry->mbps = mbps;
  entry->state = state_of(state, 1);
}

static struct member members[BB_MOST_DEVICES] LARGE;
struct member_sum rest_sum = {.members = members, .room = BB_MOST_DEVICES, .counts = 6};

bool arrange(const struct interface *all, struct link_row *rows, unsigned count, const struct speeds *speeds,
             struct bb_report *report) {
  /* The first in the order of their index; those without one, and those with the same, in the kernel's order. */
  unsigned place[PLACES], places = 0;
  for (unsigned i = 0; i < count; i++) {
    if (!link_counts(&all[i], &rows[i])) continue;
    unsigned at = places;
    while (at > 0 && rows[place[at - 1]].index > rows[i].index) at--;
    if (at == PLACES) continue;
    if (places < PLACES) places++;
    for (unsigned k = places - 1; k > at; k--) place[k] = place[k - 1];
    place[at] = i;
  }
  const struct name_index index = index_names(speeds->first, speeds->stride, speeds->count);
  for (unsigned k = 0; k < places; k++)
    put_one(&report->net[k], &all[place[k]], mbps_of(&index, speeds, &all[place[k]]), rows[place[k]].state);

  /* The rest needs no order, because it is only added up. */
  bb_wide mbps = 0;
  uint32_t state = 0, interfaces = 0;
  sum_begin(&rest_sum);
  for (unsigned i = 0; i < count; i++) {
    const bool is_placed =
        (places > 0 && i == place[0]) || (places > 1 && i == place[1]) || (places > 2 && i == place[2]);
    if (is_placed || !link_counts(&all[i], &rows[i])) {
      rows[i].place = 0;
      continue;
    }
    const struct interface *one = &all[i];
    uint64_t index_bits;
    memcpy(&index_bits, &rows[i].index, sizeof index_bits);
    const uint64_t id = fingerprint_with(fingerprint_with(one->name_print, index_bits), rows[i].address);
    const bb_wide now[] = {one->rx_bytes,   one->tx_bytes,
                           one->rx_packets, one->tx_packets,
                           (bb_wide)one->rx_errors + one->tx_errors, (bb_wide)one->rx_drops + one->tx_drops};
    sum_read(&rest_sum, &rows[i].place, id, now, NULL);
    mbps += mbps_of(&index, speeds, one);
    state |= rows[i].state;
    interfaces++;
  }
  if (!sum_end(&rest_sum)) {
    memset(report->net, 0, sizeof report->net);
    return false;
  }
  rest_sum.has_begun = true; /* of none, too */
  if (interfaces == 0) return true;
  struct bb_net_if *rest = &report->net_rest;
  memcpy(rest->name, "rest", 4);
  rest->rx_bytes = saturated_64(rest_sum.sum[0]);
  rest->tx_bytes = saturated_64(rest_sum.sum[1]);
  rest->rx_packets = saturated_64(rest_sum.sum[2]);
  rest->tx_packets = saturated_64(rest_sum.sum[3]);
  rest->errors = (uint32_t)rest_sum.sum[4];
  rest->drops = (uint32_t)rest_sum.sum[5];
  rest->mbps = saturated_32(mbps);
  rest->state = state_of(state, interfaces);
  return true;
}

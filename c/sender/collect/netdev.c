/* /proc/net/dev: traffic of the network interfaces, and their places in the report. Refuses a text with any invalid
 * line: the sum of the rest would be wrong. */
#include "parse.h"

/* A valid interface name of the kernel; no other text may become part of a path. */
bool is_interface_name(struct span name) {
  unsigned units = 0;
  if (span_is(name, SPAN(".")) || span_is(name, SPAN(".."))) return false;
  for (struct span left = name; left.len > 0 && units < 16;) {
    uint32_t character;
    left = without(left, next_character(left, &character));
    if (is_blank(character) || character == '/' || character == ':') return false;
    units += character > 0xffff ? 2 : 1;
  }
  return units >= 1 && units <= 15;
}

enum { RX_BYTES, RX_PACKETS, RX_ERRORS, RX_DROPS, TX_BYTES = 8, TX_PACKETS, TX_ERRORS, TX_DROPS, COLUMNS };

static bool parse_line(struct span line, struct interface *one) {
  /* A blank need not follow the colon; the name cannot contain one. */
  const char *colon = find_char(line, ':');
  if (colon == NULL) return false;
  const struct span name = trimmed((struct span){line.at, (size_t)(colon - line.at)});
  if (!is_interface_name(name)) return false;
  one->name = (struct span){one->text, copy_utf8(one->text, sizeof one->text, name)};
  struct span left = without(line, (size_t)(colon - line.at) + 1), word;
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
bool parse_netdev(struct span text, struct interface *all, unsigned *count, uint64_t *names) {
  if (!ends(text, SPAN("\n"))) return false;
  unsigned number = 0;
  *count = 0;
  *names = FINGERPRINT;
  for (struct span left = text, line; next_line(&left, &line);) {
    if (++number <= 2) {
      if (find_char(line, '|') == NULL) return false;
      continue;
    }
    if (*count == MOST_INTERFACES || !parse_line(line, &all[*count])) return false;
    *names = fingerprint(fingerprint(*names, all[*count].name), SPAN("\n"));
    ++*count;
  }
  return number >= 2;
}

/* The number of entries of `net` in the report; further interfaces are added to `net_rest`. */
#define PLACES 3u

static uint32_t mbps_of(struct span name, const struct speeds *speeds) {
  const uint64_t wanted = fingerprint(FINGERPRINT, name);
  for (unsigned i = 0; i < speeds->count; i++)
    if (speed_at(speeds, i)->name == wanted) return speed_at(speeds, i)->mbps;
  return 0;
}

/* In UTF-8, cut at a character. */
static void put_name(char field[16], struct span name) {
  while (name.len > 15) {
    name.len = 15;
    while (name.len > 0 && ((unsigned char)name.at[name.len] & 0xc0) == 0x80) name.len--;
  }
  memcpy(field, name.at, name.len);
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

/* In the order of their index; those without one, and those with the same, in the kernel's order. Few of many are
 * wanted: each is found by searching for the next one. */
static unsigned next_of(const struct interface *all, unsigned count, unsigned after) {
  unsigned best = count;
  for (unsigned i = 0; i < count; i++) {
    if (!all[i].wanted) continue;
    const bool later = after == count || all[i].index > all[after].index || (all[i].index == all[after].index && i > after);
    if (later && (best == count || all[i].index < all[best].index)) best = i;
  }
  return best;
}

void arrange(const struct interface *all, unsigned count, const struct speeds *speeds, struct bb_report *report) {
  unsigned at = count, places = 0, place[PLACES];
  while (places < PLACES && (at = next_of(all, count, at)) < count) {
    put_one(&report->net[places], &all[at], mbps_of(all[at].name, speeds), all[at].state);
    place[places++] = at;
  }
  if (places < PLACES) return;

  /* The rest needs no order, because it is only added up. */
  bb_wide rx_bytes = 0, tx_bytes = 0, rx_packets = 0, tx_packets = 0, mbps = 0;
  uint32_t errors = 0, drops = 0, state = 0, interfaces = 0;
  for (unsigned i = 0; i < count; i++) {
    if (!all[i].wanted || i == place[0] || i == place[1] || i == place[2]) continue;
    rx_bytes += all[i].rx_bytes;
    tx_bytes += all[i].tx_bytes;
    rx_packets += all[i].rx_packets;
    tx_packets += all[i].tx_packets;
    errors += (uint32_t)(all[i].rx_errors + all[i].tx_errors);
    drops += (uint32_t)(all[i].rx_drops + all[i].tx_drops);
    mbps += mbps_of(all[i].name, speeds);
    state |= all[i].state;
    interfaces++;
  }
  if (interfaces == 0) return;
  struct bb_net_if *rest = &report->net_rest;
  memcpy(rest->name, "rest", 4);
  rest->rx_bytes = saturated_64(rx_bytes);
  rest->tx_bytes = saturated_64(tx_bytes);
  rest->rx_packets = saturated_64(rx_packets);
  rest->tx_packets = saturated_64(tx_packets);
  rest->errors = errors;
  rest->drops = drops;
  rest->mbps = saturated_32(mbps);
  rest->state = state_of(state, interfaces);
}

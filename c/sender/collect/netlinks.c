/* /sys/class/net: which interfaces are physical, their order and link. Does not read speeds while a report waits:
 * the kernel takes its lock for all interfaces, and often asks the driver. */
#include <math.h>
#include <unistd.h>

#include "../kernelfile.h"
#include "../say.h"
#include "parse.h"

/* Mbit/s; 0 for unknown, for which the kernel writes -1, some drivers 2^32 - 1, and others return an error. */
bool parse_speed(struct span text, uint32_t *mbps) {
  uint64_t speed;
  if (!text_u64(trimmed(text), &speed) || speed >= UINT32_MAX) return false;
  *mbps = (uint32_t)speed;
  return true;
}

/* Whether a text like 0x1003 is an odd number. */
static bool is_up(struct span flags) {
  struct span left = flags;
  if (!eat(&left, SPAN("0x")) && !eat(&left, SPAN("0X"))) return false;
  size_t digits = 0;
  char last = 0;
  for (; digits < left.len; digits++) {
    const char c = (char)(left.at[digits] | 0x20);
    if (!is_digit(left.at[digits]) && (c < 'a' || c > 'f')) break;
    last = c;
  }
  if (digits < 1 || digits > 9 || !at_end(without(left, digits))) return false;
  return is_digit(last) ? (last & 1) == 1 : (last & 1) == 0; /* b, d and f have even character codes */
}

/* Bits of `net_state` from the texts of `flags` (bit 0 is IFF_UP) and `operstate`, which some drivers leave at
 * unknown. Not from `carrier`, for which new kernels take the lock of all interfaces. */
uint32_t parse_net_state(struct span flags, struct span operstate) {
  if (!is_up(flags)) return 0;
  struct span left = operstate;
  const bool carrier = (eat(&left, SPAN("up")) || eat(&left, SPAN("unknown"))) && at_end(left);
  return (uint32_t)(carrier ? BB_NET_STATE_UP | BB_NET_STATE_CARRIER : BB_NET_STATE_UP);
}

double parse_index(struct span text) {
  uint64_t index;
  return text_u64(trimmed(text), &index) ? (double)index : INFINITY;
}

static const char *path_of(char *path, size_t room, const char *sys, struct span name, const char *leaf) {
  struct words words = {path, room, 0};
  add_text(&words, sys);
  add_text(&words, "/class/net/");
  add_span(&words, name);
  add_text(&words, leaf);
  return text_of(&words);
}

/* No interface has a NUL in its name. */
static bool is_path(struct span name) { return find_char(name, '\0') == NULL; }

/* The interfaces to report: the physical ones (with their own device: bridges, veth pairs, VLANs and bond masters
 * have none), or all except lo if none is physical. Nothing else is read about the others, of which a node with
 * containers can have hundreds. */
void read_links(const char *sys, struct interface *all, unsigned count, char *buffer) {
  char path[1024];
  bool physical = false;
  for (unsigned i = 0; i < count; i++) {
    const char *device = path_of(path, sizeof path, sys, all[i].name, "/device");
    all[i].index = INFINITY;
    all[i].state = 0;
    all[i].wanted = is_path(all[i].name) && access(device, F_OK) == 0;
    physical |= all[i].wanted;
  }
  for (unsigned i = 0; i < count; i++) {
    if (!physical) all[i].wanted = !span_is(all[i].name, SPAN("lo"));
    if (!all[i].wanted || !is_path(all[i].name)) continue;
    struct span text;
    if (read_once(path_of(path, sizeof path, sys, all[i].name, "/ifindex"), 0, 0, buffer, SMALL_BYTES, &text) == 0)
      all[i].index = parse_index(text);
    if (read_once(path_of(path, sizeof path, sys, all[i].name, "/flags"), 0, 0, buffer, SMALL_BYTES, &text) != 0) continue;
    if ((all[i].state = parse_net_state(text, (struct span){NULL, 0})) == 0) continue;
    const char *operstate = path_of(path, sizeof path, sys, all[i].name, "/operstate");
    if (read_once(operstate, 0, 0, buffer, SMALL_BYTES, &text) == 0) all[i].state = parse_net_state(SPAN("0x1"), text);
  }
}

/* /sys/class/infiniband: traffic of all RDMA ports, added up. Leaves out ports without counters (software on top of
 * a network interface, or with counters elsewhere), and for a minute those whose counters cannot be read: asking a
 * driver that refuses may cost its firmware's time. */
#include "source.h"

/* Ports that are not asked for a minute; more of them are asked in every round. */
#define MOST_RESTING 64u
#define REST_MS 60000u

static struct {
  uint64_t port; /* its path; 0: free */
  uint64_t until_ms;
} resting[MOST_RESTING];

/* What old kernels write for a counter that a port does not have. */
#define NO_COUNTER SPAN("N/A (no PMA)\n")

static struct member members[BB_MOST_MEMBERS] LARGE;
static struct member_sum sum = {.members = members, .room = BB_MOST_MEMBERS, .counts = 6};

/* What of the ports is no counter. */
struct ports {
  bb_wide mbps;
  uint32_t count;
  bool active;
};

/* Mbit/s of a text like `100 Gb/sec (4X EDR)`; 0 if it is invalid. */
static uint32_t parse_rate(struct span text) {
  struct span left = text, whole, tenth = SPAN("0");
  uint64_t gigabits, tenths;
  if (!eat_digits(&left, 1, 6, &whole)) return 0;
  if (eat(&left, SPAN(".")) && !eat_digits(&left, 1, 1, &tenth)) return 0;
  if (!eat(&left, SPAN(" Gb/sec")) || left.len == 0 || (left.at[0] != ' ' && left.at[0] != '\n')) return 0;
  return text_u64(whole, &gigabits) && text_u64(tenth, &tenths) ? (uint32_t)(gigabits * 1000 + tenths * 100) : 0;
}

static uint64_t port_at(const struct reading *now) {
  return fingerprint(FINGERPRINT, (struct span){now->path, now->path_len});
}

static bool rests(const struct reading *now) {
  const uint64_t port = port_at(now);
  for (unsigned i = 0; i < MOST_RESTING; i++) {
    if (resting[i].port != port) continue;
    if (now_ms() < resting[i].until_ms) return true;
    resting[i].port = 0;
  }
  return false;
}

static void let_rest(const struct reading *now) {
  for (unsigned i = 0; i < MOST_RESTING; i++) {
    if (resting[i].port != 0) continue;
    resting[i].port = port_at(now);
    resting[i].until_ms = now_ms() + REST_MS;
    return;
  }
}

/* Counters that a port may lack, which then add nothing. An existing one that is not a number is an error. */
static bool sum_optional(struct reading *now, const char *const *leaves, unsigned count, bb_wide *sum) {
  bool whole = true;
  for (unsigned i = 0; i < count; i++) {
    struct span text;
    uint64_t value = 0;
    if (leaf_text(now, leaves[i], QUIETLY, &text) && !span_is(text, NO_COUNTER)) whole &= parse_count(text, &value);
    *sum += value;
  }
  if (whole) return true;
  complain(now, "an error counter in ", now->path, "/counters has unexpected content", (char *)NULL);
  return false;
}

static bool read_port(struct reading *now, uint64_t id, struct ports *ports) {
  /* The packet counters include unicast and multicast. */
  static const char *const leaves[] = {"/counters/port_rcv_data", "/counters/port_xmit_data",
                                       "/counters/port_rcv_packets", "/counters/port_xmit_packets"};
  /* Each is a separate fault; counters that are part of another one (remote and overrun errors) would count twice. */
  static const char *const errors[] = {"/counters/symbol_error", "/counters/link_error_recovery",
                                       "/counters/link_downed", "/counters/port_rcv_errors",
                                       "/counters/local_link_integrity_errors"};
  static const char *const drops[] = {"/counters/port_xmit_discards"};
  uint64_t value[4];
  bb_wide failed = 0, dropped = 0;
  for (unsigned i = 0; i < 4; i++) {
    if (!leaf_count(now, leaves[i], PARSE, &value[i])) return false;
    if (value[i] != UINT32_MAX) continue; /* where old adapters stop */
    complain(now, now->path, leaves[i], " is at its end", (char *)NULL);
    return false;
  }
  if (!sum_optional(now, errors, 5, &failed) || !sum_optional(now, drops, 1, &dropped)) return false;
  sum_read(&sum, NULL, id, (const bb_wide[]){value[0], value[1], value[2], value[3], failed, dropped}, NULL);
  ports->count++;
  struct span text;
  if (!leaf_text(now, "/state", QUIETLY, &text) || !begins(text, SPAN("4: "))) return true;
  ports->active = true;
  /* A port that is down reports the speed that it could have. */
  if (leaf_text(now, "/rate", QUIETLY, &text)) ports->mbps += parse_rate(text);
  return true;
}

/* Whether the port at the path has counters. */
static bool counts(struct reading *now) {
  struct span text;
  const size_t dir = path_text(now, "/counters");
  const bool is_there = path_exists(now);
  path_cut(now, dir);
  return is_there && !(leaf_text(now, "/counters/port_xmit_data", QUIETLY, &text) && span_is(text, NO_COUNTER));
}

static bool is_device(struct span name) { return name.len > 0 && name.at[0] != '.'; }
static bool is_port(struct span name) { return is_numbered(name, SPAN(""), SPAN("")); }

void slow_fabric(struct reading *now) {
  struct ports read = {0};
  sum_begin(&sum);
  path_begin(now, now->world->sys, "/class/infiniband");
  const struct names devices = list_names(now, is_device);
  path_text(now, "/");
  for (unsigned i = 0; i < devices.count; i++) {
    const size_t root = path_add(now, name_at(&devices, i));
    path_text(now, "/ports");
    const struct names ports = list_names(now, is_port);
    path_text(now, "/");
    for (unsigned k = 0; k < ports.count; k++) {
      const size_t dir = path_add(now, name_at(&ports, k));
      const uint64_t id = fingerprint(fingerprint(FINGERPRINT, name_at(&devices, i)), name_at(&ports, k));
      const bool is_told = now->complaint > 0, is_resting = rests(now);
      if (is_resting || (counts(now) && !read_port(now, id, &read))) {
        sum_unread(&sum, id, now_ms());
        /* Each is said once: one whose complaint came second is asked again, and says it then. */
        if (!is_resting && !is_told) let_rest(now);
      }
      path_cut(now, dir);
    }
    drop_names(now, &ports);
    path_cut(now, root);
  }
  now->rests = devices.count == 0;
  if (!end_members(now, &sum, "RDMA ports") || read.count == 0) return;
  struct bb_net_if *entry = &now->fields.fabric;
  memcpy(entry->name, "fabric", 6);
  /* Data are counted in words of four bytes. */
  entry->rx_bytes = saturated_64(sum.sum[0] * 4);
  entry->tx_bytes = saturated_64(sum.sum[1] * 4);
  entry->rx_packets = saturated_64(sum.sum[2]);
  entry->tx_packets = saturated_64(sum.sum[3]);
  entry->errors = (uint32_t)sum.sum[4];
  entry->drops = (uint32_t)sum.sum[5];
  entry->mbps = saturated_32(read.mbps);
  entry->state = (uint32_t)(read.active ? BB_NET_STATE_UP | BB_NET_STATE_CARRIER : 0) +
                 (read.count < 0xffff ? read.count : 0xffff) * UINT32_C(0x10000);
  now->sets = BB_VALID_FABRIC;
}

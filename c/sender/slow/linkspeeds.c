/* /sys/class/net: speeds of the reported interfaces, and which of them stand for others. On the slow side because the
 * answer waits for the kernel's lock of all interfaces, and for drivers that ask their firmware. */
#include "source.h"

/* The port of an adapter's virtual function (VF) or subfunction (SF), as the kernel and drivers write it. */
static bool is_part(struct span port) {
  struct span left = port, after = port;
  if ((eat(&after, SPAN("c")) || eat(&after, SPAN("p"))) && eat_digits(&after, 1, SIZE_MAX, NULL)) left = after;
  if (!eat(&left, SPAN("pf")) || !eat_digits(&left, 1, SIZE_MAX, NULL)) return false;
  return (eat(&left, SPAN("vf")) || eat(&left, SPAN("sf"))) && eat_digits(&left, 1, SIZE_MAX, NULL) && at_end(left);
}

static bool leaf_exists(struct reading *now, const char *leaf) {
  const size_t dir = path_text(now, leaf);
  const bool exists = path_exists(now);
  path_cut(now, dir);
  return exists;
}

/* The adapter of the interface in whose folder we are; 0: none, or the interface does not count itself. */
static uint64_t read_adapter(struct reading *now, bool *is_part_of_it) {
  struct span text;
  if (!leaf_text(now, "/phys_switch_id", QUIETLY, &text) || trimmed(text).len == 0) return 0;
  const uint64_t adapter = fingerprint(FINGERPRINT, trimmed(text));
  *is_part_of_it = leaf_text(now, "/phys_port_name", QUIETLY, &text) && is_part(text);
  return *is_part_of_it || !leaf_exists(now, "/master/device") ? adapter : 0;
}

/* A part is left out only if the adapter's own interface counts. Returns how many count. */
static unsigned leave_out_parts(struct speed *speeds, uint64_t *adapters, unsigned count) {
  unsigned counted = 0;
  for (unsigned i = 0; i < count; i++) {
    if (speeds[i].left_out) {
      unsigned k = 0;
      while (k < count && (speeds[k].left_out || adapters[k] != adapters[i])) k++;
      if (k < count) continue;
      speeds[i].left_out = false;
      adapters[i] = 0;
    }
    counted++;
  }
  return counted;
}

static bool too_many_speeds(struct reading *now) {
  return too_many(now, BB_MOST_SPEEDS, "network interfaces with a speed");
}

static bool is_not_loopback(struct span name) { return name.len > 0 && !span_is(name, SPAN("lo")); }

void slow_links(struct reading *now) {
  path_begin(now, now->world->sys, "/class/net");
  struct names all = list_names_with(now, may_have_device, "/device");
  const bool is_physical = all.count > 0;
  if (!is_physical && (count_names(now, is_not_loopback) <= BB_MOST_LINKS || too_many_speeds(now)))
    all = list_names(now, is_not_loopback);
  struct speed *speeds = allocate_memory(now, all.count * sizeof *speeds);
  uint64_t *adapters = allocate_memory(now, all.count * sizeof *adapters);
  if (all.count > BB_MOST_LINKS || speeds == NULL || adapters == NULL) return; /* the sending loop complains */
  path_text(now, "/");
  unsigned count = 0, counted = 0;
  for (; count < all.count && (is_physical || counted <= BB_MOST_SPEEDS); count++) { /* a look into a folder is dear */
    const struct span name = name_at(&all, count);
    struct speed *speed = &speeds[count];
    *speed = (struct speed){.name = fingerprint(FINGERPRINT, name)};
    const size_t dir = path_add(now, name);
    if (is_physical) adapters[count] = read_adapter(now, &speed->left_out);
    else counted += !(speed->left_out = is_stacked(now->world->sys, name));
    path_cut(now, dir);
  }
  if (is_physical) counted = leave_out_parts(speeds, adapters, count);
  const bool is_asked = counted <= BB_MOST_SPEEDS || too_many_speeds(now);
  for (unsigned i = 0; i < count && is_asked; i++) {
    struct span text;
    const size_t dir = path_add(now, name_at(&all, i));
    if (!speeds[i].left_out && leaf_text(now, "/speed", QUIETLY, &text)) parse_speed(text, &speeds[i].mbps);
    path_cut(now, dir);
  }
  now->speeds = (struct speeds){count, speeds, sizeof *speeds};
}

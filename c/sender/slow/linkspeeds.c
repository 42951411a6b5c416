/* /sys/class/net: speeds of the reported interfaces. On the slow side because the answer waits for the kernel's lock
 * of all interfaces, and for drivers that ask their firmware. */
#include "source.h"

static bool is_any(struct span name) { return name.len > 0; }
static bool is_not_loopback(struct span name) { return name.len > 0 && !span_is(name, SPAN("lo")); }

void slow_links(struct reading *now) {
  path_begin(now, now->world->sys, "/class/net");
  struct names wanted = take_names_with(now, is_any, "/device");
  if (wanted.count == 0) wanted = take_names(now, is_not_loopback);
  struct speed *speeds = take_memory(now, wanted.count * sizeof *speeds);
  if (wanted.count > BB_MOST_SPEEDS || speeds == NULL) {
    too_many(now, BB_MOST_SPEEDS, "network interfaces with a speed");
    return;
  }
  path_text(now, "/");
  for (unsigned i = 0; i < wanted.count; i++) {
    const struct span name = name_at(&wanted, i);
    const size_t dir = path_add(now, name);
    struct span text;
    speeds[i] = (struct speed){fingerprint(FINGERPRINT, name), 0};
    if (leaf_text(now, "/speed", QUIETLY, &text)) parse_speed(text, &speeds[i].mbps);
    path_cut(now, dir);
  }
  now->speeds = (struct speeds){wanted.count, speeds, sizeof *speeds};
}

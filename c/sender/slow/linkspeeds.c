/* /sys/class/net: speeds of the reported interfaces. On the slow side because the answer waits for the kernel's lock
 * of all interfaces, and for drivers that ask their firmware. */
#include "source.h"

static bool is_any(struct span name) { return name.len > 0; }

void slow_links(struct reading *now) {
  path_begin(now, now->world->sys, "/class/net");
  const struct names all = take_names(now, is_any);
  const size_t root = path_text(now, "/");
  bool physical = false;
  for (unsigned i = 0; i < all.count && !physical; i++) {
    const size_t dir = path_add(now, name_at(&all, i));
    path_text(now, "/device");
    physical = path_exists(now);
    path_cut(now, dir);
  }
  unsigned count = 0;
  struct speed *speeds = take_memory(now, all.count * sizeof *speeds);
  for (unsigned i = 0; i < all.count && speeds != NULL; i++) {
    const struct span name = name_at(&all, i);
    const size_t dir = path_add(now, name);
    const size_t leaf = path_text(now, "/device");
    const bool wanted = physical ? path_exists(now) : !span_is(name, SPAN("lo"));
    path_cut(now, leaf);
    struct span text;
    if (wanted) {
      speeds[count] = (struct speed){fingerprint(FINGERPRINT, name), 0};
      if (leaf_text(now, "/speed", QUIETLY, &text)) parse_speed(text, &speeds[count].mbps);
      count++;
    }
    path_cut(now, dir);
  }
  path_cut(now, root);
  now->speeds = (struct speeds){count, speeds, sizeof *speeds};
}

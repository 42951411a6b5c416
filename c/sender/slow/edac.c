/* /sys/devices/system/edac: memory errors, the sum over all controllers. Refuses a sum that lacks one of them. */
#include "source.h"

static bool is_controller(struct span name) { return is_numbered(name, SPAN("mc"), SPAN("")); }

void slow_edac(struct reading *now) {
  static const char *const leaves[] = {"/ce_count", "/ue_count"};
  uint32_t sum[2] = {0};
  bool whole = true;
  path_begin(now, now->world->sys, "/devices/system/edac/mc");
  const struct names controllers = take_names(now, is_controller);
  path_text(now, "/");
  for (unsigned leaf = 0; leaf < 2; leaf++)
    for (unsigned i = 0; i < controllers.count; i++) {
      uint64_t count = 0;
      const size_t dir = path_add(now, name_at(&controllers, i));
      whole &= leaf_count(now, leaves[leaf], PARSE, &count);
      path_cut(now, dir);
      sum[leaf] += (uint32_t)count;
    }
  if (!whole || controllers.count == 0) return;
  now->fields.edac_ce = sum[0];
  now->fields.edac_ue = sum[1];
  now->sets = BB_VALID_EDAC;
}

/* /sys/devices/system/edac: memory errors, the sum over all controllers that answer. */
#include "source.h"

static bool is_controller(struct span name) { return is_numbered(name, SPAN("mc"), SPAN("")); }

void slow_edac(struct reading *now) {
  unsigned answered = 0;
  path_begin(now, now->world->sys, "/devices/system/edac/mc");
  const struct names controllers = list_names(now, is_controller);
  path_text(now, "/");
  for (unsigned i = 0; i < controllers.count; i++) {
    uint64_t ce, ue;
    const size_t dir = path_add(now, name_at(&controllers, i));
    if (leaf_count(now, "/ce_count", PARSE, &ce) && leaf_count(now, "/ue_count", PARSE, &ue)) {
      answered++;
      now->fields.edac_ce += (uint32_t)ce;
      now->fields.edac_ue += (uint32_t)ue;
    }
    path_cut(now, dir);
  }
  if (answered > 0) now->sets = BB_VALID_EDAC;
}

/* /sys/devices/system/edac: memory errors, the sum over all controllers. */
#include "source.h"

static struct member members[BB_MOST_MEMBERS] LARGE;
static struct member_sum sum = {.members = members, .room = BB_MOST_MEMBERS, .counts = 2, .is_tally = true};

static bool is_controller(struct span name) { return is_numbered(name, SPAN("mc"), SPAN("")); }

static bool is_part(struct span name) {
  return is_numbered(name, SPAN("csrow"), SPAN("")) || is_numbered(name, SPAN("dimm"), SPAN("")) ||
         is_numbered(name, SPAN("rank"), SPAN(""));
}

/* What the controller at the path is: drivers number anew when they are loaded again. */
static uint64_t controller_id(struct reading *now, struct span name) {
  struct span text;
  uint64_t id = fingerprint(FINGERPRINT, name);
  if (leaf_text(now, "/mc_name", QUIETLY, &text)) id = fingerprint(id, text);
  if (leaf_text(now, "/size_mb", QUIETLY, &text)) id = fingerprint(id, text);
  const struct names parts = list_names(now, is_part);
  for (unsigned i = 0; i < parts.count; i++) id = fingerprint_with(id, fingerprint(FINGERPRINT, name_at(&parts, i)));
  drop_names(now, &parts);
  return id;
}

void slow_edac(struct reading *now) {
  unsigned answered = 0;
  path_begin(now, now->world->sys, "/devices/system/edac/mc");
  const struct names controllers = list_names(now, is_controller);
  path_text(now, "/");
  sum_begin(&sum);
  for (unsigned i = 0; i < controllers.count; i++) {
    uint64_t ce, ue;
    const size_t dir = path_add(now, name_at(&controllers, i));
    const uint64_t id = controller_id(now, name_at(&controllers, i));
    if (leaf_count(now, "/ce_count", PARSE, &ce) && leaf_count(now, "/ue_count", PARSE, &ue)) {
      answered++;
      sum_read(&sum, NULL, id, (const bb_wide[]){ce, ue}, NULL);
    } else {
      sum_unread(&sum, id, now_ms());
    }
    path_cut(now, dir);
  }
  if (!end_members(now, &sum, "memory controllers") || answered == 0) return;
  now->fields.edac_ce = (uint32_t)sum.sum[0];
  now->fields.edac_ue = (uint32_t)sum.sum[1];
  now->sets = BB_VALID_EDAC;
}

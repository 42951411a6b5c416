/* The node's power: from the ACPI power meter, otherwise from the file of a tool that asks the BMC. Refuses sensors
 * that measure less than the whole node, and does not guess among several. */
#include "source.h"

#define TOO_OLD_S 60

/* The contents of the BMC file: one line, whole watts. */
static bool parse_watts(struct span text, void *into) {
  struct span left = text, digits;
  uint64_t watts;
  if (!eat_digits(&left, 1, 5, &digits) || !at_end(left) || !text_u64(digits, &watts)) return false;
  if (watts < 1 || watts > 65534) return false;
  *(uint64_t *)into = watts;
  return true;
}

static bool read_sensor(struct reading *now, const char *leaf, uint64_t *watts) {
  struct span text;
  const size_t dir = path_text(now, leaf);
  const bool good = read_text(now, MAYBE, &text) && (parse_power(text, watts) || not_understood(now, MAYBE));
  path_cut(now, dir);
  return good;
}

/* The reading of the only power meter; if there are several, each measures a part, and none says which. */
static bool read_meter(struct reading *now, uint64_t *watts) {
  char meter[1024] = "";
  unsigned meters = 0;
  path_begin(now, now->world->sys, "/class/hwmon");
  const struct names chips = list_names(now, is_hwmon);
  const size_t root = path_text(now, "/");
  for (unsigned i = 0; i < chips.count; i++) {
    char name[65];
    const size_t dir = path_add(now, name_at(&chips, i));
    if (enter_chip(now, name) && strcmp(name, "power_meter") == 0 && meters++ == 0) {
      struct words words = WORDS(meter);
      add_span(&words, (struct span){now->path, now->path_len});
      text_of(&words);
    }
    path_cut(now, dir);
  }
  path_cut(now, root);
  if (meters != 1) return false;
  path_begin(now, meter, "");
  return read_sensor(now, "/power1_average", watts) || read_sensor(now, "/power1_input", watts);
}

void slow_power(struct reading *now) {
  uint64_t watts;
  const bool metered = read_meter(now, &watts);
  if (!metered && read_external_file(now, "/power", parse_watts, &watts, TOO_OLD_S) != EXTERNAL_GOOD) return;
  now->fields.power_node_w = (uint16_t)watts;
  now->fields.power_src = metered ? BB_POWER_SRC_HWMON : BB_POWER_SRC_BMC;
  now->sets = BB_VALID_POWER;
}

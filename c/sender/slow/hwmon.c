/* /sys/class/hwmon: the sensor chips, and where their readings are. Always leaves out chips of drives: reading the
 * temperature of an NVMe drive or a disk stalls its queue for seconds. */
#include "source.h"

bool is_hwmon(struct span name) { return is_numbered(name, SPAN("hwmon"), SPAN("")); }

bool enter_chip(struct reading *now, char name[65]) {
  struct span text;
  const size_t dir = path_text(now, "/name");
  const bool own = path_exists(now);
  path_cut(now, dir);
  if (!own) path_text(now, "/device"); /* old drivers have everything, including the name, on the device itself */
  if (!leaf_text(now, "/name", MAYBE, &text)) return false;
  size_t length = 0;
  while (length < text.len && text.at[length] >= 0x21 && text.at[length] <= 0x7e) length++;
  if (length < 1 || length > 64 || !span_is(without(text, length), SPAN("\n"))) {
    path_text(now, "/name");
    return not_understood(now, MAYBE);
  }
  const struct span chip = {text.at, length};
  if (begins(chip, SPAN("nvme")) || begins(chip, SPAN("drivetemp")) || begins(chip, SPAN("scsi"))) return false;
  if (begins(chip, SPAN("ata"))) return false;
  memcpy(name, text.at, length);
  name[length] = 0;
  return true;
}

/* Tenths of a degree from thousandths, rounded towards zero; none outside the possible range, -40 to 150 °C. */
bool parse_temperature(struct span text, int16_t *tenths) {
  int64_t milli;
  if (!parse_integer(text, &milli) || milli < -40000 || milli > 150000) return false;
  *tenths = (int16_t)(milli / 100);
  return true;
}

/* Whole watts from microwatts, rounded down; none for an impossible power: 0, or over 65,534 W. */
bool parse_power(struct span text, uint64_t *watts) {
  int64_t micro;
  if (!parse_integer(text, &micro) || micro < 1000000 || micro / 1000000 > 65534) return false;
  *watts = (uint64_t)micro / 1000000;
  return true;
}

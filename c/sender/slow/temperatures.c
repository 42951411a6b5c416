/* Temperatures from hwmon: the processor's hottest sensor, and the air at the inlet. Ignores all others: reading
 * those of drives stalls them, and those of boards are mostly not connected to anything. */
#include "source.h"

/* After so many readings the chips are looked for again: finding the sensors takes hundreds of small files; they
 * change when a driver is loaded, or a CPU is switched off. */
#define REPLAN 12u
#define MOST_SENSORS 512u
#define MOST_CHIPS 64u
#define NO_GROUP MOST_GROUPS

enum { HOTTEST = 1, INLET = 2, AMBIENT = 4 };
/* The meaning of a processor sensor's label. */
enum { LABEL_PACKAGE = 1, LABEL_DIE, LABEL_CONTROL };

struct sensor {
  uint32_t path; /* in `text` */
  uint8_t use;   /* 0: not read */
  uint8_t label, chip, group;
  int64_t package; /* for a label `Package id N` */
};

static struct {
  bool made;
  const char *sys;
  unsigned left; /* readings */
  unsigned sensors, groups;
  bool overflow;
  size_t used; /* of the text */
} plan;

static struct {
  struct sensor sensor[MOST_SENSORS];
  char text[48u << 10];
} planned LARGE;

/* A chip of a processor. */
static struct {
  unsigned count;
  /* The last part of each device's path, in `planned.text`: PCI addresses and platform devices are numbered in the
   * order of the packages. */
  struct span device[MOST_CHIPS];
} processors;

/* The packages, up to the largest number with chips. */
static struct {
  unsigned count, groups;
  int64_t id[MOST_CHIPS];
} packages;

/* Stored before the first chip is read, which may hang. */
static void keep_packages(struct reading *now) {
  const struct topology *topology = take_packages(now, MAYBE);
  packages.count = packages.groups = 0;
  if (topology == NULL) return;
  packages.count = topology->packages;
  packages.groups = topology->groups;
  for (unsigned i = 0; i < packages.count && i < MOST_CHIPS; i++) packages.id[i] = topology->cpu[i].id;
  give_packages();
}

static bool keep(struct span text, uint32_t *at) {
  if (sizeof planned.text - plan.used <= text.len) return false;
  *at = (uint32_t)plan.used;
  memcpy(planned.text + plan.used, text.at, text.len);
  plan.used += text.len;
  planned.text[plan.used++] = 0;
  return true;
}

/* Only ASCII matters for \b. */
static bool is_word(char c) { return is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/* Whether a word is in a label, in any case, and not as part of another word. */
static bool has_word(struct span label, struct span word) {
  for (size_t i = 0; i + word.len <= label.len; i++) {
    size_t same = 0;
    while (same < word.len && (label.at[i + same] | 0x20) == word.at[same]) same++;
    if (same < word.len || (i > 0 && is_word(label.at[i - 1]))) continue;
    if (i + word.len == label.len || !is_word(label.at[i + word.len])) return true;
  }
  return false;
}

/* A number without leading zeros. */
static bool parse_id(struct span text, int64_t *id) {
  struct span left = text, digits;
  uint64_t value;
  const bool negative = eat(&left, SPAN("-"));
  if (!eat_digits(&left, 1, 10, &digits) || left.len > 0 || !text_u64(digits, &value)) return false;
  if ((digits.len > 1 && digits.at[0] == '0') || (negative && value == 0)) return false;
  *id = negative ? -(int64_t)value : (int64_t)value;
  return true;
}

static void read_label(struct sensor *sensor, struct span label) {
  struct span left = label;
  if (eat(&left, SPAN("Package id "))) {
    sensor->label = LABEL_PACKAGE;
    if (!parse_id(left, &sensor->package)) sensor->package = INT64_MIN; /* of none */
  } else if (span_is(label, SPAN("Tdie"))) {
    sensor->label = LABEL_DIE;
  } else if (span_is(label, SPAN("Tctl"))) {
    sensor->label = LABEL_CONTROL;
  }
}

static bool is_input(struct span name) { return is_numbered(name, SPAN("temp"), SPAN("_input")); }

/* Adds the sensors of the chip at the path. */
static void plan_chip(struct reading *now, bool processor) {
  const struct names inputs = take_names(now, is_input);
  const size_t dir = path_text(now, "/");
  for (unsigned i = 0; i < inputs.count; i++) {
    const struct span input = name_at(&inputs, i);
    if (plan.sensors == MOST_SENSORS) {
      plan.overflow = true;
      break;
    }
    struct sensor *sensor = &planned.sensor[plan.sensors];
    *sensor = (struct sensor){.chip = (uint8_t)processors.count, .group = NO_GROUP};
    struct span text, label = {"", 0};
    const size_t used = plan.used;
    path_add(now, input);
    plan.overflow |= !keep((struct span){now->path, now->path_len}, &sensor->path);
    path_cut(now, dir + 1);
    path_add(now, (struct span){input.at, input.len - 5});
    path_text(now, "label");
    if (take_text(now, MAYBE, &text)) label = trimmed(text);
    path_cut(now, dir + 1);
    if (processor) {
      read_label(sensor, label);
      sensor->use = HOTTEST;
    } else {
      sensor->use = (uint8_t)((has_word(label, SPAN("inlet")) ? INLET : 0) | (has_word(label, SPAN("ambient")) ? AMBIENT : 0));
    }
    if (sensor->use != 0) plan.sensors++;
    else plan.used = used;
  }
  drop_names(now, &inputs);
  path_cut(now, dir);
}

/* Which sensors of a processor to read: only those needed to find the hottest. */
static void choose_of_processor(unsigned first) {
  bool has_package = false, has_die = false;
  for (unsigned i = first; i < plan.sensors; i++) {
    has_package |= planned.sensor[i].label == LABEL_PACKAGE;
    has_die |= planned.sensor[i].label == LABEL_DIE;
  }
  for (unsigned i = first; i < plan.sensors; i++) {
    struct sensor *sensor = &planned.sensor[i];
    /* Intel's package sensor is the maximum of its cores' sensors, each of which would cost an interrupt on its
     * core. */
    if (has_package ? sensor->label != LABEL_PACKAGE
                    /* AMD's Tctl is for the fan: on some models it is degrees above the die's temperature. */
                    : has_die && sensor->label == LABEL_CONTROL)
      sensor->use = 0;
  }
}

static struct span last_part(const char *path) {
  struct span part = span_of(path);
  while (part.len > 1 && part.at[part.len - 1] == '/') part.len--;
  for (size_t i = part.len; i-- > 0;)
    if (part.at[i] == '/') return without(part, i + 1);
  return part;
}

/* Keeps the device of the processor whose chip is at the path. */
static void keep_device(struct reading *now) {
  uint32_t at;
  const size_t used = now->used;
  char *real = take_memory(now, REAL_PATH);
  const size_t dir = now->path_len;
  if (!ends((struct span){now->path, now->path_len}, SPAN("/device"))) path_text(now, "/device");
  const bool resolved = real != NULL && resolve(now, now->path, real);
  path_cut(now, dir);
  const struct span device = last_part(resolved ? real : now->path);
  now->used = used;
  if (processors.count == MOST_CHIPS || !keep(device, &at)) {
    plan.overflow = true;
    return;
  }
  processors.device[processors.count++] = span_of(planned.text + at);
}

static bool is_processor(const char *name) {
  static const char *const names[] = {"coretemp", "k10temp", "k8temp", "zenpower", "via_cputemp", "cpu_thermal", "cpu-thermal"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/* How many of the processors' devices come before this one: shorter paths first, equally long ones by their bytes;
 * of equal ones the first. */
static unsigned rank(unsigned chip) {
  const struct span own = processors.device[chip];
  unsigned before = 0;
  for (unsigned i = 0; i < processors.count; i++) {
    const struct span other = processors.device[i];
    const int order = other.len != own.len ? (other.len < own.len ? -1 : 1) : memcmp(other.at, own.at, own.len);
    before += order < 0 || (order == 0 && i < chip);
  }
  return before;
}

/* The sensors of each package: by labels that name packages, otherwise by the order of the chips if there are as
 * many as packages. None if neither tells which sensor belongs to which package. The last group includes all
 * packages without a group of their own. */
static void choose_groups(void) {
  bool labelled = false;
  for (unsigned i = 0; i < plan.sensors; i++) labelled |= planned.sensor[i].use == HOTTEST && planned.sensor[i].label == LABEL_PACKAGE;
  plan.groups = packages.groups;
  if (plan.groups == 0 || (!labelled && processors.count != packages.count)) return;
  const unsigned count = packages.count < MOST_CHIPS ? packages.count : MOST_CHIPS;
  for (unsigned i = 0; i < plan.sensors; i++) {
    struct sensor *sensor = &planned.sensor[i];
    if (sensor->use != HOTTEST) continue;
    unsigned package = labelled ? 0 : rank(sensor->chip);
    while (labelled && package < count && (sensor->label != LABEL_PACKAGE || packages.id[package] != sensor->package))
      package++;
    if (package < count) sensor->group = (uint8_t)(package < plan.groups ? package : plan.groups - 1);
  }
}

static void make_plan(struct reading *now) {
  plan.made = true;
  plan.sys = now->world->sys;
  plan.left = REPLAN;
  plan.sensors = plan.groups = processors.count = 0;
  plan.used = 0;
  plan.overflow = false;
  keep_packages(now);
  path_begin(now, now->world->sys, "/class/hwmon");
  const struct names chips = take_names(now, is_hwmon);
  const size_t root = path_text(now, "/");
  for (unsigned i = 0; i < chips.count; i++) {
    char name[65];
    const unsigned first = plan.sensors;
    path_add(now, name_at(&chips, i));
    if (enter_chip(now, name)) {
      const bool processor = is_processor(name);
      plan_chip(now, processor);
      if (processor) {
        choose_of_processor(first);
        keep_device(now);
      }
    }
    path_cut(now, root + 1);
  }
  drop_names(now, &chips);
  bool inlet = false;
  for (unsigned i = 0; i < plan.sensors; i++) inlet |= (planned.sensor[i].use & INLET) != 0;
  for (unsigned i = 0; i < plan.sensors; i++) {
    /* The sensors that measure the inlet's air by their label, otherwise the ambient air. */
    uint8_t *use = &planned.sensor[i].use;
    if (*use != HOTTEST && *use != 0) *use = (*use & (inlet ? INLET : AMBIENT)) != 0 ? INLET : 0;
  }
  choose_groups();
  if (plan.overflow) complain(now, "there are too many sensors below ", now->world->sys, "/class/hwmon", (char *)NULL);
}

/* The highest of the sensors that answer. */
struct highest {
  bool any;
  int16_t tenths;
};

static void take_higher(struct highest *highest, int16_t tenths) {
  if (!highest->any || tenths > highest->tenths) highest->tenths = tenths;
  highest->any = true;
}

/* Returns whether all sensors answered. Those that did not are left out until the next plan. */
static bool take_all(struct reading *now, struct highest *hottest, struct highest *inlet, struct highest groups[MOST_GROUPS]) {
  bool whole = true;
  *hottest = *inlet = (struct highest){0};
  for (unsigned g = 0; g < MOST_GROUPS; g++) groups[g] = (struct highest){0};
  for (unsigned pass = 0; pass < 2; pass++)
    for (unsigned i = 0; i < plan.sensors; i++) {
      struct sensor *sensor = &planned.sensor[i];
      if (sensor->use != (pass == 0 ? HOTTEST : INLET)) continue;
      struct span text;
      int16_t tenths = 0;
      path_begin(now, planned.text + sensor->path, "");
      if (take_text(now, MAYBE, &text) && (parse_temperature(text, &tenths) || not_understood(now, MAYBE))) {
        take_higher(pass == 0 ? hottest : inlet, tenths);
        if (sensor->group < MOST_GROUPS) take_higher(&groups[sensor->group], tenths);
      } else {
        sensor->use = 0;
        whole = false;
      }
    }
  return whole;
}

void slow_temperatures(struct reading *now) {
  struct highest hottest, inlet, groups[MOST_GROUPS];
  const bool old = plan.made && plan.sys == now->world->sys && plan.left > 0;
  if (!old) make_plan(now);
  plan.left--;
  if (!take_all(now, &hottest, &inlet, groups) && old) {
    now->complaint = 0; /* of a sensor that may be gone */
    make_plan(now);
    take_all(now, &hottest, &inlet, groups);
  }
  if (inlet.any && !plan.overflow) {
    now->fields.temp_inlet_dc = inlet.tenths;
    now->sets |= BB_VALID_TEMP_INLET;
  }
  if (hottest.any && !plan.overflow) {
    now->fields.temp_hottest_dc = hottest.tenths;
    now->sets |= BB_VALID_TEMP_HOTTEST;
  }
  for (unsigned g = 0; g < plan.groups; g++) now->temp_dc[g] = groups[g].any && !plan.overflow ? groups[g].tenths : TEMPERATURE_UNKNOWN;
  now->temp_groups = plan.groups;
  /* A plan reads hundreds of small files: the next one is for the next reading, not for the next round. */
  if (now->busy) plan.made = now->busy = false;
}

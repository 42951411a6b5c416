/* Temperatures from hwmon: the processor's hottest sensor, and the air at the inlet. Ignores all others: reading
 * those of drives stalls them, and those of boards are mostly not connected to anything. */
#include "source.h"

/* After so many readings the chips are looked for again: finding the sensors takes hundreds of small files; they
 * change when a driver is loaded, or a CPU is switched off. */
#define REPLAN 12u
#define NO_GROUP MOST_GROUPS

enum { HOTTEST = 1, INLET = 2, AMBIENT = 4 };
/* The meaning of a processor sensor's label. */
enum { LABEL_PACKAGE = 1, LABEL_DIE, LABEL_CONTROL };

struct sensor {
  uint32_t path; /* below /sys, in `text` */
  uint8_t use;   /* 0: not read */
  uint8_t label, chip, group;
  bool zero; /* it shows exactly 0.0 °C */
  int64_t package; /* for a label `Package id N` */
};

static struct {
  bool made;
  const char *sys;
  unsigned left; /* readings */
  unsigned sensors, groups;
  unsigned needed; /* sensors, and more of them than there is room for */
  size_t used; /* of the text */
  bool asked;  /* the first CPU */
  struct cpuinfo cpuinfo;
} plan;

static struct {
  struct sensor sensor[BB_MOST_SENSORS];
  char text[48u << 10];
} planned LARGE;

/* A chip of a processor. */
static struct {
  unsigned count;
  /* The last part of each device's path, in `planned.text`: PCI addresses and platform devices are numbered in the
   * order of the packages. */
  struct span device[BB_MOST_PROCESSORS];
} processors;

/* The packages, up to the largest number with chips. */
static struct {
  unsigned count, groups;
  int64_t id[BB_MOST_PROCESSORS];
} packages;

/* Stored before the first chip is read, which may hang. */
static void keep_packages(struct reading *now) {
  const struct topology *topology = lock_packages(now, MAYBE);
  packages.count = packages.groups = 0;
  if (topology == NULL) return;
  packages.count = topology->packages;
  packages.groups = topology->groups;
  for (unsigned i = 0; i < packages.count && i < BB_MOST_PROCESSORS; i++) packages.id[i] = topology->cpu[i].id;
  unlock_packages();
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

/* The label of an input of the chip at the path, which ends with a slash; empty if it has none. */
static struct span label_of(struct reading *now, struct span input) {
  struct span text;
  const size_t dir = path_add(now, (struct span){input.at, input.len - 5});
  path_text(now, "label");
  const bool good = read_text(now, MAYBE, &text);
  path_cut(now, dir);
  return good ? trimmed(text) : (struct span){"", 0};
}

/* Which labels a processor's chip has, as bits: they decide which of its sensors are needed to find the hottest. Reads
 * on only until it is decided. */
static unsigned labels_of(struct reading *now, const struct names *inputs) {
  unsigned labels = 0;
  for (unsigned i = 0; i < inputs->count && (labels & 1u << LABEL_PACKAGE) == 0; i++) {
    struct sensor sensor = {0};
    read_label(&sensor, label_of(now, name_at(inputs, i)));
    labels |= 1u << sensor.label;
  }
  return labels;
}

/* Intel's package sensor is the maximum of its cores' sensors, each of which would cost an interrupt on its core. AMD's
 * Tctl is for the fan: on some models it is degrees above the die's temperature. */
static bool is_needed(const struct sensor *sensor, unsigned labels) {
  if ((labels & 1u << LABEL_PACKAGE) != 0) return sensor->label == LABEL_PACKAGE;
  return (labels & 1u << LABEL_DIE) == 0 || sensor->label != LABEL_CONTROL;
}

/* Adds the sensors of the chip at the path that are to be read. */
static void plan_chip(struct reading *now, bool processor) {
  const struct names inputs = list_names(now, is_input);
  const size_t sys = strlen(now->world->sys), dir = path_text(now, "/");
  const unsigned labels = processor ? labels_of(now, &inputs) : 0;
  for (unsigned i = 0; i < inputs.count; i++) {
    const struct span input = name_at(&inputs, i), label = label_of(now, input);
    struct sensor sensor = {.chip = (uint8_t)processors.count, .group = NO_GROUP};
    if (processor) {
      read_label(&sensor, label);
      sensor.use = is_needed(&sensor, labels) ? HOTTEST : 0;
    } else {
      sensor.use =
          (uint8_t)((has_word(label, SPAN("inlet")) ? INLET : 0) | (has_word(label, SPAN("ambient")) ? AMBIENT : 0));
    }
    if (sensor.use == 0) continue;
    plan.needed++;
    path_add(now, input);
    if (plan.sensors < BB_MOST_SENSORS && keep((struct span){now->path + sys, now->path_len - sys}, &sensor.path))
      planned.sensor[plan.sensors++] = sensor;
    path_cut(now, dir + 1);
  }
  drop_names(now, &inputs);
  path_cut(now, dir);
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
  char *real = allocate_memory(now, REAL_PATH);
  const size_t dir = now->path_len;
  if (!ends((struct span){now->path, now->path_len}, SPAN("/device"))) path_text(now, "/device");
  const bool resolved = real != NULL && now->world->real_path(now->world, now->path, real);
  path_cut(now, dir);
  const struct span device = last_part(resolved ? real : now->path);
  now->used = used;
  const unsigned chip = processors.count++;
  if (chip >= BB_MOST_PROCESSORS) return;
  processors.device[chip] = keep(device, &at) ? span_of(planned.text + at) : SPAN("");
}

/* The processor of a virtual machine tells no temperature, of which this driver makes its limit: 100 °C. */
static bool is_invented(struct reading *now, const char *name) {
  if (strcmp(name, "coretemp") != 0) return false;
  if (!plan.asked) read_cpuinfo(now->world->proc, &plan.cpuinfo, now->text);
  plan.asked = true;
  return plan.cpuinfo.hypervisor;
}

static bool is_processor(const char *name) {
  static const char *const names[] = {"coretemp", "k10temp", "k8temp", "zenpower", "via_cputemp", "cpu_thermal",
                                      "cpu-thermal"};
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
  for (unsigned i = 0; i < plan.sensors; i++)
    labelled |= planned.sensor[i].use == HOTTEST && planned.sensor[i].label == LABEL_PACKAGE;
  plan.groups = packages.groups;
  if (plan.groups == 0 || (!labelled && processors.count != packages.count)) return;
  for (unsigned i = 0; i < plan.sensors; i++) {
    struct sensor *sensor = &planned.sensor[i];
    if (sensor->use != HOTTEST) continue;
    unsigned package = labelled ? 0 : rank(sensor->chip);
    while (labelled && package < packages.count &&
           (sensor->label != LABEL_PACKAGE || packages.id[package] != sensor->package))
      package++;
    if (package < packages.count) sensor->group = (uint8_t)(package < plan.groups ? package : plan.groups - 1);
  }
}

static void make_plan(struct reading *now) {
  plan.made = true;
  plan.sys = now->world->sys;
  plan.left = REPLAN;
  plan.sensors = plan.groups = processors.count = 0;
  plan.used = 0;
  plan.needed = 0;
  plan.asked = false;
  keep_packages(now);
  path_begin(now, now->world->sys, "/class/hwmon");
  const struct names chips = list_names(now, is_hwmon);
  const size_t root = path_text(now, "/");
  for (unsigned i = 0; i < chips.count; i++) {
    char name[65];
    path_add(now, name_at(&chips, i));
    if (enter_chip(now, name) && !is_invented(now, name)) {
      const bool processor = is_processor(name);
      plan_chip(now, processor);
      if (processor) keep_device(now);
    }
    path_cut(now, root + 1);
  }
  drop_names(now, &chips);
  const bool many = processors.count > BB_MOST_PROCESSORS || packages.count > BB_MOST_PROCESSORS;
  if (many || plan.needed > plan.sensors) {
    plan.sensors = 0;
    if (many) too_many(now, BB_MOST_PROCESSORS, "processors with sensors");
    else too_many(now, BB_MOST_SENSORS, "sensors of temperature");
    return;
  }
  bool inlet = false;
  for (unsigned i = 0; i < plan.sensors; i++) inlet |= (planned.sensor[i].use & INLET) != 0;
  for (unsigned i = 0; i < plan.sensors; i++) {
    /* The sensors that measure the inlet's air by their label, otherwise the ambient air. */
    uint8_t *use = &planned.sensor[i].use;
    if (*use != HOTTEST && *use != 0) *use = (*use & (inlet ? INLET : AMBIENT)) != 0 ? INLET : 0;
  }
  choose_groups();
}

/* The highest of the sensors that answer. */
struct highest {
  bool any;
  int16_t tenths;
};

static void set_higher(struct highest *highest, int16_t tenths) {
  if (!highest->any || tenths > highest->tenths) highest->tenths = tenths;
  highest->any = true;
}

/* Returns whether all sensors answered. Those that did not are left out until the next plan. A sensor without a wire
 * shows exactly 0.0 °C: where others show something else, that is not known. */
static bool read_sensors(struct reading *now, struct highest *hottest, struct highest *inlet,
                         struct highest groups[MOST_GROUPS]) {
  bool whole = true, any = false;
  *hottest = *inlet = (struct highest){0};
  for (unsigned g = 0; g < MOST_GROUPS; g++) groups[g] = (struct highest){0};
  for (unsigned pass = 0; pass < 2; pass++)
    for (unsigned i = 0; i < plan.sensors; i++) {
      struct sensor *sensor = &planned.sensor[i];
      if (pass == 0) sensor->zero = false;
      if (sensor->use != (pass == 0 ? HOTTEST : INLET)) continue;
      struct span text;
      int16_t tenths = 0;
      path_begin(now, now->world->sys, planned.text + sensor->path);
      if (read_text(now, MAYBE, &text) && (parse_temperature(text, &tenths) || not_understood(now, MAYBE))) {
        sensor->zero = span_is(text, SPAN("0\n"));
        any |= !sensor->zero;
        if (sensor->zero) continue;
        set_higher(pass == 0 ? hottest : inlet, tenths);
        if (sensor->group < MOST_GROUPS) set_higher(&groups[sensor->group], tenths);
      } else {
        sensor->use = 0;
        whole = false;
      }
    }
  for (unsigned i = 0; i < plan.sensors && !any; i++) {
    const struct sensor *sensor = &planned.sensor[i];
    if (!sensor->zero) continue;
    set_higher(sensor->use == HOTTEST ? hottest : inlet, 0);
    if (sensor->group < MOST_GROUPS) set_higher(&groups[sensor->group], 0);
  }
  return whole;
}

void slow_temperatures(struct reading *now) {
  struct highest hottest, inlet, groups[MOST_GROUPS];
  const bool old = plan.made && plan.sys == now->world->sys && plan.left > 0;
  if (!old) make_plan(now);
  plan.left--;
  if (!read_sensors(now, &hottest, &inlet, groups) && old) {
    now->complaint = 0; /* of a sensor that may be gone */
    make_plan(now);
    read_sensors(now, &hottest, &inlet, groups);
  }
  if (inlet.any) {
    now->fields.temp_inlet_dc = inlet.tenths;
    now->sets |= BB_VALID_TEMP_INLET;
  }
  if (hottest.any) {
    now->fields.temp_hottest_dc = hottest.tenths;
    now->sets |= BB_VALID_TEMP_HOTTEST;
  }
  for (unsigned g = 0; g < plan.groups; g++) now->temp_dc[g] = groups[g].any ? groups[g].tenths : TEMPERATURE_UNKNOWN;
  now->temp_groups = plan.groups;
  /* A plan reads hundreds of small files: the next one is for the next reading, not for the next round. */
  if (now->busy) plan.made = now->busy = false;
}

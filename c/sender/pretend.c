#include "pretend.h"

#include <unistd.h>

#include "../base/toml.h"

static struct pretend_values pretend_values LARGE;

static struct toml toml LARGE;
/* Keys of the file that occurred: none may occur twice. */
static uint64_t given;

#define MOST_NS ((uint64_t)INT64_MAX)

static const struct {
  const char *name;
  uint64_t most;
  void *into;
  bool wide; /* 64 bits */
  bool must;
} numbers[] = {
  {"t_real_ns", MOST_NS, &pretend_values.t_real_ns, true, true},
  {"t_boot_ns", MOST_NS, &pretend_values.t_boot_ns, true, true},
  {"start_boot_ns", MOST_NS, &pretend_values.start_boot_ns, true, true},
  {"before_boot_ns", MOST_NS, &pretend_values.before_boot_ns, true, false},
  {"slow_boot_ns", MOST_NS, &pretend_values.slow_boot_ns, true, false},
  {"seq", UINT32_MAX, &pretend_values.seq, false, false},
  {"late_us", UINT32_MAX, &pretend_values.late_us, false, false},
  {"collect_us", UINT32_MAX, &pretend_values.collect_us, false, false},
  {"agent_cpu_ms", UINT32_MAX, &pretend_values.agent_cpu_ms, false, false},
  {"missed_ticks", UINT32_MAX, &pretend_values.missed_ticks, false, false},
  {"page_kib", UINT32_MAX, &pretend_values.page_kib, false, false},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], BEFORE = 3, SLOW = 4 };

static const char *const texts[] = {"version", "machine", "run", "etc"};
static const char *const clock_keys[] = {"offset_us", "maxerror_us", "unsynchronised"};
static const char *const fs_keys[] = {"frsize", "blocks", "bavail", "files", "ffree"};

/* The table to which the keys belong. */
static enum { TOP, CLOCK, FILE_SYSTEMS, AGES, LINKS, TABLES } table;
static const char *const tables[TABLES] = {
  [CLOCK] = "adjtimex", [FILE_SYSTEMS] = "statvfs", [AGES] = "age_s", [LINKS] = "links"};
static struct pretended_fs *fs; /* of the table, if it is of a file system */

static bool pretend_refuse(struct words *why, struct span key, const char *what) {
  if (table != TOP) add_text(why, tables[table]);
  if (table == FILE_SYSTEMS) {
    add_text(why, ".");
    add_one_line(why, span_of(fs->path));
  }
  if (table != TOP && key.len > 0) add_text(why, ".");
  add_one_line(why, key);
  add_text(why, ": ");
  add_text(why, what);
  add_text(why, "; see docs/senders.md");
  return false;
}

/* Whether a key occurs for the first time; they are numbered over all tables. */
static bool first_time(unsigned key) {
  const uint64_t bit = UINT64_C(1) << key;
  if ((given & bit) != 0) return false;
  given |= bit;
  return true;
}

static int pretend_find(const char *const *names, unsigned count, struct span name) {
  for (unsigned i = 0; i < count; i++)
    if (names[i] != NULL && span_is(name, span_of(names[i]))) return (int)i;
  return -1;
}

/* `1.2.3`, one to three digits each. */
static bool read_version(const char *text, uint32_t *version) {
  struct span left = span_of(text), digits;
  uint64_t part[3];
  for (unsigned i = 0; i < 3; i++) {
    if (i > 0 && !eat(&left, SPAN("."))) return false;
    if (!eat_digits(&left, 1, 3, &digits) || !text_u64(digits, &part[i])) return false;
  }
  *version = (uint32_t)(part[0] << 16 | part[1] << 8 | part[2]);
  return left.len == 0;
}

/* Paths are relative to the folder of the file. */
static char folder[1024] LARGE;

static void set_folder(const char *file) {
  struct words words = WORDS(folder);
  if (file[0] != '/' && getcwd(folder, sizeof folder - 1) != NULL) {
    words.len = strlen(folder);
    add_text(&words, "/");
  }
  const char *slash = strrchr(file, '/');
  if (slash != NULL) add_span(&words, (struct span){file, (size_t)(slash - file)});
  while (words.len > 1 && folder[words.len - 1] == '/') words.len--;
  text_of(&words);
}

static void set_path(char path[1024], const char *text) {
  struct words words = {path, 1024, 0};
  if (text[0] != '/') {
    add_text(&words, folder);
    add_text(&words, "/");
  }
  add_text(&words, text);
  text_of(&words);
}

static bool accept_top(struct span key, const struct toml_value *value, struct words *why) {
  for (unsigned i = 0; i < NUMBERS; i++) {
    if (!span_is(key, span_of(numbers[i].name))) continue;
    if (value->kind != TOML_NUMBER) return pretend_refuse(why, key, "not a whole number");
    if (value->number < 0 || (uint64_t)value->number > numbers[i].most)
      return pretend_refuse(why, key, "out of bounds");
    if (!first_time(i)) return pretend_refuse(why, key, "given twice");
    if (numbers[i].wide) memcpy(numbers[i].into, &value->number, sizeof value->number);
    else memcpy(numbers[i].into, &(uint32_t){(uint32_t)value->number}, sizeof(uint32_t));
    return true;
  }
  const int text = pretend_find(texts, sizeof texts / sizeof texts[0], key);
  if (text < 0) return pretend_refuse(why, key, "unknown key");
  if (value->kind != TOML_TEXT) return pretend_refuse(why, key, "not a text in quotes");
  if (!first_time(NUMBERS + (unsigned)text)) return pretend_refuse(why, key, "given twice");
  if (text == 0 && !read_version(value->texts[0], &pretend_values.version))
    return pretend_refuse(why, key, "not like 1.2.3");
  if (text == 1) pretend_values.arch = arch_of(span_of(value->texts[0]));
  if (text >= 2 && value->texts[0][0] == 0) return pretend_refuse(why, key, "names no folder");
  if (text == 2) set_path(pretend_values.run, value->texts[0]);
  if (text == 3) set_path(pretend_values.etc, value->texts[0]);
  return true;
}

static bool accept_clock(struct span name, const struct toml_value *value, struct words *why) {
  const int key = pretend_find(clock_keys, 3, name);
  if (key < 0) return pretend_refuse(why, name, "unknown key");
  if (value->kind != (key == 2 ? TOML_TRUTH : TOML_NUMBER)) return pretend_refuse(why, name, "not a value for it");
  if (!first_time(NUMBERS + 4 + (unsigned)key)) return pretend_refuse(why, name, "given twice");
  if (key == 0) pretend_values.offset_us = value->number;
  if (key == 1) pretend_values.maxerror_us = value->number;
  if (key == 2) pretend_values.unsynchronised = value->truth;
  return true;
}

static bool accept_file_system(struct span name, const struct toml_value *value, struct words *why) {
  const int key = pretend_find(fs_keys, 5, name);
  if (key < 0) return pretend_refuse(why, name, "unknown key");
  if (value->kind != TOML_NUMBER || value->number < 0)
    return pretend_refuse(why, name, "not a whole number of 0 or more");
  if ((fs->given & 1u << key) != 0) return pretend_refuse(why, name, "given twice");
  fs->given |= 1u << key;
  fs->value[key] = (uint64_t)value->number;
  return true;
}

static bool accept_age(struct span name, const struct toml_value *value, struct words *why) {
  if (value->kind != TOML_NUMBER || value->number < INT32_MIN || value->number > INT32_MAX)
    return pretend_refuse(why, name, "not a whole number of 32 bits");
  for (unsigned i = 0; i < pretend_values.ages; i++)
    if (span_is(name, pretend_values.age[i].name)) return pretend_refuse(why, name, "given twice");
  if (pretend_values.ages == PRETEND_MOST) return pretend_refuse(why, name, "so many are not taken here");
  pretend_values.age[pretend_values.ages].name = name;
  pretend_values.age[pretend_values.ages++].seconds = value->number;
  return true;
}

static bool accept_link(struct span path, const struct toml_value *value, struct words *why) {
  if (value->kind != TOML_TEXT) return pretend_refuse(why, path, "not a text in quotes");
  for (unsigned i = 0; i < pretend_values.links; i++)
    if (span_is(path, pretend_values.link[i].path)) return pretend_refuse(why, path, "given twice");
  if (pretend_values.links == PRETEND_MOST) return pretend_refuse(why, path, "so many are not taken here");
  pretend_values.link[pretend_values.links].path = path;
  pretend_values.link[pretend_values.links++].to = value->texts[0];
  return true;
}

/* Its contents come later; one that must have contents must not be empty. */
static bool accept_table(struct span name, const struct toml_value *value, struct words *why) {
  table = TOP;
  const int found = pretend_find(tables, TABLES, name);
  if (found < 0 || (value->count > 0) != (found == FILE_SYSTEMS)) return pretend_refuse(why, name, "unknown key");
  pretend_values.has_adjtimex |= found == CLOCK;
  if (found == FILE_SYSTEMS) {
    unsigned at = 0;
    while (at < pretend_values.file_systems && strcmp(pretend_values.file_system[at].path, value->texts[0]) != 0) at++;
    if (at == PRETEND_MOST) return pretend_refuse(why, name, "so many are not taken here");
    fs = &pretend_values.file_system[at];
    if (at == pretend_values.file_systems)
      pretend_values.file_system[pretend_values.file_systems++].path = value->texts[0];
  }
  table = (unsigned)found;
  return true;
}

static bool pretend_accept(void *context, struct span key, const struct toml_value *value, struct words *why) {
  static bool (*const accepting[TABLES])(struct span, const struct toml_value *, struct words *) = {
    [TOP] = accept_top, [CLOCK] = accept_clock, [FILE_SYSTEMS] = accept_file_system, [AGES] = accept_age,
    [LINKS] = accept_link};
  (void)context;
  return value->kind == TOML_TABLE ? accept_table(key, value, why) : accepting[table](key, value, why);
}

static bool missing(struct words *fault, const char *file, const char *table, const char *key) {
  add_one_line(fault, span_of(file));
  add_text(fault, ": ");
  if (table[0] != 0) {
    add_one_line(fault, span_of(table));
    add_text(fault, ".");
  }
  add_text(fault, key);
  add_text(fault, ": must be given; see docs/senders.md");
  return false;
}

static bool read_pretence(const char *file, struct words *fault) {
  /* An empty folder. */
  pretend_values =
      (struct pretend_values){.arch = BB_ARCH_X86_64, .page_kib = 4, .run = "/dev/null", .etc = "/dev/null"};
  given = 0;
  table = TOP;
  set_folder(file);
  if (!toml_read(&toml, file, pretend_accept, NULL, fault)) return false;
  for (unsigned i = 0; i < NUMBERS; i++)
    if (numbers[i].must && (given & UINT64_C(1) << i) == 0) return missing(fault, file, "", numbers[i].name);
  for (unsigned i = 0; i < 2 && pretend_values.has_adjtimex; i++)
    if ((given & UINT64_C(1) << (NUMBERS + 4 + i)) == 0) return missing(fault, file, "adjtimex", clock_keys[i]);
  for (unsigned i = 0; i < pretend_values.file_systems; i++)
    for (unsigned k = 0; k < 5; k++)
      if ((pretend_values.file_system[i].given & 1u << k) == 0)
        return missing(fault, file, pretend_values.file_system[i].path, fs_keys[k]);
  pretend_values.has_before = (given & UINT64_C(1) << BEFORE) != 0;
  if ((given & UINT64_C(1) << SLOW) == 0) pretend_values.slow_boot_ns = pretend_values.t_boot_ns;
  return true;
}

static struct clocks clocks(void) { return (struct clocks){pretend_values.t_real_ns, pretend_values.t_boot_ns}; }

static bool clock_state(struct clock_state *state) {
  *state = (struct clock_state){pretend_values.offset_us, pretend_values.maxerror_us, pretend_values.unsynchronised};
  return pretend_values.has_adjtimex;
}

static uint64_t cpu_ms(void) { return pretend_values.agent_cpu_ms; }

static uint64_t us_since(uint64_t ns) {
  (void)ns;
  return pretend_values.collect_us;
}

static void type(uint8_t *arch, uint32_t *page_kib) {
  *arch = pretend_values.arch;
  *page_kib = pretend_values.page_kib;
}

static const struct machine pretended = {clocks, clock_state, cpu_ms, us_since, type};

const struct pretend_values *pretend(const char *file, struct words *fault) {
  if (!read_pretence(file, fault)) return NULL;
  machine = &pretended;
  return &pretend_values;
}

static bool file_system(const struct slow_world *world, const char *path, struct file_system *into) {
  (void)world;
  for (unsigned i = 0; i < pretend_values.file_systems; i++) {
    if (strcmp(pretend_values.file_system[i].path, path) != 0) continue;
    const uint64_t *value = pretend_values.file_system[i].value;
    *into = (struct file_system){(bb_wide)value[1] * value[0], (bb_wide)value[2] * value[0], value[3], value[4]};
    return true;
  }
  return false;
}

static double age_s(const char *name, const struct timespec *written) {
  (void)written;
  for (unsigned i = 0; i < pretend_values.ages; i++)
    if (span_is(span_of(name), pretend_values.age[i].name)) return (double)pretend_values.age[i].seconds;
  return 0;
}

static bool is_below(const char *path, const char *root) {
  struct span left = span_of(path);
  return eat(&left, span_of(root)) && begins(left, SPAN("/"));
}

/* The trees have links of their own. */
static bool real_path(const struct slow_world *world, const char *path, char into[REAL_PATH]) {
  if (is_below(path, world->proc) || is_below(path, world->sys)) return real_path_here(world, path, into);
  struct words words = {into, REAL_PATH, 0};
  for (unsigned i = 0; i < pretend_values.links; i++)
    if (span_is(span_of(path), pretend_values.link[i].path)) path = pretend_values.link[i].to;
  add_text(&words, path);
  text_of(&words);
  return true;
}

void pretend_slow_world(struct slow_world *world) {
  world->run = pretend_values.run;
  world->etc = pretend_values.etc;
  world->file_system = file_system;
  world->age_s = age_s;
  world->real_path = real_path;
}

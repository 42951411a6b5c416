/* /sys/class/powercap: energy that packages and memory used, wraps unwound. Refuses a sum that lacks a zone, and zones
 * that measure something else (the platform, parts of a package, the same package by another road).
 *
 * The counters are root's alone since CVE-2020-8694, and are read in every round: they stay open, so that they are
 * opened while we still may. Which zones there are is looked up seldom. */
#include <unistd.h>

#include "source.h"

/* After so many readings the zones are looked up again: always, and after a failure. */
#define SELDOM 60u
#define AFTER_FAILURE 10u
/* In so long a counter may have come round unseen. */
#define MOST_UNSEEN_MS 60000u

struct zone {
  char name[48]; /* of its folder */
  uint64_t id;   /* by the package, because folders are numbered as zones come */
  int fd;        /* of its counter; -1: it cannot be opened */
  uint64_t range; /* the value at which it wraps, microjoules */
  uint64_t before; /* as last read */
  bool has_range;
};

/* Zones of one kind, and the sum over them. */
struct kind {
  unsigned count;
  bool whole; /* all of them are known */
  struct zone *zone;
  struct member_sum sum;
  uint64_t read_ms; /* when it was added up last */
};

enum { CPU, DRAM, KINDS };

static struct zone zones[KINDS][BB_MOST_ZONES] LARGE;
static struct member members[KINDS][BB_MOST_ZONES] LARGE;
#define KIND(k) {.zone = zones[k], .sum = {.members = members[k], .room = BB_MOST_ZONES, .counts = 1}}
static struct kind kinds[KINDS] = {[CPU] = KIND(CPU), [DRAM] = KIND(DRAM)};
static const char *listed; /* the tree whose zones are known */
static unsigned left;      /* readings until the next look */

/* `package-N` or `package-N-die-N`. */
static bool is_package(struct span name) {
  struct span rest = name;
  if (!eat(&rest, SPAN("package-")) || !eat_digits(&rest, 1, SIZE_MAX, NULL)) return false;
  if (eat(&rest, SPAN("-die-")) && !eat_digits(&rest, 1, SIZE_MAX, NULL)) return false;
  return span_is(rest, SPAN("\n"));
}

static bool is_dram(struct span name) { return span_is(name, SPAN("dram\n")); }

/* `:N`: the kernel numbers zones in hexadecimal. */
static bool eat_number(struct span *left) {
  size_t digits = 1;
  while (digits < left->len && digits <= 8 && is_hex(left->at[digits])) digits++;
  if (digits == 1 || left->at[0] != ':') return false;
  *left = without(*left, digits);
  return true;
}

static bool is_zone(struct span name) { return eat(&name, SPAN("intel-rapl")) && eat_number(&name) && name.len == 0; }

static bool is_subzone(struct span name) {
  return eat(&name, SPAN("intel-rapl")) && eat_number(&name) && eat_number(&name) && name.len == 0;
}

/* The counter of the zone in this folder; an open one stays open, and what it showed stays in `before`. */
static int open_counter(struct reading *now, struct zone *old, unsigned olds, struct span name, uint64_t *before) {
  for (unsigned i = 0; i < olds; i++) {
    if (!span_is(name, span_of(old[i].name))) continue;
    const int fd = old[i].fd;
    old[i].fd = -1;
    *before = old[i].before;
    if (fd != -1) return fd;
  }
  int error = 0;
  path_text(now, "/energy_uj");
  struct stat stats;
  const int fd = open_regular(now->path, &stats, &error);
  if (fd == -1) cannot_read(now, error, 0);
  return fd;
}

static void close_all(struct zone *zones, unsigned count) {
  for (unsigned i = 0; i < count; zones[i++].fd = -1)
    if (zones[i].fd != -1) close(zones[i].fd);
}

/* What the zone in the folder at the path is: the name of its package. A part has that of the zone around it, whose
 * folder is named alike. */
static uint64_t zone_id(struct reading *now, struct span folder) {
  struct span name;
  const char *second = find_char(without(folder, sizeof "intel-rapl:" - 1), ':');
  const size_t dir = now->path_len;
  if (second != NULL) path_cut(now, dir - (size_t)(folder.at + folder.len - second));
  return fingerprint(FINGERPRINT, leaf_text(now, "/name", QUIETLY, &name) ? name : folder);
}

static void list(struct reading *now, struct kind *kind, name_filter *filter, bool (*is_kind)(struct span)) {
  static struct zone old[BB_MOST_ZONES] LARGE;
  const unsigned olds = kind->count;
  memcpy(old, kind->zone, olds * sizeof old[0]);
  kind->count = 0;
  kind->whole = true;
  path_begin(now, now->world->sys, "/class/powercap");
  const struct names names = list_names(now, filter);
  const size_t root = path_text(now, "/");
  /* All names first: one that cannot be read might be of this kind. */
  unsigned count = 0;
  for (unsigned i = 0; i < names.count; i++) {
    struct span name;
    path_cut(now, root + 1);
    path_add(now, name_at(&names, i));
    if (leaf_text(now, "/name", PARSE, &name)) count += is_kind(name);
    else kind->whole = false;
  }
  if (kind->whole && count > BB_MOST_ZONES)
    kind->whole = too_many(now, BB_MOST_ZONES, filter == is_zone ? "zones of packages" : "zones of dram");
  for (unsigned i = 0; i < names.count && kind->whole; i++) {
    struct span name;
    path_cut(now, root + 1);
    path_add(now, name_at(&names, i));
    if (!leaf_text(now, "/name", QUIETLY, &name) || !is_kind(name) || kind->count == BB_MOST_ZONES) continue;
    struct zone *zone = &kind->zone[kind->count++];
    *zone = (struct zone){.fd = -1};
    memcpy(zone->name, name_at(&names, i).at, name_at(&names, i).len);
    zone->has_range = leaf_count(now, "/max_energy_range_uj", PARSE, &zone->range);
    zone->fd = open_counter(now, old, olds, name_at(&names, i), &zone->before);
    path_cut(now, root + 1);
    path_add(now, name_at(&names, i));
    zone->id = zone_id(now, name_at(&names, i));
  }
  drop_names(now, &names);
  close_all(old, olds);
}

/* Looks up the zones of one kind. */
static void list_kind(struct reading *now, unsigned k) {
  if (k == CPU) list(now, &kinds[CPU], is_zone, is_package);
  else list(now, &kinds[DRAM], is_subzone, is_dram);
}

/* Whether it is time to look up the zones; those of another tree do not count. */
static bool is_due(const struct reading *now) {
  if (listed == now->world->sys && left > 0) return false;
  for (unsigned k = 0; k < KINDS && listed != now->world->sys; k++) close_all(kinds[k].zone, kinds[k].count);
  listed = now->world->sys;
  left = SELDOM;
  return true;
}

void open_energy(struct reading *now) {
  if (!is_due(now)) return;
  for (unsigned k = 0; k < KINDS; k++) list_kind(now, k);
}

/* The present value of one counter. */
static bool read_zone(struct reading *now, const struct zone *zone, uint64_t *uj) {
  size_t length = 0;
  if (zone->fd == -1) return false;
  path_begin(now, now->world->sys, "/class/powercap/");
  path_text(now, zone->name);
  path_text(now, "/energy_uj");
  const int error = read_whole(zone->fd, 0, 4096, now->text, SMALL_BYTES, &length);
  if (error == 0) return parse_count((struct span){now->text, length}, uj) || not_understood(now, PARSE);
  return cannot_read(now, error, SMALL_BYTES);
}

/* Whether the zone is switched off, and its counter stands still. Mostly `enabled` is of limits alone. */
static bool stands_still(struct reading *now, struct zone *zone, uint64_t uj) {
  struct span text;
  path_begin(now, now->world->sys, "/class/powercap/");
  path_text(now, zone->name);
  const bool stands = (uj == 0 || uj == zone->before) && leaf_text(now, "/enabled", QUIETLY, &text) &&
                      span_is(text, SPAN("0\n"));
  /* Another package may have come under its name. */
  if (uj - zone->before > zone->range / 64) zone->id = zone_id(now, span_of(zone->name));
  zone->before = uj;
  return stands;
}

/* Whole joules, in mJ: finer values would show an attacker what the CPU computes. */
static bool read_kind(struct reading *now, struct kind *kind, uint64_t *mj) {
  uint64_t uj[BB_MOST_ZONES];
  bool whole = kind->whole;
  for (unsigned i = 0; i < kind->count && kind->whole; i++) {
    struct zone *zone = &kind->zone[i];
    const bool is_read = read_zone(now, zone, &uj[i]) && !stands_still(now, zone, uj[i]);
    whole &= is_read && zone->has_range && uj[i] <= zone->range;
  }
  if (!whole && left > AFTER_FAILURE) left = AFTER_FAILURE;
  if (!whole || kind->count == 0) return false;
  if (now_ms() - kind->read_ms > MOST_UNSEEN_MS) sum_renew(&kind->sum);
  kind->read_ms = now_ms();
  sum_begin(&kind->sum);
  for (unsigned i = 0; i < kind->count; i++)
    sum_read(&kind->sum, NULL, kind->zone[i].id, &(bb_wide){uj[i]}, &kind->zone[i].range);
  if (!sum_end(&kind->sum) || kind->sum.is_doubtful) return false;
  *mj = saturated_64(kind->sum.sum[0] / 1000000 * 1000);
  return true;
}

void slow_energy(struct reading *now) {
  const bool due = is_due(now);
  left--;
  if (due) list_kind(now, CPU);
  if (read_kind(now, &kinds[CPU], &now->fields.energy_cpu_mj)) now->sets |= BB_VALID_ENERGY_CPU;
  if (due) list_kind(now, DRAM);
  if (read_kind(now, &kinds[DRAM], &now->fields.energy_dram_mj)) now->sets |= BB_VALID_ENERGY_DRAM;
  now->rests = kinds[CPU].whole && kinds[CPU].count + kinds[DRAM].count == 0;
  if (now->rests) left = 0; /* they are looked up whenever it is asked */
}

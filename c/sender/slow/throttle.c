/* thermal_throttle below /sys/devices/system/cpu: how often packages slowed down because of their temperature. Reads
 * one CPU of each package, because all of them have the same count. */
#include "source.h"

/* The first CPU of each package. Reading the package of every CPU takes a thousand files: it is repeated only when
 * the online CPUs change. */
static struct {
  uint64_t key;
  bool known;
  struct topology cpus; /* `id` and `package` are of the packages, the latter the number of their first CPU */
} first;

static struct member members[BB_MOST_MEMBERS] LARGE;
static struct member_sum sum = {.members = members, .room = BB_MOST_MEMBERS, .counts = 1, .is_tally = true};

static bool read_package(struct reading *now, unsigned cpu, int64_t *id) {
  struct span text;
  path_begin(now, now->world->sys, "/devices/system/cpu/cpu");
  path_number(now, cpu);
  path_text(now, "/topology/physical_package_id");
  return read_text(now, QUIETLY, &text) && parse_package_id(text, id);
}

static bool find_first(struct reading *now) {
  struct topology *cpus = &first.cpus;
  cpus->packages = 0;
  for (unsigned i = 0; i < cpus->online; i++) {
    int64_t id;
    if (!read_package(now, cpus->cpu[i].number, &id)) return false;
    unsigned at = 0;
    while (at < cpus->packages && cpus->cpu[at].id != id) at++;
    if (at < cpus->packages) continue;
    cpus->cpu[at].id = id;
    cpus->cpu[at].package = cpus->cpu[i].number;
    cpus->packages++;
  }
  return true;
}

static bool read_events(struct reading *now, unsigned cpu, enum how how, uint64_t *count) {
  path_begin(now, now->world->sys, "/devices/system/cpu/cpu");
  path_number(now, cpu);
  path_text(now, "/thermal_throttle/package_throttle_count");
  return read_count(now, how, count);
}

static void keep_first(void *context, unsigned cpu) {
  int *number = context;
  if (*number < 0) *number = (int)cpu;
}

void slow_throttle(struct reading *now) {
  struct span online;
  uint64_t count;
  unsigned cpus;
  int number = -1;
  path_begin(now, now->world->sys, "/devices/system/cpu/online");
  if (!read_text(now, PARSE, &online)) return;
  if (!parse_cpu_list(online, keep_first, &number, &cpus)) {
    not_understood(now, PARSE);
    return;
  }
  const uint64_t key = fingerprint(fingerprint(FINGERPRINT, span_of(now->world->sys)), online);
  /* Only Intel's CPUs have it: if the first CPU has none, the others are not read. */
  char *list = allocate_memory(now, online.len);
  if (list == NULL) return;
  memcpy(list, online.at, online.len);
  if (!read_events(now, (unsigned)number, MAYBE, &count)) return;
  if (!first.known || first.key != key) {
    first.key = key;
    first.known = list_cpus((struct span){list, online.len}, &first.cpus) && find_first(now);
  }
  if (!first.known) {
    complain(now, "a CPU below ", now->world->sys, "/devices/system/cpu does not name its package", (char *)NULL);
    return;
  }
  unsigned answered = 0;
  sum_begin(&sum);
  for (unsigned i = 0; i < first.cpus.packages; i++) {
    const uint64_t cpu = (uint64_t)first.cpus.cpu[i].package;
    /* Each CPU counts for itself, and only while it is online. */
    const uint64_t id = fingerprint_with(fingerprint_with(FINGERPRINT, (uint64_t)first.cpus.cpu[i].id), cpu);
    if (read_events(now, (unsigned)cpu, PARSE, &count)) {
      answered++;
      sum_read(&sum, NULL, id, &(bb_wide){count}, NULL);
    } else {
      sum_unread(&sum, id, now_ms());
    }
  }
  if (!end_members(now, &sum, "packages") || answered == 0) return;
  now->fields.throttle_events = (uint32_t)sum.sum[0];
  now->sets = BB_VALID_THROTTLE;
}

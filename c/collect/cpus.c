/* /sys/devices/system/cpu and node: the number of CPUs and their topology. Does not visit the CPUs each second. */
#include "../base/kernelfile.h"
#include "../base/say.h"
#include "parse.h"

bool parse_cpu_list(struct span text, void (*each)(void *context, unsigned cpu), void *context, unsigned *count) {
  struct span left = trimmed_end(text), part;
  if (left.at == NULL || text.len > 6 * MOST_CPUS) return false; /* five digits and a comma each */
  uint64_t next = 0;
  *count = 0;
  while (next_part(&left, ',', &part)) {
    struct span from, to;
    uint64_t first, last;
    if (!eat_digits(&part, 1, 5, &from)) return false;
    to = from;
    if (eat(&part, SPAN("-")) && !eat_digits(&part, 1, 5, &to)) return false;
    if (part.len > 0 || !text_u64(from, &first) || !text_u64(to, &last)) return false;
    if (first < next || last < first || last >= MOST_CPUS) return false;
    *count += (unsigned)(last - first) + 1;
    for (uint64_t cpu = first; each != NULL && cpu <= last; cpu++) each(context, (unsigned)cpu);
    next = last + 1;
  }
  return true;
}

bool parse_package_id(struct span text, int64_t *id) {
  struct span left = text, digits;
  uint64_t value;
  const bool negative = eat(&left, SPAN("-"));
  if (!eat_digits(&left, 1, 10, &digits) || !at_end(left) || !text_u64(digits, &value)) return false;
  *id = negative ? -(int64_t)value : (int64_t)value;
  return true;
}

static void keep_cpu(void *context, unsigned cpu) {
  struct topology *topology = context;
  topology->cpu[topology->online++].number = (uint16_t)cpu;
}

/* Inserts an id in order, unless it is there. */
static void keep_id(struct topology *topology, int64_t id) {
  unsigned low = 0, high = topology->packages;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (topology->cpu[middle].id < id) low = middle + 1;
    else high = middle;
  }
  if (low < topology->packages && topology->cpu[low].id == id) return;
  for (unsigned i = topology->packages++; i > low; i--) topology->cpu[i].id = topology->cpu[i - 1].id;
  topology->cpu[low].id = id;
}

static uint8_t group_of(const struct topology *topology, int64_t id) {
  for (unsigned i = 0; i < MOST_GROUPS - 1; i++)
    if (i + 1 == topology->packages || topology->cpu[i].id == id) return (uint8_t)i;
  return MOST_GROUPS - 1; /* the fifth package and later are added to the fourth */
}

bool read_of_cpu(const char *sys, unsigned cpu, const char *leaf, char *buffer, struct span *text) {
  char path[1024];
  struct words words = WORDS(path);
  add_text(&words, sys);
  add_text(&words, "/devices/system/cpu/cpu");
  add_number(&words, cpu);
  add_text(&words, leaf);
  return read_once(text_of(&words), 0, 0, buffer, SMALL_BYTES, text) == 0;
}

bool list_cpus(struct span online, struct topology *topology) {
  unsigned count;
  topology->online = 0;
  if (!parse_cpu_list(online, NULL, NULL, &count) || !make_room(&topology->memory, count * sizeof *topology->cpu))
    return false;
  topology->cpu = (struct topology_cpu *)(void *)topology->memory.at;
  return parse_cpu_list(online, keep_cpu, topology, &count);
}

/* Each CPU must have both; a kernel without NUMA has no /sys/devices/system/node, and counts as one node. */
bool read_topology(const char *sys, struct topology *topology, char *buffer) {
  topology->packages = topology->threads_per_core = 0;
  topology->numa_nodes = 1;
  for (unsigned i = 0; i < topology->online; i++) {
    struct span text;
    unsigned siblings;
    if (!read_of_cpu(sys, topology->cpu[i].number, "/topology/physical_package_id", buffer, &text)) return false;
    if (!parse_package_id(text, &topology->cpu[i].package)) return false;
    if (!read_of_cpu(sys, topology->cpu[i].number, "/topology/thread_siblings_list", buffer, &text)) return false;
    if (!parse_cpu_list(text, NULL, NULL, &siblings)) return false;
    if (siblings > topology->threads_per_core) topology->threads_per_core = siblings;
    keep_id(topology, topology->cpu[i].package);
  }
  topology->groups = topology->packages < MOST_GROUPS ? topology->packages : MOST_GROUPS;
  for (unsigned i = 0; i < topology->online; i++)
    topology->cpu[i].group = group_of(topology, topology->cpu[i].package);

  char path[1024];
  struct words words = WORDS(path);
  add_text(&words, sys);
  add_text(&words, "/devices/system/node/online");
  struct span text;
  return read_once(text_of(&words), 0, 0, buffer, SMALL_BYTES, &text) != 0 ||
         parse_cpu_list(text, NULL, NULL, &topology->numa_nodes);
}

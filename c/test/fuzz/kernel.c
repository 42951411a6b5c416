/* Fuzzes the parsers of kernel texts of the sender in C, and that of the GPU file. An input is the number of a parser
 * and a text.
 *
 * What must hold: a text that is refused leaves the report as it was; of one that is taken the same fields are written
 * with the same values, whatever stood there before; nothing is read outside of the text. That the other sender makes
 * the same of it, test/fuzz/fuzz.test.ts asks by fuzz_tell(). */
#include "../../collect/parse.h"
#include "../../sender/slow/gpu.h"
#include "fuzz.h"

const char fuzz_unit[] = "texts";
uint64_t fuzz_units;

static struct room of_interfaces, of_disks;
static enum parsed groups_parsed, sums_parsed;

static bool stat_of(struct span text, struct bb_report *report) {
  struct stat_times times, before = {.ticks = {0}};
  struct span rest;
  static struct topology_cpu cpus[MOST_GROUPS];
  static struct topology topology = {.groups = MOST_GROUPS, .online = MOST_GROUPS, .cpu = cpus};
  for (unsigned i = 0; i < MOST_GROUPS; i++) topology.cpu[i].number = topology.cpu[i].group = (uint8_t)i;
  groups_parsed = groups_parse(text, &topology, &rest);
  sums_parsed = parse_stat(text, rest, report, &times);
  if (sums_parsed == REFUSED) {
    groups_forget();
    return false;
  }
  struct bb_report shares = {0};
  if (cpu_share(&before, &times, &shares))
    MUST(shares.cpu_busy_pm + shares.cpu_iowait_pm <= 1000, "more than all of the time");
  for (unsigned i = 0; groups_share(MOST_GROUPS, &shares) && i < MOST_GROUPS; i++) {
    const struct bb_cpu_group *group = &shares.group[i];
    MUST(group->user_pm + group->system_pm <= group->busy_pm, "busier in parts than in all");
    MUST(group->busy_pm + group->iowait_pm <= 1000 && group->busy_pm == group->busiest_pm, "more than all of the time");
  }
  return true;
}

static bool (*const of_report[])(struct span, struct bb_report *) = {
  parse_loadavg,      stat_of,         parse_meminfo,      parse_vmstat, parse_cpu_pressure, parse_memory_pressure,
  parse_io_pressure,  parse_irq_pressure, parse_snmp,       parse_file_nr,
};
enum {
  OF_REPORT = sizeof of_report / sizeof of_report[0],
  NETDEV = OF_REPORT,
  DISKSTATS,
  CPU_LIST,
  BOOT_ID,
  CPUINFO,
  RELEASE,
  PACKAGE_ID,
  SPEED,
  INDEX,
  GPU_FILE,
  POWER,
  TEMPERATURE,
  NUMBER,
  INTEGER,
  KINDS
};

static void hex(FILE *out, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) fprintf(out, "%02x", ((const uint8_t *)bytes)[i]);
}

static void tell_interfaces(struct span text, FILE *out) {
  unsigned count;
  uint64_t names;
  struct span place = text; /* the text stays where it is */
  MUST(known_room(&known_links, &of_interfaces, sizeof(struct interface), &place, "interfaces"), "no memory");
  struct interface *interfaces = (struct interface *)(void *)of_interfaces.at;
  const enum parsed parsed = parse_netdev(text, interfaces, &count, &names);
  if (parsed == REFUSED) {
    fputs("no", out);
    return;
  }
  fprintf(out, "%d %u", parsed, count);
  for (unsigned i = 0; i < count; i++) {
    const struct interface *one = &interfaces[i];
    fputc(' ', out);
    hex(out, one->name.at, one->name.len);
    fprintf(out, ":%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32, one->rx_bytes, one->tx_bytes,
            one->rx_packets, one->tx_packets, (uint32_t)(one->rx_errors + one->tx_errors),
            (uint32_t)(one->rx_drops + one->tx_drops));
  }
  /* Every one counts: as they are put into a report. */
  const struct speeds speeds = {0};
  struct bb_report report = {0};
  known_meet(&known_links, interfaces, sizeof *interfaces, count, names, 1);
  struct link_row *rows = known_links.rows;
  for (unsigned i = 0; i < count; i++) rows[i] = (struct link_row){.known = rows[i].known, .index = i % 3, .state = 1};
  arrange(interfaces, rows, count, &speeds, &report);
  MUST(count > 3 || report.net_rest.name[0] == 0, "a rest of %u", count);
}

static void tell_disks(struct span text, FILE *out) {
  unsigned count;
  uint64_t names;
  struct bb_report report = {0};
  struct span place = text;
  MUST(known_room(&known_disks, &of_disks, sizeof(struct disk), &place, "disks"), "no memory");
  struct disk *disks = (struct disk *)(void *)of_disks.at;
  const enum parsed parsed = parse_diskstats(text, disks, &count, &names);
  if (parsed == REFUSED) {
    disks_forget();
    fputs("no", out);
    return;
  }
  fprintf(out, "%d ", parsed);
  known_meet(&known_disks, disks, sizeof *disks, count, names, 1);
  struct disk_row *rows = known_disks.rows;
  for (unsigned i = 0; i < count; i++) rows[i].whole = true;
  sum_restart(&disk_sum); /* each text is the first one of its run */
  sum_disks(disks, rows, count, &report);
  hex(out, &report, sizeof report);
  static int64_t boot_ns;
  if (busiest_disk(disks, rows, count, boot_ns += 1000000000, &report))
    MUST(report.disk_busiest_pm <= 1000, "busier than all of the time");
}

static void make_of(unsigned kind, struct span text, FILE *out) {
  struct bb_report report = {0};
  struct span span;
  struct cpuinfo cpuinfo;
  static struct gpu_file gpus;
  uint64_t number;
  unsigned count;
  uint32_t mbps;
  int64_t id;
  int16_t tenths;
  bool good = true;
  if (kind < OF_REPORT) {
    good = of_report[kind](text, &report);
    if (good) hex(out, &report, sizeof report);
    if (good && of_report[kind] == stat_of) fprintf(out, " %d %d", sums_parsed, groups_parsed);
  }
  switch (kind) {
    case NETDEV: tell_interfaces(text, out); return;
    case DISKSTATS: tell_disks(text, out); return;
    case CPU_LIST: if ((good = parse_cpu_list(text, NULL, NULL, &count))) fprintf(out, "%u", count); break;
    case BOOT_ID: if ((good = parse_boot_id(text, &number))) fprintf(out, "%" PRIu64, number); break;
    case CPUINFO:
      parse_cpuinfo(text, &cpuinfo);
      fprintf(out, "%d %" PRId64, cpuinfo.hypervisor, cpuinfo.has_mhz ? (int64_t)cpuinfo.mhz : -1);
      break;
    case RELEASE: if ((good = parse_release(text, &span))) hex(out, span.at, span.len); break;
    case PACKAGE_ID: if ((good = parse_package_id(text, &id))) fprintf(out, "%" PRId64, id); break;
    case SPEED: fprintf(out, "%" PRIu32, parse_speed(text, &mbps) ? mbps : 0); break;
    case INDEX: fprintf(out, "%.0f", parse_index(text)); break;
    case GPU_FILE: if ((good = parse_gpu_file(text, &gpus))) fprintf(out, "%u %u", gpus.vendor, gpus.gpus.count); break;
    case POWER: if ((good = parse_power(text, &number))) fprintf(out, "%" PRIu64, number); break;
    case TEMPERATURE: if ((good = parse_temperature(text, &tenths))) fprintf(out, "%d", tenths); break;
    case NUMBER: if ((good = parse_count(text, &number))) fprintf(out, "%" PRIu64, number); break;
    case INTEGER: if ((good = parse_integer(text, &id))) fprintf(out, "%" PRId64, id); break;
    default: break;
  }
  if (!good) fputs("no", out);
}

static void check_report(unsigned kind, struct span text) {
  static const uint8_t paper[] = {0x00, 0xff};
  static struct bb_report blank[2], report[2];
  bool took[2];
  for (int i = 0; i < 2; i++) {
    memset(&blank[i], paper[i], sizeof blank[i]);
    report[i] = blank[i];
    took[i] = of_report[kind](text, &report[i]);
  }
  MUST(took[0] == took[1], "what stands in a report decides whether a text is taken");
  const uint8_t *a = (const uint8_t *)&report[0], *b = (const uint8_t *)&report[1];
  for (size_t i = 0; i < sizeof *report; i++) {
    const bool is_old = a[i] == paper[0] && b[i] == paper[1];
    MUST(is_old || (took[0] && a[i] == b[i]), "byte %zu of the report", i);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  if (size == 0) return 0;
  const unsigned kind = data[0] % KINDS;
  const struct span text = {(const char *)data + 1, size - 1};
  fuzz_units++;
  if (kind < OF_REPORT) check_report(kind, text);
  else make_of(kind, text, nowhere);
  return 0;
}

void fuzz_tell(const uint8_t *data, size_t size, FILE *out) {
  if (size > 0) make_of(data[0] % KINDS, (struct span){(const char *)data + 1, size - 1}, out);
}

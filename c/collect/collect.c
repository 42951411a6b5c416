#include "collect.h"

#include "../base/kernelfile.h"
#include "../base/say.h"
#include "world.h"

/* After so many ticks, data that rarely change and are expensive to read are read again. */
static unsigned seldom_ticks = 10;

static const char *proc, *sys;

/* The files of one tree: opened at the first reading, and closed with the tree. */
enum {
  STAT, LOADAVG, MEMINFO, VMSTAT, PSI_CPU, PSI_MEMORY, PSI_IO, PSI_IRQ, SNMP, FILE_NR, NETDEV, DISKSTATS, RELEASE,
  ONLINE, PRESENT, FILES
};

static struct kernel_file files[FILES];

/* The topology is read again when the list of CPUs changes, or could not be read some ticks ago. */
static struct {
  uint64_t names;
  unsigned left; /* ticks */
} topology_seldom;
static struct topology topology;
static bool has_topology;   /* as of the last reading; for `topology_seldom` */
static bool groups_known;   /* as of the last tick that listed the online CPUs */
static bool topology_told, block_told, links_told, rest_told, disks_told;

static struct room of_interfaces, of_disks; /* a row for each line of their files */

static struct cpuinfo cpuinfo;
static bool has_cpuinfo, has_system;
static struct bb_report system_fields; /* of the set `system`, once they are known */
static enum { MHZ_UNASKED, MHZ_ABSENT, MHZ_KNOWN } mhz_state;
static uint64_t mhz;

static struct stat_times times_before;
static bool has_times;

void collect_from(const char *new_proc, const char *new_sys, bool of_first) {
  for (unsigned i = 0; i < FILES && proc != NULL; i++) file_close(&files[i]);
  proc = new_proc;
  sys = new_sys;
  files[STAT] = KERNEL_FILE(proc, "/stat", 0);
  files[LOADAVG] = KERNEL_FILE(proc, "/loadavg", 0);
  files[MEMINFO] = KERNEL_FILE(proc, "/meminfo", 0);
  files[VMSTAT] = KERNEL_FILE(proc, "/vmstat", FILE_IN_LINES);
  files[VMSTAT].enough = has_vmstat; /* for each further page the kernel sums up all CPUs again */
  files[PSI_CPU] = KERNEL_FILE(proc, "/pressure/cpu", FILE_OPTIONAL);
  files[PSI_MEMORY] = KERNEL_FILE(proc, "/pressure/memory", FILE_OPTIONAL);
  files[PSI_IO] = KERNEL_FILE(proc, "/pressure/io", FILE_OPTIONAL);
  files[PSI_IRQ] = KERNEL_FILE(proc, "/pressure/irq", FILE_OPTIONAL);
  files[SNMP] = KERNEL_FILE(proc, of_first ? "/1/net/snmp" : "/net/snmp", 0);
  files[FILE_NR] = KERNEL_FILE(proc, "/sys/fs/file-nr", 0);
  files[NETDEV] = KERNEL_FILE(proc, of_first ? "/1/net/dev" : "/net/dev", FILE_IN_LINES);
  files[DISKSTATS] = KERNEL_FILE(proc, "/diskstats", FILE_IN_LINES);
  files[RELEASE] = KERNEL_FILE(proc, "/sys/kernel/osrelease", 0);
  files[ONLINE] = KERNEL_FILE(sys, "/devices/system/cpu/online", 0);
  files[PRESENT] = KERNEL_FILE(sys, "/devices/system/cpu/present", 0);
  known_renew(&known_disks);
  known_renew(&known_links);
  topology_seldom.left = 0;
  has_topology = has_cpuinfo = has_system = false;
  mhz_state = MHZ_UNASKED;
}

void collect_restart(void) {
  sum_restart(&disk_sum);
  sum_restart(&rest_sum);
}

void collect_seldom(unsigned ticks) {
  seldom_ticks = ticks;
  known_links.left = known_disks.left = topology_seldom.left = 0;
}

/* Reads one file: `parser` writes the fields of a set. */
static void collect_put(struct bb_report *report, unsigned file, bool (*parser)(struct span, struct bb_report *),
                uint64_t set) {
  struct span text;
  if (file_read(&files[file], &text) && file_parsed(&files[file], parser(text, report))) report->valid |= set;
}

static void put_cpus(struct bb_report *report, const struct details *details) {
  struct span text;
  unsigned present;
  bool is_online = file_read(&files[ONLINE], &text), is_new = false;
  if (is_online) {
    const uint64_t names = fingerprint(FINGERPRINT, text);
    is_new = topology_seldom.left == 0 || topology_seldom.names != names;
    is_online = file_parsed(&files[ONLINE], !is_new || parse_cpu_list(text, NULL, NULL, &present));
    if (is_online && is_new) {
      topology_seldom.names = names;
      topology_seldom.left = seldom_ticks;
      list_cpus(text, &topology);
    }
  }
  const bool is_present = file_read(&files[PRESENT], &text) &&
                          file_parsed(&files[PRESENT], parse_cpu_list(text, NULL, NULL, &present));
  if (!is_online) return;
  if (is_new) has_topology = read_topology(sys, &topology, file_place());
  /* A failed reading is not repeated each second: it may take a thousand files to find out. */
  if (!has_topology) topology_seldom.left--;
  if (is_present) {
    report->cpus_online = saturated_16(topology.online);
    report->cpus_present = saturated_16(present);
    report->valid |= BB_VALID_CPUS;
  }
  groups_known = has_topology;
  tell_once(&topology_told, has_topology, "cannot read the topology of the CPUs below ", sys, "/devices/system");
  if (!has_topology) return;
  report->packages = saturated_8(topology.packages);
  report->groups = (uint8_t)topology.groups;
  report->threads_per_core = saturated_8(topology.threads_per_core);
  report->numa_nodes = saturated_8(topology.numa_nodes);
  unsigned cpus[MOST_GROUPS] = {0};
  for (unsigned i = 0; i < topology.online; i++) cpus[topology.cpu[i].group]++;
  for (unsigned g = 0; g < topology.groups; g++) {
    report->group[g].cpus = saturated_16(cpus[g]);
    report->group[g].mhz = saturated_16(g < details->mhz_groups ? details->mhz[g] : 0);
    report->group[g].temp_dc = g < details->temp_groups ? details->temp_dc[g] : TEMPERATURE_UNKNOWN;
  }
  report->valid |= BB_VALID_TOPOLOGY | BB_VALID_GROUPS;
}

static void put_stat(struct bb_report *report) {
  struct span text, rest;
  struct stat_times times;
  const bool had_times = has_times, is_read = file_read(&files[STAT], &text);
  const enum parsed cpus = groups_parse(is_read ? text : SPAN(""), groups_known ? &topology : NULL, &rest);
  const enum parsed sums = is_read ? parse_stat(text, rest, report, &times) : REFUSED;
  has_times = is_read && file_parsed(&files[STAT], sums == WHOLE && cpus != WHOLE ? IN_PART : sums);
  if (!has_times) groups_forget();
  if (has_times) report->valid |= BB_VALID_STAT;
  /* The times of CPUs that were added or removed change the sums by hours. */
  if (has_times && had_times && groups_same() && cpu_share(&times_before, &times, report))
    report->valid |= BB_VALID_CPU_SHARE;
  if (has_times) times_before = times;
  if (groups_share(groups_known ? topology.groups : 0, report)) report->valid |= BB_VALID_GROUP_SHARE;
}

/* Without the shares, which need the lines of single CPUs. */
static void put_sums(struct bb_report *report) {
  struct span text;
  struct stat_times times;
  if (file_read(&files[STAT], &text) && file_parsed(&files[STAT], parse_stat(text, text, report, &times)))
    report->valid |= BB_VALID_STAT;
}

/* Says once that there are more than a sender takes; returns `is_few`. */
static bool few_enough(bool *told, bool is_few, unsigned most, const char *what) {
  char text[96];
  struct words words = WORDS(text);
  add_number(&words, most);
  add_text(&words, " ");
  add_text(&words, what);
  tell_once(told, is_few, "there are more than ", text_of(&words), ": they are left out");
  return is_few;
}

/* Since when members of a sum are missing while a line of their file is not understood, ns; 0: none. */
static int64_t disks_lack_ns, net_lacks_ns;

/* Whether a member of the sum may stand on a line that is not understood: then nothing of the set is known for at most
 * a minute. `now` are rows that begin with the names of the lines that are understood. */
static bool lacks(enum parsed parsed, const struct known *known, size_t place_at, const void *now, size_t now_bytes,
                  unsigned count, int64_t now_boot_ns, int64_t *since_ns) {
  bool is_missing = false;
  if (parsed == IN_PART) {
    const struct name_index index = index_names(now, now_bytes, count);
    for (unsigned i = 0; i < known->count && !is_missing; i++) {
      const struct known_name *row = known_row(known, i);
      uint32_t place;
      memcpy(&place, (const char *)row + place_at, sizeof place);
      is_missing = place > 0 && place_of(&index, row->name) < 0;
    }
  }
  if (!is_missing) *since_ns = 0;
  else if (*since_ns == 0) *since_ns = now_boot_ns;
  return is_missing && now_boot_ns - *since_ns < (int64_t)UNREAD_MS * 1000000;
}

static void put_net(struct bb_report *report, int64_t now_boot_ns, const struct details *details) {
  struct span text;
  unsigned count;
  uint64_t names;
  if (!file_read(&files[NETDEV], &text) ||
      !known_room(&known_links, &of_interfaces, sizeof(struct interface), &text, "network interfaces"))
    return;
  struct interface *interfaces = (struct interface *)(void *)of_interfaces.at;
  const enum parsed parsed = parse_netdev(text, interfaces, &count, &names);
  if (!file_parsed(&files[NETDEV], parsed) ||
      lacks(parsed, &known_links, offsetof(struct link_row, place), interfaces, sizeof *interfaces, count,
            now_boot_ns, &net_lacks_ns))
    return;
  known_meet(&known_links, interfaces, sizeof *interfaces, count, names, seldom_ticks);
  find_links(sys, interfaces, count, file_place());
  if (!known_whole(&known_links, proc, files[NETDEV].leaf) || (parsed == IN_PART && lacks_device(sys))) return;
  if (!few_enough(&links_told, !too_many_links(), BB_MOST_LINKS, "network interfaces with a device")) return;
  leave_out_links(interfaces, count, &details->speeds);
  if (few_enough(&rest_told, arrange(interfaces, known_links.rows, count, &details->speeds, report),
                 BB_MOST_DEVICES, "network interfaces"))
    report->valid |= BB_VALID_NET;
}

static void put_disks(struct bb_report *report, int64_t now_boot_ns) {
  struct span text;
  unsigned count;
  uint64_t names;
  enum parsed parsed;
  struct disk *disks = NULL;
  if (!file_read(&files[DISKSTATS], &text) ||
      !known_room(&known_disks, &of_disks, sizeof *disks, &text, "block devices") ||
      (disks = (struct disk *)(void *)of_disks.at) == NULL ||
      !file_parsed(&files[DISKSTATS], parsed = parse_diskstats(text, disks, &count, &names)) ||
      lacks(parsed, &known_disks, offsetof(struct disk_row, place), disks, sizeof *disks, count, now_boot_ns,
            &disks_lack_ns)) {
    disks_forget();
    return;
  }
  known_meet(&known_disks, disks, sizeof *disks, count, names, seldom_ticks);
  tell_once(&block_told, find_whole_disks(sys, disks, count, file_place()), "cannot read ", sys,
            "/block: whole disks are recognized by their names");
  if (!known_whole(&known_disks, proc, "/diskstats")) {
    disks_forget();
    return;
  }
  struct disk_row *rows = known_disks.rows;
  if (few_enough(&disks_told, sum_disks(disks, rows, count, report), BB_MOST_DEVICES, "whole disks"))
    report->valid |= BB_VALID_DISK;
  if (busiest_disk(disks, rows, count, now_boot_ns, report)) report->valid |= BB_VALID_DISK_SHARE;
}

static const struct cpuinfo *first_cpu(void) {
  if (!has_cpuinfo) read_cpuinfo(proc, &cpuinfo, file_place());
  has_cpuinfo = true;
  return &cpuinfo;
}

static void put_system(struct bb_report *report, const struct details *details) {
  struct span text, release = {NULL, 0};
  if (!has_system) {
    has_system = file_read(&files[RELEASE], &text) && file_parsed(&files[RELEASE], parse_release(text, &release));
    if (has_system) {
      uint32_t page_kib;
      memset(system_fields.os_release, 0, sizeof system_fields.os_release);
      memcpy(system_fields.os_release, release.at, release.len < 47 ? release.len : 47);
      machine->type(&system_fields.arch, &page_kib);
      system_fields.page_kib = saturated_16(page_kib);
      system_fields.virt = first_cpu()->hypervisor ? BB_VIRT_VM : BB_VIRT_METAL;
    }
    file_close(&files[RELEASE]);
  }
  if (!has_system) return;
  memcpy(report->os_release, system_fields.os_release, sizeof report->os_release);
  report->arch = system_fields.arch;
  report->virt = details->container ? BB_VIRT_CONTAINER : system_fields.virt;
  report->page_kib = system_fields.page_kib;
  report->valid |= BB_VALID_SYSTEM;
}

static void put_mhz(struct bb_report *report) {
  if (mhz_state == MHZ_UNASKED)
    mhz_state =
        read_cpu_mhz(sys, groups_known ? &topology : NULL, first_cpu(), file_place(), &mhz) ? MHZ_KNOWN : MHZ_ABSENT;
  if (mhz_state == MHZ_ABSENT) return;
  report->cpu_mhz_max = saturated_32(mhz);
  report->valid |= BB_VALID_CPU_MHZ;
}

static void put_clock(struct bb_report *report) {
  struct clock_state clock;
  if (!machine->clock_state(&clock)) return;
  const int64_t offset = clock.offset_us;
  report->clock_offset_us = (int32_t)(offset < INT32_MIN ? INT32_MIN : offset > INT32_MAX ? INT32_MAX : offset);
  report->clock_maxerr_us = clock.max_error_us < 0 ? 0 : saturated_32((uint64_t)clock.max_error_us);
  report->valid |= BB_VALID_CLOCK;
  if (clock.unsynchronised) report->flags |= (uint32_t)BB_FLAGS_CLOCK_UNSYNC;
}

#define CPU_SETS (BB_VALID_CPUS | BB_VALID_TOPOLOGY | BB_VALID_GROUPS)
#define SHARES (BB_VALID_CPU_SHARE | BB_VALID_GROUP_SHARE)

void collect_sets(struct bb_report *report, uint64_t sets, int64_t now_boot_ns, const struct details *details) {
  if ((sets & CPU_SETS) != 0) put_cpus(report, details);
  if ((sets & BB_VALID_LOAD) != 0) collect_put(report, LOADAVG, parse_loadavg, BB_VALID_LOAD);
  if ((sets & SHARES) != 0) put_stat(report);
  else if ((sets & BB_VALID_STAT) != 0) put_sums(report);
  if ((sets & BB_VALID_MEMORY) != 0) collect_put(report, MEMINFO, parse_meminfo, BB_VALID_MEMORY);
  if ((sets & BB_VALID_VMSTAT) != 0) collect_put(report, VMSTAT, parse_vmstat, BB_VALID_VMSTAT);
  if ((sets & BB_VALID_PSI_CPU) != 0) collect_put(report, PSI_CPU, parse_cpu_pressure, BB_VALID_PSI_CPU);
  if ((sets & BB_VALID_PSI_MEM) != 0) collect_put(report, PSI_MEMORY, parse_memory_pressure, BB_VALID_PSI_MEM);
  if ((sets & BB_VALID_PSI_IO) != 0) collect_put(report, PSI_IO, parse_io_pressure, BB_VALID_PSI_IO);
  if ((sets & BB_VALID_PSI_IRQ) != 0) collect_put(report, PSI_IRQ, parse_irq_pressure, BB_VALID_PSI_IRQ);
  if ((sets & BB_VALID_TCP) != 0) collect_put(report, SNMP, parse_snmp, BB_VALID_TCP);
  if ((sets & BB_VALID_FILES) != 0) collect_put(report, FILE_NR, parse_file_nr, BB_VALID_FILES);
  if ((sets & BB_VALID_NET) != 0) put_net(report, now_boot_ns, details);
  if ((sets & (BB_VALID_DISK | BB_VALID_DISK_SHARE)) != 0) put_disks(report, now_boot_ns);
  if ((sets & BB_VALID_SYSTEM) != 0) put_system(report, details);
  if ((sets & BB_VALID_CPU_MHZ) != 0) put_mhz(report);
  if ((sets & BB_VALID_CLOCK) != 0) put_clock(report);
}

void collect(struct bb_report *report, int64_t now_boot_ns, const struct details *details) {
  collect_sets(report, BB_VALID_KNOWN, now_boot_ns, details);
}

bool read_boot_id(const char *of_proc, uint64_t *id) {
  char path[1024], uuid[64];
  struct words words = WORDS(path);
  struct span text;
  add_text(&words, of_proc);
  add_text(&words, "/sys/kernel/random/boot_id");
  return read_once(text_of(&words), 0, 0, uuid, sizeof uuid, &text) == 0 && parse_boot_id(text, id);
}

/* What becomes of the texts of the fast sets: one function per kernel file. Pure, but for those that read topology and links.
 * Each writes its fields only when it understands all that it needs, and says whether it did. A `buffer` has SMALL_BYTES. */
#ifndef BB_SENDER_PARSE_H
#define BB_SENDER_PARSE_H
#include "../../layout.gen.h"
#include "../text.h"

/* No kernel has more CPUs; a list beyond that is garbage, and would cost time. */
#define MOST_CPUS (1u << 16)
/* Entries of `group` in a report. */
#define MOST_GROUPS 4u
/* More interfaces than this are taken for a text that is broken: 4,096 have 400 KiB of lines. */
#define MOST_INTERFACES 4096u
/* Block devices, partitions too. */
#define MOST_DISKS 16384u

bool parse_boot_id(struct span text, uint64_t *id);
bool parse_loadavg(struct span text, struct bb_report *report);
bool parse_meminfo(struct span text, struct bb_report *report);
/* Whether all that is wanted stands in the text, to its line end: the rest need not be read. */
bool has_vmstat(struct span text);
bool parse_vmstat(struct span text, struct bb_report *report);
bool parse_cpu_pressure(struct span text, struct bb_report *report);
bool parse_memory_pressure(struct span text, struct bb_report *report);
bool parse_io_pressure(struct span text, struct bb_report *report);
bool parse_irq_pressure(struct span text, struct bb_report *report);
bool parse_snmp(struct span text, struct bb_report *report);
bool parse_file_nr(struct span text, struct bb_report *report);

/* /proc/stat: ticks of all CPUs together. */
enum { TICKS_USER, TICKS_NICE, TICKS_SYSTEM, TICKS_IDLE, TICKS_IOWAIT, TICKS_IRQ, TICKS_SOFTIRQ, TICKS_STEAL, TICKS };

struct stat_times {
  uint64_t ticks[TICKS];
};

/* `rest` is the end of the text, as groups_take() leaves it: before that are lines of CPUs alone. */
bool parse_stat(struct span text, struct span rest, struct bb_report *report, struct stat_times *times);
/* Shares of the time between two ticks; false when no time passed. */
bool cpu_share(const struct stat_times *before, const struct stat_times *now, struct bb_report *report);

/* A list like 0-3,5, which must grow; calls for each number unless `each` is NULL. */
bool parse_cpu_list(struct span text, void (*each)(void *context, unsigned cpu), void *context, unsigned *count);
/* The kernel writes -1 where the firmware does not say. */
bool parse_package_id(struct span text, int64_t *id);

/* How the CPUs are arranged; a megabyte, of which as much is touched as there are CPUs. */
struct topology {
  unsigned packages, groups, threads_per_core, numa_nodes;
  unsigned online; /* CPUs */
  struct {
    int64_t package; /* of this CPU */
    int64_t id;      /* of the package that has this place: the first are in use, growing */
    uint16_t number; /* of the CPU, growing */
    uint8_t group;   /* of the CPU */
  } cpu[MOST_CPUS];
};

/* Takes the list of the CPUs online; false when it is none. */
bool list_cpus(struct span online, struct topology *topology);
/* Asks each of them for its package and its siblings; false when one does not tell. */
bool read_topology(const char *sys, struct topology *topology, char *buffer);

/* Takes the lines of single CPUs for this tick, from the text of /proc/stat or from none; false when one of them is not understood. `rest` is
 * what follows them, or the line that is not understood. */
bool groups_take(struct span text, struct span *rest);
/* What was taken in this tick does not count. */
void groups_forget(void);
/* Whether this tick and the one before have lines of the same CPUs; also when neither has any that are understood. */
bool groups_same(void);
/* Shares since the tick before; false when there is none or no time passed. */
bool groups_share(const struct topology *topology, struct bb_report *report);

/* /proc/net/dev */
struct interface {
  struct span name; /* as UTF-8 */
  char text[48];
  uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets, rx_errors, tx_errors, rx_drops, tx_drops;
  /* What /sys/class/net says of it; kept when the text is read again. */
  double index; /* infinite when not known */
  bool wanted;  /* it will be reported */
  uint32_t state;
};

/* Speeds of interfaces by the fingerprints of their names. */
struct speed {
  uint64_t name;
  uint32_t mbps;
};

struct speeds {
  unsigned count;
  const struct speed *first;
  size_t stride; /* bytes from one to the next */
};

static inline const struct speed *speed_at(const struct speeds *speeds, unsigned i) {
  return (const struct speed *)(const void *)((const char *)speeds->first + i * speeds->stride);
}

bool parse_netdev(struct span text, struct interface *all, unsigned *count, uint64_t *names);
/* Puts the wanted ones into their places. */
void arrange(const struct interface *all, unsigned count, const struct speeds *speeds, struct bb_report *report);
void read_links(const char *sys, struct interface *all, unsigned count, char *buffer);
bool is_interface_name(struct span name);
bool parse_speed(struct span text, uint32_t *mbps);
uint32_t parse_net_state(struct span flags, struct span operstate);
double parse_index(struct span text);

/* /proc/diskstats */
struct disk {
  struct span name;
  uint64_t reads, sectors_read, writes, sectors_written, inflight, busy_ms, weighted_ms;
  bool whole; /* kept when the text is read again */
};

/* Whole disks of the tick before, as many as there are, in the same memory. */
struct disk_row {
  struct disk now;
  uint64_t before_name, before_busy_ms;
};

bool parse_diskstats(struct span text, struct disk_row *all, unsigned *count, uint64_t *names);
void sum_disks(const struct disk_row *all, unsigned count, struct bb_report *report);
/* Marks the whole disks; false when /sys/block cannot be read: then they are told by their names. */
bool mark_whole_disks(const char *sys, struct disk_row *all, unsigned count, char *buffer);
void disks_forget(void);
/* The busiest since the tick before, and keeps this one; false when there is none or no time passed.
 * `changed`: other disks than then may be whole. */
bool busiest_disk(struct disk_row *all, unsigned count, bool changed, int64_t now_boot_ns, struct bb_report *report);

/* What does not change while the system runs. */
struct cpuinfo {
  bool hypervisor, has_mhz;
  uint32_t mhz;
};

bool parse_release(struct span text, struct span *release);
uint8_t arch_of(struct span machine);
void parse_cpuinfo(struct span text, struct cpuinfo *cpuinfo);
void read_cpuinfo(const char *proc, struct cpuinfo *cpuinfo, char *buffer);
/* The highest clock rate in MHz; `topology` is NULL where the CPUs are not known. */
bool read_cpu_mhz(const char *sys, const struct topology *topology, const struct cpuinfo *cpuinfo, char *buffer, uint64_t *mhz);

#endif

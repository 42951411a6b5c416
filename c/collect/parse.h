/* The parsers of the fast sets: one function per kernel file. Pure, except for those that read topology and links.
 * Each writes its fields only if everything that it needs is valid, and returns whether it is. A `buffer` has
 * SMALL_BYTES. */
#ifndef BB_PARSE_H
#define BB_PARSE_H
#include "../base/text.h"
#include "../format/layout.gen.h"
#include "known.h"
#include "membersum.h"

/* No kernel has more CPUs; a longer list is invalid, and would cost time. */
#define MOST_CPUS (1u << 16)
/* The most that `cpu_group.mhz` can say; no CPU is as fast. */
#define MOST_MHZ 65534u
/* Entries of `group` in a report. */
#define MOST_GROUPS 4u

bool parse_boot_id(struct span text, uint64_t *id);
bool parse_loadavg(struct span text, struct bb_report *report);
bool parse_meminfo(struct span text, struct bb_report *report);
/* Whether everything needed is in the text, up to its line end: the rest need not be read. */
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

/* `rest` is the end of the text, as set by groups_parse(): before it there are only lines of CPUs. */
enum parsed parse_stat(struct span text, struct span rest, struct bb_report *report, struct stat_times *times);
/* Shares of the time between two ticks; false if no time passed. */
bool cpu_share(const struct stat_times *before, const struct stat_times *now, struct bb_report *report);

/* A list like 0-3,5, which must be ascending; calls `each` for each number unless it is NULL. */
bool parse_cpu_list(struct span text, void (*each)(void *context, unsigned cpu), void *context, unsigned *count);
/* The kernel writes -1 where the firmware does not say. */
bool parse_package_id(struct span text, int64_t *id);

/* The topology of the CPUs. */
struct topology {
  unsigned packages, groups, threads_per_core, numa_nodes;
  unsigned online; /* CPUs */
  struct topology_cpu {
    int64_t package; /* of this CPU */
    int64_t id;      /* of the package with this index: the first ones are in use, ascending */
    uint16_t number; /* of the CPU, ascending */
    uint8_t group;   /* of the CPU */
  } *cpu;            /* in `memory` */
  struct room memory;
};

/* Parses the list of the online CPUs; false if it is invalid, or there is no memory for so many. */
bool list_cpus(struct span online, struct topology *topology);
/* Reads the package and the siblings of each of them; false if one is missing. */
bool read_topology(const char *sys, struct topology *topology, char *buffer);
/* A file below the folder of one CPU. */
bool read_of_cpu(const char *sys, unsigned cpu, const char *leaf, char *buffer, struct span *text);

/* Parses the lines of single CPUs for this tick, from the text of /proc/stat or from none, and compares them with those
 * of the last tick. Leaves out those that are not understood; refuses all if one is not of a higher CPU than the one
 * before. `rest` is what follows them, or that line. `topology` is NULL if the CPUs are unknown. */
enum parsed groups_parse(struct span text, const struct topology *topology, struct span *rest);
/* Discards what was parsed in this tick. */
void groups_forget(void);
/* Whether this tick and the last one have lines of the same CPUs; also if neither has any valid ones. */
bool groups_same(void);
/* Shares of so many groups since the last tick; false if there is none or no time passed. */
bool groups_share(unsigned groups, struct bb_report *report);

/* /proc/net/dev */
struct interface {
  uint64_t name_print; /* the fingerprint of its name */
  struct span name;    /* as UTF-8 */
  char text[60];
  uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets, rx_errors, tx_errors, rx_drops, tx_drops;
};

/* What /sys/class/net says about an interface. */
struct link_row {
  struct known_name known;
  bool device;     /* it has its own: bridges, veth pairs, VLANs and bond masters have none */
  bool behind;     /* its master has a device, too, and counts its traffic */
  bool represents; /* it stands for a part of an adapter that counts its traffic */
  bool stacked;    /* on others of this namespace, which count its traffic */
  bool detailed;   /* the following, and `stacked`, are known */
  double index;    /* infinite if unknown */
  uint32_t state;
  uint64_t address;     /* the fingerprint of its MAC */
  uint64_t counts;      /* all that it has counted */
  uint32_t place; /* in the sum `net_rest`; 0: none */
};

/* All of them; the rows are in the order of the interfaces. */
extern struct known known_links;

/* What the slow side knows of interfaces, by the fingerprints of their names. */
struct speed {
  uint64_t name;
  uint32_t mbps;
  bool left_out; /* others count its traffic, and nobody asks for its speed */
};

struct speeds {
  unsigned count;
  const struct speed *first;
  size_t stride; /* bytes from one entry to the next */
};

static inline const struct speed *speed_at(const struct speeds *speeds, unsigned i) {
  return (const struct speed *)(const void *)((const char *)speeds->first + i * speeds->stride);
}

/* A row of `all` for each line is there; so it is for disks. */
enum parsed parse_netdev(struct span text, struct interface *all, unsigned *count, uint64_t *names);
/* Finds out what /sys/class/net says about those that may count. */
void find_links(const char *sys, const struct interface *all, unsigned count, char *buffer);
/* A name of /sys/class/net that may have a device of its own: vifN.M is Xen's end of a guest's interface. */
bool may_have_device(struct span name);
/* Whether none has a device, but one whose line in /proc/net/dev is not understood: virtual ones do not replace it. */
bool lacks_device(const char *sys);
/* Whether there are more with a device than a sender takes. */
bool too_many_links(void);
/* Whether it stands on others of the same namespace, as bridges, bonds and VLANs do. */
bool is_stacked(const char *sys, struct span name);
/* Copies what the slow side knows, and tells of interfaces that are left out, when they change. */
void leave_out_links(const struct interface *all, unsigned count, const struct speeds *speeds);
/* Whether an interface counts. */
bool link_counts(const struct interface *one, const struct link_row *row);
/* Puts the interfaces that count into their places; false: there are more than a sender takes. */
bool arrange(const struct interface *all, struct link_row *rows, unsigned count, const struct speeds *speeds,
             struct bb_report *report);
bool is_interface_name(struct span name);
bool parse_speed(struct span text, uint32_t *mbps);
uint32_t parse_net_state(struct span flags, struct span operstate);
double parse_index(struct span text);

extern struct member_sum disk_sum, rest_sum;

/* /proc/diskstats */
struct disk {
  uint64_t name_print; /* the fingerprint of its name */
  uint64_t number;     /* of its major and minor number */
  struct span name;
  uint64_t reads, sectors_read, writes, sectors_written, inflight, busy_ms, weighted_ms;
};

/* What is known of a block device from tick to tick. */
struct disk_row {
  struct known_name known;
  uint64_t serial; /* the fingerprint of what tells it from others of its name */
  uint64_t counts; /* all that it has counted */
  bool real;  /* a disk, or one of several paths to one: no partition, and nothing stacked on disks */
  bool whole; /* it counts: it is real, and not a disk whose paths count */
  bool was_whole;   /* `whole` in the tick before */
  uint64_t busy_ms; /* its busy time in that tick, from which busiest_disk() goes on */
  uint32_t place;   /* in the sum of all; 0: none */
};

/* All of them; the rows are in the order of the disks. */
extern struct known known_disks;

enum parsed parse_diskstats(struct span text, struct disk *all, unsigned *count, uint64_t *names);
/* False: there are more whole disks than a sender takes. */
bool sum_disks(const struct disk *all, struct disk_row *rows, unsigned count, struct bb_report *report);
/* Finds out which are whole disks; false if /sys/block cannot be read: then names decide. */
bool find_whole_disks(const char *sys, const struct disk *all, unsigned count, char *buffer);
void disks_forget(void);
/* The busiest disk since the last tick, and keeps this tick; false if there is none or no time passed. */
bool busiest_disk(const struct disk *all, struct disk_row *rows, unsigned count, int64_t now_boot_ns,
                  struct bb_report *report);

/* Data that do not change while the system runs. */
struct cpuinfo {
  bool hypervisor, has_mhz;
  uint32_t mhz;
};

bool parse_release(struct span text, struct span *release);
uint8_t arch_of(struct span machine);
void parse_cpuinfo(struct span text, struct cpuinfo *cpuinfo);
void read_cpuinfo(const char *proc, struct cpuinfo *cpuinfo, char *buffer);
/* The highest clock rate in MHz; `topology` is NULL if the CPUs are unknown. */
bool read_cpu_mhz(const char *sys, const struct topology *topology, const struct cpuinfo *cpuinfo, char *buffer,
                  uint64_t *mhz);

#endif

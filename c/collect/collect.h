/* Reads the fast sets of a report from /proc and /sys, once per tick. Never waits or guesses: a set that could not
 * be read stays invalid, and does not affect the others. There is one collector in a process. */
#ifndef BB_COLLECT_H
#define BB_COLLECT_H
#include "parse.h"

/* An unknown temperature. */
#define TEMPERATURE_UNKNOWN INT16_MIN

/* What the slow side knows for fast sets. */
struct details {
  struct speeds speeds; /* of interfaces */
  unsigned mhz_groups, temp_groups; /* the number of known entries below */
  uint64_t mhz[MOST_GROUPS];        /* 0: unknown */
  int16_t temp_dc[MOST_GROUPS];
  bool container;
};

/* Reads from these roots from the next tick on, with the last reading as the tick before it. The network is that of
 * this process, or of the first one: /proc shows each process its own. */
void collect_from(const char *proc, const char *sys, bool of_first);
/* Writes the fields of all fast sets that could be read, and their bits in `valid`, into a report. `now_boot_ns` is
 * its t_boot_ns: shares of disks are for the time since the last call. */
void collect(struct bb_report *report, int64_t now_boot_ns, const struct details *details);
/* The same for some sets only: files of other sets are not read. The share of a tick (`cpu_share`, `group_share`)
 * needs the other sets of its file. */
void collect_sets(struct bb_report *report, uint64_t sets, int64_t now_boot_ns, const struct details *details);
/* The next report begins the sums: what was read before was no report. */
void collect_restart(void);
/* Data that rarely change (links, disks, the topology) are read again at the next tick, and from then on after so
 * many ticks; the default is ten. */
void collect_seldom(unsigned ticks);
/* The boot id; false if it cannot be read. */
bool read_boot_id(const char *proc, uint64_t *id);

#endif

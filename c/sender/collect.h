/* Reads the fast sets of a report from /proc and /sys, once per tick. Refuses to wait, and to guess: a set that could not be
 * read stays invalid, and the others are not touched by that. There is one collector in a process. */
#ifndef BB_SENDER_COLLECT_H
#define BB_SENDER_COLLECT_H
#include "collect/parse.h"

/* A temperature that is not known. */
#define TEMPERATURE_UNKNOWN INT16_MIN

/* What the slow side knows of things that fast sets tell of. */
struct details {
  struct speeds speeds; /* of interfaces */
  unsigned mhz_groups, temp_groups; /* entries that are known below */
  uint64_t mhz[MOST_GROUPS];        /* 0: not known */
  int16_t temp_dc[MOST_GROUPS];
  bool container;
};

/* Reads from these roots from the next tick on, and takes what it read last for the tick before. */
void collect_from(const char *proc, const char *sys);
/* Writes the fields of all fast sets that could be read, and their bits in `valid`, into a report.
 * `now_boot_ns` is its t_boot_ns: shares of disks are of the time since that of the call before. */
void collect(struct bb_report *report, int64_t now_boot_ns, const struct details *details);
/* The same of some sets alone: files of others are not read. No share of a tick (`cpu_share`, `group_share`) without the others of its file. */
void collect_sets(struct bb_report *report, uint64_t sets, int64_t now_boot_ns, const struct details *details);
/* What changes seldom (links, disks, the topology) is read again at the next tick, and from then on after so many; usually after ten. */
void collect_seldom(unsigned ticks);
/* The boot id; false when it cannot be read. */
bool read_boot_id(const char *proc, uint64_t *id);

#endif

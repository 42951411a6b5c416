/* A file with what no tree of files contains (clocks, start, number, lateness, the machine), so that a report can be
 * repeated exactly; see docs/senders.md. For tests and for comparing senders. */
#ifndef BB_PRETEND_H
#define BB_PRETEND_H
#include "../base/say.h"
#include "slow/source.h"

#define PRETEND_MOST 64u

/* A pretended run of the sender. */
struct pretend_values {
  uint64_t t_real_ns, t_boot_ns, slow_boot_ns, start_boot_ns;
  int64_t before_boot_ns; /* of the tick before */
  bool has_before;
  uint32_t seq, late_us, collect_us, agent_cpu_ms, missed_ticks, version, page_kib;
  uint8_t arch;
  bool has_adjtimex, unsynchronised;
  int64_t offset_us, maxerror_us;
  char run[1024], etc[1024];
  unsigned ages, file_systems, links;
  struct {
    struct span name;
    int64_t seconds;
  } age[PRETEND_MOST];
  struct pretended_fs {
    const char *path;
    uint64_t value[5]; /* frsize, blocks, bavail, files, ffree */
    unsigned given;
  } file_system[PRETEND_MOST];
  struct {
    struct span path;
    const char *to;
  } link[PRETEND_MOST];
};

/* Reads it, and makes its machine the one that reports are about; NULL with one line in `fault`. */
const struct pretend_values *pretend(const char *file, struct words *fault);
/* Gives its answers, instead of this machine's, to the slow sources. */
void pretend_slow_world(struct slow_world *world);

#endif

/* A file with what no tree of files contains (clocks, start, number, lateness, the machine), so that a report can be
 * repeated exactly; see docs/pretend.md. For tests and for comparing senders. */
#ifndef BB_PRETEND_H
#define BB_PRETEND_H
#include "../base/say.h"

#define PRETEND_MOST 64u

struct file_system {
  bb_wide total, available; /* bytes; available for an ordinary user */
  uint64_t inodes, inodes_free;
};

/* A pretended run of the sender. */
struct pretence {
  bool on;
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

/* The one in force, if any. */
extern struct pretence pretence;

/* Reads it; false with one line in `fault`. */
bool pretence_read(const char *file, struct words *fault);
/* The pretended result of statvfs for a path; false if it does not answer. */
bool pretended_file_system(const char *path, struct file_system *fs);

#endif

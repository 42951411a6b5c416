/* Makes one report: the header, the sender's own readings, and the collectors' sets. Sends nothing and does not
 * schedule. */
#ifndef BB_PACK_H
#define BB_PACK_H
#include "../collect/world.h"
#include "signingkey.h"

/* What is the same in all reports of a run. */
struct identity {
  char name[64];
  uint32_t cluster_id, interval_ms, agent_version;
  uint64_t boot_id, start_boot_ns;
  struct key key;
};

/* The tick for which a report is made. */
struct tick {
  uint64_t seq;
  uint32_t missed;
  struct clocks clocks;
  uint64_t late_ns; /* how late the timer fired */
  bool late; /* by more than half an interval */
  bool goodbye;
  bool skipped; /* at least one tick just before this one had no report */
};

void pack(struct bb_report *report, const struct identity *identity, const struct tick *tick);

#endif

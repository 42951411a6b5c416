/* What keeps jobs off a node, and what lets them start all the same: rules that the gate and the load sensor share.
 * Pure. */
#ifndef BB_JOBRULES_H
#define BB_JOBRULES_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "../beoboard.h"
#include "fault.h"

/* Problems with which no job should start, a bit each; others are temporary, or no reason not to use the node. */
#define NO_JOB(problem) (1 << BEOBOARD_PROBLEM_##problem)
#define NO_JOB_PROBLEMS                                                                                                \
  (NO_JOB(HELD) | NO_JOB(BAD_HEALTH) | NO_JOB(ROOT_READONLY) | NO_JOB(MEMORY_ERRORS) | NO_JOB(GPU_LOST) |              \
   NO_JOB(GPU_ERRORS))

/* Whether a silence behind this link is more likely the network's, or this machine's. NULL: it is not known. */
static inline bool link_is_at_fault(const struct beoboard_link *link) {
  return link != NULL && (link->flags & (BEOBOARD_LINK_F_UP | BEOBOARD_LINK_F_DARK)) != BEOBOARD_LINK_F_UP;
}

/* With more nodes silent or uncertain than this, the cause is elsewhere. All zero: the larger of 3 and 10 %. */
struct brake {
  double number; /* of nodes, or per cent of the board */
  bool is_percent, is_given;
};

static inline double brake_limit(const struct brake *brake, int nodes) {
  if (!brake->is_given) return nodes / 10.0 > 3 ? nodes / 10.0 : 3;
  return brake->is_percent ? nodes * brake->number / 100.0 : brake->number;
}

/* What --names may lack for this name: the node whose name is that up to a domain; empty: there is none. */
static inline const char *names_hint(const beoboard *b, const char *name) {
  char like[BEOBOARD_NAME_MAX];
  const size_t n = strcspn(name, ".");
  for (int i = 0; i < beoboard_count(b); i++)
    if (beoboard_name(b, i, like, sizeof like) > 0 && strcspn(like, ".") == n && strncasecmp(like, name, n) == 0)
      return fault(" (for --names: %s %s)", name, like);
  return "";
}

#endif

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
#include "optionvalues.h"

/* Problems with which no job should start, a bit each; others are temporary, or no reason not to use the node. */
#define NO_JOB(problem) (1 << BEOBOARD_PROBLEM_##problem)
#define NO_JOB_PROBLEMS                                                                                                \
  (NO_JOB(HELD) | NO_JOB(BAD_HEALTH) | NO_JOB(ROOT_READONLY) | NO_JOB(MEMORY_ERRORS) | NO_JOB(GPU_LOST) |              \
   NO_JOB(GPU_ERRORS))

/* Whether a silence behind this link is more likely the network's, or this machine's. NULL: it is not known. */
static inline bool link_is_at_fault(const struct beoboard_link *link) {
  return link != NULL && (link->flags & (BEOBOARD_LINK_F_UP | BEOBOARD_LINK_F_DARK)) != BEOBOARD_LINK_F_UP;
}

/* With more nodes silent or uncertain than this, the cause is elsewhere. */
#define STANDARD_BRAKE {.nodes = 3, .share = 10000}
static inline double brake_limit(const struct portion *brake, int nodes) {
  return (double)portion_of(brake, (uint64_t)nodes) / PARTS_OF_NODE;
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

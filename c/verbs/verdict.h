/* Whether the nodes are well, in one line and a Nagios exit code, for beoboard-check and, through the addon, for
 * `beoboard check`. Blames no node when the receiver is stalled. */
#ifndef BB_VERDICT_H
#define BB_VERDICT_H
#include <stdnoreturn.h>

#include "remarks.h"

enum fail { FAIL_NOT_SAID, FAIL_OPEN, FAIL_CLOSED };

struct check_question {
  struct node_query query;
  enum fail fail;
  struct portion warning, critical;
  bool health_off;
  uint32_t ignored, recent; /* problems, a bit each: left out; that warn also when they are recent */
  const char *journal_run;
  /* What only Node.js finds: causes more likely than the nodes, and what else is warned of; each behind a semicolon. */
  const char *causes, *warnings;
  /* A condition, and the nodes for which it holds: they count instead; NULL: there is none. */
  const char *condition;
  const uint8_t *fulfils; /* of each node */
};

/* The exit code when nothing is known. */
int code_of_ignorance(enum fail fail);

/* The answer when nothing is known. */
noreturn void tell_ignorance(enum fail fail, const char *why);

/* The answer about a board that was read. */
noreturn void tell_verdict(const struct check_question *question, struct census *census);

/* How it ends: with a line, and its code. Each program defines its own. */
noreturn void answer(int code, const struct words *line);

#endif

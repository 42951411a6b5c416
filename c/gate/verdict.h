/* Whether a job may start on its nodes, and why: judged once, after all waiting. Refuses to blame a node for what is no evidence. */
#ifndef BB_GATE_VERDICT_H
#define BB_GATE_VERDICT_H
#include "../beoboard.h"
#include "nodenames.h"
#include "commandline.h"

struct verdict {
  bool may_start;
  char line[1400]; /* why; empty: there is nothing to be said */
};

/* What is asked. */
struct question {
  const struct options *options;
  const struct exceptions *exceptions;
  const struct nodes *nodes;
  const char *job; /* its number, for people; NULL: not known */
};

/* `b`: NULL where there is no board, and then `unknown` says why. */
void judge(const struct question *question, const beoboard *b, const char *unknown, struct verdict *out);

/* Nothing is known: as --fail says. */
void judge_nothing(bool fails_closed, const char *job, const char *why, struct verdict *out);

#endif

/* Whether a job may start on its nodes, and why: judged once, after all waiting. Blames no node without evidence. */
#ifndef BB_VERDICT_H
#define BB_VERDICT_H
#include "../base/nodenames.h"
#include "../beoboard.h"
#include "commandline.h"

struct verdict {
  bool may_start;
  char line[1400]; /* why; empty: there is nothing to say */
  const char *silent[8]; /* after a no: NodeNames for whose silence it is one, the first of them */
  size_t silent_count;
};

/* The question. */
struct question {
  const struct options *options;
  const struct exceptions *exceptions;
  const struct nodes *nodes;
  const char *job; /* its number, for messages; NULL: unknown */
};

/* `b`: NULL if there is no board; then `unknown` says why. */
void judge(const struct question *question, const beoboard *b, const char *unknown, struct verdict *out);

/* Nothing is known: the answer is that of --fail. */
void judge_nothing(bool fails_closed, const char *job, const char *why, struct verdict *out);

#endif

/* The answers: the values of a report by category, as symbolic expressions. The categories, their order and their
 * names are those of the other server (src/supermon/categories.ts): a test compares the two. Keeps no file open, and
 * reads none. */
#ifndef BB_SAMPLES_H
#define BB_SAMPLES_H
#include "../base/words.h"
#include "../format/layout.gen.h"
#include "asking.h"

/* More than the longest answer: every category with numbers of 20 digits. */
#define MOST_ANSWER 8192u

/* The identity of the server. */
struct teller {
  const char *node, *server; /* of the node; of this run, which no other server has */
  uint64_t samples, cpu_us;  /* answers so far; CPU time so far: asked for by MASK_SERVER */
};

#define MASK_SERVER UINT32_C(0x8000)

/* The sets of a report that a sample needs. */
uint64_t sets_of(uint32_t mask);
void tell_schema(struct words *out, const struct teller *teller);
/* `report` has these sets, as far as they could be read, and the clocks. */
void tell_sample(struct words *out, const struct teller *teller, uint32_t mask, const struct bb_report *report);
/* The answer to an unknown command. */
void tell_refusal(struct words *out, const struct teller *teller, const struct command *command);

#endif

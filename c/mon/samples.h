/* The answers: what of a report is told under which category, as symbolic expressions. The same categories, in the same order and by
 * the same names, as the other server has (src/supermon/categories.ts): a test holds them against each other. Keeps no file open, and
 * reads none. */
#ifndef BB_MON_SAMPLES_H
#define BB_MON_SAMPLES_H
#include "../layout.gen.h"
#include "../sender/words.h"
#include "asking.h"

/* The longest answer, and some: every category with numbers of 20 digits. */
#define MOST_ANSWER 8192u

/* Who tells. */
struct teller {
  const char *node, *server; /* of the node; of this run, which no other server has */
  uint64_t samples, cpu_us;  /* given so far; of CPU, used so far: asked for by MASK_SERVER */
};

#define MASK_SERVER UINT32_C(0x8000)

/* The sets of a report that a sample needs. */
uint64_t sets_of(uint32_t mask);
void tell_schema(struct words *out, const struct teller *teller);
/* `report` has these sets, as far as they could be read, and the clocks. */
void tell_sample(struct words *out, const struct teller *teller, uint32_t mask, const struct bb_report *report);
/* That there is no such command. */
void tell_refusal(struct words *out, const struct teller *teller, const struct command *command);

#endif

/* What is likelier at fault than the nodes: links that are down or dark, and why reports of nodes that are not heard are refused. The sentences are those
 * of src/shm/sentences.ts and src/telling/refusals.ts, to the byte. */
#ifndef BB_VERBS_REMARKS_H
#define BB_VERBS_REMARKS_H
#include "census.h"

/* Sentences, each with its NUL. */
struct remarks {
  const char **texts;
  size_t count;
};

/* Where nothing is known about nodes there are none. `kept`: whom the answer is about; it is told why they are not heard. */
struct remarks remarks_of(const struct census *census, const struct some *kept);

/* 1 node, 2 nodes. */
void add_plural(struct words *words, size_t count);

/* The first of the parts of a host list of these names, each cut where it is longer than `longest` characters; whether there are more. */
bool add_names(struct words *words, const char *const *names, size_t count, size_t parts, size_t longest);

#endif

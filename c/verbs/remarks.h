/* Causes that are more likely than the nodes: links that are down or dark, and why reports of unheard nodes are
 * rejected. The sentences are exactly those of src/presentation/sentences.ts and rejections.ts. */
#ifndef BB_REMARKS_H
#define BB_REMARKS_H
#include "census.h"

/* Sentences, each with its NUL. */
struct remarks {
  const char **texts;
  size_t count;
};

/* None if nothing is known about nodes. `kept`: the nodes of the answer, for which it is said why they are not
 * heard. */
struct remarks remarks_of(const struct census *census, const struct some *kept);

/* Adds what is warned of whatever the states of the nodes are, each behind a semicolon: asked nodes as which two
 * machines report, as src/presentation/clones.ts says it, that the receiver could not read its options again, that the
 * board is full, that IP fragments are not joined. False: there is nothing. */
bool add_warnings(struct words *words, const struct census *census);

/* 1 node, 2 nodes. */
void add_plural(struct words *words, size_t count);

/* The first parts of a host list of these names, each cut to at most `longest` characters; returns whether there are
 * more. */
bool add_names(struct words *words, const char *const *names, size_t count, size_t parts, size_t longest);

#endif

/* Causes that are more likely than the nodes: links that are down or dark, and why reports of unheard nodes are
 * rejected. The sentences are exactly those of src/shm/sentences.ts and src/trouble/rejections.ts. */
#ifndef BB_REMARKS_H
#define BB_REMARKS_H
#include "census.h"

/* Sentences, each with its NUL. */
struct remarks {
  const char **texts;
  size_t count;
};

/* None if nothing is known about nodes. `list`: the nodes of the answer, for which it is said why they are not
 * heard. `other`: one that comes first, or "". */
struct remarks remarks_of(const struct census *census, const struct node_list *list, const char *other);

/* Adds what is warned of whatever the states of the nodes are, each behind a semicolon: asked nodes as which two
 * machines report, as src/trouble/identities.ts says it, that the receiver could not read its options again, that the
 * board is full, that IP fragments are not joined. False: there is nothing. */
bool add_warnings(struct words *words, const struct census *census);

/* Sentences of wording.gen.h, piece by piece. */
void add_all(struct words *words, const char *first, ...) __attribute__((sentinel));
#define ADD(...) add_all(__VA_ARGS__, (const char *)NULL)

/* What is filled in. A moment: the time of an event before the look, and its age: 14:03:21 (12.0s); a day ago or
 * more with the day: Nov 19 14:03 (3d0h), 2025-11-19. */
const char *text_number(uint64_t number);
const char *text_age(uint64_t ns);
const char *text_moment(const struct bb_look *look, uint64_t ago_ns);

/* 1 node, 2 nodes. */
void add_plural(struct words *words, size_t count);

/* A text by `add`, add_span() or add_one_line(), cut to at most so many characters, of which the last is … then. */
void add_shortened(struct words *words, struct span text, size_t most, void (*add)(struct words *, struct span));

/* The first parts of a host list of these names, each cut to at most `longest` characters; returns whether there are
 * more. */
bool add_names(struct words *words, const char *const *names, size_t count, size_t parts, size_t longest);

#endif

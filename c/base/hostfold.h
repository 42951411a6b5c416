/* Folds names into host lists with exactly the same result as src/text/hostlists.ts: brackets on the last digits
 * of a name only, with nothing after them, because Slurm accepts nothing else. And the natural order in which names
 * are listed. Pure; allocates its results. */
#ifndef BB_HOSTFOLD_H
#define BB_HOSTFOLD_H
#include <stdbool.h>
#include <stddef.h>

/* Host lists that form one list when joined by commas. All zero: none. */
struct folded {
  char *texts;  /* the parts, each with its NUL */
  char **parts; /* one for each beginning of names, in the order of people: login1, node[001-128] */
  size_t count;
};

/* Names are taken as they are; doubles count once. Whether there was memory. */
bool hostlist_fold(struct folded *out, const char *const *names, size_t count);

void folded_free(struct folded *folded);

/* Orders names as people do: digits by their number, all else by its characters. */
int compare_names(const char *a, const char *b);

/* Brings names into that order; of those that are no different to people the first stays the first. Whether there was
 * memory. */
bool sort_names(const char **names, size_t count);

#endif

/* Converts a scheduler's names to the board's: in lower case, unless a file of exceptions has another name. */
#ifndef BB_NODENAMES_H
#define BB_NODENAMES_H
#include <stdbool.h>
#include <stddef.h>

#include "hostlist.h"

struct exception {
  const char *node, *board;
};

/* All zero: there are none. */
struct exceptions {
  char *texts;
  struct exception *all; /* sorted by NodeName, in the order of strcmp() */
  size_t count;
  double age; /* s: of a file that `beoboard scheduler` should have written again by now; 0: there is nothing to say */
};

/* Such a file begins with this line. */
#define NAMES_FOLLOWED "# beoboard slurm writes this file again and again\n"
#define NAMES_FRESH_S 60

/* From a text with `NodeName boardname` on each line, `#` comments and blank lines. NULL, or the error. */
const char *exceptions_parse(struct exceptions *out, const char *text, size_t length, const char *place);

/* The same from a file. */
const char *exceptions_read(struct exceptions *out, const char *path);

void exceptions_free(struct exceptions *exceptions);

/* The same the other way: board_name() of a name on the board is then the NodeName. Of several NodeNames the first, in
 * the order of strcmp(). Whether there was memory; to be freed before `of`. */
bool exceptions_invert(struct exceptions *out, const struct exceptions *of);

/* The name of a node on the board; `into` may be the given name. */
const char *board_name(const struct exceptions *exceptions, const char *node, char into[NAME_LENGTH + 1]);

/* Nodes by both names. All zero: none. */
struct nodes {
  struct hostlist list; /* NodeNames */
  const char **board;   /* the name of each on the board, in the same order */
  char *room;
  size_t odd; /* entries of a job's list that no board can have a node for: nothing is known about these */
  char odd_why[200]; /* what is wrong with the first */
};

/* Takes ownership of the list. Returns whether there was memory; if not, the list is still the caller's. The
 * exceptions must stay valid. */
bool nodes_map(struct nodes *out, const struct hostlist *list, const struct exceptions *exceptions);

/* The nodes of a job. Slurm accepts names that a board cannot have: if others can be read, those are counted as odd.
 * NULL, or why no entry can be read; `place` is the beginning of the error. */
const char *nodes_read(struct nodes *out, const char *list, const char *place, const struct exceptions *exceptions);

void nodes_free(struct nodes *nodes);

#endif

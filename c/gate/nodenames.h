/* Converts Slurm's names to the board's: a NodeName in lower case, unless a file of exceptions has another name. */
#ifndef BB_GATE_NODENAMES_H
#define BB_GATE_NODENAMES_H
#include <stdbool.h>
#include <stddef.h>

#include "../common/hostlist.h"

struct exception {
  const char *node, *board;
};

/* All zero: there are none. */
struct exceptions {
  char *texts;
  struct exception *all; /* sorted by NodeName, in the order of strcmp() */
  size_t count;
};

/* From a text with `NodeName boardname` on each line, `#` comments and blank lines. NULL, or the error. */
const char *exceptions_parse(struct exceptions *out, const char *text, size_t length, const char *place);

/* The same from a file. */
const char *exceptions_read(struct exceptions *out, const char *path);

void exceptions_free(struct exceptions *exceptions);

/* The name of a node on the board; `into` may be the given name. */
const char *board_name(const struct exceptions *exceptions, const char *node, char into[NAME_LENGTH + 1]);

/* Nodes by both names. All zero: none. */
struct nodes {
  struct hostlist list; /* NodeNames */
  const char **board;   /* the name of each on the board, in the same order */
  char *room;
};

/* Takes ownership of the list. Returns whether there was memory; if not, the list is still the caller's. The
 * exceptions must stay valid. */
bool nodes_map(struct nodes *out, const struct hostlist *list, const struct exceptions *exceptions);

void nodes_free(struct nodes *nodes);

#endif

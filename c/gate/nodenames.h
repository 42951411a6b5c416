/* From Slurm's names to the board's: a NodeName in lower case, unless a file of exceptions knows better. */
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
  struct exception *all; /* by their NodeNames, as strcmp() orders them */
  size_t count;
};

/* Of a text with `NodeName boardname` on each line, `#` comments and blank lines. NULL, or what is wrong with it. */
const char *exceptions_parse(struct exceptions *out, const char *text, size_t length, const char *place);

/* The same of a file. */
const char *exceptions_read(struct exceptions *out, const char *path);

void exceptions_free(struct exceptions *exceptions);

/* What the board calls a node; `into` may be what is given. */
const char *board_name(const struct exceptions *exceptions, const char *node, char into[NAME_LENGTH + 1]);

/* Nodes by both of their names. All zero: none. */
struct nodes {
  struct hostlist list; /* NodeNames */
  const char **board;   /* of each what the board calls it, in the same order */
  char *room;
};

/* Takes the list over. Whether there was memory; if not, the list is still the caller's. The exceptions have to stay. */
bool nodes_map(struct nodes *out, const struct hostlist *list, const struct exceptions *exceptions);

void nodes_free(struct nodes *nodes);

#endif

/* Expands host lists (node[001-128],login1) like src/text/hostlists.ts: the syntax that Slurm, pdsh and
 * ClusterShell share. Anything else is refused, with the column. Has no steps, sets or groups. Input from outside:
 * makes no name before the whole list is parsed, and does not recurse. */
#ifndef BB_HOSTLIST_H
#define BB_HOSTLIST_H
#include "naming.h"

#define MOST_NAMES 1000000 /* as many records as a board can have */

/* How names may be written: as nodes call themselves, in lower case, a letter or digit first; or as slurm.conf may have
 * them, in either case, with + : / % = ~ as well, and with any of these first. */
enum spelling { SPELLED_BY_NODES, SPELLED_BY_SLURM };

/* All zero: no names. */
struct hostlist {
  char *texts;  /* the names, each with its NUL */
  char **names; /* each once, in the order of their first appearance */
  size_t count;
};

/* Parses one list. NULL, or the error; `place` is the beginning of the error. The list need not end with a NUL. */
const char *hostlist_read(struct hostlist *out, const char *list, size_t length, enum spelling spelling, size_t most,
                          const char *place);

/* The same for a text with a list on each line, `#` comments and blank lines; it may contain no names at all. */
const char *hostlist_read_lines(struct hostlist *out, const char *text, size_t length, enum spelling spelling,
                                size_t most, const char *place);

void hostlist_free(struct hostlist *list);

/* Writes a number with leading zeros up to so many digits, without a NUL; returns the number of bytes. Without
 * printf(), because thousands are written by programs that run for a millisecond. */
size_t write_number(char *to, uint64_t number, unsigned width);

#endif

/* Expands host lists (node[001-128],login1) as src/common/hostlists.ts does: what Slurm, pdsh and ClusterShell agree on. All else is refused,
 * with the column. Knows no steps, sets or groups. Foreign bytes: makes no name before all of a list is read, and does not recurse. */
#ifndef BB_COMMON_HOSTLIST_H
#define BB_COMMON_HOSTLIST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_LENGTH 63     /* the name of a node on the board has 64 bytes with its NUL */
#define MOST_NAMES 1000000 /* as many records as a board can have */

/* How names may be written: as nodes call themselves, in lower case; or as Slurm may call them, in either. */
enum spelling { SPELLED_BY_NODES, SPELLED_BY_SLURM };

/* All zero: no names. */
struct hostlist {
  char *texts;  /* the names, each with its NUL */
  char **names; /* each once, in the order in which they came first */
  size_t count;
};

/* Takes one list. NULL, or what is wrong with it; `place` is what that begins with. The list need not end with a NUL. */
const char *hostlist_read(struct hostlist *out, const char *list, size_t length, enum spelling spelling, size_t most, const char *place);

/* The same of a text with a list on each line, `#` comments and blank lines; it may have no names at all. */
const char *hostlist_read_lines(struct hostlist *out, const char *text, size_t length, enum spelling spelling, size_t most, const char *place);

void hostlist_free(struct hostlist *list);

/* Writes a number with zeros before it up to so many digits, and no NUL behind it; gives how many bytes. Without printf(): thousands are written by
 * programs that live for a millisecond. */
size_t write_number(char *to, uint64_t number, unsigned width);

/* Letters of either case, digits and . _ -, a letter or digit first, 63 at most. */
bool is_name(const char *text, size_t length);

#endif

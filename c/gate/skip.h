/* Nodes in power saving, which may be silent: from the command line, or from a file that is written again and again. */
#ifndef BB_SKIP_H
#define BB_SKIP_H
#include "../base/nodenames.h"

#define MOST_SKIP_AGE 60.0 /* s */

/* Names on the board, in the order of strcmp(). */
struct skip {
  struct nodes nodes;
  /* Whether the file says which nodes are never in power saving, so that it adds no doubt about these when it is old;
   * then the nodes are those that have been in it. */
  bool limits_doubt;
};

/* From a text with a host list of NodeNames on each line, `#` comments and blank lines. NULL, or the error. */
const char *skip_parse(struct skip *out, const char *text, size_t length, const struct exceptions *exceptions,
                       const char *place);

/* What remains of a text that is old, by the comments that `beoboard scheduler` writes into it:
 *   # power saving: off
 *   # power saving: on
 *   # has been in it: LIST      (any number of these)
 * Without them, or if a list is invalid, nothing does. */
void skip_parse_old(struct skip *out, const char *text, size_t length, const struct exceptions *exceptions);

/* The value of --skip: a list, or @FILE. NULL, or why it is unknown which nodes are in power saving now. */
const char *skip_read(struct skip *out, const char *value, const struct exceptions *exceptions);

bool skip_has(const struct skip *skip, const char *board_name);

#endif

/* Nodes in power saving, which may be silent: from the command line, or from a file that is written again and again. */
#ifndef BB_GATE_SKIP_H
#define BB_GATE_SKIP_H
#include "nodenames.h"

#define MOST_SKIP_AGE 60.0 /* s */

/* Names on the board, in the order of strcmp(). */
struct skip {
  struct nodes nodes;
};

/* From a text with a host list of NodeNames on each line, `#` comments and blank lines. NULL, or the error. */
const char *skip_parse(struct skip *out, const char *text, size_t length, const struct exceptions *exceptions, const char *place);

/* The value of --skip: a list, or @FILE, which must not be old. */
const char *skip_read(struct skip *out, const char *value, const struct exceptions *exceptions);

bool skip_has(const struct skip *skip, const char *board_name);

#endif

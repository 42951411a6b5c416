/* The nodes in power saving, which may be silent: named on the command line, or in a file that is written again and again. */
#ifndef BB_GATE_SKIP_H
#define BB_GATE_SKIP_H
#include "nodenames.h"

#define MOST_SKIP_AGE 60.0 /* s */

/* By the names of the board, as strcmp() orders them. */
struct skip {
  struct nodes nodes;
};

/* Of a text with a host list of NodeNames on each line, `#` comments and blank lines. NULL, or what is wrong with it. */
const char *skip_parse(struct skip *out, const char *text, size_t length, const struct exceptions *exceptions, const char *place);

/* What --skip says: a list, or @FILE, which must not be old. */
const char *skip_read(struct skip *out, const char *value, const struct exceptions *exceptions);

bool skip_has(const struct skip *skip, const char *board_name);

#endif

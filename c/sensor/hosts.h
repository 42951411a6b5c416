/* The hosts of Grid Engine, and the name of each on the board: from `qconf -sel`, or a file like its output. */
#ifndef BB_HOSTS_H
#define BB_HOSTS_H
#include "../base/nodenames.h"

#define HOST_LENGTH 255
#define MOST_HOSTS 100000u

/* All zero: there are none. */
struct hosts {
  char *texts;
  const char **names;   /* as Grid Engine has them */
  const char **on_board; /* the same as the board has them; empty where no node can have that name */
  size_t count;
  size_t left_out; /* lines that are not the name of a host, or one too many */
  struct exceptions exceptions;
};

/* From a text with a host on each line, `#` comments and blank lines. Takes ownership of the exceptions. Whether there
 * was memory; if not, nothing is left of either. */
bool hosts_parse(struct hosts *out, struct span text, struct exceptions *exceptions);

/* From the file, or from `PROGRAM -sel`, which has five seconds to answer. NULL, or why there is no whole list. */
const char *hosts_read(struct hosts *out, const char *file, const char *program, struct exceptions *exceptions);

void hosts_free(struct hosts *hosts);

#endif

/* The command line. */
#ifndef BB_COMMANDLINE_H
#define BB_COMMANDLINE_H
#include "../base/optionline.h"
#include "round.h"

struct options {
  struct round_options round;
  const char *hosts; /* a file; NULL: the program is asked */
  const char *qconf;
  const char *names; /* NULL: no exceptions */
  bool checks;
};

/* For OPTIONS_BAD the reason is in `fault`. */
enum outcome read_options(int argc, char *argv[], struct options *options, struct words *fault);

extern const char help_text[];

#endif

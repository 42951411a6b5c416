/* The command line. */
#ifndef BB_COMMANDLINE_H
#define BB_COMMANDLINE_H
#include "../base/optionline.h"
#include "round.h"

struct options {
  struct manner manner;
  const char *hosts; /* a file; NULL: the program is asked */
  const char *qconf;
  const char *names;       /* NULL: no exceptions */
  uint64_t report_time_ms; /* 0: it is not known */
};

/* For OPTIONS_BAD the reason is in `fault`. */
enum outcome read_options(int argc, char *argv[], struct options *options, struct words *fault);

extern const char help_text[];

#endif

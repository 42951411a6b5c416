/* The command line. Refuses what it does not know, but never the caller's --fail, which is read whatever is wrong
 * with the rest. */
#ifndef BB_COMMANDLINE_H
#define BB_COMMANDLINE_H
#include "../base/jobrules.h"
#include "../base/optionline.h"

struct options {
  const char *nodes; /* NULL: SLURM_JOB_NODELIST */
  const char *skip;  /* NULL: nobody; @FILE or a list */
  const char *names; /* NULL: no exceptions */
  const char *board, *owner;
  const char *requests; /* the folder */
  int64_t wait_ms;
  bool fails_closed;
  bool health;
  uint32_t ignored; /* problems that do not matter, a bit each */
  struct portion brake;
};

/* `*why`: the error in an invalid line. */
enum outcome read_options(int argc, char *argv[], struct options *options, const char **why);

extern const char help_text[];

#endif

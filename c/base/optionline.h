/* Splits a command line like src/common/options/line.ts, by a table of options: --name VALUE, --name=VALUE, -n
 * VALUE, -nVALUE, flags. Its error messages are the same. Prints nothing. */
#ifndef BB_OPTIONLINE_H
#define BB_OPTIONLINE_H
#include <stdbool.h>
#include <stddef.h>

#include "outcome.h"

#define MOST_OPTIONS 24

struct option {
  const char *name; /* without its -- */
  char letter;      /* 0: none */
  const char *value; /* the word for the value in errors, "LIST"; NULL: a flag */
  /* Reads a value, or a flag's "true". NULL, or why it is invalid. */
  const char *(*read)(const char *text, void *into);
};

/* The options of a program. */
struct command {
  const char *program;
  const struct option *options;
  size_t count;
  const char *const *elsewhere; /* options that another program has, up to a NULL; may be NULL */
  const char *whose;            /* the name of that program: "beoboard nodes" */
};

/* Parses the whole line, and every option's value into `into`, in the order of the table. `*why`: the error. */
enum outcome options_read(const struct command *command, int argc, char *argv[], void *into, const char **why);

#endif

/* Takes a command line apart as src/common/options/line.ts does, by a table of options: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags. What it
 * says of what it cannot take is what that says. Prints nothing. */
#ifndef BB_COMMON_OPTIONLINE_H
#define BB_COMMON_OPTIONLINE_H
#include <stdbool.h>
#include <stddef.h>

#define MOST_OPTIONS 24

struct option {
  const char *name; /* without its -- */
  char letter;      /* 0: none */
  const char *value; /* what stands for it in errors, "LIST"; NULL: a flag */
  /* Reads a value, or a flag's "true". NULL, or why not. */
  const char *(*read)(const char *text, void *into);
};

/* What a program takes. */
struct command {
  const char *program;
  const struct option *options;
  size_t count;
  const char *const *elsewhere; /* options that another program has, up to a NULL; may be NULL */
  const char *whose;            /* what that is called: "beoboard nodes" */
};

enum outcome { OPTIONS_GOOD, OPTIONS_BAD, OPTIONS_HELP, OPTIONS_VERSION };

/* Reads all of it, and every option's value into `into`, in the order of the table. `*why`: what is wrong with a bad one. */
enum outcome options_read(const struct command *command, int argc, char *argv[], void *into, const char **why);

#endif

/* Reads command lines, and files of options, by one table, like src/options/line.ts: --name VALUE, --name=VALUE,
 * -n VALUE, -nVALUE, flags. Its error messages are the same. Prints nothing, and allocates nothing. */
#ifndef BB_OPTIONLINE_H
#define BB_OPTIONLINE_H
#include "toml.h"

#define MOST_OPTIONS 24

/* What a command line says. */
enum outcome { OPTIONS_GOOD, OPTIONS_BAD, OPTIONS_HELP, OPTIONS_VERSION };

struct option {
  const char *name;  /* without its -- */
  char letter;       /* 0: none */
  const char *value; /* the word for its value in errors, "LIST"; NULL: a flag, whose field is a bool */
  /* Reads a value, which ends with a NUL and stays. False with the reason in `why`. */
  bool (*read)(struct span text, void *field, struct words *why);
  size_t at;            /* the place of its field */
  unsigned most;        /* how often it may be given, if more than once */
  const char *fallback; /* NULL: none */
  /* Where the fallback has to be found first; NULL with the reason in `why`. */
  const char *(*find_fallback)(struct words *why);
};

/* The place of a field that is in what a program calls `struct options`. */
#define AT(field) .at = offsetof(struct options, field)

/* The options of a program. */
struct option_table {
  const struct option *options;
  size_t count;
  const char *const *elsewhere; /* options that another program has, up to a NULL; may be NULL */
  const char *whose;            /* the name of that program: "beoboard nodes" */
  /* Reads the file that --config names: toml_read() with options_accept(). NULL: there is no such option. */
  bool (*read_file)(const char *file, struct words *fault);
};
#define OPTIONS_OF(array) .options = array, .count = sizeof array / sizeof array[0]

/* Parses the whole line, and every option's value into its field of `into`, in the order of the table. For OPTIONS_BAD
 * the reason is in `fault`. */
enum outcome options_read(const struct option_table *table, int argc, char *const argv[], void *into,
                          struct words *fault);

/* Accepts a value of a file for options_read(); `table` is its table. */
toml_accept options_accept;

#endif

/* Reads the part of TOML that option files need: NAME = VALUE, with texts in quotes, whole decimal numbers, true, false
 * and arrays of texts, which may go over lines. Tables are for pretend files, [NAME] or [NAME."TEXT"]. Refuses
 * everything else, with its line. */
#ifndef BB_TOML_H
#define BB_TOML_H
#include "say.h"

#define TOML_ITEMS 64u
#define TOML_BYTES (64u << 10)

enum toml_kind { TOML_TEXT, TOML_NUMBER, TOML_TRUTH, TOML_ARRAY, TOML_TABLE /* begins here */ };

/* Texts end with a NUL; numbers are given as text too. */
struct toml_value {
  enum toml_kind kind;
  unsigned line; /* the line of its key */
  int64_t number;
  bool truth;
  unsigned count;                /* of texts */
  const char *texts[TOML_ITEMS]; /* one, except for arrays and tables */
};

/* Accepts one value, or the begin of a table; false with the reason in `why`, which is reported after file and line. */
typedef bool toml_accept(void *context, struct span key, const struct toml_value *value, struct words *why);

/* Memory for one file at a time; its texts live as long as it does. */
struct toml {
  char text[TOML_BYTES + 1];
};

/* Reads a file; false with one line in `fault`. */
bool toml_read(struct toml *toml, const char *file, toml_accept *accept, void *context, struct words *fault);

/* "cannot read FILE: WHY; name a file that this user can read" */
void add_cannot_read(struct words *words, const char *file, int error);

#endif

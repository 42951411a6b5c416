/* Reads as much of TOML as options and pretences are written in: keys, dotted ones too, under tables in brackets, with texts,
 * whole numbers, true, false and arrays of texts and numbers. Refuses everything else, with its line. */
#ifndef BB_SENDER_TOML_H
#define BB_SENDER_TOML_H
#include "say.h"

#define TOML_ITEMS 64u
#define TOML_DEPTH 4u
/* Of the file, and of the texts in it. */
#define TOML_BYTES (64u << 10)

enum toml_kind { TOML_TEXT, TOML_NUMBER, TOML_TRUTH, TOML_ARRAY, TOML_TABLE /* begins here */ };

/* Texts have a NUL behind them; numbers are given as text too, as somebody would write them. */
struct toml_value {
  enum toml_kind kind;
  unsigned line; /* at which its key stands */
  int64_t number;
  bool truth;
  unsigned count;                /* of texts */
  const char *texts[TOML_ITEMS]; /* one, but for arrays and tables */
};

/* Takes one value; false with the reason in `why`, which is told behind file and line. */
typedef bool toml_take(void *context, const char *const *path, unsigned depth, const struct toml_value *value,
                       struct words *why);

/* Memory for one file at a time; its texts live as long as it does. */
struct toml {
  _Alignas(4096) char text[TOML_BYTES];
  char store[2 * TOML_BYTES];
  size_t used; /* of the store */
};

/* Reads a file; false with one line in `fault`. */
bool toml_read(struct toml *toml, const char *file, toml_take *take, void *context, struct words *fault);

/* "cannot read FILE: WHY; name a file that this user can read" */
void add_cannot_read(struct words *words, const char *file, int error);

#endif

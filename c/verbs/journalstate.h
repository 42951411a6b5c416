/* What a running journal says of itself: the plain line in its file, as src/journalfile/state.ts writes it. Pure. */
#ifndef BB_JOURNALSTATE_H
#define BB_JOURNALSTATE_H
#include "../base/text.h"

/* Times in ms: `mono`, `next` of CLOCK_MONOTONIC, the others since 1970. The texts lie in that of the file. */
struct journal_state {
  struct span board, error; /* no error, with `at` NULL: all is well */
  uint64_t time, mono, next, error_since, dropped;
};

/* Reads the line, in whose place its texts are unescaped. False: there is none, as in the files of 1.0.0. */
bool journal_state_read(char *text, size_t length, struct journal_state *out);

#endif

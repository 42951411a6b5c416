/* Warns of the journals of a board that do not write, exactly as src/journalfile/state.ts does. */
#ifndef BB_JOURNALS_H
#define BB_JOURNALS_H
#include "census.h"

/* Adds what is wrong with them, by what they left in that folder, each behind a semicolon. False: there is nothing. */
bool add_journals(struct words *words, const struct census *census, const char *folder);

#endif

/* Texts for people: what a user wrote, quoted in one line; durations; the word that was most likely meant. Exactly
 * as in the other programs of this project. Pure. */
#ifndef BB_QUOTING_H
#define BB_QUOTING_H
#include "words.h"

/* Everything that a terminal would not show as one character of one line is written as \u{hex}. */
void add_one_line(struct words *words, struct span span);
/* What a user wrote, for a message: quoted, in one line, at most 60 characters of it. */
void add_quoted(struct words *words, struct span span);
/* The error, after that text; returns false, for the caller to return. */
bool refuse_text(struct words *why, struct span text, const char *what);
/* Milliseconds for people, in two units: 350ms, 4.2s, 3m12s, 5h02m, 12d3h. */
void add_duration(struct words *words, uint64_t ms);

/* The known word that was most likely meant: the same one in lower case, the only one with this beginning, else the
 * nearest, else the only one that it abbreviates; NULL if there is none. Known words are shorter than 32 bytes. */
const char *nearest_word(struct span word, const char *const *known, size_t count);

#endif

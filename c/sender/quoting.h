/* Words for people: what somebody wrote, quoted in one line; times; the word that was most likely meant. As the other programs of this project
 * say it, to the byte. Pure. */
#ifndef BB_SENDER_QUOTING_H
#define BB_SENDER_QUOTING_H
#include "words.h"

/* With everything that a terminal would not show as one character of one line written as \u{hex}. */
void add_one_line(struct words *words, struct span span);
/* What somebody wrote, to be repeated in a message: quoted, in one line, at most 60 characters of it. */
void add_quoted(struct words *words, struct span span);
/* What is wrong with it, behind that; false, for whoever has to say so, too. */
bool refuse_text(struct words *why, struct span text, const char *what);
/* Milliseconds for people, in two figures: 350ms, 4.2s, 3m12s, 5h02m, 12d3h. */
void add_duration(struct words *words, uint64_t ms);

/* The known word that was most likely meant: the same in lower case, the only one that begins so, else the nearest, else the only one that it
 * shortens; NULL when none is. Known words are shorter than 32 bytes. */
const char *nearest_word(struct span word, const char *const *known, size_t count);

#endif

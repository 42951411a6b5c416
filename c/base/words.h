/* Builds texts without stdio: paths, and messages. Pure. */
#ifndef BB_WORDS_H
#define BB_WORDS_H
#include "text.h"

/* In a buffer of their own; what does not fit is cut off. */
struct words {
  char *text;
  size_t room, len;
};

#define WORDS(array) ((struct words){(array), sizeof(array), 0})

void add_span(struct words *words, struct span span);
void add_text(struct words *words, const char *text);
void add_number(struct words *words, bb_wide number);
void add_based(struct words *words, bb_wide number, unsigned base);
/* The whole of it, with a NUL behind it. */
const char *text_of(struct words *words);

#endif

#include "words.h"

void add_span(struct words *words, struct span span) {
  const size_t room = words->room - 1 - words->len;
  const size_t taken = span.len < room ? span.len : room;
  if (taken > 0) memcpy(words->text + words->len, span.at, taken);
  words->len += taken;
}

void add_text(struct words *words, const char *text) { add_span(words, span_of(text)); }

void add_based(struct words *words, bb_wide number, unsigned base) {
  char digits[40];
  size_t at = sizeof digits;
  do digits[--at] = "0123456789abcdef"[(unsigned)(number % base)];
  while ((number /= base) > 0);
  add_span(words, (struct span){digits + at, sizeof digits - at});
}

void add_number(struct words *words, bb_wide number) { add_based(words, number, 10); }

const char *text_of(struct words *words) {
  words->text[words->len] = 0;
  return words->text;
}

#include "journalstate.h"

static bool next_number(struct span *left, uint64_t *number) {
  struct span word;
  return next_word(left, &word) && text_u64(word, number);
}

/* In texts, %XX is a byte that a word of the line cannot hold as it is. */
static bool next_text(char *file, struct span *left, struct span *text) {
  struct span word;
  if (!next_word(left, &word)) return false;
  char *const from = file + (word.at - file), *to = from;
  for (size_t i = 0; i < word.len; i++) {
    uint64_t byte = (unsigned char)word.at[i];
    if (byte == '%') {
      if (word.len - i < 3 || !text_hex((struct span){&word.at[i + 1], 2}, &byte)) return false;
      i += 2;
    }
    *to++ = (char)byte;
  }
  *text = (struct span){from, (size_t)(to - from)};
  return true;
}

bool journal_state_read(char *text, size_t length, struct journal_state *out) {
  *out = (struct journal_state){.error = {NULL, 0}};
  struct span line;
  if (!line_after((struct span){text, length}, SPAN("\"plain\":\""), &line)) return false;
  const char *end = find_char(line, '"');
  if (end == NULL) return false;
  line.len = (size_t)(end - line.at);
  if (!next_text(text, &line, &out->board) || !next_number(&line, &out->time) ||
      !next_number(&line, &out->mono) || !next_number(&line, &out->next))
    return false;
  return at_end(line) ||
    (next_number(&line, &out->error_since) && next_number(&line, &out->dropped) &&
     next_text(text, &line, &out->error));
}

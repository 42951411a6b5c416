#include "asking.h"

/* White space and quotes separate words, and have no other meaning. */
static bool is_between(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == '"' || c == '\'' || (unsigned char)c == 0xa0;
}

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The rest of a line's end after Lisp's reader. */
static bool is_line_end(struct span word, bool any_case) {
  eat(&word, SPAN("\\"));
  return word.len == 1 && (word.at[0] == 'n' || (any_case && word.at[0] == 'N'));
}

/* 0xHHHHHHHHS. Lisp's reader makes "Sn" of "S\n", and its printer puts that in quotes. */
static bool read_command(struct span word, struct command *command) {
  struct span left = word;
  if (eat(&left, SPAN("#"))) {
    command->kind = COMMAND_SCHEMA;
    return left.len == 0 || is_line_end(left, true);
  }
  command->kind = COMMAND_SAMPLE;
  command->mask = WHOLE;
  if (eat(&left, SPAN("0x")) || eat(&left, SPAN("0X"))) {
    unsigned digits = 0;
    uint32_t mask = 0;
    for (; left.len > 0 && hex_digit(left.at[0]) >= 0; left = without(left, 1)) {
      if (++digits > 8) return false;
      mask = mask << 4 | (uint32_t)hex_digit(left.at[0]);
    }
    if (digits == 0) return false;
    command->mask = mask;
    if (eat(&left, SPAN("s"))) return left.len == 0 || is_line_end(left, true);
  }
  return eat(&left, SPAN("S")) && (left.len == 0 || is_line_end(left, true));
}

static void understand(struct span word, struct command *command) {
  if (read_command(word, command)) return;
  command->kind = COMMAND_BAD;
  command->length = (unsigned)word.len;
  memcpy(command->word, word.at, word.len);
}

/* The word has ended. Returns whether it is a command, and not the end of a line whose command was already accepted. */
static bool end_word(struct asking *asking, struct command *command) {
  const struct span word = {asking->word, asking->length};
  if (word.len == 0) return false;
  const bool counts = !(asking->accepted && is_line_end(word, false));
  if (counts) understand(word, command);
  asking->accepted = false;
  asking->length = 0;
  return counts;
}

bool ask_last(struct asking *asking, struct command *command) { return end_word(asking, command); }

enum asked ask(struct asking *asking, struct span *left, struct command *command) {
  while (left->len > 0) {
    const char c = left->at[0];
    *left = without(*left, 1);
    if (is_between(c)) {
      if (end_word(asking, command)) return ASKED_COMMAND;
      continue;
    }
    if (asking->length == MOST_WORD) {
      end_word(asking, command);
      return ASKED_TOO_MUCH;
    }
    asking->word[asking->length++] = c;
  }
  /* Nothing more may come. */
  if (asking->length == 0) return ASKED_NOTHING;
  understand((struct span){asking->word, asking->length}, command);
  if (command->kind == COMMAND_BAD) return ASKED_NOTHING;
  const bool counts = end_word(asking, command);
  asking->accepted = true;
  return counts ? ASKED_COMMAND : ASKED_NOTHING;
}

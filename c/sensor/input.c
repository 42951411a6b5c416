#include "input.h"

#include <stdbool.h>

static void input_end_line(struct requests *input) {
  if (input->may_quit && input->column == SPAN("quit").len) input->is_over = true;
  else if (input->asked < MOST_ASKED) input->asked++;
  input->column = 0;
}

void input_parse(struct requests *input, struct span bytes) {
  static const char quit[] = "quit";
  for (size_t i = 0; i < bytes.len && !input->is_over; i++) {
    const char c = bytes.at[i];
    if (c == '\n') {
      input_end_line(input);
      continue;
    }
    const size_t column = input->column;
    input->may_quit = (column == 0 || input->may_quit) && column < sizeof quit - 1 && c == quit[column];
    if (column < sizeof quit) input->column++;
  }
}

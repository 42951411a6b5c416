#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "quoting.h"

const char *fault(const char *format, ...) {
  static char last[MOST_FAULT];
  char text[MOST_FAULT];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  memcpy(last, text, sizeof last);
  return last;
}

const char *quoted(const char *text, size_t length) {
  enum { MOST = 60, LONGEST_ESCAPE = 10 };
  static char places[4][MOST * LONGEST_ESCAPE + 8];
  static unsigned turn;
  char *place = places[turn++ % 4];
  struct words words = {place, sizeof places[0], 0};
  add_quoted(&words, (struct span){text, length});
  return text_of(&words);
}

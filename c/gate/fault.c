#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
  enum { MOST = 60, LONGEST_ESCAPE = 6 };
  static char places[4][MOST * LONGEST_ESCAPE + 8];
  static unsigned turn;
  char *place = places[turn++ % 4];
  size_t at = 0;
  place[at++] = '\'';
  for (size_t i = 0; i < length && i < (length > MOST ? MOST - 1 : MOST); i++) {
    const unsigned char c = (unsigned char)text[i];
    /* Bytes of other alphabets are told apart from characters: here nothing is known of UTF-8. */
    if (c >= 0x80) at += (size_t)snprintf(place + at, LONGEST_ESCAPE + 1, "\\x{%x}", c);
    else if (c < 0x20 || c == 0x7f) at += (size_t)snprintf(place + at, LONGEST_ESCAPE + 1, "\\u{%x}", c);
    else place[at++] = (char)c;
  }
  snprintf(place + at, 5, "%s'", length > MOST ? "\xe2\x80\xa6" : "");
  return place;
}

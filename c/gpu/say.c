#include "say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 1000

static bool wants_json(void) {
  const char *value = getenv("BEOBOARD_LOG");
  return value != NULL && strcmp(value, "json") == 0;
}

/* In one line, whatever the names of files and libraries contain. */
static size_t add_message(char *line, size_t at, const char *text, bool json) {
  for (; *text != 0; text++) {
    const unsigned char c = (unsigned char)*text;
    if (json && (c == '"' || c == '\\')) line[at++] = '\\';
    line[at++] = c < 0x20 || c == 0x7f ? '?' : *text;
  }
  return at;
}

void say(enum level level, const char *format, ...) {
  char text[MOST], line[2 * MOST + 200];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  const bool json = wants_json();
  int begun = snprintf(line, sizeof line, PROGRAM ": ");
  if (json) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    begun = snprintf(line, sizeof line, "{\"level\":%d,\"time\":%lld,\"pid\":%d,\"verb\":\"gpu\",\"msg\":\"", (int)level,
                     (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000, (int)getpid());
  }
  size_t length = add_message(line, (size_t)begun, text, json);
  if (json) {
    line[length++] = '"';
    line[length++] = '}';
  }
  line[length++] = '\n';
  /* A full pipe, or a terminal that was stopped. A pipe that can be written to takes a page. */
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  const ssize_t written = write(STDERR_FILENO, line, length);
  (void)written; /* nobody can be told any more */
}

const char *fault(const char *format, ...) {
  static char text[MOST];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

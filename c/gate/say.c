#include "say.h"

#include <poll.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#define PREFIX PROGRAM ": "

/* The line after our name, without line breaks whatever file paths contain; returns its length. */
static size_t compose(char *text, size_t size, const char *line) {
  size_t at = strlen(strcpy(text, PREFIX));
  for (; *line != 0 && at < size - 2; line++) text[at++] = (unsigned char)*line < 0x20 || *line == 0x7f ? '?' : *line;
  text[at] = 0;
  return at;
}

static void write_line(char *text, size_t length) {
  /* A full pipe: nobody reads it. A pipe that can be written to takes a page. */
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  text[length] = '\n';
  const ssize_t written = write(STDERR_FILENO, text, length + 1);
  text[length] = 0;
  (void)written; /* nobody can be told any more */
}

void say_on_stderr(const char *line) {
  char text[1500];
  write_line(text, compose(text, sizeof text, line));
}

void say(int priority, const char *line) {
  char text[1500];
  write_line(text, compose(text, sizeof text, line));
  openlog(PROGRAM, LOG_PID, LOG_DAEMON);
  syslog(priority, "%s", text + strlen(PREFIX));
}

#include "say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "wholefile.h"

static bool wants_json(void) {
  const char *value = getenv("BEOBOARD_LOG");
  return value != NULL && strcmp(value, "json") == 0;
}

/* Stops at a whole character where there is no room for more. */
static void say_json(struct words *line, struct span span) {
  while (span.len > 0 && line->room - line->len > sizeof "\\u0000") {
    uint32_t character;
    const size_t bytes = next_character(span, &character);
    if (character == '"' || character == '\\') add_text(line, "\\");
    if (character < 0x20) {
      add_text(line, character < 0x10 ? "\\u000" : "\\u001");
      add_based(line, character & 15, 16);
    } else {
      add_span(line, character == 0xfffd ? SPAN("\xef\xbf\xbd") : (struct span){span.at, bytes});
    }
    span = without(span, bytes);
  }
}

static void say_head(struct words *line, enum level level, bool json) {
  if (!json) {
    add_text(line, program);
    add_text(line, ": ");
    return;
  }
  add_text(line, "{\"level\":");
  add_number(line, level);
  add_text(line, ",\"time\":");
  add_number(line, (uint64_t)bb_clock_ms(CLOCK_REALTIME));
  add_text(line, ",\"pid\":");
  add_number(line, (uint64_t)getpid());
  add_text(line, ",\"verb\":\"");
  add_text(line, program + strlen("beoboard-"));
  add_text(line, "\",\"msg\":\"");
}

void say(enum level level, const char *first, ...) {
  static const char end[] = "\"}\n";
  char text[2048];
  struct words line = {text, sizeof text - sizeof end, 0}; /* there is always room for the end */
  const bool json = wants_json();
  say_head(&line, level, json);
  va_list rest;
  va_start(rest, first);
  for (const char *next = first; next != NULL; next = va_arg(rest, const char *)) {
    if (json) say_json(&line, span_of(next));
    else add_one_line(&line, span_of(next));
  }
  va_end(rest);
  line.room = sizeof text;
  add_text(&line, json ? end : "\n");
  /* A full pipe, or a terminal that was stopped: the line is dropped. A pipe that can be written to takes a page. */
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  const ssize_t written = write(STDERR_FILENO, line.text, line.len);
  (void)written; /* nobody can be told any more */
}

void tell_once(bool *told, bool works, const char *first, const char *second, const char *third) {
  if (!works && !*told) tell(first, second, third);
  *told = !works;
}

const char *error_name(int error) {
  static const struct {
    int error;
    const char *name;
  } names[] = {
    {ENOENT, "ENOENT"},   {EACCES, "EACCES"},   {EPERM, "EPERM"},         {EIO, "EIO"},       {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},   {ELOOP, "ELOOP"},     {EINVAL, "EINVAL"},       {ENODEV, "ENODEV"}, {ENXIO, "ENXIO"},
    {EAGAIN, "EAGAIN"},   {EBUSY, "EBUSY"},     {EOPNOTSUPP, "ENOTSUP"},  {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"},
    {ENOMEM, "ENOMEM"},   {ESTALE, "ESTALE"},   {ETIMEDOUT, "ETIMEDOUT"}, {ERANGE, "ERANGE"}, {ENODATA, "ENODATA"},
    {ENOTCONN, "ENOTCONN"}, {EREMOTEIO, "EREMOTEIO"}, {ENAMETOOLONG, "ENAMETOOLONG"}, {EINTR, "EINTR"},
    {ENOSPC, "ENOSPC"},   {EFBIG, "EFBIG"},   {EBADF, "EBADF"},           {EROFS, "EROFS"},   {ENOSYS, "ENOSYS"},
    {EAFNOSUPPORT, "EAFNOSUPPORT"}, {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].error == error) return names[i].name;
  return "an error without a name";
}

const char *why_unreadable(int error) {
  return error == ENOENT        ? "no such file or directory"
         : error == EACCES      ? "permission denied"
         : error == EISDIR      ? "it is a directory"
         : error == TOO_LARGE   ? "it is too large"
         : error == NOT_REGULAR ? "it is not a regular file"
                                : error_name(error);
}

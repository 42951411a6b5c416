#include "verboptions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/fault.h"
#include "telling.h"

#ifndef BEOBOARD_VERSION
#define BEOBOARD_VERSION "0.0.0"
#endif

/* More than a million of the longest names. */
#define MOST_BYTES ((size_t)80 << 20)

/* Reads all of a file into memory that grows with it, which the caller has to free. NULL, or the error. */
static const char *read_to_end(int fd, char **text, size_t *length) {
  size_t room = 0;
  for (*text = NULL, *length = 0;;) {
    if (room - *length < 1 << 16) {
      room = room == 0 ? 1 << 17 : room * 2;
      char *more = (char *)realloc(*text, room);
      if (more == NULL) return "not enough memory";
      *text = more;
    }
    const ssize_t got = read(fd, *text + *length, room - *length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EISDIR ? "it is a directory" : error_text(errno);
    if (got == 0) return NULL;
    *length += (size_t)got;
    if (*length > MOST_BYTES) return "it is too large";
  }
}

/* Whether it is a regular file; or a directory, which read() refuses. */
static bool is_file(int fd) {
  struct stat stats;
  return fstat(fd, &stats) == 0 && (S_ISREG(stats.st_mode) || S_ISDIR(stats.st_mode));
}

/* Waits for nobody, also if a FIFO or a device has taken the place of the file. */
static const char *read_file(const char *path, char **text, size_t *length) {
  *text = NULL;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const char *why = fd < 0 ? error_text(errno) : is_file(fd) ? read_to_end(fd, text, length) : "it is not a regular file";
  if (fd >= 0) close(fd);
  return why == NULL ? NULL : fault("cannot read %s: %s; name a file that this user can read", quoted(path, strlen(path)), why);
}

/* The path for an error message: in one line. */
static const char *place_of(const char *path) {
  struct words words = long_words();
  add_one_line(&words, span_of(path));
  return text_of(&words);
}

static const char *read_names(const char *path, struct hostlist *out) {
  static const char mark[] = {'\xef', '\xbb', '\xbf'}; /* a byte order mark, which some programs write at the beginning */
  char *text;
  size_t length = 0;
  if (path[0] == 0) return "'@' names no file; write @FILE or a list";
  const char *why = read_file(path, &text, &length);
  if (why == NULL) {
    const size_t skipped = length >= sizeof mark && memcmp(text, mark, sizeof mark) == 0 ? sizeof mark : 0;
    why = hostlist_read_lines(out, text + skipped, length - skipped, SPELLED_BY_NODES, MOST_NAMES, place_of(path));
  }
  free(text);
  if (why != NULL || out->count > 0) return why;
  return fault("%s holds no names; write a list on each line", quoted(path, strlen(path)));
}

bool read_nodes(struct span text, void *field, struct words *why) {
  struct asked *asked = (struct asked *)field;
  asked->has_names = true;
  const char *reason = text.len > 0 && text.at[0] == '@' ? read_names(text.at + 1, &asked->names)
                                                         : hostlist_read(&asked->names, text.at, text.len, SPELLED_BY_NODES, MOST_NAMES, "host list");
  if (reason != NULL) add_text(why, reason);
  return reason == NULL;
}

bool read_environment(struct asked *asked, struct words *why) {
  const char *owner = getenv("BEOBOARD_OWNER");
  /* In a shell, leaving a variable empty is the usual way to unset it. */
  if (asked->owner != NULL || owner == NULL || owner[0] == 0) return true;
  const size_t length = why->len;
  add_text(why, "BEOBOARD_OWNER: ");
  if (!value_user(span_of(owner), &asked->owner, why)) return false;
  why->len = length;
  return true;
}

void show_help(const char *text) { print(text, strlen(text)); }

void show_version(void) { print(BEOBOARD_VERSION "\n", sizeof BEOBOARD_VERSION); }

#include "verboptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"
#include "../base/wholefile.h"
#include "../beoboard.h"
#include "telling.h"

/* More than a million of the longest names. */
#define MOST_BYTES ((size_t)80 << 20)

static const char *names_why_not(int error, const struct stat *stats) {
  if (error == TOO_LARGE) return "it is too large";
  if (error != NOT_REGULAR) return error_text(error);
  return S_ISDIR(stats->st_mode) ? "it is a directory" : "it is not a regular file";
}

/* The text is the caller's to free. NULL, or the error. */
static const char *names_read_file(const char *path, char **text, size_t *length) {
  struct stat stats = {.st_mode = 0};
  int error;
  const int fd = open_regular(path, &stats, &error);
  const size_t room = fd < 0 ? 0 : room_of(&stats, MOST_BYTES);
  *text = fd < 0 ? NULL : (char *)malloc(room);
  if (fd >= 0) error = *text == NULL ? ENOMEM : read_whole(fd, FILE_IN_LINES, PAGE, *text, room, length);
  if (fd >= 0) close(fd);
  return error == 0 ? NULL
    : fault("cannot read %s: %s; name a file that this user can read", quoted(path, strlen(path)),
            names_why_not(error, &stats));
}

static const char *read_names(const char *path, enum spelling spelling, struct hostlist *out) {
  char *text;
  size_t length = 0;
  struct words place = long_words();
  add_one_line(&place, span_of(path));
  if (path[0] == 0) return "'@' names no file; write @FILE or a list";
  const char *why = names_read_file(path, &text, &length);
  if (why == NULL) {
    const size_t skipped = begins((struct span){text, length}, BYTE_ORDER_MARK) ? 3 : 0;
    why = hostlist_read_lines(out, text + skipped, length - skipped, spelling, MOST_NAMES, text_of(&place));
  }
  free(text);
  if (why != NULL || out->count > 0) return why;
  return fault("%s holds no names; write a list on each line", quoted(path, strlen(path)));
}

bool read_exceptions(struct span text, void *field, struct words *why) {
  struct node_query *query = (struct node_query *)field;
  const char *path;
  if (!value_file(text, &path, why)) return false;
  query->is_scheduler = true;
  const char *reason = exceptions_read(&query->exceptions, path);
  if (reason != NULL) add_text(why, reason);
  return reason == NULL;
}

/* NULL, or why not. */
static const char *find_on_board(struct node_query *query) {
  struct nodes nodes;
  query->on_board = (const char *const *)query->names.names;
  if (!query->is_scheduler) return NULL;
  if (!nodes_map(&nodes, &query->names, &query->exceptions)) return "out of memory";
  query->on_board = nodes.board;
  return NULL;
}

bool read_nodes(struct span text, void *field, struct words *why) {
  struct node_query *query = (struct node_query *)field;
  const enum spelling spelling = query->is_scheduler ? SPELLED_BY_SLURM : SPELLED_BY_NODES;
  query->has_names = true;
  const char *reason = text.len > 0 && text.at[0] == '@' ? read_names(text.at + 1, spelling, &query->names)
                                                         : hostlist_read(&query->names, text.at, text.len,
                                                           spelling, MOST_NAMES, "host list");
  if (reason == NULL) reason = find_on_board(query);
  if (reason != NULL) add_text(why, reason);
  return reason == NULL;
}

/* The settings of the environment, unless the command line has them. */
static bool read_environment(struct node_query *query, struct words *why) {
  const char *owner = getenv("BEOBOARD_OWNER");
  /* In a shell, leaving a variable empty is the usual way to unset it. */
  if (query->owner != NULL || owner == NULL || owner[0] == 0) return true;
  const size_t length = why->len;
  add_text(why, "BEOBOARD_OWNER: ");
  if (!value_user(span_of(owner), &query->owner, why)) return false;
  why->len = length;
  return true;
}

bool read_command_line(const struct option_table *table, const char *help, int argc, char *argv[], void *options,
                       struct node_query *query, struct words *why) {
  const enum outcome outcome = options_read(table, argc, argv, options, why);
  prepare(query->board == NULL ? BEOBOARD_PATH : query->board);
  if (outcome == OPTIONS_GOOD) return read_environment(query, why);
  if (outcome == OPTIONS_BAD) return false;
  print(span_of(outcome == OPTIONS_HELP ? help : version_text));
  exit(DONE);
}

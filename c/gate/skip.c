#include "skip.h"

#include <stdlib.h>
#include <string.h>

#include "../base/fault.h"
#include "../base/smallfile.h"

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static const char *skip_set(struct skip *out, struct hostlist *list, const struct exceptions *exceptions) {
  if (!nodes_map(&out->nodes, list, exceptions)) {
    hostlist_free(list);
    return "out of memory";
  }
  qsort(out->nodes.board, out->nodes.list.count, sizeof *out->nodes.board, by_text);
  return NULL;
}

const char *skip_parse(struct skip *out, const char *text, size_t length, const struct exceptions *exceptions,
                       const char *place) {
  struct hostlist list;
  const char *why = hostlist_read_lines(&list, text, length, SPELLED_BY_SLURM, MOST_NAMES, place);
  return why != NULL ? why : skip_set(out, &list, exceptions);
}

static bool is_line(const char *line, size_t length, const char *text) {
  return length == strlen(text) && memcmp(line, text, length) == 0;
}

void skip_parse_old(struct skip *out, const char *text, size_t length, const struct exceptions *exceptions) {
  static const char beginning[] = "# has been in it: ";
  const size_t skipped = sizeof beginning - 1;
  const char *const whole = text + length;
  char *lists = (char *)malloc(length + 1), *to = lists;
  bool is_told = false;
  if (lists == NULL) return;
  for (const char *line = text, *end; line < whole; line = end + 1) {
    end = (const char *)memchr(line, '\n', (size_t)(whole - line));
    if (end == NULL) end = whole;
    const size_t bytes = (size_t)(end - line);
    if (is_line(line, bytes, "# power saving: off") || is_line(line, bytes, "# power saving: on")) is_told = true;
    if (bytes < skipped || memcmp(line, beginning, skipped) != 0) continue;
    memcpy(to, line + skipped, bytes - skipped);
    to += bytes - skipped;
    *to++ = '\n'; /* there is room: what was left out is longer */
  }
  if (is_told && skip_parse(out, lists, (size_t)(to - lists), exceptions, "") == NULL) out->limits_doubt = true;
  free(lists);
}

static const char *skip_read_file(struct skip *out, const char *path, const struct exceptions *exceptions) {
  char *text;
  size_t length;
  double age;
  const char *why = smallfile_read(path, &text, &length, &age);
  if (why != NULL) return why;
  /* A file with a time in the future was written before the clock was set: nobody knows how old it is. */
  if (age > MOST_SKIP_AGE || age < -MOST_SKIP_AGE) {
    skip_parse_old(out, text, length, exceptions);
    why = fault("%s was written %.0f s %s: at most %.0f s are trusted", quoted(path, strlen(path)),
                age < 0 ? -age : age,
                age < 0 ? "in the future" : "ago", MOST_SKIP_AGE);
  } else {
    why = skip_parse(out, text, length, exceptions, path);
  }
  free(text);
  return why;
}

const char *skip_read(struct skip *out, const char *value, const struct exceptions *exceptions) {
  struct hostlist list;
  *out = (struct skip){0};
  if (value[0] == '@') return skip_read_file(out, value + 1, exceptions);
  const char *why = hostlist_read(&list, value, strlen(value), SPELLED_BY_SLURM, MOST_NAMES, "--skip");
  return why != NULL ? why : skip_set(out, &list, exceptions);
}

bool skip_has(const struct skip *skip, const char *board_name) {
  return skip->nodes.list.count > 0 &&
         bsearch(&board_name, skip->nodes.board, skip->nodes.list.count, sizeof board_name, by_text) != NULL;
}

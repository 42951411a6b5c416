#include "nodenames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "smallfile.h"

static const char blanks[] = " \t\v\f\r";

/* The next word of a line, or none. */
static size_t exceptions_word(char **at) {
  *at += strspn(*at, blanks);
  return strcspn(*at, blanks);
}

static char in_lower_case(char c) { return is_upper(c) ? (char)(c - 'A' + 'a') : c; }

/* Parses one line, in place. NULL, or the error. */
static const char *exceptions_read_line(char *line, struct exceptions *out) {
  line[strcspn(line, "#")] = 0;
  char *node = line, *board, *rest;
  const size_t node_length = exceptions_word(&node);
  if (node_length == 0) return NULL;
  board = node + node_length;
  const size_t board_length = exceptions_word(&board);
  rest = board + board_length;
  if (board_length == 0 || exceptions_word(&rest) != 0)
    return "two names are wanted; write a NodeName, a blank, and what the board calls it";
  const bool is_second = is_slurm_name((struct span){node, node_length});
  if (!is_second || !is_node_name((struct span){board, board_length}, true)) {
    return fault("%s is not a name; write letters, digits and . _ -, at most %d of them",
                 quoted(is_second ? board : node, is_second ? board_length : node_length), NAME_LENGTH);
  }
  node[node_length] = board[board_length] = 0;
  for (char *c = board; *c != 0; c++) *c = in_lower_case(*c);
  out->all[out->count++] = (struct exception){node, board};
  return NULL;
}

static int by_node(const void *a, const void *b) {
  return strcmp(((const struct exception *)a)->node, ((const struct exception *)b)->node);
}

static int by_both(const void *a, const void *b) {
  const int order = by_node(a, b);
  return order != 0 ? order : strcmp(((const struct exception *)a)->board, ((const struct exception *)b)->board);
}

static const char *exceptions_read_all(struct exceptions *out, size_t length, const char *place) {
  char *line = out->texts;
  if (begins((struct span){line, length}, BYTE_ORDER_MARK)) line += 3;
  for (unsigned number = 1; line < out->texts + length; number++) {
    char *end = (char *)memchr(line, '\n', (size_t)(out->texts + length - line));
    if (end == NULL) end = out->texts + length; /* a NUL is there */
    *end = 0;
    const char *why = strlen(line) == (size_t)(end - line) ? exceptions_read_line(line, out)
      : "a byte of zero; it is not text";
    if (why != NULL) return fault("%s:%u: %s", place, number, why);
    line = end + 1;
  }
  qsort(out->all, out->count, sizeof *out->all, by_node);
  for (size_t i = 1; i < out->count; i++)
    if (strcmp(out->all[i - 1].node, out->all[i].node) == 0 && strcmp(out->all[i - 1].board, out->all[i].board) != 0)
      return fault("%s: %s is there twice, as %s and %s; remove one", place, out->all[i].node, out->all[i - 1].board,
                   out->all[i].board);
  return NULL;
}

const char *exceptions_parse(struct exceptions *out, const char *text, size_t length, const char *place) {
  size_t lines = 1;
  for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
  struct exception *all = (struct exception *)malloc(lines * sizeof *all);
  *out = (struct exceptions){.texts = (char *)malloc(length + 1), .all = all};
  if (out->texts == NULL || out->all == NULL) {
    exceptions_free(out);
    return "out of memory";
  }
  memcpy(out->texts, text, length);
  out->texts[length] = 0;
  const char *why = exceptions_read_all(out, length, place);
  if (why != NULL) exceptions_free(out);
  return why;
}

const char *exceptions_read(struct exceptions *out, const char *path) {
  char *text;
  size_t length;
  double age;
  const char *why = smallfile_read(path, &text, &length, &age);
  if (why != NULL) return why;
  why = exceptions_parse(out, text, length, path);
  if (age > NAMES_FRESH_S && length >= strlen(NAMES_FOLLOWED) &&
      memcmp(text, NAMES_FOLLOWED, strlen(NAMES_FOLLOWED)) == 0)
    out->age = age;
  free(text);
  return why;
}

void exceptions_free(struct exceptions *exceptions) {
  free(exceptions->texts);
  free(exceptions->all);
  *exceptions = (struct exceptions){0};
}

bool exceptions_invert(struct exceptions *out, const struct exceptions *of) {
  *out = (struct exceptions){.all = (struct exception *)malloc((of->count + 1) * sizeof *out->all)};
  if (out->all == NULL) return false;
  for (size_t i = 0; i < of->count; i++) out->all[i] = (struct exception){of->all[i].board, of->all[i].node};
  qsort(out->all, of->count, sizeof *out->all, by_both);
  for (size_t i = 0; i < of->count; i++)
    if (out->count == 0 || by_node(&out->all[out->count - 1], &out->all[i]) != 0) out->all[out->count++] = out->all[i];
  return true;
}

const char *board_name(const struct exceptions *exceptions, const char *node, char into[NAME_LENGTH + 1]) {
  const struct exception wanted = {node, NULL},
                         *found = exceptions->count == 0
                                    ? NULL
                                    : (const struct exception *)bsearch(&wanted, exceptions->all, exceptions->count,
                                      sizeof wanted, by_node);
  if (found != NULL) return found->board;
  size_t i = 0;
  for (; node[i] != 0 && i < NAME_LENGTH; i++) into[i] = in_lower_case(node[i]);
  into[i] = 0;
  return into;
}

bool nodes_map(struct nodes *out, const struct hostlist *list, const struct exceptions *exceptions) {
  *out = (struct nodes){.board = (const char **)malloc((list->count + 1) * sizeof *out->board),
                        .room = (char *)malloc((list->count + 1) * (NAME_LENGTH + 1))};
  if (out->board == NULL || out->room == NULL) {
    nodes_free(out);
    return false;
  }
  out->list = *list;
  for (size_t i = 0; i < list->count; i++)
    out->board[i] = board_name(exceptions, list->names[i], out->room + i * (NAME_LENGTH + 1));
  return true;
}

/* The length of an entry: up to the next comma outside brackets. */
static size_t entry_length(const char *list) {
  size_t length = 0;
  for (bool is_within = false; list[length] != 0 && (is_within || list[length] != ','); length++)
    is_within = list[length] == '[' || (is_within && list[length] != ']');
  return length;
}

/* Leaves only the entries that can be read, in place, and returns how many it left out. */
static size_t keep_readable(char *list, const char *place) {
  size_t odd = 0, left = MOST_NAMES;
  char *to = list;
  for (char *at = list;;) {
    const size_t length = entry_length(at);
    const bool is_last = at[length] == 0;
    struct hostlist one;
    if (hostlist_read(&one, at, length, SPELLED_BY_SLURM, left, place) == NULL) {
      left -= one.count;
      if (to > list) *to++ = ',';
      memmove(to, at, length);
      to += length;
      hostlist_free(&one);
    } else {
      odd++;
    }
    if (is_last) break;
    at += length + 1;
  }
  *to = 0;
  return odd;
}

const char *nodes_read(struct nodes *out, const char *list, const char *place, const struct exceptions *exceptions) {
  struct hostlist names;
  size_t odd = 0;
  char odd_why[sizeof out->odd_why] = "";
  const char *why = hostlist_read(&names, list, strlen(list), SPELLED_BY_SLURM, MOST_NAMES, place);
  if (why != NULL) {
    char *rest = strdup(list);
    if (rest == NULL) return "out of memory";
    snprintf(odd_why, sizeof odd_why, "%s", why);
    odd = keep_readable(rest, place);
    /* Without any other entry the whole list's error is the answer. */
    why = hostlist_read(&names, rest, strlen(rest), SPELLED_BY_SLURM, MOST_NAMES, place);
    if (why != NULL && rest[0] == 0) why = fault("%s", odd_why);
    free(rest);
    if (why != NULL) return why;
  }
  if (!nodes_map(out, &names, exceptions)) {
    hostlist_free(&names);
    return "out of memory";
  }
  out->odd = odd;
  memcpy(out->odd_why, odd_why, sizeof odd_why);
  return NULL;
}

void nodes_free(struct nodes *nodes) {
  hostlist_free(&nodes->list);
  free(nodes->board);
  free(nodes->room);
  *nodes = (struct nodes){0};
}

#include "toml.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "wholefile.h"

/* Where we are in the text, behind which there is a NUL. */
struct toml_place {
  char *at, *end, *line_begins;
  unsigned line;
  struct words *why;
};

static bool wrong(struct toml_place *place, const char *what) {
  add_text(place->why, "not TOML at column ");
  add_number(place->why, (size_t)(place->at - place->line_begins) + 1);
  add_text(place->why, ": ");
  add_text(place->why, what);
  add_text(place->why, "; write NAME = VALUE, texts in quotes");
  return false;
}

static bool is_control(char c) { return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f; }

static bool is_quote(char c) { return c == '"' || c == '\''; }

static bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

static void skip_blanks(struct toml_place *place) {
  while (*place->at == ' ' || *place->at == '\t') place->at++;
}

/* Skips blanks and a comment to the end of the line, or of the text. */
static bool end_line(struct toml_place *place) {
  skip_blanks(place);
  if (*place->at == '#')
    while (!is_control(*place->at)) place->at++;
  if (place->at[0] == '\r' && place->at[1] == '\n') place->at++;
  if (place->at == place->end) return true;
  if (*place->at != '\n')
    return wrong(place, is_control(*place->at) ? "a control character" : "something stands behind the value");
  place->line_begins = ++place->at;
  place->line++;
  return true;
}

/* A text in quotes, which gets its NUL where it stands. */
static bool parse_text(struct toml_place *place, const char **text) {
  const char quote = *place->at;
  if (place->at[1] == quote && place->at[2] == quote)
    return wrong(place, "texts over several lines are not taken here");
  char *to = ++place->at;
  *text = to;
  while (*place->at != quote) {
    if (quote == '"' && *place->at == '\\') {
      place->at++;
      if (*place->at != '"' && *place->at != '\\')
        return wrong(place, "of escapes, only \\\" and \\\\ are taken here");
    }
    if (place->at == place->end || *place->at == '\n') return wrong(place, "the text has no closing quote");
    if (is_control(*place->at)) return wrong(place, "a control character");
    *to++ = *place->at++;
  }
  *to = 0;
  place->at++;
  return true;
}

static struct span parse_bare(struct toml_place *place) {
  const char *begin = place->at;
  while (is_bare(*place->at)) place->at++;
  return (struct span){begin, (size_t)(place->at - begin)};
}

static bool parse_key(struct toml_place *place, struct span *key) {
  const char *text;
  if (is_quote(*place->at)) {
    if (!parse_text(place, &text)) return false;
    *key = span_of(text);
  } else {
    *key = parse_bare(place);
    if (key->len == 0) return wrong(place, "a key is missing");
  }
  skip_blanks(place);
  if (*place->at == '.') return wrong(place, "keys with dots are not taken here");
  if (*place->at != '=') return wrong(place, "there is no = after the key");
  place->at++;
  return true;
}

/* `NAME]` or `NAME."TEXT"]` */
static bool parse_table(struct toml_place *place, struct span *name, struct toml_value *value) {
  value->kind = TOML_TABLE;
  *name = parse_bare(place);
  if (place->at[0] == '.' && is_quote(place->at[1])) {
    place->at++;
    if (!parse_text(place, &value->texts[value->count++])) return false;
  }
  if (name->len == 0 || *place->at != ']') return wrong(place, "only [NAME] and [NAME.\"TEXT\"] are taken here");
  place->at++;
  return true;
}

/* As the other sender writes it: without a plus, zeros in front, or underscores. */
static bool parse_number(struct toml_place *place, struct toml_value *value) {
  const char *digits = place->at + (*place->at == '-');
  char *behind;
  value->kind = TOML_NUMBER;
  value->texts[0] = place->at;
  errno = 0;
  value->number = strtoll(place->at, &behind, 10);
  if (errno != 0) return wrong(place, "a number beyond 64 bits");
  const bool has_zero = *digits == '0' && behind != place->at + 1;
  if (*place->at == '+' || !is_digit(*digits) || has_zero || is_bare(*behind) || *behind == '.' || *behind == ':')
    return wrong(place, "only whole decimal numbers are taken here");
  place->at = behind;
  return true;
}

static bool parse_word(struct toml_place *place, struct span word) {
  if (strncmp(place->at, word.at, word.len) != 0 || is_bare(place->at[word.len])) return false;
  place->at += word.len;
  return true;
}

/* Blanks, comments and line ends within an array. */
static bool skip_lines(struct toml_place *place) {
  for (;;) {
    skip_blanks(place);
    const char c = *place->at;
    if (c != '#' && c != '\n' && c != '\r') return true;
    if (!end_line(place)) return false;
  }
}

static bool parse_array(struct toml_place *place, struct toml_value *value) {
  value->kind = TOML_ARRAY;
  value->count = 0;
  for (;;) {
    place->at++;
    if (!skip_lines(place)) return false;
    if (*place->at == ']') break;
    if (!is_quote(*place->at)) return wrong(place, "only texts in quotes are taken in an array");
    if (value->count == TOML_ITEMS) return wrong(place, "so long an array is not taken here");
    if (!parse_text(place, &value->texts[value->count++]) || !skip_lines(place)) return false;
    if (*place->at == ']') break;
    if (*place->at != ',') return wrong(place, "an array has no closing bracket");
  }
  place->at++;
  return true;
}

static bool parse_value(struct toml_place *place, struct toml_value *value) {
  skip_blanks(place);
  const char c = *place->at;
  value->count = 1;
  value->kind = TOML_TEXT;
  if (is_quote(c)) return parse_text(place, &value->texts[0]);
  if (c == '[') return parse_array(place, value);
  if (is_digit(c) || c == '-' || c == '+') return parse_number(place, value);
  value->kind = TOML_TRUTH;
  value->texts[0] = "true";
  if (parse_word(place, SPAN("true"))) return value->truth = true;
  if (parse_word(place, SPAN("false"))) return true;
  return wrong(place, c == '{' ? "tables in braces are not taken here" : "a value is missing");
}

static bool parse_line(struct toml_place *place, toml_accept *accept, void *context) {
  skip_blanks(place);
  const char c = *place->at;
  if (place->at == place->end || c == '#' || c == '\n' || c == '\r') return end_line(place);
  struct toml_value value = {.line = place->line};
  struct span key;
  if (c == '[') {
    place->at++;
    if (!parse_table(place, &key, &value)) return false;
  } else if (!parse_key(place, &key) || !parse_value(place, &value)) {
    return false;
  }
  char *behind = place->at;
  if (!end_line(place)) return false;
  if (value.kind == TOML_NUMBER) *behind = 0;
  const unsigned next = place->line;
  place->line = value.line; /* a fault is told with the line of the key, however long its array is */
  if (!accept(context, key, &value, place->why)) return false;
  place->line = next;
  return true;
}

void add_cannot_read(struct words *words, const char *file, int error) {
  add_text(words, "cannot read ");
  add_quoted(words, span_of(file));
  add_text(words, ": ");
  add_text(words, why_unreadable(error));
  add_text(words, "; name a file that this user can read");
}

bool toml_read(struct toml *toml, const char *file, toml_accept *accept, void *context, struct words *fault) {
  size_t length = 0;
  struct stat stats;
  int error = 0;
  const int fd = open_regular(file, &stats, &error);
  if (fd != -1) {
    error = read_whole(fd, FILE_IN_LINES, PAGE, toml->text, TOML_BYTES, &length);
    close(fd);
  } else if (error == NOT_REGULAR && S_ISDIR(stats.st_mode)) {
    error = EISDIR;
  }
  if (error != 0) {
    add_cannot_read(fault, file, error);
    return false;
  }
  toml->text[length] = 0;
  char reason[768];
  struct words why = WORDS(reason);
  struct toml_place place = {toml->text, toml->text + length, toml->text, 1, &why};
  if (begins((struct span){toml->text, length}, BYTE_ORDER_MARK)) place.at += 3;
  while (place.at < place.end) {
    if (parse_line(&place, accept, context)) continue;
    add_one_line(fault, span_of(file));
    add_text(fault, ":");
    add_number(fault, place.line);
    add_text(fault, ": ");
    add_span(fault, (struct span){reason, why.len});
    return false;
  }
  return true;
}

#include "toml.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernelfile.h"

/* Where we are in the text. */
struct place {
  struct toml *toml;
  struct span left;
  unsigned line;
  const char *line_begins;
  struct words *why;
};

static bool wrong(struct place *place, const char *what) {
  add_text(place->why, "not TOML at column ");
  add_number(place->why, (size_t)(place->left.at - place->line_begins) + 1);
  add_text(place->why, ": ");
  add_text(place->why, what);
  add_text(place->why, "; write NAME = VALUE, texts in quotes");
  return false;
}

static bool is_control(char c) { return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f; }

static char look(const struct place *place) { return place->left.len > 0 ? place->left.at[0] : 0; }

static void step(struct place *place, size_t bytes) { place->left = without(place->left, bytes); }

static void skip_blanks(struct place *place) {
  while (look(place) == ' ' || look(place) == '\t') step(place, 1);
}

/* Skips blanks and a comment to the end of the line, or of the text. */
static bool end_line(struct place *place) {
  skip_blanks(place);
  if (look(place) == '#')
    while (place->left.len > 0 && !is_control(look(place))) step(place, 1);
  if (look(place) == '\r' && place->left.len > 1 && place->left.at[1] == '\n') step(place, 1);
  if (place->left.len == 0) return true;
  if (look(place) != '\n') return wrong(place, is_control(look(place)) ? "a control character" : "something stands behind the value");
  step(place, 1);
  place->line++;
  place->line_begins = place->left.at;
  return true;
}

static bool keep_byte(struct place *place, char byte) {
  if (place->toml->used >= sizeof place->toml->store) return wrong(place, "the texts are too long");
  place->toml->store[place->toml->used++] = byte;
  return true;
}

static bool keep_character(struct place *place, uint32_t c) {
  if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return wrong(place, "no such character");
  if (c < 0x80) return keep_byte(place, (char)c);
  if (c < 0x800) return keep_byte(place, (char)(0xc0 | c >> 6)) && keep_byte(place, (char)(0x80 | (c & 0x3f)));
  if (c < 0x10000)
    return keep_byte(place, (char)(0xe0 | c >> 12)) && keep_byte(place, (char)(0x80 | (c >> 6 & 0x3f))) &&
           keep_byte(place, (char)(0x80 | (c & 0x3f)));
  return keep_byte(place, (char)(0xf0 | c >> 18)) && keep_byte(place, (char)(0x80 | (c >> 12 & 0x3f))) &&
         keep_byte(place, (char)(0x80 | (c >> 6 & 0x3f))) && keep_byte(place, (char)(0x80 | (c & 0x3f)));
}

static bool take_escape(struct place *place) {
  static const char letters[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
  const char letter = look(place);
  const char *known = letter == 0 ? NULL : strchr(letters, letter);
  if (known != NULL) {
    step(place, 1);
    return keep_byte(place, bytes[known - letters]);
  }
  if (letter != 'u' && letter != 'U') return wrong(place, "no such escape");
  step(place, 1);
  uint32_t value = 0;
  for (unsigned i = letter == 'u' ? 4 : 8; i > 0; i--) {
    const char c = look(place);
    const unsigned digit = is_digit(c) ? (unsigned)(c - '0') : ((unsigned)(unsigned char)c | 0x20u) - 'a' + 10u;
    if (digit > 15 || (!is_digit(c) && digit < 10)) return wrong(place, "no such escape");
    value = value << 4 | digit;
    step(place, 1);
  }
  return keep_character(place, value);
}

static bool take_quoted(struct place *place, const char **text) {
  const char quote = look(place);
  const char three[] = {quote, quote, quote};
  if (begins(place->left, (struct span){three, 3})) return wrong(place, "texts over several lines are not taken here");
  *text = place->toml->store + place->toml->used;
  step(place, 1);
  for (;;) {
    const char c = look(place);
    if (place->left.len == 0 || c == '\n') return wrong(place, "the text has no closing quote");
    if (is_control(c)) return wrong(place, "a control character");
    step(place, 1);
    if (c == quote) return keep_byte(place, 0);
    if (c == '\\' && quote == '"' ? !take_escape(place) : !keep_byte(place, c)) return false;
  }
}

static bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

/* A dotted key, after `depth` parts that exist already. */
static bool take_key(struct place *place, const char **path, unsigned *depth) {
  for (;;) {
    skip_blanks(place);
    if (*depth == TOML_DEPTH) return wrong(place, "tables are not as deep as this here");
    const char c = look(place);
    if (c == '"' || c == '\'') {
      if (!take_quoted(place, &path[*depth])) return false;
    } else {
      path[*depth] = place->toml->store + place->toml->used;
      if (!is_bare(c)) return wrong(place, "a key is missing");
      for (; is_bare(look(place)); step(place, 1))
        if (!keep_byte(place, look(place))) return false;
      if (!keep_byte(place, 0)) return false;
    }
    ++*depth;
    skip_blanks(place);
    if (look(place) != '.') return true;
    step(place, 1);
  }
}

static bool take_number(struct place *place, int64_t *number, const char **text) {
  *text = place->toml->store + place->toml->used;
  const bool negative = look(place) == '-';
  if (negative && !keep_byte(place, '-')) return false;
  if (negative || look(place) == '+') step(place, 1);
  const bool zero = look(place) == '0';
  uint64_t value = 0;
  unsigned digits = 0;
  for (char c; is_digit(c = look(place)) || (c == '_' && digits > 0); step(place, 1)) {
    if (c == '_') {
      if (place->left.len < 2 || !is_digit(place->left.at[1])) return wrong(place, "no number");
      continue;
    }
    digits++;
    if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (unsigned)(c - '0'), &value) ||
        value > (uint64_t)INT64_MAX + negative)
      return wrong(place, "a number beyond 64 bits");
    if (!keep_byte(place, c)) return false;
  }
  const char c = look(place);
  if (digits == 0 || (zero && digits > 1) || is_bare(c) || c == '.' || c == ':')
    return wrong(place, "only whole decimal numbers are taken here");
  if (negative && value == 0) ++*text; /* -0 is 0, as the other sender writes it */
  *number = negative ? (int64_t)(0 - value) : (int64_t)value;
  return keep_byte(place, 0);
}

static bool take_word(struct place *place, struct span word) {
  if (!begins(place->left, word) || (place->left.len > word.len && is_bare(place->left.at[word.len]))) return false;
  step(place, word.len);
  return true;
}

/* Blanks, comments and line ends within an array. */
static bool skip_lines(struct place *place) {
  for (;;) {
    skip_blanks(place);
    const char c = look(place);
    if (c != '#' && c != '\n' && c != '\r') return true;
    if (!end_line(place)) return false;
    if (place->left.len == 0) return true;
  }
}

static bool take_array(struct place *place, struct toml_value *value) {
  step(place, 1);
  value->kind = TOML_ARRAY;
  for (;;) {
    if (!skip_lines(place)) return false;
    if (look(place) == ']') break;
    if (value->count == TOML_ITEMS) return wrong(place, "so long an array is not taken here");
    const char c = look(place);
    const char **text = &value->texts[value->count++];
    int64_t number;
    if (c == '"' || c == '\'' ? !take_quoted(place, text) : !is_digit(c) && c != '-' && c != '+') {
      if (c != '"' && c != '\'') return wrong(place, "only texts and whole numbers are taken in an array");
      return false;
    }
    if (c != '"' && c != '\'' && !take_number(place, &number, text)) return false;
    if (!skip_lines(place)) return false;
    if (look(place) == ']') break;
    if (look(place) != ',') return wrong(place, "an array has no closing bracket");
    step(place, 1);
  }
  step(place, 1);
  return true;
}

static bool take_value(struct place *place, struct toml_value *value) {
  skip_blanks(place);
  const char c = look(place);
  *value = (struct toml_value){.count = 0};
  if (c == '[') return take_array(place, value);
  value->count = 1;
  if (c == '"' || c == '\'') return take_quoted(place, &value->texts[0]);
  value->kind = TOML_TRUTH;
  value->texts[0] = "true";
  if (take_word(place, SPAN("true"))) return value->truth = true;
  if (take_word(place, SPAN("false"))) return true;
  value->kind = TOML_NUMBER;
  if (is_digit(c) || c == '-' || c == '+') return take_number(place, &value->number, &value->texts[0]);
  return wrong(place, c == '{' ? "tables in braces are not taken here" : "a value is missing");
}

static bool take_table(struct place *place, const char **path, unsigned *table, toml_take *take, void *context) {
  const struct toml_value begins_here = {.kind = TOML_TABLE, .line = place->line};
  if (place->left.len > 1 && place->left.at[1] == '[') return wrong(place, "arrays of tables are not taken here");
  step(place, 1);
  *table = 0;
  if (!take_key(place, path, table)) return false;
  if (look(place) != ']') return wrong(place, "a table has no closing bracket");
  if (!take(context, path, *table, &begins_here, place->why)) return false;
  step(place, 1);
  return end_line(place);
}

/* Below a table, or at the top. */
static bool take_line(struct place *place, const char **path, unsigned *table, toml_take *take, void *context) {
  skip_blanks(place);
  const char c = look(place);
  if (c == 0 && place->left.len > 0) return wrong(place, "a NUL");
  if (c == 0 || c == '#' || c == '\n' || c == '\r') return end_line(place);
  if (c == '[') return take_table(place, path, table, take, context);
  unsigned depth = *table;
  struct toml_value value;
  if (!take_key(place, path, &depth)) return false;
  if (look(place) != '=') return wrong(place, "there is no = behind the key");
  step(place, 1);
  const unsigned line = place->line;
  if (!take_value(place, &value)) return false;
  if (!end_line(place)) return false;
  const unsigned after = place->line;
  place->line = value.line = line; /* the line of a key, however long its array is */
  if (!take(context, path, depth, &value, place->why)) return false;
  place->line = after;
  return true;
}

void add_cannot_read(struct words *words, const char *file, int error) {
  add_text(words, "cannot read ");
  add_quoted(words, span_of(file));
  add_text(words, ": ");
  add_text(words, why_unreadable(error));
  add_text(words, "; name a file that this user can read");
}

/* A regular file that the user named. Waits for nobody, also if a FIFO or a device has taken its place. */
static int read_file(const char *file, char *text, size_t room, size_t *length) {
  const int fd = openat(AT_FDCWD, file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat stats;
  if (fd == -1) return errno;
  const bool readable = fstat(fd, &stats) == 0 && (S_ISREG(stats.st_mode) || S_ISDIR(stats.st_mode)); /* read() refuses a directory */
  ssize_t got = 1;
  size_t used = 0;
  while (readable && used < room && (got = read(fd, text + used, room - used)) > 0) used += (size_t)got;
  const int error = !readable ? NOT_REGULAR : got < 0 ? errno : got > 0 ? EFBIG : 0;
  close(fd);
  *length = used;
  return error;
}

bool toml_read(struct toml *toml, const char *file, toml_take *take, void *context, struct words *fault) {
  size_t length = 0;
  const int error = read_file(file, toml->text, sizeof toml->text, &length);
  if (error != 0) {
    add_cannot_read(fault, file, error);
    return false;
  }
  toml->used = 0;
  char reason[768];
  struct words why = WORDS(reason);
  struct place place = {toml, {toml->text, length}, 1, toml->text, &why};
  eat(&place.left, SPAN("\xef\xbb\xbf"));
  const char *path[TOML_DEPTH];
  unsigned table = 0;
  while (place.left.len > 0) {
    if (take_line(&place, path, &table, take, context)) continue;
    add_one_line(fault, span_of(file));
    add_text(fault, ":");
    add_number(fault, place.line);
    add_text(fault, ": ");
    add_span(fault, (struct span){reason, why.len});
    return false;
  }
  return true;
}

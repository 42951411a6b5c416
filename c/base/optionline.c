#include "optionline.h"

#include <stdarg.h>

#define MOST_GIVEN 256u

/* The option that names a file of options: no such file can name another one. */
#define FILE_OPTION "config"

/* A text that is given for an option; several make the value of one that can be repeated. From the command line or
 * the file; the former takes precedence. */
struct option_text {
  const char *text;
  uint32_t row;  /* of the option in its table */
  uint32_t line; /* of the file; 0: it is from the command line */
};

static struct option_text given[MOST_GIVEN] LARGE;
static const struct option *rows; /* of the table whose options are given */
static unsigned givens;
static const char *file_name;

static bool refuse_option(struct words *fault, ...) __attribute__((sentinel));
static bool refuse_option(struct words *fault, ...) {
  va_list texts;
  va_start(texts, fault);
  for (const char *text; (text = va_arg(texts, const char *)) != NULL;) add_text(fault, text);
  va_end(texts);
  return false;
}
#define REFUSE(...) refuse_option(fault, __VA_ARGS__, (const char *)NULL)

static const struct option *option_named(const struct option_table *table, struct span name) {
  for (size_t i = 0; i < table->count; i++)
    if (span_is(name, span_of(table->options[i].name))) return &table->options[i];
  return NULL;
}

static const struct option *option_by_letter(const struct option_table *table, char letter) {
  for (size_t i = 0; i < table->count; i++)
    if (letter != 0 && table->options[i].letter == letter) return &table->options[i];
  return NULL;
}

static bool is_elsewhere(const struct option_table *table, struct span name) {
  for (size_t i = 0; table->elsewhere != NULL && table->elsewhere[i] != NULL; i++)
    if (span_is(name, span_of(table->elsewhere[i]))) return true;
  return false;
}

static bool options_give(const struct option *option, const char *text, unsigned line) {
  if (givens == MOST_GIVEN) return false;
  given[givens++] = (struct option_text){text, (uint32_t)(option - rows), line};
  return true;
}

static unsigned times_given(const struct option *option, bool in_file) {
  unsigned count = 0;
  for (unsigned i = 0; i < givens; i++) count += &rows[given[i].row] == option && (given[i].line > 0) == in_file;
  return count;
}

static const char *nearest_option(const struct option_table *table, struct span word, bool in_file) {
  const char *known[2 * MOST_OPTIONS];
  size_t n = 0;
  for (size_t i = 0; i < table->count; i++)
    if (!in_file || strcmp(table->options[i].name, FILE_OPTION) != 0) known[n++] = table->options[i].name;
  for (size_t i = 0; table->elsewhere != NULL && table->elsewhere[i] != NULL; i++) known[n++] = table->elsewhere[i];
  if (!in_file) known[n++] = "help";
  return nearest_word(word, known, n);
}

/* ---- The command line ---- */

/* The option as it is shown to people: --nodes LIST. */
static bool refuse_spelled(struct words *fault, const struct option *option) {
  return option->value == NULL ? REFUSE("; write --", option->name)
    : REFUSE("; write --", option->name, " ", option->value);
}

static bool refuse_no_value(const struct option *option, const char *follows, struct words *fault) {
  REFUSE("--", option->name, " has no value");
  if (follows != NULL) REFUSE(", ", follows, " follows it");
  return refuse_spelled(fault, option);
}

/* Why a word that looks like an option is not one. */
static bool refuse_unknown(const struct option_table *table, struct span word, struct words *fault) {
  struct span name = word;
  while (eat(&name, SPAN("-"))) {}
  if (is_elsewhere(table, name)) {
    for (unsigned i = 0; i < 2; i++) {
      if (i > 0) REFUSE(" is only in ", table->whose, "; use ", table->whose, " ");
      add_text(fault, "--");
      add_span(fault, name);
    }
    return false;
  }
  add_text(fault, "unknown option ");
  add_quoted(fault, word);
  const struct option *known = option_named(table, name);
  if (known != NULL) return refuse_spelled(fault, known);
  const char *near = nearest_option(table, name, false);
  return near != NULL ? REFUSE("; did you mean --", near, "?") : REFUSE("; see ", program, " --help");
}

/* Why letters after one - are refused: -xl, or a long name with one - too few. */
static bool refuse_joined(const struct option_table *table, struct span word, struct words *fault) {
  struct span left = without(word, 1);
  if (option_named(table, left) != NULL || is_elsewhere(table, left)) return refuse_unknown(table, word, fault);
  add_quoted(fault, word);
  add_text(fault, " is several letters in one; write");
  while (left.len > 0) {
    uint32_t character;
    const size_t bytes = next_character(left, &character);
    add_text(fault, " -");
    add_one_line(fault, (struct span){left.at, bytes});
    left = without(left, bytes);
  }
  return false;
}

/* Whether a word cannot be a value: it is one of our options, written out. */
static bool is_option(const struct option_table *table, const char *text) {
  struct span name = span_of(text);
  return eat(&name, SPAN("--")) && (option_named(table, name) != NULL || is_elsewhere(table, name));
}

/* The word at argv[*i], which begins with a -, and its value. */
static bool options_parse_word(const struct option_table *table, int argc, char *const argv[], int *i,
                               struct words *fault) {
  const struct span word = span_of(argv[*i]);
  const bool is_long = begins(word, SPAN("--"));
  const char *equals = find_char(word, '=');
  const struct span before = {word.at, equals == NULL ? word.len : (size_t)(equals - word.at)};
  const struct option *option = is_long ? option_named(table, without(before, 2)) : option_by_letter(table, word.at[1]);
  if (option == NULL) return refuse_unknown(table, before, fault);
  const char *text = is_long ? (equals == NULL ? NULL : equals + 1) : word.len > 2 ? word.at + 2 : NULL;
  if (option->value == NULL) {
    if (text == NULL) text = "true";
    else if (is_long) return REFUSE("--", option->name, " takes no value; write --", option->name);
    else return refuse_joined(table, word, fault);
  }
  if (text == NULL && ++*i < argc) text = argv[*i];
  if (text == NULL) return refuse_no_value(option, NULL, fault);
  if (is_option(table, text)) return refuse_no_value(option, text, fault);
  return options_give(option, text, 0) || REFUSE("there are more than 256 values; write fewer");
}

static bool is_word(const char *text, const char *letter, const char *name) {
  return strcmp(text, letter) == 0 || strcmp(text, name) == 0;
}

/* The contents of the command line, unchanged. */
static enum outcome options_parse_line(const struct option_table *table, int argc, char *const argv[],
                                       struct words *fault) {
  const char *extra = NULL; /* the first argument: none is accepted */
  bool wrong = false;       /* the first mistake is kept until the end: if --help follows, the user gets help */
  rows = table->options;
  givens = 0;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--") == 0) {
      if (extra == NULL && i + 1 < argc) extra = argv[i + 1];
      break;
    }
    if (word[0] != '-' || word[1] == 0) {
      if (extra == NULL) extra = word;
      continue;
    }
    if (is_word(word, "-h", "--help")) return OPTIONS_HELP;
    if (is_word(word, "-V", "--version")) return OPTIONS_VERSION;
    const size_t length = fault->len;
    const bool good = options_parse_word(table, argc, argv, &i, fault);
    if (wrong) fault->len = length;
    wrong |= !good;
  }
  if (!wrong && extra != NULL) {
    add_quoted(fault, span_of(extra));
    wrong = !REFUSE(" is one argument too many; see ", program, " --help");
  }
  return wrong ? OPTIONS_BAD : OPTIONS_GOOD;
}

/* ---- The file ---- */

bool options_accept(void *of, struct span name, const struct toml_value *value, struct words *fault) {
  const struct option_table *table = of;
  const struct option *option = option_named(table, name);
  if (value->kind == TOML_TABLE) return REFUSE("tables are not taken here; write NAME = VALUE, texts in quotes");
  if (span_is(name, SPAN(FILE_OPTION))) return REFUSE(FILE_OPTION " cannot be set in a file for this verb; remove it");
  if (option == NULL) {
    add_text(fault, "unknown name ");
    add_quoted(fault, name);
    const char *near = nearest_option(table, name, true);
    return near != NULL ? REFUSE("; did you mean ", near, "?") : REFUSE("; see ", program, " --help");
  }
  const bool flag = option->value == NULL, many = option->most > 1;
  const char *instead = NULL;
  if (times_given(option, true) > 0) instead = "given twice; write it once";
  else if (flag && value->kind != TOML_TRUTH) instead = "not a value for it; write true or false";
  else if (!flag && !many && (value->kind == TOML_TRUTH || value->kind == TOML_ARRAY))
    instead = "not a value for it; write one text in quotes, or a number";
  else if (many && (value->kind == TOML_TRUTH || value->count == 0))
    instead = "not a value for it; write an array of one or more texts in quotes";
  for (unsigned i = 0; instead == NULL && i < value->count; i++)
    if (!options_give(option, flag && !value->truth ? "false" : value->texts[i], value->line))
      instead = "too many values; write fewer";
  return instead == NULL || REFUSE(option->name, ": ", instead);
}

/* ---- The values ---- */

static void add_where(const struct option *option, unsigned line, struct words *words) {
  if (line > 0) {
    add_one_line(words, span_of(file_name));
    add_text(words, ":");
    add_number(words, line);
    add_text(words, ": ");
  } else {
    add_text(words, "--");
  }
  add_text(words, option->name);
}

/* Into its field; what is in `fault` so far says where the value stands. */
static bool read_value(const struct option *option, const char *text, unsigned line, void *into, struct words *fault) {
  add_where(option, line, fault);
  add_text(fault, ": ");
  return option->read(span_of(text), (char *)into + option->at, fault);
}

static bool read_fallback(const struct option *option, void *into, struct words *fault) {
  add_text(fault, "the default of ");
  const char *text = option->fallback;
  if (option->find_fallback != NULL) {
    const size_t length = fault->len;
    add_where(option, 0, fault);
    add_text(fault, ": ");
    if ((text = option->find_fallback(fault)) == NULL) return false;
    fault->len = length;
  }
  return text == NULL || read_value(option, text, 0, into, fault);
}

static bool refuse_times(const struct option *option, unsigned line, unsigned times, struct words *fault) {
  add_where(option, line, fault);
  add_text(fault, " is given ");
  add_number(fault, times);
  if (option->most <= 1) return REFUSE(" times; give it once");
  add_text(fault, " times; give it at most ");
  add_number(fault, option->most);
  return REFUSE(" times");
}

/* Whatever is given for an option, or its fallback. */
static bool read_option(const struct option *option, void *into, struct words *fault) {
  const bool in_file = times_given(option, false) == 0;
  const unsigned times = times_given(option, in_file);
  const size_t length = fault->len;
  if (times == 0 && !read_fallback(option, into, fault)) return false;
  for (unsigned i = 0; i < givens; i++) {
    const struct option_text *one = &given[i];
    if (&rows[one->row] != option || (one->line > 0) != in_file) continue;
    fault->len = length;
    if (option->value == NULL) *(bool *)((char *)into + option->at) = one->text[0] == 't';
    else if (times > (option->most > 0 ? option->most : 1)) return refuse_times(option, one->line, times, fault);
    else if (!read_value(option, one->text, one->line, into, fault)) return false;
  }
  fault->len = length;
  return true;
}

static bool options_read_all(const struct option_table *table, void *into, struct words *fault) {
  const struct option *file = table->read_file == NULL ? NULL : option_named(table, SPAN(FILE_OPTION));
  file_name = NULL;
  for (unsigned i = 0; i < givens; i++)
    if (&rows[given[i].row] == file) file_name = given[i].text;
  if (file_name != NULL && !(read_option(file, into, fault) && table->read_file(file_name, fault))) return false;
  for (size_t i = 0; i < table->count; i++)
    if (!read_option(&table->options[i], into, fault)) return false;
  return true;
}

enum outcome options_read(const struct option_table *table, int argc, char *const argv[], void *into,
                          struct words *fault) {
  const enum outcome outcome = options_parse_line(table, argc, argv, fault);
  if (outcome != OPTIONS_GOOD) return outcome;
  return options_read_all(table, into, fault) ? OPTIONS_GOOD : OPTIONS_BAD;
}

#include "optionline.h"

#include <string.h>

#include "fault.h"
#include "quoting.h"

/* The contents of the command line. */
struct line {
  const char *texts[MOST_OPTIONS]; /* the first text of each option; NULL: it is not given */
  unsigned times[MOST_OPTIONS];
  const char *extra; /* the first argument: none is accepted */
  enum outcome outcome;
  const char *wrong; /* the first error; kept until the end, because if --help follows, the user gets help */
};

static const struct option *named(const struct command *c, struct span name) {
  for (size_t i = 0; i < c->count; i++)
    if (span_is(span_of(c->options[i].name), name)) return &c->options[i];
  return NULL;
}

static bool is_elsewhere(const struct command *c, struct span name) {
  for (size_t i = 0; c->elsewhere != NULL && c->elsewhere[i] != NULL; i++)
    if (span_is(span_of(c->elsewhere[i]), name)) return true;
  return false;
}

/* The option as it is shown to people: --nodes LIST. */
static const char *spelled(const struct option *o) {
  return o->value == NULL ? fault("--%s", o->name) : fault("--%s %s", o->name, o->value);
}

static const char *meant(const struct command *c, struct span word) {
  const char *known[2 * MOST_OPTIONS];
  size_t n = 0;
  for (size_t i = 0; i < c->count; i++) known[n++] = c->options[i].name;
  for (size_t i = 0; c->elsewhere != NULL && c->elsewhere[i] != NULL; i++) known[n++] = c->elsewhere[i];
  known[n++] = "help";
  return nearest_word(word, known, n);
}

/* Why a word that looks like an option is not one. */
static const char *unknown(const struct command *c, struct span given) {
  struct span word = given;
  while (eat(&word, SPAN("-"))) {}
  const struct option *known = named(c, word);
  const char *shown = quoted(given.at, given.len);
  if (known != NULL) return fault("unknown option %s; write %s", shown, spelled(known));
  if (is_elsewhere(c, word)) {
    const int length = (int)word.len;
    return fault("--%.*s is left to %s; write %s --%.*s", length, word.at, c->whose, c->whose, length, word.at);
  }
  const char *near = meant(c, word);
  if (near != NULL) return fault("unknown option %s; did you mean --%s?", shown, near);
  return fault("unknown option %s; see %s --help", shown, c->program);
}

/* Why letters after one - are refused: -xl, or a long name with one - too few. */
static const char *joined(const struct command *c, struct span word) {
  const struct span letters = without(word, 1);
  if (named(c, letters) != NULL || is_elsewhere(c, letters)) return unknown(c, word);
  char text[200];
  struct words apart = WORDS(text);
  for (struct span left = letters; left.len > 0;) {
    uint32_t character;
    const size_t bytes = next_character(left, &character);
    add_text(&apart, " -");
    add_one_line(&apart, (struct span){left.at, bytes});
    left = without(left, bytes);
  }
  return fault("%s is several letters in one; write%s", quoted(word.at, word.len), text_of(&apart));
}

static const struct option *by_letter(const struct command *c, char letter) {
  for (size_t i = 0; i < c->count; i++)
    if (letter != 0 && c->options[i].letter == letter) return &c->options[i];
  return NULL;
}

static void blame(struct line *l, const char *why) {
  static char first[MOST_FAULT]; /* a fault's buffer is that of the last one */
  if (l->wrong != NULL) return;
  strcpy(first, why);
  l->wrong = first;
}

/* Whether a word cannot be a value: it is one of our options, written out. */
static bool is_option(const struct command *c, const char *text) {
  return strncmp(text, "--", 2) == 0 && (named(c, span_of(text + 2)) != NULL || is_elsewhere(c, span_of(text + 2)));
}

/* An option that needs a value, at argv[*i]; `text`: the rest of the same word. */
static void take_value(const struct command *c, struct line *l, const struct option *o, const char *text, int argc, char *argv[], int *i) {
  if (text == NULL && ++*i < argc) text = argv[*i];
  if (text == NULL) blame(l, fault("--%s has no value; write %s", o->name, spelled(o)));
  else if (is_option(c, text)) blame(l, fault("--%s has no value, %s follows it; write %s", o->name, text, spelled(o)));
  const size_t at = (size_t)(o - c->options);
  if (l->times[at]++ == 0) l->texts[at] = text == NULL ? "" : text;
}

/* The word at argv[*i], which begins with a -. */
static void take_word(const struct command *c, struct line *l, int argc, char *argv[], int *i) {
  const struct span word = span_of(argv[*i]);
  const bool is_long = begins(word, SPAN("--"));
  const char *equals = find_char(word, '=');
  const struct span before = {word.at, equals == NULL ? word.len : (size_t)(equals - word.at)};
  const struct option *o = is_long ? named(c, without(before, 2)) : by_letter(c, word.at[1]);
  if (o == NULL) {
    blame(l, unknown(c, before));
    return;
  }
  const char *inside = is_long ? (equals == NULL ? NULL : equals + 1) : word.len > 2 ? word.at + 2 : NULL;
  if (o->value != NULL) {
    take_value(c, l, o, inside, argc, argv, i);
    return;
  }
  if (inside != NULL) blame(l, is_long ? fault("--%s takes no value; write --%s", o->name, o->name) : joined(c, word));
  l->texts[o - c->options] = "true";
  l->times[o - c->options]++;
}

static bool is_word(const char *text, const char *letter, const char *name) { return strcmp(text, letter) == 0 || strcmp(text, name) == 0; }

static void take_apart(const struct command *c, struct line *l, int argc, char *argv[]) {
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--") == 0) {
      if (l->extra == NULL && i + 1 < argc) l->extra = argv[i + 1];
      return;
    }
    if (word[0] != '-' || word[1] == 0) {
      if (l->extra == NULL) l->extra = word;
      continue;
    }
    if (is_word(word, "-h", "--help")) l->outcome = OPTIONS_HELP;
    if (is_word(word, "-V", "--version")) l->outcome = OPTIONS_VERSION;
    if (l->outcome != OPTIONS_GOOD) return;
    take_word(c, l, argc, argv, &i);
  }
}

/* NULL, or why the values are invalid. */
static const char *read_values(const struct command *c, const struct line *l, void *into) {
  for (size_t i = 0; i < c->count; i++) {
    const struct option *o = &c->options[i];
    if (l->times[i] == 0) continue;
    if (o->value != NULL && l->times[i] > 1) return fault("--%s is given %u times; give it once", o->name, l->times[i]);
    const char *why = o->read(l->texts[i], into);
    if (why != NULL) return fault("--%s: %s", o->name, why);
  }
  return NULL;
}

enum outcome options_read(const struct command *command, int argc, char *argv[], void *into, const char **why) {
  struct line l = {.outcome = OPTIONS_GOOD};
  *why = NULL;
  take_apart(command, &l, argc, argv);
  if (l.outcome != OPTIONS_GOOD) return l.outcome;
  if (l.wrong != NULL) *why = l.wrong;
  else if (l.extra != NULL) *why = fault("%s is one argument too many; see %s --help", quoted(l.extra, strlen(l.extra)), command->program);
  else *why = read_values(command, &l, into);
  return *why == NULL ? OPTIONS_GOOD : OPTIONS_BAD;
}

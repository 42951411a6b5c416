#include "quoting.h"

/* Controls, format characters, line separators: the classes Cc, Cf, Zl and Zp of Unicode 15. */
static const uint32_t unseen[][2] = {
  {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
  {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
  {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfeff, 0xfeff},
  {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
  {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

static bool is_unseen(uint32_t character) {
  for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
    if (character >= unseen[i][0] && character <= unseen[i][1]) return true;
  return false;
}

/* The first `most` characters. */
static void add_shown(struct words *words, struct span span, size_t most) {
  for (; span.len > 0 && most > 0; most--) {
    uint32_t character;
    const size_t bytes = next_character(span, &character);
    if (is_unseen(character)) {
      add_text(words, "\\u{");
      add_based(words, character, 16);
      add_text(words, "}");
    } else if (character == 0xfffd) {
      add_text(words, "\xef\xbf\xbd");
    } else {
      add_span(words, (struct span){span.at, bytes});
    }
    span = without(span, bytes);
  }
}

void add_one_line(struct words *words, struct span span) { add_shown(words, span, SIZE_MAX); }

static size_t characters(struct span span) {
  size_t count = 0;
  while (span.len > 0) {
    uint32_t character;
    span = without(span, next_character(span, &character));
    count++;
  }
  return count;
}

void add_quoted(struct words *words, struct span span) {
  const bool cut = characters(span) > 60;
  add_text(words, "'");
  add_shown(words, span, cut ? 59 : 60);
  add_text(words, cut ? "\xe2\x80\xa6'" : "'");
}

bool refuse_text(struct words *why, struct span text, const char *what) {
  add_quoted(why, text);
  add_text(why, what);
  return false;
}

static void add_pair(struct words *words, uint64_t large, const char *unit, uint64_t small, const char *small_unit) {
  add_number(words, large);
  add_text(words, unit);
  if (small < 10) add_text(words, "0");
  add_number(words, small);
  add_text(words, small_unit);
}

void add_duration(struct words *words, uint64_t ms) {
  const uint64_t s = ms / 1000;
  if (ms < 1000) {
    add_number(words, ms);
    add_text(words, "ms");
  } else if (s < 60) {
    add_number(words, s);
    add_text(words, ".");
    add_number(words, ms % 1000 / 100);
    add_text(words, "s");
  } else if (s < 3600) {
    add_pair(words, s / 60, "m", s % 60, "s");
  } else if (s < 86400) {
    add_pair(words, s / 3600, "h", s % 3600 / 60, "m");
  } else {
    add_number(words, s / 86400);
    add_text(words, "d");
    add_number(words, s % 86400 / 3600);
    add_text(words, "h");
  }
}

/* Words that are compared are shorter. */
#define MOST_LETTERS 32u

struct letters {
  size_t count;
  uint32_t letter[MOST_LETTERS];
};

static struct letters letters_of(struct span word) {
  struct letters letters = {.count = 0};
  while (word.len > 0 && letters.count < MOST_LETTERS)
    word = without(word, next_character(word, &letters.letter[letters.count++]));
  return letters;
}

/* How many letters must be changed, removed, added or swapped with a neighbour to turn one word into the other. */
static size_t distance(const struct letters *from, const struct letters *to) {
  const uint32_t *const a = from->letter, *const b = to->letter;
  size_t rows[3][MOST_LETTERS + 1];
  for (size_t column = 0; column <= to->count; column++) rows[0][column] = column;
  for (size_t row = 1; row <= from->count; row++) {
    const size_t *last = rows[(row - 1) % 3], *before_last = rows[(row + 1) % 3];
    size_t *line = rows[row % 3];
    line[0] = row;
    for (size_t column = 1; column <= to->count; column++) {
      size_t best = last[column - 1] + (a[row - 1] != b[column - 1]);
      if (last[column] + 1 < best) best = last[column] + 1;
      if (line[column - 1] + 1 < best) best = line[column - 1] + 1;
      const bool swapped = row > 1 && column > 1 && a[row - 1] == b[column - 2] && a[row - 2] == b[column - 1];
      if (swapped && before_last[column - 2] + 1 < best) best = before_last[column - 2] + 1;
      line[column] = best;
    }
  }
  return rows[from->count % 3][to->count];
}

/* Whether these are the same letters in either case. */
static bool is_in_lower_case(struct span word, struct span known) {
  if (word.len != known.len) return false;
  for (size_t i = 0; i < word.len; i++) {
    const char c = word.at[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != known.at[i]) return false;
  }
  return true;
}

/* Whether the known word has these letters in this order, beginning with the same letter: root_ro and root_readonly. */
static bool shortens(struct span word, struct span known) {
  if (known.len < word.len || known.at[0] != word.at[0]) return false;
  size_t taken = 0;
  for (size_t i = 0; i < known.len && taken < word.len; i++) taken += known.at[i] == word.at[taken];
  return taken == word.len;
}

static const char *unabbreviated(struct span word, const char *const *known, size_t count) {
  const char *found = NULL;
  if (word.len < 4) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (!shortens(word, span_of(known[i]))) continue;
    if (found != NULL) return NULL;
    found = known[i];
  }
  return found;
}

const char *nearest_word(struct span word, const char *const *known, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_in_lower_case(word, span_of(known[i]))) return known[i];
  const char *begun = NULL;
  size_t beginning = 0;
  for (size_t i = 0; i < count; i++) {
    if (word.len < 2 || !begins(span_of(known[i]), word)) continue;
    begun = known[i];
    beginning++;
  }
  if (beginning == 1) return begun;
  const char *best = NULL;
  const struct letters letters = letters_of(word);
  size_t least = (letters.count < 12 ? letters.count : 12) / 3 + 1;
  for (size_t i = 0; i < count && letters.count < MOST_LETTERS; i++) {
    const struct letters candidate = letters_of(span_of(known[i]));
    const size_t far = distance(&letters, &candidate);
    if (far >= least) continue;
    best = known[i];
    least = far;
  }
  return best != NULL ? best : unabbreviated(word, known, count);
}

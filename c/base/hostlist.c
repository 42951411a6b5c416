#include "hostlist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

#define MOST_DIGITS 15 /* more than can be counted out */

/* A list that is read, and what is wrong with it. */
struct list_reading {
  const char *list;
  size_t length;
  size_t before; /* characters of its line that stand before it */
  enum spelling spelling;
  const char *place;
  unsigned line; /* 0: there are no lines */
  const char *why; /* NULL: nothing so far */
};

/* `at` counts from 0; columns count from 1. */
static bool hostlist_refuse(struct list_reading *r, size_t at, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
static bool hostlist_refuse(struct list_reading *r, size_t at, const char *format, ...) {
  char text[MOST_FAULT];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  const size_t column = r->before + at + 1;
  if (r->line > 0) r->why = fault("%s:%u, column %zu: %s", r->place, r->line, column, text);
  else r->why = fault("%s, column %zu: %s", r->place, column, text);
  return false;
}

static bool is_accepted(const struct list_reading *r, char c) {
  return r->spelling == SPELLED_BY_SLURM ? is_of_slurm_names(c) : is_of_names(c) && !is_upper(c);
}

/* The character that stands there, and of how many bytes it is. */
static size_t character_at(const struct list_reading *r, size_t at, uint32_t *character) {
  return next_character((struct span){r->list + at, r->length - at}, character);
}

static bool bad_character(struct list_reading *r, size_t at) {
  const char c = r->list[at];
  uint32_t character;
  const size_t bytes = character_at(r, at, &character);
  if (is_blank(character)) return hostlist_refuse(r, at, "a blank; separate names by a comma only");
  if (is_upper(c)) {
    const char lower = (char)(c - 'A' + 'a'); /* only where names are those of nodes: else it is accepted */
    return hostlist_refuse(r, at, "upper-case %s; names are lower case; write %s", quoted(&c, 1), quoted(&lower, 1));
  }
  const char *hint = "names are made of a-z 0-9 . _ -";
  if (c == '!' || c == '&' || c == '^') hint = "set operations are not supported; write the names";
  if (c == '@') hint = "groups are not supported; write their names, or only @FILE with a list on each line";
  if (c == '{' || c == '}') hint = "write brackets, as in node[1,2]";
  if (c == ']') hint = "there is no [ before it; write node[1-3]";
  if (c == '*' || c == '?') hint = "wildcards are not supported; write a range, as in node[1-3]";
  return hostlist_refuse(r, at, "%s is not allowed here; %s", quoted(r->list + at, bytes), hint);
}

struct range {
  uint64_t first, last;
  unsigned width; /* digits with leading zeros; 0: there are none */
};

/* Why a piece of a bracket is not a range. */
static bool bad_range(struct list_reading *r, size_t at, size_t length) {
  const char *text = r->list + at;
  if (length == 0) return hostlist_refuse(r, at, "an empty range; write numbers, as in node[1-3,7]");
  size_t odd = 0;
  while (odd < length && (is_digit(text[odd]) || text[odd] == '-')) odd++;
  if (odd == length)
    return hostlist_refuse(r, at, "%s is not a range; write FIRST-LAST, as in node[1-3]", quoted(text, length));
  uint32_t character;
  character_at(r, at + odd, &character);
  if (is_blank(character)) return bad_character(r, at + odd);
  if (text[odd] == '/') return hostlist_refuse(r, at + odd, "a step in a range; list the numbers, as in node[0,2,4]");
  return hostlist_refuse(r, at, "%s is not a range of numbers; write digits, as in node[1-3]", quoted(text, length));
}

/* One piece of a bracket: 7, 1-3 or 001-128. */
static bool read_range(struct list_reading *r, size_t at, size_t length, struct range *out) {
  const char *low = r->list + at, *end = low + length;
  size_t low_digits = 0, high_digits;
  while (low_digits < length && is_digit(low[low_digits])) low_digits++;
  const bool is_pair = low_digits > 0 && low_digits < length && low[low_digits] == '-';
  const char *high = is_pair ? low + low_digits + 1 : low;
  for (high_digits = 0; high + high_digits < end && is_digit(high[high_digits]);) high_digits++;
  if (high_digits == 0 || high + high_digits != end) return bad_range(r, at, length);
  if (low_digits > MOST_DIGITS || high_digits > MOST_DIGITS)
    return hostlist_refuse(r, at, "a number that is too long; at most %d digits can be counted", MOST_DIGITS);
  *out = (struct range){.width = 0};
  text_u64((struct span){low, low_digits}, &out->first);
  text_u64((struct span){high, high_digits}, &out->last);
  const bool padded = (low_digits > 1 && low[0] == '0') || (high_digits > 1 && high[0] == '0');
  const int wide = (int)(low_digits > high_digits ? low_digits : high_digits);
  if (padded && low_digits != high_digits)
    return hostlist_refuse(r, at, "%s is padded unevenly; write %0*llu-%0*llu or %llu-%llu", quoted(low, length), wide,
                  (unsigned long long)out->first, wide, (unsigned long long)out->last, (unsigned long long)out->first,
                  (unsigned long long)out->last);
  if (out->first > out->last)
    return hostlist_refuse(r, at, "%s runs backwards; write %.*s-%.*s", quoted(low, length), (int)high_digits, high,
                           (int)low_digits, low);
  if (padded) out->width = (unsigned)low_digits;
  return true;
}

/* How long the piece of a bracket is that begins here. */
static size_t piece_length(const struct list_reading *r, size_t at, size_t end) {
  const char *comma = (const char *)memchr(r->list + at, ',', end - at);
  return comma == NULL ? end - at : (size_t)(comma - (r->list + at));
}

/* The expansion of one name of the list, or of one bracket; counts that are too large saturate. */
struct extent {
  uint64_t names;
  size_t longest;
};

#define UNCOUNTED (UINT64_C(1) << 62)

static size_t digits_of(const struct range *range) {
  size_t digits = 1;
  for (uint64_t rest = range->last; rest >= 10; rest /= 10) digits++;
  return digits > range->width ? digits : range->width;
}

static bool measure_bracket(struct list_reading *r, size_t at, size_t end, struct extent *out) {
  *out = (struct extent){0, 0};
  for (;;) {
    const size_t length = piece_length(r, at, end);
    struct range range;
    if (!read_range(r, at, length, &range)) return false;
    const size_t digits = digits_of(&range);
    if (out->names < UNCOUNTED) out->names += range.last - range.first + 1;
    if (digits > out->longest) out->longest = digits;
    at += length;
    if (at == end) return true;
    at++;
  }
}

/* The end of the bracket that begins here; none if another bracket begins first. */
static size_t bracket_end(const struct list_reading *r, size_t at) {
  for (size_t i = at + 1; i < r->length; i++) {
    if (r->list[i] == ']') return i;
    if (r->list[i] == '[') break;
  }
  return 0;
}

/* One name of the list, with its brackets; `at` moves to the comma after it, or to the end. */
static bool measure_name(struct list_reading *r, size_t *at, struct extent *out) {
  const size_t start = *at;
  *out = (struct extent){1, 0};
  while (*at < r->length && r->list[*at] != ',') {
    if (r->list[*at] == '[') {
      const size_t end = bracket_end(r, *at);
      struct extent bracket;
      if (end == 0) return hostlist_refuse(r, *at, "a [ without its ]; write node[1-3]");
      if (!measure_bracket(r, *at + 1, end, &bracket)) return false;
      if (out->names > UNCOUNTED / bracket.names) out->names = UNCOUNTED;
      else out->names *= bracket.names;
      out->longest += bracket.longest;
      *at = end + 1;
    } else {
      const size_t begun = *at;
      while (*at < r->length && *at - begun <= NAME_LENGTH && is_accepted(r, r->list[*at])) ++*at;
      if (*at == begun) return bad_character(r, begun);
      out->longest += *at - begun;
    }
    if (out->longest > NAME_LENGTH)
      return hostlist_refuse(r, start, "a name that is too long; names have at most %d characters", NAME_LENGTH);
  }
  if (*at == start) return hostlist_refuse(r, start, "an empty name; leave out the extra comma");
  const char first = r->list[start];
  if (r->spelling == SPELLED_BY_NODES && first != '[' && !is_letter(first) && !is_digit(first))
    return hostlist_refuse(r, start, "a name that begins with %s; begin with a letter or digit", quoted(&first, 1));
  return true;
}

/* Parses all of it; adds the number of names, and the largest number of bytes that they need. */
static bool measure(struct list_reading *r, size_t most, size_t *names, size_t *bytes) {
  if (r->length == 0) return hostlist_refuse(r, 0, "it is empty; write names, as in node[1-3],login1");
  for (size_t at = 0;; at++) {
    const size_t start = at;
    struct extent extent;
    if (!measure_name(r, &at, &extent)) return false;
    if (extent.names > most - *names)
      return hostlist_refuse(r, start, "too many names; at most %zu are allowed; shorten the range", most);
    *names += (size_t)extent.names;
    *bytes += (size_t)extent.names * (extent.longest + 1);
    if (at == r->length) return true;
  }
}

/* A text of a name, or a bracket at its present number. */
struct list_part {
  size_t at, end;  /* the text; or the content of the brackets */
  size_t next;     /* the piece after this one; beyond `end`: there is none */
  uint64_t number;
  struct range range; /* width and last */
  bool is_bracket;
};

static void read_piece(struct list_reading *r, struct list_part *part, size_t at) {
  const size_t length = piece_length(r, at, part->end);
  read_range(r, at, length, &part->range); /* accepted before */
  part->number = part->range.first;
  part->next = at + length + 1;
}

/* Advances the last bracket that has a next number; those after it start again. Returns whether there is one. */
static bool turn(struct list_reading *r, struct list_part *parts, size_t count) {
  for (size_t i = count; i-- > 0;) {
    struct list_part *part = &parts[i];
    if (!part->is_bracket) continue;
    if (part->number < part->range.last) {
      part->number++;
      return true;
    }
    if (part->next < part->end) {
      read_piece(r, part, part->next);
      return true;
    }
    read_piece(r, part, part->at);
  }
  return false;
}

size_t write_number(char *to, uint64_t number, unsigned width) {
  char digits[20];
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0 || sizeof digits - at < width);
  memcpy(to, digits + at, sizeof digits - at);
  return sizeof digits - at;
}

/* Expands one name of the list, the last bracket fastest; the list has been measured. */
static void make_names(struct list_reading *r, size_t *at, struct hostlist *out, size_t *used) {
  struct list_part parts[NAME_LENGTH]; /* each has at least one character */
  size_t count = 0;
  while (*at < r->length && r->list[*at] != ',') {
    struct list_part *part = &parts[count++];
    part->is_bracket = r->list[*at] == '[';
    part->at = part->is_bracket ? *at + 1 : *at;
    if (part->is_bracket) {
      part->end = bracket_end(r, *at);
      *at = part->end + 1;
      read_piece(r, part, part->at);
    } else {
      while (*at < r->length && is_accepted(r, r->list[*at])) ++*at;
      part->end = *at;
    }
  }
  do {
    char *name = out->texts + *used, *to = name;
    for (size_t i = 0; i < count; i++) {
      const struct list_part *part = &parts[i];
      if (part->is_bracket) {
        to += write_number(to, part->number, part->range.width);
      } else {
        memcpy(to, r->list + part->at, part->end - part->at);
        to += part->end - part->at;
      }
    }
    *to = 0;
    out->names[out->count++] = name;
    *used += (size_t)(to - name) + 1;
  } while (turn(r, parts, count));
}

/* Removes duplicates. With a hash table that is at least half empty, because sorting would take longer than
 * everything else here. */
static bool drop_doubles(struct hostlist *list) {
  size_t rising = 1, slots = 4;
  while (rising < list->count && strcmp(list->names[rising - 1], list->names[rising]) < 0) rising++;
  if (rising >= list->count) return true; /* usually: nothing occurs twice */
  while (slots < 2 * list->count) slots *= 2;
  char **seen = (char **)calloc(slots, sizeof *seen);
  if (seen == NULL) return false;
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    char *name = list->names[i];
    size_t at = (size_t)fingerprint(FINGERPRINT, span_of(name));
    at = (at ^ at >> 29) & (slots - 1);
    while (seen[at] != NULL && strcmp(seen[at], name) != 0) at = (at + 1) & (slots - 1);
    if (seen[at] != NULL) continue;
    seen[at] = name;
    list->names[kept++] = name;
  }
  free(seen);
  list->count = kept;
  return true;
}

/* Allocates what was measured. */
static bool reserve(struct hostlist *out, size_t names, size_t bytes) {
  out->count = 0;
  out->texts = (char *)malloc(bytes + 1);
  out->names = (char **)malloc((names + 1) * sizeof *out->names);
  return out->texts != NULL && out->names != NULL;
}

static const char *no_memory(struct hostlist *list) {
  hostlist_free(list);
  return "out of memory";
}

static void make_all(struct list_reading *r, struct hostlist *out, size_t *used) {
  for (size_t at = 0; at < r->length; at++) make_names(r, &at, out, used);
}

const char *hostlist_read(struct hostlist *out, const char *list, size_t length, enum spelling spelling, size_t most,
                          const char *place) {
  struct list_reading r = {list, length, 0, spelling, place, 0, NULL};
  size_t names = 0, bytes = 0, used = 0;
  *out = (struct hostlist){NULL, NULL, 0};
  if (!measure(&r, most, &names, &bytes)) return r.why;
  if (!reserve(out, names, bytes)) return no_memory(out);
  make_all(&r, out, &used);
  return drop_doubles(out) ? NULL : no_memory(out);
}

/* The contents of the next line, without its comment and the blanks around it. Returns whether there is one. */
static bool read_list_line(struct span *left, struct list_reading *r) {
  if (left->len == 0) return false;
  const char *end = find_char(*left, '\n');
  struct span line = {left->at, end == NULL ? left->len : (size_t)(end - left->at)};
  *left = without(*left, end == NULL ? line.len : line.len + 1);
  const char *comment = find_char(line, '#');
  if (comment != NULL) line.len = (size_t)(comment - line.at);
  r->line++;
  r->before = 0;
  for (uint32_t character; line.len > 0; r->before++) {
    const size_t bytes = next_character(line, &character);
    if (!is_blank(character)) break;
    line = without(line, bytes);
  }
  line = trimmed_end(line);
  r->list = line.at;
  r->length = line.len;
  return true;
}

const char *hostlist_read_lines(struct hostlist *out, const char *text, size_t length, enum spelling spelling,
                                size_t most, const char *place) {
  struct list_reading r = {.spelling = spelling, .place = place};
  size_t names = 0, bytes = 0, used = 0;
  *out = (struct hostlist){NULL, NULL, 0};
  for (struct span left = {text, length}; read_list_line(&left, &r);)
    if (r.length > 0 && !measure(&r, most, &names, &bytes)) return r.why;
  if (!reserve(out, names, bytes)) return no_memory(out);
  for (struct span left = {text, length}; read_list_line(&left, &r);) make_all(&r, out, &used);
  return drop_doubles(out) ? NULL : no_memory(out);
}

void hostlist_free(struct hostlist *list) {
  free(list->texts);
  free(list->names);
  *list = (struct hostlist){NULL, NULL, 0};
}

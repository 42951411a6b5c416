#include "journalstate.h"

/* As many objects and arrays may be in one another. */
#define DEEPEST 32
/* The largest integer of JavaScript up to which each is one. */
#define MOST_SAFE ((UINT64_C(1) << 53) - 1)

/* ---- JSON ---- */

enum kind { ABSENT, TEXT, WHOLE_NUMBER, OTHER };

struct value {
  enum kind kind;
  struct span text;
  uint64_t number;
};

struct json {
  char *at, *end;
};

static bool json_next(struct json *j, char c) {
  while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r')) j->at++;
  if (j->at == j->end || *j->at != c) return false;
  j->at++;
  return true;
}

/* Four hexadecimal digits; -1: there are none. */
static int32_t json_unit(struct json *j) {
  int32_t unit = 0;
  if (j->end - j->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    const char c = *j->at++, lower = (char)(c | 0x20);
    if (!is_digit(c) && (lower < 'a' || lower > 'f')) return -1;
    unit = unit * 16 + (is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  return unit;
}

static char *put_utf8(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = (char)(first[more] | c >> (6 * more));
  for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | (c >> (6 * i) & 0x3f));
  return to;
}

/* Behind \u; half a pair is U+FFFD. */
static bool json_escaped(struct json *j, char **to) {
  int32_t unit = json_unit(j);
  if (unit < 0) return false;
  uint32_t c = (uint32_t)unit;
  if (unit >= 0xd800 && unit < 0xdc00 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u') {
    struct json low = {j->at + 2, j->end};
    const int32_t other = json_unit(&low);
    if (other >= 0xdc00 && other < 0xe000) {
      c = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(other - 0xdc00);
      j->at = low.at;
    }
  }
  *to = put_utf8(*to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
  return true;
}

/* Behind the first quote. No escape is shorter than what it stands for. */
static bool json_text(struct json *j, struct span *out) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  char *const begin = j->at, *to = j->at;
  while (j->at < j->end) {
    const char c = *j->at++;
    if (c == '"') {
      *out = (struct span){begin, (size_t)(to - begin)};
      return true;
    }
    if ((unsigned char)c < 0x20) return false;
    if (c != '\\') {
      *to++ = c;
      continue;
    }
    if (j->at == j->end) return false;
    const char escape = *j->at++;
    const char *known = escape == 0 ? NULL : strchr(escapes, escape);
    if (known != NULL) *to++ = meant[known - escapes];
    else if (escape != 'u' || !json_escaped(j, &to)) return false;
  }
  return false;
}

static bool json_digits(struct json *j) {
  const char *begin = j->at;
  while (j->at < j->end && is_digit(*j->at)) j->at++;
  return j->at > begin;
}

static bool json_number(struct json *j, struct value *out) {
  const char *begin = j->at;
  j->at += j->at < j->end && *j->at == '-';
  const char *digits = j->at;
  if (!json_digits(j) || (*digits == '0' && j->at - digits > 1)) return false;
  const bool is_whole = text_u64((struct span){begin, (size_t)(j->at - begin)}, &out->number);
  const char *whole_end = j->at;
  if (j->at < j->end && *j->at == '.') {
    j->at++;
    if (!json_digits(j)) return false;
  }
  if (j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
    j->at++;
    j->at += j->at < j->end && (*j->at == '+' || *j->at == '-');
    if (!json_digits(j)) return false;
  }
  out->kind = is_whole && j->at == whole_end && out->number <= MOST_SAFE ? WHOLE_NUMBER : OTHER;
  return true;
}

static bool json_word(struct json *j, struct span word) {
  if (!begins((struct span){j->at, (size_t)(j->end - j->at)}, word)) return false;
  j->at += word.len;
  return true;
}

static bool json_value(struct json *j, struct value *out, unsigned depth);

static bool json_list(struct json *j, char end, unsigned depth) {
  struct value ignored;
  if (json_next(j, end)) return true;
  do {
    if (end == '}' && !(json_next(j, '"') && json_text(j, &ignored.text) && json_next(j, ':'))) return false;
    if (!json_value(j, &ignored, depth)) return false;
  } while (json_next(j, ','));
  return json_next(j, end);
}

static bool json_value(struct json *j, struct value *out, unsigned depth) {
  *out = (struct value){.kind = OTHER};
  if (json_next(j, '"')) {
    out->kind = TEXT;
    return json_text(j, &out->text);
  }
  if (json_next(j, '{')) return depth < DEEPEST && json_list(j, '}', depth + 1);
  if (json_next(j, '[')) return depth < DEEPEST && json_list(j, ']', depth + 1);
  return json_word(j, SPAN("true")) || json_word(j, SPAN("false")) || json_word(j, SPAN("null")) ||
    json_number(j, out);
}

/* ---- The state ---- */

enum { SCHEMA, BOARD, TIME, MONO, NEXT, ERROR, ERROR_SINCE, DROPPED, KEYS };
static const struct span keys[KEYS] = {
  SPAN_TEXT("schema"), SPAN_TEXT("board"), SPAN_TEXT("time_ms"), SPAN_TEXT("mono_ms"), SPAN_TEXT("next_ms"),
  SPAN_TEXT("error"), SPAN_TEXT("error_since_ms"), SPAN_TEXT("dropped")};

/* The last value of each key. */
static bool read_values(struct json *j, struct value values[KEYS]) {
  struct value ignored;
  if (!json_next(j, '{')) return false;
  if (!json_next(j, '}')) {
    do {
      struct span key;
      if (!json_next(j, '"') || !json_text(j, &key) || !json_next(j, ':')) return false;
      int i = 0;
      while (i < KEYS && !span_is(keys[i], key)) i++;
      if (!json_value(j, i < KEYS ? &values[i] : &ignored, 0)) return false;
    } while (json_next(j, ','));
    if (!json_next(j, '}')) return false;
  }
  json_next(j, '\n');
  return j->at == j->end;
}

bool journal_state_read(char *text, size_t length, struct journal_state *out) {
  struct value values[KEYS] = {{.kind = ABSENT}};
  struct json j = {text, text + length};
  if (!read_values(&j, values)) return false;
  if (values[SCHEMA].kind != WHOLE_NUMBER || values[SCHEMA].number != 1 || values[BOARD].kind != TEXT) return false;
  for (int i = TIME; i <= NEXT; i++)
    if (values[i].kind != WHOLE_NUMBER) return false;
  if (values[ERROR].kind != ABSENT && (values[ERROR].kind != TEXT || values[ERROR_SINCE].kind != WHOLE_NUMBER))
    return false;
  if (values[DROPPED].kind != ABSENT && values[DROPPED].kind != WHOLE_NUMBER) return false;
  *out = (struct journal_state){
    values[BOARD].text, values[ERROR].text, values[TIME].number, values[MONO].number, values[NEXT].number,
    values[ERROR_SINCE].number, values[DROPPED].number};
  return true;
}

#include "fieldjson.h"

#include <math.h>
#include <string.h>

#include "../base/digits.h"
#include "../base/ipaddress.h"
#include "../beoboard.h"
#include "../format/header.gen.h"
#include "../judge/rates.h"

/* Beyond it a number cannot count exactly. */
#define MOST_EXACT UINT64_C(9007199254740991)
/* The longest number or address, with quotes. */
#define VALUE_MOST 48
/* Deeper than any struct of the contract. */
#define DEPTH_MOST 4
#define LENGTH_MOST (1 << 20)

/* Bytes of each kind of value; 0: other fields of the row say it. */
static const uint8_t widths[BB_JSON_KINDS] = {
    [BB_JSON_U8] = 1,      [BB_JSON_U16] = 2, [BB_JSON_U32] = 4,     [BB_JSON_I16] = 2,
    [BB_JSON_I32] = 4,     [BB_JSON_U64] = 8, [BB_JSON_I64] = 8,     [BB_JSON_BIG_U64] = 8,
    [BB_JSON_BIG_I64] = 8, [BB_JSON_ID] = 8,  [BB_JSON_ADDRESS] = 16};

static char *json_put(char *to, const char *text, size_t bytes) {
  memcpy(to, text, bytes);
  return to + bytes;
}

/* ---- checking ---- */

struct extent {
  size_t reads, most;
};

static bool is_list(const struct bb_json_row *r) { return r->count > 0 && r->what != BB_JSON_TEXT; }

static bool check_rows(const struct bb_json_table *t, const struct bb_json_row *row, size_t rows, size_t base,
                       unsigned depth, struct extent *all);

/* Adds how far a value at that place is read, and how long it may be. */
static bool check_value(const struct bb_json_table *t, const struct bb_json_row *r, size_t base, unsigned depth,
                        struct extent *all) {
  const size_t elements = is_list(r) ? r->count : 1, last = base + r->at + (elements - 1) * r->stride;
  struct extent one = {last + (r->what == BB_JSON_TEXT ? r->count : widths[r->what]),
                       r->what == BB_JSON_TEXT ? r->count + 2 : VALUE_MOST};
  if (r->what == BB_JSON_OBJECT) {
    one.most = 2;
    if (!check_rows(t, r + 1, r->rows, last, depth + 1, &one)) return false;
    if (is_list(r) && last + r->unless_at + r->unless_bytes > one.reads)
      one.reads = last + r->unless_at + r->unless_bytes;
  } else if (r->rows != 0) return false;
  if (one.reads > all->reads) all->reads = one.reads;
  all->most += r->key_bytes + 2 + elements * (one.most + 1);
  return true;
}

static bool is_set(const struct bb_json_table *t, uint32_t set) {
  return set == BB_JSON_NONE || (set < 64 && t->valid_at != BB_JSON_NONE);
}

static bool check_rows(const struct bb_json_table *t, const struct bb_json_row *row, size_t rows, size_t base,
                       unsigned depth, struct extent *all) {
  if (depth > DEPTH_MOST) return false;
  for (size_t i = 0; i < rows; i += 1 + row[i].rows) {
    const struct bb_json_row *r = &row[i];
    if (r->what >= BB_JSON_KINDS || r->at > LENGTH_MOST || r->count > LENGTH_MOST || r->stride > LENGTH_MOST ||
        r->rows >= rows - i || r->key_bytes > t->bytes || r->key > t->bytes - r->key_bytes || r->unless_bytes > 4 ||
        r->unless_at > LENGTH_MOST || !is_set(t, r->set) || !is_set(t, r->used_set) ||
        (r->used != BB_JSON_NONE && r->used > LENGTH_MOST) || (r->what == BB_JSON_TEXT && r->count == 0))
      return false;
    if (r->unless_bytes > 0 && base + r->unless_at + r->unless_bytes > all->reads)
      all->reads = base + r->unless_at + r->unless_bytes;
    if (r->used != BB_JSON_NONE && r->used + 1u > all->reads) all->reads = r->used + 1u;
    if (!check_value(t, r, base, depth, all) || all->reads > LENGTH_MOST || all->most > LENGTH_MOST) return false;
  }
  return true;
}

bool bb_json_check(const struct bb_json_table *t, size_t *reads, size_t *most) {
  struct extent all = {0, 2};
  if (t->valid_at != BB_JSON_NONE) {
    if (t->valid_at > LENGTH_MOST) return false;
    all.reads = t->valid_at + sizeof(uint64_t);
  }
  if (t->rows > LENGTH_MOST || t->bytes > LENGTH_MOST || !check_rows(t, t->row, t->rows, 0, 0, &all)) return false;
  *reads = all.reads;
  *most = all.most;
  return true;
}

/* ---- printing ---- */

/* The struct that is written, and what all rows need of it. */
struct whole {
  const uint8_t *from;
  const char *text;
  uint64_t valid;
};

static char *json_put_object(char *to, const struct whole *w, const struct bb_json_row *row, size_t rows,
                        const uint8_t *base);

/* NULL: a text has other characters. */
static char *put_text(char *to, const uint8_t *from, size_t bytes) {
  *to++ = '"';
  for (size_t i = 0; i < bytes && from[i] != 0; i++) {
    const char c = (char)from[i];
    if (c < ' ' || c > '~' || c == '"' || c == '\\') return NULL;
    *to++ = c;
  }
  *to++ = '"';
  return to;
}

static char *put_signed(char *to, int64_t value) {
  if (value < 0) *to++ = '-';
  return bb_put_whole(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static char *put_id(char *to, uint64_t id) {
  *to++ = '"';
  for (int shift = 60; shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[id >> shift & 15];
  *to++ = '"';
  return to;
}

/* IPv4 where it holds one. NULL: an IPv6 address that ends in an IPv4 one, which others write otherwise. */
static char *put_address(char *to, const uint8_t from[16]) {
  static const uint8_t none[16];
  if (memcmp(from, none, sizeof none) == 0) return to;
  *to++ = '"';
  print_address(from, to);
  if (!is_v4(from) && strchr(to, '.') != NULL) return NULL;
  to += strlen(to);
  *to++ = '"';
  return to;
}

/* One value. `to` itself: it is left out. NULL: it is left to others. */
static char *put_value(char *to, const struct whole *w, const struct bb_json_row *r, const uint8_t *from) {
  if (r->what == BB_JSON_TEXT) return put_text(to, from, r->count);
  if (r->what == BB_JSON_OBJECT) return json_put_object(to, w, r + 1, r->rows, from);
  if (r->what == BB_JSON_ADDRESS) return put_address(to, from);
  const uint64_t n = bb_number_at(from, 0, widths[r->what]);
  const int64_t with_sign = (int64_t)n;
  switch (r->what) {
    case BB_JSON_I16: return put_signed(to, (int16_t)n);
    case BB_JSON_I32: return put_signed(to, (int32_t)n);
    case BB_JSON_U64: return n > MOST_EXACT ? to : bb_put_whole(to, n);
    case BB_JSON_I64:
      return with_sign > (int64_t)MOST_EXACT || with_sign < -(int64_t)MOST_EXACT ? to : put_signed(to, with_sign);
    case BB_JSON_ID: return put_id(to, n);
    case BB_JSON_BIG_U64:
    case BB_JSON_BIG_I64:
      *to++ = '"';
      to = r->what == BB_JSON_BIG_I64 ? put_signed(to, with_sign) : bb_put_whole(to, n);
      *to++ = '"';
      return to;
    default: return bb_put_whole(to, n);
  }
}

static bool is_left_out(const struct bb_json_row *r, const uint8_t *base) {
  return r->unless_bytes > 0 && bb_number_at(base + r->unless_at, 0, r->unless_bytes) == r->unless;
}

static bool is_measured(const struct whole *w, uint32_t set) {
  return set == BB_JSON_NONE || (w->valid >> set & 1) != 0;
}

static uint32_t elements_of(const struct whole *w, const struct bb_json_row *r) {
  if (!is_measured(w, r->used_set)) return 0;
  const uint32_t used = r->used == BB_JSON_NONE ? r->count : w->from[r->used];
  return used < r->count ? used : r->count;
}

static char *put_list(char *to, const struct whole *w, const struct bb_json_row *r, const uint8_t *from) {
  const uint32_t elements = elements_of(w, r);
  char *const begin = to;
  for (uint32_t i = 0; i < elements; i++, from += r->stride) {
    if (r->what == BB_JSON_OBJECT && is_left_out(r, from)) continue;
    *to++ = ',';
    char *behind = put_value(to, w, r, from);
    if (behind == NULL) return NULL;
    to = behind == to ? json_put(to, "null", 4) : behind;
  }
  if (to == begin) to++;
  *begin = '[';
  *to++ = ']';
  return to;
}

static char *json_put_object(char *to, const struct whole *w, const struct bb_json_row *row, size_t rows,
                        const uint8_t *base) {
  char *const begin = to;
  for (const struct bb_json_row *r = row; r < row + rows; r += 1 + r->rows) {
    if (!is_measured(w, r->set)) continue;
    const bool list = is_list(r);
    if (!(list && r->what == BB_JSON_OBJECT) && is_left_out(r, base)) continue;
    char *value = json_put(to, w->text + r->key, r->key_bytes);
    char *behind = list ? put_list(value, w, r, base + r->at) : put_value(value, w, r, base + r->at);
    if (behind == NULL) return NULL;
    if (behind != value) to = behind; /* without a value there is no key either */
  }
  if (to == begin) to++;
  *begin = '{';
  *to++ = '}';
  return to;
}

long bb_json_print(char *to, const struct bb_json_table *t, const uint8_t *from) {
  const struct whole w = {from, t->text,
                          t->valid_at == BB_JSON_NONE ? 0 : bb_number_at(from + t->valid_at, 0, sizeof(uint64_t))};
  const char *end = json_put_object(to, &w, t->row, t->rows, from);
  return end == NULL ? -1 : (long)(end - to);
}

/* ---- rates ---- */

#define COUNTERS(table) (sizeof(table) / sizeof(table)[0])

/* A larger one needs more than the digits of a whole number of thousandths. */
#define RATE_MOST 1e12

/* With at most three digits behind the point, and no zero at their end. NULL: it is too large. */
static char *put_rate(char *to, double rate) {
  if (!(rate >= 0 && rate < RATE_MOST)) return NULL;
  const uint64_t thousandths = bb_rounded(rate * 1000);
  uint64_t rest = thousandths % 1000;
  to = bb_put_whole(to, thousandths / 1000);
  if (rest == 0) return to;
  unsigned digits = 3;
  for (; rest % 10 == 0; rest /= 10) digits--;
  *to++ = '.';
  return bb_put_digits(to, rest, digits);
}

static double rate_at(const void *rates, size_t offset) {
  double rate;
  memcpy(&rate, (const uint8_t *)rates + offset, sizeof rate);
  return rate;
}

/* A rate behind its key, which is `bytes` of a name and an ending; nothing if there is no rate. */
static char *put_keyed(char *to, const char *name, size_t bytes, const char *ending, double rate) {
  if (isnan(rate)) return to;
  to = json_put(to, ",\"", 2);
  to = json_put(to, name, bytes);
  to = json_put(to, ending, strlen(ending));
  return put_rate(json_put(to, "\":", 2), rate);
}

static char *put_interface(char *to, const struct beoboard_net_rates *rates) {
  to = json_put(to, "{\"name\":", 8);
  to = put_text(to, (const uint8_t *)rates->name, sizeof rates->name);
  for (size_t i = 0; to != NULL && i < COUNTERS(bb_net_counters); i++)
    to = put_keyed(to, bb_net_counters[i].name, strlen(bb_net_counters[i].name), "",
                   rate_at(rates, bb_net_counters[i].rate));
  if (to != NULL) *to++ = '}';
  return to;
}

static char *put_interfaces(char *to, const struct beoboard_net_rates *rates) {
  to = json_put(to, ",\"net\":", 7);
  char *const begin = to;
  for (int i = 0; to != NULL && i < BB_NET_ENTRIES && rates[i].name[0] != 0; i++) {
    *to++ = ',';
    to = put_interface(to, &rates[i]);
  }
  if (to == NULL) return NULL;
  if (to == begin) to++;
  *begin = '[';
  *to++ = ']';
  return to;
}

/* A key has at most 32 bytes with what is around it, a rate 17. */
_Static_assert((2 * COUNTERS(bb_report_counters) + (BB_NET_ENTRIES + 2) * (COUNTERS(bb_net_counters) + 2)) * 64 <=
                   BB_JSON_RATES_MOST,
               "there is room for all rates");

/* What `beoboard_rates` cannot hold: a name without an end, of which it has room for all but the last byte. */
static bool has_long_name(const struct bb_report *r) {
  const struct bb_net_if *sums[] = {&r->net_rest, &r->fabric};
  for (int i = 0; i < BB_NET_ENTRIES; i++)
    if (r->net[i].name[sizeof r->net[i].name - 1] != 0) return true;
  for (int i = 0; i < 2; i++)
    if (sums[i]->name[sizeof sums[i]->name - 1] != 0) return true;
  return false;
}

long bb_json_rates(char *to, const struct bb_report *before, const struct bb_report *after) {
  struct bb_span span;
  if (!bb_span_of(before, after, &span)) return 0;
  if (has_long_name(after)) return -1;
  struct beoboard_rates rates;
  bb_rates_of(&span, &rates);
  char *const begin = to;
  const size_t n = COUNTERS(bb_report_counters);
  for (size_t i = 0; to != NULL && i < n; i++)
    to = put_keyed(to, bb_report_counters[i].name, strlen(bb_report_counters[i].name), "",
                   rate_at(&rates, bb_report_counters[i].rate));
  for (size_t i = 0; to != NULL && i < n; i++) {
    const struct bb_counter *c = &bb_report_counters[i];
    /* cpu_user_pct of cpu_user_ms. */
    if (c->share != 0) to = put_keyed(to, c->name, strlen(c->name) - 2, "pct", rate_at(&rates, c->share));
  }
  if (to != NULL && bb_has_net(&span)) to = put_interfaces(to, rates.net);
  if (to != NULL && rates.net_rest.name[0] != 0)
    to = put_interface(json_put(to, ",\"net_rest\":", 12), &rates.net_rest);
  if (to != NULL && rates.fabric.name[0] != 0) to = put_interface(json_put(to, ",\"fabric\":", 10), &rates.fabric);
  if (to == NULL) return -1;
  if (to == begin) to++;
  *begin = '{';
  *to++ = '}';
  return (long)(to - begin);
}

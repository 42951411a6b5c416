#include "optionvalues.h"

#include "jobrules.h"
#include "kernelfile.h"
#include "naming.h"

#define MOST_WORDS 32 /* as many as there are bits */

bool value_file(struct span text, void *field, struct words *why) {
  *(const char **)field = text.at;
  return text.len > 0 || refuse_text(why, text, " is not a file name; write a path");
}

bool value_path(struct span text, void *field, struct words *why) {
  if (!value_file(text, field, why)) return false;
  return text.len <= MOST_PATH || refuse_text(why, text, " is longer than 512 bytes; write a shorter path");
}

bool value_user(struct span text, void *field, struct words *why) {
  struct span left = text;
  uint64_t id;
  *(const char **)field = text.at;
  if (text_u64(text, &id) && text.len <= 10 && id < UINT32_MAX) return true;
  bool good = left.len > 0 && (is_letter(left.at[0]) || left.at[0] == '_');
  if (ends(left, SPAN("$"))) left.len--;
  for (size_t i = 0; i < left.len; i++)
    good &= is_letter(left.at[i]) || is_digit(left.at[i]) || strchr("_.@-", left.at[i]) != NULL;
  return good || refuse_text(why, text, " is not a user; write a user name or a user id");
}

bool value_node_name(struct span text, void *field, struct words *why) {
  if (is_node_name(text, false)) {
    memcpy(field, text.at, text.len + 1);
    return true;
  }
  refuse_text(why, text, " is not a node name; write ");
  if (!is_node_name(text, true)) {
    add_text(why, "1 to 63 of a-z 0-9 . _ - that begin with a letter or digit");
    return false;
  }
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.at[i];
    add_span(why, (struct span){&(char){is_upper(c) ? (char)(c | 0x20) : c}, 1});
  }
  return false;
}

#define NOT_A_TIME " is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s"

bool parse_duration(struct span text, uint64_t *ms, struct words *why) {
  static const struct {
    struct span name;
    uint32_t ms;
  } units[] = {{SPAN_TEXT("ms"), 1}, {SPAN_TEXT("s"), 1000}, {SPAN_TEXT("m"), 60000}, {SPAN_TEXT("h"), 3600000},
    {SPAN_TEXT("d"), 86400000}};
  struct span left = text, whole, part = {"", 0};
  if (!eat_digits(&left, 1, SIZE_MAX, &whole) || (eat(&left, SPAN(".")) && !eat_digits(&left, 1, SIZE_MAX, &part)))
    return refuse_text(why, text, NOT_A_TIME);
  uint32_t scale = 0;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (span_is(left, units[i].name)) scale = units[i].ms;
  if (scale == 0 && left.len > 0) return refuse_text(why, text, NOT_A_TIME);
  if (scale == 0) {
    refuse_text(why, text, " has no unit; write ");
    for (unsigned i = 0; i < 2; i++) {
      add_span(why, text);
      add_text(why, i == 0 ? "s or " : "ms");
    }
    return false;
  }
  uint64_t number;
  if (whole.len > 15 || !text_u64(whole, &number) || number > (UINT64_C(1) << 53) / scale)
    return refuse_text(why, text, " is too long; write a shorter time");
  *ms = number * scale;
  bb_wide over = 0, divisor = 1; /* the value of the decimals; beyond twenty they make no difference */
  for (size_t i = 0; i < part.len && i < 20; i++, divisor *= 10) over = over * 10 + (unsigned)(part.at[i] - '0');
  const bb_wide parts = over * scale, left_over = parts % divisor;
  *ms += (uint64_t)(parts / divisor);
  if (left_over * 1000000 <= divisor) return true;
  const bool up = left_over * 2 >= divisor;
  *ms += up;
  if ((divisor - left_over) * 1000000 <= divisor) return true;
  refuse_text(why, text, " is not a whole number of ms; write ");
  add_number(why, *ms > 0 ? *ms : 1);
  add_text(why, "ms");
  return false;
}

bool value_time(struct span text, uint64_t least_ms, uint64_t most_ms, const char *limits, uint64_t *ms,
                struct words *why) {
  *ms = 0;
  if (!span_is(text, SPAN("0")) && !parse_duration(text, ms, why)) return false;
  if (*ms >= least_ms && *ms <= most_ms) return true;
  refuse_text(why, text, " is out of bounds; write ");
  add_text(why, limits);
  return false;
}

bool value_portion(struct span text, void *field, struct words *why) {
  struct portion *portion = (struct portion *)field;
  struct span left = text, digits, part = {0};
  uint64_t number = 0, thousandths = 0;
  bool good = eat_digits(&left, 1, 9, &digits) && text_u64(digits, &number);
  const bool has_part = good && eat(&left, SPAN("."));
  if (has_part) good = eat_digits(&left, 1, 3, &part) && text_u64(part, &thousandths);
  for (size_t i = part.len; i < 3; i++) thousandths *= 10;
  const bool is_share = good && eat(&left, SPAN("%"));
  *portion = is_share ? (struct portion){0, number * 1000 + thousandths} : (struct portion){number, 0};
  if (is_share && eat(&left, SPAN(","))) good = eat_digits(&left, 1, 9, &digits) && text_u64(digits, &portion->nodes);
  if (!good || left.len > 0 || has_part > is_share)
    return refuse_text(why, text, " is not a number of nodes; write it as 5, 2% or 0.1%,1");
  return portion->share <= PARTS_OF_NODE || refuse_text(why, text, " is more than all nodes; write 0% to 100%");
}

bool value_either(struct span text, const char *first, const char *second, bool *is_second, struct words *why) {
  *is_second = span_is(text, span_of(second));
  if (*is_second || span_is(text, span_of(first))) return true;
  refuse_text(why, text, " is not a valid value; use ");
  add_text(why, first);
  add_text(why, " or ");
  add_text(why, second);
  return false;
}

/* Why a part is not one of the words. */
static bool refuse_part(struct span part, const char *what, const char *const *words, size_t count, struct words *why) {
  const char *near = nearest_word(part, words, count);
  refuse_text(why, part, strchr("aeiou", what[0]) != NULL ? " is not an " : " is not a ");
  add_text(why, what);
  add_text(why, near != NULL ? "; did you mean " : "; write ");
  for (size_t i = 0; near == NULL && i < count; i++) {
    if (i > 0) add_text(why, ", ");
    add_text(why, words[i]);
  }
  if (near == NULL) return false;
  add_text(why, near);
  add_text(why, "?");
  return false;
}

bool value_some(struct span text, const char *what, const char *(*name)(int), const int *order, size_t count,
                uint32_t *bits, struct words *why) {
  const char *words[MOST_WORDS];
  for (size_t i = 0; i < count; i++) words[i] = name(order == NULL ? (int)i : order[i]);
  struct span left = text, part;
  *bits = 0;
  while (next_part(&left, ',', &part)) {
    size_t i = 0;
    while (i < count && !span_is(span_of(words[i]), part)) i++;
    if (i == count) return refuse_part(part, what, words, count, why);
    *bits |= UINT32_C(1) << (order == NULL ? (int)i : order[i]);
  }
  return true;
}

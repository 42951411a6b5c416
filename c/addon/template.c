#include "template.h"

#include <math.h>
#include <string.h>

#include "../base/digits.h"

#define EXACT 9007199254740991.0 /* 2^53 - 1 */
#define DIGITS_MOST (BB_GAP_TEXT - 1)

static const uint32_t POWERS[DIGITS_MOST + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000};

/* The number divided by that power of ten, 1 to 6. Division by a constant takes a fifth of the time of another one. */
static uint64_t divided(uint64_t number, uint32_t digits) {
  switch (digits) {
  case 1: return number / 10;
  case 2: return number / 100;
  case 3: return number / 1000;
  case 4: return number / 10000;
  case 5: return number / 100000;
  default: return number / 1000000;
  }
}

/* As Page.decimal does. */
static char *put_decimal(char *to, double value, uint32_t digits) {
  const uint32_t power = POWERS[digits];
  const double positive = fabs(value), product = positive * power;
  uint64_t whole, rest = 0;
  if (digits == 0) whole = bb_rounded(positive);
  else if (product <= EXACT) {
    const uint64_t scaled = bb_rounded(product);
    whole = divided(scaled, digits);
    rest = scaled - whole * power;
  } else {
    /* That product has lost digits that the number itself has. Of so large a number at most 20 bits are behind the
     * point, and this product is exact. */
    whole = (uint64_t)positive;
    rest = bb_rounded((positive - (double)whole) * power);
    if (rest == power) whole++, rest = 0;
  }
  if (value < 0 && (whole | rest) != 0) *to++ = '-';
  to = bb_put_whole(to, whole);
  if (digits == 0) return to;
  *to++ = '.';
  return bb_put_digits(to, rest, digits);
}

static char *put_bytes(char *to, const char *from, size_t bytes) {
  if (bytes > 0) memcpy(to, from, bytes);
  return to + bytes;
}

bool bb_template_check(const struct bb_template *layout, size_t places) {
  size_t left = layout->bytes;
  for (size_t i = 0; i < layout->gaps; i++) {
    const struct bb_gap *g = &layout->gap[i];
    if (g->before > left || g->after > left - g->before || g->place >= places || g->digits > BB_GAP_TEXT) return false;
    left -= (size_t)g->before + g->after;
  }
  return true;
}

long bb_template_print(char *to, size_t room, const struct bb_template *layout, const struct bb_filling *filling) {
  if (layout->gaps > room / BB_NUMBER_MOST || layout->bytes > room || filling->bytes > room ||
      layout->bytes + filling->bytes + layout->gaps * BB_NUMBER_MOST > room)
    return -1;
  char *at = to;
  /* What is before `done` is written or left out. Bytes around the end of a part are written together. */
  const char *done = layout->text, *part = layout->text;
  size_t begin = 0;
  for (size_t i = 0; i < layout->gaps; i++) {
    const struct bb_gap gap = layout->gap[i];
    const double value = filling->values[gap.place];
    const char *const here = part + gap.before, *const next = here + gap.after;
    if (!(fabs(value) <= EXACT)) {
      at = put_bytes(at, done, (size_t)(part - done));
      done = part = next;
      continue;
    }
    at = put_bytes(at, done, (size_t)(here - done));
    done = here;
    part = next;
    if (gap.digits != BB_GAP_TEXT) {
      at = put_decimal(at, value, gap.digits);
      continue;
    }
    if (!(value >= (double)begin && value <= (double)filling->bytes)) return -1;
    const size_t end = (size_t)value;
    at = put_bytes(at, filling->texts + begin, end - begin);
    begin = end;
  }
  return (long)(put_bytes(at, done, (size_t)(layout->text + layout->bytes - done)) - to);
}

#include "form.h"

#include <math.h>
#include <string.h>

#define EXACT 9007199254740991.0 /* 2^53 - 1 */
#define DIGITS_MOST 6

static const uint32_t POWERS[DIGITS_MOST + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000};

static const char PAIRS[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
    "555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/* The lowest `digits` digits of a number. */
static char *put_digits(char *to, uint64_t value, unsigned digits) {
  char *at = to + digits;
  for (; at - to >= 2; value /= 100) memcpy(at -= 2, PAIRS + 2 * (value % 100), 2);
  if (at > to) *to = (char)('0' + value % 10);
  return to + digits;
}

static char *put_whole(char *to, uint64_t value) {
  unsigned digits = 1;
  for (uint64_t limit = 10; limit <= value; limit *= 10) digits++;
  return put_digits(to, value, digits);
}

/* A number of 0 to 2^53, as Math.round does it: a half goes up, and no addition rounds before that. */
static uint64_t rounded(double value) {
  const uint64_t below = (uint64_t)value;
  return below + (value - (double)below >= 0.5);
}

/* As Page.decimal does. */
static char *put_decimal(char *to, double value, uint32_t digits) {
  const uint32_t power = POWERS[digits];
  const double positive = fabs(value), product = positive * power;
  uint64_t whole, rest = 0;
  if (product <= EXACT) {
    const uint64_t scaled = rounded(product);
    whole = scaled / power;
    rest = scaled % power;
  } else {
    /* That product has lost digits that the number itself has. Of so large a number at most 20 bits are behind the
     * point, and this product is exact. */
    whole = (uint64_t)positive;
    rest = rounded((positive - (double)whole) * power);
    if (rest == power) whole++, rest = 0;
  }
  if (value < 0 && (whole | rest) != 0) *to++ = '-';
  to = put_whole(to, whole);
  if (digits == 0) return to;
  *to++ = '.';
  return put_digits(to, rest, digits);
}

static char *put_bytes(char *to, const char *from, size_t bytes) {
  if (bytes > 0) memcpy(to, from, bytes);
  return to + bytes;
}

long bb_form_print(char *to, size_t room, const struct bb_form *form, const struct bb_filling *filling) {
  if (form->gaps > room / BB_NUMBER_MOST || form->bytes > room || filling->bytes > room ||
      form->bytes + filling->bytes + form->gaps * BB_NUMBER_MOST > room)
    return -1;
  char *at = to;
  size_t done = 0, begin = 0;
  for (size_t i = 0; i < form->gaps; i++) {
    const struct bb_gap gap = form->gap[i];
    if (gap.before > form->bytes - done || gap.place >= filling->places) return -1;
    at = put_bytes(at, form->text + done, gap.before);
    done += gap.before;
    const double value = filling->values[gap.place];
    if (gap.digits == BB_GAP_TEXT) {
      if (!(value >= (double)begin && value <= (double)filling->bytes)) return -1;
      const size_t end = (size_t)value;
      at = put_bytes(at, filling->texts + begin, end - begin);
      begin = end;
    } else {
      if (gap.digits > DIGITS_MOST || !(fabs(value) <= EXACT)) return -1;
      at = put_decimal(at, value, gap.digits);
    }
  }
  return (long)(put_bytes(at, form->text + done, form->bytes - done) - to);
}

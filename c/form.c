#include "form.h"

#include <math.h>
#include <string.h>

#include "digits.h"

#define EXACT 9007199254740991.0 /* 2^53 - 1 */
#define DIGITS_MOST 6

static const uint32_t POWERS[DIGITS_MOST + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000};

/* As Page.decimal does. */
static char *put_decimal(char *to, double value, uint32_t digits) {
  const uint32_t power = POWERS[digits];
  const double positive = fabs(value), product = positive * power;
  uint64_t whole, rest = 0;
  if (product <= EXACT) {
    const uint64_t scaled = bb_rounded(product);
    whole = scaled / power;
    rest = scaled % power;
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

/* Decimal digits of whole numbers, two at a time. Pure. */
#ifndef BB_DIGITS_H
#define BB_DIGITS_H
#include <stdint.h>
#include <string.h>

static const char bb_digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
    "555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/* The lowest `digits` digits of a number; the place behind them. */
static inline char *bb_put_digits(char *to, uint64_t value, unsigned digits) {
  char *at = to + digits;
  for (; at - to >= 2; value /= 100) memcpy(at -= 2, bb_digit_pairs + 2 * (value % 100), 2);
  if (at > to) *to = (char)('0' + value % 10);
  return to + digits;
}

/* All digits of a number, at most 20. */
static inline char *bb_put_whole(char *to, uint64_t value) {
  unsigned digits = 1;
  for (uint64_t limit = 10; limit <= value && digits < 20; limit *= 10) digits++;
  return bb_put_digits(to, value, digits);
}

/* A number of 0 to 2^53, rounded half away from zero. No addition rounds before that. */
static inline uint64_t bb_rounded(double value) {
  const uint64_t below = (uint64_t)value;
  return below + (value - (double)below >= 0.5);
}

#endif

#include "text.h"

#define REPLACEMENT 0xfffdu

bool text_u64(struct span token, uint64_t *value) {
  if (token.len == 0 || token.len > 20) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < token.len; i++) {
    const unsigned digit = (unsigned char)token.at[i] - (unsigned)'0';
    if (digit > 9) return false;
    if (i < 19) sum = sum * 10 + digit; /* 19 digits always fit */
    else if (__builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, digit, &sum)) return false;
  }
  *value = sum;
  return true;
}

bool text_natural(struct span token, uint64_t most, uint64_t *value, bool *is_negative) {
  *is_negative = eat(&token, SPAN("-"));
  if (!text_u64(token, value)) return false;
  *is_negative |= *value > most;
  if (*is_negative) *value = 0;
  return true;
}

bool text_hex(struct span token, uint64_t *value) {
  if (token.len == 0 || token.len > 16) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < token.len; i++) {
    const char c = token.at[i];
    if (!is_hex(c)) return false;
    sum = sum << 4 | (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  *value = sum;
  return true;
}

bool text_after(struct span text, struct span key, struct span *after) {
  for (struct span left = text;;) {
    if (begins(left, key)) {
      *after = without(left, key.len);
      return true;
    }
    struct span line;
    if (!next_line(&left, &line)) return false;
  }
}

bool line_after(struct span text, struct span key, struct span *after) {
  struct span left;
  return text_after(text, key, &left) && next_line(&left, after);
}

bool next_word(struct span *left, struct span *word) {
  while (left->len > 0 && left->at[0] == ' ') *left = without(*left, 1);
  if (left->len == 0) return false;
  const char *end = find_char(*left, ' ');
  *word = (struct span){left->at, end == NULL ? left->len : (size_t)(end - left->at)};
  *left = without(*left, word->len);
  return true;
}

bool next_part(struct span *left, char by, struct span *part) {
  if (left->at == NULL) return false;
  const char *end = find_char(*left, by);
  *part = (struct span){left->at, end == NULL ? left->len : (size_t)(end - left->at)};
  *left = end == NULL ? (struct span){NULL, 0} : without(*left, part->len + 1);
  return true;
}

bool eat(struct span *left, struct span what) {
  if (!begins(*left, what)) return false;
  *left = without(*left, what.len);
  return true;
}

bool eat_digits(struct span *left, size_t least, size_t most, struct span *digits) {
  size_t count = 0;
  while (count < left->len && count < most && is_digit(left->at[count])) count++;
  if (count < least) return false;
  if (digits != NULL) *digits = (struct span){left->at, count};
  *left = without(*left, count);
  return true;
}

bool at_end(struct span left) { return left.len == 0 || (left.len == 1 && left.at[0] == '\n'); }

bool eat_hundredths(struct span *left, bb_wide *value) {
  struct span rest = *left, whole, part;
  uint64_t number;
  if (!eat_digits(&rest, 1, 20, &whole) || !eat(&rest, SPAN(".")) || !eat_digits(&rest, 2, 2, &part)) return false;
  if (!text_u64(whole, &number)) return false;
  *value = (bb_wide)number * 100 + (unsigned)(part.at[0] - '0') * 10u + (unsigned)(part.at[1] - '0');
  *left = rest;
  return true;
}

bool is_blank(uint32_t c) {
  if (c <= 0x20) return c == 0x20 || (c >= 0x09 && c <= 0x0d);
  return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000 || c == 0xfeff;
}

/* As in the Encoding Standard: an invalid sequence ends before the first byte that cannot continue it. */
size_t next_character(struct span text, uint32_t *character) {
  const unsigned char *at = (const unsigned char *)text.at;
  const unsigned first = at[0];
  if (first < 0x80) {
    *character = first;
    return 1;
  }
  *character = REPLACEMENT;
  if (first < 0xc2 || first > 0xf4) return 1;
  const size_t more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  unsigned least = 0x80, most = 0xbf;
  if (first == 0xe0) least = 0xa0; /* overlong */
  if (first == 0xed) most = 0x9f;  /* surrogates */
  if (first == 0xf0) least = 0x90;
  if (first == 0xf4) most = 0x8f; /* beyond the last character */
  uint32_t value = first & (0x3fu >> more);
  for (size_t i = 1; i <= more; i++) {
    if (i >= text.len || at[i] < least || at[i] > most) return i;
    value = value << 6 | (at[i] & 0x3fu);
    least = 0x80;
    most = 0xbf;
  }
  *character = value;
  return more + 1;
}

struct span trimmed_start(struct span text) {
  while (text.len > 0) {
    uint32_t character;
    const size_t bytes = next_character(text, &character);
    if (!is_blank(character)) break;
    text = without(text, bytes);
  }
  return text;
}

/* Lead bytes always begin a character, so that the last character can be read from its end. */
struct span trimmed_end(struct span text) {
  while (text.len > 0) {
    size_t bytes = 1;
    while (bytes < 3 && bytes < text.len && ((unsigned char)text.at[text.len - bytes] & 0xc0) == 0x80) bytes++;
    const struct span last = {text.at + text.len - bytes, bytes};
    uint32_t character;
    if (next_character(last, &character) != bytes || !is_blank(character)) break;
    text.len -= bytes;
  }
  return text;
}

struct span trimmed(struct span text) { return trimmed_end(trimmed_start(text)); }

size_t copy_utf8(char *to, size_t room, struct span text) {
  size_t used = 0;
  while (text.len > 0) {
    uint32_t character;
    const size_t bytes = next_character(text, &character);
    const bool broken = character == REPLACEMENT;
    const size_t size = broken ? 3 : bytes;
    if (used + size > room) break;
    memcpy(to + used, broken ? "\xef\xbf\xbd" : text.at, size);
    used += size;
    text = without(text, bytes);
  }
  return used;
}

uint64_t fingerprint(uint64_t so_far, struct span text) {
  for (size_t i = 0; i < text.len; i++) so_far = (so_far ^ (unsigned char)text.at[i]) * FINGERPRINT_PRIME;
  return so_far;
}

uint16_t thousandths(bb_wide part, bb_wide whole) {
  if (part >= whole) return 1000;
  if (part <= UINT64_MAX / 1000 && whole <= UINT64_MAX) return (uint16_t)((uint64_t)part * 1000 / (uint64_t)whole);
  /* A product with 1000 may not fit: it is divided while it is computed, bit by bit. The remainder stays below the
   * whole. */
  unsigned quotient = 0;
  bb_wide left = 0;
  for (unsigned bit = 512; bit > 0; bit >>= 1) {
    quotient <<= 1;
    left <<= 1;
    if (left >= whole) {
      left -= whole;
      quotient++;
    }
    if ((1000 & bit) == 0) continue;
    left += part;
    if (left >= whole) {
      left -= whole;
      quotient++;
    }
  }
  return (uint16_t)quotient;
}

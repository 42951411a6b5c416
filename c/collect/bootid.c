/* /proc/sys/kernel/random/boot_id: distinguishes one boot of the node from the next. Accepts only a UUID. */
#include "parse.h"

bool parse_boot_id(struct span text, uint64_t *id) {
  if (text.len < 36 || !at_end(without(text, 36))) return false;
  uint64_t value = 0;
  unsigned digits = 0;
  for (unsigned i = 0; i < 36; i++) {
    const char c = text.at[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return false;
      continue;
    }
    const unsigned digit = is_digit(c) ? (unsigned)(c - '0') : ((unsigned)(unsigned char)c | 0x20u) - 'a' + 10u;
    if (digit > 15 || (!is_digit(c) && digit < 10)) return false;
    if (digits++ < 16) value = value << 4 | digit;
  }
  *id = value;
  return true;
}

/* Finds lines, words and numbers in the text of kernel files, where it lies and in linear time. Pure. Refuses to guess:
 * what is no unsigned 64-bit decimal number, or was cut before its end, is none.
 *
 * Texts are taken as the other sender takes them, to the byte: UTF-8 in which each broken part counts as one U+FFFD,
 * and blanks at the ends of a text are those of Unicode. */
#ifndef BB_TEXT_H
#define BB_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "made for little-endian machines"
#endif

/* Sums and products of 64-bit counters, which are cut to their fields only at the end. */
__extension__ typedef unsigned __int128 bb_wide;

/* Large tables, and what is seldom used, are placed after everything else, so that small and frequently used data are
 * close together. Mostly only the beginning of a table is used: a kilobyte of it lies in one page. More would move all
 * of .bss to pages of its own. */
#define LARGE __attribute__((section(".bss.zz.large"), aligned(1024)))

/* A piece of a text, without a NUL after it. */
struct span {
  const char *at;
  size_t len;
};

#define SPAN_TEXT(literal) {literal, sizeof(literal) - 1}
#define SPAN(literal) ((struct span)SPAN_TEXT(literal))

static inline struct span span_of(const char *text) { return (struct span){text, strlen(text)}; }

static inline bool span_is(struct span text, struct span other) {
  return text.len == other.len && memcmp(text.at, other.at, other.len) == 0;
}

/* What some programs write at the beginning of a file. */
#define BYTE_ORDER_MARK SPAN("\xef\xbb\xbf")

/* The first byte distinguishes most texts, and no function is called for it. */
static inline bool begins(struct span text, struct span with) {
  if (text.len < with.len || with.len == 0) return with.len == 0;
  return text.at[0] == with.at[0] && memcmp(text.at, with.at, with.len) == 0;
}

static inline bool ends(struct span text, struct span with) {
  return text.len >= with.len && memcmp(text.at + text.len - with.len, with.at, with.len) == 0;
}

static inline struct span without(struct span text, size_t bytes) {
  return (struct span){text.at + bytes, text.len - bytes};
}

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Of a number as the kernel writes it in hexadecimal. */
static inline bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

/* The first place of a character; NULL if it does not occur, or there is no text. Eight bytes at a time, and
 * inlined: lines and words are short, and musl's memchr first goes byte by byte to an aligned address, which was a
 * third of the time for a report. */
static inline const char *find_char(struct span text, char c) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  size_t i = 0;
  for (; i + 8 <= text.len; i += 8) {
    uint64_t bytes;
    memcpy(&bytes, text.at + i, 8);
    bytes ^= each * (unsigned char)c;
    /* The highest bit of each byte that is 0; bits above the first one may be wrong. */
    const uint64_t hits = (bytes - each) & ~bytes & each << 7;
    if (hits != 0) return text.at + i + (unsigned)__builtin_ctzll(hits) / 8;
  }
  for (; i < text.len; i++)
    if (text.at[i] == c) return text.at + i;
  return NULL;
}

/* The number of a token that consists of 1 to 20 decimal digits. */
bool text_u64(struct span token, uint64_t *value);
/* The same of a number that some kernels write below zero, with its sign or, then beyond `most`, without: that is 0. */
bool text_natural(struct span token, uint64_t most, uint64_t *value, bool *is_negative);

/* The same of 1 to 16 hexadecimal digits, as the kernel writes them: small letters, and no 0x. */
bool text_hex(struct span token, uint64_t *value);

/* What a parser made of a text: part of it, where a line that is not understood was left out. */
enum parsed { REFUSED, WHOLE, IN_PART };

/* Of so many lines so many were understood. */
static inline enum parsed parsed_lines(unsigned lines, unsigned understood) {
  return understood == lines ? WHOLE : understood > 0 ? IN_PART : REFUSED;
}

/* The next line of the rest; the part after the last line end does not count. */
static inline bool next_line(struct span *left, struct span *line) {
  const char *end = find_char(*left, '\n');
  if (end == NULL) return false;
  *line = (struct span){left->at, (size_t)(end - left->at)};
  *left = without(*left, line->len + 1);
  return true;
}

/* The text after `key` on the first line that begins with it; false if there is none or it was cut. */
bool line_after(struct span text, struct span key, struct span *after);
/* The same, with all of the text that follows. */
bool text_after(struct span text, struct span key, struct span *after);

/* The next word, separated by blanks only. */
bool next_word(struct span *left, struct span *word);
/* The part up to the next `by`, or to the end; false if nothing is left, not even an empty part. Begin with `at` of
 * a text. */
bool next_part(struct span *left, char by, struct span *part);

/* Skips this text; false, without a step, if something else follows. */
bool eat(struct span *left, struct span what);
/* Over `least` to `most` digits, as many as there are. */
bool eat_digits(struct span *left, size_t least, size_t most, struct span *digits);
/* Whether nothing is left except, possibly, one line end. */
bool at_end(struct span left);

/* Skips a number with two decimals, as the kernel writes loads and pressures: in hundredths. */
bool eat_hundredths(struct span *left, bb_wide *value);

/* Without the blanks of Unicode around it. */
struct span trimmed(struct span text);
struct span trimmed_start(struct span text);
struct span trimmed_end(struct span text);

/* The character that begins here, and the number of its bytes. An invalid sequence is one U+FFFD. */
size_t next_character(struct span text, uint32_t *character);
bool is_blank(uint32_t character);
/* Copies the text with U+FFFD in place of invalid UTF-8, as far as it fits; returns the bytes written. */
size_t copy_utf8(char *to, size_t room, struct span text);

/* A fingerprint of 64 bits (FNV-1a), to notice that a text has changed. */
#define FINGERPRINT UINT64_C(0xcbf29ce484222325)
#define FINGERPRINT_PRIME UINT64_C(0x100000001b3)
uint64_t fingerprint(uint64_t so_far, struct span text);
/* Of a list, to which this is added. */
static inline uint64_t fingerprint_with(uint64_t so_far, uint64_t print) {
  return (so_far ^ print) * FINGERPRINT_PRIME;
}

static inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint64_t least_64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t saturated_64(bb_wide value) { return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value; }
static inline uint32_t saturated_32(bb_wide value) { return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; }
static inline uint16_t saturated_16(bb_wide value) { return value > UINT16_MAX ? UINT16_MAX : (uint16_t)value; }
static inline uint8_t saturated_8(bb_wide value) { return value > UINT8_MAX ? UINT8_MAX : (uint8_t)value; }

/* A part of a whole in thousandths, rounded down, at most 1000. */
uint16_t thousandths(bb_wide part, bb_wide whole);

#endif

/* Texts as kernels write them: numbers, lines, words, and UTF-8 that is broken; texts that are put together. */
#include "../../base/text.h"

#include "../../base/words.h"
#include "check.h"

/* A span as a text of its own. */
static const char *text(struct span span) {
  static char copy[200];
  memcpy(copy, span.at, span.len);
  copy[span.len] = 0;
  return copy;
}

static const struct {
  const char *token;
  bool is;
  uint64_t value;
} numbers[] = {
  {"0", true, 0}, {"007", true, 7}, {"18446744073709551615", true, UINT64_MAX}, {"18446744073709551616", false, 0},
  {"99999999999999999999", false, 0}, {"000000000000000000001", false, 0} /* 21 digits */, {"", false, 0},
  {"-1", false, 0}, {"+1", false, 0}, {"1 ", false, 0}, {"1a", false, 0}, {"0x10", false, 0}, {"1.0", false, 0},
};

static const struct {
  const char *token;
  bool is;
  unsigned hundredths;
} decimals[] = {
  {"0.00", true, 0}, {"1.05", true, 105}, {"12345.67", true, 1234567}, {"1.5", false, 0}, {"x", false, 0},
  {"1", false, 0},   {".50", false, 0},   {"-1.00", false, 0},         {"", false, 0},
};

static void check_numbers(void) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    uint64_t value = 0;
    const bool is = text_u64(span_of(numbers[i].token), &value);
    CHECK(is == numbers[i].is && (!is || value == numbers[i].value), "'%s'", numbers[i].token);
  }
  uint64_t hex = 0;
  CHECK(text_hex(SPAN("00ff"), &hex) && hex == 255, "hexadecimal");
  CHECK(text_hex(SPAN("ffffffffffffffff"), &hex) && hex == UINT64_MAX, "16 digits");
  static const char *const not_hex[] = {"", "0x1", "FF", "1 ", "00000000000000001"};
  for (size_t i = 0; i < sizeof not_hex / sizeof not_hex[0]; i++)
    CHECK(!text_hex(span_of(not_hex[i]), &hex), "'%s'", not_hex[i]);
  for (size_t i = 0; i < sizeof decimals / sizeof decimals[0]; i++) {
    bb_wide value = 0;
    struct span left = span_of(decimals[i].token);
    const bool is = eat_hundredths(&left, &value);
    CHECK(is == decimals[i].is && (!is || value == decimals[i].hundredths), "'%s'", decimals[i].token);
    CHECK(left.len == (is ? 0 : strlen(decimals[i].token)), "'%s': how much of it", decimals[i].token);
  }
  CHECK(thousandths(1, 3) == 333 && thousandths(2, 3) == 666, "rounded down");
  CHECK(thousandths(4, 3) == 1000, "not more than all");
  CHECK(thousandths((bb_wide)UINT64_MAX * 3, (bb_wide)UINT64_MAX * 4) == 750, "of sums that no counter holds");
  CHECK(saturated_8(256) == 255 && saturated_16(1) == 1 && saturated_32((bb_wide)1 << 100) == UINT32_MAX, "saturated");
}

static void check_pieces(void) {
  struct span left = SPAN("a b\n\nc"), piece;
  CHECK(next_line(&left, &piece), "a line");
  CHECK_TEXT(text(piece), "a b");
  CHECK(next_line(&left, &piece) && piece.len == 0, "an empty line");
  CHECK(!next_line(&left, &piece), "one that was cut is none");
  left = SPAN("  a  bc ");
  CHECK(next_word(&left, &piece), "a word");
  CHECK_TEXT(text(piece), "a");
  CHECK(next_word(&left, &piece), "the next");
  CHECK_TEXT(text(piece), "bc");
  CHECK(!next_word(&left, &piece), "blanks are none");
  left = SPAN("a,,b,");
  static const char *const parts[] = {"a", "", "b", ""};
  for (size_t i = 0; i < 4; i++) {
    CHECK(next_part(&left, ',', &piece), "part %zu", i);
    CHECK_TEXT(text(piece), parts[i]);
  }
  CHECK(!next_part(&left, ',', &piece), "no more parts");
  left = SPAN("cpu12 x");
  CHECK(!eat(&left, SPAN("gpu")) && eat(&left, SPAN("cpu")), "what is there");
  CHECK(eat_digits(&left, 1, 4, &piece) && piece.len == 2, "its digits");
  CHECK(!eat_digits(&left, 1, 4, &piece), "no more of them");
  static const char table[] = "MemTotal:  5 kB\nMemFree: 3 kB\nMem";
  struct span after;
  CHECK(line_after(span_of(table), SPAN("MemFree:"), &after), "a line by its beginning");
  CHECK_TEXT(text(after), " 3 kB");
  CHECK(!line_after(span_of(table), SPAN("Mem\n"), &after), "no line");
  CHECK(!line_after(span_of(table), SPAN("Free:"), &after), "not in the middle of one");
  CHECK(!line_after(SPAN("MemFree: 3"), SPAN("MemFree:"), &after), "a line that was cut");
  for (size_t at = 0; at < 20; at++) {
    char row[21] = "....................";
    row[at] = 'x';
    const char *found = find_char(span_of(row), 'x');
    CHECK(found == row + at, "a character at %zu", at);
  }
  CHECK(find_char(SPAN("....................."), 'x') == NULL, "none");
  CHECK(find_char(SPAN("\x01\x00\x01\x01\x01\x01\x01\x01"), 0) != NULL, "a NUL");
}

/* Bytes, the character that begins there, and how many of them it is. */
static const struct {
  const char *bytes;
  uint32_t character;
  size_t length;
} characters[] = {
  {"a", 'a', 1},
  {"\xc3\xb6", 0xf6, 2},
  {"\xe2\x82\xac", 0x20ac, 3},
  {"\xf0\x9f\x98\x80", 0x1f600, 4},
  {"\xff", 0xfffd, 1},
  {"\x80", 0xfffd, 1},
  {"\xc3" "a", 0xfffd, 1},          /* not continued */
  {"\xe2\x82" "a", 0xfffd, 2},      /* as far as it is one */
  {"\xc0\xaf", 0xfffd, 1},          /* longer than it must be */
  {"\xed\xa0\x80", 0xfffd, 1},      /* half of a pair */
  {"\xf4\x90\x80\x80", 0xfffd, 1},  /* beyond Unicode */
  {"\xf0\x9f\x98", 0xfffd, 3},
};

static void check_characters(void) {
  for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++) {
    uint32_t character = 0;
    const size_t length = next_character(span_of(characters[i].bytes), &character);
    CHECK(character == characters[i].character && length == characters[i].length, "row %zu: U+%04X, %zu bytes", i,
          character, length);
  }
  char room[8];
  memset(room, 'x', sizeof room);
  CHECK(copy_utf8(room, 5, SPAN("a\xff" "b")) == 5 && memcmp(room, "a\xef\xbf\xbd" "b", 5) == 0, "mended");
  CHECK(copy_utf8(room, 4, SPAN("abc\xc3\xb6")) == 3, "no half of a character");
  CHECK_TEXT(text(trimmed(SPAN(" \t\xc2\xa0 a b \xe2\x80\x83\n"))), "a b");
  CHECK(trimmed(SPAN(" \n")).len == 0, "nothing but blanks");
}

static void check_words(void) {
  char room[12];
  struct words words = WORDS(room);
  add_text(&words, "n");
  add_number(&words, 0);
  add_text(&words, " ");
  add_based(&words, 255, 16);
  CHECK_TEXT(text_of(&words), "n0 ff");
  add_number(&words, UINT64_MAX);
  CHECK_TEXT(text_of(&words), "n0 ff184467"); /* cut off, and ended */
}

int main(void) {
  check_numbers();
  check_pieces();
  check_characters();
  check_words();
  return checked();
}

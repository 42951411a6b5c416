/* Fuzzes what clients say to beoboard-mon. An input is the size of the pieces in which it comes, and what comes.
 *
 * What must hold: what is answered is one expression, whole and no longer than there is room for; what is said in one
 * piece more or less never reads beyond it (the sanitizers see that). That TypeScript takes the same commands,
 * test/fuzz/fuzz.test.ts asks by fuzz_tell(). */
#include "../../mon/asking.h"
#include "../../mon/samples.h"
#include "fuzz.h"

const char fuzz_unit[] = "commands";
uint64_t fuzz_units;

static void check_answer(const struct words *out) {
  int depth = 0;
  bool quoted = false;
  MUST(out->len > 4 && out->len < MOST_ANSWER - 1 && out->text[out->len - 1] == '\n', "an answer of %zu bytes",
       out->len);
  for (size_t i = 0; i < out->len; i++) {
    const char c = out->text[i];
    MUST((c >= ' ' && c < 0x7f) || c == '\n', "a byte %d", c);
    if (quoted && c == '\\') i++;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && c == '(') depth++;
    else if (!quoted && c == ')') MUST(--depth > 0 || i == out->len - 2, "it is closed at %zu of %zu", i, out->len);
  }
  MUST(depth == 0 && !quoted, "it is not whole");
}

static void tell(const struct command *command, FILE *out) {
  static char text[MOST_ANSWER];
  struct words answer = WORDS(text);
  const struct teller teller = {.node = "n1", .server = "n1/0123456789abcdef"};
  static struct bb_report report;
  memset(&report, 0xff, sizeof report);
  fuzz_units++;
  switch (command->kind) {
    case COMMAND_SCHEMA:
      fputs(" #", out);
      tell_schema(&answer, &teller);
      break;
    case COMMAND_SAMPLE:
      fprintf(out, " S%" PRIx32, command->mask);
      tell_sample(&answer, &teller, command->mask | 0x100, &report);
      break;
    default:
      MUST(command->length <= MOST_WORD, "a word of %u bytes", command->length);
      fputs(" B", out);
      for (unsigned i = 0; i < command->length; i++) fprintf(out, "%02x", (uint8_t)command->word[i]);
      tell_refusal(&answer, &teller, command);
  }
  check_answer(&answer);
}

void fuzz_tell(const uint8_t *data, size_t size, FILE *out) {
  struct asking asking = {.length = 0};
  struct command command;
  if (size == 0) return;
  const size_t step = 1 + data[0] % 32;
  for (size_t at = 1; at < size; at += step) {
    struct span left = {(const char *)data + at, size - at < step ? size - at : step};
    fputs(" |", out);
    for (enum asked asked; (asked = ask(&asking, &left, &command)) != ASKED_NOTHING;) {
      if (asked == ASKED_TOO_MUCH) {
        tell(&command, out);
        fputs(" LONG", out);
        return;
      }
      tell(&command, out);
    }
    MUST(left.len == 0, "something was not looked at");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  fuzz_tell(data, size, nowhere);
  return 0;
}

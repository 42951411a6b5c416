/* Command lines: what is taken of them, and which are refused; values that several programs have. */
#include "../../base/optionline.h"

#include <stddef.h>

#include "../../base/optionvalues.h"
#include "../../base/say.h"
#include "../../beoboard.h"
#include "check.h"

struct got {
  char nodes[20];
  bool verbose;
};

static bool read_nodes(struct span text, void *field, struct words *why) {
  snprintf((char *)field, sizeof ((struct got *)0)->nodes, "%s", text.at);
  if (!span_is(text, SPAN("bad"))) return true;
  add_text(why, "'bad' is bad");
  return false;
}

const char program[] = "tool"; /* as each program names itself */

static const struct option options[] = {
  {.name = "nodes", .letter = 'n', .value = "LIST", .read = read_nodes, .at = offsetof(struct got, nodes)},
  {.name = "verbose", .letter = 'v', .at = offsetof(struct got, verbose)},
};
static const char *const elsewhere[] = {"json", NULL};
static const struct option_table table = {
  .options = options, .count = 2, .elsewhere = elsewhere, .whose = "beoboard tool"};

/* A line by its words; what is taken of it, or what its error has. */
static const struct {
  const char *line;
  enum outcome outcome;
  const char *nodes;
  bool verbose;
  const char *why;
} lines[] = {
  {"", OPTIONS_GOOD, "", false, NULL},
  {"--nodes a", OPTIONS_GOOD, "a", false, NULL},
  {"--nodes=a", OPTIONS_GOOD, "a", false, NULL},
  {"--nodes=a=b", OPTIONS_GOOD, "a=b", false, NULL},
  {"--nodes=", OPTIONS_GOOD, "", false, NULL},
  {"-n a", OPTIONS_GOOD, "a", false, NULL},
  {"-na", OPTIONS_GOOD, "a", false, NULL},
  {"--nodes -a", OPTIONS_GOOD, "-a", false, NULL},
  {"-v --nodes a", OPTIONS_GOOD, "a", true, NULL},
  {"-v -v", OPTIONS_GOOD, "", true, NULL}, /* read once, however often */
  {"--", OPTIONS_GOOD, "", false, NULL},
  {"--help", OPTIONS_HELP, "", false, NULL},
  {"-V", OPTIONS_VERSION, "", false, NULL},
  {"--wrong --help", OPTIONS_HELP, "", false, NULL}, /* whoever asks for help gets it */
  {"--help --version", OPTIONS_HELP, "", false, NULL},
  {"-- --help", OPTIONS_BAD, "", false, "--help"},
  {"--nodes bad", OPTIONS_BAD, "bad", false, "--nodes: 'bad' is bad"},
  {"--nodes a --nodes b", OPTIONS_BAD, "", false, "given 2 times"},
  {"--nodes", OPTIONS_BAD, "", false, "--nodes has no value; write --nodes LIST"},
  {"--nodes --verbose", OPTIONS_BAD, "", false, "--nodes has no value, --verbose follows it"},
  {"--verbose=x", OPTIONS_BAD, "", false, "--verbose takes no value"},
  {"--nods a", OPTIONS_BAD, "", false, "did you mean --nodes?"},
  {"--json", OPTIONS_BAD, "", false, "--json is only in beoboard tool"},
  {"-nodes", OPTIONS_GOOD, "odes", false, NULL},
  {"-verbose", OPTIONS_BAD, "", false, "-verbose"},
  {"-vx", OPTIONS_BAD, "", false, "-v -x"},
  {"-x", OPTIONS_BAD, "", false, "unknown option"},
  {"extra", OPTIONS_BAD, "", false, "one argument too many"},
  {"-", OPTIONS_BAD, "", false, "one argument too many"},
  {"extra -x", OPTIONS_BAD, "", false, "unknown option"}, /* an option that is wrong before an argument */
};

static void check_lines(void) {
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char text[100], *argv[10] = {(char[]){"tool"}};
    int argc = 1;
    strcpy(text, lines[i].line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) argv[argc++] = word;
    struct got got = {{0}, false};
    char why[500];
    struct words fault = WORDS(why);
    const enum outcome outcome = options_read(&table, argc, argv, &got, &fault);
    text_of(&fault);
    CHECK(outcome == lines[i].outcome, "%s: outcome %d, %s", lines[i].line, (int)outcome, why);
    if (outcome == OPTIONS_BAD) CHECK(strstr(why, lines[i].why) != NULL, "%s: %s", lines[i].line, why);
    if (outcome == OPTIONS_GOOD) CHECK_TEXT(got.nodes, lines[i].nodes);
    if (outcome == OPTIONS_GOOD) CHECK(got.verbose == lines[i].verbose, "%s: a flag", lines[i].line);
  }
}

static const struct {
  const char *text;
  bool valid;
  struct portion portion;
} portions[] = {
  {"0", true, {0, 0}},
  {"5", true, {5, 0}},
  {"999999999", true, {999999999, 0}},
  {"2%", true, {0, 2000}},
  {"100%", true, {0, 100000}},
  {"0.1%,1", true, {1, 100}},
  {"12.345%", true, {0, 12345}},
  {"0%,999999999", true, {999999999, 0}},
  {"101%", false, {0}},
  {"100.001%", false, {0}},
  {"1000000000", false, {0}},
  {"1.2345%", false, {0}},
  {"", false, {0}},
  {"%", false, {0}},
  {"-1", false, {0}},
  {"1.5", false, {0}},
  {"1.%", false, {0}},
  {".5%", false, {0}},
  {" 1", false, {0}},
  {"5%%", false, {0}},
  {"5%,", false, {0}},
  {"5%,1%", false, {0}},
  {"1,5%", false, {0}},
};

static const struct {
  const char *text;
  uint32_t bits;
  const char *why;
} problems[] = {
  {"held", 1u << BEOBOARD_PROBLEM_HELD, NULL},
  {"oom,held", 1u << BEOBOARD_PROBLEM_HELD | 1u << BEOBOARD_PROBLEM_OOM, NULL},
  {"oom,oom", 1u << BEOBOARD_PROBLEM_OOM, NULL},
  {"", 0, "''"},
  {"oom,", 0, "''"},
  {"heldd", 0, "did you mean held?"},
  {"zzzzzzzz", 0, "is not a problem; write held, "},
};

static void check_values(void) {
  char why[500];
  struct words fault = WORDS(why);
  for (size_t i = 0; i < sizeof portions / sizeof portions[0]; i++) {
    struct portion got = {0};
    const struct portion *wanted = &portions[i].portion;
    const bool valid = value_portion(span_of(portions[i].text), &got, &fault);
    CHECK(valid == portions[i].valid, "'%s'", portions[i].text);
    if (valid) CHECK(got.nodes == wanted->nodes && got.share == wanted->share, "'%s'", portions[i].text);
  }
  for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
    uint32_t bits = 0;
    fault.len = 0;
    const bool valid = value_some(span_of(problems[i].text), "problem", beoboard_problem_name, NULL, BEOBOARD_NPROBLEMS,
                                  &bits, &fault);
    text_of(&fault);
    CHECK(valid == (problems[i].why == NULL), "'%s'", problems[i].text);
    if (valid) CHECK(bits == problems[i].bits, "'%s': %x", problems[i].text, bits);
    else CHECK(strstr(why, problems[i].why) != NULL, "'%s': %s", problems[i].text, why);
  }
  bool is_second = false;
  CHECK(value_either(SPAN("open"), "closed", "open", &is_second, &fault) && is_second, "the second of two");
  CHECK(value_either(SPAN("closed"), "closed", "open", &is_second, &fault) && !is_second, "the first of two");
  CHECK(!value_either(SPAN("op"), "closed", "open", &is_second, &fault), "neither");
  const char *file = NULL;
  CHECK(value_file(SPAN("a b"), &file, &fault) && strcmp(file, "a b") == 0, "a path");
  CHECK(!value_file(SPAN(""), &file, &fault), "no path");
}

static const struct {
  const char *text;
  bool valid;
  uint64_t ms;
} durations[] = {
  {"250ms", true, 250}, {"1.5s", true, 1500}, {"2m", true, 120000}, {"1h", true, 3600000}, {"0s", true, 0},
  {"1", false, 0}, {"", false, 0}, {"s", false, 0}, {"-1s", false, 0}, {"1.5", false, 0}, {"1 s", false, 0},
  {"1d", true, 86400000}, {"1.s", false, 0}, {".5s", false, 0},
  {"0.0001s", false, 0}, {"99999999999999999999h", false, 0},
};

static void check_durations(void) {
  char why[500];
  struct words fault = WORDS(why);
  for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
    uint64_t ms = 0;
    const bool valid = parse_duration(span_of(durations[i].text), &ms, &fault);
    CHECK(valid == durations[i].valid && (!valid || ms == durations[i].ms), "'%s': %llu ms", durations[i].text,
          (unsigned long long)ms);
  }
}

int main(void) {
  check_lines();
  check_values();
  check_durations();
  return checked();
}

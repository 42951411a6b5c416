/* Command lines: what is taken of them, and which are refused; values that several programs have. */
#include "../../base/optionline.h"

#include "../../base/optionvalues.h"
#include "../../beoboard.h"
#include "check.h"

struct got {
  char nodes[20], last[20];
  unsigned flags;
};

static const char *read_nodes(const char *text, void *into) {
  snprintf(((struct got *)into)->nodes, 20, "%s", text);
  return strcmp(text, "bad") == 0 ? "'bad' is bad" : NULL;
}

static const char *read_flag(const char *text, void *into) {
  ((struct got *)into)->flags++;
  return strcmp(text, "true") == 0 ? NULL : "a flag is true";
}

static const struct option options[] = {{"nodes", 'n', "LIST", read_nodes}, {"verbose", 'v', NULL, read_flag}};
static const char *const elsewhere[] = {"json", NULL};
static const struct command command = {"tool", options, 2, elsewhere, "beoboard tool"};

/* A line by its words; what is taken of it, or what its error has. */
static const struct {
  const char *line;
  enum outcome outcome;
  const char *nodes;
  unsigned flags;
  const char *why;
} lines[] = {
  {"", OPTIONS_GOOD, "", 0, NULL},
  {"--nodes a", OPTIONS_GOOD, "a", 0, NULL},
  {"--nodes=a", OPTIONS_GOOD, "a", 0, NULL},
  {"--nodes=a=b", OPTIONS_GOOD, "a=b", 0, NULL},
  {"--nodes=", OPTIONS_GOOD, "", 0, NULL},
  {"-n a", OPTIONS_GOOD, "a", 0, NULL},
  {"-na", OPTIONS_GOOD, "a", 0, NULL},
  {"--nodes -a", OPTIONS_GOOD, "-a", 0, NULL},
  {"-v --nodes a", OPTIONS_GOOD, "a", 1, NULL},
  {"-v -v", OPTIONS_GOOD, "", 1, NULL}, /* read once, however often */
  {"--", OPTIONS_GOOD, "", 0, NULL},
  {"--help", OPTIONS_HELP, "", 0, NULL},
  {"-V", OPTIONS_VERSION, "", 0, NULL},
  {"--wrong --help", OPTIONS_HELP, "", 0, NULL}, /* whoever asks for help gets it */
  {"--help --version", OPTIONS_HELP, "", 0, NULL},
  {"-- --help", OPTIONS_BAD, "", 0, "--help"},
  {"--nodes bad", OPTIONS_BAD, "bad", 0, "--nodes: 'bad' is bad"},
  {"--nodes a --nodes b", OPTIONS_BAD, "", 0, "given 2 times"},
  {"--nodes", OPTIONS_BAD, "", 0, "--nodes has no value; write --nodes LIST"},
  {"--nodes --verbose", OPTIONS_BAD, "", 0, "--nodes has no value, --verbose follows it"},
  {"--verbose=x", OPTIONS_BAD, "", 0, "--verbose takes no value"},
  {"--nods a", OPTIONS_BAD, "", 0, "did you mean --nodes?"},
  {"--json", OPTIONS_BAD, "", 0, "--json is left to beoboard tool"},
  {"-nodes", OPTIONS_GOOD, "odes", 0, NULL},
  {"-verbose", OPTIONS_BAD, "", 0, "-verbose"},
  {"-vx", OPTIONS_BAD, "", 0, "-v -x"},
  {"-x", OPTIONS_BAD, "", 0, "unknown option"},
  {"extra", OPTIONS_BAD, "", 0, "one argument too many"},
  {"-", OPTIONS_BAD, "", 0, "one argument too many"},
  {"extra -x", OPTIONS_BAD, "", 0, "unknown option"}, /* an option that is wrong before an argument */
};

/* Whether an error has that text; NULL: there is none. */
static bool has(const char *why, const char *wanted) {
  return wanted == NULL ? why == NULL : why != NULL && strstr(why, wanted) != NULL;
}

static void check_lines(void) {
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char text[100], *argv[10] = {(char[]){"tool"}};
    int argc = 1;
    strcpy(text, lines[i].line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) argv[argc++] = word;
    struct got got = {{0}, {0}, 0};
    const char *why = "unset";
    const enum outcome outcome = options_read(&command, argc, argv, &got, &why);
    CHECK(outcome == lines[i].outcome, "%s: outcome %d, %s", lines[i].line, (int)outcome, why == NULL ? "" : why);
    CHECK(has(why, lines[i].why), "%s: %s", lines[i].line, why == NULL ? "no error" : why);
    if (outcome != OPTIONS_BAD) CHECK_TEXT(got.nodes, lines[i].nodes);
    if (outcome != OPTIONS_BAD) CHECK(got.flags == lines[i].flags, "%s: %u flags", lines[i].line, got.flags);
  }
}

static const struct {
  const char *text;
  bool valid;
  uint64_t number;
  bool is_percent;
} portions[] = {
  {"0", true, 0, false},   {"5", true, 5, false},  {"999999999", true, 999999999, false}, {"2%", true, 2, true},
  {"100%", true, 100, true}, {"101%", false, 0, 0}, {"", false, 0, 0},  {"%", false, 0, 0},
  {"-1", false, 0, 0},     {"1.5", false, 0, 0},   {" 1", false, 0, 0}, {"5%%", false, 0, 0},
  {"1000000000", false, 0, 0},
};

static const struct {
  const char *text;
  uint32_t bits;
  const char *why;
} ailments[] = {
  {"held", 1u << BEOBOARD_AILS_HELD, NULL},
  {"oom,held", 1u << BEOBOARD_AILS_HELD | 1u << BEOBOARD_AILS_OOM, NULL},
  {"oom,oom", 1u << BEOBOARD_AILS_OOM, NULL},
  {"", 0, "''"},
  {"oom,", 0, "''"},
  {"heldd", 0, "did you mean held?"},
  {"zzzzzzzz", 0, "is not an ailment; write held, "},
};

static void check_values(void) {
  for (size_t i = 0; i < sizeof portions / sizeof portions[0]; i++) {
    uint64_t number = 0;
    bool is_percent = false;
    const bool valid = value_portion(portions[i].text, &number, &is_percent) == NULL;
    CHECK(valid == portions[i].valid, "'%s'", portions[i].text);
    if (valid) CHECK(number == portions[i].number && is_percent == portions[i].is_percent, "'%s'", portions[i].text);
  }
  for (size_t i = 0; i < sizeof ailments / sizeof ailments[0]; i++) {
    uint32_t bits = 0;
    const char *why = value_ailments(ailments[i].text, &bits);
    CHECK(has(why, ailments[i].why) && (why != NULL || bits == ailments[i].bits), "'%s': %x, %s", ailments[i].text, bits,
          why == NULL ? "no error" : why);
  }
  bool is_second = false;
  CHECK(value_either("open", "closed", "open", &is_second) == NULL && is_second, "the second of two");
  CHECK(value_either("closed", "closed", "open", &is_second) == NULL && !is_second, "the first of two");
  CHECK(value_either("op", "closed", "open", &is_second) != NULL, "neither");
  const char *file = NULL;
  CHECK(value_file("a b", &file) == NULL && strcmp(file, "a b") == 0, "a path");
  CHECK(value_file("", &file) != NULL, "no path");
}

int main(void) {
  check_lines();
  check_values();
  return checked();
}

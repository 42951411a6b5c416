/* beoboard-check: whether the nodes are well, in one line and a Nagios exit code. The same output as `beoboard
 * check` with the same options, without Node.js; it has no conditions, and reads nothing of a scheduler. Blames no node
 * when the receiver is stalled. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"
#include "help.gen.h"
#include "telling.h"
#include "verdict.h"

#define PROGRAM "beoboard-check"
const char program[] = PROGRAM;

static struct options {
  struct check_question asked;
} options = {{
  .recent = 1u << BEOBOARD_PROBLEM_GPU_ERRORS | 1u << BEOBOARD_PROBLEM_HUNG_TASKS | 1u << BEOBOARD_PROBLEM_THROTTLED,
  .journal_run = "/run/beoboard-journal", .causes = "", .warnings = ""}};

static bool read_fail(struct span text, void *field, struct words *why) {
  bool is_closed;
  if (!value_either(text, "open", "closed", &is_closed, why)) return false;
  *(enum fail *)field = is_closed ? FAIL_CLOSED : FAIL_OPEN;
  return true;
}

static bool read_health(struct span text, void *field, struct words *why) {
  return value_either(text, "on", "off", (bool *)field, why);
}

static bool read_recent(struct span text, void *field, struct words *why) {
  if (span_is(text, SPAN("none"))) {
    *(uint32_t *)field = 0;
    return true;
  }
  if (value_problems(text, field, why)) return true;
  add_text(why, ", or none");
  return false;
}

/* In the order in which the other program reads them. */
static const struct option options_of_check[] = {
  {.name = "nodes", .value = "LIST", .read = read_nodes, AT(asked.query)},
  {.name = "fail", .value = "WAY", .read = read_fail, AT(asked.fail)},
  {.name = "warning", .letter = 'w', .value = "LIMIT", .read = value_portion, AT(asked.warning)},
  {.name = "critical", .letter = 'c', .value = "LIMIT", .read = value_portion, AT(asked.critical)},
  {.name = "health", .value = "WHEN", .read = read_health, AT(asked.health_off)},
  {.name = "ignore", .value = "NAMES", .read = value_problems, AT(asked.ignored)},
  {.name = "recent", .value = "NAMES", .read = read_recent, AT(asked.recent)},
  {.name = "journal-run", .value = "DIR", .read = value_file, AT(asked.journal_run)},
  {.name = "board", .value = "PATH", .read = value_file, AT(asked.query.board)},
  {.name = "owner", .value = "USER", .read = value_user, AT(asked.query.owner)},
};
static const char *const elsewhere[] = {"where", "setup", "slurm-dir", "config", NULL};
static const struct option_table table = {
  OPTIONS_OF(options_of_check), .elsewhere = elsewhere, .whose = "beoboard check"};

/* The value of --fail, whatever else is wrong with the command line; none if --fail itself is invalid. */
static enum fail fail_alone(int argc, char *argv[]) {
  for (int i = 1; i < argc; i++) {
    const char *value = strncmp(argv[i], "--fail=", 7) == 0 ? argv[i] + 7 : NULL;
    if (strcmp(argv[i], "--fail") == 0) value = i + 1 < argc ? argv[i + 1] : "";
    if (value == NULL) continue;
    enum fail fail = FAIL_NOT_SAID;
    char reason[100];
    struct words why = WORDS(reason);
    read_fail(span_of(value), &fail, &why);
    return fail;
  }
  return FAIL_NOT_SAID;
}

noreturn void answer(int code, const struct words *line) {
  print((struct span){line->text, line->len});
  exit(code);
}

noreturn void give_up(const char *why, int code) {
  (void)code; /* a monitor takes 2 as critical and reads stdout only */
  tell_ignorance(options.asked.fail, why);
}

noreturn void give_up_memory(void) {
  static const char *const lines[] =
    {"BEOBOARD UNKNOWN: out of memory\n", "BEOBOARD OK: out of memory; fails open\n",
      "BEOBOARD CRITICAL: out of memory; fails closed\n"};
  end_with(STDOUT_FILENO, lines[options.asked.fail], code_of_ignorance(options.asked.fail));
}

int main(int argc, char *argv[]) {
  struct words line = {(char[MOST_FAULT]){PROGRAM ": "}, MOST_FAULT, sizeof PROGRAM ": " - 1};
  options.asked.fail = fail_alone(argc, argv);
  if (!read_command_line(&table, CHECK_HELP, argc, argv, &options, &options.asked.query, &line)) {
    options.asked.fail = fail_alone(argc, argv); /* ignores what was read from an invalid line */
    tell_ignorance(options.asked.fail, text_of(&line));
  }
  struct census census;
  census_read(&census, &options.asked.query, NULL);
  tell_verdict(&options.asked, &census);
}

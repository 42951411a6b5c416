#include "commandline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/fault.h"
#include "../base/optionvalues.h"
#include "../beoboard.h"
#include "requests.h"

#define PROGRAM "beoboard-gate"
const char program[] = PROGRAM;

#ifndef BEOBOARD_VERSION
#define BEOBOARD_VERSION "0.0.0"
#endif
const char version_text[] = BEOBOARD_VERSION "\n";

const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "say by the exit code whether a job may start on its nodes: in Slurm's PrologSlurmctld\n"
  "\n"
  "Options:\n"
  "  --nodes LIST      the job's nodes, by their NodeNames (default:\n"
  "                    $SLURM_JOB_NODELIST)\n"
  "  --wait TIME       how long to wait while a node is uncertain or has left, or the\n"
  "                    board is stalled, 0s to 10m (default: 8s)\n"
  "  --fail HOW        open or closed: whether the job may start if nothing is known\n"
  "                    (default: open)\n"
  "  --brake N[%]      let all jobs start if more nodes of the board are not live\n"
  "                    (default: the larger of 3 and 10%)\n"
  "  --health          also say no if a node is ill: held, bad_health,\n"
  "                    root_readonly, memory_errors, gpu_lost, gpu_errors\n"
  "  --ignore NAMES    which of these ailments to ignore\n"
  "  --skip LIST       nodes in power saving, which may be silent: NodeNames, or\n"
  "                    @FILE, which must not be older than 60 s\n"
  "  --requests DIR    where an enforcing bridge takes requests to drain a silent node\n"
  "                    at once (default: " REQUESTS_PATH ")\n"
  "  --names FILE      nodes whose name on the board is not their NodeName in lower\n"
  "                    case: NodeName boardname on each line\n"
  "  --board PATH      the board (default: " BEOBOARD_PATH ")\n"
  "  --owner USER      trust boards of this user too, by name or id\n"
  "  -h, --help        show this help\n"
  "  -V, --version     show the version\n"
  "\n"
  "Exit codes: 0 the job may start, 1 it may not; there is no other. The answer is no if a node is silent or has left. --fail gives the answer if "
  "nothing is known: uncertain nodes, nodes that never reported, invalid names and lists, no board, wrong options. A link that is dark or down, or "
  "more nodes that are not live than --brake, is never a reason to say no. The reason is on stderr and in the system's log.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  " PROGRAM " --nodes node[001-064] --fail closed\n"
  "  " PROGRAM " --health --ignore gpu_errors --skip @/run/beoboard-slurm/skip\n";

static const char *read_text(const char *text, const char **into, const char *what) {
  *into = text;
  return text[0] == 0 ? fault("'' names no %s; write one", what) : NULL;
}

static const char *read_nodes(const char *text, void *into) {
  ((struct options *)into)->nodes = text; /* the value as in the environment; an empty one is invalid */
  return NULL;
}

static const char *read_skip(const char *text, void *into) {
  return read_text(strcmp(text, "@") == 0 ? "" : text, &((struct options *)into)->skip, "nodes and no file");
}

static const char *read_names(const char *text, void *into) { return value_file(text, &((struct options *)into)->names); }

static const char *read_board(const char *text, void *into) { return value_file(text, &((struct options *)into)->board); }

static const char *read_requests(const char *text, void *into) { return value_file(text, &((struct options *)into)->requests); }

static const char *read_owner(const char *text, void *into) { return read_text(text, &((struct options *)into)->owner, "user"); }

/* Whole milliseconds of 250ms, 1.5s or 2m; nothing else, and no number without a unit. */
static const char *read_wait(const char *text, void *into) {
  struct options *options = (struct options *)into;
  static const struct {
    const char *name;
    double ms;
  } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60e3}, {"h", 3600e3}};
  const size_t whole = strspn(text, "0123456789"), part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
  const char *unit = text + whole + (text[whole] == '.' ? 1 + part : 0), *shown = quoted(text, strlen(text));
  double ms = 0;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(unit, units[i].name) == 0) ms = units[i].ms;
  const bool number = whole > 0 && (text[whole] != '.' || part > 0);
  if (number && *unit == 0 && strcmp(text, "0") != 0) return fault("%s has no unit; write %.60ss or %.60sms", shown, text, text);
  if (!number || (ms == 0 && *unit != 0)) return fault("%s is not a time; write a number and ms, s or m, as in 250ms or 1.5s", shown);
  ms *= strtod(text, NULL); /* stops at the unit */
  if (!(ms <= 600e3)) return fault("%s is out of bounds; write 0s to 10m", shown);
  options->wait_ms = (int64_t)(ms + 0.5);
  if (ms - (double)options->wait_ms > 1e-6 || (double)options->wait_ms - ms > 1e-6)
    return fault("%s is not a whole number of ms; write %dms", shown, (int)options->wait_ms);
  return NULL;
}

static const char *read_fail(const char *text, void *into) {
  return value_either(text, "open", "closed", &((struct options *)into)->fails_closed);
}

static const char *read_brake(const char *text, void *into) {
  struct options *options = (struct options *)into;
  uint64_t number = 0;
  const char *why = value_portion(text, &number, &options->brake_is_percent);
  options->brake_is_given = true;
  options->brake = (double)number;
  return why;
}

static const char *read_ignore(const char *text, void *into) { return value_ailments(text, &((struct options *)into)->ignored); }

static const char *read_health(const char *text, void *into) {
  (void)text;
  ((struct options *)into)->health = true;
  return NULL;
}

static const struct option table[] = {
  {"nodes", 0, "LIST", read_nodes},   {"wait", 0, "TIME", read_wait},   {"fail", 0, "open or --fail closed", read_fail},
  {"brake", 0, "N", read_brake},      {"health", 0, NULL, read_health}, {"ignore", 0, "NAMES", read_ignore},
  {"skip", 0, "LIST", read_skip},     {"names", 0, "FILE", read_names}, {"board", 0, "PATH", read_board},
  {"owner", 0, "USER", read_owner},   {"requests", 0, "DIR", read_requests},
};
static const struct command gate = {.program = PROGRAM, .options = table, .count = sizeof table / sizeof table[0]};

/* Whatever is wrong with the rest: closed if every --fail on the line says so. */
static bool fails_closed(int argc, char *argv[]) {
  bool closed = false;
  for (int i = 1; i < argc; i++) {
    const char *value = strncmp(argv[i], "--fail=", 7) == 0 ? argv[i] + 7 : NULL;
    if (strcmp(argv[i], "--fail") == 0) value = i + 1 < argc ? argv[i + 1] : "";
    if (value == NULL) continue;
    if (strcmp(value, "closed") != 0) return false;
    closed = true;
  }
  return closed;
}

enum outcome read_options(int argc, char *argv[], struct options *options, const char **why) {
  *options = (struct options){.wait_ms = 8000, .requests = REQUESTS_PATH};
  const enum outcome outcome = options_read(&gate, argc, argv, options, why);
  options->fails_closed = fails_closed(argc, argv);
  return outcome;
}

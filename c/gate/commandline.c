#include "commandline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../beoboard.h"
#include "fault.h"
#include "say.h"

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
  "  --nodes LIST      the job's nodes, by their NodeNames (default: what\n"
  "                    SLURM_JOB_NODELIST says)\n"
  "  --wait TIME       how long to wait while a node is uncertain or has left, or the\n"
  "                    board is stalled, 0s to 10m (default: 8s)\n"
  "  --fail HOW        open or closed: whether the job may start when there is no\n"
  "                    evidence (default: open)\n"
  "  --brake N[%]      let all jobs start when more nodes of the board are not live\n"
  "                    (default: the larger of 3 and 10%)\n"
  "  --health          no for nodes that are ill, too: held, bad_health,\n"
  "                    root_readonly, memory_errors, gpu_lost, gpu_errors\n"
  "  --ignore NAMES    which of these are no reason\n"
  "  --skip LIST       nodes in power saving, which may be silent: NodeNames, or\n"
  "                    @FILE, which must not be older than 60 s\n"
  "  --names FILE      what the board calls a node, where that is not its NodeName in\n"
  "                    lower case: lines of NodeName boardname\n"
  "  --board PATH      the board (default: " BEOBOARD_PATH ")\n"
  "  --owner USER      a user whose boards are believed, too\n"
  "  -h, --help        show this help\n"
  "  -V, --version     show the version\n"
  "\n"
  "Exit codes: 0 the job may start, 1 it may not; there is no other. No is said of nodes that are silent, or left; what is no evidence "
  "(uncertain nodes, ones that never reported, names and lists that mean nothing, no board, wrong options) is answered as --fail says. "
  "Nobody is refused for a link that is dark or down, nor while more nodes than --brake are not live. Why, stands on stderr and in the system's log.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  " PROGRAM " --nodes node[001-064] --fail closed\n"
  "  " PROGRAM " --health --ignore gpu_errors --skip @/run/beoboard-slurm/skip\n";

/* The reader of an option's value says why not, or NULL. */
typedef const char *reader(const char *text, struct options *options);

static const char *read_text(const char *text, const char **into, const char *what) {
  *into = text;
  return text[0] == 0 ? fault("'' names no %s; write one", what) : NULL;
}

static const char *read_nodes(const char *text, struct options *options) {
  options->nodes = text; /* as it would be in the environment; an empty one is malformed */
  return NULL;
}

static const char *read_skip(const char *text, struct options *options) {
  return read_text(strcmp(text, "@") == 0 ? "" : text, &options->skip, "nodes and no file");
}

static const char *read_names(const char *text, struct options *options) { return read_text(text, &options->names, "file"); }

static const char *read_board(const char *text, struct options *options) { return read_text(text, &options->board, "file"); }

static const char *read_owner(const char *text, struct options *options) { return read_text(text, &options->owner, "user"); }

/* Whole milliseconds of 250ms, 1.5s or 2m, nothing else, a bare number included. */
static const char *read_wait(const char *text, struct options *options) {
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
  if (!number || (ms == 0 && *unit != 0)) return fault("%s is no time; write a number and ms, s or m, as in 250ms or 1.5s", shown);
  ms *= strtod(text, NULL); /* stops at the unit */
  if (!(ms <= 600e3)) return fault("%s is out of bounds; write 0s to 10m", shown);
  options->wait_ms = (int64_t)(ms + 0.5);
  if (ms - (double)options->wait_ms > 1e-6 || (double)options->wait_ms - ms > 1e-6)
    return fault("%s is no whole number of ms; write %dms", shown, (int)options->wait_ms);
  return NULL;
}

static const char *read_fail(const char *text, struct options *options) {
  options->fails_closed = strcmp(text, "closed") == 0;
  if (options->fails_closed || strcmp(text, "open") == 0) return NULL;
  return fault("%s is neither open nor closed", quoted(text, strlen(text)));
}

static const char *read_brake(const char *text, struct options *options) {
  const size_t digits = strspn(text, "0123456789");
  options->brake_is_percent = text[digits] == '%';
  options->brake_is_given = true;
  if (digits == 0 || digits > 9 || text[digits + options->brake_is_percent] != 0)
    return fault("%s is no number of nodes; write it as 5 or 2%%", quoted(text, strlen(text)));
  options->brake = strtod(text, NULL);
  if (options->brake_is_percent && options->brake > 100)
    return fault("%s is more than all nodes; write 0%% to 100%%", quoted(text, strlen(text)));
  return NULL;
}

static const char *read_ignore(const char *text, struct options *options) {
  for (const char *at = text;; at++) {
    const size_t length = strcspn(at, ",");
    int ailment = 0;
    while (ailment < BEOBOARD_NAILMENTS &&
           (strlen(beoboard_ailment_name(ailment)) != length || memcmp(beoboard_ailment_name(ailment), at, length) != 0))
      ailment++;
    if (ailment == BEOBOARD_NAILMENTS) return fault("%s is no ailment; " PROGRAM "(8) lists them", quoted(at, length));
    options->ignored |= UINT32_C(1) << ailment;
    at += length;
    if (*at == 0) return NULL;
  }
}

static const struct option {
  const char *name, *value; /* what stands for it in errors; NULL: a flag */
  reader *read;
} table[] = {
  {"--nodes", "LIST", read_nodes},   {"--wait", "TIME", read_wait},    {"--fail", "open or --fail closed", read_fail},
  {"--brake", "N", read_brake},      {"--health", NULL, NULL},         {"--ignore", "NAMES", read_ignore},
  {"--skip", "LIST", read_skip},     {"--names", "FILE", read_names},  {"--board", "PATH", read_board},
  {"--owner", "USER", read_owner},
};
#define OPTIONS (sizeof table / sizeof table[0])

static const struct option *find(const char *argument, size_t length) {
  for (size_t i = 0; i < OPTIONS; i++)
    if (strlen(table[i].name) == length && strncmp(table[i].name, argument, length) == 0) return &table[i];
  return NULL;
}

static const char *read_value(const struct option *option, const char *text, struct options *options) {
  if (text == NULL) return fault("%s has no value; write %s %s", option->name, option->name, option->value);
  if (strncmp(text, "--", 2) == 0 && find(text, strlen(text)) != NULL)
    return fault("%s has no value, %s follows it; write %s %s", option->name, text, option->name, option->value);
  const char *why = option->read(text, options);
  return why == NULL ? NULL : fault("%s: %s", option->name, why);
}

/* NULL, or what is wrong with the command line. */
static const char *read_all(int argc, char *argv[], struct options *options) {
  bool given[OPTIONS] = {false};
  for (int i = 1; i < argc; i++) {
    const size_t length = strcspn(argv[i], "=");
    const char *value = argv[i][length] == '=' ? argv[i] + length + 1 : NULL;
    const struct option *option = find(argv[i], length);
    if (option == NULL && argv[i][0] == '-' && argv[i][1] != 0)
      return fault("unknown option %s; see " PROGRAM " --help", quoted(argv[i], length));
    if (option == NULL) return fault("%s is one argument too many; see " PROGRAM " --help", quoted(argv[i], strlen(argv[i])));
    if (option->value == NULL && value != NULL) return fault("%s takes no value; write %s", option->name, option->name);
    if (option->value == NULL) {
      options->health = true; /* the only flag */
      continue;
    }
    if (given[option - table]) return fault("%s is given twice; give it once", option->name);
    given[option - table] = true;
    if (value == NULL && ++i < argc) value = argv[i];
    const char *why = read_value(option, value, options);
    if (why != NULL) return why;
  }
  return NULL;
}

/* Whatever is wrong with the rest: closed where that is all that --fail is given as. */
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

enum outcome options_read(int argc, char *argv[], struct options *options, const char **why) {
  *options = (struct options){.wait_ms = 8000};
  *why = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) return OPTIONS_HELP;
    if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0) return OPTIONS_VERSION;
  }
  *why = read_all(argc, argv, options);
  options->fails_closed = fails_closed(argc, argv);
  return *why == NULL ? OPTIONS_GOOD : OPTIONS_BAD;
}

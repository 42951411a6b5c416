#include "commandline.h"

#include "../base/fault.h"
#include "../base/optionvalues.h"
#include "../beoboard.h"
#include "requests.h"

#define PROGRAM "beoboard-gate"
const char program[] = PROGRAM;

const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "say by the exit code whether a job may start on its nodes: in Slurm's\n"
  "PrologSlurmctld\n"
  "\n"
  "Options:\n"
  "  --nodes LIST      the job's nodes, by their NodeNames (default:\n"
  "                    $SLURM_JOB_NODELIST)\n"
  "  --wait TIME       how long to wait while a node is uncertain or has left, or the\n"
  "                    board is stalled, 0s to 10m (default: 8s)\n"
  "  --fail HOW        open or closed: whether the job may start if nothing is known\n"
  "                    (default: open)\n"
  "  --brake LIMIT     let all jobs start if more nodes of the board are not live\n"
  "                    (default: 10%,3, the larger of 3 and 10%)\n"
  "  --health          also say no if a node is unhealthy: held, bad_health,\n"
  "                    root_readonly, memory_errors, gpu_lost, gpu_errors\n"
  "  --ignore NAMES    which of these problems to ignore\n"
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
  "Exit codes: 0 the job may start, 1 it may not; there is no other. The answer is\n"
  "no if a node is silent or has left. With --health it is no, too, if a node had\n"
  "such a problem when that was last measured in this boot. --fail gives the answer\n"
  "if nothing is known: uncertain nodes, nodes that never reported, invalid names\n"
  "and lists, no board, wrong options. A link that is dark or down, or more nodes\n"
  "that are not live than --brake, is never a reason to say no. The reason is on\n"
  "stderr and in the system's log.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  " PROGRAM " --nodes node[001-064] --fail closed\n"
  "  " PROGRAM " --health --ignore gpu_errors --skip @/run/beoboard-slurm/skip\n";

/* As in the environment; an empty list is invalid. */
static bool read_nodes(struct span text, void *field, struct words *why) {
  (void)why;
  *(const char **)field = text.at;
  return true;
}

static bool read_skip(struct span text, void *field, struct words *why) {
  *(const char **)field = text.at;
  return (text.len > 0 && !span_is(text, SPAN("@"))) ||
    refuse_text(why, SPAN(""), " names no nodes and no file; write one");
}

static bool read_owner(struct span text, void *field, struct words *why) {
  *(const char **)field = text.at;
  return text.len > 0 || refuse_text(why, text, " names no user; write one");
}

static bool read_wait(struct span text, void *field, struct words *why) {
  uint64_t ms;
  if (!value_time(text, 0, 600000, "0s to 10m", &ms, why)) return false;
  *(int64_t *)field = (int64_t)ms;
  return true;
}

static bool read_fail(struct span text, void *field, struct words *why) {
  return value_either(text, "open", "closed", field, why);
}

static const struct option options_of_gate[] = {
  {.name = "nodes", .value = "LIST", .read = read_nodes, AT(nodes)},
  {.name = "wait", .value = "TIME", .read = read_wait, AT(wait_ms)},
  {.name = "fail", .value = "open or --fail closed", .read = read_fail, AT(fails_closed)},
  {.name = "brake", .value = "LIMIT", .read = value_portion, AT(brake)},
  {.name = "health", AT(health)},
  {.name = "ignore", .value = "NAMES", .read = value_problems, AT(ignored)},
  {.name = "skip", .value = "LIST", .read = read_skip, AT(skip)},
  {.name = "names", .value = "FILE", .read = value_file, AT(names)},
  {.name = "board", .value = "PATH", .read = value_file, AT(board)},
  {.name = "owner", .value = "USER", .read = read_owner, AT(owner)},
  {.name = "requests", .value = "DIR", .read = value_file, AT(requests)},
};
static const struct option_table table = {OPTIONS_OF(options_of_gate)};

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
  static char text[MOST_FAULT];
  struct words fault = WORDS(text);
  *options = (struct options){.wait_ms = 8000, .brake = STANDARD_BRAKE, .requests = REQUESTS_PATH};
  const enum outcome outcome = options_read(&table, argc, argv, options, &fault);
  options->fails_closed = fails_closed(argc, argv);
  *why = text_of(&fault);
  return outcome;
}

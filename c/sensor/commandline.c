#include "commandline.h"

#include <string.h>
#include <unistd.h>

#include "../base/optionvalues.h"

#define PROGRAM "beoboard-sensor"
const char program[] = PROGRAM;

const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "tell Grid Engine how all hosts are: a load sensor for one sge_execd, on the\n"
  "master\n"
  "\n"
  "Options:\n"
  "  --hosts FILE      the hosts, one on each line (default: those of qconf -sel)\n"
  "  --qconf PATH      the program that is asked for them (default: qconf)\n"
  "  --names FILE      hosts whose name on the board is not theirs in lower case: host\n"
  "                    boardname on each line\n"
  "  --domain NAME     hosts of this domain are nodes without it, if no node has a domain\n"
  "                    (default: that of this machine's host name)\n"
  "  --check           say which hosts, and names of --names, are not on the board; end\n"
  "  --problems NAMES  which problems are counted (default: held, bad_health,\n"
  "                    root_readonly, memory_errors, gpu_lost, gpu_errors)\n"
  "  --brake LIMIT     call no host bad if more nodes of the board are not live\n"
  "                    (default: 10%,3, the larger of 3 and 10%)\n"
  "  --board PATH      the board (default: " BEOBOARD_PATH ")\n"
  "  --owner USER      trust boards of this user too, by name or id\n"
  "  -h, --help        show this help\n"
  "  -V, --version     show the version\n"
  "\n"
  "For each line on stdin it prints four values of each host: bb_state (2: silent,\n"
  "1: it has left, 0: nothing is known against it), bb_age (seconds since its last\n"
  "report), bb_problems (how many it has), bb_until (to which time, in seconds since\n"
  "1970, this holds). All are 0 but bb_until if nothing is known. A link that is\n"
  "dark or down, or more nodes that are not live than --brake, is no reason to call\n"
  "a host silent. The line quit and the end of stdin end it.\n"
  "\n"
  "Exit codes: 0 done, 1 --check: not all hosts are known on the board, 2 usage.\n"
  "\n"
  "Examples:\n"
  "  echo | " PROGRAM "\n"
  "  " PROGRAM " --check\n"
  "  " PROGRAM " --names /etc/beoboard/gridengine-names\n";

static const struct option options_of_sensor[] = {
  {.name = "hosts", .value = "FILE", .read = value_file, AT(hosts)},
  {.name = "qconf", .value = "PATH", .read = value_file, AT(qconf)},
  {.name = "names", .value = "FILE", .read = value_file, AT(names)},
  {.name = "domain", .value = "NAME", .read = value_file, AT(round.domain)},
  {.name = "check", AT(checks)},
  {.name = "problems", .value = "NAMES", .read = value_problems, AT(round.problems)},
  {.name = "brake", .value = "LIMIT", .read = value_portion, AT(round.brake)},
  {.name = "board", .value = "PATH", .read = value_file, AT(round.board)},
  {.name = "owner", .value = "USER", .read = value_user, AT(round.owner)},
};
static const struct option_table table = {OPTIONS_OF(options_of_sensor)};

enum outcome read_options(int argc, char *argv[], struct options *options, struct words *fault) {
  static char host[HOST_LENGTH + 1];
  gethostname(host, sizeof host - 1);
  const char *dot = strchr(host, '.');
  const struct round_options round = {
    .problems = NO_JOB_PROBLEMS, .domain = dot == NULL ? "" : dot + 1, .brake = STANDARD_BRAKE};
  *options = (struct options){.qconf = "qconf", .round = round};
  return options_read(&table, argc, argv, options, fault);
}

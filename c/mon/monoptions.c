#include "monoptions.h"

#include <sys/socket.h>

#include "../base/naming.h"
#include "../base/optionvalues.h"
#include "../collect/world.h"

#define PROGRAM "beoboard-mon"
const char program[] = PROGRAM;

const char settings_help[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "serve live readings of this machine by Supermon's protocol\n"
  "\n"
  "Options:\n"
  "  --listen ADDR[:PORT]  an address of this machine, default port 2710; may be repeated\n"
  "                        (default: 127.0.0.1)\n"
  "  --stdio               read commands from stdin and answer on stdout; do not listen\n"
  "  --most N              at most so many answers a second, for all clients together,\n"
  "                        1 to 100000 (default: 200)\n"
  "  --name NAME           the node's name (default: the host name up to its first\n"
  "                        dot, in lower case)\n"
  "  --proc DIR            another /proc (default: /proc)\n"
  "  --sys DIR             another /sys (default: /sys)\n"
  "  --user USER           switch to this user, by name or id, after opening the port\n"
  "  --seccomp             block every system call that is not needed (seccomp)\n"
  "  -h, --help            show this help\n"
  "  -V, --version         show the version\n"
  "\n"
  "Clients send # for the schema, S for a sample of everything, or 0x40S for the\n"
  "load averages only. It reads only the files that are needed for the answer.\n"
  "Clients that ask more often than --most wait. It runs at nice 19. There are no\n"
  "passwords. SIGTERM, SIGINT and SIGHUP stop it; with --stdio, the end of stdin\n"
  "does too.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  echo 0x40S | " PROGRAM " --stdio\n"
  "  " PROGRAM " --listen 10.0.0.7 --user nobody --seccomp\n"
  "  ssh node1 " PROGRAM " --stdio --most 1000\n";

static bool read_listen(struct span text, void *field, struct words *why) {
  struct options *settings = field;
  struct address *address = &settings->listen[settings->listen_count++];
  if (!parse_address(text, DEFAULT_PORT, address, why)) return false;
  return address->family != AF_UNSPEC ||
    refuse_text(why, text, " is a name; write an address of this machine, as in 127.0.0.1 or [::]:2710");
}

static bool read_most(struct span text, void *field, struct words *why) {
  uint64_t number;
  if (!text_u64(text, &number) || number < 1 || number > 100000)
    return refuse_text(why, text, " is not a rate; write 1 to 100000, answers a second");
  *(unsigned *)field = (unsigned)number;
  return true;
}

static const struct option options_of_mon[] = {
  {.name = "listen", .value = "ADDR[:PORT]", .most = MOST_LISTENERS, .read = read_listen},
  {.name = "stdio", AT(stdio)},
  {.name = "most", .value = "N", .fallback = "200", .read = read_most, AT(most)},
  {.name = "name", .value = "NAME", .find_fallback = host_name, .read = value_node_name, AT(name)},
  {.name = "proc", .value = "DIR", .fallback = place_of_proc, .read = value_path, AT(proc)},
  {.name = "sys", .value = "DIR", .fallback = place_of_sys, .read = value_path, AT(sys)},
  {.name = "user", .value = "USER", .read = value_user, AT(user)},
  {.name = "seccomp", AT(seccomp)},
};
static const struct option_table table = {OPTIONS_OF(options_of_mon)};

enum outcome settings_read(int argc, char *const argv[], struct options *settings, struct words *fault) {
  const enum outcome outcome = options_read(&table, argc, argv, settings, fault);
  if (outcome != OPTIONS_GOOD) return outcome;
  if (settings->stdio && settings->listen_count > 0) {
    add_text(fault, "--stdio answers only on stdout; leave out --listen");
    return OPTIONS_BAD;
  }
  if (!settings->stdio && settings->listen_count == 0) read_listen(SPAN("127.0.0.1"), settings, fault);
  return OPTIONS_GOOD;
}

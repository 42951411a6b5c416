#include "monoptions.h"

#include <sys/socket.h>

#include "../base/kernelfile.h"
#include "../base/naming.h"
#include "../collect/world.h"

#define PROGRAM "beoboard-mon"
const char program[] = PROGRAM;

#ifndef BEOBOARD_VERSION
#define BEOBOARD_VERSION "0.0.0"
#endif
const char settings_version[] = BEOBOARD_VERSION "\n";

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
  "Clients send # for the schema, S for a sample of everything, or 0x40S for the load averages only. It reads only the files that are "
  "needed for the answer. Clients that ask more often than --most wait. It runs at nice 19. There are no passwords. SIGTERM, SIGINT and "
  "SIGHUP stop it; with --stdio, the end of stdin does too.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  echo 0x40S | " PROGRAM " --stdio\n"
  "  " PROGRAM " --listen 10.0.0.7 --user nobody --seccomp\n"
  "  ssh node1 " PROGRAM " --stdio --most 1000\n";

typedef bool reader(struct span text, struct settings *settings, struct words *why);

static bool read_listen(struct span text, struct settings *settings, struct words *why) {
  struct address *address = &settings->listen[settings->listen_count++];
  if (!parse_address(text, DEFAULT_PORT, address, why)) return false;
  return address->family != AF_UNSPEC || refuse_text(why, text, " is a name; write an address of this machine, as in 127.0.0.1 or [::]:2710");
}

static bool read_most(struct span text, struct settings *settings, struct words *why) {
  uint64_t number;
  if (text_u64(text, &number) && number >= 1 && number <= 100000) {
    settings->most = (unsigned)number;
    return true;
  }
  return refuse_text(why, text, " is not a rate; write 1 to 100000, answers a second");
}

static bool read_name(struct span text, struct settings *settings, struct words *why) {
  return take_node_name(text, settings->name, why);
}

static bool is_path(struct span text, struct words *why) {
  if (text.len == 0) return refuse_text(why, text, " is not a file name; write a path");
  return text.len <= MOST_PATH || refuse_text(why, text, " is longer than 512 bytes; write a shorter path");
}

static bool read_proc(struct span text, struct settings *settings, struct words *why) {
  settings->proc = text.at;
  return is_path(text, why);
}

static bool read_sys(struct span text, struct settings *settings, struct words *why) {
  settings->sys = text.at;
  return is_path(text, why);
}

static bool read_user(struct span text, struct settings *settings, struct words *why) {
  settings->user = text.at;
  return is_user(text, why);
}

enum { LISTEN, STDIO, MOST, NAME, PROC, SYS, USER, SECCOMP, HELP, VERSION, SETTINGS };

static const struct {
  const char *name, *value; /* the word for the value in errors; NULL: a flag */
  unsigned most;            /* how often it may be given */
  reader *read;
} table[SETTINGS] = {
  [LISTEN] = {"listen", "ADDR[:PORT]", MOST_LISTENERS, read_listen},
  [STDIO] = {"stdio", NULL, 1, NULL},
  [MOST] = {"most", "N", 1, read_most},
  [NAME] = {"name", "NAME", 1, read_name},
  [PROC] = {"proc", "DIR", 1, read_proc},
  [SYS] = {"sys", "DIR", 1, read_sys},
  [USER] = {"user", "USER", 1, read_user},
  [SECCOMP] = {"seccomp", NULL, 1, NULL},
  [HELP] = {"help", NULL, 1, NULL},
  [VERSION] = {"version", NULL, 1, NULL},
};

static int find(struct span name) {
  for (int i = 0; i < SETTINGS; i++)
    if (span_is(name, span_of(table[i].name))) return i;
  return -1;
}

/* An argument of the command line. */
struct argument {
  int option; /* -1: not one of our options */
  struct span written;
  const char *value; /* after a =; NULL: none */
};

static struct argument look_at(const char *text) {
  const char *equals = strchr(text, '=');
  struct argument argument = {.option = -1, .written = span_of(text), .value = equals == NULL ? NULL : equals + 1};
  if (span_is(argument.written, SPAN("-h"))) argument.option = HELP;
  if (span_is(argument.written, SPAN("-V"))) argument.option = VERSION;
  struct span name = argument.written;
  if (equals != NULL) name.len = (size_t)(equals - text);
  if (eat(&name, SPAN("--"))) argument.option = find(name);
  return argument;
}

static bool refuse_unknown(const struct argument *argument, struct words *fault) {
  const char *names[SETTINGS];
  struct span name = argument->written;
  if (begins(name, SPAN("-")) && name.len > 1) {
    if (argument->value != NULL) name.len = (size_t)(argument->value - name.at) - 1;
    add_text(fault, "unknown option ");
    add_quoted(fault, name);
    while (eat(&name, SPAN("-"))) continue;
    for (unsigned i = 0; i < SETTINGS; i++) names[i] = table[i].name;
    const char *meant = nearest_word(name, names, SETTINGS);
    add_text(fault, meant != NULL ? "; did you mean --" : "; see " PROGRAM " --help");
    if (meant != NULL) add_text(fault, meant);
    if (meant != NULL) add_text(fault, "?");
    return false;
  }
  add_quoted(fault, name);
  add_text(fault, " is one argument too many; see " PROGRAM " --help");
  return false;
}

static bool refuse_option(struct words *fault, int option, const char *why) {
  add_text(fault, "--");
  add_text(fault, table[option].name);
  add_text(fault, why);
  return false;
}

static bool take(int option, const char *value, const char *what, struct settings *settings, struct words *fault) {
  char reason[700];
  struct words why = WORDS(reason);
  if (table[option].read(span_of(value), settings, &why)) return true;
  add_text(fault, what);
  refuse_option(fault, option, ": ");
  add_span(fault, (struct span){reason, why.len});
  return false;
}

static bool take_host_name(struct settings *settings, struct words *fault) {
  char reason[400];
  struct words why = WORDS(reason);
  const char *name = host_name(&why);
  if (name != NULL) return take(NAME, name, "the default of ", settings, fault);
  add_text(fault, "the default of --name: ");
  add_span(fault, (struct span){reason, why.len});
  return false;
}

static bool take_argument(const struct argument *argument, const char *next, unsigned *given, struct settings *settings, struct words *fault) {
  const int option = argument->option;
  if (option < 0) return refuse_unknown(argument, fault);
  if (table[option].read == NULL) {
    settings->stdio |= option == STDIO;
    settings->seccomp |= option == SECCOMP;
    return argument->value == NULL || refuse_option(fault, option, " takes no value; leave it out");
  }
  const char *value = argument->value != NULL ? argument->value : next;
  /* The value has the name of an option: it was forgotten. */
  if (value == NULL || (argument->value == NULL && begins(span_of(value), SPAN("--")))) {
    refuse_option(fault, option, " has no value; write --");
    add_text(fault, table[option].name);
    add_text(fault, " ");
    add_text(fault, table[option].value);
    return false;
  }
  if (given[option]++ == table[option].most)
    return refuse_option(fault, option, table[option].most == 1 ? " is given more than once; give it once" : " is given more than 8 times; give it less often");
  return take(option, value, "", settings, fault);
}

enum outcome settings_read(int argc, char *const argv[], struct settings *settings, struct words *fault) {
  unsigned given[SETTINGS] = {0};
  bool wrong = false;
  enum outcome asked = OPTIONS_GOOD;
  *settings = (struct settings){.most = 200, .proc = place_of_proc, .sys = place_of_sys};
  for (int i = 1; i < argc; i++) {
    const struct argument argument = look_at(argv[i]);
    if (argument.option == HELP) asked = OPTIONS_HELP;
    if (argument.option == VERSION && asked == OPTIONS_GOOD) asked = OPTIONS_VERSION;
    const bool has_value = argument.option >= 0 && table[argument.option].read != NULL && argument.value == NULL;
    /* The first error is reported; --help is answered in any case. */
    if (!wrong) wrong = !take_argument(&argument, argv[i + 1], given, settings, fault);
    if (has_value && i + 1 < argc && !begins(span_of(argv[i + 1]), SPAN("--"))) i++;
  }
  if (asked != OPTIONS_GOOD) return asked;
  if (wrong) return OPTIONS_BAD;
  if (settings->stdio && settings->listen_count > 0) {
    refuse_option(fault, STDIO, " answers on stdout alone; leave out --listen");
    return OPTIONS_BAD;
  }
  if (!settings->stdio && settings->listen_count == 0 && !take(LISTEN, "127.0.0.1", "the default of ", settings, fault)) return OPTIONS_BAD;
  return given[NAME] > 0 || take_host_name(settings, fault) ? OPTIONS_GOOD : OPTIONS_BAD;
}

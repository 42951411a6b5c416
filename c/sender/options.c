#include "options.h"

#include <sys/socket.h>

#include "../base/kernelfile.h"
#include "../base/naming.h"
#include "../base/toml.h"
#include "../collect/parse.h"
#include "../collect/world.h"

#define PROGRAM "beoboard-send"
const char program[] = PROGRAM;

#ifndef BEOBOARD_VERSION
#define BEOBOARD_VERSION "0.0.0"
#endif
const char version_text[] = BEOBOARD_VERSION;

const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "report the state of this machine, once per interval\n"
  "\n"
  "Options:\n"
  "  --to ADDR[:PORT]  where to send reports: a name or address, [V6]:PORT, default\n"
  "                    port 8677; - writes the datagram to stdout; may be repeated\n"
  "  --interface IF    the interface for multicasts, by name\n"
  "  --ttl N           multicast TTL, 0 to 255; with 1 reports stay in the local\n"
  "                    network (default: 1)\n"
  "  --name NAME       the node's name (default: the host name up to its first dot,\n"
  "                    in lower case)\n"
  "  --cluster NAME    the cluster's name\n"
  "  --key-file FILE   the key, in a file that only its owner can read\n"
  "  --interval TIME   time between reports, 100ms to 600s (default: 1s)\n"
  "  --pace-file PATH  a file in which root can set another interval for a while:\n"
  "                    interval 10s for 1h\n"
  "  --pace-min TIME   the shortest interval that this file may set (default:\n"
  "                    250ms)\n"
  "  --pace-max TIME   the longest interval that this file may set (default: 60s)\n"
  "  --once            send one report, flagged as the last, and exit\n"
  "  --aligned         send at the same wall-clock time as all nodes, instead of\n"
  "                    spread over the interval\n"
  "  --proc DIR        another /proc; given twice: for the tick before, then for\n"
  "                    the report (default: /proc)\n"
  "  --sys DIR         another /sys; given twice: for the tick before, then for the\n"
  "                    report (default: /sys)\n"
  "  --scratch DIR     the local scratch file system whose space is reported; never\n"
  "                    a network file system (default: /tmp)\n"
  "  --health-max-age TIME\n"
  "                    an older ok in the health file counts as a warning, 1s to\n"
  "                    1000d; default: never\n"
  "  --pretend FILE    TOML with values that are not in /proc and /sys (clocks,\n"
  "                    sequence number \xe2\x80\xa6), to reproduce a report exactly\n"
  "  --user USER       switch to this user, by name or id, after opening what\n"
  "                    needs another user\n"
  "  --seccomp         block every system call that is not needed (seccomp)\n"
  "  --config FILE     TOML with the same names; the command line takes precedence\n"
  "  -h, --help        show this help\n"
  "  -V, --version     show the version\n"
  "\n"
  "SIGTERM and SIGINT stop it with a last report, flagged goodbye. A master that cannot be reached is logged once and "
  "retried indefinitely. SIGHUP reads --config again; destinations, name and interval can change without losing a report. "
  "An interval of more than a second is reached in steps: it doubles when twelve reports, over at least twelve seconds, "
  "have announced that; a shorter one holds at once. When the name changes, the old one says goodbye. A pace file holds one "
  "line, interval TIME for TIME. It is trusted if it belongs to root or the sender's user and nobody else can write it.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM " --to master\n"
  "  " PROGRAM " --to 10.0.0.1 --to 10.0.0.2:9000 --interval 5s --user nobody\n"
  "  " PROGRAM " --to 239.255.86.77 --interface eth0\n"
  "  " PROGRAM " --once --to - | xxd | head -4\n";

uint32_t version_number(void) {
  uint32_t number = 0;
  struct span left = span_of(version_text), digits;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t part = 0;
    if (eat_digits(&left, 1, 3, &digits)) text_u64(digits, &part);
    eat(&left, SPAN("."));
    number = number << 8 | (uint32_t)part;
  }
  return number;
}

typedef bool reader(struct span text, struct options *options, struct words *why);

static bool read_to(struct span text, struct options *options, struct words *why) {
  struct address address;
  if (span_is(text, SPAN("-"))) return options->to_stdout = true;
  if (!parse_address(text, DEFAULT_PORT, &address, why)) return false;
  if (address.port == 0) return refuse_text(why, text, " has port 0; write the port that the receiver listens on");
  options->to[options->to_count++] = address;
  return true;
}

static bool read_interface(struct span text, struct options *options, struct words *why) {
  if (!is_interface_name(text) || find_char(text, ':') != NULL || text.len >= sizeof options->interface)
    return refuse_text(why, text, " is not an interface; write a name as in /sys/class/net");
  memcpy(options->interface, text.at, text.len);
  return true;
}

/* A whole number; 10k is 10000, 2M is 2000000. */
static bool read_ttl(struct span text, struct options *options, struct words *why) {
  struct span left = text, digits;
  uint64_t number;
  if (!eat_digits(&left, 1, 15, &digits) || !text_u64(digits, &number) ||
      (left.len > 0 && !span_is(left, SPAN("k")) && !span_is(left, SPAN("M"))))
    return refuse_text(why, text, " is not a whole number; write 0 to 255");
  if (number > 255 || (left.len > 0 && number > 0)) return refuse_text(why, text, " is out of bounds; write 0 to 255");
  options->ttl = (uint8_t)number;
  return true;
}

static bool read_name(struct span text, struct options *options, struct words *why) {
  return take_node_name(text, options->name, why);
}

static bool read_cluster(struct span text, struct options *options, struct words *why) {
  if (!is_node_name(text, true))
    return refuse_text(why, text, " is not a cluster name; write 1 to 63 letters, digits, . _ -, a letter or digit first");
  memcpy(options->cluster, text.at, text.len);
  return true;
}

bool parse_duration(struct span text, uint64_t *ms, struct words *why) {
  static const struct {
    struct span name;
    uint32_t ms;
  } units[] = {{SPAN_TEXT("ms"), 1}, {SPAN_TEXT("s"), 1000}, {SPAN_TEXT("m"), 60000}, {SPAN_TEXT("h"), 3600000}, {SPAN_TEXT("d"), 86400000}};
  struct span left = text, whole, part = {"", 0};
  if (!eat_digits(&left, 1, SIZE_MAX, &whole) || (eat(&left, SPAN(".")) && !eat_digits(&left, 1, SIZE_MAX, &part)))
    return refuse_text(why, text, " is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s");
  uint32_t scale = 0;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (span_is(left, units[i].name)) scale = units[i].ms;
  if (scale == 0 && left.len > 0)
    return refuse_text(why, text, " is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s");
  if (scale == 0) {
    refuse_text(why, text, " has no unit; write ");
    for (unsigned i = 0; i < 2; i++) {
      add_span(why, text);
      add_text(why, i == 0 ? "s or " : "ms");
    }
    return false;
  }
  uint64_t number;
  if (whole.len > 15 || !text_u64(whole, &number) || number > (UINT64_C(1) << 53) / scale)
    return refuse_text(why, text, " is too long; write a shorter time");
  *ms = number * scale;
  bb_wide over = 0, divisor = 1; /* the value of the decimals; beyond twenty they make no difference */
  for (size_t i = 0; i < part.len && i < 20; i++, divisor *= 10) over = over * 10 + (unsigned)(part.at[i] - '0');
  const bb_wide parts = over * scale, left_over = parts % divisor;
  *ms += (uint64_t)(parts / divisor);
  if (left_over * 1000000 <= divisor) return true;
  const bool up = left_over * 2 >= divisor;
  *ms += up;
  if ((divisor - left_over) * 1000000 <= divisor) return true;
  refuse_text(why, text, " is not a whole number of ms; write ");
  add_number(why, *ms > 0 ? *ms : 1);
  add_text(why, "ms");
  return false;
}

static bool take_interval(struct span text, uint32_t *interval_ms, struct words *why) {
  uint64_t ms = 0;
  /* A bare 0 needs no unit. */
  if (!span_is(text, SPAN("0")) && !parse_duration(text, &ms, why)) return false;
  if (ms < 100 || ms > 600000) return refuse_text(why, text, " is out of bounds; write 100ms to 600s");
  *interval_ms = (uint32_t)ms;
  return true;
}

static bool read_interval(struct span text, struct options *options, struct words *why) {
  return take_interval(text, &options->interval_ms, why);
}

static bool read_pace_min(struct span text, struct options *options, struct words *why) {
  return take_interval(text, &options->pace_min_ms, why);
}

static bool read_pace_max(struct span text, struct options *options, struct words *why) {
  return take_interval(text, &options->pace_max_ms, why);
}

static bool is_path(struct span text, struct words *why) {
  if (text.len == 0) return refuse_text(why, text, " is not a file name; write a path");
  return text.len <= MOST_PATH || refuse_text(why, text, " is longer than 512 bytes; write a shorter path");
}

static bool read_key_file(struct span text, struct options *options, struct words *why) {
  options->key_file = text.at;
  return is_path(text, why);
}

static bool read_pace_file(struct span text, struct options *options, struct words *why) {
  options->pace_file = text.at;
  return is_path(text, why);
}

static bool read_proc(struct span text, struct options *options, struct words *why) {
  options->proc[options->proc[0] != NULL] = text.at;
  return is_path(text, why);
}

static bool read_sys(struct span text, struct options *options, struct words *why) {
  options->sys[options->sys[0] != NULL] = text.at;
  return is_path(text, why);
}

static bool read_scratch(struct span text, struct options *options, struct words *why) {
  options->scratch = text.at;
  return is_path(text, why);
}

static bool read_health_max_age(struct span text, struct options *options, struct words *why) {
  uint64_t ms = 0;
  /* A bare 0 needs no unit. */
  if (!span_is(text, SPAN("0")) && !parse_duration(text, &ms, why)) return false;
  if (ms < 1000 || ms > UINT64_C(86400000000)) return refuse_text(why, text, " is out of bounds; write 1s to 1000d");
  options->health_max_age_ms = ms;
  return true;
}

static bool read_pretend(struct span text, struct options *options, struct words *why) {
  options->pretend = text.at;
  return is_path(text, why);
}

static bool read_config(struct span text, struct options *options, struct words *why) {
  (void)options; /* it was read before the others */
  return is_path(text, why);
}

static bool read_user(struct span text, struct options *options, struct words *why) {
  options->user = text.at;
  return is_user(text, why);
}

enum {
  TO, INTERFACE, TTL, NAME, CLUSTER, KEY_FILE, INTERVAL, PACE_FILE, PACE_MIN, PACE_MAX, ONCE, ALIGNED, PROC, SYS, SCRATCH, HEALTH_MAX_AGE, PRETEND, USER, SECCOMP, CONFIG,
  OPTIONS
};

static const struct option {
  const char *name;
  const char *value; /* the word for the value in help and errors; NULL: a flag */
  unsigned most;     /* how often it may be given */
  const char *fallback;
  reader *read;
} table[OPTIONS] = {
  [TO] = {"to", "ADDR[:PORT]", MOST_TO, NULL, read_to},
  [INTERFACE] = {"interface", "IF", 1, NULL, read_interface},
  [TTL] = {"ttl", "N", 1, "1", read_ttl},
  [NAME] = {"name", "NAME", 1, NULL, read_name},
  [CLUSTER] = {"cluster", "NAME", 1, NULL, read_cluster},
  [KEY_FILE] = {"key-file", "FILE", 1, NULL, read_key_file},
  [INTERVAL] = {"interval", "TIME", 1, "1s", read_interval},
  [PACE_FILE] = {"pace-file", "PATH", 1, NULL, read_pace_file},
  [PACE_MIN] = {"pace-min", "TIME", 1, "250ms", read_pace_min},
  [PACE_MAX] = {"pace-max", "TIME", 1, "60s", read_pace_max},
  [ONCE] = {"once", NULL, 0, NULL, NULL},
  [ALIGNED] = {"aligned", NULL, 0, NULL, NULL},
  [PROC] = {"proc", "DIR", 2, place_of_proc, read_proc},
  [SYS] = {"sys", "DIR", 2, place_of_sys, read_sys},
  [SCRATCH] = {"scratch", "DIR", 1, place_of_scratch, read_scratch},
  [HEALTH_MAX_AGE] = {"health-max-age", "TIME", 1, NULL, read_health_max_age},
  [PRETEND] = {"pretend", "FILE", 1, NULL, read_pretend},
  [USER] = {"user", "USER", 1, NULL, read_user},
  [SECCOMP] = {"seccomp", NULL, 0, NULL, NULL},
  [CONFIG] = {"config", "FILE", 1, NULL, read_config},
};

/* A text that is given for an option; several make the value of one that can be repeated. From the command line or
 * the file; the former takes precedence. */
struct given {
  const char *text; /* NULL: a flag that is off */
  unsigned line;    /* of the file; 0: it is from the command line */
  int option;
};

#define MOST_GIVEN 256u
static struct given given[MOST_GIVEN];
static unsigned givens;
static struct toml file LARGE;
static const char *file_name;

static int find(struct span name) {
  for (int i = 0; i < OPTIONS; i++)
    if (span_is(name, span_of(table[i].name))) return i;
  return -1;
}

static bool give(int option, const char *text, unsigned line) {
  if (givens == MOST_GIVEN) return false;
  given[givens++] = (struct given){text, line, option};
  return true;
}

static unsigned times_given(int option, bool in_file) {
  unsigned count = 0;
  for (unsigned i = 0; i < givens; i++) count += given[i].option == option && (given[i].line > 0) == in_file;
  return count;
}

static const char *nearest_option(struct span name, bool help) {
  const char *names[OPTIONS + 1];
  for (unsigned i = 0; i < OPTIONS; i++) names[i] = table[i].name;
  names[OPTIONS] = "help";
  return nearest_word(name, names, help ? OPTIONS + 1 : OPTIONS - 1); /* a file cannot name another file */
}

static void add_spelled(struct words *words, int option) {
  add_text(words, "--");
  add_text(words, table[option].name);
  if (table[option].value == NULL) return;
  add_text(words, " ");
  add_text(words, table[option].value);
}

static void refuse_no_value(int option, const char *follows, struct words *fault) {
  add_text(fault, "--");
  add_text(fault, table[option].name);
  add_text(fault, " has no value");
  if (follows != NULL) {
    add_text(fault, ", ");
    add_text(fault, follows);
    add_text(fault, " follows it");
  }
  add_text(fault, "; write ");
  add_spelled(fault, option);
}

/* An argument that begins with - and is not an option of ours, or a flag with a value. */
static void refuse_unknown(const char *argument, struct words *fault) {
  struct span given = span_of(argument), name;
  const char *equals = strchr(argument, '=');
  if (equals != NULL) given.len = (size_t)(equals - argument);
  for (name = given; begins(name, SPAN("-"));) name = without(name, 1);
  const int option = find(name);
  if (option >= 0 && table[option].value == NULL && begins(given, SPAN("--"))) {
    add_one_line(fault, given);
    add_text(fault, " takes no value; write ");
    add_one_line(fault, given);
    return;
  }
  add_text(fault, "unknown option ");
  add_quoted(fault, given);
  if (option >= 0) {
    add_text(fault, "; write ");
    add_spelled(fault, option);
    return;
  }
  const char *meant = nearest_option(name, true);
  add_text(fault, meant != NULL ? "; did you mean --" : "; see " PROGRAM " --help");
  if (meant == NULL) return;
  add_text(fault, meant);
  add_text(fault, "?");
}

/* The contents of the command line, unchanged. */
static enum outcome read_command(int argc, char *const argv[], struct words *fault) {
  const char *too_many = NULL;
  bool wrong = false; /* and the fault has the first error */
  enum outcome asked = OPTIONS_GOOD;
  givens = 0;
  for (int i = 1; i < argc; i++) {
    const struct span argument = span_of(argv[i]);
    if (span_is(argument, SPAN("--"))) {
      if (i + 1 < argc && too_many == NULL) too_many = argv[i + 1];
      break;
    }
    if (argument.len < 2 || argument.at[0] != '-') {
      if (too_many == NULL) too_many = argv[i];
      continue;
    }
    if (span_is(argument, SPAN("-h")) || span_is(argument, SPAN("--help"))) {
      asked = OPTIONS_HELP;
      continue;
    }
    if (span_is(argument, SPAN("-V")) || span_is(argument, SPAN("--version"))) {
      if (asked == OPTIONS_GOOD) asked = OPTIONS_VERSION;
      continue;
    }
    const char *equals = strchr(argv[i], '=');
    const struct span name = {argv[i] + 2, equals == NULL ? argument.len - 2 : (size_t)(equals - argv[i]) - 2};
    const int option = begins(argument, SPAN("--")) ? find(name) : -1;
    if (option < 0 || (table[option].value == NULL && equals != NULL)) {
      if (!wrong) refuse_unknown(argv[i], fault);
      wrong = true;
      continue;
    }
    const bool flag = table[option].value == NULL;
    if (!flag && equals == NULL && i + 1 == argc) {
      if (!wrong) refuse_no_value(option, NULL, fault);
      wrong = true;
      break;
    }
    const char *text = flag ? "true" : equals != NULL ? equals + 1 : argv[i + 1];
    /* The value has the name of an option: it was forgotten. */
    struct span swallowed = span_of(text);
    if (eat(&swallowed, SPAN("--")) && find(swallowed) >= 0) {
      if (!wrong) refuse_no_value(option, text, fault);
      wrong = true;
    }
    if (!give(option, text, 0)) {
      add_text(fault, "there are more than 256 values; write fewer");
      return OPTIONS_BAD;
    }
    if (!flag && equals == NULL) i++;
  }
  if (asked != OPTIONS_GOOD) return asked;
  if (!wrong && too_many != NULL) {
    add_quoted(fault, span_of(too_many));
    add_text(fault, " is one argument too many; see " PROGRAM " --help");
    wrong = true;
  }
  return wrong ? OPTIONS_BAD : OPTIONS_GOOD;
}

/* Reads one key of the file. */
static bool take(void *context, struct span key, const struct toml_value *value, struct words *why) {
  (void)context;
  if (value->kind == TOML_TABLE) {
    add_text(why, "tables are not taken here; write NAME = VALUE, texts in quotes");
    return false;
  }
  const int option = find(key);
  if (option == CONFIG) {
    add_text(why, "config cannot be set in a file for this verb; remove it");
    return false;
  }
  if (option < 0) {
    add_text(why, "unknown name ");
    add_quoted(why, key);
    const char *meant = nearest_option(key, false);
    add_text(why, meant != NULL ? "; did you mean " : "; see " PROGRAM " --help");
    if (meant == NULL) return false;
    add_text(why, meant);
    add_text(why, "?");
    return false;
  }
  const bool flag = table[option].value == NULL, many = table[option].most > 1;
  const char *instead = NULL;
  if (times_given(option, true) > 0) instead = "given twice; write it once";
  else if (flag && value->kind != TOML_TRUTH) instead = "not a value for it; write true or false";
  else if (!flag && !many && (value->kind == TOML_TRUTH || value->kind == TOML_ARRAY))
    instead = "not a value for it; write one text in quotes, or a number";
  else if (many && (value->kind == TOML_TRUTH || value->count == 0))
    instead = "not a value for it; write an array of one or more texts in quotes";
  for (unsigned i = 0; instead == NULL && i < value->count; i++)
    if (!give(option, flag && !value->truth ? NULL : value->texts[i], value->line)) instead = "too many values; write fewer";
  if (instead == NULL) return true;
  add_text(why, table[option].name);
  add_text(why, ": ");
  add_text(why, instead);
  return false;
}

static void add_where(struct words *words, int option, unsigned line) {
  if (line > 0) {
    add_one_line(words, span_of(file_name));
    add_text(words, ":");
    add_number(words, line);
    add_text(words, ": ");
  } else {
    add_text(words, "--");
  }
  add_text(words, table[option].name);
}

static bool read_one(int option, const char *text, const char *where, unsigned line, struct options *options,
                     struct words *fault) {
  char reason[700];
  struct words why = WORDS(reason);
  if (table[option].read(span_of(text), options, &why)) return true;
  add_text(fault, where);
  if (where[0] == 0) add_where(fault, option, line);
  else add_text(fault, table[option].name);
  add_text(fault, ": ");
  add_span(fault, (struct span){reason, why.len});
  return false;
}

static bool read_flag(int option, bool on, struct options *options) {
  if (option == ONCE) options->once = on;
  if (option == ALIGNED) options->aligned = on;
  if (option == SECCOMP) options->seccomp = on;
  return true;
}

static bool evaluate(int option, struct options *options, struct words *fault) {
  const bool in_file = times_given(option, false) == 0;
  const unsigned times = times_given(option, in_file), most = table[option].most;
  if (times == 0) {
    const char *text = table[option].fallback;
    if (option == NAME) {
      char reason[400];
      struct words why = WORDS(reason);
      if ((text = host_name(&why)) == NULL) {
        add_text(fault, "the default of --name: ");
        add_span(fault, (struct span){reason, why.len});
        return false;
      }
    }
    return text == NULL || read_one(option, text, "the default of --", 0, options, fault);
  }
  bool again = false;
  for (unsigned i = 0; i < givens; i++) {
    const struct given *one = &given[i];
    if (one->option != option || (one->line > 0) != in_file) continue;
    if (table[option].value == NULL) return read_flag(option, one->text != NULL, options);
    if (times > most && !again) {
      add_where(fault, option, one->line);
      add_text(fault, " is given ");
      add_number(fault, times);
      add_text(fault, " times; give it ");
      add_text(fault, most == 1 ? "once" : "at most ");
      if (most == 1) return false;
      add_number(fault, most);
      add_text(fault, " times");
      return false;
    }
    again = true;
    if (!read_one(option, one->text, "", one->line, options, fault)) return false;
  }
  return true;
}

static bool refuse(struct words *fault, const char *why) {
  add_text(fault, why);
  return false;
}

static bool read_all(struct options *options, struct words *fault) {
  memset(options, 0, offsetof(struct options, to));
  file_name = NULL;
  for (unsigned i = 0; i < givens; i++)
    if (given[i].option == CONFIG) file_name = given[i].text;
  if (file_name != NULL) {
    if (!evaluate(CONFIG, options, fault)) return false;
    if (!toml_read(&file, file_name, take, NULL, fault)) return false;
  }
  for (int i = 0; i < OPTIONS; i++)
    if (!evaluate(i, options, fault)) return false;
  options->trees = options->proc[1] != NULL || options->sys[1] != NULL ? 2 : 1;
  if (options->proc[1] == NULL) options->proc[1] = options->proc[0];
  if (options->sys[1] == NULL) options->sys[1] = options->sys[0];
  if (options->to_count == 0 && !options->to_stdout)
    return refuse(fault, "nowhere to report to; write --to ADDR, or --to - for stdout");
  if (options->pretend != NULL && !options->once) return refuse(fault, "--pretend makes one report; add --once");
  if (options->pace_min_ms > options->pace_max_ms)
    return refuse(fault, "--pace-min is longer than --pace-max; give a shorter --pace-min or a longer --pace-max");
  return true;
}

enum outcome options_read(int argc, char *const argv[], struct options *options, struct words *fault) {
  const enum outcome outcome = read_command(argc, argv, fault);
  if (outcome != OPTIONS_GOOD) return outcome;
  return read_all(options, fault) ? OPTIONS_GOOD : OPTIONS_BAD;
}

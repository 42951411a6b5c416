/* The sender: one report per tick to every master. Reads this machine, and listens to nobody. Memory is allocated
 * only at the start. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/privileges.h"
#include "../base/service.h"
#include "../base/startup.h"
#include "../collect/collect.h"
#include "loop.h"
#include "options.h"
#include "destinations.h"
#include "pacefile.h"
#include "pretend.h"
#include "schedule.h"
#include "slow/rounds.h"

static struct options options LARGE; /* of the start */
static const struct pretend_values *pretend_values; /* NULL: this is a real run */
static struct course course;
static int arguments;
static char *const *argument;
static uid_t other_user; /* the user to become */
static char fault_text[1024];

static int lack_memory(struct words *fault) {
  add_text(fault, "there is not enough memory");
  return refuse_start(fault, NOT_SO);
}

/* The part of the course that follows from the options, and may change while the sender runs. */
static bool set_course(const struct options *from, struct course *to, struct words *fault) {
  struct identity *identity = &to->identity;
  memcpy(identity->name, from->name, sizeof identity->name);
  identity->cluster_id = cluster_id_of(from->cluster);
  identity->interval_ms = from->interval_ms;
  to->aligned = from->aligned;
  identity->key = (struct key){.alg = BB_AUTH_ALG_NONE};
  return from->key_file == NULL || read_signing_key(from->key_file, from->name, other_user, &identity->key, fault);
}

/* Of the machine to report, as this process sees it: empty, or where a container has it. */
static char root[PATH_MAX];
static const char *place_run, *place_etc;

static bool refuse_root(struct words *fault, const char *what, const char *path, int error, const char *advice) {
  add_text(fault, what);
  add_one_line(fault, span_of(path));
  add_text(fault, ": ");
  add_text(fault, error_name(error));
  add_text(fault, advice);
  return false;
}

/* Once, before anything below it is looked for. */
static bool find_root(struct words *fault) {
  if (options.root == NULL) return true;
  if (realpath(options.root, root) == NULL) return refuse_root(fault, "--root: cannot open ", options.root, errno, "");
  struct stat given, found;
  const bool is_same = stat(options.root, &given) == 0 && stat(root, &found) == 0 && given.st_dev == found.st_dev &&
                       given.st_ino == found.st_ino;
  if (root[strspn(root, "/")] == 0) root[0] = 0; /* musl leaves two slashes */
  if (is_same && strlen(root) < MOST_ROOT) return true;
  add_text(fault, is_same ? "--root: the path is longer than 255 bytes; mount it at a shorter one"
                          : "--root: the path is a link out of this container; mount the machine's / in it");
  return false;
}

/* A copy of a path that is needed as long as the program runs: the memory of options is reused by the next parse.
 * A standard path is below the root. */
static const char *kept(const char *path, const char *standard) {
  static char store[8 * (MOST_PATH + 1)];
  static size_t used;
  struct words words = {store + used, sizeof store - used, 0};
  if (path == standard) add_text(&words, root);
  add_text(&words, path);
  const char *copy = text_of(&words);
  used += words.len + 1;
  return copy;
}

/* The roots never change while the sender runs. */
static void keep_paths(struct options *of) {
  const bool one_proc = of->proc[1] == of->proc[0], one_sys = of->sys[1] == of->sys[0];
  of->proc[0] = kept(of->proc[0], place_of_proc);
  of->sys[0] = kept(of->sys[0], place_of_sys);
  /* A tree is identified by the address of its name. */
  of->proc[1] = one_proc ? of->proc[0] : kept(of->proc[1], place_of_proc);
  of->sys[1] = one_sys ? of->sys[0] : kept(of->sys[1], place_of_sys);
  of->scratch = kept(of->scratch, NULL); /* its path on the machine */
  place_run = kept(place_of_run, place_of_run);
  place_etc = kept(place_of_etc, place_of_etc);
}

/* In a container, whether a machine's /proc is there: without it everything would be missing from the reports. */
static bool has_machine(struct words *fault) {
  char path[MOST_PATH + 32];
  struct words words = WORDS(path);
  add_text(&words, options.proc[1]);
  add_text(&words, "/1/mountinfo");
  if (root[0] == 0 || access(text_of(&words), R_OK) == 0) return true;
  return refuse_root(fault, "--root: cannot read ", path, errno, "; mount the machine's /proc there");
}

/* Reads the trees of the earlier ticks, if there are any, and then the last one. */
static void open_collector(void) {
  static struct bb_report before LARGE;
  collect_from(options.proc[0], options.sys[0], root[0] != 0);
  if (options.trees == 1) return;
  const int64_t interval_ns = (int64_t)options.interval_ms * 1000000;
  const bool is_given = pretend_values != NULL && pretend_values->has_before;
  const int64_t before_ns =
      is_given ? pretend_values->before_boot_ns : (int64_t)machine->clocks().boot_ns - interval_ns;
  collect(&before, before_ns, &(struct details){0});
  collect_restart();
  collect_from(options.proc[1], options.sys[1], root[0] != 0);
}

static struct slow_world world_of(unsigned tree) {
  struct slow_world world = {
    .proc = options.proc[tree],
    .sys = options.sys[tree],
    .process = root[0] != 0 ? "/1" : "/self",
    .root = root,
    .run = place_run,
    .etc = place_etc,
    .scratch = options.scratch,
    .health_most_ms = options.health_max_age_ms,
    .file_system = file_system_here,
    .age_s = age_here,
    .real_path = real_path_here,
  };
  if (pretend_values != NULL) pretend_slow_world(&world);
  return world;
}

/* In a buffer that the next call overwrites. */
static const char *description(void) {
  static char text[800];
  struct words all = WORDS(text), *const words = &all;
  add_text(words, course.identity.name);
  add_text(words, " reports every ");
  add_duration(words, loop_rate_ms());
  if (loop_goal_ms() != loop_rate_ms()) {
    add_text(words, ", in steps up to ");
    add_duration(words, loop_goal_ms());
    add_text(words, ",");
  }
  add_text(words, " to ");
  add_destinations(words);
  return text_of(words);
}

static void tell_ready(void) {
  say(SAY_INFO, "ready: ", description(), (char *)NULL);
  service_ready(description());
}

static void tell_interval(void) { service_status(description()); }

/* The key file could not be read at the last SIGHUP, for the reason that was told. */
static bool lacks_key;
static char told_lack[sizeof fault_text] LARGE;

/* Applies new destinations, name, key and interval; if anything is invalid, nothing changes. */
static void change(bool is_retry) {
  static struct options fresh LARGE;
  static struct course to;
  struct words fault = WORDS(fault_text);
  to = course;
  bool good = send_options_read(arguments, argument, &fresh, &fault) == OPTIONS_GOOD;
  if (good && fresh.unnamed) {
    add_text(&fault, UNNAMED);
    good = false;
  }
  lacks_key = good && !set_course(&fresh, &to, &fault);
  if (!good || lacks_key) {
    if (!is_retry || strcmp(text_of(&fault), told_lack) != 0)
      say(SAY_ERROR, "SIGHUP: ", text_of(&fault), "; nothing has changed", lacks_key ? ", tries again" : "",
          (char *)NULL);
    memcpy(told_lack, fault_text, sizeof told_lack);
    return;
  }
  loop_leave(&to);
  course = to;
  const bool to_others = destinations_change(&fresh);
  pace_change(&fresh);
  loop_change(&course, to_others);
  say(SAY_INFO, "read its options again: ", description(), (char *)NULL);
}

static void read_options(bool is_retry) {
  if (!is_retry) service_reloading();
  change(is_retry);
  service_ready(description());
}

static void read_again(void) { read_options(false); }

/* A key file that could not be read is tried again with each report. */
static void try_again(void) {
  if (lacks_key) read_options(true);
}

/* Checks whether somebody still reads stdout; a full disk ends the program. */
static bool has_stdout(void) {
  int error;
  const enum stdout_state state = destinations_stdout(&error);
  if (state == STDOUT_BROKEN) {
    say(SAY_ERROR, "cannot write to stdout: ", error_name(error), (char *)NULL);
    exit(WRITE_FAILED);
  }
  return state == STDOUT_GOOD;
}

static int send_run(void) {
  static const struct loop_calls calls =
    {.hangup = read_again, .due = try_again, .ready = tell_ready, .interval = tell_interval};
  uint64_t reports;
  const unsigned goodbyes = loop_run(&calls, &reports), count = destinations_count();
  has_stdout();
  char text[200];
  struct words words = WORDS(text);
  if (goodbyes != count) {
    add_text(&words, " to ");
    add_number(&words, goodbyes);
    add_text(&words, " of ");
    add_number(&words, count);
  }
  add_text(&words, " after ");
  add_number(&words, reports);
  add_text(&words, " reports");
  if (destinations_failed() > 0) {
    add_text(&words, ", ");
    add_number(&words, destinations_failed());
    add_text(&words, " could not be delivered");
  }
  say(SAY_INFO, "said goodbye", text_of(&words), (char *)NULL);
  return DONE;
}

static int once(void) {
  unsigned sent;
  destinations_be_patient();
  if (pretend_values != NULL) {
    const struct slow_world worlds[2] = {world_of(0), world_of(1)};
    rounds_pretend(worlds + (2 - options.trees), options.trees, pretend_values->slow_boot_ns);
    sent = loop_once(pretend_values->seq, pretend_values->missed_ticks, (uint64_t)pretend_values->late_us * 1000);
  } else {
    rounds_begin();
    rounds_wait();
    sent = loop_once(0, 0, 0);
  }
  if (!has_stdout()) return DONE;
  return sent == destinations_count() ? DONE : NOT_SO;
}

/* Neighbour discovery takes 3 s, more on a busy machine, and what the kernel learns of one datagram it tells at the
 * next. */
#define CHECKED_S 6u

static int check(void) {
  static const struct bb_report nothing;
  sigset_t answers;
  sigemptyset(&answers);
  sigaddset(&answers, SIGNAL_ANSWER);
  for (int64_t until = bb_clock_ms(CLOCK_BOOTTIME), end = until + 1000 * CHECKED_S; until <= end; until += 1000) {
    for (int64_t left; (left = until - bb_clock_ms(CLOCK_BOOTTIME)) > 0;) {
      const struct timespec pause = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
      if (sigtimedwait(&answers, NULL, &pause) == SIGNAL_ANSWER) destinations_answered();
    }
    destinations_send(&nothing);
  }
  return destinations_unopposed(course.identity.name) == destinations_count() ? DONE : NOT_SO;
}

/* Gives up what is not needed any more, when everything is open. */
static bool send_settle(const struct user *user, struct words *fault) {
  if (options.user != NULL && !become(user, fault)) return false;
  no_new_privileges();
  return !options.seccomp || confine(false, fault);
}

/* Reads the options; while this machine has no name, again and again. False: SIGTERM or SIGINT came meanwhile. */
static bool read_when_named(enum outcome *outcome, struct words *fault) {
  sigset_t ends;
  bool told = false;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGHUP); /* only ends the pause */
  for (;;) {
    *outcome = send_options_read(arguments, argument, &options, fault);
    if (*outcome != OPTIONS_GOOD || !options.unnamed || options.once) break;
    if (!told) {
      sigprocmask(SIG_BLOCK, &ends, NULL);
      say(SAY_WARN, UNNAMED, "; waits for that", (char *)NULL);
      service_ready("waits for a host name");
      told = true;
    }
    service_watch(bb_clock_ns(CLOCK_BOOTTIME));
    const int signal = sigtimedwait(&ends, NULL, &(const struct timespec){.tv_sec = 1});
    if (signal == SIGTERM || signal == SIGINT) return false;
  }
  if (told) sigprocmask(SIG_UNBLOCK, &ends, NULL);
  return true;
}

int main(int argc, char *argv[]) {
  struct words fault = WORDS(fault_text);
  struct user user = {(uid_t)-1, (gid_t)-1, ""};
  arguments = argc;
  argument = argv;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* the file size limit is reported as an error, too */
  hold_standard_places();
  service_open();
  enum outcome outcome;
  if (!read_when_named(&outcome, &fault)) return DONE;
  switch (outcome) {
    case OPTIONS_HELP: return show(help_text);
    case OPTIONS_VERSION: return show(version_text);
    case OPTIONS_BAD: return refuse_start(&fault, USAGE);
    case OPTIONS_GOOD: break;
  }
  if (options.unnamed) return add_text(&fault, UNNAMED), refuse_start(&fault, NOT_SO);
  if (!find_root(&fault)) return refuse_start(&fault, USAGE);
  keep_paths(&options);
  if (!has_machine(&fault)) return refuse_start(&fault, USAGE);
  if (options.pretend != NULL) {
    pretend_values = pretend(options.pretend, &fault);
    if (pretend_values == NULL) return refuse_start(&fault, USAGE);
  }
  if (options.user != NULL && !find_user(options.user, &user, &fault)) return refuse_start(&fault, USAGE);
  other_user = options.user != NULL ? user.uid : geteuid();
  find_beoboard(kept(place_of_passwd, place_of_passwd));
  if (!read_boot_id(options.proc[1], &course.identity.boot_id))
    tell("cannot read the boot id: reboots of this node will not be seen");
  course.identity.agent_version = pretend_values != NULL ? pretend_values->version : version_number();
  course.identity.start_boot_ns =
      pretend_values != NULL ? pretend_values->start_boot_ns : (uint64_t)bb_clock_ns(CLOCK_BOOTTIME);

  /* A failure that may be temporary has another code than wrong usage: a service manager tries again. A key file may
   * be there, and readable, by then. */
  if (!set_course(&options, &course, &fault))
    return refuse_start(&fault, service_is_managed() ? NOT_SO : USAGE);
  if (!loop_open(options.once, &fault)) return refuse_start(&fault, NOT_SO);
  if (!destinations_open(SIGNAL_ANSWER)) return lack_memory(&fault);
  destinations_change(&options);
  open_collector();
  const struct slow_world world = world_of(1);
  if (pretend_values == NULL) {
    if (!rounds_open(&world, options.interval_ms, !options.once)) return lack_memory(&fault);
    rounds_open_privileged();
  }
  if (!send_settle(&user, &fault)) return refuse_start(&fault, USAGE);
  pace_change(&options);
  loop_change(&course, true);
  return options.check ? check() : options.once ? once() : send_run();
}

/* beoboard-check: whether the nodes are well, in one line and a Nagios exit code. The same output as `beoboard
 * check` with the same options, without Node.js; it has no conditions, and reads nothing of a scheduler. Blames no node
 * when the receiver is stalled. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"
#include "../board/seqlock.h"
#include "../judge/liveness.h"
#include "journals.h"
#include "remarks.h"
#include "telling.h"
#include "wording.gen.h"

#define PROGRAM "beoboard-check"
#define JOURNAL_RUN "/run/beoboard-journal"
const char program[] = PROGRAM;

static const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "check whether nodes are well: beoboard check in C, for prologs, cron and loops\n"
  "\n"
  "Options:\n"
  "  --nodes LIST          the nodes as a host list, node[001-128],login1, or @FILE with\n"
  "                        a list on each line\n"
  "  --fail WAY            open or closed: the answer if no state is known\n"
  "  -w, --warning LIMIT   warn if more nodes than this are not live: 5, 2%, or the\n"
  "                        larger of both, 2%,5 (default: 0)\n"
  "  -c, --critical LIMIT  critical if more nodes than this are silent or left long\n"
  "                        ago (default: 0)\n"
  "  --health WHEN         on or off: whether unhealthy nodes count as down\n"
  "                        (default: on)\n"
  "  --ignore NAMES        problems to ignore: held, bad_health, root_readonly,\n"
  "                        memory_errors, gpu_lost, gpu_errors, root_full, scratch_full,\n"
  "                        health_warning, oom, hung_tasks, throttled, ecc\n"
  "  --recent NAMES        problems that warn also after they went, until their quiet\n"
  "                        time is over; none: no problem does (default:\n"
  "                        gpu_errors,hung_tasks,throttled)\n"
  "  --journal-run DIR     where journals write their state (default:\n"
  "                        " JOURNAL_RUN ")\n"
  "  --board PATH          the board file (default: " BEOBOARD_PATH ")\n"
  "  --owner USER          trust boards of this user too, by name or id (env:\n"
  "                        BEOBOARD_OWNER)\n"
  "  -h, --help            show this help\n"
  "  -V, --version         show the version\n"
  "\n"
  "Its answers are those of beoboard check, which also says why no node has reported, and warns when\n"
  "a scheduler's hosts are not on the board. For --where, --setup, --slurm-dir and --config use it.\n"
  "Exit codes: 0 OK, 1 warning, 2 critical, 3 unknown, and wrong usage.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM " --warning 0.1% --critical 1%,1\n"
  "  " PROGRAM " --nodes \"$SLURM_JOB_NODELIST\" --fail open\n"
  "  " PROGRAM " --ignore held,ecc\n"
  "  " PROGRAM " --recent gpu_errors,oom\n";

/* A node that left a short time ago was shut down on purpose; from this age on somebody may have forgotten it. */
#define LEFT_TOO_LONG_MS 600000u
/* Monitors cut what is longer: old NRPE passes on so many bytes of a line and its figures. */
#define MOST_BYTES 1023u
/* How many parts of each host list are shown, each of so many characters at most; fewer if there is no room for so
 * many. */
#define MOST_PARTS 5
#define LONGEST_PART 100
#define ELLIPSIS "\xe2\x80\xa6"

enum { OK, WARNING, CRITICAL, UNKNOWN };

enum fail { FAIL_NOT_SAID, FAIL_OPEN, FAIL_CLOSED };

static struct options {
  struct node_query query;
  enum fail fail;
  struct portion warning, critical;
  bool health_off;
  uint32_t ignored, recent; /* problems, a bit each: left out; that warn also when they are recent */
  const char *journal_run;
} options = {
  .recent = 1u << BEOBOARD_PROBLEM_GPU_ERRORS | 1u << BEOBOARD_PROBLEM_HUNG_TASKS | 1u << BEOBOARD_PROBLEM_THROTTLED,
  .journal_run = JOURNAL_RUN};

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
  {.name = "nodes", .value = "LIST", .read = read_nodes, AT(query)},
  {.name = "fail", .value = "WAY", .read = read_fail, AT(fail)},
  {.name = "warning", .letter = 'w', .value = "LIMIT", .read = value_portion, AT(warning)},
  {.name = "critical", .letter = 'c', .value = "LIMIT", .read = value_portion, AT(critical)},
  {.name = "health", .value = "WHEN", .read = read_health, AT(health_off)},
  {.name = "ignore", .value = "NAMES", .read = value_problems, AT(ignored)},
  {.name = "recent", .value = "NAMES", .read = read_recent, AT(recent)},
  {.name = "journal-run", .value = "DIR", .read = value_file, AT(journal_run)},
  {.name = "board", .value = "PATH", .read = value_file, AT(query.board)},
  {.name = "owner", .value = "USER", .read = value_user, AT(query.owner)},
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

/* What stands around the text: before it, and behind it. */
struct frame {
  const char *before;
  struct words after;
};

/* `fail`: how --fail decided. `figures`: NULL for none. */
static struct frame frame_of(int code, enum fail fail, const struct words *figures) {
  static const char *const befores[] =
    {"BEOBOARD OK: ", "BEOBOARD WARNING: ", "BEOBOARD CRITICAL: ", "BEOBOARD UNKNOWN: "};
  static const char *const ways[] = {"", "; fails open", "; fails closed"};
  struct frame frame = {befores[code], long_words()};
  add_text(&frame.after, ways[fail]);
  if (figures != NULL) add_text(&frame.after, " | ");
  if (figures != NULL) add_span(&frame.after, (struct span){figures->text, figures->len});
  add_text(&frame.after, "\n");
  return frame;
}

/* The text in one line, without the character that begins the figures. */
static struct words whole_line(const struct words *text) {
  struct words line = long_words();
  add_one_line(&line, (struct span){text->text, text->len});
  for (size_t i = 0; i < line.len; i++)
    if (line.text[i] == '|') line.text[i] = '/';
  return line;
}

static size_t room_in(const struct frame *frame) {
  const size_t around = strlen(frame->before) + frame->after.len;
  return around < MOST_BYTES ? MOST_BYTES - around : 0;
}

/* Cuts it to at most so many bytes, not within a character. */
static void cut(struct words *line, size_t most) {
  if (line->len <= most) return;
  size_t end = most > sizeof ELLIPSIS - 1 ? most - (sizeof ELLIPSIS - 1) : 0;
  while (end > 0 && ((unsigned char)line->text[end] & 0xc0) == 0x80) end--;
  line->len = end;
  add_text(line, ELLIPSIS);
}

static noreturn void end_told(int code, const struct words *text, const struct frame *frame) {
  struct words line = whole_line(text), answer = long_words();
  cut(&line, room_in(frame));
  add_text(&answer, frame->before);
  add_span(&answer, (struct span){line.text, line.len});
  add_span(&answer, (struct span){frame->after.text, frame->after.len});
  print((struct span){answer.text, answer.len});
  exit(code);
}

static const int codes[] = {UNKNOWN, OK, CRITICAL}; /* by --fail */

/* Nothing is known: the options say what to answer then. */
static noreturn void tell_ignorance(const char *why) {
  struct words text = long_words();
  add_text(&text, why);
  const struct frame frame = frame_of(codes[options.fail], options.fail, NULL);
  end_told(codes[options.fail], &text, &frame);
}

noreturn void give_up(const char *why, int code) {
  (void)code; /* a monitor takes 2 as critical and reads stdout only */
  tell_ignorance(why);
}

noreturn void give_up_memory(void) {
  static const char *const lines[] =
    {"BEOBOARD UNKNOWN: out of memory\n", "BEOBOARD OK: out of memory; fails open\n",
      "BEOBOARD CRITICAL: out of memory; fails closed\n"};
  end_with(STDOUT_FILENO, lines[options.fail], codes[options.fail]);
}

/* ---- The verdict ---- */

/* Nodes about which one thing is said. */
struct group {
  const char *what;
  const char *const *names;
  size_t count;
  const char *note; /* what else is said of them; NULL: nothing */
};

static void add_group(struct words *text, const struct group *g, size_t most, bool *is_first) {
  if (g->count == 0) return;
  if (!*is_first) add_text(text, ", ");
  *is_first = false;
  add_number(text, g->count);
  add_text(text, " ");
  add_text(text, g->what);
  if (most == 0 && g->note == NULL) return;
  add_text(text, " (");
  if (most > 0 && add_names(text, g->names, g->count, most, LONGEST_PART)) add_text(text, " and more");
  if (most > 0 && g->note != NULL) add_text(text, "; ");
  if (g->note != NULL) add_text(text, g->note);
  add_text(text, ")");
}

/* Whether so many are more than a portion of a total. */
static bool exceeds(uint64_t count, const struct portion *limit, uint64_t total) {
  return count * PARTS_OF_NODE > portion_of(limit, total);
}

/* The limit as a number. */
static void add_limit(struct words *words, const struct portion *limit, uint64_t total) {
  const uint64_t parts = portion_of(limit, total);
  add_number(words, parts / PARTS_OF_NODE);
  uint64_t rest = parts % PARTS_OF_NODE;
  if (rest > 0) add_text(words, ".");
  for (; rest > 0; rest = rest * 10 % PARTS_OF_NODE) add_number(words, rest * 10 / PARTS_OF_NODE);
}

static void add_figure(struct words *words, const char *what, uint64_t value, const struct portion *warning,
                       const struct portion *critical, uint64_t total) {
  if (words->len > 0) add_text(words, " ");
  add_text(words, what);
  add_text(words, "=");
  add_number(words, value);
  add_text(words, ";");
  if (warning != NULL) add_limit(words, warning, total);
  add_text(words, ";");
  if (critical != NULL) add_limit(words, critical, total);
  add_text(words, ";0;");
  add_number(words, total);
}

#define BIT(state) (1u << BEOBOARD_##state)

static struct group check_group(const char *what, const struct census *census, uint32_t state) {
  const struct node_list list = census_in_states(census, state);
  return (struct group){what, list.names, list.count, NULL};
}

/* Those that left too long ago. */
static struct group group_gone(const struct census *census, uint8_t *is_gone) {
  struct node_list left = census_in_states(census, BIT(LEFT));
  size_t gone = 0;
  for (size_t i = 0; i < left.count; i++) {
    if (census_age(census, left.numbers[i]) <= LEFT_TOO_LONG_MS) continue;
    is_gone[left.numbers[i]] = 1;
    left.names[gone++] = left.names[i];
  }
  return (struct group){"left longer than 10 minutes ago", left.names, gone, NULL};
}

enum { SILENT, GONE, NOT_ON_BOARD, UNSURE, NEVER, GROUPS };

/* The nodes with each problem, or without a source, of which `bits` has a bit each. */
static void group_problems(const struct census *c, const uint32_t *bits, struct group *groups) {
  uint8_t *has_any = (uint8_t *)keep(c->nodes + 1u, 1);
  for (uint32_t i = 0; i < c->nodes; i++) has_any[i] = bits[i] != 0;
  const struct node_list list = census_pick(c, has_any);
  for (int a = 0; a < CENSUS_THINGS; a++) {
    const char **names = (const char **)keep(list.count + 1, sizeof *names);
    const char *const source = a == BEOBOARD_NPROBLEMS ? "health" : "gpu";
    groups[a] = (struct group){a < BEOBOARD_NPROBLEMS ? beoboard_problem_name(a) : source, names, 0, NULL};
    for (size_t i = 0; i < list.count; i++)
      if ((bits[list.numbers[i]] >> a & 1) != 0) names[groups[a].count++] = list.names[i];
  }
}

/* When a recent problem was last seen on any node, and how often, if one of them had it more than once. */
static const char *note_on(const struct census *c, const uint32_t *recent, int problem) {
  uint64_t count = 0, seen_ms = 0, since_ms = UINT64_MAX, nodes = 0;
  for (uint32_t i = 0; i < c->nodes; i++) {
    if ((recent[i] >> problem & 1) == 0) continue;
    const struct bb_memory *memory = census_memory(c, i);
    if (memory == NULL) continue; /* its record was given up meanwhile */
    const uint64_t begun = bb_load(&memory->episodes[problem].begun), begin = BB_SPELL_BEGIN(begun);
    const uint64_t seen = BB_SIGHTING_SEEN(bb_load(&memory->episodes[problem].seen));
    const uint64_t since = bb_load(&memory->remembers_since_ns) / NS_PER_MS;
    count += BB_SPELL_COUNT(begun);
    nodes++;
    if (begin > seen_ms) seen_ms = begin;
    if (seen > seen_ms) seen_ms = seen;
    if (since < since_ms) since_ms = since;
  }
  const char *age = text_age(census_ago(c, seen_ms) * NS_PER_MS), *time = text_age(census_ago(c, since_ms) * NS_PER_MS);
  struct words note = long_words();
  if (count <= nodes) ADD(&note, SAY_RECENT_ONCE(age));
  else ADD(&note, SAY_RECENT_OFTEN(text_number(count), time, age));
  return text_of(&note);
}

/* Since when the first of the nodes was no longer measured for it. */
static const char *note_on_unmeasured(const struct census *c, const uint32_t *unmeasured, int problem) {
  uint64_t first_ms = UINT64_MAX;
  for (uint32_t i = 0; i < c->nodes; i++) {
    const uint64_t ms = (unmeasured[i] >> problem & 1) == 0 ? 0 : census_measured(c, i, problem);
    if (ms != 0 && ms < first_ms) first_ms = ms;
  }
  const char *age = text_age(census_ago(c, first_ms) * NS_PER_MS);
  struct words note = long_words();
  ADD(&note, SAY_UNMEASURED_SINCE(age));
  return text_of(&note);
}

/* `problems`, `recent`, `unmeasured`: of each node, a bit each, without the ignored ones. */
static void tell_verdict(const struct census *c, const struct remarks *remarks, const uint32_t *problems,
                         const uint32_t *recent, const uint32_t *unmeasured) {
  uint8_t *is_gone = (uint8_t *)keep(c->nodes + 1u, 1);
  struct group before[CENSUS_THINGS], unknown[CENSUS_THINGS];
  struct group groups[GROUPS + CENSUS_THINGS] = {
    [SILENT] = check_group("silent", c, BIT(SILENT)),
    [GONE] = group_gone(c, is_gone),
    [NOT_ON_BOARD] = {"not on the board", c->not_on_board, c->not_on_board_count, NULL},
    [UNSURE] = check_group("uncertain", c, BIT(UNCERTAIN)),
    [NEVER] = check_group("never reported", c, BIT(NEVER)),
  };
  group_problems(c, problems, &groups[GROUPS]);
  group_problems(c, recent, before);
  group_problems(c, unmeasured, unknown);
  for (int a = 0; a < CENSUS_THINGS; a++) {
    if (before[a].count > 0) before[a].note = note_on(c, recent, a);
    if (unknown[a].count > 0) unknown[a].note = note_on_unmeasured(c, unmeasured, a);
  }
  const bool is_open = options.fail == FAIL_OPEN && c->not_on_board_count > 0;
  const uint64_t excess = is_open ? c->not_on_board_count : 0;
  uint64_t total = c->not_on_board_count, doubtful = c->not_on_board_count - excess, unhealthy = 0;
  for (int state = 0; state < BEOBOARD_NSTATES; state++) total += c->counts[state];
  for (uint32_t i = 0; i < c->nodes; i++) {
    if (c->is_asked != NULL && c->is_asked[i] == 0) continue;
    /* No node is counted twice: an uncertain one may have a problem too. */
    unhealthy += problems[i] != 0;
    doubtful += problems[i] != 0 || ((recent[i] | unmeasured[i]) & options.recent) != 0 || is_gone[i] != 0 ||
      /* The last report that measured a problem showed it, less than a minute ago. */
      (unmeasured[i] >> CENSUS_PRESENT & recent[i]) != 0 ||
      ((BIT(SILENT) | BIT(UNCERTAIN) | BIT(NEVER)) >> c->states[i] & 1) != 0;
  }
  const uint64_t bad = groups[SILENT].count + groups[GONE].count + groups[NOT_ON_BOARD].count - excess;
  struct words text = long_words(), figures = long_words(), parts = long_words(), recents = long_words();
  struct words warnings = long_words(), unknowns = long_words();
  bool is_warned = add_warnings(&warnings, c);
  is_warned = add_journals(&warnings, c, options.journal_run) || is_warned;
  const bool is_doubted = exceeds(doubtful, &options.warning, total) || is_warned;
  const int judged = exceeds(bad, &options.critical, total) ? CRITICAL : is_doubted ? WARNING : OK;
  const bool is_empty = total == 0; /* no proof that all is well: reports may not reach this master */
  const int code = is_empty ? codes[options.fail] : judged;
  add_figure(&figures, "live", c->counts[BEOBOARD_LIVE], NULL, NULL, total);
  add_figure(&figures, "uncertain", c->counts[BEOBOARD_UNCERTAIN], NULL, NULL, total);
  add_figure(&figures, "silent", c->counts[BEOBOARD_SILENT], NULL, NULL, total);
  add_figure(&figures, "left", c->counts[BEOBOARD_LEFT], NULL, NULL, total);
  add_figure(&figures, "never", c->counts[BEOBOARD_NEVER], NULL, NULL, total);
  add_figure(&figures, "unhealthy", unhealthy, NULL, NULL, total);
  add_figure(&figures, "missing", doubtful, &options.warning, NULL, total);
  add_figure(&figures, "down", bad, NULL, &options.critical, total);
  const struct frame frame = frame_of(code, is_empty ? options.fail : is_open ? FAIL_OPEN : FAIL_NOT_SAID, &figures);
  for (size_t most = MOST_PARTS;; most--) {
    bool is_first = true, is_first_recent = true, is_first_unknown = true;
    text.len = parts.len = recents.len = unknowns.len = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) add_group(&parts, &groups[i], most, &is_first);
    for (int a = 0; a < CENSUS_THINGS; a++) add_group(&recents, &before[a], most, &is_first_recent);
    for (int a = 0; a < CENSUS_THINGS; a++) add_group(&unknowns, &unknown[a], most, &is_first_unknown);
    if (!is_first) add_text(&text, "of ");
    if (is_empty) {
      add_text(&text, "no node is on the board: nothing is known about nodes");
    } else {
      add_plural(&text, total);
      add_text(&text, is_first ? ", " : " ");
      if (is_first) add_number(&text, c->counts[BEOBOARD_LIVE]);
      add_text(&text, is_first ? " live" : text_of(&parts));
    }
    if (!is_first_recent) ADD(&text, "; ", SAY_RECENT(text_of(&recents)));
    if (!is_first_unknown) ADD(&text, "; ", SAY_UNMEASURED(text_of(&unknowns)));
    for (size_t i = 0; i < remarks->count; i++) {
      add_text(&text, "; ");
      add_text(&text, remarks->texts[i]);
    }
    add_text(&text, text_of(&warnings));
    if (most == 0 || whole_line(&text).len <= room_in(&frame)) end_told(code, &text, &frame);
  }
}

static void check_answer(void) {
  struct census census;
  census_read(&census, &options.query);
  if (census.stalled) {
    struct words why = long_words();
    add_stalled(&why, &census);
    add_text(&why, ", ");
    add_heartbeat(&why, &census);
    add_text(&why, ": nothing is known about nodes");
    tell_ignorance(text_of(&why));
  }
  const struct node_list others = census_in_states(&census, ~BIT(LIVE));
  const struct remarks remarks = remarks_of(&census, &others);
  uint32_t *problems = (uint32_t *)keep(census.nodes + 1u, sizeof *problems);
  uint32_t *recent = problems, *unmeasured = problems;
  if (!options.health_off) {
    problems = census_problems(&census);
    recent = census_recent(&census);
    unmeasured = census_unmeasured(&census);
    for (uint32_t i = 0; i < census.nodes; i++) {
      problems[i] &= ~options.ignored;
      unmeasured[i] &= ~(options.ignored | problems[i]);
      recent[i] &= ~(options.ignored | problems[i] | unmeasured[i]);
    }
  }
  tell_verdict(&census, &remarks, problems, recent, unmeasured);
}

int main(int argc, char *argv[]) {
  struct words line = {(char[MOST_FAULT]){PROGRAM ": "}, MOST_FAULT, sizeof PROGRAM ": " - 1};
  options.fail = fail_alone(argc, argv);
  const enum outcome outcome = options_read(&table, argc, argv, &options, &line);
  prepare(options.query.board == NULL ? BEOBOARD_PATH : options.query.board);
  if (outcome == OPTIONS_HELP || outcome == OPTIONS_VERSION) {
    print(span_of(outcome == OPTIONS_HELP ? help_text : version_text));
    return DONE;
  }
  if (outcome == OPTIONS_BAD || !read_environment(&options.query, &line)) {
    options.fail = fail_alone(argc, argv); /* ignores what was read from an invalid line */
    tell_ignorance(text_of(&line));
  }
  check_answer();
}

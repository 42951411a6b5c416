#include "verdict.h"

#include <stdlib.h>
#include <string.h>

#include "../board/seqlock.h"
#include "../judge/liveness.h"
#include "journals.h"
#include "telling.h"
#include "wording.gen.h"

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
  struct words line = whole_line(text), told = long_words();
  cut(&line, room_in(frame));
  add_text(&told, frame->before);
  add_span(&told, (struct span){line.text, line.len});
  add_span(&told, (struct span){frame->after.text, frame->after.len});
  answer(code, &told);
}

int code_of_ignorance(enum fail fail) {
  static const int codes[] = {UNKNOWN, OK, CRITICAL};
  return codes[fail];
}

noreturn void tell_ignorance(enum fail fail, const char *why) {
  struct words text = long_words();
  add_text(&text, why);
  const struct frame frame = frame_of(code_of_ignorance(fail), fail, NULL);
  end_told(code_of_ignorance(fail), &text, &frame);
}

/* ---- Groups of nodes ---- */

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

/* What is judged, before it is worded. */
struct verdict {
  int code;
  enum fail fail; /* how --fail decided */
  uint64_t total;
  const struct group *groups, *recent, *unmeasured; /* as many as `count`; CENSUS_THINGS, or NULL */
  size_t count;
  const char *otherwise; /* if no group has a node */
  struct words figures, warnings;
  struct remarks causes;
};

static bool add_groups(struct words *words, const struct group *groups, size_t count, size_t most) {
  bool is_first = true;
  for (size_t i = 0; groups != NULL && i < count; i++) add_group(words, &groups[i], most, &is_first);
  return !is_first;
}

/* With as many names as there is room for; if there is too little without, it is cut. */
static noreturn void word_verdict(const struct verdict *v) {
  const struct frame frame = frame_of(v->code, v->fail, &v->figures);
  struct words text = long_words(), parts = long_words(), recent = long_words(), unmeasured = long_words();
  for (size_t most = MOST_PARTS;; most--) {
    text.len = parts.len = recent.len = unmeasured.len = 0;
    const bool has_parts = add_groups(&parts, v->groups, v->count, most);
    if (v->total == 0) {
      add_text(&text, "no node is on the board: nothing is known about nodes");
    } else {
      if (has_parts) add_text(&text, "of ");
      add_plural(&text, v->total);
      ADD(&text, has_parts ? " " : ", ", has_parts ? text_of(&parts) : v->otherwise);
    }
    if (add_groups(&recent, v->recent, CENSUS_THINGS, most)) ADD(&text, "; ", SAY_RECENT(text_of(&recent)));
    if (add_groups(&unmeasured, v->unmeasured, CENSUS_THINGS, most))
      ADD(&text, "; ", SAY_UNMEASURED(text_of(&unmeasured)));
    for (size_t i = 0; i < v->causes.count; i++) ADD(&text, "; ", v->causes.texts[i]);
    add_span(&text, (struct span){v->warnings.text, v->warnings.len});
    if (most == 0 || whole_line(&text).len <= room_in(&frame)) end_told(v->code, &text, &frame);
  }
}

/* `bad` is critical, `doubtful` warns; neither has `excess`, the names that --fail open excuses. */
static noreturn void end_judged(const struct check_question *q, const struct census *c, struct verdict *v, uint64_t bad,
                           uint64_t doubtful) {
  bool is_warned = add_warnings(&v->warnings, c);
  is_warned = add_journals(&v->warnings, c, q->journal_run) || is_warned;
  add_text(&v->warnings, q->warnings);
  const bool is_doubted = exceeds(doubtful, &q->warning, v->total) || is_warned || q->warnings[0] != 0;
  v->code = exceeds(bad, &q->critical, v->total) ? CRITICAL : is_doubted ? WARNING : OK;
  if (q->fail == FAIL_OPEN && c->not_on_board_count > 0) v->fail = FAIL_OPEN;
  if (v->total == 0) { /* no proof that all is well: reports may not reach this master */
    v->code = code_of_ignorance(q->fail);
    v->fail = q->fail;
  }
  word_verdict(v);
}

static uint64_t total_of(const struct census *c) {
  uint64_t total = c->not_on_board_count;
  for (int state = 0; state < BEOBOARD_NSTATES; state++) total += c->counts[state];
  return total;
}

/* The names that are not on the board, as far as --fail does not excuse them. */
static uint64_t missing_of(const struct check_question *q, const struct census *c) {
  return q->fail == FAIL_OPEN ? 0 : c->not_on_board_count;
}

static struct group missing_group(const struct census *c) {
  return (struct group){"not on the board", c->not_on_board, c->not_on_board_count, NULL};
}

/* Nodes count for which the condition holds. */
static noreturn void tell_fulfilling(const struct check_question *q, struct census *c) {
  const struct node_list list = census_wanted(c, &(struct node_wish){.states = UINT32_MAX, .fulfils = q->fulfils});
  struct words with = long_words(), none = long_words();
  ADD(&with, "with ", q->condition);
  ADD(&none, "none with ", q->condition);
  const struct group groups[] = {{text_of(&with), list.names, list.count, NULL}, missing_group(c)};
  struct verdict v = {.total = total_of(c), .groups = groups, .count = 2, .otherwise = text_of(&none),
    .figures = long_words(), .warnings = long_words(), .causes = remarks_of(c, &list, q->causes)};
  const uint64_t count = list.count + missing_of(q, c);
  add_figure(&v.figures, "matching", count, &q->warning, &q->critical, v.total);
  end_judged(q, c, &v, count, count);
}

/* `problems`, `recent`, `unmeasured`: of each node, a bit each, without the ignored ones. */
static noreturn void tell_states(const struct check_question *q, const struct census *c, const uint32_t *problems,
                                 const uint32_t *recent, const uint32_t *unmeasured) {
  uint8_t *is_gone = (uint8_t *)keep(c->nodes + 1u, 1);
  struct group before[CENSUS_THINGS], unknown[CENSUS_THINGS];
  struct group groups[GROUPS + CENSUS_THINGS] = {
    [SILENT] = check_group("silent", c, BIT(SILENT)),
    [GONE] = group_gone(c, is_gone),
    [NOT_ON_BOARD] = missing_group(c),
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
  struct words otherwise = long_words();
  add_number(&otherwise, c->counts[BEOBOARD_LIVE]);
  add_text(&otherwise, " live");
  const struct node_list others = census_in_states(c, ~BIT(LIVE));
  struct verdict v = {.total = total_of(c), .groups = groups, .count = sizeof groups / sizeof groups[0],
    .recent = before, .unmeasured = unknown, .otherwise = text_of(&otherwise), .figures = long_words(),
    .warnings = long_words(), .causes = remarks_of(c, &others, q->causes)};
  uint64_t doubtful = missing_of(q, c), unhealthy = 0;
  for (uint32_t i = 0; i < c->nodes; i++) {
    if (c->is_asked != NULL && c->is_asked[i] == 0) continue;
    /* No node is counted twice: an uncertain one may have a problem too. */
    unhealthy += problems[i] != 0;
    doubtful += problems[i] != 0 || ((recent[i] | unmeasured[i]) & q->recent) != 0 || is_gone[i] != 0 ||
      /* The last report that measured a problem showed it, less than a minute ago. */
      (unmeasured[i] >> CENSUS_PRESENT & recent[i]) != 0 ||
      ((BIT(SILENT) | BIT(UNCERTAIN) | BIT(NEVER)) >> c->states[i] & 1) != 0;
  }
  const uint64_t bad = groups[SILENT].count + groups[GONE].count + missing_of(q, c);
  static const int states[] = {BEOBOARD_LIVE, BEOBOARD_UNCERTAIN, BEOBOARD_SILENT, BEOBOARD_LEFT, BEOBOARD_NEVER};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
    add_figure(&v.figures, beoboard_state_name(states[i]), c->counts[states[i]], NULL, NULL, v.total);
  add_figure(&v.figures, "unhealthy", unhealthy, NULL, NULL, v.total);
  add_figure(&v.figures, "missing", doubtful, &q->warning, NULL, v.total);
  add_figure(&v.figures, "down", bad, NULL, &q->critical, v.total);
  end_judged(q, c, &v, bad, doubtful);
}

noreturn void tell_verdict(const struct check_question *q, struct census *c) {
  if (c->stalled) {
    struct words why = long_words();
    add_stalled(&why, c);
    add_text(&why, ", ");
    add_heartbeat(&why, c);
    add_text(&why, ": nothing is known about nodes");
    tell_ignorance(q->fail, text_of(&why));
  }
  if (q->condition != NULL) tell_fulfilling(q, c);
  uint32_t *problems = (uint32_t *)keep(c->nodes + 1u, sizeof *problems);
  uint32_t *recent = problems, *unmeasured = problems;
  if (!q->health_off) {
    problems = census_problems(c);
    recent = census_recent(c);
    unmeasured = census_unmeasured(c);
    for (uint32_t i = 0; i < c->nodes; i++) {
      problems[i] &= ~q->ignored;
      unmeasured[i] &= ~(q->ignored | problems[i]);
      recent[i] &= ~(q->ignored | problems[i] | unmeasured[i]);
    }
  }
  tell_states(q, c, problems, recent, unmeasured);
}

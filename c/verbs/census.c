#include "census.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "../base/fault.h"
#include "../board/newest.h"
#include "../judge/problems.h"
#include "../judge/liveness.h"
#include "telling.h"

/* How often to try to open a board that is replaced meanwhile. */
#define OPENINGS 3

static const char *census_path(const struct node_query *query) {
  return query->board == NULL ? BEOBOARD_PATH : query->board;
}

/* Whom to trust besides root, ourselves and the user beoboard. */
static uid_t owner_of(const struct node_query *query) {
  const char *owner = query->owner;
  if (owner == NULL) return (uid_t)-1;
  if (is_digit(owner[0])) return (uid_t)strtoull(owner, NULL, 10);
  const struct passwd *user = getpwnam(owner);
  if (user == NULL) give_up(fault("there is no user %s; name one that getent passwd lists, or its id", owner), USAGE);
  return user->pw_uid;
}

static void open_board(struct census *c) {
  char why[512];
  const char *path = census_path(c->query);
  const uid_t owner = owner_of(c->query);
  for (int attempt = 1;; attempt++) {
    const enum bb_state state = bb_board_open(&c->board, path, owner, why, sizeof why);
    if (state == BB_READY) return;
    /* A board is marked as retired after its successor is at the path, so what we opened was replaced meanwhile. */
    if (state != BB_RETIRED || attempt == OPENINGS)
      give_up(fault("%s: %s%s", path, why, state == BB_ABSENT ? "; start beoboard receive, or give its --board" : ""),
              NO_BOARD);
  }
}

static noreturn void give_up_cut(const struct census *c) {
  give_up(fault("%s: was cut while it was read; restart beoboard receive: it makes another", census_path(c->query)),
          NO_BOARD);
}

/* Copies header and column, and judges them. Returns whether that worked. */
static bool copy_column(struct census *c) {
  const size_t bytes = bb_board_bytes(&c->board, 0),
    nodes = (bytes - c->board.header.header_bytes) / c->board.header.column_stride;
  uint8_t *copy = (uint8_t *)keep(bytes, 1), *states = (uint8_t *)keep(nodes + 1, 1);
  if (bb_board_begin(&c->board, copy, bytes, 0, 0, &c->look) == NULL) return false;
  if (!bb_overview_states(copy, bytes, &c->look, states)) return false;
  c->header = (const struct bb_board_header *)copy;
  c->states = states;
  c->nodes = (uint32_t)c->look.nodes;
  return true;
}

/* A retired or stalled board may have a successor under the same path. */
static bool is_over(const struct census *c) {
  return (c->header->state & BB_BOARD_STATE_RETIRED) != 0 ||
    (c->look.stalled != 0 && !bb_board_is_at(&c->board, census_path(c->query)));
}

static void find_asked(struct census *c) {
  const struct hostlist *names = &c->query->names;
  c->is_asked = (uint8_t *)keep(c->nodes + 1u, 1);
  if (c->query->is_scheduler) c->called = (const char **)keep(c->nodes + 1u, sizeof *c->called);
  c->not_on_board = (const char **)keep(names->count + 1, sizeof *c->not_on_board);
  int64_t *numbers = (int64_t *)keep(names->count + 1, sizeof *numbers);
  if (bb_board_find_all(&c->board, c->query->on_board, names->count, numbers) != 0) give_up_cut(c);
  for (size_t i = 0; i < names->count; i++) {
    const int64_t node = numbers[i] < c->nodes ? numbers[i] : -1; /* one that came since was not judged */
    if (node < 0) {
      c->not_on_board[c->not_on_board_count++] = names->names[i];
      continue;
    }
    c->is_asked[node] = 1;
    if (c->called != NULL && c->called[node] == NULL) c->called[node] = names->names[i];
  }
}

void census_read(struct census *c, const struct node_query *query, const struct bb_board *board) {
  *c = (struct census){.query = query};
  if (board != NULL) c->board = *board;
  else open_board(c);
  bool is_copied = copy_column(c);
  if (board == NULL && (!is_copied || is_over(c))) {
    bb_board_close(&c->board);
    open_board(c);
    is_copied = copy_column(c);
  }
  if (!is_copied) give_up_cut(c);
  const struct bb_board_header *h = &c->board.header;
  c->copy_bytes = (size_t)h->header_bytes + h->column_stride + h->record_stride + bb_overview_bytes(1);
  c->copy = (uint8_t *)keep(c->copy_bytes, 1);
  c->told = bb_overview_at(c->copy + c->copy_bytes - bb_overview_bytes(1), 1);
  c->stalled = c->look.stalled != 0 || (c->header->state & BB_BOARD_STATE_RETIRED) != 0;
  if (query->has_names) find_asked(c);
  for (uint32_t i = 0; i < c->nodes; i++) c->counts[c->states[i]] += c->is_asked == NULL || c->is_asked[i] != 0;
}

/* A name with its NUL, which only a corrupt board lacks. It stays on the board, where it never changes: memory for
 * 10,000 copies would take longer than all else. */
static const char *name_of(const struct census *c, uint32_t node) {
  const char *name = bb_board_name(&c->board, node);
  if (name[BB_NAME_BYTES - 1] == 0) return name;
  return (const char *)memcpy(keep(BB_NAME_BYTES + 1, 1), name, BB_NAME_BYTES);
}

struct node_list census_pick(const struct census *c, const uint8_t *is_wanted) {
  if (bb_board_is_cut(&c->board)) give_up_cut(c);
  struct node_list list = {(uint32_t *)keep(c->nodes + 1u, sizeof *list.numbers),
    (const char **)keep(c->nodes + 1u, sizeof *list.names), 0};
  for (uint32_t i = 0; i < c->nodes; i++) {
    if (is_wanted[i] == 0) continue;
    list.numbers[list.count] = i;
    list.names[list.count++] = name_of(c, i);
  }
  return list;
}

struct node_list census_in_states(const struct census *c, uint32_t states) {
  uint8_t *is_wanted = (uint8_t *)keep(c->nodes + 1u, 1);
  for (uint32_t i = 0; i < c->nodes; i++)
    is_wanted[i] = (states >> c->states[i] & 1) != 0 && (c->is_asked == NULL || c->is_asked[i] != 0);
  return census_pick(c, is_wanted);
}

static uint64_t census_word(const struct census *c, uint32_t node) {
  uint64_t word;
  memcpy(&word, (const uint8_t *)c->header + c->header->header_bytes + (size_t)node * c->header->column_stride,
         sizeof word);
  return word;
}

uint64_t census_ago(const struct census *c, uint64_t ms) {
  const uint64_t now_ms = (uint64_t)c->look.now_ns / NS_PER_MS;
  return now_ms > ms ? now_ms - ms : 0;
}

uint64_t census_age(const struct census *c, uint32_t node) {
  return census_ago(c, BB_COLUMN_STAMP(census_word(c, node)));
}

unsigned census_link(const struct census *c, uint32_t node) { return link_of(census_word(c, node)); }

/* ---- Records ---- */

void census_look(const struct census *c, uint32_t node, struct node_look *out) {
  const struct bb_board_header *h = &c->board.header;
  uint8_t *const copy = c->copy;
  if (!bb_overview_snapshot(&c->board, copy, c->copy_bytes, node, &out->look) || out->look.nodes == 0) give_up_cut(c);
  const uint8_t *record = copy + h->header_bytes + h->column_stride;
  const struct bb_slot *before;
  out->record = (const struct bb_record *)record;
  out->newest = bb_copy_slots((const struct bb_board_header *)copy, record, &before);
  out->state = c->told.states[0];
}

/* From both of its reports, of which a fifth is read: there may be thousands of nodes, and reading memory takes the
 * time. */
static uint32_t problems_of(const struct census *c, uint32_t node) {
  static const struct bb_part parts[BB_PROBLEM_PART_COUNT] = BB_PROBLEM_PARTS(offsetof(struct bb_slot, report));
  struct bb_slot pair[2];
  int which;
  const int reports = bb_pair_parts(&c->board, node, pair, parts, BB_PROBLEM_PART_COUNT, &which);
  if (reports < 1 || (pair[0].report.flags & BB_FLAGS_GOODBYE) != 0) return 0;
  return bb_problems(&pair[which].report, reports > 1 ? &pair[1 - which].report : NULL);
}

static uint32_t recent_of(const struct census *c, uint32_t node) {
  const struct bb_memory *memory = census_memory(c, node);
  return memory == NULL ? 0 : (uint32_t)bb_load_acquire(&memory->recent) & ((UINT32_C(1) << BEOBOARD_NPROBLEMS) - 1);
}

/* Those that are no longer shown as present. */
static uint32_t unmeasured_of(const struct census *c, uint32_t node) {
  static const struct bb_part parts[BB_PROBLEM_PART_COUNT] = BB_PROBLEM_PARTS(offsetof(struct bb_slot, report));
  static const uint32_t shown_by[CENSUS_THINGS - BEOBOARD_NPROBLEMS] = {
    1u << BEOBOARD_PROBLEM_BAD_HEALTH | 1u << BEOBOARD_PROBLEM_HEALTH_WARNING,
    1u << BEOBOARD_PROBLEM_GPU_LOST | 1u << BEOBOARD_PROBLEM_GPU_ERRORS};
  static struct bb_slot newest;
  const struct bb_memory *m = census_memory(c, node);
  const uint64_t recent = m == NULL ? 0 : bb_load_acquire(&m->recent);
  int which;
  if (m == NULL || (recent | bb_load(&m->health_gone_ns) | bb_load(&m->gpu_gone_ns)) == 0 ||
      bb_newest_parts(&c->board, node, &newest, parts, 1, &which) < 2) return 0;
  const uint64_t limit_ms = bb_unmeasured_limit_ms(newest.report.interval_ms, c->board.header.longest_interval_ms);
  uint32_t unmeasured = 0;
  for (uint32_t bits = bb_unmeasured(recent, bb_load(&m->measured), newest.report.valid); bits != 0; bits &= bits - 1) {
    const struct bb_episode e = {.seen = bb_load(&m->episodes[__builtin_ctz(bits)].seen)};
    if (census_ago(c, bb_measured_ms(&e)) >= limit_ms) unmeasured |= bits & -bits;
    else if (bb_was_shown(&e)) unmeasured |= (bits & -bits) << CENSUS_PRESENT;
  }
  for (int i = BEOBOARD_NPROBLEMS; i < CENSUS_THINGS; i++) {
    const uint64_t gone_ms = census_measured(c, node, i);
    if (gone_ms != 0 && census_ago(c, gone_ms) >= limit_ms && (unmeasured & shown_by[i - BEOBOARD_NPROBLEMS]) == 0)
      unmeasured |= 1u << i;
  }
  return unmeasured;
}

uint64_t census_measured(const struct census *c, uint32_t node, int thing) {
  const struct bb_memory *m = census_memory(c, node);
  if (m == NULL) return 0; /* its record was given up meanwhile */
  if (thing >= BEOBOARD_NPROBLEMS)
    return bb_load(thing == BEOBOARD_NPROBLEMS ? &m->health_gone_ns : &m->gpu_gone_ns) / NS_PER_MS;
  const struct bb_episode episode = {.seen = bb_load(&m->episodes[thing].seen)};
  return bb_measured_ms(&episode);
}

/* For each node of the board, 0 unless it is wanted, and live or uncertain. */
static uint32_t *of_each(const struct census *c, uint32_t (*bits_of)(const struct census *, uint32_t)) {
  uint32_t *bits = (uint32_t *)keep(c->nodes + 1u, sizeof *bits);
  if (bb_board_is_cut(&c->board)) give_up_cut(c);
  for (uint32_t i = 0; i < c->nodes; i++)
    if ((c->is_asked == NULL || c->is_asked[i] != 0) &&
        (c->states[i] == BEOBOARD_LIVE || c->states[i] == BEOBOARD_UNCERTAIN))
      bits[i] = bits_of(c, i);
  return bits;
}

uint32_t *census_problems(const struct census *c) { return of_each(c, problems_of); }

uint32_t *census_recent(const struct census *c) { return of_each(c, recent_of); }

uint32_t *census_unmeasured(const struct census *c) { return of_each(c, unmeasured_of); }

const struct bb_memory *census_memory(const struct census *c, uint32_t node) {
  return shared_memory(&c->board, node);
}

/* How long a node has been in its state: since when it is live is remembered, and in another state it is since its last
 * report. */
static uint64_t been_so(const struct census *census, uint32_t node) {
  if (census->states[node] != BEOBOARD_LIVE) return census_age(census, node);
  const struct bb_memory *memory = census_memory(census, node);
  if (memory == NULL)
    give_up("--for-at-least: this board does not remember since when nodes are live; restart its receiver, which is of "
            "an earlier version", USAGE);
  const uint64_t since_ns = bb_load(&memory->heard_since_ns);
  return since_ns == 0 ? 0 : census_ago(census, since_ns / NS_PER_MS);
}

static bool is_fit(const struct census *c, const struct node_wish *wish, const uint32_t *problems, uint32_t node) {
  if (wish->fulfils != NULL && wish->fulfils[node] == 0) return false;
  if (wish->healthy && (c->states[node] != BEOBOARD_LIVE || problems[node] != 0)) return false;
  if (wish->problems != 0 && (problems[node] & wish->problems) == 0) return false;
  return wish->for_ms == 0 || been_so(c, node) >= wish->for_ms;
}

struct node_list census_wanted(struct census *c, const struct node_wish *wish) {
  struct node_list list = census_in_states(c, wish->states);
  const bool asks_problems = wish->healthy || wish->problems != 0;
  if (!asks_problems && wish->for_ms == 0 && wish->fulfils == NULL) return list;
  const uint32_t *problems = asks_problems ? census_problems(c) : NULL;
  size_t left = 0;
  for (size_t i = 0; i < list.count; i++) {
    const uint32_t node = list.numbers[i];
    if (!is_fit(c, wish, problems, node)) continue;
    list.numbers[left] = node;
    list.names[left++] = list.names[i];
  }
  list.count = left;
  if (c->is_asked == NULL) {
    c->is_asked = (uint8_t *)keep(c->nodes + 1u, 1);
    memset(c->is_asked, 1, c->nodes);
  }
  return list;
}

/* ---- The monitor itself ---- */

void add_stalled(struct words *words, const struct census *c) {
  const bool is_mirror = c->header->mirror_masters != 0, closed = (c->header->state & BB_BOARD_STATE_CLOSED) != 0;
  add_text(words, is_mirror && !closed ? "nothing new comes from the master"
           : is_mirror ? "the mirror was stopped" : closed ? "the receiver was stopped" : "the receiver is stalled");
}

void add_heartbeat(struct words *words, const struct census *c) {
  const uint64_t now = (uint64_t)c->look.now_ns, heartbeat = c->header->heartbeat_ns;
  if (heartbeat == 0) {
    add_text(words, "it has no heartbeat yet");
    return;
  }
  add_text(words, "its heartbeat is ");
  if (heartbeat > now) {
    add_text(words, "of another clock");
    return;
  }
  add_duration(words, (now - heartbeat) / NS_PER_MS);
  add_text(words, " old");
}

/* Checks the product's own code against all that C11 allows, which no machine at hand shows: x86 is far stronger. Hooks
 * in its atomics record what the writer does to a few chosen words, with the memory orders that it asks for. Then the
 * reader runs again and again, and its loads give in turn whatever rc11.h allows them to give; what it returns may
 * never be wrong. So both sides' control flow is the product's, too, and nothing is kept in step by hand.
 *   litmus list                     the scenarios
 *   litmus check FOLDER SCENARIO LOADS
 *                                   prints a line; exits with 0, or with 1 at the first outcome that is wrong and
 *                                   allowed
 *   litmus write FOLDER SCENARIO LOADS c|aarch64
 *                                   the same as tests for herd7: SCENARIO_N.litmus, what the reader does along one of
 *                                   its ways, with all wrong outcomes of it, allowed or not; SCENARIO_N.states, all
 *                                   outcomes that rc11.h allows
 * LOADS: after so many the reader is cut off. It does more when it finds no whole copy, and then does the same as
 * before. */
#include <setjmp.h>

#include "../../board/writer.c"
#include "../../judge/overview.h"
#include "../../lib/internal.h"
#include "../reports.h"
#include "rc11.h"

#define MOST_VALUES 32
#define MOST_WORDS 16
#define MOST_LOADS 64

/* A word that takes part, and every store to it: their numbers are the values of rc11.h and herd7. */
static struct word {
  char name[16];
  enum { ALL, ACQUIRED, ONCE, ODD } which; /* of the loads of it: see counts() */
  size_t offset;
  uint64_t value[MOST_VALUES]; /* the first: before the writer begins */
  int values;
} words[MOST_WORDS];
static int word_count;

static struct bb_writer *w;
static struct bb_board board;
static beoboard *handle;

/* The clock stands still, so that a look is never late, and each run is the same. */
int clock_gettime(clockid_t clock, struct timespec *t) {
  *t = (struct timespec){clock == CLOCK_REALTIME ? 1700000000 : 1000000, 0};
  return 0;
}

/* The writer's events, then the reader's. */
static struct rc11_event events[RC11_MOST];
static int event_count, written_count;
static enum { IDLE, WRITING, READING } phase;

static long stores, last_store; /* of the writer, who is killed before the last one */
static bool was_killed;
static jmp_buf killed;

static bool is_checking;
static int choice[MOST_LOADS], load_count, most_loads; /* which value the n-th load gives */
static jmp_buf abandoned;
enum end { RIGHT, WRONG, CUT, NOT_ALLOWED };

static void die(const char *what) {
  fprintf(stderr, "litmus: %s\n", what);
  exit(2);
}

static void add(struct rc11_event event) {
  if (event_count == RC11_MOST) die("too many events");
  events[event_count++] = event;
}

static void add_fence(int order) {
  /* Two in a row are one, and one before all else orders nothing. */
  const int first = phase == WRITING ? 0 : written_count;
  if (event_count > first && events[event_count - 1].what != RC11_FENCE)
    add((struct rc11_event){.thread = phase == READING, .what = RC11_FENCE, .order = order});
}

static void add_store(int i, uint64_t value, int order) {
  struct word *word = &words[i];
  if (word->values == MOST_VALUES) die("too many stores");
  word->value[word->values] = value;
  add((struct rc11_event){0, RC11_STORE, order, i, word->values++});
}

/* What was stored without atomics. */
static void find_plain_stores(void) {
  for (int i = 0; i < word_count; i++) {
    uint64_t is;
    memcpy(&is, w->board.map + words[i].offset, 8);
    if (is != words[i].value[words[i].values - 1]) add_store(i, is, RC11_PLAIN);
  }
}

/* Blocks are copied with their head and tail, and the header with its words; what these copies hold is not used. To
 * leave a load out takes a constraint away and never adds one. */
static bool counts(const struct word *word, int order) {
  if (word->which == ACQUIRED) return order == __ATOMIC_ACQUIRE;
  if (word->which != ONCE) return true;
  for (int i = written_count; i < event_count; i++)
    if (events[i].what == RC11_LOAD && &words[events[i].word] == word) return false;
  return true;
}

static void set(const struct word *word, int value) { memcpy(w->board.map + word->offset, &word->value[value], 8); }

static void add_load(int i, int order) {
  struct word *word = &words[i];
  if (word->which == ODD) {
    set(word, 1);
    return;
  }
  if (!counts(word, order)) return;
  if (load_count == most_loads) longjmp(abandoned, CUT);
  const int value = choice[load_count++];
  set(word, value);
  add((struct rc11_event){1, RC11_LOAD, order, i, value});
  if (!is_checking) return;
  /* What is not allowed so far is not allowed with more loads after it. By the weaker of the two models. */
  const enum rc11_verdict verdict = rc11_judge(events, event_count, RC11_C20);
  if (verdict != RC11_ALLOWED) longjmp(abandoned, verdict == RC11_RACE ? WRONG : NOT_ALLOWED);
}

void bb_hook(enum bb_hook what, const volatile void *at, uint64_t value, int order) {
  if (phase == IDLE) return;
  if (phase == WRITING) find_plain_stores();
  if (what == BB_HOOK_STORE && ++stores == last_store) {
    was_killed = true;
    longjmp(killed, 1);
  }
  if (what == BB_HOOK_FENCE) add_fence(order);
  /* What the writer loads, it alone has written. */
  if (what == BB_HOOK_FENCE || (what == BB_HOOK_STORE) != (phase == WRITING)) return;
  for (int i = 0; i < word_count; i++) {
    const size_t offset = words[i].offset;
    if (at != w->board.map + offset && at != board.map + offset && at != handle->board.map + offset) continue;
    if (phase == WRITING) add_store(i, value, order);
    else add_load(i, order);
  }
}

static void watch_word(const char *name, size_t offset, int which) {
  if (word_count == MOST_WORDS) die("too many words");
  struct word *word = &words[word_count++];
  *word = (struct word){.which = which, .offset = offset, .values = 1};
  snprintf(word->name, sizeof word->name, "%s", name);
  memcpy(&word->value[0], w->board.map + offset, 8);
}

/* ---- what is done, and what of it is looked at ---- */

static size_t column_at(uint64_t i) { return board.header.column_offset + i * board.header.column_stride; }
static size_t record_offset(uint64_t i, size_t field) {
  return board.header.records_offset + i * board.header.record_stride + field;
}
static size_t slot_offset(size_t slot, size_t field) {
  return record_offset(0, board.header.slots_offset + slot * board.header.slot_stride + field);
}
#define HEADER(field) offsetof(struct bb_board_header, field)
#define RECORD(field) record_offset(0, offsetof(struct bb_record, field))
#define SLOT(i, field) slot_offset((i), offsetof(struct bb_slot, field))
#define LAST_WORD (offsetof(struct bb_slot, report) + offsetof(struct bb_report, ctxt))

static int64_t now;
static uint8_t *copy;
static size_t room;
static uint64_t newest_before;   /* the head of what was the newest when the reader began */
static uint64_t truth[32];       /* the last word of the report with this number */

static uint64_t last_word(const struct bb_slot *slot) {
  uint64_t last;
  memcpy(&last, (const uint8_t *)slot + LAST_WORD, 8);
  return last;
}

/* The newest slot as the writer has it. */
static void remember(void) {
  const int newest = newest_slot(&w->board, 0);
  if (newest < 0) return;
  const struct bb_slot *slot = slot_at(&w->board, 0, (uint32_t)newest);
  truth[slot->head / 2] = last_word(slot);
  if (phase == IDLE) newest_before = slot->head;
}

static int64_t stamp(uint32_t seq) { return now + ((int64_t)seq << 20); }

/* By which link reports come, or by which interface, which has to take one; and when, if their number is not to say
 * it. */
static uint32_t by_link;
static const char *by_interface;
static int64_t by_time;

static void lay(unsigned node, uint32_t seq) {
  struct bb_report report;
  const int64_t stamp_ns = by_time != 0 ? by_time : stamp(seq);
  struct bb_arrival arrival = make_arrival(seq, stamp_ns);
  arrival.link = by_link;
  arrival.interface = by_interface;
  make_report(&report, node, seq, stamp_ns);
  if (bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival) != BB_OUTCOME_ACCEPTED)
    die("not accepted");
  remember();
}

static void lay_by(uint32_t link, uint32_t seq, int64_t stamp_ns) {
  by_link = link;
  by_time = stamp_ns;
  lay(0, seq);
}

static void lay_some(uint32_t from, uint32_t to) {
  for (uint32_t seq = from; seq <= to; seq++) lay(0, seq);
}

static const uint8_t *look_at_board(struct bb_look *seen) {
  if (bb_board_snapshot(&board, copy, room, 0, seen) != 0) die("cannot look");
  return copy + board.header.header_bytes + seen->nodes * board.header.column_stride;
}

static uint64_t head_of_newest(const uint8_t *record) {
  const struct bb_slot *slot = newest_of(&board, record);
  return slot == NULL ? 0 : slot->head;
}

/* -- a slot that is given as whole holds words of one report, which is that of its head -- */

static void watch_slots(bool with_words) {
  for (size_t i = 0; i < 2; i++) {
    char name[16];
    snprintf(name, sizeof name, "head%zu", i);
    watch_word(name, SLOT(i, head), ACQUIRED);
    snprintf(name, sizeof name, "tail%zu", i);
    watch_word(name, SLOT(i, tail), ACQUIRED);
    snprintf(name, sizeof name, "word%zu", i);
    if (with_words) watch_word(name, slot_offset(i, LAST_WORD), ALL);
  }
}

static void prepare_slot(void) {
  lay_some(1, 2);
  watch_word("head", SLOT(0, head), ACQUIRED);
  watch_word("first", SLOT(0, stamp_ns), ALL);
  watch_word("last", slot_offset(0, LAST_WORD), ALL);
  watch_word("tail", SLOT(0, tail), ACQUIRED);
}
static void write_three(void) { lay_some(3, 5); }
static bool slot_is_wrong(void) {
  struct bb_look seen;
  const struct bb_slot *slot = slot_of(&board, look_at_board(&seen), 0);
  if (slot->head == 0) return false;
  return last_word(slot) != truth[slot->head / 2] || slot->stamp_ns != (uint64_t)stamp((uint32_t)slot->head / 2);
}

/* -- a look finds a report no older than the one that was the newest when it began, or that a look before it has found
 * -- */

static void prepare_none(void) {
  /* A record without a report, as of a name of a list. */
  bb_new_record(&w->board, "n0");
  watch_slots(false);
}
static void prepare_one(void) {
  lay(0, 1);
  watch_slots(false);
}
static void prepare_two(void) {
  lay_some(1, 2);
  watch_slots(false);
}
static void prepare_three(void) {
  lay_some(1, 3);
  watch_slots(false);
}
static void write_more(void) {
  const uint32_t seq = (uint32_t)newest_before / 2;
  lay_some(seq + 1, seq + 3);
}
static bool newest_is_wrong(void) {
  struct bb_look seen;
  const uint64_t first = head_of_newest(look_at_board(&seen));
  return first < newest_before || head_of_newest(look_at_board(&seen)) < first;
}
/* Asks the library for both reports. Gives the head of the newest; UINT64_MAX when the one that it calls older is
 * not. */
static uint64_t ask_library_once(void) {
  struct beoboard_slot slot[2];
  const int n = beoboard_reports(handle, 0, &slot[0], &slot[1], sizeof slot[0]);
  if (n == 2 && slot[1].number >= slot[0].number) return UINT64_MAX;
  return n > 0 ? slot[0].number * 2 : 0;
}
static bool library_is_wrong(void) {
  const uint64_t first = ask_library_once();
  if (first < newest_before || first == UINT64_MAX) return true;
  const uint64_t second = ask_library_once();
  return second < first || second == UINT64_MAX;
}

/* Two slots alone, without the order block that is written between any two reports: the sequence lock needs no help. */
static void write_slots(void) {
  for (uint32_t seq = (uint32_t)newest_before / 2 + 1, end = seq + 2; seq <= end; seq++) {
    struct bb_report report;
    const struct bb_arrival arrival = make_arrival(seq, stamp(seq));
    make_report(&report, 0, seq, stamp(seq));
    bb_store_report(&w->board, 0, newest_slot(&w->board, 0), &report, &arrival);
    remember();
  }
}

/* -- both, while a writer is killed before any of his stores, and another takes over and goes on -- */

static void prepare_takeover(void) {
  lay_some(1, 2);
  watch_slots(true);
}
static void take_over_records(void) {
  if (!bb_repair_index(&w->board)) die("cannot take over");
  for (uint32_t i = 0; i < w->board.header->count; i++) bb_repair(&w->board, i, bb_clock_ns(CLOCK_MONOTONIC));
  bb_repair_links(&w->board);
  remember();
}
static void be_killed_in(void (*act)(void)) {
  stores = 0;
  was_killed = false;
  if (setjmp(killed) == 0) act();
  last_store = 0;
  take_over_records();
}
static unsigned killed_node;
static uint32_t killed_seq;
static void lay_that(void) { lay(killed_node, killed_seq); }
static void be_killed_laying(unsigned node, uint32_t seq) {
  killed_node = node;
  killed_seq = seq;
  be_killed_in(lay_that);
}
static void write_and_go_on(void) {
  be_killed_laying(0, 3);
  lay(0, 4);
}
static bool takeover_is_wrong(void) {
  struct bb_look seen;
  const uint8_t *record = look_at_board(&seen);
  for (int i = 0; i < 2; i++) {
    const struct bb_slot *slot = slot_of(&board, record, i);
    if (slot->head != 0 && last_word(slot) != truth[slot->head / 2]) return true;
  }
  return head_of_newest(record) < newest_before;
}

/* -- an order block that is given as whole holds what was stored with its head, over a takeover, too -- */

static uint64_t orders[64]; /* the newest report that is told of with this head */
static void remember_order(void) {
  const struct bb_record *r = record_at(&w->board, 0);
  orders[r->order_head / 2] = r->history_seq;
}
static void prepare_block(void) {
  lay_some(1, 2);
  remember_order();
  watch_word("order_head", RECORD(order_head), ACQUIRED);
  watch_word("history", RECORD(history_seq), ALL);
  watch_word("known", RECORD(known) + offsetof(struct bb_known_boot, highest_boot_ns), ALL);
  watch_word("order_tail", RECORD(order_tail), ACQUIRED);
}
static void write_blocks(void) {
  be_killed_laying(0, 3);
  remember_order();
  lay(0, 4);
  remember_order();
}
static bool block_is_wrong(void) {
  struct bb_look seen;
  const struct bb_record *r = (const struct bb_record *)look_at_board(&seen);
  if (r->order_head == 0) return false;
  const bool is_cleared = r->history_seq == 0 && r->known[0].highest_boot_ns == 0; /* by the takeover, at first */
  return !is_cleared &&
         (r->history_seq != orders[r->order_head / 2] || r->known[0].highest_boot_ns != 1000 + r->history_seq);
}

/* -- the order block never knows a later report than the slots -- */

static void prepare_order(void) {
  lay(0, 1);
  watch_word("order_head", RECORD(order_head), ACQUIRED);
  watch_word("history", RECORD(history_seq), ALL);
  watch_word("order_tail", RECORD(order_tail), ACQUIRED);
  watch_word("head1", SLOT(1, head), ACQUIRED);
  watch_word("tail1", SLOT(1, tail), ACQUIRED);
}
static void write_one(void) { lay(0, 2); }
static bool order_is_wrong(void) {
  struct bb_look seen;
  const uint8_t *record = look_at_board(&seen);
  const struct bb_record *r = (const struct bb_record *)record;
  return r->order_head != 0 && r->history_seq > head_of_newest(record) / 2;
}

/* -- who sees a column word sees the report that it tells of -- */

static void prepare_column(void) {
  lay_some(1, 2);
  watch_word("column", column_at(0), ALL);
  /* The order block between them is never had, and so no fence of its reading stands between them. */
  watch_word("order_head", RECORD(order_head), ODD);
  watch_word("head0", SLOT(0, head), ACQUIRED);
  watch_word("tail0", SLOT(0, tail), ACQUIRED);
}
static void write_third(void) { lay(0, 3); }
static void be_killed_at_third(void) { be_killed_laying(0, 3); }
static bool column_is_wrong(void) {
  struct bb_look seen;
  const struct bb_slot *slot = newest_of(&board, look_at_board(&seen));
  uint64_t word;
  memcpy(&word, copy + board.header.header_bytes, 8);
  return slot == NULL || BB_COLUMN_STAMP(word) > slot->stamp_ns / 1000000;
}

/* -- who sees a heartbeat sees the listening-since and the column words that were stored before it -- */

#define HEARTBEAT(i) (HEADER(evidence[i]) + offsetof(struct bb_link_evidence, heartbeat_ns))
#define LISTENING(i) (HEADER(evidence[i]) + offsetof(struct bb_link_evidence, listening_since_ns))
static void watch_link_words(uint32_t link, int which) {
  char name[16];
  snprintf(name, sizeof name, "heartbeat%u", link);
  watch_word(name, HEARTBEAT(link), ACQUIRED);
  snprintf(name, sizeof name, "since%u", link);
  watch_word(name, LISTENING(link), which);
}
static void prepare_heartbeat(void) {
  lay(0, 1);
  bb_writer_listening_since(w, now);
  bb_writer_heartbeat(w, now + 1);
  watch_word("column", column_at(0), ALL);
  watch_word("heartbeat", HEADER(heartbeat_ns), ACQUIRED);
  watch_word("since", HEADER(listening_since_ns), ONCE);
}
static void write_heartbeat(void) {
  bb_writer_listening_since(w, now + 2);
  lay(0, 2);
  bb_writer_heartbeat(w, now + 3);
}
static bool heartbeat_is_wrong(void) {
  struct bb_look seen;
  look_at_board(&seen);
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  uint64_t word;
  memcpy(&word, copy + board.header.header_bytes, 8);
  return h->heartbeat_ns == (uint64_t)now + 3 && (h->listening_since_ns == (uint64_t)now || word == words[0].value[0]);
}

/* What holds of the receiver's heartbeat holds of each link's. And a reader that sees the receiver's sees those of the
 * links. */
static void prepare_links(void) {
  prepare_heartbeat();
  word_count--; /* since when the receiver listens is not asked here */
  watch_link_words(1, ONCE);
  watch_link_words(BB_LINK_OTHERS, ONCE);
}
static bool links_are_wrong(void) {
  struct bb_look seen;
  look_at_board(&seen);
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  const uint64_t then = (uint64_t)now, heartbeat = then + 3;
  uint64_t word;
  memcpy(&word, copy + board.header.header_bytes, 8);
  for (uint32_t i = 1;; i = BB_LINK_OTHERS) {
    const struct bb_link_evidence *e = &h->evidence[i];
    if (e->heartbeat_ns == heartbeat && (e->listening_since_ns == then || word == words[0].value[0])) return true;
    if (h->heartbeat_ns == heartbeat && e->heartbeat_ns != heartbeat) return true;
    if (i == BB_LINK_OTHERS) return false;
  }
}
/* And by the table of links. */
static void prepare_listed(void) {
  prepare_heartbeat();
  word_count -= 2;
  watch_link_words(1, ALL);
}
static bool listed_is_wrong(void) {
  struct bb_link_copy links[BB_LINKS];
  uint32_t numbers[BB_LINKS];
  if (bb_board_links(&board, links, numbers) < 1 || numbers[0] != 1) return true;
  const struct bb_link_evidence *e = &links[0].evidence;
  const uint64_t word = bb_load((const uint64_t *)(board.map + column_at(0)));
  return e->heartbeat_ns == (uint64_t)now + 3 && (e->listening_since_ns == (uint64_t)now || word == words[0].value[0]);
}

/* -- nobody is called silent whose report came before the heartbeat of its link, or to whose link nobody listened:
 * whatever the reader, and whatever becomes of the node and its link between his loads -- */

#define SECOND INT64_C(1000000000)
#define AT(tenths) (now + (tenths) * (SECOND / 10))
static void begin_silence(void) {
  now = bb_clock_ns(CLOCK_MONOTONIC) - 11 * SECOND;
  bb_writer_listening_since(w, AT(-1000));
  for (uint32_t i = 1; i < LINKS; i++) bb_links_listening_since(bb_writer_links(w), i, AT(-1000));
  lay_by(1, 1, now);
  bb_writer_heartbeat(w, now + 1);
}
/* What readers of the column load, and what those of the slots do. */
static void prepare_by_column(void) {
  begin_silence();
  watch_word("column", column_at(0), ALL);
  watch_link_words(1, ALL);
  watch_link_words(2, ALL);
}
static void prepare_by_slots(void) {
  begin_silence();
  watch_link_words(1, ONCE);
  watch_link_words(2, ONCE);
  watch_slots(false);
  for (size_t i = 0; i < 2; i++) {
    char name[16];
    snprintf(name, sizeof name, "stamp%zu", i);
    watch_word(name, SLOT(i, stamp_ns), ALL);
    snprintf(name, sizeof name, "link%zu", i);
    watch_word(name, SLOT(i, link), ALL);
  }
}
/* Where all stamps are old, and nobody listens anew. */
static void prepare_by_link(void) {
  begin_silence();
  watch_word("column", column_at(0), ALL);
  watch_word("heartbeat1", HEARTBEAT(1), ACQUIRED);
  watch_word("heartbeat2", HEARTBEAT(2), ACQUIRED);
  watch_slots(false);
  watch_word("link0", SLOT(0, link), ALL);
  watch_word("link1", SLOT(1, link), ALL);
}
static void prepare_by_both(void) {
  prepare_by_slots();
  for (int i = 0; i < word_count; i++)
    if (words[i].which == ONCE) words[i].which = ALL;
  watch_word("column", column_at(0), ALL);
}

static void write_in_time(void) {
  lay_by(1, 2, AT(100));
  bb_writer_heartbeat(w, AT(110));
}
static void write_after_a_pause(void) {
  bb_writer_listening_since(w, AT(100));
  bb_writer_heartbeat(w, AT(110));
}
static void set_link(uint32_t link, bool up, int64_t at) {
  bb_links_set_state(bb_writer_links(w), link, link, up ? BB_LINK_STATE_UP : 0, false, at);
}
static void write_down(void) {
  set_link(1, false, AT(2));
  bb_writer_heartbeat(w, AT(110));
}
static void write_down_and_up(void) {
  set_link(1, false, AT(2));
  bb_writer_heartbeat(w, AT(3));
  set_link(1, true, AT(105));
  bb_writer_heartbeat(w, AT(110));
}
/* Down for so short a time that nobody noticed before it was up. */
static void write_blink(void) {
  bb_links_set_state(bb_writer_links(w), 1, 1, BB_LINK_STATE_UP, true, AT(100));
  bb_writer_heartbeat(w, AT(110));
}
static void write_move(void) {
  lay_by(2, 2, AT(100));
  bb_writer_heartbeat(w, AT(110));
}
/* There and back, with a heartbeat each time by which what was before would be silent. */
static void write_moves(void) {
  lay_by(2, 2, AT(100));
  bb_writer_heartbeat(w, AT(106));
  lay_by(1, 3, AT(107));
  bb_writer_heartbeat(w, AT(108));
  lay_by(2, 4, AT(109));
  bb_writer_heartbeat(w, AT(110));
}
/* Moves away from a link that goes down. */
static void write_flight(void) {
  set_link(1, false, AT(2));
  lay_by(2, 2, AT(100));
  bb_writer_heartbeat(w, AT(106));
  set_link(1, true, AT(107));
  bb_writer_heartbeat(w, AT(110));
}
/* Moves to a link that goes down, of which no heartbeat of the other one tells anything; and to it and back before that
 * goes down. */
static void write_leave(void) {
  lay_by(2, 2, AT(1));
  set_link(2, false, AT(2));
  bb_writer_heartbeat(w, AT(110));
}
static void write_return(void) {
  lay_by(2, 2, AT(1));
  lay_by(1, 3, AT(2));
  set_link(1, false, AT(3));
  bb_writer_heartbeat(w, AT(110));
}
static void write_returns(void) {
  lay_by(2, 2, AT(1));
  lay_by(1, 3, AT(2));
  lay_by(2, 4, AT(3));
  set_link(2, false, AT(4));
  bb_writer_heartbeat(w, AT(110));
}
static void move_and_beat(void) {
  lay_by(2, 2, AT(100));
  bb_writer_heartbeat(w, AT(106));
}
static void write_killed(void) {
  be_killed_in(move_and_beat);
  bb_writer_listening_since(w, AT(107));
  bb_writer_heartbeat(w, AT(110));
}

static bool state_is_wrong(void) { return beoboard_state(handle, 0) == BEOBOARD_SILENT; }
static bool read_is_wrong(void) {
  struct beoboard_node node;
  return beoboard_read(handle, 0, &node, sizeof node) == 0 && node.state == BEOBOARD_SILENT;
}
static bool read_all_is_wrong(void) {
  struct beoboard_node node;
  return beoboard_read_all(handle, &node, sizeof node, 0, 1) == 1 && node.state == BEOBOARD_SILENT;
}
static bool tally_is_wrong(void) {
  int counts[BEOBOARD_NSTATES];
  return beoboard_tally(handle, counts) != 1 || counts[BEOBOARD_SILENT] > 0;
}
static bool check_is_wrong(void) {
  static const char *const names[] = {"n0"};
  int8_t state;
  return beoboard_check(handle, names, 1, &state) < 0 || state == BEOBOARD_SILENT;
}
static bool roll_is_wrong(void) {
  struct bb_look seen;
  uint8_t state;
  if (bb_board_begin(&board, copy, room, 0, 0, &seen) == NULL || seen.nodes != 1 ||
      !bb_overview_states(copy, room, &seen, &state))
    die("cannot look");
  return state == BEOBOARD_SILENT;
}
static bool overview_is_wrong(void) {
  static uint64_t memory[16];
  struct bb_look seen;
  const struct bb_overview out = bb_overview_at((uint8_t *)memory, 1);
  look_at_board(&seen);
  if (seen.nodes != 1 || bb_overview_bytes(1) > sizeof memory || !bb_overview(copy, room, &seen, &out, NULL, 0))
    die("cannot look");
  return out.states[0] == BEOBOARD_SILENT;
}

/* -- the library's heartbeat comes with the listening-since that was stored before it -- */

static void prepare_listened(void) {
  begin_silence();
  watch_word("heartbeat", HEADER(heartbeat_ns), ACQUIRED);
  watch_word("since", HEADER(listening_since_ns), ALL);
}
static bool listened_is_wrong(void) {
  struct beoboard_receiver receiver;
  if (beoboard_receiver(handle, &receiver, sizeof receiver) != 0) return true;
  return receiver.heartbeat_age_ns == 0 && receiver.listened_ns > SECOND;
}

/* -- who sees that an episode is not over sees the episode; who sees a silence sees what was said before it -- */

static size_t memory_offset(size_t field) { return record_offset(0, board.header.memory_offset + field); }
#define MEMORY(field) memory_offset(offsetof(struct bb_memory, field))
static uint32_t oom_kills;
static void lay_oom(uint32_t seq) {
  struct bb_report report;
  struct bb_arrival arrival = make_arrival(seq, stamp(seq));
  make_report(&report, 0, seq, stamp(seq));
  report.flags = 0;
  report.valid = BB_VALID_VMSTAT;
  report.oom_kills = oom_kills;
  arrival.link = by_link;
  if (bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival) != BB_OUTCOME_ACCEPTED)
    die("not accepted");
}
static void prepare_recent(void) {
  oom_kills = 0;
  lay_oom(1);
  watch_word("recent", MEMORY(recent), ALL);
  watch_word("begun", MEMORY(episodes[BB_PROBLEM_OOM].begun), ALL);
}
static void write_oom(void) {
  oom_kills = 1;
  lay_oom(2);
}
static void write_oom_killed(void) {
  be_killed_in(write_oom);
  oom_kills = 2;
  lay_oom(3);
}
/* In a copy of the board. */
static const struct bb_memory *look_at_memory(void) {
  struct bb_look seen;
  return (const struct bb_memory *)(const void *)(look_at_board(&seen) + board.header.memory_offset);
}
static bool recent_look_is_wrong(void) {
  const struct bb_memory *m = look_at_memory();
  return (m->recent >> BB_PROBLEM_OOM & 1) != 0 && BB_SPELL_COUNT(m->episodes[BB_PROBLEM_OOM].begun) == 0;
}
static bool last_words_look_is_wrong(void) {
  const struct bb_memory *m = look_at_memory();
  return BB_SPELL_COUNT(m->silence) > 0 && BB_SAID_STAMP(m->last_words) == 0;
}
static bool recent_is_wrong(void) {
  struct beoboard_memory m;
  if (beoboard_memory(handle, 0, &m, sizeof m) != 0) return true;
  return (m.recent >> BB_PROBLEM_OOM & 1) != 0 && m.episodes[BB_PROBLEM_OOM].count == 0;
}
static void prepare_last_words(void) {
  begin_silence();
  bb_writer_heartbeat(w, AT(110));
  watch_word("silence", MEMORY(silence), ALL);
  watch_word("last_words", MEMORY(last_words), ALL);
}
static void write_silence(void) { bb_writer_survey(w, AT(110)); }
static void write_silence_killed(void) {
  be_killed_in(write_silence);
  write_silence();
}
static bool last_words_are_wrong(void) {
  struct beoboard_memory m;
  if (beoboard_memory(handle, 0, &m, sizeof m) != 0) return true;
  return m.silences > 0 && m.last_words_age_ns < 0;
}

/* -- who sees that a link is counted sees its name; who sees a word finds its link counted -- */

static struct bb_link *third(void) { return link_at(&w->board, 3); }
static size_t in_third(size_t field) {
  return board.header.links_offset + 3 * (size_t)board.header.links_stride + field;
}
static void prepare_link(void) {
  lay(0, 1);
  watch_word("column", column_at(0), ACQUIRED);
  watch_word("links_used", HEADER(links_used), ACQUIRED);
  watch_word("name", in_third(offsetof(struct bb_link, name)), ALL);
  watch_word("state", in_third(offsetof(struct bb_link, state)), ALL);
  by_link = BB_LINK_UNKNOWN;
  by_interface = "eth2";
}
static void write_link(void) { lay(0, 2); }
static void write_link_killed(void) {
  be_killed_in(write_link);
  lay(0, 3);
}
static bool link_is_wrong(void) {
  struct bb_link_copy links[BB_LINKS];
  uint32_t numbers[BB_LINKS];
  struct bb_look seen;
  uint64_t word;
  look_at_board(&seen);
  memcpy(&word, copy + board.header.header_bytes, 8);
  const int n = bb_board_links(&board, links, numbers);
  if (n != 3 && n != 4) return true;
  const bool is_there = n == 4;
  if (BB_COLUMN_LINK(word) == 3 && !is_there) return true;
  return is_there &&
         (numbers[2] != 3 || strcmp(links[2].link.name, "eth2") != 0 || links[2].link.state != third()->state);
}

/* -- an event that is given is whole, and of its number; who sees the number of the newest finds all up to it that were
 * not overwritten -- */

static uint64_t told[BB_EVENTS + 8]; /* the detail of the event of this number */
/* the number that is asked for: it lies in the place of which the words take part */
static uint64_t oldest;
static void add_events(uint64_t count) {
  for (; count > 0; count--) {
    const uint64_t number = w->board.header->event_last + 1;
    bb_add_event(&w->board, BB_EVENT_KIND_OVERFLOW, BB_NO_SUBJECT, number << 8 | (phase == WRITING ? 1 : 0), NULL);
    told[number] = event_at(&w->board, number)->detail;
  }
}
static void watch_event_words(uint64_t number) {
  const size_t at = (size_t)(board.header.events_offset + number % BB_EVENTS * board.header.events_stride);
  oldest = number;
  watch_word("event_last", HEADER(event_last), ACQUIRED);
  watch_word("head", at + offsetof(struct bb_event, head), ACQUIRED);
  watch_word("detail", at + offsetof(struct bb_event, detail), ALL);
  watch_word("tail", at + offsetof(struct bb_event, tail), ACQUIRED);
}
static void prepare_event(void) {
  add_events(2);
  watch_event_words(3);
}
static void prepare_ring(void) {
  add_events(BB_EVENTS);
  watch_event_words(1);
}
static void write_events(void) { add_events(2); }
static void write_half_an_event(void) {
  /* What nobody may see: the number is told after it. */
  bb_add_event(&w->board, BB_EVENT_KIND_OVERFLOW, BB_NO_SUBJECT, UINT64_MAX, NULL);
  told[w->board.header->event_last] = UINT64_MAX;
}
static void write_events_killed(void) {
  be_killed_in(write_half_an_event);
  add_events(2);
}
static bool event_is_wrong(void) {
  uint64_t next = oldest;
  struct bb_event event;
  const int n = bb_board_events(&board, &next, &event, 1);
  if (n == 1 && event.head != 2 * (next - 1)) return true;
  /* The next one, or none: of a ring that went round it was overwritten, or is being. */
  if (n == 0 || event.head != 2 * oldest) return next > oldest && words[0].value[0] < BB_EVENTS;
  return event.detail != told[oldest];
}

/* -- a refused sender's entry that is given is whole -- */

static struct {
  uint64_t count, address;
} refused[64]; /* by half of the head */
static uint32_t place; /* of the entry that takes part */
static struct bb_sender *entry(void) { return sender_at(&w->board, place); }
static void remember_sender(void) {
  const struct bb_sender *s = entry();
  if (s->head >= 128 || (s->head & 1) != 0) return;
  refused[s->head / 2].count = s->count;
  memcpy(&refused[s->head / 2].address, s->address, 8);
}
static void refuse_one(uint32_t k, int times) {
  if (deliver_refused(w, k, times) != BB_REASON_MAGIC) die("not refused");
  remember_sender();
}
static void prepare_sender(void) {
  refuse_one(1, 1);
  for (int times = 2; times <= 9; times++) deliver_refused(w, 1, 2);
  place = BB_REASON_MAGIC * BB_SENDERS_EACH;
  while (entry()->head == 0) place++;
  remember_sender();
  for (uint32_t k = 2; k <= BB_SENDERS_EACH; k++) refuse_one(k, 1);
  const size_t at = (size_t)((uint8_t *)entry() - w->board.map);
  watch_word("head", at + offsetof(struct bb_sender, head), ACQUIRED);
  watch_word("count", at + offsetof(struct bb_sender, count), ALL);
  watch_word("address", at + offsetof(struct bb_sender, address), ALL);
  watch_word("tail", at + offsetof(struct bb_sender, tail), ACQUIRED);
}
/* In place of the one that was longest unheard; and again. */
static void write_sender(void) {
  refuse_one(BB_SENDERS_EACH + 1, 1);
  refuse_one(BB_SENDERS_EACH + 1, 2);
}
static void refuse_ninth(void) { refuse_one(BB_SENDERS_EACH + 1, 1); }
static void write_sender_killed(void) {
  be_killed_in(refuse_ninth);
  remember_sender();
  refuse_one(BB_SENDERS_EACH + 1, 2);
}
static bool sender_is_wrong(void) {
  static struct bb_sender senders[BB_SENDERS];
  if (bb_board_senders(&board, senders) != 0) return true;
  const struct bb_sender *s = &senders[place];
  uint64_t address;
  memcpy(&address, s->address, 8);
  /* Nobody was refused so often but the one before. */
  const bool is_late = address == word_of(BB_SENDERS_EACH + 1, 1);
  return s->head != 0 && (s->count != refused[s->head / 2].count || address != refused[s->head / 2].address ||
                          (is_late && s->count > 2));
}

/* -- who sees the count sees names and entries; who finds an entry sees the name that it leads to -- */

static void prepare_name(void) {
  lay(0, 1);
  watch_word("count", HEADER(count), ACQUIRED);
  watch_word("name", record_offset(1, 0), ALL);
  const uint64_t mask = board.header.index_slots - 1;
  uint64_t i = bb_name_hash("n1", board.header.index_seed) & mask;
  while (*index_entry(&w->board, i) != 0) i = (i + 1) & mask;
  watch_word("index", board.header.index_offset + i * board.header.index_stride, ACQUIRED);
}
static void write_name(void) { lay(1, 1); }
static void be_killed_at_name(void) { be_killed_laying(1, 1); }
static bool name_is_wrong(void) {
  struct bb_look seen;
  const uint8_t *record = look_at_board(&seen);
  if (seen.nodes != 2) return false;
  return strcmp((const char *)record + board.header.record_stride, "n1") != 0 || bb_board_find(&board, "n1") != 1;
}
static bool index_is_wrong(void) {
  if (bb_board_find(&board, "n1") < 0) return false;
  struct bb_look seen;
  look_at_board(&seen);
  return seen.nodes != 2 || beoboard_index(handle, "n1") != 1;
}
static bool library_index_is_wrong(void) {
  return beoboard_index(handle, "n1") >= 0 && (beoboard_count(handle) != 2 || bb_board_find(&board, "n1") != 1);
}
static bool library_name_is_wrong(void) {
  if (beoboard_count(handle) != 2) return false;
  char name[64];
  return beoboard_name(handle, 1, name, sizeof name) < 0 || strcmp(name, "n1") != 0 ||
         beoboard_index(handle, "n1") != 1;
}

/* Everything that may befall a node, beside a reader of whom `words` are the words that take part. */
#define SILENCE(reader, words)                                                                         \
  {"silent_" #reader, prepare_by_##words, write_in_time, reader##_is_wrong, false},                   \
      {"silent_" #reader "_pause", prepare_by_##words, write_after_a_pause, reader##_is_wrong, false}, \
      {"silent_" #reader "_down", prepare_by_##words, write_down, reader##_is_wrong, false},           \
      {"silent_" #reader "_up", prepare_by_##words, write_down_and_up, reader##_is_wrong, false},      \
      {"silent_" #reader "_blink", prepare_by_##words, write_blink, reader##_is_wrong, false},         \
      {"silent_" #reader "_move", prepare_by_##words, write_move, reader##_is_wrong, false},           \
      {"silent_" #reader "_moves", prepare_by_##words, write_moves, reader##_is_wrong, false},         \
      {"silent_" #reader "_flight", prepare_by_##words, write_flight, reader##_is_wrong, false},       \
      {"silent_" #reader "_leave", prepare_by_##words, write_leave, reader##_is_wrong, false},         \
      {"silent_" #reader "_return", prepare_by_##words, write_return, reader##_is_wrong, false},       \
      {"silent_" #reader "_takeover", prepare_by_##words, write_killed, reader##_is_wrong, true}

static const struct scenario {
  const char *name;
  void (*prepare)(void), (*write)(void);
  bool (*is_wrong)(void);
  bool is_killed; /* once before each store */
} scenarios[] = {
    {"slot", prepare_slot, write_three, slot_is_wrong, false},
    {"newest_of_none", prepare_none, write_more, newest_is_wrong, false},
    {"newest_of_one", prepare_one, write_more, newest_is_wrong, false},
    {"newest_of_two", prepare_two, write_more, newest_is_wrong, false},
    {"newest_of_three", prepare_three, write_more, newest_is_wrong, false},
    {"slots_alone_one", prepare_one, write_slots, newest_is_wrong, false},
    {"slots_alone_two", prepare_two, write_slots, newest_is_wrong, false},
    {"slots_alone_three", prepare_three, write_slots, newest_is_wrong, false},
    {"library_none", prepare_none, write_more, library_is_wrong, false},
    {"library_one", prepare_one, write_more, library_is_wrong, false},
    {"library_two", prepare_two, write_more, library_is_wrong, false},
    {"library_three", prepare_three, write_more, library_is_wrong, false},
    {"library_alone_one", prepare_one, write_slots, library_is_wrong, false},
    {"library_alone_three", prepare_three, write_slots, library_is_wrong, false},
    {"takeover", prepare_takeover, write_and_go_on, takeover_is_wrong, true},
    {"block", prepare_block, write_blocks, block_is_wrong, true},
    {"order", prepare_order, write_one, order_is_wrong, false},
    {"column", prepare_column, write_third, column_is_wrong, false},
    {"column_takeover", prepare_column, be_killed_at_third, column_is_wrong, true},
    {"heartbeat", prepare_heartbeat, write_heartbeat, heartbeat_is_wrong, false},
    {"links", prepare_links, write_heartbeat, links_are_wrong, false},
    {"links_listed", prepare_listed, write_heartbeat, listed_is_wrong, false},
    SILENCE(state, column),
    SILENCE(tally, column),
    SILENCE(check, column),
    SILENCE(roll, column),
    SILENCE(read, both),
    SILENCE(read_all, both),
    {"silent_read_returns", prepare_by_link, write_returns, read_is_wrong, false},
    SILENCE(overview, slots),
    {"listened", prepare_listened, write_after_a_pause, listened_is_wrong, false},
    {"recent", prepare_recent, write_oom, recent_is_wrong, false},
    {"recent_takeover", prepare_recent, write_oom_killed, recent_is_wrong, true},
    {"last_words", prepare_last_words, write_silence, last_words_are_wrong, false},
    {"recent_look", prepare_recent, write_oom, recent_look_is_wrong, false},
    {"last_words_look", prepare_last_words, write_silence, last_words_look_is_wrong, false},
    {"last_words_takeover", prepare_last_words, write_silence_killed, last_words_are_wrong, true},
    {"link", prepare_link, write_link, link_is_wrong, false},
    {"link_takeover", prepare_link, write_link_killed, link_is_wrong, true},
    {"event", prepare_event, write_events, event_is_wrong, false},
    {"event_takeover", prepare_event, write_events_killed, event_is_wrong, true},
    {"event_ring", prepare_ring, write_events, event_is_wrong, false},
    {"event_ring_takeover", prepare_ring, write_events_killed, event_is_wrong, true},
    {"sender", prepare_sender, write_sender, sender_is_wrong, false},
    {"sender_takeover", prepare_sender, write_sender_killed, sender_is_wrong, true},
    {"name", prepare_name, write_name, name_is_wrong, false},
    {"name_takeover", prepare_name, be_killed_at_name, name_is_wrong, true},
    {"index", prepare_name, write_name, index_is_wrong, false},
    {"index_takeover", prepare_name, be_killed_at_name, index_is_wrong, true},
    {"library_index", prepare_name, write_name, library_index_is_wrong, false},
    {"library_name", prepare_name, write_name, library_name_is_wrong, false},
};

/* ---- all ways of the reader ---- */

static enum end read_once(const struct scenario *scenario) {
  event_count = written_count;
  load_count = 0;
  switch (setjmp(abandoned)) {
    case 0: {
      phase = READING;
      const bool is_wrong = scenario->is_wrong();
      phase = IDLE;
      return is_wrong ? WRONG : RIGHT;
    }
    case WRONG: phase = IDLE; return WRONG;
    case CUT: phase = IDLE; return CUT;
    default: phase = IDLE; return NOT_ALLOWED;
  }
}

/* The next combination: the last load that has values left gives its next one, those after it begin anew. */
static bool choose_next(void) {
  for (int i = event_count; i > written_count; i--) {
    if (events[i - 1].what != RC11_LOAD) continue;
    if (++choice[load_count - 1] < words[events[i - 1].word].values) return true;
    choice[--load_count] = 0;
  }
  return false;
}

/* ---- tests for herd7 ---- */

/* Told apart by what the reader does in them. */
static struct test {
  struct rc11_event events[RC11_MOST]; /* the reader's */
  int count;
  char *outcomes; /* all that it must not have */
  size_t length;
} tests[256];
static int test_count;

static const char *outcome_of(const struct rc11_event *reader, int count, const char *equals, const char *between) {
  static char text[1024];
  size_t length = 0;
  int loads = 0;
  text[0] = 0;
  for (int i = 0; i < count; i++)
    if (reader[i].what == RC11_LOAD)
      length += (size_t)snprintf(text + length, sizeof text - length, "%s1:%s%d=%d", length == 0 ? "" : between, equals,
                                 loads++, reader[i].value);
  return text;
}

static void add_outcome(const char *reg) {
  const struct rc11_event *reader = &events[written_count];
  const int count = event_count - written_count;
  struct test *test = NULL;
  for (int i = 0; i < test_count && test == NULL; i++) {
    bool same = tests[i].count == count;
    for (int k = 0; same && k < count; k++)
      same = tests[i].events[k].what == reader[k].what && tests[i].events[k].word == reader[k].word &&
             tests[i].events[k].order == reader[k].order;
    if (same) test = &tests[i];
  }
  if (test == NULL) {
    if (test_count == sizeof tests / sizeof tests[0]) die("too many tests");
    test = &tests[test_count++];
    memcpy(test->events, reader, (size_t)count * sizeof *reader);
    test->count = count;
  }
  const char *outcome = outcome_of(reader, count, reg, " /\\ ");
  test->outcomes = (char *)realloc(test->outcomes, test->length + strlen(outcome) + 16);
  if (test->outcomes == NULL) die("out of memory");
  test->length +=
      (size_t)sprintf(test->outcomes + test->length, "%s(%s)", test->length == 0 ? "" : "\n  \\/ ", outcome);
}

static const char *order_name(int order) {
  return order == __ATOMIC_ACQUIRE   ? "memory_order_acquire"
         : order == __ATOMIC_RELEASE ? "memory_order_release"
                                     : "memory_order_relaxed";
}

static void print_c(FILE *out, const struct rc11_event *e, int count, int thread) {
  fprintf(out, "P%d(", thread);
  for (int i = 0; i < word_count; i++) fprintf(out, "%satomic_int* %s", i == 0 ? "" : ", ", words[i].name);
  fprintf(out, ") {\n");
  int loads = 0;
  for (int i = 0; i < count; i++, e++)
    if (e->what == RC11_FENCE) fprintf(out, "  atomic_thread_fence(%s);\n", order_name(e->order));
    else if (e->what == RC11_STORE)
      fprintf(out, "  atomic_store_explicit(%s,%d,%s);\n", words[e->word].name, e->value, order_name(e->order));
    else fprintf(out, "  int r%d = atomic_load_explicit(%s,%s);\n", loads++, words[e->word].name, order_name(e->order));
  fprintf(out, "}\n");
}

/* Two instructions an event, by the mapping of C11 to ARMv8 that compilers use; of LDAR and LDAPR the weaker one. */
static void instruct(char text[2][40], const struct rc11_event *e, int *loads) {
  const int at = 20 + e->word;
  const bool is_release = e->order == __ATOMIC_RELEASE;
  snprintf(text[0], sizeof text[0], e->what == RC11_STORE ? "MOV W0,#%d" : "NOP", e->value);
  if (e->what == RC11_FENCE) snprintf(text[1], sizeof text[1], is_release ? "DMB ISH" : "DMB ISHLD");
  else if (e->what == RC11_STORE) snprintf(text[1], sizeof text[1], "%s W0,[X%d]", is_release ? "STLR" : "STR", at);
  else
    snprintf(text[1], sizeof text[1], "%s W%d,[X%d]", e->order == __ATOMIC_ACQUIRE ? "LDAPR" : "LDR", (*loads)++, at);
}

static void print_arm(FILE *out, const struct test *test) {
  int loads = 0;
  fprintf(out, " P0 | P1 ;\n");
  for (int i = 0; i < written_count || i < test->count; i++) {
    char left[2][40] = {"", ""}, right[2][40] = {"", ""};
    if (i < written_count) instruct(left, &events[i], NULL);
    if (i < test->count) instruct(right, &test->events[i], &loads);
    for (int k = 0; k < 2; k++) fprintf(out, " %s | %s ;\n", left[k], right[k]);
  }
}

static FILE *create_file(const char *folder, const char *name, const char *end) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s", folder, name, end);
  FILE *out = fopen(path, "w");
  if (out == NULL) die(path);
  return out;
}

/* All outcomes that are allowed, as herd7 writes them. */
static void print_states(FILE *out, struct test *test, int from, const char *reg) {
  for (; from < test->count; from++) {
    struct rc11_event *e = &test->events[from];
    if (e->what != RC11_LOAD) continue;
    for (e->value = 0; e->value < words[e->word].values; e->value++) {
      memcpy(&events[written_count], test->events, (size_t)(from + 1) * sizeof *e);
      if (rc11_judge(events, written_count + from + 1, RC11_C11) != RC11_FORBIDDEN)
        print_states(out, test, from + 1, reg);
    }
    return;
  }
  fprintf(out, "%s;\n", outcome_of(test->events, test->count, reg, "; "));
}

static void write_test(const char *folder, const char *name, struct test *test, bool is_arm) {
  FILE *out = create_file(folder, name, "litmus");
  fprintf(out, "%s %s\n{\n", is_arm ? "AArch64" : "C", name);
  for (int k = 0; k < word_count; k++) {
    fprintf(out, "  %s=0;", words[k].name);
    if (is_arm) fprintf(out, " 0:X%d=%s; 1:X%d=%s;", 20 + k, words[k].name, 20 + k, words[k].name);
    fprintf(out, "\n");
  }
  fprintf(out, "}\n");
  if (is_arm) print_arm(out, test);
  else {
    print_c(out, events, written_count, 0);
    print_c(out, test->events, test->count, 1);
  }
  fprintf(out, "exists\n  (%s)\n", test->outcomes);
  fclose(out);
  out = create_file(folder, name, "states");
  print_states(out, test, 0, is_arm ? "X" : "r");
  fclose(out);
}

/* ---- the parts together ---- */

static void set_up(const char *folder, const struct scenario *scenario) {
  char path[4096], why[256];
  snprintf(path, sizeof path, "%s/board", folder);
  remove(path);
  w = open_writer(path, 2);
  if (w == NULL || bb_board_open(&board, path, (uid_t)-1, why, sizeof why) != BB_READY ||
      beoboard_open(&handle, path, 0) < 0)
    die("no board");
  now = bb_clock_ns(CLOCK_MONOTONIC) - SECOND;
  by_link = 1;
  by_interface = NULL;
  by_time = 0;
  word_count = event_count = 0;
  newest_before = 0;
  memset(choice, 0, sizeof choice);
  scenario->prepare();
  phase = WRITING;
  scenario->write();
  find_plain_stores();
  phase = IDLE;
  written_count = event_count;
}

static void tear_down(void) {
  beoboard_close(handle);
  bb_board_close(&board);
  bb_writer_close(w);
}

static unsigned long ends[NOT_ALLOWED + 1];

/* Whether there is a wrong one among the outcomes, which are all that are allowed, or all. */
static bool explore(const struct scenario *scenario, const char *reg) {
  do {
    const enum end end = read_once(scenario);
    ends[end]++;
    if (end != WRONG) continue;
    if (is_checking) return true;
    add_outcome(reg);
  } while (choose_next());
  return false;
}

static int check(const char *folder, const struct scenario *scenario) {
  bool is_wrong;
  long last = 0;
  is_checking = true;
  do {
    last_store = scenario->is_killed ? ++last : 0;
    set_up(folder, scenario);
    is_wrong = explore(scenario, "r");
    if (is_wrong) printf("wrong: %s; ", outcome_of(&events[written_count], event_count - written_count, "r", " "));
    tear_down();
  } while (was_killed && !is_wrong); /* never, where nobody is */
  printf("%lu outcomes, and %lu cut off after %d loads", ends[RIGHT] + ends[WRONG], ends[CUT], most_loads);
  if (scenario->is_killed) printf("; of %ld kills", last);
  printf("\n");
  return is_wrong ? 1 : 0;
}

static int write_all(const char *folder, const struct scenario *scenario, bool is_arm) {
  const char *reg = is_arm ? "X" : "r";
  set_up(folder, scenario);
  explore(scenario, reg);
  for (int i = 0; i < test_count; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s_%d", scenario->name, i);
    write_test(folder, name, &tests[i], is_arm);
    free(tests[i].outcomes);
  }
  tear_down();
  printf("%d tests of %lu wrong outcomes\n", test_count, ends[WRONG]);
  return 0;
}

int main(int argc, char **argv) {
  const size_t count = sizeof scenarios / sizeof scenarios[0];
  for (size_t i = 0; i < count; i++) {
    const struct scenario *scenario = &scenarios[i];
    if (argc == 2 && strcmp(argv[1], "list") == 0) printf("%s\n", scenario->name);
    if (argc < 5 || strcmp(scenario->name, argv[3]) != 0) continue;
    most_loads = atoi(argv[4]) < MOST_LOADS ? atoi(argv[4]) : MOST_LOADS;
    copy = make_room(&room);
    const int result = strcmp(argv[1], "check") == 0 ? check(argv[2], scenario)
                       : argc == 6                   ? write_all(argv[2], scenario, strcmp(argv[5], "aarch64") == 0)
                                                     : 2;
    free(copy);
    return result;
  }
  return argc == 2 ? 0 : 2;
}

/* The memory of trouble on a board in memory of our own, with a made clock: episodes, silences, last words; and a
 * writer that is killed before any of its stores. */
#include <setjmp.h>
#include <stdlib.h>

#include "../../board/seqlock.h"

static long stores_left; /* the writer is killed instead of the last one; below 0: never */
static jmp_buf killed;
static void killing(void) {
  if (stores_left > 0 && --stores_left == 0) longjmp(killed, 1);
}
#define bb_store(word, value) (killing(), bb_store(word, value))
#define bb_store_release(word, value) (killing(), bb_store_release(word, value))
#include "../../board/memory.c"
#undef bb_store
#undef bb_store_release
#include "../../board/file.h"
#include "../../board/records.h"
#include "../../board/repair.h"
#include "../memoryfault.h"
#include "check.h"

#define MS INT64_C(1000000)
#define S SECOND
#define BEGIN (100000 * S)
#define CAPACITY 2
#define RECORD 0

static struct bb_mapped board;
static struct bb_report report; /* the next one to come */
static int64_t now;             /* the master's clock */

static struct bb_mapped make_board(void) {
  struct bb_board_header h;
  bb_fresh_header(&h, &(struct bb_cluster){"", 0}, CAPACITY);
  h.uncertain_after_ns = UINT64_C(4500000000);
  h.silent_after_ns = UINT64_C(10500000000);
  struct bb_mapped b = {.bytes = h.file_bytes};
  b.map = aligned_alloc(64, (h.file_bytes + 63) & ~UINT64_C(63));
  memset(b.map, 0, b.bytes);
  memcpy(b.map, &h, sizeof h);
  b.header = (struct bb_board_header *)b.map;
  return b;
}

static void begin(void) {
  free(board.map);
  board = make_board();
  bb_new_record(&board, "node1");
  now = BEGIN;
  report = (struct bb_report){.boot_id = 1, .interval_ms = 1000, .valid = BB_VALID_KNOWN};
  report.mem_total_mib = 1000;
  report.mem_avail_mib = 500;
  report.root_total_mib = report.root_avail_mib = report.scratch_total_mib = report.scratch_avail_mib = 1000;
  report.root_inodes_free_pm = report.scratch_inodes_free_pm = 500;
  stores_left = -1;
}

static const struct bb_memory *memory(void) { return memory_at(&board, RECORD); }

static void check_memory(const char *what) {
  const char *fault = memory_fault(memory(), (uint64_t)now, true);
  CHECK(fault == NULL, "%s: %s", what, fault);
}

/* Everything was heard by link 1 up to now. */
static void beat(void) {
  struct bb_board_header *h = board.header;
  h->links_used = 1;
  h->evidence[1].heartbeat_ns = h->heartbeat_ns = (uint64_t)now;
}

/* As a writer lays it. */
static void lay(void) {
  const int newest = newest_slot(&board, RECORD);
  const struct bb_arrival arrival = {.stamp_ns = now, .link = 1};
  const uint64_t goodbye = (report.flags & BB_FLAGS_GOODBYE) != 0;
  const struct bb_after after = bb_memory_begin(&board, RECORD, newest, &report, now);
  bb_store_report(&board, RECORD, newest, &report, &arrival);
  *column_word(&board, RECORD) = BB_COLUMN((uint64_t)now / NS_PER_MS, 1, report.interval_ms, goodbye);
  bb_memory_end(&board, RECORD, after, &report, now);
}

/* A report a second, up to that second from the begin. */
static void lay_up_to(int64_t second) {
  while (now < BEGIN + second * S) {
    now += S;
    lay();
    beat();
    bb_memory_survey(&board, now);
  }
  check_memory("laid");
}

/* The same, and no report comes. */
static void wait_up_to(int64_t second) {
  while (now < BEGIN + second * S) {
    now += S;
    beat();
    bb_memory_survey(&board, now);
  }
  check_memory("waited");
}

static bool is_recent(unsigned problem) { return (memory()->recent >> problem & 1) != 0; }
static uint64_t ms_at(int64_t second) { return (uint64_t)(BEGIN + second * S) / NS_PER_MS; }
static bool is_episode(unsigned problem, int64_t from, int64_t seen, unsigned count) {
  const struct bb_episode *e = &memory()->episodes[problem];
  return BB_SPELL_BEGIN(e->begun) == ms_at(from) && BB_SIGHTING_SEEN(e->seen) == ms_at(seen) &&
         BB_SPELL_COUNT(e->begun) == count;
}

/* ---- episodes ---- */

static void check_what_rises(void) {
  const unsigned oom = BEOBOARD_PROBLEM_OOM;
  begin();
  report.oom_kills = 7;
  lay_up_to(9);
  CHECK(memory()->recent == 0 && memory()->episodes[oom].begun == 0, "what rose before it was heard is not known");
  report.oom_kills++;
  lay_up_to(10);
  CHECK(is_recent(oom) && is_episode(oom, 10, 10, 1), "a program was killed");
  lay_up_to(300);
  report.oom_kills += 3;
  lay_up_to(900);
  CHECK(is_recent(oom) && is_episode(oom, 10, 301, 1), "again before it was over: the same episode");
  CHECK(memory()->recent == UINT64_C(1) << oom, "and no other");
  lay_up_to(901);
  CHECK(!is_recent(oom) && is_episode(oom, 10, 301, 1), "ten minutes after the last");
  report.oom_kills++;
  lay_up_to(902);
  CHECK(is_recent(oom) && is_episode(oom, 902, 902, 2), "another one");
  report.oom_kills = 0;
  lay_up_to(910);
  CHECK(is_episode(oom, 902, 902, 2), "a counter that was reset has not risen");
  report.oom_kills = 1;
  lay_up_to(911);
  CHECK(is_episode(oom, 902, 911, 2), "and rises from there");
}

static void check_not_measured(void) {
  const unsigned throttled = BEOBOARD_PROBLEM_THROTTLED, hung = BEOBOARD_PROBLEM_HUNG_TASKS;
  begin();
  lay_up_to(5);
  report.throttle_events = 1;
  lay_up_to(6);
  report.valid &= ~(uint64_t)(BB_VALID_THROTTLE | BB_VALID_HUNG_TASKS);
  report.throttle_events = report.hung_tasks = 0; /* as what is not measured */
  lay_up_to(2000);
  CHECK(is_recent(throttled) && !is_recent(hung), "not measured: neither ends nor begins");
  report.valid = BB_VALID_KNOWN;
  report.throttle_events = 1;
  report.hung_tasks = 2;
  lay_up_to(2001);
  CHECK(is_episode(throttled, 6, 6, 1) && is_recent(throttled), "measured again, and not risen");
  CHECK(is_episode(hung, 2001, 2001, 1), "what rose meanwhile is not hidden");
  lay_up_to(2599);
  CHECK(is_recent(throttled), "not measured as absent for long enough");
  lay_up_to(2600);
  CHECK(!is_recent(throttled) && is_recent(hung), "for ten minutes");
}

/* What a person clears, and since when a source is gone. */
static void check_cleared(void) {
  const unsigned bad = BEOBOARD_PROBLEM_BAD_HEALTH, full = BEOBOARD_PROBLEM_ROOT_FULL;
  uint32_t cleared;
  begin();
  CHECK(!bb_memory_clear(&board, RECORD, &cleared), "it never reported");
  report.health = BB_HEALTH_BAD;
  report.root_avail_mib = 1;
  lay_up_to(5);
  CHECK(!bb_memory_clear(&board, RECORD, &cleared) && is_recent(bad), "it is measured");
  report.health = BB_HEALTH_UNKNOWN;
  report.valid &= ~(uint64_t)BB_VALID_HEALTH;
  lay_up_to(900);
  CHECK(is_episode(bad, 1, 5, 1) && bb_was_shown(&memory()->episodes[bad]), "the last that measured it showed it");
  CHECK(memory()->health_gone_ns == (uint64_t)(BEGIN + 6 * S) && memory()->gpu_gone_ns == 0, "since when it is gone");
  CHECK(bb_memory_clear(&board, RECORD, &cleared) && cleared == 1u << bad, "%x", cleared);
  check_memory("cleared");
  CHECK(!is_recent(bad) && is_recent(full) && memory()->health_gone_ns == 0, "what is measured stays");
  lay_up_to(910);
  CHECK(!is_recent(bad) && memory()->health_gone_ns == 0, "it stays cleared");
  report.valid = BB_VALID_KNOWN;
  report.health = BB_HEALTH_BAD;
  lay_up_to(911);
  CHECK(is_episode(bad, 911, 911, 2), "until it is seen again");
  report.health = BB_HEALTH_OK;
  lay_up_to(912);
  CHECK(!bb_was_shown(&memory()->episodes[bad]), "measured as absent");
  report.valid &= ~(uint64_t)BB_VALID_GPU;
  lay_up_to(920);
  report.boot_id++;
  lay_up_to(921);
  CHECK(memory()->gpu_gone_ns == 0, "another boot may have other sources");
}

/* A source that the node never had is no reason to wait for it. */
static void check_no_source(void) {
  begin();
  report.valid &= ~(uint64_t)BB_VALID_GPU;
  lay_up_to(5);
  report.throttle_events = 1;
  lay_up_to(606);
  CHECK(!is_recent(BEOBOARD_PROBLEM_THROTTLED), "throttled, on a node without GPUs");
}

static void check_states(void) {
  const unsigned full = BEOBOARD_PROBLEM_ROOT_FULL, held = BEOBOARD_PROBLEM_HELD;
  begin();
  lay_up_to(2);
  report.root_avail_mib = 1;
  report.flags = BB_FLAGS_HELD;
  lay_up_to(30);
  CHECK(is_episode(full, 3, 30, 1) && is_episode(held, 3, 30, 1), "as long as it lasts");
  report.root_avail_mib = 900;
  report.flags = 0;
  lay_up_to(89);
  CHECK(is_recent(full) && is_recent(held), "not over yet");
  report.valid &= ~(uint64_t)BB_VALID_ROOT;
  lay_up_to(95);
  CHECK(is_recent(full) && !is_recent(held), "over after a minute, where it was measured");
  report.valid = BB_VALID_KNOWN;
  lay_up_to(96);
  CHECK(!is_recent(full) && memory()->recent == 0, "and the other one, too");
  CHECK(is_episode(full, 3, 30, 1), "which is remembered");
}

/* A time in which nothing was heard says nothing. */
static void check_gaps(void) {
  const unsigned full = BEOBOARD_PROBLEM_ROOT_FULL, oom = BEOBOARD_PROBLEM_OOM;
  begin();
  report.root_avail_mib = 1;
  lay_up_to(10);
  CHECK(memory()->heard_since_ns == (uint64_t)(BEGIN + S), "since the first report");
  now = BEGIN + 5000 * S;
  report.root_avail_mib = 900;
  report.oom_kills = 1;
  lay_up_to(5001);
  CHECK(is_recent(full) && is_episode(full, 1, 10, 1), "not over");
  CHECK(is_episode(oom, 5001, 5001, 1), "but a rise is one");
  CHECK(memory()->heard_since_ns == (uint64_t)(BEGIN + 5001 * S), "since the gap");
  now += 3 * S;
  lay_up_to(5060);
  CHECK(memory()->heard_since_ns == (uint64_t)(BEGIN + 5001 * S), "a report that is missing is no gap");
  CHECK(is_recent(full), "a second before");
  lay_up_to(5061);
  CHECK(!is_recent(full), "a minute of what was heard");
}

static void check_boots(void) {
  const unsigned held = BEOBOARD_PROBLEM_HELD, oom = BEOBOARD_PROBLEM_OOM;
  begin();
  lay_up_to(5);
  report.flags = BB_FLAGS_HELD;
  report.oom_kills = 9;
  lay_up_to(20);
  CHECK(is_recent(oom) && memory()->boot_ns == 0, "no boot was seen");
  report.boot_id = 2;
  lay_up_to(21);
  CHECK(memory()->boot_ns == (uint64_t)(BEGIN + 21 * S), "another boot");
  CHECK(!is_recent(oom) && is_episode(oom, 6, 6, 1), "ends an episode");
  CHECK(is_recent(held) && is_episode(held, 21, 21, 2), "and what is so still begins another one");
  report.oom_kills = 10;
  lay_up_to(22);
  CHECK(is_episode(oom, 22, 22, 2), "counted from the first value of this boot");
}

/* ---- silences ---- */

static bool is_silence(int64_t from, int64_t to, unsigned count) {
  const struct bb_memory *m = memory();
  const bool is_ended = m->silence_end_ms > BB_SPELL_BEGIN(m->silence);
  return BB_SPELL_BEGIN(m->silence) == ms_at(from) && BB_SPELL_COUNT(m->silence) == count &&
         (to < 0 ? !is_ended : m->silence_end_ms == ms_at(to));
}

static void check_silences(void) {
  begin();
  board.header->evidence[1].listening_since_ns = (uint64_t)BEGIN;
  lay_up_to(20);
  wait_up_to(30);
  CHECK(memory()->silence == 0, "uncertain is not silent");
  wait_up_to(31);
  CHECK(is_silence(20, -1, 1), "since its last report");
  wait_up_to(500);
  CHECK(is_silence(20, -1, 1), "it goes on");
  lay_up_to(501);
  CHECK(is_silence(20, 501, 1) && memory()->stood_still_us == 0, "until it is heard");
  wait_up_to(600);
  CHECK(is_silence(501, -1, 2), "one that begins where the last one ended");
  lay_up_to(700);
  CHECK(is_silence(501, 601, 2), "and ends");
  now += 12 * S;
  beat();
  lay_up_to(713);
  CHECK(is_silence(700, 713, 3), "one that nobody found before it was over");
  board.header->evidence[1].listening_since_ns = (uint64_t)(now + 20 * S);
  wait_up_to(740);
  CHECK(is_silence(700, 713, 3), "our own deafness is none");
  lay_up_to(741);
  wait_up_to(755);
  report.flags = BB_FLAGS_LATE | BB_FLAGS_SKIPPED;
  report.valid |= BB_VALID_SENDER;
  report.late_us = 13600000;
  lay_up_to(756);
  report.flags = 0;
  report.late_us = 100;
  lay_up_to(757);
  CHECK(is_silence(741, 756, 4) && memory()->stood_still_us == 13600000, "it stood still");
  wait_up_to(770);
  report.flags = BB_FLAGS_LATE;
  report.late_us = 600000;
  lay_up_to(771);
  CHECK(is_silence(757, 771, 5) && memory()->stood_still_us == 0, "a timer that was late is no reason");
  report.flags = BB_FLAGS_GOODBYE;
  lay_up_to(772);
  wait_up_to(900);
  CHECK(is_silence(757, 771, 5), "nor is a goodbye");
  CHECK(BB_SAID_STAMP(memory()->last_words) == ms_at(757), "which is no last word either");
}

/* A mirror places the last report anew, by what it knows by now of the master's clock. */
static void check_silences_placed_anew(void) {
  static const struct {
    int64_t placed, from;
    const char *what;
  } ROWS[] = {{32, 32, "where it was"},
              {31, 32, "earlier, and no silence begins before the end of the one before"},
              {34, 34, "later"}};
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
    begin();
    board.header->evidence[1].listening_since_ns = (uint64_t)BEGIN;
    lay_up_to(20);
    wait_up_to(31);
    lay_up_to(32);
    CHECK(is_silence(20, 32, 1), "%s: one that is over", ROWS[i].what);
    slot_at(&board, RECORD, (uint32_t)newest_slot(&board, RECORD))->stamp_ns = (uint64_t)(BEGIN + ROWS[i].placed * S);
    *column_word(&board, RECORD) = BB_COLUMN(ms_at(ROWS[i].placed), 1, report.interval_ms, 0);
    wait_up_to(60);
    CHECK(is_silence(ROWS[i].from, -1, 2), "%s", ROWS[i].what);
    wait_up_to(70);
    lay_up_to(71);
    CHECK(is_silence(ROWS[i].from, 71, 2), "%s: and ends", ROWS[i].what);
  }
}

static void check_last_words(void) {
  begin();
  lay_up_to(5);
  report.oom_kills = 1;
  report.mem_avail_mib = 19;
  report.taint = UINT32_C(1) << 7;
  lay_up_to(6);
  CHECK(memory()->last_words == 0, "nothing while it is heard");
  wait_up_to(20);
  const uint64_t rows = UINT64_C(1) << BB_LAST_WORDS_OOM | UINT64_C(1) << BB_LAST_WORDS_MEMORY_LOW |
                        UINT64_C(1) << BB_LAST_WORDS_KERNEL_FAULT;
  CHECK(memory()->last_words == BB_SAID(ms_at(6), rows), "what it said last");
  lay_up_to(30);
  CHECK(memory()->last_words == BB_SAID(ms_at(6), rows), "is kept");
  report.psi_io_full10 = 9500;
  report.mem_avail_mib = 500;
  strcpy(report.net[0].name, "eth0");
  report.net[0].state = BB_NET_STATE_UP | BB_NET_STATE_CARRIER;
  lay_up_to(31);
  report.net[0].state = BB_NET_STATE_UP;
  report.late_us = 2000000;
  lay_up_to(32);
  report.boot_id = 2;
  lay_up_to(33);
  const uint64_t then = UINT64_C(1) << BB_LAST_WORDS_IO_STALLED | UINT64_C(1) << BB_LAST_WORDS_NO_CARRIER |
                        UINT64_C(1) << BB_LAST_WORDS_LATE;
  CHECK(memory()->last_words == BB_SAID(ms_at(32), then), "before a boot, too");
  report.flags = BB_FLAGS_GOODBYE;
  lay_up_to(34);
  report.flags = 0;
  report.boot_id = 3;
  lay_up_to(35);
  CHECK(memory()->last_words == BB_SAID(ms_at(32), then), "after a goodbye there are none");
  report.net[0].state = 0;
  report.late_us = report.psi_io_full10 = 0;
  lay_up_to(37);
  report.boot_id = 4;
  lay_up_to(38);
  CHECK(memory()->last_words == BB_SAID(ms_at(37), 0), "nothing that explains it");
}

/* A report of which nothing is to be remembered, but for one thing that stood on the board before it came. */
static void check_ordinary(void) {
  begin();
  lay_up_to(5);
  struct bb_memory *m = memory_at(&board, RECORD);
  const struct bb_memory before = *m;
  lay_up_to(6);
  CHECK(memcmp(m, &before, sizeof before) == 0, "nothing is stored");
  m->heard_since_ns = 0;
  lay_up_to(7);
  CHECK(m->heard_since_ns == (uint64_t)now, "heard since then, where that was not known");
  m->remembers_since_ns = 0;
  lay_up_to(8);
  CHECK(m->remembers_since_ns == (uint64_t)now, "remembered since then");
  m->silence = BB_SPELL(ms_at(2), 1); /* by limits that were shorter */
  lay_up_to(9);
  CHECK(is_silence(2, 9, 1), "a silence ends, whatever the limits are by now");
  report.boot_id = 2;
  lay_up_to(10);
  CHECK(m->boot_ns == (uint64_t)now, "a boot of a node that shows the same");
  now += 8 * S;
  lay_up_to(19);
  CHECK(m->heard_since_ns == (uint64_t)now, "and a gap");
}

/* ---- copies and takeovers ---- */

static void check_copies(void) {
  begin();
  lay_up_to(5);
  report.oom_kills = 1;
  lay_up_to(6);
  wait_up_to(30);
  struct bb_mapped other = make_board();
  bb_new_record(&other, "node0");
  bb_new_record(&other, "node1");
  bb_copy_record(&other, 1, &board, RECORD);
  CHECK(memcmp(memory_at(&other, 1), memory(), sizeof(struct bb_memory)) == 0, "all of it");
  board.header->memory_bytes = offsetof(struct bb_memory, recent);
  memory_at(&board, RECORD)->digests[3] = 77;
  memset(memory_at(&other, 1), 0, sizeof(struct bb_memory));
  bb_copy_record(&other, 1, &board, RECORD);
  CHECK(memory_at(&other, 1)->digests[3] == 77, "of a shorter one what there is");
  CHECK(memory_at(&other, 1)->remembers_since_ns == 0, "and nothing else");
  bb_repair(&other, 1, bb_clock_ns(CLOCK_MONOTONIC));
  const struct bb_memory *m = memory_at(&other, 1);
  CHECK(m->remembers_since_ns >= (uint64_t)(BEGIN + 6 * S) && m->recent == 0, "it remembers from now on");
  CHECK(m->rising[RISING_OOM] == 1 && (m->measured & BB_VALID_VMSTAT) != 0, "from what is there");
  free(other.map);
}

/* What stands on a corrupt board, as words that are all alike. */
static void check_corrupt(void) {
  static const uint64_t odd[] = {1, UINT64_MAX, UINT64_C(1) << 26, UINT64_C(1) << 63, UINT64_C(0x5555555555555555)};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    begin();
    lay_up_to(5);
    struct bb_memory *m = memory_at(&board, RECORD);
    for (uint64_t *word = &m->recent; word < (uint64_t *)(m + 1); word++) *word = odd[i];
    bb_memory_repair(&board, RECORD, 0);
    check_memory("repaired");
    lay_up_to(8);
    wait_up_to(30);
    lay_up_to(31);
  }
}

/* Trouble of all kinds, ended by number. */
static void trouble(int step) {
  now += S;
  switch (step) {
    case 0: report.flags = BB_FLAGS_HELD; break;
    case 1: report.oom_kills++; break;
    case 2: report.flags = 0; break;
    case 3: now += 70 * S; break;
    case 4: report.boot_id++; break;
    case 5: report.edac_ce++; break;
    case 6: report.flags = BB_FLAGS_HELD; break;
    default: break;
  }
  beat();
  bb_memory_survey(&board, now);
  lay();
}

#define STEPS 9

/* What the same trouble leaves when nobody is killed. */
static struct bb_memory whole_memory(void) {
  begin();
  lay_up_to(2);
  for (int i = 0; i < STEPS; i++) trouble(i);
  return *memory();
}

/* Kills the writer before that store; false: there were not so many. */
static bool play_until_killed(long store) {
  static int step;
  begin();
  lay_up_to(2);
  stores_left = store;
  step = 0;
  if (setjmp(killed) != 0) {
    stores_left = -1;
    const char *fault = memory_fault(memory(), (uint64_t)now, false);
    CHECK(fault == NULL, "killed before store %ld: %s", store, fault);
    bb_repair(&board, RECORD, bb_clock_ns(CLOCK_MONOTONIC));
    check_memory("taken over");
    /* A report that was not stored is one that never came. Here it comes again. */
    if (slot_at(&board, RECORD, (uint32_t)newest_slot(&board, RECORD))->stamp_ns != (uint64_t)now) lay();
    for (step++; step < STEPS; step++) trouble(step);
    return true;
  }
  for (; step < STEPS; step++) trouble(step);
  const bool was_killed = stores_left == 0;
  stores_left = -1;
  return was_killed;
}

static void check_kills(void) {
  const struct bb_memory whole = whole_memory();
  CHECK(BB_SPELL_COUNT(whole.silence) == 1 && whole.boot_ns != 0 && whole.recent != 0, "trouble");
  long kills = 0;
  for (long store = 1; play_until_killed(store); store++) {
    const struct bb_memory *m = memory();
    kills++;
    check_memory("after a kill");
    CHECK(m->recent == whole.recent && m->measured == whole.measured, "%ld: what is not over", store);
    CHECK(memcmp(m->rising, whole.rising, sizeof m->rising) == 0, "%ld: what rises", store);
    CHECK(m->silence == whole.silence, "%ld: its silence", store);
    for (unsigned i = 0; i < BEOBOARD_NPROBLEMS; i++)
      CHECK(BB_SPELL_COUNT(m->episodes[i].begun) == BB_SPELL_COUNT(whole.episodes[i].begun), "%ld: episodes of %s",
            store, bb_problem_names[i]);
  }
  CHECK(kills > 20, "%ld kills", kills);
}

int main(void) {
  check_what_rises();
  check_not_measured();
  check_cleared();
  check_no_source();
  check_states();
  check_gaps();
  check_boots();
  check_silences();
  check_silences_placed_anew();
  check_last_words();
  check_ordinary();
  check_copies();
  check_corrupt();
  check_kills();
  free(board.map);
  return checked();
}

#include "memory.h"

#include "../judge/lastwords.h"
#include "../judge/liveness.h"
#include "../judge/problems.h"
#include "seqlock.h"

#define EPISODES (sizeof(((struct bb_memory *)0)->episodes) / sizeof(struct bb_episode))
#define COUNTERS (sizeof(((struct bb_memory *)0)->rising) / sizeof(uint64_t))
BB_STATIC_ASSERT(BEOBOARD_NPROBLEMS <= EPISODES, "an episode for each problem");

/* Where the last value of each counter that rises is kept; the order is part of the board. */
enum {
#define PLACE(WHAT, SET, field) RISING_##WHAT,
  BB_RISING(PLACE)
#undef PLACE
  RISING_COUNT
};
_Static_assert((size_t)RISING_COUNT <= COUNTERS, "a value for each counter");
_Static_assert(RISING_GPU_ERRORS == 0 && RISING_OOM == 1 && RISING_HUNG_TASKS == 2 && RISING_THROTTLED == 3 &&
                   RISING_ECC == 4,
               "in the order of the contract");

/* What few reports need stays out of the way of the others: they save no registers for it. */
#define SELDOM __attribute__((noinline, cold))

static uint64_t whole_ms(uint64_t ns) { return ns / NS_PER_MS; }

/* Most words do not change with a report, and a line that nobody writes stays with its readers. */
static void store_new(uint64_t *word, uint64_t value) {
  if (*word != value) bb_store(word, value);
}

/* Another begin. A kill before or after it: the count is in the same word. */
static uint64_t begun_again(uint64_t spell, uint64_t begin_ms) {
  const uint64_t count = BB_SPELL_COUNT(spell);
  return BB_SPELL(begin_ms, count < BB_SPELL_COUNT_MOST ? count + 1 : count);
}

/* Whether the node was not heard for too long between two of its reports. The limit is never less than that for a
 * second's interval. */
static bool is_gap(const struct bb_board_header *h, const struct bb_slot *before, int64_t passed_ns) {
  return passed_ns > (int64_t)h->uncertain_after_ns &&
         passed_ns > bb_limit_for(h->uncertain_after_ns, before->report.interval_ms, h->longest_interval_ms);
}

/* The slot that is whole and not the newest; NULL: there is none. */
static const struct bb_slot *other_slot(const struct bb_mapped *b, uint32_t record, int newest) {
  const struct bb_slot *slot = slot_at(b, record, newest == 0 ? 1 : 0);
  return is_whole(slot) ? slot : NULL;
}

/* ---- silences ---- */

static bool is_open(const struct bb_memory *m) {
  return m->silence != 0 && m->silence_end_ms <= BB_SPELL_BEGIN(m->silence);
}

/* A sender that missed its time and then is late by that says that it stood still. */
static void close_silence(struct bb_memory *m, const struct bb_report *report, uint64_t stamp_ms) {
  const uint32_t still = BB_FLAGS_LATE | BB_FLAGS_SKIPPED;
  const bool stood_still = (report->flags & still) == still && (report->valid & BB_VALID_SENDER) != 0;
  store_new(&m->stood_still_us, stood_still ? report->late_us : 0);
  /* Later than its begin, whatever the stamps are: an open one has no later end. */
  const uint64_t begin_ms = BB_SPELL_BEGIN(m->silence);
  bb_store(&m->silence_end_ms, stamp_ms > begin_ms ? stamp_ms : begin_ms + 1);
}

static void store_last_words(const struct bb_mapped *b, uint32_t record, int newest) {
  const struct bb_slot *last = slot_at(b, record, (uint32_t)newest), *before = other_slot(b, record, newest);
  const uint32_t rows = bb_last_words(&last->report, before == NULL ? NULL : &before->report);
  store_new(&memory_at(b, record)->last_words, BB_SAID(whole_ms(last->stamp_ns), rows));
}

/* Notes that the node of a record is silent, if it is and that is not noted yet. */
static void judge_record(struct bb_mapped *b, uint32_t record, const struct evidence *e) {
  const uint64_t word = *column_word(b, record);
  bool is_ahead = false;
  if (word == 0 || !has_entry(link_of(word), b->header->links_used)) return;
  if (judge_word(e, evidence_by(b->header->evidence, link_of(word)), word, &is_ahead) != BEOBOARD_SILENT) return;
  struct bb_memory *m = memory_at(b, record);
  /* Not before the end of the one before, though a mirror may have placed that report anew. */
  const uint64_t stamp_ms = BB_COLUMN_STAMP(word);
  const uint64_t begin_ms = stamp_ms > m->silence_end_ms ? stamp_ms : m->silence_end_ms;
  const int newest = newest_slot(b, record);
  /* One that is open has seen no report since, though a mirror may have placed its last one anew. */
  if (newest < 0 || stamp_ms == 0 || is_open(m)) return;
  /* What it said comes first: whoever sees that it is silent finds its last words. */
  store_last_words(b, record, newest);
  bb_store_release(&m->silence, begun_again(m->silence, begin_ms));
}

void bb_memory_survey(struct bb_mapped *b, int64_t now_ns) {
  const struct evidence e = evidence_at(b->header, now_ns);
  if (is_unknown(&e)) return;
  for (uint32_t i = 0; i < b->header->count; i++) judge_record(b, i, &e);
}

/* ---- episodes ---- */

/* What rose above its last measured value of this boot. */
static uint32_t rises_of(const struct bb_memory *m, const struct bb_report *r) {
  const uint64_t valid = m->measured & r->valid;
  uint32_t problems = 0;
#define ROSE(WHAT, SET, field)                                                                                         \
  problems |= BB_PROBLEM(WHAT, (valid & BB_VALID_##SET) != 0 && bb_rose((uint32_t)m->rising[RISING_##WHAT], r->field));
  BB_RISING(ROSE)
#undef ROSE
  return problems;
}

/* Keeps what of these sets rises. A value is of no use until its set is measured: a kill between loses no rise. */
static void keep_measured(struct bb_memory *m, const struct bb_report *r, uint64_t sets) {
#define KEEP(WHAT, SET, field)                                                                                         \
  if ((sets & BB_VALID_##SET) != 0) store_new(&m->rising[RISING_##WHAT], r->field);
  BB_RISING(KEEP)
#undef KEEP
  store_new(&m->measured, m->measured | sets);
}

/* A report shows the problem. Its begin comes before the sighting, and that before the bit: whoever sees the bit finds
 * the episode. */
static void see(struct bb_memory *m, unsigned problem, uint64_t stamp_ms) {
  struct bb_episode *e = &m->episodes[problem];
  const uint64_t bit = UINT64_C(1) << problem;
  const bool is_new = (m->recent & bit) == 0;
  if (is_new) bb_store(&e->begun, begun_again(e->begun, stamp_ms));
  store_new(&e->seen, BB_SIGHTING(stamp_ms, 0));
  if (is_new) bb_store_release(&m->recent, m->recent | bit);
}

/* The problem has been absent for so much longer: at least 1 ms, which says that it was measured as absent. The
 * sighting comes before the bit, which follows from it. */
static void miss(struct bb_memory *m, unsigned problem, uint64_t passed_ms) {
  struct bb_episode *e = &m->episodes[problem];
  const uint64_t most = bb_problem_quiet_ms[problem], sum = BB_SIGHTING_QUIET(e->seen) + passed_ms;
  const uint64_t quiet = sum == 0 ? 1 : sum < most ? sum : most;
  store_new(&e->seen, BB_SIGHTING(BB_SIGHTING_SEEN(e->seen), quiet));
  if (quiet == most) bb_store(&m->recent, m->recent & ~(UINT64_C(1) << problem));
}

/* Whether nothing that rises has another value than is kept, and nothing is measured for the first time. Of nearly all
 * reports. */
static inline bool is_unchanged(const struct bb_memory *m, const struct bb_report *r) {
  uint64_t changes = r->valid & ~m->measured;
#define COMPARE(WHAT, SET, field) changes |= m->rising[RISING_##WHAT] ^ r->field;
  BB_RISING(COMPARE)
#undef COMPARE
  return changes == 0;
}

/* `passed_ms`: since the report before; 0: nothing can be said of that time. */
static void note_problems(struct bb_memory *m, const struct bb_report *r, uint64_t shown, uint64_t stamp_ms,
                          uint64_t passed_ms) {
  const uint64_t missing = m->measured & ~r->valid;
  for (uint64_t bits = shown; bits != 0; bits &= bits - 1) see(m, (unsigned)__builtin_ctzll(bits), stamp_ms);
  for (uint64_t bits = m->recent & ~shown; bits != 0; bits &= bits - 1) {
    const unsigned problem = (unsigned)__builtin_ctzll(bits);
    if (problem < BEOBOARD_NPROBLEMS && (bb_problem_sets[problem] & missing) == 0) miss(m, problem, passed_ms);
  }
}

/* The sets of which it is kept since when their source is gone. */
#define SOURCES (BB_VALID_HEALTH | BB_VALID_GPU)

static void note_source(struct bb_memory *m, uint64_t *gone_ns, const struct bb_report *r, uint64_t set,
                        uint64_t stamp_ns) {
  const bool is_gone = (m->measured & ~r->valid & set) != 0;
  if (is_gone != (*gone_ns != 0)) bb_store(gone_ns, is_gone ? stamp_ns : 0);
}

static void note_sources(struct bb_memory *m, const struct bb_report *r, uint64_t stamp_ns) {
  note_source(m, &m->health_gone_ns, r, BB_VALID_HEALTH, stamp_ns);
  note_source(m, &m->gpu_gone_ns, r, BB_VALID_GPU, stamp_ns);
}

/* What was seen and measured in the boot before says nothing about this one. */
static void note_boot(struct bb_memory *m, uint64_t stamp_ns) {
  for (unsigned i = 0; i < BEOBOARD_NPROBLEMS; i++)
    if ((m->recent >> i & 1) != 0) miss(m, i, bb_problem_quiet_ms[i]);
  store_new(&m->measured, 0);
  bb_store(&m->boot_ns, stamp_ns);
}

/* ---- reports ---- */

struct bb_after bb_memory_begin_anew(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report,
                                     int64_t stamp_ns) {
  const struct bb_slot *before = slot_at(b, record, (uint32_t)newest);
  struct bb_after after = {.passed_ns = from_to(before->stamp_ns, (uint64_t)stamp_ns)};
  if (is_gap(b->header, before, after.passed_ns)) {
    const struct evidence e = evidence_at(b->header, stamp_ns);
    if (!is_unknown(&e)) judge_record(b, record, &e);
    after.what |= BB_AFTER_GAP;
  }
  if (before->report.boot_id != report->boot_id) {
    if ((before->report.flags & BB_FLAGS_GOODBYE) == 0) store_last_words(b, record, newest);
    after.what |= BB_AFTER_BOOT;
  }
  return after;
}

static SELDOM void note(struct bb_memory *m, struct bb_after after, const struct bb_report *report, uint64_t stamp) {
  const bool is_heard = (after.what & (BB_AFTER_NONE | BB_AFTER_GAP)) == 0;
  if (m->remembers_since_ns == 0) bb_store(&m->remembers_since_ns, stamp);
  if (m->heard_since_ns == 0 || !is_heard) bb_store(&m->heard_since_ns, stamp);
  if (is_open(m) && (after.what & BB_AFTER_BEGIN) == 0) close_silence(m, report, whole_ms(stamp));
  if ((after.what & BB_AFTER_BOOT) != 0) note_boot(m, stamp);
  const bool is_same = is_unchanged(m, report);
  const uint64_t shown = bb_problem_states(report) | (is_same ? 0 : rises_of(m, report));
  if ((shown | m->recent) != 0)
    note_problems(m, report, shown, whole_ms(stamp),
                  is_heard && after.passed_ns > 0 ? whole_ms((uint64_t)after.passed_ns) : 0);
  if (!is_same) keep_measured(m, report, report->valid);
  note_sources(m, report, stamp);
}

/* Whether note() would store nothing. */
static bool is_ordinary(const struct bb_memory *m, struct bb_after after, const struct bb_report *report) {
  return after.what == 0 && m->remembers_since_ns != 0 && m->heard_since_ns != 0 &&
         !is_open(m) && m->recent == 0 && is_unchanged(m, report) && !bb_may_show_states(report) &&
         ((m->measured & ~report->valid & SOURCES) | m->health_gone_ns | m->gpu_gone_ns) == 0;
}

/* The silence that lasts begins with the newest report. */
static void begin_later(struct bb_mapped *b, uint32_t record, uint64_t stamp_ms) {
  uint64_t *silence = &memory_at(b, record)->silence;
  if (stamp_ms <= BB_SPELL_BEGIN(*silence)) return;
  store_last_words(b, record, newest_slot(b, record));
  bb_store_release(silence, BB_SPELL(stamp_ms, BB_SPELL_COUNT(*silence)));
}

void bb_memory_end(struct bb_mapped *b, uint32_t record, struct bb_after after, const struct bb_report *report,
                   int64_t stamp_ns) {
  struct bb_memory *m = memory_at(b, record);
  if (is_open(m) && (after.what & BB_AFTER_BEGIN) != 0) begin_later(b, record, whole_ms((uint64_t)stamp_ns));
  if (!is_ordinary(m, after, report)) note(m, after, report, (uint64_t)stamp_ns);
}

bool bb_memory_clear(struct bb_mapped *b, uint32_t record, uint32_t *problems) {
  const int newest = newest_slot(b, record);
  *problems = 0;
  if (newest < 0) return false;
  const struct bb_slot *last = slot_at(b, record, (uint32_t)newest);
  struct bb_memory *m = memory_at(b, record);
  const uint64_t gone = m->measured & ~last->report.valid & SOURCES;
  *problems = bb_unmeasured(m->recent, m->measured, last->report.valid);
  for (uint32_t bits = *problems; bits != 0; bits &= bits - 1) {
    const unsigned problem = (unsigned)__builtin_ctz(bits);
    miss(m, problem, bb_problem_quiet_ms[problem]);
  }
  /* As if this boot never had had that source: nobody misses it. */
  store_new(&m->measured, m->measured & ~gone);
  note_sources(m, &last->report, last->stamp_ns);
  return *problems != 0 || gone != 0;
}

/* ---- a takeover ---- */

static bool is_odd_spell(uint64_t spell, uint64_t now_ms) {
  return BB_SPELL_BEGIN(spell) > now_ms || (BB_SPELL_BEGIN(spell) == 0) != (BB_SPELL_COUNT(spell) == 0);
}

static bool is_odd_episode(const struct bb_episode *e, unsigned problem, uint64_t now_ms) {
  return problem >= BEOBOARD_NPROBLEMS || is_odd_spell(e->begun, now_ms) || BB_SIGHTING_SEEN(e->seen) > now_ms ||
         BB_SIGHTING_QUIET(e->seen) > bb_problem_quiet_ms[problem];
}

/* What no writer stores: only a corrupt board has it, or one that was copied while it was written. */
static void drop_odd(struct bb_memory *m, uint64_t now_ns) {
  const uint64_t now_ms = whole_ms(now_ns);
  if (m->remembers_since_ns > now_ns) bb_store(&m->remembers_since_ns, now_ns);
  if (m->heard_since_ns > now_ns) bb_store(&m->heard_since_ns, 0);
  if (m->boot_ns > now_ns) bb_store(&m->boot_ns, 0);
  if (m->health_gone_ns > now_ns) bb_store(&m->health_gone_ns, 0);
  if (m->gpu_gone_ns > now_ns) bb_store(&m->gpu_gone_ns, 0);
  if (BB_SAID_STAMP(m->last_words) > now_ms || BB_SAID_ROWS(m->last_words) >> BB_LAST_WORDS_COUNT != 0)
    bb_store(&m->last_words, 0);
  if (is_odd_spell(m->silence, now_ms)) bb_store(&m->silence, 0);
  if (m->silence == 0 || m->silence_end_ms > now_ms) store_new(&m->silence_end_ms, 0);
  for (unsigned i = 0; i < EPISODES; i++) {
    struct bb_episode *e = &m->episodes[i];
    if (!is_odd_episode(e, i, now_ms)) continue;
    store_new(&e->begun, 0);
    store_new(&e->seen, 0);
  }
}

/* Of an episode that was begun, and then its writer was killed. */
static void settle_episodes(struct bb_memory *m) {
  for (unsigned i = 0; i < EPISODES; i++) {
    struct bb_episode *e = &m->episodes[i];
    const uint64_t begin_ms = BB_SPELL_BEGIN(e->begun);
    if (BB_SIGHTING_SEEN(e->seen) < begin_ms) bb_store(&e->seen, BB_SIGHTING(begin_ms, 0));
  }
}

/* The episodes that are not over, by their own words. */
static uint64_t recent_of(const struct bb_memory *m) {
  uint64_t recent = 0;
  for (unsigned i = 0; i < BEOBOARD_NPROBLEMS; i++) {
    const struct bb_episode *e = &m->episodes[i];
    if (BB_SPELL_COUNT(e->begun) > 0 && BB_SIGHTING_QUIET(e->seen) < bb_problem_quiet_ms[i])
      recent |= UINT64_C(1) << i;
  }
  return recent;
}

void bb_memory_repair(struct bb_mapped *b, uint32_t record, int64_t clock_ns) {
  const int newest = newest_slot(b, record);
  struct bb_memory *m = memory_at(b, record);
  if (newest < 0) {
    for (uint64_t *word = &m->recent; word < (uint64_t *)(m + 1); word++) store_new(word, 0);
    return;
  }
  const struct bb_slot *last = slot_at(b, record, (uint32_t)newest), *before = other_slot(b, record, newest);
  const uint64_t now_ns = last->stamp_ns > (uint64_t)clock_ns ? last->stamp_ns : (uint64_t)clock_ns;
  drop_odd(m, now_ns);
  settle_episodes(m);
  if (m->remembers_since_ns == 0) bb_store(&m->remembers_since_ns, now_ns);
  /* One that stands in both slots was placed anew by a mirror, and is the last before the silence. */
  if (is_open(m) && BB_SPELL_BEGIN(m->silence) < whole_ms(last->stamp_ns) &&
      (before == NULL || memcmp(&before->report, &last->report, sizeof last->report) != 0))
    close_silence(m, &last->report, whole_ms(last->stamp_ns));
  /* Release: the writer before may have stored no more of an episode than its begin. */
  if (m->recent != recent_of(m)) bb_store_release(&m->recent, recent_of(m));
  if (before != NULL && before->report.boot_id != last->report.boot_id && m->boot_ns < last->stamp_ns)
    note_boot(m, last->stamp_ns);
  const bool is_after_gap =
      before != NULL && is_gap(b->header, before, from_to(before->stamp_ns, last->stamp_ns));
  if (is_after_gap && m->heard_since_ns < last->stamp_ns) bb_store(&m->heard_since_ns, last->stamp_ns);
  /* Of what was measured before it, the value from before may still be there: then the next report shows the rise. */
  keep_measured(m, &last->report, last->report.valid & ~m->measured);
  note_sources(m, &last->report, last->stamp_ns);
}

#include "order.h"

#include <string.h>

#include "../base/invariant.h"
#include "interval.h"

#define HISTORY 64u

/* How long nothing may have been accepted before a report counts that is not beyond what was: the mean of both limits.
 * Late enough that the run which has its place has missed more than a rival waits for, and that what was merely
 * overtaken on its way has come: no stray or repeated report displaces a run that only hesitates. Early enough that a
 * machine which was restored, and goes on reporting, is heard again before it is silent, were the next two reports
 * lost: with the usual limits three are due in between. Silence is measured in the held report's intervals, this in the
 * shorter of two, so that it never comes later than in the middle. Written so that no limits overflow. */
static int64_t reset_after(const struct bb_limits *limits) {
  return limits->uncertain_after_ns + (limits->silent_after_ns - limits->uncertain_after_ns) / 2;
}

void bb_order_know(struct bb_known_boot *known, uint64_t boot_id, uint64_t t_boot_ns) {
  int at = 0;
  while (at < BB_KNOWN_BOOTS - 1 && known[at].boot_id != boot_id) at++;
  memmove(&known[1], &known[0], (size_t)at * sizeof known[0]);
  known[0] = (struct bb_known_boot){boot_id, t_boot_ns};
}

/* A judgement: the report, and everything that it is judged by. */
struct judged {
  const struct bb_report *report;
  enum bb_auth_alg proved;
  struct bb_stamp stamp;
  const struct bb_limits *limits;
};

static void remember(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  o->heard = true;
  o->proved = j->proved;
  o->stamp_ns = j->stamp.ns;
  o->stamp_real_ns = j->stamp.real_ns;
  o->seq = r->seq;
  o->interval_ms = r->interval_ms;
  o->t_boot_ns = r->t_boot_ns;
  o->t_real_ns = r->t_real_ns;
  o->goodbye = (r->flags & BB_FLAGS_GOODBYE) != 0;
  o->interrupted = false;
  memset(&o->back, 0, sizeof o->back);
}

/* Begins a run: whatever came before it is neither lost nor late. `highest_boot_ns` is the bound for its boot. */
static struct bb_judgement order_begin(struct bb_order *o, const struct judged *j, enum bb_verdict verdict,
                                 uint64_t highest_boot_ns) {
  bb_order_know(o->known, j->report->boot_id, highest_boot_ns);
  o->start_boot_ns = j->report->start_boot_ns;
  o->history_seq = j->report->seq;
  o->history = 1;
  o->history_lost = 0;
  remember(o, j);
  return (struct bb_judgement){.verdict = verdict, .is_of_number = true};
}

static struct bb_judgement order_refuse(enum bb_reason reason) {
  return (struct bb_judgement){.verdict = BB_REFUSED, .reason = reason};
}

/* The next report of the run: counts the reports missing between the last one and this one. */
static struct bb_judgement next(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  struct bb_judgement judgement = {.verdict = BB_NEXT, .is_of_number = true};
  const uint32_t ahead = r->seq - (uint32_t)o->history_seq;
  if (ahead == 0 || ahead >= UINT32_C(1) << 31) { /* A later time without a later number: counting starts afresh. */
    o->history = 1;
    o->history_lost = 0;
  } else {
    const uint32_t missing = ahead - 1;
    const uint64_t gap = (missing < HISTORY - 1 ? (UINT64_C(1) << missing) - 1 : ~UINT64_C(0) >> 1) << 1;
    if (o->interrupted) judgement.unheard = missing;
    else judgement.lost = missing;
    o->history = (ahead < HISTORY ? o->history << ahead : 0) | (o->interrupted ? gap : 0) | 1;
    o->history_lost = (ahead < HISTORY ? o->history_lost << ahead : 0) | gap;
  }
  o->history_seq = r->seq;
  if (r->t_boot_ns > o->known[0].highest_boot_ns) o->known[0].highest_boot_ns = r->t_boot_ns;
  remember(o, j);
  return judgement;
}

uint16_t bb_order_digest(const struct bb_report *r) {
  const uint64_t mixed = (r->t_boot_ns ^ (r->t_real_ns << 32 | r->t_real_ns >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
  const uint16_t digest = (uint16_t)(mixed >> 48);
  return digest != 0 ? digest : 1;
}

/* Whether a report of the current run has the number of one that came and is remembered. */
static bool is_remembered(const struct bb_order *o, const struct bb_report *r) {
  const uint32_t back = (uint32_t)o->history_seq - r->seq;
  return back < HISTORY && ((o->history & ~o->history_lost) >> back & 1) != 0 && o->remembered != 0;
}

/* And is not that one. */
static bool is_another(const struct bb_order *o, const struct bb_report *r) {
  return is_remembered(o, r) && o->remembered != bb_order_digest(r);
}

/* A report of the current run that is not beyond the newest: either a duplicate, or overtaken on its way, or of another
 * machine. */
static struct bb_judgement order_earlier(struct bb_order *o, const struct bb_report *r) {
  const uint32_t back = (uint32_t)o->history_seq - r->seq;
  if (back >= HISTORY) return order_refuse(BB_REASON_REPLAY);
  const uint64_t bit = UINT64_C(1) << back;
  const bool first = (o->history & bit) != 0, second = (o->history_lost & bit) != 0;
  if (is_another(o, r)) return order_refuse(BB_REASON_LATE);
  if (first && !second) return (struct bb_judgement){.verdict = BB_DUPLICATE};
  struct bb_judgement judgement = order_refuse(BB_REASON_LATE);
  judgement.is_of_number = true;
  judgement.found_lost = !first && second;
  judgement.found_unheard = first && second;
  o->history |= bit;
  o->history_lost &= ~bit;
  return judgement;
}

/* The shorter of both intervals decides for how long one report keeps the other out: a stray report with an interval
 * of ten minutes must not keep the node's own sender out for an hour. */
static uint32_t shorter_of(const struct bb_order *o, const struct bb_report *r) {
  return r->interval_ms < o->interval_ms ? r->interval_ms : o->interval_ms;
}

static bool is_older(const struct bb_order *o, const struct judged *j, int64_t limit_ns) {
  return (int64_t)((uint64_t)j->stamp.ns - (uint64_t)o->stamp_ns) >
         bb_limit_for((uint64_t)limit_ns, shorter_of(o, j->report), j->limits->longest_interval_ms);
}

/* Whether the current run still holds its place, so that another one has to wait. */
static bool keeps_place(const struct bb_order *o, const struct judged *j) {
  return !o->goodbye && !is_older(o, j, j->limits->uncertain_after_ns);
}

/* A report of the current boot that is beyond all earlier ones. */
static struct bb_judgement order_beyond(struct bb_order *o, const struct judged *j) {
  const uint64_t start = j->report->start_boot_ns, t = j->report->t_boot_ns;
  if (start == o->start_boot_ns) return next(o, j);
  if (start < o->start_boot_ns && keeps_place(o, j)) return order_refuse(BB_REASON_RIVAL);
  /* Not below what is known: for a restored machine, the reports since count as well. */
  return order_begin(o, j, BB_RESTART, t > o->known[0].highest_boot_ns ? t : o->known[0].highest_boot_ns);
}

/* ---- without a proof ---- */

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Whether a report that is not beyond a goodbye continues the one before it: it has a later number of the same run, or
 * is of a later run, and it came as much later as its own clock says. A machine that was restored from before its
 * goodbye reports like that. What was only delayed or repeated on its way does not; a node that has left must not
 * become live by it, since it would be silent next. */
static bool continues(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  const struct bb_return before = o->back;
  o->back = (struct bb_return){r->boot_id, r->start_boot_ns, r->t_boot_ns, j->stamp.ns, r->seq};
  if (before.stamp_ns == 0 || before.boot_id != r->boot_id || before.start_boot_ns > r->start_boot_ns) return false;
  const uint32_t ahead = r->seq - before.seq;
  if (before.start_boot_ns == r->start_boot_ns && (ahead == 0 || ahead >= UINT32_C(1) << 31)) return false;
  const uint64_t half_ns = (uint64_t)r->interval_ms * 500000;
  return r->t_boot_ns > before.t_boot_ns && r->t_boot_ns - before.t_boot_ns >= half_ns &&
         distance(r->t_boot_ns - before.t_boot_ns, (uint64_t)j->stamp.ns - (uint64_t)before.stamp_ns) <= half_ns;
}

/* Whether it is of another boot that is remembered, and not beyond what that had reached. */
static bool is_of_the_past(const struct bb_order *o, const struct bb_report *r) {
  for (int i = 1; i < BB_KNOWN_BOOTS; i++)
    if (r->boot_id != 0 && o->known[i].boot_id == r->boot_id) return r->t_boot_ns <= o->known[i].highest_boot_ns;
  return false;
}

/* Whether the machine that has the place was booted anew since its last report: of a boot that nobody knows, from the
 * same address, and its time since boot is no longer than that since then, but for a report that was held up on its
 * way. */
static bool was_booted(const struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  if (!o->same_address || r->boot_id == 0) return false;
  for (int i = 0; i < BB_KNOWN_BOOTS; i++)
    if (o->known[i].boot_id == r->boot_id) return false;
  const int64_t before_ns = (int64_t)(r->t_boot_ns - ((uint64_t)j->stamp.ns - (uint64_t)o->stamp_ns));
  return before_ns <=
         bb_limit_for((uint64_t)j->limits->silent_after_ns, shorter_of(o, r), j->limits->longest_interval_ms);
}

/* A copy of the report that we hold is never new, however late it is. */
static bool is_held(const struct bb_order *o, const struct bb_report *r) {
  return r->start_boot_ns == o->start_boot_ns && r->seq == o->seq && r->t_boot_ns == o->t_boot_ns;
}

static struct bb_judgement judge_unproved(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  if (!o->heard) return order_begin(o, j, BB_NEXT, r->t_boot_ns);
  /* An earlier report of a boot does not bind a run that is accepted without proof: a higher t_boot_ns of a run that
   * has ended would make the reports of the present run be rejected. */
  if (r->boot_id != o->known[0].boot_id) {
    if (keeps_place(o, j) && !was_booted(o, j)) return order_refuse(BB_REASON_RIVAL);
    if (o->goodbye && is_of_the_past(o, r) && !continues(o, j)) return order_refuse(BB_REASON_REPLAY);
    return order_begin(o, j, BB_REBOOT, r->t_boot_ns);
  }
  if (r->start_boot_ns > o->start_boot_ns) return order_begin(o, j, BB_RESTART, r->t_boot_ns);
  if (r->t_boot_ns > o->known[0].highest_boot_ns) return order_beyond(o, j);
  const bool returns = !is_held(o, r) && (!o->goodbye || continues(o, j));
  if (returns && is_older(o, j, reset_after(j->limits))) return order_begin(o, j, BB_RESET, r->t_boot_ns);
  return r->start_boot_ns == o->start_boot_ns ? order_earlier(o, r) : order_refuse(BB_REASON_LATE);
}

/* ---- with a proof ---- */

static bool in_window(uint64_t t_real_ns, int64_t stamp_real_ns, const struct bb_limits *limits) {
  return distance(t_real_ns, (uint64_t)stamp_real_ns) <= limits->clock_window_ns;
}

/* Whether a report was made after the last accepted one, by the node's wall clock. Corrected by the clock's offset
 * in the last report, its time must be later than the last stamp; in other words, later than the time in the last
 * report. If the last report was outside of the window (a clock that was once in 2099), its time is no measure: then
 * a report inside of the window counts as later than anything made before it. */
static bool is_fresh(const struct bb_order *o, const struct judged *j) {
  if (!in_window(j->report->t_real_ns, j->stamp.real_ns, j->limits)) return false;
  if (in_window(o->t_real_ns, o->stamp_real_ns, j->limits)) return j->report->t_real_ns > o->t_real_ns;
  return j->report->t_real_ns > (uint64_t)o->stamp_real_ns + j->limits->clock_window_ns;
}

/* Another boot than that of the last accepted report. */
static struct bb_judgement judge_boot(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  if (!in_window(r->t_real_ns, j->stamp.real_ns, j->limits)) return order_refuse(BB_REASON_CLOCK);
  /* 0 means an unknown boot, which is not remembered: this report may have come before any other boot. */
  if (r->boot_id == 0)
    return is_fresh(o, j) ? order_begin(o, j, BB_REBOOT, r->t_boot_ns) : order_refuse(BB_REASON_REPLAY);
  /* A remembered boot: for example, a clone ran for a while in the node's place. */
  for (int i = 1; i < BB_KNOWN_BOOTS; i++) {
    if (o->known[i].boot_id != r->boot_id) continue;
    if (r->t_boot_ns <= o->known[i].highest_boot_ns) return order_refuse(BB_REASON_REPLAY);
    if (keeps_place(o, j)) return order_refuse(BB_REASON_RIVAL);
  }
  return order_begin(o, j, BB_REBOOT, r->t_boot_ns);
}

/* The first report with so strong a proof. Reports that were accepted with a weaker one bind nobody: otherwise a
 * sender without the key could keep out the one that has it. */
static struct bb_judgement judge_first(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  if (!in_window(r->t_real_ns, j->stamp.real_ns, j->limits)) return order_refuse(BB_REASON_CLOCK);
  const bool same_boot = r->boot_id == o->known[0].boot_id;
  const bool same_run = same_boot && r->start_boot_ns == o->start_boot_ns;
  const enum bb_verdict verdict = !o->heard || same_run ? BB_NEXT : same_boot ? BB_RESTART : BB_REBOOT;
  memset(o->known, 0, sizeof o->known);
  return order_begin(o, j, verdict, r->t_boot_ns);
}

static struct bb_judgement judge_proved(struct bb_order *o, const struct judged *j) {
  const struct bb_report *r = j->report;
  if (!o->heard || o->proved < j->proved) return judge_first(o, j);
  if (r->boot_id != o->known[0].boot_id) return judge_boot(o, j);
  const uint64_t highest = o->known[0].highest_boot_ns;
  if (r->t_boot_ns > highest) return order_beyond(o, j);
  /* Back in time: the machine was restored, or somebody replays what was once sent. Until a restored machine has
   * passed what it had reached before, each of its reports has to be fresh; then it is accepted although its numbers
   * have occurred before. */
  if (is_fresh(o, j)) {
    if (r->t_boot_ns > o->t_boot_ns) return order_beyond(o, j); /* It was restored some time ago, and continues. */
    if (!is_held(o, r) && is_older(o, j, reset_after(j->limits))) return order_begin(o, j, BB_RESET, highest);
  }
  if (r->start_boot_ns == o->start_boot_ns && (uint32_t)o->history_seq - r->seq < HISTORY) return order_earlier(o, r);
  return order_refuse(r->start_boot_ns < o->start_boot_ns ? BB_REASON_LATE : BB_REASON_REPLAY);
}

/* ---- two machines ---- */

/* So many turns prove it, none of them so many accepted reports after the one before. A machine that is restored again
 * and again takes none: what it lost shows. */
#define TURNS 3u
#define CALM 8u
/* A restored machine has lost more, also if its interval is long. */
#define MOST_LOST_NS INT64_C(1000000000)

/* Whether it continues the last accepted report: later by its own clock as by ours, and not by what a restored machine
 * lost. Of two machines that are accepted in turns, one is behind the other by less than an interval. */
static bool goes_on(const struct bb_order *before, const struct judged *j, int64_t most_ns) {
  const uint64_t passed_ns = (uint64_t)j->stamp.ns - (uint64_t)before->stamp_ns,
                 made_ns = j->report->t_boot_ns - before->t_boot_ns;
  const int64_t interval_ns = (int64_t)j->report->interval_ms * 1000000;
  return (int64_t)(passed_ns - made_ns) <= (interval_ns < most_ns ? interval_ns : most_ns);
}

/* Whether another machine made this report than the last accepted one, as far as one report tells. */
static bool is_of_another(const struct bb_order *before, const struct judged *j, enum bb_verdict verdict) {
  const struct bb_report *r = j->report;
  if (!before->heard || r->boot_id != before->known[0].boot_id || r->start_boot_ns != before->start_boot_ns ||
      verdict == BB_RESET)
    return false;
  if (verdict == BB_NEXT) return is_another(before, r) && goes_on(before, j, INT64_MAX);
  if (is_remembered(before, r)) return is_another(before, r);
  /* Behind what was accepted, and made later: nothing is that was only overtaken on its way. With a proof also not what
   * was recorded before the node's wall clock was set back. */
  return r->t_real_ns > before->t_real_ns &&
         (j->proved == BB_AUTH_ALG_NONE || in_window(r->t_real_ns, j->stamp.real_ns, j->limits));
}

/* Counts the turns of two machines. */
static void count_turns(struct bb_turns *turns, const struct bb_order *before, const struct judged *j,
                        struct bb_judgement *judgement) {
  const enum bb_verdict verdict = judgement->verdict;
  judgement->is_of_another = is_of_another(before, j, verdict);
  if (verdict == BB_DUPLICATE || verdict == BB_REFUSED) {
    turns->pending = turns->pending || judgement->is_of_another;
    return;
  }
  const bool turn = turns->pending && verdict == BB_NEXT && goes_on(before, j, MOST_LOST_NS);
  turns->pending = judgement->is_of_another;
  if (turn) {
    turns->calm = 0;
    if (turns->count < TURNS) turns->count++;
    judgement->is_clone = turns->count == TURNS;
  } else if (turns->count > 0 && ++turns->calm == CALM) {
    turns->count = turns->calm = 0;
  }
}

/* What must hold after every judgement, whatever was known before: that may have been read from a corrupt board. */
static void order_check(const struct bb_order *before, const struct bb_order *o, const struct judged *j,
                  const struct bb_judgement *judgement) {
  const enum bb_verdict verdict = judgement->verdict;
  const bool accepted = verdict != BB_DUPLICATE && verdict != BB_REFUSED;
  BB_INVARIANT((verdict == BB_REFUSED) == (judgement->reason != BB_REASON_NONE));
  BB_INVARIANT(judgement->lost == 0 || judgement->unheard == 0);
  BB_INVARIANT(!(judgement->found_lost || judgement->found_unheard) || judgement->reason == BB_REASON_LATE);
  BB_INVARIANT(!(judgement->found_lost && judgement->found_unheard));
  BB_INVARIANT(accepted ? judgement->is_of_number : !judgement->is_clone);
  if (accepted) {
    BB_INVARIANT(o->heard && o->stamp_ns == j->stamp.ns && o->seq == j->report->seq);
    BB_INVARIANT(o->known[0].boot_id == j->report->boot_id);
    BB_INVARIANT(o->start_boot_ns == j->report->start_boot_ns);
    /* A later report must have a later time than this one. */
    BB_INVARIANT(o->known[0].highest_boot_ns >= j->report->t_boot_ns);
    BB_INVARIANT((o->history & 1) != 0 && (o->history_lost & 1) == 0 && o->history_seq == j->report->seq);
  } else {
    /* A rejected report changes only the history; nothing else that the next report is judged by. */
    BB_INVARIANT(o->heard == before->heard && o->stamp_ns == before->stamp_ns &&
                 o->start_boot_ns == before->start_boot_ns);
    BB_INVARIANT(memcmp(o->known, before->known, sizeof o->known) == 0 && o->proved == before->proved);
  }
}

struct bb_judgement bb_order_judge(struct bb_order *o, const struct bb_report *r, enum bb_auth_alg proved,
                                   struct bb_stamp stamp, const struct bb_limits *limits) {
  const struct judged j = {r, proved, stamp, limits};
  const struct bb_order before = *o;
  struct bb_judgement judgement = proved == BB_AUTH_ALG_NONE ? judge_unproved(o, &j) : judge_proved(o, &j);
  count_turns(&o->turns, &before, &j, &judgement);
  order_check(&before, o, &j, &judgement);
  return judgement;
}

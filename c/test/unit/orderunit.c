/* The rules of order, each a row: a sequence of reports of one node, and what becomes of each. The
 * clock is the row's. */
#include "../../rules/order.h"

#include <math.h>
#include <stdlib.h>

#include "../../rules/interval.h"
#include "check.h"

#define S INT64_C(1000000000)
#define NOW (1000000 * S) /* the master's clock when a row begins */
#define REAL (1700000000 * S)
#define MOST_STEPS 18
#define USUAL {4500, 10500}

/* RESUMED: the receiver was stopped until then. All from LATE on: rejected for that. */
enum outcome { END, RESUMED, ACCEPTED, DUPLICATE, LATE, REPLAY, RIVAL };

static const enum bb_reason reasons[] = {
  [LATE] = BB_REASON_LATE, [REPLAY] = BB_REASON_REPLAY, [RIVAL] = BB_REASON_RIVAL};

/* What is sent: of boot 1, if it says nothing else, by a sender that started 50 s after it, with an interval of
 * 1000 ms. */
struct sent {
  unsigned boot, interval;
  double start, t; /* seconds after boot: the sender's start, and the report */
  uint32_t seq;
  unsigned goodbye;
};

/* When it comes, in seconds after the row's beginning. */
struct step {
  double at;
  enum outcome outcome;
  struct sent sent;
};

struct counts {
  unsigned lost, unheard, restarts, reboots, resets;
};

struct row {
  const char *rule;
  struct counts counts;
  int64_t limits_ms[2]; /* uncertain after, silent after */
  struct step steps[MOST_STEPS];
};

static const struct row rows[] = {
  {"reports in order are accepted",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {1, ACCEPTED, {.t = 101, .seq = 1}},
    {2, ACCEPTED, {.t = 102, .seq = 2}}}},
  {"the first report may have any number",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 4000000000}}}},
  {"a gap is lost",
   {.lost = 3}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {4, ACCEPTED, {.t = 104, .seq = 4}}}},
  {"a gap over a stop or pause of the receiver is unheard, not lost; the next gap is lost again",
   {.unheard = 3, .lost = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {3, RESUMED, {0}},
    {4, ACCEPTED, {.t = 104, .seq = 4}},
    {6, ACCEPTED, {.t = 106, .seq = 6}}}},
  {"the same report by two roads: the first wins, the other is a duplicate and no refusal",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {0.001, DUPLICATE, {.t = 100, .seq = 0}},
    {1, ACCEPTED, {.t = 101, .seq = 1}},
    {1.5, DUPLICATE, {.t = 100, .seq = 0}}}},
  {"a late report takes back one lost, and coming twice it is a duplicate",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {2, ACCEPTED, {.t = 102, .seq = 2}},
    {2.1, LATE, {.t = 101, .seq = 1}},
    {2.2, DUPLICATE, {.t = 101, .seq = 1}}}},
  {"a late report from before the first one takes back nothing",
   {.lost = 3}, USUAL,
   {{0, ACCEPTED, {.t = 110, .seq = 10}},
    {0.1, LATE, {.t = 109, .seq = 9}},
    {4, ACCEPTED, {.t = 114, .seq = 14}}}},
  {"a late report from an unheard gap takes back one unheard",
   {.unheard = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {1, RESUMED, {0}},
    {3, ACCEPTED, {.t = 103, .seq = 3}},
    {3.1, LATE, {.t = 102, .seq = 2}},
    {3.2, DUPLICATE, {.t = 102, .seq = 2}}}},
  {"back by 63 is within the history, by 64 is a replay",
   {.lost = 98}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {1, ACCEPTED, {.t = 200, .seq = 100}},
    {1.1, LATE, {.t = 137, .seq = 37}},
    {1.2, REPLAY, {.t = 136, .seq = 36}}}},
  {"the number wraps at 2^32 without a loss",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 4294967295}},
    {1, ACCEPTED, {.t = 101, .seq = 0}},
    {3, ACCEPTED, {.t = 103, .seq = 2}},
    {3.1, LATE, {.t = 102, .seq = 1}}}},
  {"a later start on the same boot is a restart; counting of losses begins anew",
   {.restarts = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 50}},
    {1, ACCEPTED, {.start = 101, .t = 101, .seq = 3}},
    {2, ACCEPTED, {.start = 101, .t = 102, .seq = 4}}}},
  {"the old run beside the new one: not beyond is late, beyond is a rival while the new one is live",
   {.restarts = 2}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 50}},
    {1, ACCEPTED, {.start = 101, .t = 101, .seq = 0}},
    {1.1, LATE, {.t = 100.5, .seq = 51}},
    {1.5, RIVAL, {.t = 101.5, .seq = 52}},
    {5.5, RIVAL, {.t = 105.5, .seq = 56}},
    {5.6, ACCEPTED, {.t = 105.6, .seq = 57}}}},
  {"the old run is accepted at once when the new one has said goodbye",
   {.restarts = 2}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 50}},
    {1, ACCEPTED, {.start = 101, .t = 101, .seq = 0, .goodbye = true}},
    {1.5, ACCEPTED, {.t = 101.5, .seq = 52}}}},
  {"another boot is a rival until 4.5 s after the last report, and then a reboot",
   {.reboots = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {4.5, RIVAL, {.boot = 2, .start = 5, .t = 10, .seq = 0}},
    {4.501, ACCEPTED, {.boot = 2, .start = 5, .t = 10, .seq = 0}},
    {5.5, ACCEPTED, {.boot = 2, .start = 5, .t = 11, .seq = 1}}}},
  {"another boot after a goodbye is accepted at once",
   {.reboots = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0, .goodbye = true}},
    {0.5, ACCEPTED, {.boot = 2, .start = 5, .t = 10, .seq = 0}}}},
  {"with an interval of 10 s another boot is a rival until 45 s",
   {.reboots = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0, .interval = 10000}},
    {45, RIVAL, {.boot = 2, .start = 5, .t = 10, .seq = 0, .interval = 10000}},
    {45.001, ACCEPTED, {.boot = 2, .start = 5, .t = 10, .seq = 0, .interval = 10000}}}},
  {"of two intervals the shorter decides how long another boot is a rival",
   {.reboots = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0, .interval = 10000}},
    {4.501, ACCEPTED, {.boot = 2, .start = 5, .t = 10, .seq = 0, .interval = 1000}}}},
  {"two clones that both report: the first stays, the other is a rival for ever",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {0.5, RIVAL, {.boot = 2, .start = 5, .t = 10, .seq = 0}},
    {1, ACCEPTED, {.t = 101, .seq = 1}},
    {1.5, RIVAL, {.boot = 2, .start = 5, .t = 11, .seq = 1}},
    {2, ACCEPTED, {.t = 102, .seq = 2}}}},
  {"a machine restored from far back is a replay until 7.5 s after the last report, then a reset",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900}},
    {1, REPLAY, {.t = 200, .seq = 100}},
    {7.5, REPLAY, {.t = 206, .seq = 106}},
    {7.500000001, ACCEPTED, {.t = 207, .seq = 107}},
    {8.5, ACCEPTED, {.t = 208, .seq = 108}}}},
  {"a boot that comes back with an earlier time is not bound by what it reached before",
   {.reboots = 2}, USUAL,
   {{0, ACCEPTED, {.boot = 1, .t = 1000, .seq = 0}},
    {5, ACCEPTED, {.boot = 2, .start = 5, .t = 10, .seq = 0}},
    {10, ACCEPTED, {.boot = 1, .start = 60, .t = 100, .seq = 0}},
    {11, ACCEPTED, {.boot = 1, .start = 60, .t = 101, .seq = 1}},
    {12, ACCEPTED, {.boot = 1, .start = 60, .t = 102, .seq = 2}}}},
  {"a later start with an earlier time (a restored machine) is a restart, and goes on",
   {.restarts = 1}, USUAL,
   {{0, ACCEPTED, {.start = 50, .t = 1000, .seq = 0}},
    {1, ACCEPTED, {.start = 60, .t = 100, .seq = 0}},
    {2, ACCEPTED, {.start = 60, .t = 101, .seq = 1}}}},
  {"a stray later run with an interval of ten minutes keeps the own sender out for 4.5 s only",
   {.restarts = 2}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {0.5, ACCEPTED, {.start = 100.4, .t = 100.5, .seq = 0, .interval = 600000}},
    {1, RIVAL, {.t = 101, .seq = 1}},
    {5, RIVAL, {.t = 105, .seq = 5}},
    {6, ACCEPTED, {.t = 106, .seq = 6}},
    {7, ACCEPTED, {.t = 107, .seq = 7}}}},
  {"the very report that is held is never news, however late its copy",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {60, DUPLICATE, {.t = 100, .seq = 0}}}},
  {"a report after a long silence of the same run is the next one, and what is missing was lost",
   {.lost = 99}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {100, ACCEPTED, {.t = 200, .seq = 100}}}},
  {"a machine restored by a few reports, too: late or a duplicate until 7.5 s, then a reset",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {2, ACCEPTED, {.t = 102, .seq = 2}},
    {3, DUPLICATE, {.t = 100, .seq = 0}},
    {4, LATE, {.t = 101, .seq = 1}},
    {5, DUPLICATE, {.t = 102, .seq = 2}},
    {9.5, DUPLICATE, {.t = 101, .seq = 1}},
    {9.500000001, DUPLICATE, {.t = 102, .seq = 2}},
    {9.500000001, ACCEPTED, {.t = 101, .seq = 1}}}},
  {"an earlier run that is not beyond is late until 7.5 s, then a reset",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.start = 900, .t = 1000, .seq = 900}},
    {7.5, LATE, {.start = 50, .t = 206, .seq = 106}},
    {7.500000001, ACCEPTED, {.start = 50, .t = 207, .seq = 107}}}},
  {"a sender whose t_boot_ns goes back while it reports each second is heard long before 10.5 s, were two reports lost",
   {.resets = 2}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900}},
    {1, REPLAY, {.t = 201, .seq = 901}},
    {2, REPLAY, {.t = 202, .seq = 902}},
    {3, REPLAY, {.t = 203, .seq = 903}},
    {4, REPLAY, {.t = 204, .seq = 904}},
    {5, REPLAY, {.t = 205, .seq = 905}},
    {6, REPLAY, {.t = 206, .seq = 906}},
    {7, REPLAY, {.t = 207, .seq = 907}},
    {8, ACCEPTED, {.t = 208, .seq = 908}},
    {9, REPLAY, {.t = 109, .seq = 909}},
    {10, REPLAY, {.t = 110, .seq = 910}},
    {11, REPLAY, {.t = 111, .seq = 911}},
    {12, REPLAY, {.t = 112, .seq = 912}},
    {13, REPLAY, {.t = 113, .seq = 913}},
    {14, REPLAY, {.t = 114, .seq = 914}},
    {15, REPLAY, {.t = 115, .seq = 915}},
    {18, ACCEPTED, {.t = 118, .seq = 918}}}},
  {"with an interval of 10 s a reset is taken after 75 s",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900, .interval = 10000}},
    {75, REPLAY, {.t = 200, .seq = 100, .interval = 10000}},
    {75.000000001, ACCEPTED, {.t = 201, .seq = 101, .interval = 10000}}}},
  {"stray older reports after a goodbye, however many and however late, do not bring the node back",
   {0}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {3, ACCEPTED, {.t = 103, .seq = 3}},
    {4, ACCEPTED, {.t = 104, .seq = 4, .goodbye = true}},
    {4.5, LATE, {.t = 101, .seq = 1}},
    {21, DUPLICATE, {.t = 101, .seq = 1}},
    {40, LATE, {.t = 102, .seq = 2}},
    {40.3, DUPLICATE, {.t = 103, .seq = 3}},
    {41.3, DUPLICATE, {.t = 103, .seq = 3}},
    {41.4, REPLAY, {.t = 103.1, .seq = 5}},
    {42.3, LATE, {.start = 49, .t = 104, .seq = 4}},
    {43.3, DUPLICATE, {.t = 102, .seq = 2}},
    {44.3, DUPLICATE, {.t = 104, .seq = 4, .goodbye = true}}}},
  {"a machine that was restored from before its goodbye is accepted with the second report that continues the first",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900}},
    {1, ACCEPTED, {.t = 1001, .seq = 901, .goodbye = true}},
    {6, REPLAY, {.t = 200, .seq = 100}},
    {7.2, REPLAY, {.t = 201, .seq = 101}},
    {9.1, ACCEPTED, {.t = 203, .seq = 103}},
    {10, ACCEPTED, {.t = 204, .seq = 104}}}},
  {"also long after it, and with an interval of 10 s",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900, .goodbye = true}},
    {900, REPLAY, {.t = 200, .seq = 100, .interval = 10000}},
    {914.9, ACCEPTED, {.t = 210, .seq = 101, .interval = 10000}}}},
  {"also where each report is a run of its own, as with --once",
   {.resets = 1, .restarts = 1}, USUAL,
   {{0, ACCEPTED, {.start = 1000, .t = 1000, .seq = 0, .goodbye = true}},
    {600, LATE, {.start = 200, .t = 200, .seq = 0, .goodbye = true}},
    {1200, ACCEPTED, {.start = 800, .t = 800, .seq = 0, .goodbye = true}},
    {1800, ACCEPTED, {.start = 1400, .t = 1400, .seq = 0, .goodbye = true}}}},
  {"a stray report of a boot that is over does not bring a node back that said goodbye, and its second one does",
   {.reboots = 2}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900}},
    {10, ACCEPTED, {.boot = 2, .start = 5, .t = 10, .seq = 0}},
    {11, ACCEPTED, {.boot = 2, .start = 5, .t = 11, .seq = 1, .goodbye = true}},
    {12, REPLAY, {.t = 999, .seq = 899}},
    {30, REPLAY, {.t = 999, .seq = 899}},
    {40, REPLAY, {.t = 900, .seq = 800}},
    {41, ACCEPTED, {.t = 901, .seq = 801}}}},
  {"of two intervals the shorter decides when a reset is taken",
   {.resets = 2}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900, .interval = 10000}},
    {7.5, REPLAY, {.t = 200, .seq = 100}},
    {7.500000001, ACCEPTED, {.t = 201, .seq = 101}},
    {15.000000001, REPLAY, {.t = 101, .seq = 1, .interval = 600000}},
    {15.000000002, ACCEPTED, {.t = 102, .seq = 2, .interval = 600000}}}},
  {"with an interval below a second a reset waits as long as with one of a second",
   {.resets = 1}, USUAL,
   {{0, ACCEPTED, {.t = 1000, .seq = 900, .interval = 100}},
    {7.5, REPLAY, {.t = 200, .seq = 100, .interval = 100}},
    {7.500000001, ACCEPTED, {.t = 201, .seq = 101, .interval = 100}}}},
  {"with other limits a reset is taken in the middle between them",
   {.resets = 1}, {500, 1501},
   {{0, ACCEPTED, {.t = 1000, .seq = 900}},
    {1.0005, REPLAY, {.t = 200, .seq = 100}},
    {1.000500001, ACCEPTED, {.t = 201, .seq = 101}}}},
  {"with limits of days, and an interval of ten minutes, in the middle between them",
   {.resets = 1}, {86400000, 172800000},
   {{0, ACCEPTED, {.t = 1000000000, .seq = 900, .interval = 600000}},
    {77760000, REPLAY, {.t = 200, .seq = 100, .interval = 600000}},
    {77760000.000001, ACCEPTED, {.t = 201, .seq = 101, .interval = 600000}}}},
  {"with limits of centuries no reset is taken within a century",
   {0}, {6307200000000, 9145440000000},
   {{0, ACCEPTED, {.t = 1000000000, .seq = 900}},
    {1, REPLAY, {.t = 200, .seq = 100}},
    {3100000000, REPLAY, {.t = 201, .seq = 101}}}},
  {"each takes back what it was counted as, also after further gaps and beyond a gap longer than the history",
   {.unheard = 98, .lost = 1}, USUAL,
   {{0, ACCEPTED, {.t = 100, .seq = 0}},
    {1, RESUMED, {0}},
    {3, ACCEPTED, {.t = 103, .seq = 3}},
    {6, ACCEPTED, {.t = 106, .seq = 6}},
    {6.1, LATE, {.t = 101, .seq = 1}},
    {6.2, LATE, {.t = 104, .seq = 4}},
    {7, RESUMED, {0}},
    {106, ACCEPTED, {.t = 206, .seq = 106}},
    {106.1, LATE, {.t = 143, .seq = 43}},
    {107, ACCEPTED, {.t = 207, .seq = 107}},
    {107.1, LATE, {.t = 205, .seq = 105}}}},
};

static int64_t ns_of(double seconds) { return (int64_t)llround(seconds * 1e9); }

/* What a writer keeps of a node beside its state of order. */
struct node {
  struct bb_order order;
  uint16_t digests[64];
  int64_t resumed_ns;
  enum bb_auth_alg proof; /* of its reports */
  struct counts counts;
};

/* When the report of a step was made: at the first time that the row has it. */
static double made_at(const struct row *row, const struct step *step) {
  const struct step *first = row->steps;
  while (first->outcome == RESUMED || memcmp(&first->sent, &step->sent, sizeof step->sent) != 0) first++;
  return first->at;
}

static struct bb_report report_of(const struct row *row, const struct step *step) {
  const struct sent *sent = &step->sent;
  struct bb_report r = {.boot_id = sent->boot == 0 ? 1 : sent->boot, .seq = sent->seq};
  r.interval_ms = sent->interval == 0 ? 1000 : sent->interval;
  r.start_boot_ns = (uint64_t)ns_of(sent->start == 0 ? 50 : sent->start);
  r.t_boot_ns = (uint64_t)ns_of(sent->t);
  r.t_real_ns = (uint64_t)(REAL + ns_of(made_at(row, step)));
  if (sent->goodbye) r.flags = BB_FLAGS_GOODBYE;
  return r;
}

/* Judges a report as a writer does. */
static struct bb_judgement judge(struct node *n, const struct bb_report *r, int64_t at_ns,
                                 const struct bb_limits *limits) {
  const struct bb_stamp stamp = {NOW + at_ns, REAL + at_ns};
  n->order.remembered = n->digests[r->seq % 64];
  n->order.interrupted = n->order.stamp_ns < n->resumed_ns;
  const struct bb_judgement j = bb_order_judge(&n->order, r, n->proof, stamp, limits);
  if (j.is_of_number) n->digests[r->seq % 64] = bb_order_digest(r);
  n->counts.lost += j.lost - j.found_lost;
  n->counts.unheard += j.unheard - j.found_unheard;
  n->counts.restarts += j.verdict == BB_RESTART;
  n->counts.reboots += j.verdict == BB_REBOOT;
  n->counts.resets += j.verdict == BB_RESET;
  return j;
}

static bool is_outcome(const struct bb_judgement *j, enum outcome wanted) {
  if (j->verdict == BB_REFUSED) return wanted >= LATE && j->reason == reasons[wanted];
  return wanted == (j->verdict == BB_DUPLICATE ? DUPLICATE : ACCEPTED);
}

static void check_row(const struct row *row) {
  const struct bb_limits limits = {.uncertain_after_ns = row->limits_ms[0] * 1000000,
                                   .silent_after_ns = row->limits_ms[1] * 1000000};
  struct node n = {.resumed_ns = INT64_MIN};
  struct bb_report last = {0};
  for (const struct step *step = row->steps; step->outcome != END; step++) {
    if (step->outcome == RESUMED) {
      n.resumed_ns = NOW + ns_of(step->at);
      continue;
    }
    const struct bb_report r = report_of(row, step);
    const struct bb_judgement j = judge(&n, &r, ns_of(step->at), &limits);
    if (step->outcome == ACCEPTED) last = r;
    CHECK(is_outcome(&j, step->outcome), "%s: at %.9g s, seq %u: verdict %d, reason %d", row->rule, step->at, r.seq,
          (int)j.verdict, (int)j.reason);
  }
  CHECK(memcmp(&n.counts, &row->counts, sizeof n.counts) == 0,
        "%s: lost %u, unheard %u, restarts %u, reboots %u, resets %u", row->rule, n.counts.lost, n.counts.unheard,
        n.counts.restarts, n.counts.reboots, n.counts.resets);
  CHECK(n.order.seq == last.seq && n.order.t_boot_ns == last.t_boot_ns, "%s: the last accepted one is held", row->rule);
}

/* Limits that no multiple of an interval may overflow. */
static void check_centuries(unsigned interval) {
  const int64_t year_ms = INT64_C(365) * 24 * 3600 * 1000;
  const struct row row = {"limits of centuries", {0}, {200 * year_ms, 290 * year_ms},
                          {{0, ACCEPTED, {.t = 1e9, .seq = 900, .interval = interval}},
                           {1, REPLAY, {.t = 200, .seq = 100, .interval = interval}},
                           {2, RIVAL, {.boot = 2, .t = 200, .seq = 100, .interval = interval}},
                           {3.1e9, REPLAY, {.t = 201, .seq = 101, .interval = interval}},
                           {3.2e9, RIVAL, {.boot = 2, .t = 201, .seq = 101, .interval = interval}}}};
  check_row(&row);
}

/* Two machines that report in turns, with the same boot, start and numbers. */
static void check_two_machines(void) {
  const struct bb_limits limits = {.uncertain_after_ns = 4500000000, .silent_after_ns = 10500000000};
  struct node n = {.resumed_ns = INT64_MIN};
  unsigned clones = 0, others = 0;
  for (uint32_t i = 0; i < 20; i++) {
    struct bb_report r = {.boot_id = 1, .start_boot_ns = 50, .interval_ms = 1000, .seq = i};
    for (int machine = 0; machine < 2; machine++) {
      const int64_t at_ns = i * S + machine * S / 2;
      r.t_boot_ns = (uint64_t)(100 * S + i * S + machine);
      r.t_real_ns = (uint64_t)(REAL + at_ns);
      const struct bb_judgement j = judge(&n, &r, at_ns, &limits);
      others += j.is_of_another;
      clones += j.is_clone;
    }
  }
  CHECK(others >= 20, "%u reports of another machine", others);
  CHECK(clones > 0 && clones < 20, "%u that prove two machines: not the first turns", clones);
}

/* A proved report must be fresh by the wall clock where nothing else tells, and a weaker proof is no rival. */
static void check_proved(void) {
  const struct bb_limits limits = {
    .uncertain_after_ns = 4500000000, .silent_after_ns = 10500000000, .clock_window_ns = 300 * (uint64_t)S};
  struct bb_report r = {.boot_id = 1, .start_boot_ns = 50, .t_boot_ns = 100, .interval_ms = 1000};
  struct bb_order o = {0};
  const struct bb_stamp stamp = {NOW, REAL};
  r.t_real_ns = (uint64_t)(REAL + 301 * S);
  CHECK(bb_order_judge(&o, &r, BB_AUTH_ALG_NODE, stamp, &limits).reason == BB_REASON_CLOCK, "the first one: its clock");
  r.t_real_ns = (uint64_t)REAL;
  CHECK(bb_order_judge(&o, &r, BB_AUTH_ALG_NONE, stamp, &limits).verdict == BB_NEXT, "without a proof");
  r.boot_id = 2;
  r.t_boot_ns = 10;
  CHECK(bb_order_judge(&o, &r, BB_AUTH_ALG_NODE, stamp, &limits).verdict == BB_REBOOT,
        "what proves more need not wait");
  CHECK(o.known[0].boot_id == 2 && o.known[1].boot_id == 0, "what was not proved binds nobody");
  r.t_boot_ns = 9;
  CHECK(bb_order_judge(&o, &r, BB_AUTH_ALG_NODE, stamp, &limits).verdict != BB_NEXT, "not beyond");
}

/* The very report that is held is no reset, though its clock was out of the window when it came and is in it now. */
static void check_held_again(void) {
  const struct bb_limits limits = {
    .uncertain_after_ns = 4500000000, .silent_after_ns = 10500000000, .clock_window_ns = 300 * (uint64_t)S};
  struct node n = {.resumed_ns = INT64_MIN};
  struct bb_report r = {.boot_id = 1, .start_boot_ns = 50, .interval_ms = 1000};
  n.proof = BB_AUTH_ALG_NODE;
  r.t_boot_ns = (uint64_t)(100 * S);
  r.t_real_ns = (uint64_t)REAL;
  CHECK(judge(&n, &r, 0, &limits).verdict == BB_NEXT, "the first");
  r.seq = 1;
  r.t_boot_ns += (uint64_t)S;
  r.t_real_ns = (uint64_t)(REAL + 320 * S);
  CHECK(judge(&n, &r, S, &limits).verdict == BB_NEXT, "a run that goes on may have any clock");
  CHECK(judge(&n, &r, 25 * S, &limits).verdict == BB_DUPLICATE, "sent again within its window");
  r.seq = 0;
  CHECK(judge(&n, &r, 25 * S, &limits).verdict == BB_RESET, "another is taken");
}

/* A node's limit by its interval. */
static void check_limits(void) {
  static const struct {
    uint64_t limit_ns, longest_ms;
    uint32_t interval_ms;
    int64_t wanted_ns;
  } limits[] = {
    {4500000000, 0, 1000, 4500000000},
    {4500000000, 0, 100, 4500000000},
    {4500000000, 0, 1001, 4504500000},
    {4500000000, 0, 10000, 45000000000},
    {4500000001, 0, 1500, 6750000001},
    {4500000000, 60000, 600000, 270000000000},
    {4500000000, 1000, 600000, 270000000000}, /* no board has a shorter longest interval */
    {24 * 3600 * UINT64_C(1000000000), 0, 600000, 24 * 3600 * INT64_C(600000000000)},
    {UINT64_MAX, 0, 1000, INT64_MAX},
    {INT64_MAX, 0, 1001, INT64_MAX},
    {UINT64_MAX / 1000, 0, UINT32_MAX, INT64_MAX},
    {0, 0, 600000, 0},
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    const int64_t got = bb_limit_for(limits[i].limit_ns, limits[i].interval_ms, limits[i].longest_ms);
    CHECK(got == limits[i].wanted_ns, "limit %zu: %lld", i, (long long)got);
  }
  CHECK(!bb_clone_lasts(0, 1, 1000, 0), "no clone was ever seen");
  CHECK(bb_clone_lasts(1, 60000000001, 1000, 0), "after a minute");
  CHECK(!bb_clone_lasts(1, 60000000002, 1000, 0), "after more");
  CHECK(bb_clone_lasts(1, 600000000001, 10000, 0), "after sixty intervals");
}

static void check_known_boots(void) {
  struct bb_known_boot known[BB_KNOWN_BOOTS] = {{0}};
  for (uint64_t boot = 1; boot <= 7; boot++) bb_order_know(known, boot, boot);
  for (uint64_t i = 0; i < BB_KNOWN_BOOTS; i++) CHECK(known[i].boot_id == 7 - i, "the newest first: %d", (int)i);
  bb_order_know(known, 4, 40);
  CHECK(known[0].boot_id == 4 && known[0].highest_boot_ns == 40, "one that is known comes to the front");
  CHECK(known[1].boot_id == 7 && known[3].boot_id == 5 && known[4].boot_id == 3, "and leaves no hole");
}

static uint64_t seed;
static uint64_t next_random(void) { /* xorshift64 */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

/* A small number mostly, and sometimes any. */
static uint64_t any(void) { return next_random() % 8 == 0 ? next_random() : next_random() % 4; }

/* The state of order may have been read from a corrupt board: no report violates an invariant by it. */
static void check_any_state(void) {
  const char *text = getenv("SEED");
  const uint64_t given = text == NULL ? 44 : strtoull(text, NULL, 10);
  printf("SEED=%llu\n", (unsigned long long)given);
  seed = given * 2 + 1;
  const struct bb_limits limits = {
    .uncertain_after_ns = 1, .silent_after_ns = 3, .longest_interval_ms = 600000, .clock_window_ns = 2};
  unsigned verdicts[BB_REFUSED + 1] = {0};
  for (int i = 0; i < 1000000; i++) {
    struct bb_order o = {.heard = any() % 2, .goodbye = any() % 2, .interrupted = any() % 2, .same_address = any() % 2};
    o.start_boot_ns = any();
    o.history_seq = any();
    o.history = any();
    o.history_lost = any();
    for (int k = 0; k < BB_KNOWN_BOOTS; k++) o.known[k] = (struct bb_known_boot){any(), any()};
    o.proved = (enum bb_auth_alg)(any() % 4);
    o.stamp_ns = (int64_t)any();
    o.stamp_real_ns = (int64_t)any();
    o.seq = (uint32_t)any();
    o.interval_ms = (uint32_t)any();
    o.t_boot_ns = any();
    o.t_real_ns = any();
    o.back = (struct bb_return){any(), any(), any(), (int64_t)any(), (uint32_t)any()};
    o.turns = (struct bb_turns){any() % 2, (uint8_t)any(), (uint8_t)any()};
    o.remembered = (uint16_t)any();
    struct bb_report r = {.boot_id = any(), .start_boot_ns = any(), .t_boot_ns = any(), .t_real_ns = any()};
    r.seq = (uint32_t)any();
    r.interval_ms = 100 + (uint32_t)(any() % 600000);
    r.flags = any() % 2 == 0 ? 0 : BB_FLAGS_GOODBYE;
    const struct bb_stamp stamp = {(int64_t)any(), (int64_t)any()};
    verdicts[bb_order_judge(&o, &r, (enum bb_auth_alg)(any() % 3), stamp, &limits).verdict]++;
  }
  for (int v = 0; v <= BB_REFUSED; v++) CHECK(verdicts[v] > 100, "verdict %d: %u times", v, verdicts[v]);
}

int main(void) {
  static const unsigned intervals[] = {1001, 1537, 2000, 4096, 10000, 65536, 600000};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_row(&rows[i]);
  for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) check_centuries(intervals[i]);
  check_two_machines();
  check_proved();
  check_held_again();
  check_limits();
  check_known_boots();
  check_any_state();
  return checked();
}

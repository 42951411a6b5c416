#include "order.h"

#include <string.h>

#define HISTORY 64u

/* A limit for a node of this interval: in its own intervals when these are longer than a second. */
static int64_t limit(int64_t limit_ns, uint32_t interval_ms) {
  return interval_ms > 1000 ? limit_ns / 1000 * interval_ms : limit_ns;
}

void bb_order_know(struct bb_known_boot known[BB_KNOWN_BOOTS], uint64_t boot_id, uint64_t t_boot_ns) {
  int at = 0;
  while (at < BB_KNOWN_BOOTS - 1 && known[at].boot_id != boot_id) at++;
  memmove(&known[1], &known[0], (size_t)at * sizeof known[0]);
  known[0] = (struct bb_known_boot){boot_id, t_boot_ns};
}

static void remember(struct bb_order *o, const struct bb_report *r, int64_t stamp_ns) {
  o->heard = true;
  o->stamp_ns = stamp_ns;
  o->seq = r->seq;
  o->interval_ms = r->interval_ms;
  o->t_boot_ns = r->t_boot_ns;
  o->goodbye = (r->flags & BB_FLAGS_GOODBYE) != 0;
}

/* Begins a run: what came before it is neither lost nor late. Without keys nothing earlier of this boot binds it: a higher
 * t_boot_ns of a run that is over would refuse the reports of the one that was just accepted. */
static struct bb_judgement begin(struct bb_order *o, const struct bb_report *r, int64_t stamp_ns, enum bb_verdict verdict) {
  bb_order_know(o->known, r->boot_id, r->t_boot_ns);
  o->start_boot_ns = r->start_boot_ns;
  o->history_seq = r->seq;
  o->history = 1;
  o->history_lost = 0;
  remember(o, r, stamp_ns);
  return (struct bb_judgement){.verdict = verdict};
}

static struct bb_judgement refuse(enum bb_reason reason) {
  return (struct bb_judgement){.verdict = BB_REFUSED, .reason = reason};
}

/* The next report of the run: counts what is missing between the last one and this. */
static struct bb_judgement next(struct bb_order *o, const struct bb_report *r, int64_t stamp_ns, const struct bb_limits *limits) {
  struct bb_judgement judgement = {.verdict = BB_NEXT};
  const uint32_t ahead = r->seq - (uint32_t)o->history_seq;
  if (ahead == 0 || ahead >= UINT32_C(1) << 31) { /* a later time with no later number: count afresh */
    o->history = 1;
    o->history_lost = 0;
  } else {
    const uint32_t missing = ahead - 1;
    const bool unheard = o->stamp_ns < limits->resumed_ns;
    if (unheard) judgement.unheard = missing;
    else judgement.lost = missing;
    o->history = ahead < HISTORY ? o->history << ahead | 1 : 1;
    o->history_lost = ahead < HISTORY ? o->history_lost << ahead : 0;
    if (!unheard && missing > 0) {
      const uint64_t gap = missing < HISTORY - 1 ? (UINT64_C(1) << missing) - 1 : ~UINT64_C(0) >> 1;
      o->history_lost |= gap << 1;
    }
  }
  o->history_seq = r->seq;
  if (r->t_boot_ns > o->known[0].highest_boot_ns) o->known[0].highest_boot_ns = r->t_boot_ns;
  remember(o, r, stamp_ns);
  return judgement;
}

/* A report of the current run that is not beyond the newest: seen before, or overtaken on its way. */
static struct bb_judgement earlier(struct bb_order *o, const struct bb_report *r) {
  const uint32_t back = (uint32_t)o->history_seq - r->seq;
  if (back >= HISTORY) return refuse(BB_REASON_REPLAY);
  const uint64_t bit = UINT64_C(1) << back;
  if (o->history & bit) return (struct bb_judgement){.verdict = BB_DUPLICATE};
  struct bb_judgement judgement = refuse(BB_REASON_LATE);
  judgement.found = (o->history_lost & bit) != 0;
  o->history |= bit;
  o->history_lost &= ~bit;
  return judgement;
}

struct bb_judgement bb_order_judge(struct bb_order *o, const struct bb_report *r, int64_t stamp_ns,
                                   const struct bb_limits *limits) {
  if (!o->heard) return begin(o, r, stamp_ns, BB_NEXT);
  const int64_t age = (int64_t)((uint64_t)stamp_ns - (uint64_t)o->stamp_ns);
  const bool same_boot = r->boot_id == o->known[0].boot_id;
  const bool same_run = same_boot && r->start_boot_ns == o->start_boot_ns;
  const bool beyond = r->t_boot_ns > o->known[0].highest_boot_ns;
  /* Without keys these rules are order, not security: nobody is locked out for longer than this. The very report that we hold is never
   * news, however late its copy. */
  const bool held = same_run && r->seq == o->seq && r->t_boot_ns == o->t_boot_ns;
  /* Of both intervals the shorter decides how long the one report keeps out the other: a stray report with an interval of ten minutes
   * must not keep the node's own sender out for an hour. */
  const uint32_t shorter = r->interval_ms < o->interval_ms ? r->interval_ms : o->interval_ms;
  const bool reset = !held && age > limit(limits->silent_after_ns, shorter);

  if (same_run) {
    if (beyond) return next(o, r, stamp_ns, limits);
    return reset ? begin(o, r, stamp_ns, BB_RESET) : earlier(o, r);
  }
  if (same_boot) {
    if (r->start_boot_ns > o->start_boot_ns) return begin(o, r, stamp_ns, BB_RESTART);
    if (!beyond) return reset ? begin(o, r, stamp_ns, BB_RESET) : refuse(BB_REASON_LATE);
    const bool live = age <= limit(limits->uncertain_after_ns, shorter);
    return live && !o->goodbye ? refuse(BB_REASON_RIVAL) : begin(o, r, stamp_ns, BB_RESTART);
  }
  if (!o->goodbye && age <= limit(limits->uncertain_after_ns, shorter)) return refuse(BB_REASON_RIVAL);
  return begin(o, r, stamp_ns, BB_REBOOT);
}

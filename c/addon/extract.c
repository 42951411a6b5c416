#include "extract.h"

#include <math.h>
#include <string.h>

#include "../judge/lastwords.h"
#include "../judge/rates.h"

/* Bytes of a value in the report; 0: `at` says something else. */
static const uint8_t widths[BB_EXTRACT_KINDS] = {
    [BB_EXTRACT_U8] = 1,  [BB_EXTRACT_U16] = 2, [BB_EXTRACT_U32] = 4,      [BB_EXTRACT_I16] = 2,
    [BB_EXTRACT_I32] = 4, [BB_EXTRACT_U64] = 8, [BB_EXTRACT_RATE_U32] = 4, [BB_EXTRACT_RATE_U64] = 8};

static bool is_wanted(const struct bb_wanted *w, size_t places) {
  if (w->what >= BB_EXTRACT_KINDS || w->place >= places || (w->set != BB_EXTRACT_ALWAYS && w->set >= 64)) return false;
  if (w->what == BB_EXTRACT_BIT) return w->at < 8 * sizeof(struct bb_report);
  if (w->what == BB_EXTRACT_SHARE) return w->at >> BB_CPU_KINDS == 0;
  if (w->what == BB_EXTRACT_TRAFFIC) return w->at < BB_TRAFFIC_KINDS;
  return w->at <= sizeof(struct bb_report) - widths[w->what];
}

bool bb_extract_check(const struct bb_wanted *wanted, size_t count, size_t places) {
  for (size_t i = 0; i < count; i++)
    if (!is_wanted(&wanted[i], places)) return false;
  return true;
}

/* A node's two reports, and what several values are taken from: computed once, and only if it is asked for. */
struct pair {
  const struct bb_report *before, *after;
  struct bb_span span;
  bool moves, has_shares, has_traffic;
  double share[BB_CPU_KINDS], traffic[BB_TRAFFIC_KINDS];
};

static double rate_of(const struct pair *p, const struct bb_wanted *w) {
  if (w->of_run && !bb_is_same_run(&p->span)) return NAN;
  return bb_moved_at(p->before, p->after, w->at, widths[w->what]) / (w->slow ? p->span.slow : p->span.seconds);
}

static double share_of(struct pair *p, uint32_t kinds) {
  if (!p->has_shares) bb_shares_of(&p->span, p->share);
  p->has_shares = true;
  double sum = 0;
  for (uint32_t i = 0; i < BB_CPU_KINDS; i++)
    if (kinds >> i & 1) sum += p->share[i];
  return sum;
}

static double traffic_of(struct pair *p, uint32_t number) {
  if (!p->has_traffic) bb_traffic_of(&p->span, p->traffic);
  p->has_traffic = true;
  return p->traffic[number];
}

static double value_of(struct pair *p, const struct bb_wanted *w) {
  if (w->what >= BB_EXTRACT_RATE_U32) {
    if (!p->moves || (w->set != BB_EXTRACT_ALWAYS && (p->span.valid >> w->set & 1) == 0)) return NAN;
    if (w->what == BB_EXTRACT_SHARE) return share_of(p, w->at);
    return w->what == BB_EXTRACT_TRAFFIC ? traffic_of(p, w->at) : rate_of(p, w);
  }
  if (w->set != BB_EXTRACT_ALWAYS && (p->after->valid >> w->set & 1) == 0) return NAN;
  switch (w->what) {
  case BB_EXTRACT_U8: return (double)bb_number_at(p->after, w->at, 1);
  case BB_EXTRACT_U16: return (double)bb_number_at(p->after, w->at, 2);
  case BB_EXTRACT_U32: return (double)bb_number_at(p->after, w->at, 4);
  case BB_EXTRACT_I16: return (int16_t)bb_number_at(p->after, w->at, 2);
  case BB_EXTRACT_BIT: return (double)(bb_number_at(p->after, w->at / 8, 1) >> w->at % 8 & 1);
  case BB_EXTRACT_I32: return (int32_t)bb_number_at(p->after, w->at, 4);
  default: return (double)bb_number_at(p->after, w->at, 8);
  }
}

void bb_extract(const struct bb_wanted *wanted, const struct bb_scale *scale, size_t count,
                const struct bb_report *before, const struct bb_report *after, double *values) {
  struct pair p;
  p.before = before;
  p.after = after;
  p.has_shares = p.has_traffic = false;
  p.moves = before != NULL && bb_span_of(before, after, &p.span);
  for (size_t i = 0; i < count; i++) {
    const double value = value_of(&p, &wanted[i]), per = scale[i].per;
    values[wanted[i].place] = per == 0 ? value * scale[i].by : value / per;
  }
}

uint32_t bb_extract_words(const struct bb_report *before, const struct bb_report *after) {
  return bb_last_words(after, before);
}

/* /proc/stat: CPU times of all CPUs, and the scheduler's counters. Skips the lines of single CPUs: see cpugroups.c. */
#include "parse.h"

/* The kernel shows times in ticks of USER_HZ, which is 100 on every architecture that we run on. */
#define MS_PER_TICK 10u

enum { CPU, CTXT, INTR, FORKS, RUNNING, BLOCKED, LINES };

static const struct span keys[LINES] = {
  SPAN_TEXT("cpu "), SPAN_TEXT("ctxt "), SPAN_TEXT("intr "),
  SPAN_TEXT("processes "), SPAN_TEXT("procs_running "), SPAN_TEXT("procs_blocked "),
};

static uint64_t ms(uint64_t ticks) { return saturated_64((bb_wide)ticks * MS_PER_TICK); }

/* Everything is required: every kernel since 2.6.11 has it, and a text without it was cut. CPUs that never did
 * anything, not even nothing, were not counted. Counts below zero, as some kernels have them, are left out. */
enum parsed parse_stat(struct span text, struct span rest, struct bb_report *report, struct stat_times *times) {
  struct span after[LINES] = {{0}};
  const struct span cpus = {text.at, text.len - rest.len};
  line_after(cpus, keys[CPU], &after[CPU]);
  for (struct span left = rest, line; next_line(&left, &line);)
    for (unsigned i = 0; i < LINES; i++)
      if (after[i].at == NULL && begins(line, keys[i])) after[i] = without(line, keys[i].len);

  uint64_t any = 0;
  for (unsigned i = 0; i < TICKS; i++) {
    struct span word;
    if (after[CPU].at == NULL || !next_word(&after[CPU], &word) || !text_u64(word, &times->ticks[i])) return REFUSED;
    any |= times->ticks[i];
  }
  if (any == 0) return REFUSED;
  enum parsed parsed = WHOLE;
  uint64_t value[LINES];
  for (unsigned i = CTXT; i < LINES; i++) {
    if (after[i].at == NULL) return REFUSED;
    bool is_negative;
    struct span word = after[i];
    if (i == INTR) next_part(&after[i], ' ', &word); /* the sum of the many numbers after it */
    if (!text_natural(word, i < RUNNING ? UINT64_MAX : INT32_MAX, &value[i], &is_negative)) return REFUSED;
    if (is_negative) parsed = IN_PART;
  }
  report->cpu_user_ms = ms(times->ticks[TICKS_USER]);
  report->cpu_nice_ms = ms(times->ticks[TICKS_NICE]);
  report->cpu_system_ms = ms(times->ticks[TICKS_SYSTEM]);
  report->cpu_idle_ms = ms(times->ticks[TICKS_IDLE]);
  report->cpu_iowait_ms = ms(times->ticks[TICKS_IOWAIT]);
  report->cpu_irq_ms = ms(times->ticks[TICKS_IRQ]);
  report->cpu_softirq_ms = ms(times->ticks[TICKS_SOFTIRQ]);
  report->cpu_steal_ms = ms(times->ticks[TICKS_STEAL]);
  report->ctxt = value[CTXT];
  report->intr = value[INTR];
  report->forks = value[FORKS];
  report->runnable = saturated_32(value[RUNNING]);
  report->blocked = saturated_32(value[BLOCKED]);
  return parsed;
}

bool cpu_share(const struct stat_times *before, const struct stat_times *now, struct bb_report *report) {
  bb_wide total = 0, busy = 0, iowait = 0;
  for (unsigned i = 0; i < TICKS; i++) {
    /* The kernel lets iowait (and with it idle) decrease a little; a negative difference counts as 0. */
    const uint64_t passed = now->ticks[i] > before->ticks[i] ? now->ticks[i] - before->ticks[i] : 0;
    total += passed;
    if (i == TICKS_IOWAIT) iowait += passed;
    else if (i != TICKS_IDLE) busy += passed;
  }
  if (total == 0) return false;
  report->cpu_busy_pm = thousandths(busy, total);
  report->cpu_iowait_pm = thousandths(iowait, total);
  return true;
}

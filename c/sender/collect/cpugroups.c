/* CPU groups: the packages of a node, each with its shares and its busiest CPU. Refuses to report single CPUs. */
#include "parse.h"

/* Ticks of one CPU since boot. Numbers have at most 15 digits, so that no sum of eight overflows. */
struct times {
  uint64_t idle, iowait, busy, user, system;
  uint64_t tick; /* in which it was seen */
};

/* A CPU's number has five digits at most. */
#define MOST_NUMBERS 100000u

/* Of this tick and of the one before, by turns; only what is used of them costs memory. */
static struct times all[MOST_NUMBERS][2] LARGE;
/* Of the last two texts that were taken; 0: there is none. */
static uint64_t tick, now, before;
/* CPUs in the last text, in the one before, and in both. */
static unsigned cpus_now, cpus_before, cpus_of_both;

static bool parse_line(struct span line, unsigned *cpu, uint64_t number[TICKS]) {
  struct span left = line, digits;
  uint64_t id;
  if (!eat(&left, SPAN("cpu")) || !eat_digits(&left, 1, 5, &digits) || !text_u64(digits, &id)) return false;
  unsigned count = 0;
  while (eat(&left, SPAN(" "))) {
    uint64_t value;
    if (!eat_digits(&left, 1, 15, &digits) || !text_u64(digits, &value)) return false;
    if (count < TICKS) number[count] = value;
    count++;
  }
  *cpu = (unsigned)id;
  return count >= TICKS && left.len == 0;
}

void groups_forget(void) {
  before = now;
  now = 0;
}

bool groups_same(void) {
  if (before == 0 || now == 0) return before == now;
  return cpus_now == cpus_before && cpus_of_both == cpus_now;
}

bool groups_take(struct span text) {
  before = now;
  now = 0;
  tick++;
  cpus_before = cpus_now;
  cpus_now = cpus_of_both = 0;
  for (struct span left = text, line; next_line(&left, &line);) {
    unsigned cpu;
    uint64_t t[TICKS];
    if (!begins(line, SPAN("cpu"))) break; /* they come first, and the line of interrupts is long */
    if (!parse_line(line, &cpu, t)) {
      if (begins(line, SPAN("cpu "))) continue;
      return false;
    }
    if (all[cpu][tick & 1].tick != tick) {
      cpus_now++;
      cpus_of_both += before != 0 && all[cpu][before & 1].tick == before;
    }
    const uint64_t user = t[TICKS_USER] + t[TICKS_NICE], system = t[TICKS_SYSTEM] + t[TICKS_IRQ] + t[TICKS_SOFTIRQ];
    all[cpu][tick & 1] = (struct times){t[TICKS_IDLE], t[TICKS_IOWAIT], user + system + t[TICKS_STEAL], user, system, tick};
  }
  if (cpus_now > 0) now = tick;
  return cpus_now > 0;
}

/* The kernel lets idle and iowait go back a little; a negative difference is no time. */
static uint64_t grown(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

static uint16_t share(bb_wide part, bb_wide whole) { return whole > 0 ? thousandths(part, whole) : 0; }

bool groups_share(const struct topology *topology, struct bb_report *report) {
  if (before == 0 || now == 0 || topology == NULL) return false;
  struct {
    bb_wide total, busy, user, system, iowait;
    uint16_t busiest;
  } sum[MOST_GROUPS] = {{0}};
  bb_wide passed = 0;
  for (unsigned i = 0; i < topology->online; i++) {
    const struct times *both = all[topology->cpu[i].number], *from = &both[before & 1], *to = &both[now & 1];
    if (from->tick != before || to->tick != now) continue; /* came or went between the two */
    const unsigned g = topology->cpu[i].group;
    const uint64_t busy = grown(from->busy, to->busy), iowait = grown(from->iowait, to->iowait);
    const uint64_t total = busy + iowait + grown(from->idle, to->idle);
    sum[g].total += total;
    sum[g].busy += busy;
    sum[g].iowait += iowait;
    sum[g].user += grown(from->user, to->user);
    sum[g].system += grown(from->system, to->system);
    passed += total;
    const uint16_t busiest = share(busy, total);
    if (busiest > sum[g].busiest) sum[g].busiest = busiest;
  }
  if (passed == 0) return false;
  for (unsigned g = 0; g < topology->groups; g++) {
    report->group[g].busy_pm = share(sum[g].busy, sum[g].total);
    report->group[g].user_pm = share(sum[g].user, sum[g].total);
    report->group[g].system_pm = share(sum[g].system, sum[g].total);
    report->group[g].iowait_pm = share(sum[g].iowait, sum[g].total);
    report->group[g].busiest_pm = sum[g].busiest;
  }
  return true;
}

/* CPU groups: the packages of a node, each with its shares and its busiest CPU. Does not report single CPUs. */
#include "parse.h"

/* Ticks of one CPU since boot, modulo 2^32: only differences are used, and no CPU makes 2^31 ticks (248 days)
 * between two reports. The values of 512 CPUs have left the processor's caches a second later, so half the memory
 * takes half the time. */
struct times {
  uint32_t idle, iowait, busy, user, system;
  uint32_t tick; /* the text in which it was seen */
};

/* A CPU's number has five digits at most. */
#define MOST_NUMBERS 100000u

/* For this tick and the last one, alternating; only the used part costs memory. */
static struct times all[MOST_NUMBERS][2] LARGE;
/* For the last two accepted texts; 0: there is none. */
static uint32_t tick, now, before;
/* The number of CPUs in the last text, in the one before, and in both. */
static unsigned cpus_now, cpus_before, cpus_of_both;

/* Parses the line of one CPU to its end; false, without a step, if something else follows. In one pass, without
 * looking for the end first: the lines of 512 CPUs are most of what a sender reads. */
static bool eat_line(struct span *text, unsigned *cpu, uint64_t number[TICKS]) {
  struct span left = *text;
  uint64_t value;
  if (!eat(&left, SPAN("cpu")) || !eat_number(&left, 5, &value)) return false;
  *cpu = (unsigned)value;
  unsigned count = 0;
  for (; left.len > 0 && left.at[0] == ' '; count++) {
    left = without(left, 1);
    if (!eat_number(&left, 15, &value)) return false;
    if (count < TICKS) number[count] = value;
  }
  if (count < TICKS || left.len == 0 || left.at[0] != '\n') return false;
  *text = without(left, 1);
  return true;
}

void groups_forget(void) { now = 0; }

bool groups_same(void) {
  if (before == 0 || now == 0) return before == now;
  return cpus_now == cpus_before && cpus_of_both == cpus_now;
}

bool groups_take(struct span text, struct span *rest) {
  before = now;
  now = 0;
  tick++;
  cpus_before = cpus_now;
  cpus_now = cpus_of_both = 0;
  /* They are at the beginning, and the line of interrupts is long. */
  for (*rest = text; begins(*rest, SPAN("cpu"));) {
    unsigned cpu;
    uint64_t t[TICKS];
    if (!eat_line(rest, &cpu, t)) {
      struct span after = *rest, line;
      if (!next_line(&after, &line)) break;
      if (!begins(line, SPAN("cpu "))) return false;
      *rest = after;
      continue;
    }
    if (all[cpu][tick & 1].tick != tick) {
      cpus_now++;
      cpus_of_both += before != 0 && all[cpu][before & 1].tick == before;
    }
    const uint64_t user = t[TICKS_USER] + t[TICKS_NICE], system = t[TICKS_SYSTEM] + t[TICKS_IRQ] + t[TICKS_SOFTIRQ];
    all[cpu][tick & 1] = (struct times){
      .idle = (uint32_t)t[TICKS_IDLE],
      .iowait = (uint32_t)t[TICKS_IOWAIT],
      .busy = (uint32_t)(user + system + t[TICKS_STEAL]),
      .user = (uint32_t)user,
      .system = (uint32_t)system,
      .tick = tick,
    };
  }
  if (cpus_now > 0) now = tick;
  return cpus_now > 0;
}

/* The kernel lets idle and iowait decrease a little; a negative difference counts as 0. */
static uint64_t grown(uint32_t from, uint32_t to) { return to - from < UINT32_C(1) << 31 ? to - from : 0; }

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
    if (from->tick != before || to->tick != now) continue; /* added or removed between the two */
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

/* CPU groups: the packages of a node, each with its shares and its busiest CPU. Does not report single CPUs. */
#include "parse.h"

/* Ticks of one CPU since boot, modulo 2^32: only differences are used, and no CPU makes 2^31 ticks (248 days)
 * between two reports. The values of 512 CPUs have left the processor's caches a second later, so half the memory
 * takes half the time. */
struct times {
  uint32_t idle, iowait, busy, user, system;
  uint32_t tick; /* the text in which it was seen */
};

#define CPU_DIGITS 5u
#define MOST_NUMBERS 100000u

/* For this tick and the last one, alternating; only the used part costs memory. */
static struct times all[MOST_NUMBERS][2] LARGE;
/* For the last two accepted texts; 0: there is none. */
static uint32_t tick, now, before;
/* The number of CPUs in the last text, in the one before, and in both. */
static unsigned cpus_now, cpus_before, cpus_of_both;

/* What the times of a CPU are added up to, and to which sum each column belongs. */
enum { IDLE, IOWAIT, USER, SYSTEM, STEAL, SUMS };
static const uint8_t sum_of[TICKS] = {
  [TICKS_USER] = USER,     [TICKS_NICE] = USER,  [TICKS_SYSTEM] = SYSTEM,  [TICKS_IDLE] = IDLE,
  [TICKS_IOWAIT] = IOWAIT, [TICKS_IRQ] = SYSTEM, [TICKS_SOFTIRQ] = SYSTEM, [TICKS_STEAL] = STEAL,
};

#define TIME_DIGITS 15u
/* The bytes that are searched in one step. */
#define WINDOW 64u
/* The longest line up to its last time, and what a step can reach behind it. */
#define HEAD (3 + CPU_DIGITS + 1 + TICKS * (TIME_DIGITS + 1) + WINDOW)

#define IN_EACH_BYTE UINT64_C(0x0101010101010101)

/* One bit for each of 64 bytes that is not a digit. A machine with 512 CPUs has five thousand numbers in /proc/stat,
 * whose lengths no processor can predict: where all ends are found at once, it need not wait for one to look at the
 * next. */
static inline uint64_t others_in(const char *at) {
  uint64_t others = 0;
  for (unsigned i = 0; i < WINDOW; i += 8) {
    uint64_t bytes;
    memcpy(&bytes, at + i, 8);
    bytes ^= IN_EACH_BYTE * '0'; /* digits become 0 to 9, and everything else more */
    const uint64_t more = (((bytes & IN_EACH_BYTE * 0x7f) + IN_EACH_BYTE * (0x7f - 9)) | bytes) & IN_EACH_BYTE << 7;
    /* The product has the bits of all bytes in its highest byte. */
    others |= (more >> 7) * UINT64_C(0x0102040810204080) >> 56 << i;
  }
  return others;
}

/* The values of 1 to 8 digits, one in each byte, the last one in the highest. */
static inline uint64_t digits_at(const char *at, size_t count) {
  uint64_t bytes;
  memcpy(&bytes, at, 8);
  return (bytes ^ IN_EACH_BYTE * '0') << (64 - 8 * count);
}

/* The number that they are, or the sum of up to six numbers whose digits were added. Pairs, then fours, then all eight
 * are put together in parallel. */
static inline uint32_t number_of(uint64_t digits) {
  const uint64_t low = UINT64_C(0x00ff00ff00ff00ff);
  const uint64_t pairs = (digits & low) * 10 + (digits >> 8 & low);
  const uint64_t fours = (pairs * (1 + (UINT64_C(100) << 16)) >> 16) & UINT64_C(0x0000ffff0000ffff);
  return (uint32_t)(fours * (1 + (UINT64_C(10000) << 32)) >> 32);
}

/* A place in a line of numbers. */
struct place {
  const char *at, *window;
  uint64_t others; /* in the window, not before the place */
};

/* Steps over a number and the character behind it, and returns how many digits it has: perhaps none, or too many. */
static inline size_t step(struct place *place) {
  if (place->others == 0) {
    place->window = place->at;
    place->others = others_in(place->at);
    if (place->others == 0) return WINDOW;
  }
  const char *end = place->window + __builtin_ctzll(place->others);
  const size_t digits = (size_t)(end - place->at);
  place->others &= place->others - 1;
  place->at = end + 1;
  return digits;
}

/* Parses the line of one CPU to its end, in one pass; false, without a step, if something else follows. */
static bool eat_line(struct span *text, unsigned *cpu, uint32_t sums[SUMS]) {
  char copy[HEAD];
  const char *line = text->at;
  if (text->len < HEAD) { /* nothing behind the text may be read */
    memset(copy, 0, sizeof copy);
    memcpy(copy, line, text->len);
    line = copy;
  }
  if (line[0] != 'c' || line[1] != 'p' || line[2] != 'u') return false;
  struct place place = {.at = line + 3};
  size_t count = step(&place);
  if (count == 0 || count > CPU_DIGITS) return false;
  *cpu = number_of(digits_at(line + 3, count));
  uint64_t digits[SUMS] = {0};
  uint32_t above[SUMS] = {0}; /* of numbers with more than eight digits: those before the last eight */
  for (unsigned i = 0; i < TICKS; i++) {
    const char *at = place.at;
    if (at[-1] != ' ') return false;
    count = step(&place);
    if (count == 0 || count > TIME_DIGITS) return false;
    if (count > 8) {
      above[sum_of[i]] += number_of(digits_at(at, count - 8));
      at += count - 8;
      count = 8;
    }
    digits[sum_of[i]] += digits_at(at, count);
  }
  /* More columns follow, whose values do not matter. */
  struct span rest = without(*text, (size_t)(place.at - line));
  char by = place.at[-1];
  while (by == ' ') {
    if (!eat_digits(&rest, 1, TIME_DIGITS, NULL) || rest.len == 0) return false;
    by = rest.at[0];
    rest = without(rest, 1);
  }
  if (by != '\n') return false;
  for (unsigned i = 0; i < SUMS; i++) sums[i] = above[i] * UINT32_C(100000000) + number_of(digits[i]);
  *text = rest;
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
  for (*rest = text;;) {
    unsigned cpu;
    uint32_t sums[SUMS];
    if (!eat_line(rest, &cpu, sums)) {
      struct span after = *rest, line;
      if (!begins(after, SPAN("cpu")) || !next_line(&after, &line)) break;
      if (!begins(line, SPAN("cpu "))) return false;
      *rest = after;
      continue;
    }
    if (all[cpu][tick & 1].tick != tick) {
      cpus_now++;
      cpus_of_both += before != 0 && all[cpu][before & 1].tick == before;
    }
    all[cpu][tick & 1] = (struct times){
      .idle = sums[IDLE],
      .iowait = sums[IOWAIT],
      .busy = sums[USER] + sums[SYSTEM] + sums[STEAL],
      .user = sums[USER],
      .system = sums[SYSTEM],
      .tick = tick,
    };
  }
  if (cpus_now > 0) now = tick;
  return cpus_now > 0;
}

/* The kernel lets idle and iowait decrease a little; a negative difference counts as 0. */
static uint64_t grown(uint32_t from, uint32_t to) { return to - from < UINT32_C(1) << 31 ? to - from : 0; }

static uint16_t share(uint64_t part, uint64_t whole) { return whole > 0 ? thousandths(part, whole) : 0; }

bool groups_share(const struct topology *topology, struct bb_report *report) {
  if (before == 0 || now == 0 || topology == NULL) return false;
  struct {
    uint64_t total, busy, user, system, iowait; /* of 2^16 CPUs with 2^31 ticks each */
    uint16_t busiest;
  } sum[MOST_GROUPS] = {{0}};
  uint64_t passed = 0;
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
    /* A division only where it can be more. */
    if (busy * 1000 > sum[g].busiest * total) sum[g].busiest = share(busy, total);
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

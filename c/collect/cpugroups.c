/* CPU groups: the packages of a node, each with its shares and its busiest CPU. Does not report single CPUs. */
#include "../base/say.h"
#include "parse.h"

/* What a CPU did since boot, in the kernel's ticks. The values of 512 CPUs have left the processor's caches a second
 * later, so they are kept once: the next text is compared while it is parsed. */
struct times {
  uint64_t ticks[TICKS];
  uint32_t tick; /* the text in which they were seen */
};

#define CPU_DIGITS 5u

/* Rows of `times`, by the number of the CPU. */
static struct room all;
static bool all_told;
/* For the last two accepted texts; 0: there is none. */
static uint32_t tick, now, before;
/* The number of CPUs in the last text, in the one before, and in both. */
static unsigned cpus_now, cpus_before, cpus_of_both;

/* How much the times of a group's CPUs have grown from one text to the other. */
static struct growth {
  bb_wide total, busy, user, system, iowait;
  uint16_t busiest;
} growth[MOST_GROUPS];

/* The digits of a 64-bit number. */
#define TIME_DIGITS 20u
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

/* The number that they are. Pairs, then fours, then all eight are put together in parallel. */
static inline uint32_t number_of(uint64_t digits) {
  const uint64_t low = UINT64_C(0x00ff00ff00ff00ff);
  const uint64_t pairs = (digits & low) * 10 + (digits >> 8 & low);
  const uint64_t fours = (pairs * (1 + (UINT64_C(100) << 16)) >> 16) & UINT64_C(0x0000ffff0000ffff);
  return (uint32_t)(fours * (1 + (UINT64_C(10000) << 32)) >> 32);
}

/* A place in a line of numbers. */
struct number_place {
  const char *at, *window;
  uint64_t others; /* in the window, not before the place */
};

/* Steps over a number and the character behind it, and returns how many digits it has: perhaps none, or too many. */
static inline size_t step(struct number_place *place) {
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

/* The number of these digits; false if it does not fit. */
static inline bool time_of(const char *at, size_t digits, uint64_t *value) {
  if (digits <= 8) *value = number_of(digits_at(at, digits));
  else if (digits <= 16)
    *value = UINT64_C(100000000) * number_of(digits_at(at, digits - 8)) + number_of(digits_at(at + digits - 8, 8));
  else return text_u64((struct span){at, digits}, value);
  return true;
}

/* Parses the line of one CPU to its end, in one pass; false, without a step, if something else follows. */
static bool eat_line(struct span *text, unsigned *cpu, uint64_t ticks[TICKS]) {
  char copy[HEAD];
  const char *line = text->at;
  if (text->len < HEAD) { /* nothing behind the text may be read */
    memset(copy, 0, sizeof copy);
    memcpy(copy, line, text->len);
    line = copy;
  }
  if (line[0] != 'c' || line[1] != 'p' || line[2] != 'u') return false;
  struct number_place place = {.at = line + 3};
  size_t count = step(&place);
  if (count == 0 || count > CPU_DIGITS) return false;
  *cpu = number_of(digits_at(line + 3, count));
  for (unsigned i = 0; i < TICKS; i++) {
    const char *at = place.at;
    if (at[-1] != ' ') return false;
    count = step(&place);
    if (count == 0 || !time_of(at, count, &ticks[i])) return false;
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
  *text = rest;
  return true;
}

void groups_forget(void) { now = 0; }

bool groups_same(void) {
  if (before == 0 || now == 0) return before == now;
  return cpus_now == cpus_before && cpus_of_both == cpus_now;
}

/* Each time is compared on its own: the kernel lets idle and iowait decrease a little, and steal by any amount when a
 * virtual machine moves. A negative difference counts as 0. */
static void add_growth(struct growth *sum, const uint64_t from[TICKS], const uint64_t to[TICKS]) {
  uint64_t grown[TICKS];
  for (unsigned i = 0; i < TICKS; i++) grown[i] = to[i] > from[i] ? to[i] - from[i] : 0;
  const bb_wide user = (bb_wide)grown[TICKS_USER] + grown[TICKS_NICE];
  const bb_wide system = (bb_wide)grown[TICKS_SYSTEM] + grown[TICKS_IRQ] + grown[TICKS_SOFTIRQ];
  const bb_wide busy = user + system + grown[TICKS_STEAL];
  const bb_wide total = busy + grown[TICKS_IDLE] + grown[TICKS_IOWAIT];
  sum->total += total;
  sum->busy += busy;
  sum->user += user;
  sum->system += system;
  sum->iowait += grown[TICKS_IOWAIT];
  /* A division only where it can be more. */
  if (busy * 1000 > sum->busiest * total) sum->busiest = thousandths(busy, total);
}

enum parsed groups_parse(struct span text, const struct topology *topology, struct span *rest) {
  const unsigned online = topology == NULL ? 0 : topology->online;
  unsigned place = 0, least_cpu = 0, lines = 0;
  before = now;
  now = 0;
  tick++;
  cpus_before = cpus_now;
  cpus_now = cpus_of_both = 0;
  memset(growth, 0, sizeof growth);
  /* They are at the beginning, and the line of interrupts is long. */
  for (*rest = text;;) {
    unsigned cpu;
    uint64_t ticks[TICKS];
    if (!eat_line(rest, &cpu, ticks)) {
      struct span after = *rest, line;
      if (!begins(after, SPAN("cpu")) || !next_line(&after, &line)) break;
      if (!begins(line, SPAN("cpu "))) lines++;
      *rest = after;
      continue;
    }
    if (cpu < least_cpu) return REFUSED;
    least_cpu = cpu + 1;
    cpus_now++;
    lines++;
    const bool has_room = make_room(&all, (cpu < online ? online : cpu + 1) * sizeof(struct times));
    tell_once(&all_told, has_room, "the kernel gives no memory for so many CPUs", ": they are not measured", "");
    if (!has_room) return REFUSED;
    struct times *times = (struct times *)(void *)all.at + cpu;
    if (before != 0 && times->tick == before) {
      cpus_of_both++;
      while (place < online && topology->cpu[place].number < cpu) place++;
      if (place < online && topology->cpu[place].number == cpu)
        add_growth(&growth[topology->cpu[place].group], times->ticks, ticks);
    }
    memcpy(times->ticks, ticks, sizeof ticks);
    times->tick = tick;
  }
  if (cpus_now > 0) now = tick;
  return parsed_lines(lines, cpus_now);
}

static uint16_t share(bb_wide part, bb_wide whole) { return whole > 0 ? thousandths(part, whole) : 0; }

bool groups_share(unsigned groups, struct bb_report *report) {
  bb_wide passed = 0;
  for (unsigned g = 0; g < groups; g++) passed += growth[g].total;
  if (now == 0 || passed == 0) return false;
  for (unsigned g = 0; g < groups; g++) {
    const struct growth *sum = &growth[g];
    report->group[g].busy_pm = share(sum->busy, sum->total);
    report->group[g].user_pm = share(sum->user, sum->total);
    report->group[g].system_pm = share(sum->system, sum->total);
    report->group[g].iowait_pm = share(sum->iowait, sum->total);
    report->group[g].busiest_pm = sum->busiest;
  }
  return true;
}

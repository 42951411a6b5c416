/* Clock rates of the CPU groups, from a few CPUs of each: on older kernels each reading interrupts its CPU, and a
 * mean needs no more of them. */
#include "source.h"

/* How many CPUs of each group are read. */
#define MOST_ASKED 8u

static bool read_rate(struct reading *now, unsigned cpu, uint64_t *khz) {
  path_begin(now, now->world->sys, "/devices/system/cpu/cpu");
  path_number(now, cpu);
  path_text(now, "/cpufreq/scaling_cur_freq");
  return read_count(now, MAYBE, khz);
}

/* Which CPUs of a group to read: at most eight, evenly spread. */
struct sampled_cpus {
  unsigned count;
  uint16_t cpu[MOST_ASKED];
};

static void choose(const struct topology *topology, unsigned group, struct sampled_cpus *sampled) {
  unsigned size = 0, place = 0;
  for (unsigned i = 0; i < topology->online; i++) size += topology->cpu[i].group == group;
  const unsigned most = size < MOST_ASKED ? size : MOST_ASKED;
  sampled->count = 0;
  for (unsigned i = 0; i < topology->online && sampled->count < most; i++) {
    if (topology->cpu[i].group != group) continue;
    const unsigned next = size <= MOST_ASKED ? sampled->count : sampled->count * size / MOST_ASKED;
    if (place++ == next) sampled->cpu[sampled->count++] = topology->cpu[i].number;
  }
}

/* The mean of those that know their rate, in MHz, rounded down; 0 (unknown) if none does. */
static uint64_t mean_mhz(struct reading *now, const struct sampled_cpus *sampled) {
  bb_wide sum = 0;
  unsigned count = 0;
  for (unsigned i = 0; i < sampled->count; i++) {
    uint64_t khz;
    if (!read_rate(now, sampled->cpu[i], &khz) || khz == 0 || khz / 1000 > MOST_MHZ) continue;
    sum += khz;
    count++;
  }
  return count > 0 ? saturated_64(sum / (1000 * count)) : 0;
}

void slow_clock_rates(struct reading *now) {
  struct sampled_cpus sampled[MOST_GROUPS];
  const struct topology *topology = lock_packages(now, MAYBE);
  if (topology == NULL) return;
  const unsigned groups = topology->groups;
  for (unsigned g = 0; g < groups; g++) choose(topology, g, &sampled[g]);
  unlock_packages(); /* before the first reading, which may hang */
  for (unsigned g = 0; g < groups; g++) now->mhz[g] = mean_mhz(now, &sampled[g]);
  now->mhz_groups = groups;
}

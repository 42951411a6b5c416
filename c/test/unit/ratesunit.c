/* Rates between two reports: what a counter that went back, wrapped or is missing makes of them; problems. */
#include "../../judge/rates.h"

#include "../../beoboard.h"
#include "../../judge/problems.h"
#include "check.h"

#define SECOND UINT64_C(1000000000)

static bool is(double got, double wanted) { return isnan(wanted) ? isnan(got) : got == wanted; }

static const struct {
  uint64_t from, to;
  double moved_64, moved_32;
} moves[] = {
  {0, 0, 0, 0},
  {1, 3, 2, 2},
  {3, 1, NAN, NAN},
  {0, 0x7fffffff, 0x7fffffff, 0x7fffffff},
  {0, 0x80000000, 0x80000000, NAN}, /* half of all numbers ahead is as well behind */
  {0xfffffffe, 1, NAN, 3},          /* one of 32 bits has wrapped */
  {0xffffffff, 0x80000000, NAN, NAN},
};

static void check_moves(void) {
  for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
    const double got_64 = bb_moved_64(moves[i].from, moves[i].to);
    const double got_32 = bb_moved_32((uint32_t)moves[i].from, (uint32_t)moves[i].to);
    CHECK(is(got_64, moves[i].moved_64), "64 bits, row %zu: %g", i, got_64);
    CHECK(is(got_32, moves[i].moved_32), "32 bits, row %zu: %g", i, got_32);
  }
}

/* Two reports, two seconds apart. */
static void make(struct bb_report *before, struct bb_report *after) {
  *before = (struct bb_report){.boot_id = 1, .start_boot_ns = 5, .t_boot_ns = 10 * SECOND, .slow_boot_ns = 10 * SECOND};
  before->valid = BB_VALID_KNOWN;
  *after = *before;
  after->t_boot_ns += 2 * SECOND;
  after->slow_boot_ns += 5 * SECOND;
}

static struct beoboard_rates rates_of(const struct bb_report *before, const struct bb_report *after) {
  struct bb_span span;
  struct beoboard_rates rates;
  CHECK(bb_span_of(before, after, &span), "of one boot");
  bb_rates_of(&span, &rates);
  return rates;
}

static void check_counters(void) {
  struct bb_report before, after;
  make(&before, &after);
  before.ctxt = 1000;
  after.ctxt = 1500;
  before.intr = 10;
  after.intr = 9;
  before.agent_cpu_ms = 10;
  after.agent_cpu_ms = 14;
  struct beoboard_rates rates = rates_of(&before, &after);
  CHECK(rates.seconds == 2 && rates.slow_seconds == 5, "the time between: %g, %g", rates.seconds, rates.slow_seconds);
  CHECK(rates.ctxt == 250, "by the second: %g", rates.ctxt);
  CHECK(isnan(rates.intr), "a counter that went back has none: %g", rates.intr);
  CHECK(rates.agent_cpu_ms == 2, "of one run of the sender: %g", rates.agent_cpu_ms);
  after.start_boot_ns = 6;
  rates = rates_of(&before, &after);
  CHECK(isnan(rates.agent_cpu_ms), "of two runs: %g", rates.agent_cpu_ms);
  CHECK(rates.ctxt == 250, "the kernel's goes on: %g", rates.ctxt);
  CHECK(isnan(rates.disk_read_bytes) && isnan(rates.energy_cpu_mj), "sums begin anew");
  CHECK(rates.oom_kills == 0, "OOM kills go on: %g", rates.oom_kills);
  after.valid &= ~(uint64_t)BB_VALID_STAT;
  rates = rates_of(&before, &after);
  CHECK(isnan(rates.ctxt), "not measured in both: %g", rates.ctxt);
  after.valid = BB_VALID_KNOWN;
  after.t_boot_ns = before.t_boot_ns;
  rates = rates_of(&before, &after);
  CHECK(isnan(rates.seconds) && isnan(rates.ctxt), "no time has passed");
  after.boot_id = 2;
  struct bb_span span;
  CHECK(!bb_span_of(&before, &after, &span), "of two boots");
}

static void check_shares(void) {
  struct bb_report before, after;
  struct bb_span span;
  double share[BB_CPU_KINDS]; /* user, nice, system, idle, iowait, … */
  make(&before, &after);
  before.cpu_iowait_ms = 50;
  after.cpu_iowait_ms = 40;
  after.cpu_user_ms = 1000;
  after.cpu_idle_ms = 3000;
  CHECK(bb_span_of(&before, &after, &span), "of one boot");
  bb_shares_of(&span, share);
  CHECK(share[0] == 25 && share[1] == 0 && share[3] == 75, "of what has a rate: %g, %g, %g", share[0],
        share[1], share[3]);
  CHECK(isnan(share[4]), "and what decreased has none: %g", share[4]);
  after.cpus_online = 2;
  bb_shares_of(&span, share);
  CHECK(isnan(share[0]), "over other CPUs: %g", share[0]);
  after.cpus_online = 0;
  before.cpu_idle_ms = 3001;
  bb_shares_of(&span, share);
  CHECK(isnan(share[0]), "without the idle time: %g", share[0]);
}

static void name(struct bb_net_if *entry, const char *name, uint64_t bytes) {
  memset(entry->name, 0, sizeof entry->name);
  memcpy(entry->name, name, strlen(name));
  entry->rx_bytes = bytes;
}

static void check_traffic(void) {
  struct bb_report before, after;
  struct bb_span span;
  double traffic[BB_TRAFFIC_KINDS];
  make(&before, &after);
  CHECK(bb_span_of(&before, &after, &span), "of one boot");
  bb_traffic_of(&span, traffic);
  CHECK(isnan(traffic[0]), "no interfaces: %g", traffic[0]);
  name(&before.net[0], "eth0", 100);
  name(&before.net[1], "eth1", 10);
  name(&after.net[0], "eth1", 20); /* by name, not by place */
  name(&after.net[1], "eth0", 300);
  bb_traffic_of(&span, traffic);
  CHECK(traffic[0] == 105 && traffic[1] == 0, "all of them: %g, %g", traffic[0], traffic[1]);
  struct beoboard_rates rates = rates_of(&before, &after);
  CHECK_TEXT(rates.net[0].name, "eth1");
  CHECK(rates.net[0].rx_bytes == 5 && rates.net[1].rx_bytes == 100, "each: %g, %g", rates.net[0].rx_bytes,
        rates.net[1].rx_bytes);
  name(&after.net[1], "eth2", 300);
  bb_traffic_of(&span, traffic);
  CHECK(isnan(traffic[0]), "a new one has no rate yet, nor has the sum: %g", traffic[0]);
  rates = rates_of(&before, &after);
  CHECK(rates.net[0].rx_bytes == 5 && isnan(rates.net[1].rx_bytes), "the other has");
  name(&after.net[1], "eth0", 300);
  name(&before.net_rest, "2 more", 0);
  name(&after.net_rest, "2 more", 200);
  before.net_rest.state = after.net_rest.state = 2 << 16;
  bb_traffic_of(&span, traffic);
  CHECK(traffic[0] == 205, "with the rest: %g", traffic[0]);
  after.net_rest.state = 3 << 16;
  bb_traffic_of(&span, traffic);
  CHECK(isnan(traffic[0]), "of more interfaces than before: %g", traffic[0]);
}

/* Problems: what both reports have, and which problem that is; -1: none. */
static void check_problems(void) {
  struct bb_report before, after;
  make(&before, &after);
  before.root_total_mib = after.root_total_mib = 1000;
  after.root_avail_mib = 50;
  after.root_inodes_free_pm = 20;
#define PROBLEM(what) (bb_problems(&after, &before) == 1u << BEOBOARD_PROBLEM_##what)
  CHECK(bb_problems(&after, &before) == 0, "five in a hundred are free: %x", bb_problems(&after, &before));
  after.root_avail_mib = 49;
  CHECK(PROBLEM(ROOT_FULL), "less");
  after.root_avail_mib = 50;
  after.root_inodes_free_pm = 19;
  CHECK(PROBLEM(ROOT_FULL), "and of inodes");
  after.root_inodes_free_pm = 20;
  after.oom_kills = 1;
  CHECK(PROBLEM(OOM), "a process was killed");
  CHECK(bb_problems(&after, NULL) == 0, "nobody knows when");
  before.boot_id = 2;
  CHECK(bb_problems(&after, &before) == 0, "in another boot");
  before.boot_id = 1;
  before.oom_kills = 2;
  CHECK(bb_problems(&after, &before) == 0, "a counter that was reset");
  before.oom_kills = after.oom_kills;
  after.edac_ue = 1;
  CHECK(PROBLEM(MEMORY_ERRORS), "as long as it is there");
  before.edac_ue = 1;
  CHECK(PROBLEM(MEMORY_ERRORS), "also when it was there before");
  after.valid &= ~(uint64_t)BB_VALID_EDAC;
  CHECK(bb_problems(&after, &before) == 0, "not measured");
  after.health = BB_HEALTH_BAD;
  CHECK(PROBLEM(BAD_HEALTH), "by the site's check");
  after.health = BB_HEALTH_WARNING;
  CHECK(PROBLEM(HEALTH_WARNING), "likewise");
  after.health = BB_HEALTH_OK;
  after.flags = BB_FLAGS_HELD;
  CHECK(PROBLEM(HELD), "held");
#undef PROBLEM
}

int main(void) {
  check_moves();
  check_counters();
  check_shares();
  check_traffic();
  check_problems();
  return checked();
}

/* The problems of a node, from its newest report and the one before it. Pure. The table with its limits is in
 * proto/board-v2.md. */
#ifndef BB_PROBLEMS_H
#define BB_PROBLEMS_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../beoboard.h"
#include "../format/layout.gen.h"

/* The shares of free space below which a file system counts as nearly full: in a hundred, and in a thousand. */
#define BB_FULL_SPACE_PERCENT 5
#define BB_FULL_INODES_PM 20

static inline bool bb_is_full(uint32_t total_mib, uint32_t avail_mib, uint16_t inodes_free_pm) {
  return total_mib > 0 && ((uint64_t)avail_mib * 100 < (uint64_t)total_mib * BB_FULL_SPACE_PERCENT ||
                           inodes_free_pm < BB_FULL_INODES_PM);
}

/* Modulo 2^32, like these counters; one that decreased has been reset. */
static inline bool bb_rose(uint32_t before, uint32_t after) {
  return after != before && after - before < UINT32_C(1) << 31;
}

/* The parts of a struct with a report at `report` that problems need, a fifth of it: the beginning up to
 * throttle_events; the corrupted memory, a word that holds no more; the file systems, and the GPUs' errors behind
 * them. */
#define BB_AT(field) offsetof(struct bb_report, field)
#define BB_PROBLEM_PARTS(report)                                                                                       \
  {{(report), BB_AT(clock_offset_us)},                                                                                 \
   {(report) + BB_AT(mem_corrupted_kib), 8},                                                                           \
   {(report) + BB_AT(root_total_mib), BB_AT(fs_fullest_pm) - BB_AT(root_total_mib)}}
#define BB_PROBLEM_PART_COUNT 3
#define IN_FIRST(field) (BB_AT(field) < BB_AT(clock_offset_us))
#define IN_LAST(field) (BB_AT(field) >= BB_AT(root_total_mib) && BB_AT(field) < BB_AT(fs_fullest_pm))
BB_STATIC_ASSERT(IN_FIRST(boot_id) && IN_FIRST(valid) && IN_FIRST(flags) && IN_FIRST(health), "BB_PROBLEM_PARTS");
BB_STATIC_ASSERT(IN_FIRST(oom_kills) && IN_FIRST(hung_tasks) && IN_FIRST(throttle_events), "BB_PROBLEM_PARTS");
BB_STATIC_ASSERT(IN_FIRST(edac_ce) && IN_FIRST(edac_ue), "BB_PROBLEM_PARTS");
BB_STATIC_ASSERT(IN_FIRST(gpu_count) && IN_FIRST(scratch_avail_mib), "BB_PROBLEM_PARTS");
BB_STATIC_ASSERT(IN_LAST(root_total_mib) && IN_LAST(root_avail_mib) && IN_LAST(root_inodes_free_pm),
                 "BB_PROBLEM_PARTS");
BB_STATIC_ASSERT(IN_LAST(scratch_total_mib) && IN_LAST(scratch_inodes_free_pm), "BB_PROBLEM_PARTS");
BB_STATIC_ASSERT(IN_LAST(gpu_errors) && IN_LAST(gpu_ecc_ue) && IN_LAST(gpu_flags), "BB_PROBLEM_PARTS");
#undef IN_FIRST
#undef IN_LAST

/* Counters that show a problem when they rise: the problem, the set, the field. */
#define BB_RISING(EACH)                                                                                                \
  EACH(GPU_ERRORS, GPU_ERRORS, gpu_errors)                                                                             \
  EACH(OOM, VMSTAT, oom_kills)                                                                                         \
  EACH(HUNG_TASKS, HUNG_TASKS, hung_tasks)                                                                             \
  EACH(THROTTLED, THROTTLE, throttle_events)                                                                           \
  EACH(ECC, EDAC, edac_ce)

#define BB_PROBLEM(WHAT, holds) ((uint32_t)((holds) != 0) << BEOBOARD_PROBLEM_##WHAT)

/* Of any of eight GPUs. */
#define BB_GPU_TROUBLE                                                                                                 \
  (UINT64_C(0x0101010101010101) * (BB_GPU_FLAGS_OFF_THE_BUS | BB_GPU_FLAGS_ECC_ERROR | BB_GPU_FLAGS_THROTTLED))
BB_STATIC_ASSERT(sizeof(((struct bb_report *)0)->gpu_flags) == sizeof(uint64_t), "BB_GPU_TROUBLE");
BB_STATIC_ASSERT(BB_HEALTH_UNKNOWN < 2 && BB_HEALTH_OK < 2 && BB_HEALTH_WARNING >= 2 && BB_HEALTH_BAD >= 2,
                 "bb_may_show_states");

/* Whether a report may show one of these: false for nearly all, and much cheaper than to ask for each. True also where
 * the value that is one was not measured. */
static inline bool bb_may_show_states(const struct bb_report *r) {
  uint64_t gpus;
  memcpy(&gpus, r->gpu_flags, sizeof gpus);
  const uint64_t trouble = (gpus & BB_GPU_TROUBLE) | (r->flags & (BB_FLAGS_HELD | BB_FLAGS_ROOT_READONLY)) |
                           (r->health & ~1U) | r->edac_ue | r->mem_corrupted_kib | r->gpu_ecc_ue;
  return trouble != 0 || bb_is_full(r->root_total_mib, r->root_avail_mib, r->root_inodes_free_pm) ||
         bb_is_full(r->scratch_total_mib, r->scratch_avail_mib, r->scratch_inodes_free_pm);
}

/* Those that the newest report shows by itself. */
static inline uint32_t bb_problem_states(const struct bb_report *r) {
  if (!bb_may_show_states(r)) return 0;
  uint32_t problems = 0;
#define PROBLEM(WHAT, holds) problems |= BB_PROBLEM(WHAT, holds)
#define HAS(SET) ((r->valid & BB_VALID_##SET) != 0)
  uint8_t gpus = 0;
  for (unsigned i = 0; HAS(GPU) && i < r->gpu_count && i < sizeof r->gpu_flags; i++) gpus |= r->gpu_flags[i];
  PROBLEM(HELD, r->flags & BB_FLAGS_HELD);
  PROBLEM(BAD_HEALTH, HAS(HEALTH) && r->health == BB_HEALTH_BAD);
  PROBLEM(ROOT_READONLY, r->flags & BB_FLAGS_ROOT_READONLY);
  PROBLEM(MEMORY_ERRORS, (HAS(EDAC) && r->edac_ue != 0) || (HAS(MEMORY) && r->mem_corrupted_kib != 0));
  PROBLEM(GPU_LOST, gpus & BB_GPU_FLAGS_OFF_THE_BUS);
  PROBLEM(GPU_ERRORS, (HAS(GPU_ERRORS) && r->gpu_ecc_ue != 0) || (gpus & BB_GPU_FLAGS_ECC_ERROR) != 0);
  PROBLEM(ROOT_FULL, HAS(ROOT) && bb_is_full(r->root_total_mib, r->root_avail_mib, r->root_inodes_free_pm));
  PROBLEM(SCRATCH_FULL,
          HAS(SCRATCH) && bb_is_full(r->scratch_total_mib, r->scratch_avail_mib, r->scratch_inodes_free_pm));
  PROBLEM(HEALTH_WARNING, HAS(HEALTH) && r->health == BB_HEALTH_WARNING);
  PROBLEM(THROTTLED, gpus & BB_GPU_FLAGS_THROTTLED);
#undef HAS
#undef PROBLEM
  return problems;
}

/* Those of what rose from the report before. */
static inline uint32_t bb_problem_rises(const struct bb_report *r, const struct bb_report *before) {
  if (before == NULL || before->boot_id != r->boot_id) return 0;
  const uint64_t valid = before->valid & r->valid;
  uint32_t problems = 0;
#define ROSE(WHAT, SET, field)                                                                                         \
  problems |= BB_PROBLEM(WHAT, (valid & BB_VALID_##SET) != 0 && bb_rose(before->field, r->field));
  BB_RISING(ROSE)
#undef ROSE
  return problems;
}

/* Bits by enum beoboard_problem. `before`: NULL if there is none. */
static inline uint32_t bb_problems(const struct bb_report *r, const struct bb_report *before) {
  return bb_problem_states(r) | bb_problem_rises(r, before);
}

/* The sets by which a problem is measured; those that are not among them, `held` and what a later version knows, always
 * are. */
static const uint64_t bb_problem_sets[] __attribute__((unused)) = {
  [BEOBOARD_PROBLEM_BAD_HEALTH] = BB_VALID_HEALTH,
  [BEOBOARD_PROBLEM_ROOT_READONLY] = BB_VALID_ROOT,
  [BEOBOARD_PROBLEM_MEMORY_ERRORS] = BB_VALID_EDAC | BB_VALID_MEMORY,
  [BEOBOARD_PROBLEM_GPU_LOST] = BB_VALID_GPU,
  [BEOBOARD_PROBLEM_GPU_ERRORS] = BB_VALID_GPU | BB_VALID_GPU_ERRORS,
  [BEOBOARD_PROBLEM_ROOT_FULL] = BB_VALID_ROOT,
  [BEOBOARD_PROBLEM_SCRATCH_FULL] = BB_VALID_SCRATCH,
  [BEOBOARD_PROBLEM_HEALTH_WARNING] = BB_VALID_HEALTH,
  [BEOBOARD_PROBLEM_OOM] = BB_VALID_VMSTAT,
  [BEOBOARD_PROBLEM_HUNG_TASKS] = BB_VALID_HUNG_TASKS,
  [BEOBOARD_PROBLEM_THROTTLED] = BB_VALID_THROTTLE | BB_VALID_GPU,
  [BEOBOARD_PROBLEM_ECC] = BB_VALID_EDAC,
};

/* ---- what is not measured ---- */

/* Of problems whose episodes are not over, those that a report with these sets does not measure. `measured`: the sets
 * of its boot. */
static inline uint32_t bb_unmeasured(uint64_t recent, uint64_t measured, uint64_t valid) {
  const uint64_t missing = measured & ~valid;
  uint32_t problems = 0;
  for (uint64_t bits = missing == 0 ? 0 : recent & ((UINT64_C(1) << BEOBOARD_NPROBLEMS) - 1); bits != 0;
       bits &= bits - 1) {
    const unsigned problem = (unsigned)__builtin_ctzll(bits);
    if (problem < sizeof bb_problem_sets / sizeof *bb_problem_sets && (bb_problem_sets[problem] & missing) != 0)
      problems |= UINT32_C(1) << problem;
  }
  return problems;
}

/* The problems that a report with these sets can show. */
static inline uint32_t bb_measured(uint64_t valid) {
  uint32_t problems = (UINT32_C(1) << BEOBOARD_NPROBLEMS) - 1;
  for (unsigned i = 0; i < sizeof bb_problem_sets / sizeof *bb_problem_sets; i++)
    if (bb_problem_sets[i] != 0 && (bb_problem_sets[i] & valid) == 0) problems &= ~(UINT32_C(1) << i);
  return problems;
}

/* Whether the last report that measured a problem showed it. */
static inline bool bb_was_shown(const struct bb_episode *e) { return BB_SIGHTING_QUIET(e->seen) == 0; }

/* CLOCK_MONOTONIC of the last report that measured it, ms. */
static inline uint64_t bb_measured_ms(const struct bb_episode *e) {
  return BB_SIGHTING_SEEN(e->seen) + BB_SIGHTING_QUIET(e->seen);
}

#endif

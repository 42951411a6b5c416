/* What never stands in a memory of trouble, whoever was killed when; see "Memory of trouble" in proto/board-v2.md. */
#ifndef BB_MEMORYFAULT_H
#define BB_MEMORYFAULT_H
#include <stdbool.h>
#include <stddef.h>

#include "../beoboard.h"
#include "../format/layout.gen.h"

/* Only of one that the writer has settled: its last change is done, or a takeover has made it agree. */
static inline const char *unsettled_episode(const struct bb_memory *m, unsigned problem) {
  const struct bb_episode *e = &m->episodes[problem];
  const bool is_over =
      BB_SIGHTING_QUIET(e->seen) >= bb_problem_quiet_ms[problem] || BB_SPELL_COUNT(e->begun) == 0;
  if (BB_SIGHTING_SEEN(e->seen) < BB_SPELL_BEGIN(e->begun)) return "an episode that was seen before its begin";
  if (is_over == ((m->recent >> problem & 1) != 0)) return "a bit of recent that is not that of its episode";
  return NULL;
}

static inline const char *episode_fault(const struct bb_memory *m, unsigned problem, uint64_t now_ms) {
  const struct bb_episode *e = &m->episodes[problem];
  const uint64_t begin = BB_SPELL_BEGIN(e->begun), seen = BB_SIGHTING_SEEN(e->seen);
  if ((begin == 0) != (BB_SPELL_COUNT(e->begun) == 0)) return "an episode without a begin, or without a count";
  if (begin > now_ms || seen > now_ms) return "an episode in the future";
  if (problem >= BEOBOARD_NPROBLEMS) return e->begun != 0 || e->seen != 0 ? "an episode of no problem" : NULL;
  if (BB_SIGHTING_QUIET(e->seen) > bb_problem_quiet_ms[problem]) return "an episode that was quiet for too long";
  if ((m->recent >> problem & 1) != 0 && (begin == 0 || seen < begin)) return "a bit of recent without an episode";
  return NULL;
}

/* Why this memory is not one that a writer leaves, at that time. NULL: it is. */
static inline const char *memory_fault(const struct bb_memory *m, uint64_t now_ns, bool is_settled) {
  const uint64_t now_ms = now_ns / 1000000;
  if (m->heard_since_ns > now_ns || m->boot_ns > now_ns || m->remembers_since_ns > now_ns)
    return "a time in the future";
  if (BB_SAID_STAMP(m->last_words) > now_ms) return "last words in the future";
  if (BB_SAID_ROWS(m->last_words) >> BB_LAST_WORDS_COUNT != 0) return "last words of no row";
  if ((BB_SPELL_BEGIN(m->silence) == 0) != (BB_SPELL_COUNT(m->silence) == 0))
    return "a silence without a begin or count";
  if (BB_SPELL_BEGIN(m->silence) > now_ms || m->silence_end_ms > now_ms) return "a silence in the future";
  if (m->silence == 0 && m->silence_end_ms != 0) return "the end of no silence";
  if (m->recent >> BEOBOARD_NPROBLEMS != 0) return "a bit of recent of no problem";
  for (unsigned i = 0; i < sizeof m->episodes / sizeof *m->episodes; i++) {
    const char *fault = episode_fault(m, i, now_ms);
    if (fault == NULL && is_settled && i < BEOBOARD_NPROBLEMS) fault = unsettled_episode(m, i);
    if (fault != NULL) return fault;
  }
  if (m->remembers_since_ns != 0) return NULL;
  for (const uint64_t *word = &m->recent; word < (const uint64_t *)(m + 1); word++)
    if (*word != 0) return "something before anything was remembered";
  return NULL;
}

#endif

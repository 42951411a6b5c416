/* What the board remembers of a node's trouble: see "Memory of trouble" in proto/board-v2.md. Single words, each true
 * by itself. No system call, no lock, no memory of its own. */
#include "internal.h"

#include "../board/newest.h"
#include "../judge/problems.h"

_Static_assert(BEOBOARD_PROBLEMS_MAX == sizeof(((struct bb_memory *)0)->episodes) / sizeof(struct bb_episode),
               "room for all");
#define PROBLEMS ((UINT64_C(1) << BEOBOARD_NPROBLEMS) - 1)

/* The age of a time; -1 if it is 0: there is none. */
static int64_t age_since(const struct evidence *e, uint64_t ns, bool *is_ahead) {
  if (ns == 0) return -1;
  if (from_to(e->now, ns) > BB_AHEAD_NS) *is_ahead = true;
  return age_of(e, ns);
}

static void copy_silence(const struct evidence *e, const struct bb_memory *m, struct beoboard_memory *out,
                         bool *is_ahead) {
  /* Acquire: the end of the silence before this one, and the last words, were stored before its begin. */
  const uint64_t silence = bb_load_acquire(&m->silence), end_ms = bb_load(&m->silence_end_ms);
  const uint64_t words = bb_load(&m->last_words), begin_ms = BB_SPELL_BEGIN(silence);
  out->silences = BB_SPELL_COUNT(silence);
  out->silence_age_ns = age_since(e, begin_ms * NS_PER_MS, is_ahead);
  out->silence_end_age_ns = end_ms > begin_ms ? age_since(e, end_ms * NS_PER_MS, is_ahead) : -1;
  out->stood_still_ns = end_ms > begin_ms ? (int64_t)(uint32_t)bb_load(&m->stood_still_us) * 1000 : 0;
  out->last_words_age_ns = age_since(e, BB_SAID_STAMP(words) * NS_PER_MS, is_ahead);
  out->last_words = (uint32_t)BB_SAID_ROWS(words);
}

static void copy_episodes(const struct evidence *e, const struct bb_memory *m, struct beoboard_memory *out,
                          bool *is_ahead) {
  /* Acquire: an episode was stored before its bit. */
  out->recent = (uint32_t)(bb_load_acquire(&m->recent) & PROBLEMS);
  for (unsigned i = 0; i < BEOBOARD_PROBLEMS_MAX; i++) {
    const uint64_t begun = bb_load(&m->episodes[i].begun), seen = bb_load(&m->episodes[i].seen);
    const uint64_t begin_ms = BB_SPELL_BEGIN(begun), seen_ms = begin_ms == 0 ? 0 : BB_SIGHTING_SEEN(seen);
    struct beoboard_episode *to = &out->episodes[i];
    to->count = BB_SPELL_COUNT(begun);
    to->begin_age_ns = age_since(e, begin_ms * NS_PER_MS, is_ahead);
    /* An episode that begins right now was seen at its begin. */
    to->seen_age_ns = age_since(e, (seen_ms > begin_ms ? seen_ms : begin_ms) * NS_PER_MS, is_ahead);
  }
}

/* Those of these problems, which are not over, that the newest report does not measure. */
static uint32_t unmeasured_of(const beoboard *b, int index, const struct bb_memory *m, uint32_t recent) {
  struct bb_slot slot;
  int which;
  const size_t bytes = offsetof(struct bb_slot, report) + offsetof(struct bb_report, valid) + sizeof slot.report.valid;
  if (bb_newest_of(&b->board, (uint64_t)index, &slot, bytes, &which) < 2) return 0;
  return bb_unmeasured(recent, bb_load(&m->measured), slot.report.valid);
}

static void copy_unmeasured(const beoboard *b, int index, const struct evidence *e, const struct bb_memory *m,
                            struct beoboard_memory *out, bool *is_ahead) {
  for (unsigned i = 0; i < BEOBOARD_PROBLEMS_MAX; i++) out->measured_age_ns[i] = -1;
  out->unmeasured = out->recent == 0 ? 0 : unmeasured_of(b, index, m, out->recent);
  for (uint32_t bits = out->unmeasured; bits != 0; bits &= bits - 1) {
    const unsigned i = (unsigned)__builtin_ctz(bits);
    const struct bb_episode episode = {.seen = bb_load(&m->episodes[i].seen)};
    out->measured_age_ns[i] = age_since(e, bb_measured_ms(&episode) * NS_PER_MS, is_ahead);
    if (bb_was_shown(&episode)) out->unsettled |= UINT32_C(1) << i;
  }
}

int beoboard_memory(const beoboard *b, int index, struct beoboard_memory *out, size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (out == NULL || size == 0) return -EINVAL;
  const struct bb_memory *m = shared_memory(&b->board, (uint64_t)index);
  if (m == NULL) return -ENODATA;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    bool is_ahead = false;
    struct beoboard_memory memory;
    memset(&memory, 0, sizeof memory);
    memory.remembers_age_ns = age_since(&e, bb_load(&m->remembers_since_ns), &is_ahead);
    memory.heard_age_ns = age_since(&e, bb_load(&m->heard_since_ns), &is_ahead);
    memory.boot_age_ns = age_since(&e, bb_load(&m->boot_ns), &is_ahead);
    copy_silence(&e, m, &memory, &is_ahead);
    copy_episodes(&e, m, &memory, &is_ahead);
    copy_unmeasured(b, index, &e, m, &memory, &is_ahead);
    if (is_ahead && !again) continue;
    give(out, size, &memory, sizeof memory);
    return 0;
  }
}

int beoboard_recent(const beoboard *b, int index) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  const struct bb_memory *m = shared_memory(&b->board, (uint64_t)index);
  return m == NULL ? -ENODATA : (int)(bb_load(&m->recent) & PROBLEMS);
}

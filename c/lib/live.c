/* Answers from the header and the liveness column only: one word per node. No system call, no lock, no memory of its
 * own. */
#include "internal.h"

int beoboard_receiver(const beoboard *b, struct beoboard_receiver *out, size_t size) {
  if (b == NULL || out == NULL || size == 0) return -EINVAL;
  const struct bb_board_header *h = header_of(&b->board);
  struct evidence e;
  look(b, false, &e);
  struct beoboard_receiver r;
  memset(&r, 0, sizeof r);
  const int64_t age = from_to(e.heartbeat, e.now);
  /* A little ahead is the coarseness of the clock; a time far ahead is returned as it is. */
  r.heartbeat_age_ns = e.heartbeat == 0 ? INT64_MAX : age < 0 && age >= -BB_AHEAD_NS ? 0 : age;
  r.started_age_ns = age_of(&e, bb_load(&h->started_ns));
  r.instance = bb_load(&h->instance);
  const int64_t listened = from_to(bb_load(&h->listening_since_ns), e.heartbeat);
  r.listened_ns = listened > 0 ? listened : 0;
  r.uncertain_after_ns = bb_limit_for(e.uncertain_after, 0, 0);
  r.silent_after_ns = bb_limit_for(e.silent_after, 0, 0);
  r.nodes = nodes_of(&b->board);
  r.flags = (is_stalled(&e) ? BEOBOARD_F_STALLED : 0) |
            ((e.flags & BB_BOARD_STATE_CLOSED) != 0 ? BEOBOARD_F_CLOSED : 0) |
            ((e.flags & BB_BOARD_STATE_FILTERING) != 0 ? BEOBOARD_F_FILTERING : 0) |
            ((e.flags & BB_BOARD_STATE_RETIRED) != 0 ? BEOBOARD_F_RETIRED : 0);
  r.received = bb_load(&h->received);
  r.accepted = bb_load(&h->accepted);
  r.duplicate = bb_load(&h->duplicate);
  r.kernel_drops = bb_load(&h->kernel_drops);
  bb_copy_out(r.refused, h->refused, sizeof r.refused);
  r.capacity = b->board.header.capacity;
  r.pid = (uint32_t)bb_load(&h->pid);
  r.unfit_drops = bb_load(&h->unfit_drops);
  r.softnet_drops = bb_load(&h->softnet_drops);
  memcpy(r.cluster, b->board.header.cluster_name, sizeof r.cluster - 1); /* written before the board was opened */
  give(out, size, &r, sizeof r);
  return 0;
}

/* The state and the age of one node. Negative: the result of the call. */
static int state_of(const beoboard *b, int index, int64_t *age) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    if (is_unknown(&e)) return -ESTALE;
    struct bb_link_evidence by;
    const uint64_t word = load_word(b, (uint64_t)index, &by);
    bool is_ahead = false;
    const int state = judge_word(&e, &by, word, &is_ahead);
    if (is_ahead && !again) continue;
    *age = age_of(&e, stamp_of(word));
    return state;
  }
}

int beoboard_state(const beoboard *b, int index) {
  int64_t age;
  return state_of(b, index, &age);
}

int64_t beoboard_age(const beoboard *b, int index) {
  int64_t age;
  const int state = state_of(b, index, &age);
  if (state < 0) return state;
  return state == BEOBOARD_NEVER ? -ENODATA : age;
}

int beoboard_check(const beoboard *b, const char *const *names, int n, int8_t *states) {
  if (b == NULL || n < 0 || (names == NULL && n > 0)) return -EINVAL;
  for (int i = 0; i < n; i++)
    if (names[i] == NULL) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    if (is_unknown(&e)) {
      for (int i = 0; i < n && states != NULL; i++) states[i] = BEOBOARD_UNKNOWN;
      return -ESTALE;
    }
    struct bb_link_evidence links[BB_LINKS];
    load_links(&b->board, links);
    bool is_ahead = false;
    int others = 0;
    for (int i = 0; i < n; i++) {
      const int64_t index = bb_find(&b->board, names[i]);
      const uint64_t word = index < 0 ? 0 : bb_load(column_of(&b->board, (uint64_t)index));
      const int state = index < 0 ? -ENOENT : judge_word(&e, &links[link_of(word)], word, &is_ahead);
      if (states != NULL) states[i] = (int8_t)state;
      others += state != BEOBOARD_LIVE;
    }
    if (!is_ahead || again) return others;
  }
}

/* The column is scanned for the common case in three instructions a node. Words of nodes that report every second or
 * oftener, and did so within a window that lies wholly in what is live, differ from the window's beginning only in the
 * low bits:
 *
 *     63            26 + k                      26     21               1  0
 *     | 0 … 0         | ms since its beginning   | link | interval in ms | goodbye |
 *
 * So a block of words is of live nodes when their differences, or-ed, hold nothing above, an interval of at most 1,000
 * and no goodbye. Whatever else is found is judged one by one: that may be too often, never wrong. */
struct window {
  uint64_t begin, beyond; /* a word; the bits that its differences must not have */
};

#define BLOCK 16
#define SLACK_MS 128 /* how far the window extends beyond now: the coarse clock is behind, and so are we */

static struct window live_window(const struct evidence *e) {
  const uint64_t end_ms = e->now / NS_PER_MS + SLACK_MS;
  const uint64_t limit_ms = (uint64_t)bb_limit_for(e->uncertain_after, 0, 0) / NS_PER_MS;
  if (limit_ms < 2 || end_ms > BB_COLUMN_STAMP_MOST) return (struct window){0, UINT64_MAX};
  unsigned k = 63 - (unsigned)__builtin_clzll(limit_ms - 1); /* at least one ms younger than the limit, for rounding */
  while (UINT64_C(1) << k >= end_ms) k--;
  const unsigned low = BB_COLUMN_STAMP_SHIFT;
  return (struct window){(end_ms - (UINT64_C(1) << k)) << low, ~((UINT64_C(1) << (k + low)) - 1)};
}

static inline uint64_t word_at(const uint8_t *at, size_t stride, unsigned i) {
  return bb_load((const uint64_t *)(at + i * stride));
}

/* Whether or-ed differences belong to nodes that report at least every second, none of which said goodbye. */
#define REGULAR(words) (BB_COLUMN_INTERVAL(words) <= 1000 && BB_COLUMN_GOODBYE(words) == 0)

/* Inlined with a constant stride: the offsets are constants. */
static inline __attribute__((always_inline)) void scan(const uint8_t *at, size_t stride, uint64_t n,
                                                       const struct evidence *e, const struct bb_link_evidence *links,
                                                       int *counts, bool *is_ahead) {
  const struct window w = live_window(e);
  for (; n >= BLOCK; n -= BLOCK, at += BLOCK * stride) {
    uint64_t all = 0;
    for (unsigned k = 0; k < BLOCK; k += 4)
      all |= (word_at(at, stride, k) - w.begin) | (word_at(at, stride, k + 1) - w.begin) |
             (word_at(at, stride, k + 2) - w.begin) | (word_at(at, stride, k + 3) - w.begin);
    if ((all & w.beyond) == 0 && REGULAR(all)) counts[BEOBOARD_LIVE] += BLOCK;
    else
      for (unsigned k = 0; k < BLOCK; k++) {
        const uint64_t word = word_at(at, stride, k);
        counts[judge_word(e, &links[link_of(word)], word, is_ahead)]++;
      }
  }
  for (; n > 0; n--, at += stride) {
    const uint64_t word = word_at(at, stride, 0);
    counts[judge_word(e, &links[link_of(word)], word, is_ahead)]++;
  }
}

int beoboard_tally(const beoboard *b, int counts[BEOBOARD_NSTATES]) {
  if (b == NULL || counts == NULL) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    const uint32_t n = nodes_of(&b->board);
    memset(counts, 0, BEOBOARD_NSTATES * sizeof *counts);
    if (is_unknown(&e)) {
      counts[BEOBOARD_UNKNOWN] = (int)n;
      return (int)n;
    }
    struct bb_link_evidence links[BB_LINKS];
    load_links(&b->board, links);
    bool is_ahead = false;
    const uint8_t *column = (const uint8_t *)column_of(&b->board, 0);
    const size_t stride = b->board.header.column_stride;
    if (stride == BB_COLUMN_ENTRY_BYTES) scan(column, BB_COLUMN_ENTRY_BYTES, n, &e, links, counts, &is_ahead);
    else scan(column, stride, n, &e, links, counts, &is_ahead);
    if (!is_ahead || again) return (int)n;
  }
}

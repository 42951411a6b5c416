/* The rule of liveness: the state of a node, from the receiver's evidence for itself and for the node's link, and
 * from the node's last report. Pure: no clock, no state; the caller passes both. The definition is in
 * proto/board-v2.md. There is only this implementation: libbeoboard, the addon and the receiver use it. */
#ifndef BB_LIVENESS_H
#define BB_LIVENESS_H
#include <stdbool.h>
#include <stdint.h>

#include "../beoboard.h"
#include "../board/column.h"
#include "../rules/interval.h"

/* The receiver's evidence, and the time of our look. For a link, its own heartbeat and listening-since are passed as
 * well. */
struct evidence {
  uint64_t now, heartbeat;
  uint64_t uncertain_after, silent_after, longest_ms;
  uint64_t flags;
};

static inline struct evidence evidence_at(const struct bb_board_header *h, int64_t now_ns) {
  return (struct evidence){.now = (uint64_t)now_ns,
                           .heartbeat = h->heartbeat_ns,
                           .uncertain_after = h->uncertain_after_ns,
                           .silent_after = h->silent_after_ns,
                           .longest_ms = h->longest_interval_ms,
                           .flags = h->state};
}

static inline bool is_stalled(const struct evidence *e) {
  const int64_t ahead = from_to(e->now, e->heartbeat);
  return ahead > BB_AHEAD_NS || ahead < -BB_STALLED_NS;
}

static inline bool is_unknown(const struct evidence *e) {
  return is_stalled(e) || (e->flags & BB_BOARD_STATE_RETIRED) != 0;
}

static inline int64_t age_of(const struct evidence *e, uint64_t stamp) {
  const int64_t age = from_to(stamp, e->now);
  return age > 0 ? age : 0;
}

/* The rows of the contract's table from `left` on, for a node that has reported by a link with the evidence `by`. If
 * the stamp is of another clock, or the look must be repeated, only `is_ahead` is set. */
static inline int judge(const struct evidence *e, const struct bb_link_evidence *by, uint64_t stamp,
                        uint32_t interval_ms, bool goodbye, bool *is_ahead) {
  if (goodbye) return BEOBOARD_LEFT;
  if (from_to(e->now, stamp) > BB_AHEAD_NS) {
    *is_ahead = true;
    return BEOBOARD_UNCERTAIN;
  }
  if (age_of(e, stamp) <= bb_limit_for(e->uncertain_after, interval_ms, e->longest_ms)) return BEOBOARD_LIVE;
  /* Never measured up to now: silence is proved only up to the link's heartbeat, and only while somebody listened
   * there. */
  const int64_t patience = bb_limit_for(e->silent_after, interval_ms, e->longest_ms);
  const bool unheard = from_to(stamp, by->heartbeat_ns) > patience;
  const bool listened = from_to(by->listening_since_ns, by->heartbeat_ns) > patience;
  return unheard && listened ? BEOBOARD_SILENT : BEOBOARD_UNCERTAIN;
}

/* Judges by a word of the column with the same rows, and also knows `never`. `by`: the evidence for its link. */
static inline int judge_word(const struct evidence *e, const struct bb_link_evidence *by, uint64_t word,
                             bool *is_ahead) {
  if (word == 0) return BEOBOARD_NEVER;
  return judge(e, by, stamp_of(word), interval_of(word), BB_COLUMN_GOODBYE(word) != 0, is_ahead);
}

#endif

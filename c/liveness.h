/* The rule of liveness: the state of a node, from the receiver's evidence for itself and for the node's link, and
 * from the node's last report. Pure: no clock, no state; the caller passes both. The definition is in
 * proto/board-v2.md. There is only this implementation: libbeoboard, the addon and the receiver use it. */
#ifndef BB_LIVENESS_H
#define BB_LIVENESS_H
#include <stdbool.h>
#include <stdint.h>

#include "beoboard.h"
#include "board.h"
#include "interval.h"

#define NS_PER_MS UINT64_C(1000000)

/* The receiver's evidence, and the time of our look. For a link, its own heartbeat and listening-since are passed as
 * well. */
struct evidence {
  uint64_t now, heartbeat;
  uint64_t uncertain_after, silent_after, longest_ms;
  uint64_t flags;
};

/* From one time to a later one, negative if it is earlier; unsigned, because a corrupt board may hold any number. */
static inline int64_t from_to(uint64_t from, uint64_t to) { return (int64_t)(to - from); }

static inline bool is_stalled(const struct evidence *e) {
  const int64_t ahead = from_to(e->now, e->heartbeat);
  return ahead > BB_AHEAD_NS || ahead < -BB_STALLED_NS;
}

static inline bool is_unknown(const struct evidence *e) { return is_stalled(e) || (e->flags & BB_BOARD_STATE_RETIRED) != 0; }

static inline int64_t age_of(const struct evidence *e, uint64_t stamp) {
  const int64_t age = from_to(stamp, e->now);
  return age > 0 ? age : 0;
}

/* No evidence: for link 0, and for a link without an entry. No node is silent by it. */
static const struct bb_link_evidence no_evidence = {0, 0};

/* The rows of the contract's table from `left` on, for a node that has reported by a link with the evidence `by`. If
 * the stamp is of another clock, or the look must be repeated, only `is_ahead` is set. */
static inline int judge(const struct evidence *e, const struct bb_link_evidence *by, uint64_t stamp, uint32_t interval_ms, bool goodbye,
                        bool *is_ahead) {
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

/* A word of the liveness column. */
static inline uint64_t stamp_of(uint64_t word) { return BB_COLUMN_STAMP(word) * NS_PER_MS; }
static inline uint32_t interval_of(uint64_t word) { return (uint32_t)BB_COLUMN_INTERVAL(word); }
static inline unsigned link_of(uint64_t word) { return (unsigned)BB_COLUMN_LINK(word); }

/* Judges by a word of the column with the same rows, and also knows `never`. `by`: the evidence for its link. */
static inline int judge_word(const struct evidence *e, const struct bb_link_evidence *by, uint64_t word, bool *is_ahead) {
  if (word == 0) return BEOBOARD_NEVER;
  return judge(e, by, stamp_of(word), interval_of(word), BB_COLUMN_GOODBYE(word) != 0, is_ahead);
}

/* The evidence for the link of that number; in a slot of a corrupt board the number may be anything. */
static inline const struct bb_link_evidence *evidence_by(const struct bb_link_evidence *all, uint64_t link) {
  return link == 0 || link >= BB_LINKS ? &no_evidence : &all[link];
}

#endif

/* The rule of liveness by itself: reads rows "now heartbeat uncertain silent flags link link's-heartbeat link's-since
 * stamp interval goodbye" (ns, ms), and writes a state each; a stamp of -1 is not a report. Tried as a stamp, and as a
 * word of the column where it is whole ms. */
#include <inttypes.h>
#include <stdio.h>

#include "../../judge/liveness.h"

/* What is known of all links: of this one as given, and of all others what would make anybody silent, or nobody. */
static void fill(struct bb_link_evidence all[BB_LINKS], unsigned link, struct bb_link_evidence by, uint64_t now) {
  for (unsigned i = 0; i < BB_LINKS; i++)
    all[i] = i % 2 == 0 ? (struct bb_link_evidence){now, 0} : (struct bb_link_evidence){0, now};
  all[link] = by;
}

int main(void) {
  struct evidence e = {0};
  struct bb_link_evidence by, all[BB_LINKS];
  int64_t stamp;
  uint32_t interval, link;
  int goodbye;
  while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &e.now, &e.heartbeat, &e.uncertain_after,
               &e.silent_after, &e.flags) == 5 &&
         scanf("%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNu32 " %d", &link, &by.heartbeat_ns,
               &by.listening_since_ns, &stamp, &interval, &goodbye) == 6) {
    fill(all, link % BB_LINKS, by, e.now);
    const struct bb_link_evidence *const of_link = evidence_by(all, link);
    bool is_ahead = false;
    int state = BEOBOARD_NEVER;
    if (stamp >= 0) state = judge(&e, of_link, (uint64_t)stamp, interval, goodbye != 0, &is_ahead);
    if (stamp > 0 && (uint64_t)stamp % NS_PER_MS == 0 && link < BB_LINKS) {
      const uint64_t word = BB_COLUMN((uint64_t)stamp / NS_PER_MS, link, interval, goodbye);
      const int other = judge_word(&e, evidence_by(all, link_of(word)), word, &is_ahead);
      if (other != state) state = 100 + other;
    }
    printf("%d\n", is_unknown(&e) ? BEOBOARD_UNKNOWN : state);
  }
  return 0;
}

/* What a writer knows of its own deafness, and since when its listening proves something; see docs/liveness.md. */
#ifndef BB_HEARING_H
#define BB_HEARING_H
#include "column.h"
#include "mapped.h"

/* Of all that a writer hears, or of one link. By one clock. */
struct bb_hearing {
  int64_t heard_ns; /* the last heartbeat */
  int64_t began_ns; /* when the present listening began */
  int64_t deaf_ns;  /* when the deafness before that began */
};

/* While a writer is deaf, nodes may go over to intervals that it does not know of. One doubles in twelve of its
 * intervals at the earliest (rule 7 of stat-v1.md), so after D it is D/12 longer at most than the one that was known.
 * Twice that, so that one report more may be lost; but a minute at most. */
#define BB_DOUBT_SHARE 6
#define BB_MOST_DOUBT_NS INT64_C(60000000000)

static inline int64_t bb_doubt_limited(int64_t doubt_ns) {
  return doubt_ns <= 0 ? 0 : doubt_ns < BB_MOST_DOUBT_NS ? doubt_ns : BB_MOST_DOUBT_NS;
}

/* The part of an earlier doubt that was not over at the last heartbeat. */
static inline int64_t bb_doubt_left(struct bb_link_evidence e) {
  return e.heartbeat_ns == 0 ? 0 : bb_doubt_limited(from_to(e.heartbeat_ns, e.listening_since_ns));
}

/* When the deafness began of which that doubt was left; on a corrupt board times may be anything, so they wrap. */
static inline int64_t bb_doubt_before(int64_t heard_ns, struct bb_link_evidence e) {
  return (int64_t)((uint64_t)heard_ns - (uint64_t)(bb_doubt_left(e) * BB_DOUBT_SHARE));
}

/* Listening begins anew at `now_ns`; returns for how long it proves nothing. `e`: what the board says of the listening
 * that ends. */
static inline int64_t bb_hearing_anew(struct bb_hearing *h, struct bb_link_evidence e, int64_t silent_after_ns,
                                      int64_t now_ns) {
  /* Listening that was too short for calling anybody silent ended no deafness: a node may have reported in each of many
   * short gaps, and only then. */
  if (from_to((uint64_t)h->began_ns, (uint64_t)h->heard_ns) > silent_after_ns)
    h->deaf_ns = bb_doubt_before(h->heard_ns, e);
  h->began_ns = h->heard_ns = now_ns;
  return bb_doubt_limited(from_to((uint64_t)h->deaf_ns, (uint64_t)now_ns) / BB_DOUBT_SHARE);
}

/* Until a writer has listened, what the board says of the one before is true of it. `ahead_ns`: the clock of this minus
 * that of the board. */
static inline struct bb_hearing bb_hearing_inherited(struct bb_link_evidence e, int64_t now_ns, int64_t ahead_ns) {
  const int64_t heard_ns = e.heartbeat_ns == 0 ? now_ns : (int64_t)(e.heartbeat_ns + (uint64_t)ahead_ns);
  return (struct bb_hearing){heard_ns, heard_ns, bb_doubt_before(heard_ns, e)};
}

/* The links of a board, and what its writer knows of them beside that. */
struct bb_links {
  struct bb_mapped *board;
  /* By CLOCK_BOOTTIME: nodes go on while the master sleeps. At BB_LINK_UNKNOWN: of all links together. */
  struct bb_hearing hearing[BB_LINKS];
  int64_t resumed_ns[BB_LINKS];        /* the end of the last time in which a link could not be heard */
};

/* Begins with what the board says. `now_ns`, `ahead_ns`: as above. */
void bb_links_inherit(struct bb_links *links, struct bb_mapped *board, int64_t now_ns, int64_t ahead_ns);

/* Everything that arrived by a link that is up before `heard_ns` has been delivered; `heard_boot_ns`: the same by
 * CLOCK_BOOTTIME. */
void bb_links_heartbeat(struct bb_links *links, int64_t heard_ns, int64_t heard_boot_ns);

#endif

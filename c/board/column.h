/* The words of the liveness column, and times between what stands on a board. Pure. */
#ifndef BB_COLUMN_H
#define BB_COLUMN_H
#include "reader.h"

#define NS_PER_MS UINT64_C(1000000)

/* From one time to a later one, negative if it is earlier; unsigned, because a corrupt board may hold any number. */
static inline int64_t from_to(uint64_t from, uint64_t to) { return (int64_t)(to - from); }

/* A word of the liveness column. */
static inline uint64_t stamp_of(uint64_t word) { return BB_COLUMN_STAMP(word) * NS_PER_MS; }
static inline uint32_t interval_of(uint64_t word) { return (uint32_t)BB_COLUMN_INTERVAL(word); }
static inline unsigned link_of(uint64_t word) { return (unsigned)BB_COLUMN_LINK(word); }

/* Whether a link has an entry, on a board that uses so many numbers. */
static inline bool has_entry(uint64_t link, uint64_t used) {
  return link == BB_LINK_OTHERS || (link != BB_LINK_UNKNOWN && link <= used);
}

/* No evidence: for link 0, and for a link without an entry. No node is silent by it. */
static const struct bb_link_evidence no_evidence = {0, 0};

/* The evidence for the link of that number; in a slot of a corrupt board the number may be anything. */
static inline const struct bb_link_evidence *evidence_by(const struct bb_link_evidence *all, uint64_t link) {
  return link == 0 || link >= BB_LINKS ? &no_evidence : &all[link];
}

#endif

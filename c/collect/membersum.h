/* A sum over members that come, go and are replaced, as one counter: it moves only by what each member grew between two
 * reads of the same member. The first sum of a run is what the members show. Allocates nothing. */
#ifndef BB_MEMBERSUM_H
#define BB_MEMBERSUM_H
#include "../base/text.h"

/* Counts of a member that are summed up side by side. */
#define SUM_COUNTS 6u
/* For so long a member that cannot be read keeps the sum from being known; then it counts as one that has gone. */
#define UNREAD_MS 60000u

struct member {
  uint64_t id; /* what it is, as a fingerprint; 0: this place is free */
  bool is_met; /* in this round */
  uint64_t unread_ms; /* since when it cannot be read, ms of any clock; 0: it can */
  bb_wide count[SUM_COUNTS]; /* as last read */
};

struct member_sum {
  struct member *members;
  unsigned room, used, free; /* no place before `free` is free in this round */
  unsigned counts;
  bool is_tally; /* it has no rate: what a member counted while it was away is told when it is back */
  bool has_begun;
  bool is_whole; /* every member was read in this round */
  bool is_doubtful; /* one that wraps grew by half of that or more in this round */
  bool is_full;  /* there are more of them than there is room for */
  bb_wide sum[SUM_COUNTS];
};

/* A round: begun, then each member that is there is read or could not be, then ended. False: the sum is not known. */
void sum_begin(struct member_sum *sum);
/* Adds what a member grew. `place`: where its owner keeps its place, 0 for none yet; NULL: it is searched for. `modulo`
 * has for each count the value at which it wraps, or 0; NULL: none wraps. A count that went back without wrapping began
 * anew, and so did its member; one that wraps and grew by half of that or more proves nothing. */
void sum_read(struct member_sum *sum, uint32_t *place, uint64_t id, const bb_wide *count, const uint64_t *modulo);
void sum_unread(struct member_sum *sum, uint64_t id, uint64_t now_ms);
bool sum_end(struct member_sum *sum);

/* Takes all members for new ones from now on. */
void sum_renew(struct member_sum *sum);
/* The same, and the next sum is what they show. */
void sum_restart(struct member_sum *sum);

#endif

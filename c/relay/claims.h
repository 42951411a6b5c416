/* Which nodes other masters than the followed one call live, by the hash of the name: also nodes that this board does
 * not have yet. */
#ifndef BB_CLAIMS_H
#define BB_CLAIMS_H
#include "../rules/order.h"
#include "messages.h"

/* The number of masters that a mirror may know: as many as its header has room for. */
#define BB_MASTERS 6

struct claim {
  uint32_t name;
  bool used;
  int64_t ns[BB_MASTERS]; /* when; 0: never, or no longer */
};

struct claims {
  struct claim *table;
  uint32_t size; /* a power of two; at least half of it is empty */
  uint32_t used;
  /* The index of each master, while it arrives. */
  struct {
    uint32_t number, next_part;
    bool complete; /* a whole one has arrived since the board was begun */
  } masters[BB_MASTERS];
};

/* A table with room for the names of that many records, with those claims of the last one that are still valid. No
 * index has arrived. False: no memory; then nothing has changed. */
bool claims_begin(struct claims *claims, uint32_t capacity, int64_t now_ns);
void claims_free(struct claims *claims);

/* Notes which nodes a part of that master's index calls live. Returns whether it completes the first whole index. */
bool claims_note(struct claims *claims, uint32_t master, const struct relay_index *index,
                 const struct bb_limits *limits, int64_t now_ns);

/* Whether one of these masters (bit n: master n) calls the node of that name live. */
bool claims_are_made(const struct claims *claims, uint64_t masters, uint32_t name, int64_t now_ns);

/* Whether each of these masters has said which nodes it calls live. */
bool claims_are_complete(const struct claims *claims, uint64_t masters);

#endif

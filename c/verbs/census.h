/* Looks at a board for the short verbs: the states of its nodes from the liveness column, and the problems of some
 * of them from their records. Uses the rules of judge/overview.h; a board that cannot be read ends the program by
 * give_up(). */
#ifndef BB_CENSUS_H
#define BB_CENSUS_H
#include "../base/words.h"
#include "../beoboard.h"
#include "../judge/overview.h"
#include "verboptions.h"

/* One look at all nodes, and the wanted ones. */
struct census {
  const struct node_query *query;
  struct bb_board board;
  const struct bb_board_header *header; /* of the copy */
  struct bb_look look;
  const uint8_t *states; /* of each node, an enum beoboard_state */
  uint32_t nodes;
  uint8_t *is_asked;      /* of each node; NULL: all are wanted */
  const char **called;    /* of each node, the name that was asked for; NULL: names are the board's */
  const char **not_on_board; /* names that are not on the board */
  size_t not_on_board_count;
  bool stalled; /* or retired: nothing is known about nodes */
  uint32_t counts[BEOBOARD_NSTATES]; /* of the wanted nodes */
  uint8_t *copy;                     /* where census_look() copies a node to */
  size_t copy_bytes;
  struct bb_overview told;
};

/* Some nodes, in the order of the board, which has to stay mapped: it holds their names. */
struct node_list {
  uint32_t *numbers;
  const char **names;
  size_t count;
};

/* One node, looked at by itself. `record` is valid until the next look. */
struct node_look {
  const struct bb_record *record;
  const struct bb_slot *newest; /* NULL: it has no report */
  struct bb_look look;
  int state;
};

/* Of a board that is open, or NULL: that of the query. */
void census_read(struct census *census, const struct node_query *query, const struct bb_board *board);

/* The wanted nodes in one of these states, a bit each. */
struct node_list census_in_states(const struct census *census, uint32_t states);

/* What else may be wanted of a node. */
struct node_wish {
  uint32_t states;        /* a bit each */
  uint64_t for_ms;        /* that it is in its state for so long; 0: it does not matter */
  uint32_t problems;      /* a bit each, of which it has one; 0: whatever they are */
  bool healthy;           /* that it is live and has no problem */
  const uint8_t *fulfils; /* of each node, whether it fulfils a condition; NULL: there is none */
};

/* The wanted nodes with all that. Links are mentioned then if a wanted node is behind them. */
struct node_list census_wanted(struct census *census, const struct node_wish *wish);

/* Those for which the byte in `is_wanted` is not 0. */
struct node_list census_pick(const struct census *census, const uint8_t *is_wanted);

/* Age of a node's last report in ms, to a ms. */
uint64_t census_age(const struct census *census, uint32_t node);

/* The number of the link by which it came; 0: unknown, or there is none. */
unsigned census_link(const struct census *census, uint32_t node);

/* Looks at one node, a number below the count. */
void census_look(const struct census *census, uint32_t node, struct node_look *out);

/* The problems of the wanted nodes: for each node of the board, bits by the numbers of the problems, 0 unless it is
 * live or uncertain. */
uint32_t *census_problems(const struct census *census);

/* What is remembered of a node, on the board itself; NULL: nothing, or the board has no memory that reaches so far. */
const struct bb_memory *census_memory(const struct census *census, uint32_t node);

/* The problems of which an episode of the wanted nodes is not over, likewise. */
uint32_t *census_recent(const struct census *census);

/* Behind the problems: the health file and the GPUs' source. And how many bits higher those stand that were shown less
 * than a minute ago. */
enum { CENSUS_THINGS = BEOBOARD_NPROBLEMS + 2, CENSUS_PRESENT = 16 };

/* Those of them that are not measured any more, likewise: for a while, or only since they were shown. With sources that
 * are gone, unless a problem tells it. */
uint32_t *census_unmeasured(const struct census *census);

/* CLOCK_MONOTONIC of when a problem was last measured, or its source was gone, ms; see "Not measured" in
 * proto/board-v2.md. */
uint64_t census_measured(const struct census *census, uint32_t node, int thing);

/* The age of a time of CLOCK_MONOTONIC, ms. */
uint64_t census_ago(const struct census *census, uint64_t ms);

/* The message when nothing is known: that the receiver is stalled, and the age of its heartbeat. */
void add_stalled(struct words *words, const struct census *census);
void add_heartbeat(struct words *words, const struct census *census);

#endif

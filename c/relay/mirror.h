/* Writes a board that mirrors another one: stores what a relay sends, by this machine's clock. The rules and their
 * proof are in proto/relay-v1.md. Has no clock of its own except for the header: the caller passes every time. Not
 * thread-safe. */
#ifndef BB_MIRROR_H
#define BB_MIRROR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../format/layout.gen.h"
#include "../rules/keyring.h"
#include "bounds.h"

struct bb_mirror_options {
  const char *path;
  const char *site;
  const char *const *masters;
  size_t master_count;
  uint32_t followed; /* which of them; master_count: none yet */
  const char *cluster_name;
  uint32_t cluster_id;
  uint32_t capacity;
  int64_t uncertain_after_ns, silent_after_ns; /* The master's limits. */
  uint64_t longest_interval_ms; /* 0: no limit */
  uint64_t instance, origin; /* of the master's board */
  int64_t now_ns;  /* Every link listens since then. */
  /* Without keys the relay's word is enough. With them each report has to be proved and in order as a receiver has it
   * (order.h), by the master's stamps. */
  const struct bb_key *keys;
  size_t key_count;
  enum bb_auth_alg required; /* at least */
  uint64_t clock_window_ns;
};

/* What became of a message. */
enum bb_mirror_outcome {
  BB_MIRROR_ACCEPTED,
  BB_MIRROR_MALFORMED, /* nothing of it was taken */
  BB_MIRROR_UNPLACED,  /* the board could not be put in its place, and is gone: it has to be begun anew */
  /* it would lie ahead of this machine's clock: one of both stood still, and the board has to be begun anew */
  BB_MIRROR_AHEAD,
};

/* Counted since the board was begun. */
struct bb_mirror_counts {
  uint64_t laid;     /* reports */
  uint64_t unfit;    /* entries with impossible contents */
  uint64_t unproved; /* reports that were not stored because they lacked a proof, or were not newer */
  uint64_t full;     /* reports of records for which there is no room */
  uint64_t doubtful; /* records that have link 0 now because there is no good bound */
  uint64_t vetoed;   /* and records that have it because another master calls them live */
  uint64_t missing;  /* records of the last whole index that the board lacks */
  bool whole;        /* whether the board has held all of one index */
};

struct bb_mirror;

/* Makes a board that says that nothing is known; it replaces an earlier board of a mirror. NULL, and one line in
 * `why`, if that fails. */
struct bb_mirror *bb_mirror_open(const struct bb_mirror_options *options, char *why, size_t why_size);

/* Begins a new board. It replaces the old one, which is then retired, when it holds all of one index: until then the
 * old one stays and says that nothing is known, because its heartbeat stands still. False, and one line in `why`:
 * nothing has changed, or another process has the path by now. */
bool bb_mirror_renew(struct bb_mirror *mirror, const struct bb_mirror_options *options, char *why, size_t why_size);

/* A clock stood still: nothing on the board can be trusted any more, and readers see that nothing is known. */
void bb_mirror_distrust(struct bb_mirror *mirror);

/* Whether the board is still at its path: 0; 1: it is not, and has to be begun anew; -1 or BB_PATH_HELD as in
 * board/writer.h. */
int bb_mirror_check_path(struct bb_mirror *mirror, char *why, size_t why_size);

/* Shuts down cleanly: the board stays readable, marked as closed. */
void bb_mirror_close(struct bb_mirror *mirror);

/* Stores the contents of a batch, from its head to before its signature. If its sweep is complete, its heartbeats
 * count. */
enum bb_mirror_outcome bb_mirror_batch(struct bb_mirror *mirror, const uint8_t *message, size_t length,
                                       const struct bb_mirror_clock *clock, int64_t now_ns);

/* Reports from before `now_ns` may be missing: every link listens anew. */
void bb_mirror_gap(struct bb_mirror *mirror, int64_t now_ns);

/* Compares a part of an index of the followed master, likewise from its head on. Parts come in order. After the last
 * part it repairs what it can: the caller makes sure that no batch is missing after the one that the index names. */
enum bb_mirror_outcome bb_mirror_index(struct bb_mirror *mirror, const uint8_t *message, size_t length, int64_t now_ns);

/* Numbers of records that the last index had and the board still lacks, at most `most`; returns how many. */
uint32_t bb_mirror_missing(struct bb_mirror *mirror, uint32_t *numbers, uint32_t most);

/* Notes which nodes a part of another master's index calls live. */
enum bb_mirror_outcome bb_mirror_claims(struct bb_mirror *mirror, uint32_t master, const uint8_t *message,
                                        size_t length, int64_t now_ns);

/* Checks all records, about once a second: a node that is not heard here, and that a heard master calls live, gets
 * link 0, and loses it when no master does any more; who is silent then is noted. `heard`: bit n for master n. */
void bb_mirror_review(struct bb_mirror *mirror, uint64_t heard, int64_t now_ns);

void bb_mirror_counts(const struct bb_mirror *mirror, struct bb_mirror_counts *counts);
#endif

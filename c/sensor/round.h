/* One round: looks at the board once, and writes what Grid Engine is told of each host. In doubt a host is told with
 * zeros, and none is left out: a queue whose host has no value goes into alarm. */
#ifndef BB_ROUND_H
#define BB_ROUND_H
#include "../base/jobrules.h"
#include "../base/words.h"
#include "hosts.h"

/* From the command line, the same for every round. */
struct round_options {
  const char *board, *owner, *domain;
  uint32_t problems; /* those that are counted, a bit each */
  struct portion brake;
};

/* What Grid Engine is told of one host; zeros in doubt. */
struct host_verdict {
  uint8_t state; /* of enum host_state */
  uint8_t problems;
  uint32_t age_s;
};
enum host_state { HOST_FINE, HOST_LEFT, HOST_SILENT };

/* The board and the last look at it. All zero at first; then `verdicts` and `states` have room for the hosts. */
struct round {
  beoboard *b;
  struct host_verdict *verdicts;
  int8_t *states; /* below 0: the board has no such node */
  int known;       /* how many hosts the board has; -1: that is not known */
  char why[200]; /* why nothing is known, or all are let through; empty: neither */
};

/* Looks at the board. Nothing that happens to it lets this fail. */
void round_look(struct round *round, const struct round_options *options, const struct hosts *hosts);

/* The most bytes that round_write() needs. */
size_t round_bytes(const struct hosts *hosts);

/* `until`: s since 1970. */
void round_write(const struct host_verdict *verdicts, const struct hosts *hosts, uint64_t until, struct words *out);

#endif

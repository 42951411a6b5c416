/* One round: looks at the board once, and writes what Grid Engine is told of each host. In doubt a host is told with
 * zeros, and none is left out: a queue whose host has no value goes into alarm. */
#ifndef BB_ROUND_H
#define BB_ROUND_H
#include "../base/jobrules.h"
#include "../base/words.h"
#include "hosts.h"

/* What is asked of each round. */
struct manner {
  const char *board, *owner;
  uint32_t problems; /* those that are counted, a bit each */
  struct brake brake;
};

/* Of one host, zeros in doubt. */
struct told {
  uint8_t state; /* of enum told_state */
  uint8_t problems;
  uint32_t age_s;
};
enum told_state { TOLD_FINE, TOLD_LEFT, TOLD_SILENT };

/* All zero at first; `told` has room for the hosts. */
struct sight {
  beoboard *b;
  struct told *told;
  int8_t *states;
  char why[200]; /* why nothing is known, or all are let through; empty: neither */
};

/* Looks at the board. Nothing that happens to it lets this fail. */
void round_look(struct sight *sight, const struct manner *manner, const struct hosts *hosts);

/* The most bytes that round_write() needs. */
size_t round_bytes(const struct hosts *hosts);

/* `until`: s since 1970. */
void round_write(const struct told *told, const struct hosts *hosts, uint64_t until, struct words *out);

#endif

/* What the kernel drops: of the sockets, and of the machine before any socket. Finds out why, and tells the board. */
#ifndef BB_DROPS_H
#define BB_DROPS_H
#include <stdbool.h>
#include <stdint.h>

#include "../board/writer.h"
#include "kerneldrops.h"
#include "sockets.h"

/* The kernel's counters for all UDP sockets of the namespace; `known`: it has them. */
struct counted {
  bool known;
  uint64_t buffers; /* datagrams that found a full buffer */
  uint64_t errors;  /* datagrams dropped for that reason, a wrong checksum or a filter */
};

/* Socket drops that no full buffer explains yet. */
struct unexplained {
  uint64_t drops;
  int64_t seen_ns; /* a time before they were read */
};

struct drops {
  struct bb_kernel_drops *kernel; /* NULL: it does not tell */
  struct counted counted; /* the part that has explained drops, or had none to explain */
  int64_t counted_ns;     /* when that was last updated */
  struct unexplained unexplained;
  uint64_t latest;        /* drops of the last count */
  uint64_t softnet_dropped, softnet_processed, accepted; /* until the present second */
};

/* Begins before there is a socket: every drop of one of ours is explained by what is counted from now on. */
void drops_open(struct drops *drops);
void drops_close(struct drops *drops);

/* Counts what the kernel has dropped of these sockets, and finds out why. `now_ns`: a time before this look;
 * `heartbeat_ns`: the last heartbeat. Up to when the next one may go. */
int64_t drops_count(struct drops *drops, struct sockets *sockets, struct bb_writer *writer, int64_t heartbeat_ns,
                    int64_t now_ns);

/* Once a second: packets that this machine dropped before a socket could count them. */
void drops_count_softnet(struct drops *drops, struct bb_writer *writer);

#endif

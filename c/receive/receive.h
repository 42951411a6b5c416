/* Receives: drains the sockets on a tick, stamps the datagrams, and passes them to the board's writer, in its own
 * thread. Parses nothing and allocates nothing per datagram; knows nothing of JavaScript. */
#ifndef BB_RECEIVE_H
#define BB_RECEIVE_H
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "../board/reader.h"
#include "../board/writer.h"
#include "local.h"

struct bb_receiver;

/* The state of the receiver, at most about a second old. */
struct bb_receiver_status {
  uint64_t received, accepted, duplicate, nodes;
  uint64_t kernel_drops;     /* datagrams for which there was no room in a socket buffer */
  uint64_t unfit_drops;      /* that the kernel dropped for another reason: a wrong checksum, or our filter */
  uint64_t softnet_drops;    /* packets of any kind that the machine dropped before it processed them */
  uint64_t missed;           /* and that the interfaces dropped before that, all links together */
  uint64_t refused[32];
  struct bb_sender senders[BB_SENDERS]; /* rejected senders; see the table in proto/board-v2.md */
  uint64_t receive_buffer;   /* granted, the smallest of the sockets */
  bool filtering;            /* whether a flood of junk is dropped by the kernel */
  uint64_t heartbeat_ns;     /* read just now, and not up to a second ago: it shows whether the thread hangs */
  uint64_t publications;     /* how often the board was missing from its path, and was published again */
  /* the total of all stops of more than a second: stopped, frozen, or suspended with the machine */
  uint64_t stood_still_ns;
  char trouble[256];         /* one line about what goes wrong now; empty: nothing */
  bool displaced;            /* another receiver has the board, as `trouble` says: the thread has ended */
};

/* Junk, which is datagrams of another size or magic: the number per second above which the kernel is asked to drop
 * it. */
#define BB_FLOOD 50000

/* Makes a receiver without a socket or a board. `drain_ns`: the drain interval; `flood`: BB_FLOOD, or another number
 * for tests. */
struct bb_receiver *bb_receiver_new(int64_t drain_ns, uint64_t flood);

/* Listens at a numeric address. Returns the port that was bound, or -1 and one line in `why`. */
int bb_receiver_listen(struct bb_receiver *receiver, const char *host, uint16_t port, char *why, size_t why_size);

/* Listens on a UDP socket that a service manager has bound and keeps while no receiver runs. Waiting datagrams are
 * stored if the time of their arrival is certain; otherwise they are left out, as if nobody had listened. `host` is
 * its address. Returns the port, or -1 and one line in `why`. */
int bb_receiver_adopt(struct bb_receiver *receiver, int fd, char host[INET6_ADDRSTRLEN], char *why, size_t why_size);

/* Joins a multicast group on the interface (NULL: the routing table decides): on the socket that listens at all
 * addresses of this port if there is one, otherwise on its own socket. Returns the port, or -1 and one line in
 * `why`. */
int bb_receiver_join(struct bb_receiver *receiver, const char *group, uint16_t port, const char *interface, char *why,
                     size_t why_size);

/* Networks of virtual machines and containers of this machine, behind an interface that leads to others, too: what they
 * send counts as sent by this machine itself. In place of those before; also while the thread runs. False: no memory,
 * and nothing has changed. */
bool bb_receiver_set_local(struct bb_receiver *receiver, const struct bb_network *networks, size_t count);

/* Owns the writer from now on, drains once, and starts the thread: 0, or -errno. Sockets are bound before a board is
 * made or taken over, so that a receiver that cannot listen has changed nothing. `displaced` (NULL: nothing) is called
 * in the thread, as its last action, if another receiver has claimed the board: the status says so, and then only
 * bb_receiver_stop() is useful. */
int bb_receiver_start(struct bb_receiver *receiver, struct bb_writer *writer, void (*displaced)(void *context),
                      void *context);

/* Calls `job` in the receive thread between two drains, the only place where the board may be changed, and waits
 * until it is done. During a long job (a new board of 100,000 nodes) the socket buffers hold the datagrams. */
void bb_receiver_run(struct bb_receiver *receiver, void (*job)(struct bb_writer *writer, void *context), void *context);

void bb_receiver_status(struct bb_receiver *receiver, struct bb_receiver_status *out);

/* Ends the thread after a last drain, closes the board cleanly if there is one, and frees everything. */
void bb_receiver_stop(struct bb_receiver *receiver);
#endif

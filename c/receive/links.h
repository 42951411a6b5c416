/* The links by which reports come: what rtnetlink and the datagrams tell of each, and what follows for the board. All
 * news of a link comes here, and nothing else writes what the board says of links; nothing board-wide is written
 * here. */
#ifndef BB_LINKS_H
#define BB_LINKS_H
#include "../board/arrival.h"
#include "../board/linktable.h"
#include "../board/reader.h"
#include "kerneldrops.h"
#include "local.h"
#include "sockets.h"

/* What is known about a link besides the board's table; all of it is about the interface that has its name now. */
struct link {
  unsigned index;              /* 0: there is none */
  struct bb_destination to;    /* the last destination of its reports */
  bool own;                    /* that is an address of ours: not a broadcast or a group */
  bool unreachable;            /* what is sent there does not reach us now */
  bool in_pieces;              /* its reports are joined from IP fragments */
  bool joins[2];               /* such reports came by IPv4, by IPv6, since we began; neither: not known */
  /* when the kernel last failed to join some, and since when it does; 0: it does not */
  int64_t unjoined_ns, unjoined_since_ns;
  bool changed, went_down;     /* in the present drain something happened to it; it went down, even if it is up again */
  int64_t checked_ns;          /* when a report was last checked for its destination */
  int64_t unreachable_ns;      /* when it was last found to lack the address */
  uint64_t accepted, missed, packets; /* counted until the present second */
};

/* How many interfaces are remembered by which reports of the listed networks came. */
#define BB_BRIDGES 16

struct links {
  struct bb_links *table; /* the board's */
  struct sockets *sockets;
  struct bb_kernel_drops *kernel_drops; /* NULL: it does not tell */
  struct bb_interfaces *interfaces; /* NULL: nothing can be learned about any, because of `unwatched` */
  int unwatched;                    /* errno of why they cannot be watched now; 0: they are watched */
  struct link links[BB_LINKS];      /* by the number of the link */
  uint32_t count;                   /* the highest used number */
  bool counts_unjoined; /* once a second, because some link is in pieces */
  uint64_t unjoined[2]; /* until the present second, by family; UINT64_MAX: not known */
  struct bb_networks local; /* what runs on this machine behind an interface that leads to others, too */
  char bridges[BB_BRIDGES][IF_NAMESIZE]; /* the interfaces by which its reports came */
  uint32_t bridge_count;
  bool bridge_down; /* one of them is: the loopback's link, which judges these nodes, listens anew until it is up */
};

/* Watches the interfaces. Neither socket nor board is needed yet. */
void links_open(struct links *links, struct sockets *sockets, struct bb_kernel_drops *kernel_drops);
void links_close(struct links *links);

/* Adopts a board's links, and finds out their present state. */
void links_begin(struct links *links, struct bb_links *table);

/* Becomes readable when there is news; -1: interfaces are not watched. */
int links_fd(const struct links *links);

/* Processes the changes of interfaces and addresses: after the time of the drain was sampled, and before a heartbeat
 * is stored. What went down before that time is known now, and what went down after it was heard until then. */
void links_drain(struct links *links);

/* Sets the link of a datagram that came to that socket by the interface of that number: the loopback's if this machine
 * sent it, or something of the listed networks. If its interface has no number of a link it is passed on, and gets one
 * if the datagram is accepted. */
void links_find(const struct links *links, const struct listener *listener, unsigned index, struct bb_arrival *arrival);

/* Notes what an accepted report shows about its link: it came by the interface of that number, and was sent to that
 * address. */
void links_note(struct links *links, const struct listener *listener, const struct bb_arrival *arrival, unsigned index,
                const uint8_t to[16]);

/* Puts these networks in place of the listed ones. False: no memory, and nothing has changed. */
bool links_set_local(struct links *links, const struct bb_network *networks, size_t count);

/* Binds and joins again what has lost its interface, checks all destinations, counts what interfaces dropped and what
 * could not be joined from pieces, and which links are dark. Once a second. `why` gets one line about what cannot be
 * heard; if it has one already, only about what is as important. */
void links_keep(struct links *links, char *why, size_t size);

/* Packets that the interfaces of all links dropped. */
uint64_t links_missed(const struct links *links);

#endif

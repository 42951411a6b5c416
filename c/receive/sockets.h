/* The sockets that reports come to, and the multicast groups that they have joined. Receives nothing. */
#ifndef BB_SOCKETS_H
#define BB_SOCKETS_H
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interfaces.h"
#include "stamps.h"

#ifndef IP_RECVFRAGSIZE
#define IP_RECVFRAGSIZE 25 /* Linux 4.10 */
#endif
#ifndef IPV6_RECVFRAGSIZE
#define IPV6_RECVFRAGSIZE 77 /* Linux 4.11 */
#endif

#define BB_MOST_SOCKETS 16

/* A socket that reports come to. */
struct listener {
  int fd;
  struct sockaddr_storage address; /* as bound */
  uint32_t drops;              /* as the kernel last reported it */
  struct heard heard;
  bool foreign;                /* of another namespace, or unknown: nothing is known about its interfaces */
  unsigned bound;              /* the interface that it is bound to, 0: none */
  char interface[IF_NAMESIZE]; /* its name */
};

/* How many groups on named interfaces; the kernel allows a socket twenty. */
#define MOST_MEMBERSHIPS 64

/* A group that was joined, on a named interface or on the one that the routing table chose. When a named interface
 * disappears, so does the membership, and it does not come back with another interface of that name (a driver that
 * is loaded again, a bond that is made again), nor with the same one after it was in another namespace; but the
 * socket's own list of groups stays as it is. */
struct membership {
  int fd;
  struct sockaddr_storage group; /* with the port */
  char interface[IF_NAMESIZE]; /* empty: none was named, and the membership is not watched */
  unsigned index; /* the interface on which we are a member; 0: none */
  bool lost;      /* that interface disappeared; another one may have its number now */
};

struct sockets {
  struct listener listeners[BB_MOST_SOCKETS];
  int count;
  struct membership memberships[MOST_MEMBERSHIPS];
  int membership_count;
  uint64_t buffer; /* granted, the smallest of the sockets; UINT64_MAX: there is none */
};

/* As bb_receiver_listen(), bb_receiver_adopt() and bb_receiver_join(). */
int sockets_listen(struct sockets *sockets, const char *host, uint16_t port, char *why, size_t size);
int sockets_adopt(struct sockets *sockets, int fd, char host[INET6_ADDRSTRLEN], char *why, size_t size);
int sockets_join(struct sockets *sockets, const char *group, uint16_t port, const char *interface, char *why,
                 size_t size);

/* What the receiver before us left: until when it heard, and the distance of the clocks then; `known`: there was
 * one. */
void sockets_look_back(struct sockets *sockets, bool known, int64_t heard_ns, int64_t distance);

/* Binds sockets and joins groups again whose interface has been replaced; `why` gets one line about what cannot be
 * heard. `interfaces`: NULL: the kernel is asked. `missed` is called with the name of each interface that was not heard
 * since the last time. */
void sockets_keep(struct sockets *sockets, const struct bb_interfaces *interfaces,
                  void (*missed)(void *context, const char *interface), void *context, char *why, size_t size);

/* The interface of that number has disappeared, and our memberships on it. 0: any may have disappeared. */
void sockets_lose_memberships(struct sockets *sockets, unsigned index);

/* Whether we are a member of that group at that port (0: any) on that interface, as far as we have joined it
 * ourselves. */
bool sockets_are_members(const struct sockets *sockets, const uint8_t group[16], uint16_t port, const char *interface);

/* Whether a socket of ours receives what is sent to that address at that port (0: any). */
bool sockets_receive(const struct sockets *sockets, const uint8_t address[16], uint16_t port);

/* Whether one is in another namespace. */
bool sockets_are_foreign(const struct sockets *sockets);

/* Drops of a socket since the last call. Asked for at each drain, because SO_RXQ_OVFL comes only with the next
 * datagram. */
uint32_t listener_drops(struct listener *listener);

/* Makes the kernel drop everything without the size and the magic of a report, or stop doing so; returns whether it
 * does. */
bool sockets_filter(struct sockets *sockets, bool on);

#endif

#include "receive.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../board/reader.h"
#include "../board/seqlock.h"
#include "interfaces.h"
#include "kerneldrops.h"

#define BATCH 64
/* Slots are prefetched so many datagrams ahead: each has 1,280 bytes, and the first-level cache is small. */
#define AHEAD 3
/* Larger than a report, so that a datagram that is too long is noticed; the kernel cuts the rest. */
#define ROOM (BB_REPORT_BYTES + 64)
#define SECOND INT64_C(1000000000)
#define HEARTBEAT_NS (SECOND / 10)
/* From so many reports in one drain on, the next tick comes without waiting for a report first. */
#define BUSY 4
/* If fewer reports come than one in so long, each is taken on arrival and does not wait for the tick: 400 a second.
 * Up to AT_ONCE reports may be closer to each other. */
#define SELDOM_NS (SECOND / 400)
#define AT_ONCE 8
#define PAUSE_NS SECOND
#define CLOCK_STEP_NS (SECOND / 100)
#define WANTED_BUFFER (64 << 20)
/* For how long a drain receives. The rest is left to the next drain: a flood must not delay our heartbeat. */
#define MOST_DRAIN_NS (SECOND / 20)

/* A socket. The kernel stamps what comes by the wall clock, and the board wants the monotonic one: so of each socket it is known up to when
 * it was heard, and how far the clocks were apart by then. A datagram's stamp is the kernel's, by that distance, if that lies behind
 * `heard_ns` and the clocks have not moved against each other since; else there is only the bound.
 *
 *   the socket                                      heard_ns                 heard_offset        inherited  the bound
 *   ----------------------------------------------  -----------------------  ------------------  ---------  ---------------------------
 *   bound by us                                     before it was bound      then                no         heard_ns
 *   passed to us, and never one of ours: emptied    when it was empty        then                no         heard_ns
 *   passed, and drained by a receiver before us     his last heartbeat       at his last report  yes        none: what needs it is left out
 *   the same, without a board that tells of him: it is emptied, as in the second row
 *   drained until it was empty                      the drain's beginning    then                no         heard_ns
 *   not emptied by a drain, in a flood              what was last taken      before heard_ns     as before  as before
 *
 * In the last row the distance must be one from before `heard_ns`: it is sampled at the beginning of a drain, waits in `sampled_*` until all
 * from before then has been taken, and is `heard_offset` only then. */
struct listener {
  int fd;
  struct sockaddr_storage address; /* as bound */
  uint32_t drops;         /* as the kernel last reported it */
  int64_t heard_ns;       /* what arrived before has been received, or was dropped */
  int64_t heard_offset;   /* CLOCK_REALTIME minus CLOCK_MONOTONIC, from no later than then */
  int64_t sampled_ns, sampled_offset; /* a later one, and when it was sampled */
  int64_t latest_ns;      /* the stamp of the last datagram */
  bool empty;             /* in the present drain */
  bool inherited;         /* what waits in it came while another receiver drained it, or none did */
  bool foreign;           /* of another namespace, or unknown: nothing is known about its interfaces */
  unsigned bound;         /* the interface that it is bound to, 0: none */
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

#ifndef IP_RECVFRAGSIZE
#define IP_RECVFRAGSIZE 25 /* Linux 4.10 */
#endif
#ifndef IPV6_RECVFRAGSIZE
#define IPV6_RECVFRAGSIZE 77 /* Linux 4.11 */
#endif

/* What the kernel reports about a datagram: two cache lines. The size of its fragments comes only with one that was joined from some. */
struct about {
  _Alignas(64) uint8_t control[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(int))];
  union {
    sa_family_t family;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } from;
};

/* What is known about a link besides the board's table; all of it is about the interface that has its name now. */
struct road {
  unsigned index;       /* 0: there is none */
  struct bb_destination to; /* the last destination of its reports */
  bool own;             /* that is an address of ours: not a broadcast or a group */
  bool lacks;           /* what is sent there does not reach us now */
  bool in_pieces;       /* its reports are joined from IP fragments */
  bool joins[2];        /* such reports came by IPv4, by IPv6, since we began; neither: not known */
  int64_t unjoined_ns, unjoined_since_ns; /* when the kernel last failed to join some, and since when it does; 0: it does not */
  bool stirred, went;   /* in the present drain something happened to it; it went down, even if it is up again */
  int64_t learned_ns;   /* when a report was last checked for that */
  int64_t lacked_ns;    /* when it was last found to lack the address */
  uint64_t accepted, missed, packets; /* counted until the present second */
};

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

struct bb_receiver {
  struct bb_writer *writer;
  struct bb_interfaces *interfaces; /* NULL: nothing can be learned about any, because of `unwatched` */
  int unwatched;                    /* errno of why they cannot be watched now; 0: they are watched */
  struct bb_kernel_drops *kernel_drops;
  struct road roads[BB_LINKS]; /* by the number of the link */
  uint32_t road_count;         /* the highest used number */
  struct counted counted;      /* the part that has explained drops, or had none to explain */
  int64_t counted_ns;          /* when that was last updated */
  struct unexplained unexplained;
  bool counts_unjoined; /* once a second, because some link is in pieces */
  uint64_t unjoined[2]; /* until the present second, by family; UINT64_MAX: not known */
  uint64_t softnet_dropped, softnet_processed, accepted; /* until the present second */
  int64_t drain_ns;
  struct listener listeners[BB_MOST_SOCKETS];
  int count;
  struct membership memberships[MOST_MEMBERSHIPS];
  int membership_count;
  uint64_t buffer;
  uint64_t asked; /* the request: to stop, or to run a job */
  int wake;       /* eventfd, which wakes a thread that waits for reports */
  bool started;
  pthread_t thread;
  void (*displaced)(void *);
  void *displaced_context;
  int64_t last_began_ns, last_end_boot_ns, last_heartbeat_boot_ns;
  uint64_t stood_still_ns;
  uint64_t heartbeat_ns; /* the last one, for code that watches the thread */
  bool again; /* the last drain wants another one at once */
  bool busy;  /* it received so much that there will be something at the next tick, too */
  int64_t spare_ns; /* SELDOM_NS for each report that may be taken before its tick; below 0: too many came */
  uint64_t flood, junk; /* the junk per second above which to filter; what came since `junk_since_ns` */
  int64_t junk_since_ns;
  bool filtering;
  int64_t housekept_ns;
  pthread_mutex_t mutex; /* protects the following, up to the messages */
  pthread_cond_t done;
  struct bb_receiver_status status;
  bool stop;
  bool ended; /* the thread has ended its use of the writer, by itself */
  void (*job)(struct bb_writer *, void *);
  void *job_context;
  struct mmsghdr messages[BATCH];
  struct iovec vectors[BATCH];
  struct about about[BATCH];
  _Alignas(struct bb_report) uint8_t data[BATCH][ROOM];
};

static struct counted read_counted(const struct bb_receiver *r) {
  struct counted c = {0};
  c.known = r->kernel_drops != NULL && bb_kernel_drops_buffers(r->kernel_drops, &c.buffers, &c.errors);
  return c;
}

struct bb_receiver *bb_receiver_new(int64_t drain_ns, uint64_t flood) {
  struct bb_receiver *r = (struct bb_receiver *)aligned_alloc(_Alignof(struct bb_receiver), sizeof *r);
  if (r == NULL) return NULL;
  memset(r, 0, sizeof *r);
  r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (r->wake < 0) {
    free(r);
    return NULL;
  }
  pthread_mutex_init(&r->mutex, NULL);
  pthread_cond_init(&r->done, NULL);
  r->interfaces = bb_interfaces_open();
  r->unwatched = r->interfaces == NULL ? errno : 0;
  r->kernel_drops = bb_kernel_drops_open("/proc/thread-self", "/sys");
  /* Before there is a socket: every drop of one of ours is explained by what is counted from now on. */
  r->counted = read_counted(r);
  r->drain_ns = drain_ns;
  r->flood = flood;
  r->buffer = UINT64_MAX;
  for (int i = 0; i < BATCH; i++) {
    r->vectors[i] = (struct iovec){r->data[i], ROOM};
    r->messages[i].msg_hdr.msg_iov = &r->vectors[i];
    r->messages[i].msg_hdr.msg_iovlen = 1;
  }
  return r;
}

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, sampled so close together that no preemption is in between. */
static int64_t clock_distance(void) {
  int64_t best = 0, narrowest = INT64_MAX;
  for (int i = 0; i < 3 && narrowest > 20000; i++) {
    const int64_t before = bb_clock_ns(CLOCK_MONOTONIC);
    const int64_t real = bb_clock_ns(CLOCK_REALTIME);
    const int64_t after = bb_clock_ns(CLOCK_MONOTONIC);
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = real - (before + narrowest / 2);
  }
  return best;
}

/* ---- addresses: 16 bytes, IPv4 as ::ffff:a.b.c.d ---- */

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static void map_v4(uint8_t address[16], const struct in_addr *v4) {
  memcpy(address, v4_prefix, sizeof v4_prefix);
  memcpy(address + sizeof v4_prefix, v4, 4);
}

/* The address in a socket address, of either family. */
static void map_address(uint8_t address[16], const void *socket_address) {
  const struct sockaddr *a = (const struct sockaddr *)socket_address;
  if (a->sa_family == AF_INET6) memcpy(address, &((const struct sockaddr_in6 *)socket_address)->sin6_addr, 16);
  else map_v4(address, &((const struct sockaddr_in *)socket_address)->sin_addr);
}

static bool is_v4(const uint8_t address[16]) { return memcmp(address, v4_prefix, sizeof v4_prefix) == 0; }

/* ---- sockets ---- */

/* Everything that arrived before `ns` has been received; `distance`: of the clocks, then or before. */
static void set_heard(struct listener *l, int64_t ns, int64_t distance) {
  l->heard_ns = l->sampled_ns = ns;
  l->heard_offset = l->sampled_offset = distance;
}

static void set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

/* 0 if the kernel does not report it. */
static int get(int fd, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : 0;
}

/* The options of all our sockets. */
static void set_up(int fd, int family, uint64_t *buffer) {
  set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  set(fd, family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP, family == AF_INET6 ? IPV6_RECVPKTINFO : IP_PKTINFO, 1);
  set(fd, family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP, family == AF_INET6 ? IPV6_RECVFRAGSIZE : IP_RECVFRAGSIZE, 1);
  if (family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
  else set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
  set(fd, SOL_SOCKET, SO_RCVBUFFORCE, WANTED_BUFFER); /* beyond rmem_max, if CAP_NET_ADMIN allows it */
  const uint64_t granted = (uint64_t)get(fd, SO_RCVBUF);
  if (granted < *buffer) *buffer = granted;
}

static int open_socket(const struct addrinfo *address, uint64_t *buffer) {
  const int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  /* No SO_REUSEADDR: with it any local user could bind the same port and take the reports. */
  if (address->ai_family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  set(fd, SOL_SOCKET, SO_RCVBUF, WANTED_BUFFER);
  set_up(fd, address->ai_family, buffer);
  if (bind(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62 /* Linux 5.1 */
#endif

/* A socket is bound to an interface by its number: if it has an address of link scope, or because whoever passed it
 * wanted so. */
static void note_bound(struct listener *l) {
  const unsigned index = (unsigned)get(l->fd, SO_BINDTOIFINDEX);
  if (index != 0 && !l->foreign && if_indextoname(index, l->interface) != NULL) l->bound = index;
}

static uint16_t port_of(const struct sockaddr_storage *a) {
  return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port : ((const struct sockaddr_in *)a)->sin_port);
}

static void set_port(struct sockaddr_storage *a, uint16_t port) {
  if (a->ss_family == AF_INET6) ((struct sockaddr_in6 *)a)->sin6_port = htons(port);
  else ((struct sockaddr_in *)a)->sin_port = htons(port);
}

int bb_receiver_listen(struct bb_receiver *r, const char *host, uint16_t port, char *why, size_t size) {
  if (r->count == BB_MOST_SOCKETS) {
    snprintf(why, size, "at most %d addresses to listen on", BB_MOST_SOCKETS);
    return -1;
  }
  char service[8];
  snprintf(service, sizeof service, "%u", (unsigned)port);
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM};
  struct addrinfo *address = NULL;
  const int error = getaddrinfo(host, service, &hints, &address);
  if (error != 0) {
    snprintf(why, size, "cannot listen on %s: %s", host, gai_strerror(error));
    return -1;
  }
  /* Sampled before the socket is bound: nothing in it can be older. */
  const int64_t bound_ns = bb_clock_ns(CLOCK_MONOTONIC);
  const int64_t distance = clock_distance();
  const int fd = open_socket(address, &r->buffer);
  freeaddrinfo(address);
  if (fd < 0) {
    const char *hint = errno == EADDRINUSE   ? "; stop the program that has it or choose another --listen"
                       : errno == EACCES       ? "; ports below 1024 need root"
                       : errno == EADDRNOTAVAIL ? "; no interface here has that address"
                                                : "";
    snprintf(why, size, "cannot listen on %s port %u: %s%s", host, (unsigned)port, strerror(errno), hint);
    return -1;
  }
  struct sockaddr_storage bound;
  socklen_t length = sizeof bound;
  getsockname(fd, (struct sockaddr *)&bound, &length);
  struct listener *l = &r->listeners[r->count++];
  *l = (struct listener){.fd = fd, .address = bound};
  note_bound(l);
  set_heard(l, bound_ns, distance);
  return port_of(&bound);
}

/* Drops of this socket since the last call. Read at each drain, because SO_RXQ_OVFL comes only with the next
 * datagram. */
static uint32_t new_drops(struct listener *l) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof info;
  if (getsockopt(l->fd, SOL_SOCKET, SO_MEMINFO, info, &length) != 0) return 0;
  const uint32_t drops = info[SK_MEMINFO_DROPS] - l->drops;
  l->drops = info[SK_MEMINFO_DROPS];
  return drops;
}

/* More than the largest buffer holds, so that everything earlier is gone, however much comes meanwhile. */
#define MOST_DISCARDED (1 << 20)

/* Receives what waits in a socket, and discards it: the time of its arrival is unknown. */
static void discard(int fd) {
  uint8_t byte;
  for (int i = 0; i < MOST_DISCARDED && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0; i++) {
  }
}

static void begin_empty(struct listener *l) {
  set_heard(l, bb_clock_ns(CLOCK_MONOTONIC), clock_distance());
  l->inherited = false;
  discard(l->fd);
}

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif

/* The network namespace of a socket; 0: the kernel does not report it. */
static uint64_t namespace_of(int fd) {
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

/* Whether a socket that was passed to us is known to be in our own namespace, whose interfaces we watch. */
static bool is_at_home(int fd) {
  const int fresh = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const uint64_t ours = fresh < 0 ? 0 : namespace_of(fresh);
  if (fresh >= 0) close(fresh);
  return ours != 0 && namespace_of(fd) == ours;
}

int bb_receiver_adopt(struct bb_receiver *r, int fd, char host[INET6_ADDRSTRLEN], char *why, size_t size) {
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof address;
  if (r->count == BB_MOST_SOCKETS) {
    snprintf(why, size, "at most %d sockets to listen on", BB_MOST_SOCKETS);
    return -1;
  }
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 || get(fd, SO_TYPE) != SOCK_DGRAM ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6) || port_of(&address) == 0) {
    snprintf(why, size, "the passed descriptor %d is not a UDP socket with an address; see ListenDatagram= in its unit", fd);
    return -1;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  /* systemd binds with SO_REUSEADDR, and we take that away below, when the socket has been emptied once. So a socket
   * without it has been ours before, and has kernel stamps for everything in it: for what came before these were
   * enabled, the kernel would return the time of reading. */
  const bool inherited = get(fd, SO_REUSEADDR) == 0 && get(fd, SO_TIMESTAMPNS) != 0;
  set_up(fd, address.ss_family, &r->buffer);
  set(fd, SOL_SOCKET, SO_DETACH_FILTER, 0); /* of a receiver that was killed in a flood */
  struct listener *l = &r->listeners[r->count++];
  *l = (struct listener){.fd = fd, .address = address, .inherited = inherited, .foreign = !is_at_home(fd)};
  note_bound(l);
  if (!inherited) begin_empty(l);
  set(fd, SOL_SOCKET, SO_REUSEADDR, 0);
  new_drops(l); /* earlier drops were counted by others */
  if (address.ss_family == AF_INET6) inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, host, INET6_ADDRSTRLEN);
  else inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, host, INET6_ADDRSTRLEN);
  return port_of(&address);
}

/* What waits in a socket that was drained before us came after that receiver's last heartbeat, and its kernel stamps
 * can be trusted if the distance of the clocks is the same as then. Without a board that has these, nothing is
 * known. */
static void look_back(struct bb_receiver *r) {
  int64_t heard_ns, distance;
  const bool known = bb_writer_past(r->writer, &heard_ns, &distance);
  for (int i = 0; i < r->count; i++) {
    struct listener *l = &r->listeners[i];
    if (!l->inherited) continue;
    if (known) set_heard(l, heard_ns, distance);
    else begin_empty(l);
  }
}

/* Whether a socket receives what is sent to any address, at this port. */
static bool takes_all(const struct sockaddr_storage *a, int family, uint16_t port) {
  if (a->ss_family != family || port_of(a) != port) return false;
  if (family == AF_INET) return ((const struct sockaddr_in *)a)->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

/* Joins a group on an interface, or leaves it; returns the result of setsockopt(). */
static int set_membership(int fd, const struct sockaddr_storage *group, unsigned interface, bool member) {
  if (group->ss_family == AF_INET6) {
    struct ipv6_mreq request = {.ipv6mr_multiaddr = ((const struct sockaddr_in6 *)group)->sin6_addr, .ipv6mr_interface = interface};
    return setsockopt(fd, IPPROTO_IPV6, member ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, &request, sizeof request);
  }
  struct ip_mreqn request = {.imr_multiaddr = ((const struct sockaddr_in *)group)->sin_addr, .imr_ifindex = (int)interface};
  return setsockopt(fd, IPPROTO_IP, member ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &request, sizeof request);
}

/* The links of that interface, of what comes whole and in pieces; returns whether one has a number. */
static bool find_both(const struct bb_receiver *r, const char *interface, uint32_t links[2]) {
  for (int i = 0; i < 2; i++) links[i] = bb_writer_find_link(r->writer, interface, i == 1);
  return links[0] != BB_LINK_UNKNOWN || links[1] != BB_LINK_UNKNOWN;
}

/* What was sent to that interface since it was last checked was not heard. If it has no number it may be any of those
 * without one: these listen anew, but their losses still count, because others of them are heard. */
static void have_missed(struct bb_receiver *r, const char *interface) {
  uint32_t links[2];
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  if (!find_both(r, interface, links)) bb_writer_link_anew(r->writer, BB_LINK_OTHERS, now_ns);
  for (int i = 0; i < 2; i++)
    if (links[i] != BB_LINK_UNKNOWN) bb_writer_link_resumed(r->writer, links[i], now_ns);
}

/* The present number of the interface of that name, 0: there is none. False if that is unknown: asking the kernel
 * needs a descriptor, and a lack of descriptors must not look like an interface that is gone. The kernel is asked only
 * where nothing else is known: for a name that it does not have, it first runs modprobe, and we would wait for that. */
static bool find_interface(const struct bb_receiver *r, const char *name, unsigned *index) {
  if (r->interfaces != NULL) {
    const struct bb_interface *is = bb_interfaces_by_name(r->interfaces, name);
    *index = is == NULL ? 0 : is->index;
    return true;
  }
  *index = if_nametoindex(name);
  return *index != 0 || errno == ENODEV;
}

/* Whether there is no interface of that number. */
static bool is_gone(const struct bb_receiver *r, unsigned index) {
  char name[IF_NAMESIZE];
  if (r->interfaces != NULL) return bb_interfaces_by_index(r->interfaces, index) == NULL;
  return if_indextoname(index, name) == NULL && errno == ENXIO;
}

/* Binds sockets again whose interface has been replaced: they would hear nothing any more, although the new one has
 * their address. This needs privileges; without them they stay so, and `why` gets one line. */
static void keep_bindings(struct bb_receiver *r, char *why, size_t size) {
  for (int i = 0; i < r->count; i++) {
    struct listener *l = &r->listeners[i];
    unsigned index;
    if (l->bound == 0 || !find_interface(r, l->interface, &index) || index == l->bound) continue;
    const int wanted = (int)index;
    if (index == 0) snprintf(why, size, "hears nothing on %s: there is no such interface now", l->interface);
    else if (setsockopt(l->fd, SOL_SOCKET, SO_BINDTOIFINDEX, &wanted, sizeof wanted) == 0) l->bound = index;
    else
      snprintf(why, size, "hears nothing on %s, which is another interface now: %s; restart beoboard receive", l->interface,
               strerror(errno));
    have_missed(r, l->interface);
  }
}

/* Joins groups again whose interface has been replaced, or disappeared meanwhile: what was sent then was not heard
 * by that link. If we still cannot join, `why` gets one line. Uses only what is known, because joining takes the
 * kernel's lock of all interfaces. */
static void keep_memberships(struct bb_receiver *r, char *why, size_t size) {
  for (int i = 0; i < r->membership_count; i++) {
    struct membership *m = &r->memberships[i];
    unsigned index;
    if (m->interface[0] == 0 || !find_interface(r, m->interface, &index)) continue;
    if (index != 0 && index == m->index && !m->lost) continue;
    if (index == 0) {
      snprintf(why, size, "hears no group on %s: there is no such interface now", m->interface);
      m->lost = m->lost || (m->index != 0 && is_gone(r, m->index));
    }
    /* An interface that only has another name is still heard. Otherwise the group is left before it is joined: it
     * still counts among those that a socket may have, and with the same number it would not be joined a second
     * time. */
    if (m->index != 0 && (index != 0 || m->lost)) {
      set_membership(m->fd, &m->group, m->index, false);
      m->index = 0;
      m->lost = false;
    }
    if (index != 0) {
      if (set_membership(m->fd, &m->group, index, true) == 0 || errno == EADDRINUSE) m->index = index;
      else
        snprintf(why, size, "hears no group on %s, which is another interface now: %s; restart beoboard receive", m->interface,
                 strerror(errno));
    }
    have_missed(r, m->interface);
  }
}

/* The interface of that number has disappeared, and our memberships on it. 0: any may have disappeared. */
static void lose_memberships(struct bb_receiver *r, unsigned index) {
  for (int i = 0; i < r->membership_count; i++) {
    struct membership *m = &r->memberships[i];
    if (m->index != 0 && (index == 0 || m->index == index)) m->lost = true;
  }
}

int bb_receiver_join(struct bb_receiver *r, const char *group, uint16_t port, const char *interface, char *why, size_t size) {
  const unsigned index = interface == NULL ? 0 : if_nametoindex(interface);
  if (interface != NULL && index == 0) {
    snprintf(why, size, "there is no interface %s; ip link lists them", interface);
    return -1;
  }
  if (r->membership_count == MOST_MEMBERSHIPS) {
    snprintf(why, size, "at most %d groups to join", MOST_MEMBERSHIPS);
    return -1;
  }
  struct sockaddr_storage address = {0};
  struct in6_addr v6;
  address.ss_family = inet_pton(AF_INET6, group, &v6) == 1 ? AF_INET6 : AF_INET;
  if (address.ss_family == AF_INET6) ((struct sockaddr_in6 *)&address)->sin6_addr = v6;
  else if (inet_pton(AF_INET, group, &((struct sockaddr_in *)&address)->sin_addr) != 1) {
    snprintf(why, size, "%s is not an address", group);
    return -1;
  }
  /* One socket for both if there is one for all addresses: a second one could not be bound to the same port. */
  int i = 0;
  while (i < r->count && !takes_all(&r->listeners[i].address, address.ss_family, port)) i++;
  /* A group of link scope can be bound on its interface only. */
  char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
  const bool scoped = address.ss_family == AF_INET6 && interface != NULL;
  snprintf(host, sizeof host, "%s%s%s", group, scoped ? "%" : "", scoped ? interface : "");
  const int bound = i < r->count ? (int)port : bb_receiver_listen(r, host, port, why, size);
  if (bound < 0) return bound;
  const int fd = r->listeners[i].fd;
  /* EADDRINUSE: joined already, twice or by an earlier receiver that had the socket. */
  if (set_membership(fd, &address, index, true) == 0 || errno == EADDRINUSE) {
    struct membership *m = &r->memberships[r->membership_count++];
    *m = (struct membership){.fd = fd, .group = address, .index = index};
    set_port(&m->group, (uint16_t)bound);
    /* Its own name, by which it is watched: the one that was given may be an alternative name. */
    if (interface != NULL && if_indextoname(index, m->interface) == NULL) snprintf(m->interface, sizeof m->interface, "%s", interface);
    return bound;
  }
  snprintf(why, size, "cannot join %s%s%s: %s%s", group, interface == NULL ? "" : " on ", interface == NULL ? "" : interface,
           strerror(errno), interface == NULL ? "; name the interface with --interface" : "");
  return -1;
}

/* ---- the kernel's drops ---- */

/* Counts what the kernel has dropped, and finds out why. A socket counts as a drop whatever it did not take: for want of room, but also for
 * a wrong checksum, which any host can send, and for our filter. Only want of room means that we have not heard a report.
 *
 * The socket's number moves a moment before those of the namespace. So drops that no full buffer explains are looked at once more in the
 * next drain; until then the heartbeat stands. If they are explained by then as errors they were unfit, and the heartbeat goes on to the
 * first look, whatever was dropped since: it is a drain late then, however many bad datagrams come. If nothing explains them they
 * count as want of room: some kernels leave out drops for want of memory (Linux 6.18).
 *
 * `now_ns`: a time before this look. Up to when the heartbeat may go. */
static int64_t count_drops(struct bb_receiver *r, int64_t now_ns) {
  uint64_t drops = 0;
  bool foreign = false;
  for (int i = 0; i < r->count; i++) {
    const uint32_t here = new_drops(&r->listeners[i]);
    drops += here;
    foreign = foreign || (here > 0 && r->listeners[i].foreign);
  }
  if (r->filtering) r->junk += drops;
  const struct unexplained first = r->unexplained;
  const uint64_t all = drops + first.drops;
  if (all == 0 && now_ns - r->counted_ns < SECOND) return INT64_MAX;
  const struct counted before = r->counted, counted = read_counted(r);
  r->unexplained = (struct unexplained){0};
  r->counted_ns = now_ns;
  r->counted = counted;
  if (all == 0) return INT64_MAX; /* everything counted so far was about others' sockets */
  const bool no_room = foreign || !before.known || !counted.known || counted.buffers != before.buffers;
  if (no_room || counted.errors - before.errors < first.drops) {
    bb_writer_overflowed(r->writer, all);
    /* After the kernel was asked: what it dropped until then was not heard. */
    bb_writer_listen_anew(r->writer, bb_clock_ns(CLOCK_MONOTONIC));
    return INT64_MAX;
  }
  if (first.drops > 0) bb_writer_unfit(r->writer, first.drops);
  if (drops == 0) return INT64_MAX;
  /* The errors that explain the first look's drops are used up. */
  r->counted.errors = before.errors + first.drops;
  r->unexplained = (struct unexplained){drops, now_ns};
  return first.drops > 0 ? first.seen_ns : (int64_t)r->heartbeat_ns;
}

/* Whether so much was dropped before any socket that it very probably contained reports: more than were accepted,
 * and more than a hundredth of everything that came. */
static bool is_lossy(uint64_t dropped, uint64_t accepted, uint64_t packets) { return dropped > accepted && dropped > packets / 100; }

/* How far a counter of the kernel moved since the last time; 0 if it decreased. */
static uint64_t advance(uint64_t *last, uint64_t now) {
  const uint64_t more = now > *last ? now - *last : 0;
  *last = now;
  return more;
}

/* Once a second: packets that this machine or an interface dropped before a socket could count them. */
static void count_missed(struct bb_receiver *r) {
  uint64_t dropped, packets;
  const uint64_t accepted = advance(&r->accepted, bb_writer_header(r->writer)->accepted);
  if (r->kernel_drops == NULL) return;
  if (bb_kernel_drops_softnet(r->kernel_drops, &dropped, &packets)) {
    const bool first = r->softnet_processed == 0;
    const uint64_t more = advance(&r->softnet_dropped, dropped), processed = advance(&r->softnet_processed, packets);
    if (!first && more > 0) bb_writer_softnet(r->writer, more);
    if (!first && is_lossy(more, accepted, processed)) bb_writer_listen_anew(r->writer, bb_clock_ns(CLOCK_MONOTONIC));
  }
  for (uint32_t i = 1; i <= r->road_count; i++) {
    struct road *road = &r->roads[i];
    const struct bb_link *link = bb_writer_link(r->writer, i);
    if (link == NULL || road->index == 0) continue;
    const bool first = road->packets == 0;
    const uint64_t here = advance(&road->accepted, link->accepted);
    if (!bb_kernel_drops_interface(r->kernel_drops, link->name, road->index, &dropped, &packets)) continue;
    const uint64_t more = advance(&road->missed, dropped), came = advance(&road->packets, packets);
    if (first || more == 0) continue;
    if (!road->in_pieces || bb_writer_find_link(r->writer, link->name, false) == BB_LINK_UNKNOWN) bb_writer_link_missed(r->writer, i, more);
    if (is_lossy(more, here, came)) bb_writer_link_anew(r->writer, i, bb_clock_ns(CLOCK_MONOTONIC));
  }
}

/* ---- links ---- */

/* Everything received in an unknown namespace has one link. No interface name contains a space. */
static const char elsewhere[] = "other namespace";

static bool is_elsewhere(const struct bb_link *entry) { return strcmp(entry->name, elsewhere) == 0; }

/* Whether anybody listens there: an earlier receiver may have. */
static bool hears_elsewhere(const struct bb_receiver *r) {
  bool hears = r->interfaces == NULL;
  for (int i = 0; i < r->count; i++) hears = hears || r->listeners[i].foreign;
  return hears;
}

/* Updates a link whose interface or address may have changed. */
static void renew_link(struct bb_receiver *r, uint32_t link, bool was_down) {
  struct road *road = &r->roads[link];
  const struct bb_link *entry = bb_writer_link(r->writer, link);
  if (entry == NULL) return;
  uint64_t state = BB_LINK_STATE_UP;
  if (is_elsewhere(entry)) {
    if (!hears_elsewhere(r)) state = BB_LINK_STATE_GONE;
  } else if (r->interfaces != NULL) {
    const struct bb_interface *is = bb_interfaces_by_name(r->interfaces, entry->name);
    const unsigned index = is == NULL ? 0 : is->index;
    if (index != road->index) {
      was_down = true;
      road->missed = road->packets = 0;
    }
    road->index = index;
    state = is == NULL ? BB_LINK_STATE_GONE : !is->up ? 0 : road->lacks ? BB_LINK_STATE_NO_ADDRESS : BB_LINK_STATE_UP;
  }
  bb_writer_link_state(r->writer, link, road->index, state, was_down, bb_clock_ns(CLOCK_MONOTONIC));
}

/* The link of the interface of that number; BB_LINK_UNKNOWN: it has none. */
static uint32_t link_by_index(const struct bb_receiver *r, unsigned index, bool in_pieces) {
  for (uint32_t i = 1; i <= r->road_count; i++)
    if (r->roads[i].index == index && r->roads[i].in_pieces == in_pieces) return i;
  return BB_LINK_UNKNOWN;
}

static bool is_multicast(const uint8_t address[16]) { return address[0] == 0xff || (is_v4(address) && address[12] >= 224 && address[12] < 240); }

/* Whether we are a member of that group on that interface, as far as we have joined it ourselves. */
static bool is_member(const struct bb_receiver *r, const struct bb_destination *to, const char *interface) {
  for (int i = 0; i < r->membership_count; i++) {
    const struct membership *m = &r->memberships[i];
    uint8_t group[16];
    map_address(group, &m->group);
    if (memcmp(group, to->address, sizeof group) != 0 || (to->port != 0 && port_of(&m->group) != to->port)) continue;
    if (m->interface[0] == 0 || strcmp(m->interface, interface) == 0) return true;
  }
  return false;
}

/* Whether a socket of ours receives what is sent there: reports may have come to another receiver with other
 * sockets. */
static bool listens_at(const struct bb_receiver *r, const struct bb_destination *to) {
  for (int i = 0; i < r->count; i++) {
    const struct sockaddr_storage *a = &r->listeners[i].address;
    if (to->port != 0 && port_of(a) != to->port) continue;
    uint8_t bound[16];
    map_address(bound, a);
    if (memcmp(bound, to->address, sizeof bound) == 0) return true;
    /* A socket of IPv6 for all addresses may take IPv4, too. */
    if (takes_all(a, a->ss_family, port_of(a)) && (a->ss_family == AF_INET6 || is_v4(to->address))) return true;
  }
  return false;
}

static bool knows_destination(const struct bb_destination *to) {
  static const uint8_t none[16];
  return memcmp(to->address, none, sizeof none) != 0;
}

static bool has_source(const struct bb_destination *to) {
  static const uint8_t none[4];
  return memcmp(to->source, none, sizeof none) != 0;
}

/* Whether the kernel would accept what comes from its source; the kernel answers that. */
static int takes_from_source(struct bb_receiver *r, const struct bb_destination *to, unsigned index) {
  uint8_t from[16];
  map_v4(from, (const struct in_addr *)(const void *)to->source);
  return bb_interfaces_takes(r->interfaces, from, to->address, index);
}

/* Whether what is sent to the destination of a link's reports cannot reach us; the last answer if the kernel cannot
 * be asked. */
static bool lacks_destination(struct bb_receiver *r, const struct road *road, const char *interface) {
  const struct bb_destination *to = &road->to;
  if (!knows_destination(to)) return false;
  if (is_multicast(to->address) ? !is_member(r, to, interface) : !listens_at(r, to)) return true;
  const struct bb_interface *is = bb_interfaces_by_index(r->interfaces, road->index);
  /* On a link that is down nothing is accepted, and that is reported as down. */
  int reaches = 1;
  if (has_source(to) && is != NULL && is->up) reaches = takes_from_source(r, to, road->index);
  else if (road->own) reaches = bb_interfaces_has_address(r->interfaces, to->address, road->index);
  return reaches < 0 ? road->lacks : reaches == 0;
}

/* The changes that rtnetlink reports in one drain. */
struct hearing {
  struct bb_receiver *receiver;
  bool others; /* something happened to an interface without a number */
};

static void hear_interface(const struct bb_interface_news *news, void *context) {
  struct hearing *h = (struct hearing *)context;
  /* An interface that has another name now is still found by its number. */
  if (news->gone && bb_interfaces_by_index(h->receiver->interfaces, news->is.index) == NULL)
    lose_memberships(h->receiver, news->is.index);
  uint32_t links[2];
  if (!find_both(h->receiver, news->is.name, links)) h->others = true;
  for (int i = 0; i < 2; i++) {
    if (links[i] == BB_LINK_UNKNOWN) continue;
    h->receiver->roads[links[i]].stirred = true;
    renew_link(h->receiver, links[i], news->was_down);
  }
}

static bool is_link_local(const uint8_t address[16]) { return address[0] == 0xfe && (address[1] & 0xc0) == 0x80; }

/* Noted here, and checked when all changes have been read. An interface whose number belongs to no link may be one
 * of the others. Several interfaces may have the same address of link scope, each its own; any other address counts
 * for all, by whichever interface its reports come. */
static void hear_address(const uint8_t address[16], unsigned index, bool gone, void *context) {
  struct hearing *h = (struct hearing *)context;
  struct bb_receiver *r = h->receiver;
  bool known = false;
  for (uint32_t i = 1; i <= r->road_count; i++) {
    struct road *road = &r->roads[i];
    if (memcmp(road->to.address, address, sizeof road->to.address) != 0) continue;
    if (is_link_local(address) && index != road->index) continue;
    known = road->stirred = true;
    road->went = road->went || gone;
  }
  if (gone && !known) h->others = true;
}

/* Processes the changes of interfaces and addresses: after the time of the drain was sampled, and before a heartbeat
 * is stored. What went down before that time is known now, and what went down after it was heard until then. */
static void hear_interfaces(struct bb_receiver *r) {
  if (r->interfaces == NULL) return;
  struct hearing h = {.receiver = r};
  /* Messages were lost, or cannot be read: anything may have happened, to addresses too. Every interface has been
   * reported since messages were lost; while none can be read, each link listens anew in each drain, and nothing
   * else is concluded. */
  const int result = bb_interfaces_drain(r->interfaces, hear_interface, hear_address, &h);
  const bool lost = result != 0;
  if (result > 0) lose_memberships(r, 0);
  r->unwatched = result < 0 ? -result : 0;
  for (uint32_t i = 1; i <= r->road_count; i++) {
    struct road *road = &r->roads[i];
    if (!road->stirred && !lost) continue;
    const struct bb_link *entry = bb_writer_link(r->writer, i);
    const bool lacked = road->lacks;
    road->lacks = entry != NULL && lacks_destination(r, road, entry->name);
    if (road->lacks && !lacked) road->lacked_ns = bb_clock_ns(CLOCK_MONOTONIC);
    renew_link(r, i, road->went);
    if (lost) bb_writer_link_anew(r->writer, i, bb_clock_ns(CLOCK_MONOTONIC));
    road->stirred = road->went = false;
  }
  if (h.others || lost) bb_writer_link_anew(r->writer, BB_LINK_OTHERS, bb_clock_ns(CLOCK_MONOTONIC));
}

/* Once a second all addresses are checked. The kernel reports an address before its routes change, and it does not
 * report a route that changes without an address (a VRF takes the interface, an admin removes the route). */
static void doubt_addresses(struct bb_receiver *r) {
  for (uint32_t i = 1; i <= r->road_count; i++) r->roads[i].stirred = r->roads[i].stirred || knows_destination(&r->roads[i].to);
}

/* Links that the board already had: their present state. */
static void find_links(struct bb_receiver *r) {
  for (uint32_t i = 1; bb_writer_link(r->writer, i) != NULL && i < BB_LINK_OTHERS; i++) {
    const struct bb_link *entry = bb_writer_link(r->writer, i);
    const struct bb_interface *is = r->interfaces == NULL ? NULL : bb_interfaces_by_name(r->interfaces, entry->name);
    r->road_count = i;
    struct road *road = &r->roads[i];
    road->index = is == NULL ? 0 : is->index;
    road->in_pieces = (entry->state & BB_LINK_STATE_IN_PIECES) != 0;
    road->to.port = (uint16_t)entry->port;
    memcpy(road->to.address, entry->address, sizeof road->to.address);
    memcpy(road->to.source, entry->source, sizeof road->to.source);
    /* A broadcast address is recognised only by its source, and an address that we do not have now may have been
     * one. */
    road->own = !is_multicast(entry->address) &&
                (!has_source(&road->to) || (r->interfaces != NULL && bb_interfaces_has_address(r->interfaces, entry->address, road->index) == 1));
    road->lacks = r->interfaces != NULL && lacks_destination(r, road, entry->name);
    renew_link(r, i, false);
  }
}

/* Sets the link of a datagram. If its interface has no number it is passed on, and gets one if the datagram is
 * accepted. */
static void set_link(const struct bb_receiver *r, const struct listener *l, unsigned index, struct bb_arrival *arrival) {
  arrival->link = BB_LINK_UNKNOWN;
  arrival->interface_index = index;
  if (l->foreign || r->interfaces == NULL) {
    arrival->interface = elsewhere;
    arrival->interface_index = 0;
    return;
  }
  if (index != 0) arrival->link = link_by_index(r, index, arrival->in_pieces);
  if (arrival->link != BB_LINK_UNKNOWN) return;
  const struct bb_interface *is = index == 0 ? NULL : bb_interfaces_by_index(r->interfaces, index);
  if (is != NULL) arrival->interface = is->name;
  else arrival->link = BB_LINK_OTHERS;
}

/* Notes what an accepted report shows about its link: that it has a number now, and the destination. The destination
 * is checked at most once a second, because nodes may send to two addresses in turn. Of several, our own address
 * takes precedence over a group or a broadcast. */
static void note_link(struct bb_receiver *r, const struct listener *l, const struct bb_arrival *arrival, const uint8_t to[16]) {
  const uint32_t link = arrival->link;
  struct road *road = &r->roads[link];
  if (link > r->road_count && link < BB_LINK_OTHERS) {
    r->road_count = link;
    road->index = arrival->interface_index;
    road->in_pieces = arrival->in_pieces;
    renew_link(r, link, false);
  }
  if (arrival->in_pieces) {
    road->in_pieces = true; /* Of all others one may be, and then each of them is judged so. */
    road->joins[is_v4(arrival->address) ? 0 : 1] = true;
  }
  if (link >= BB_LINK_OTHERS || road->index == 0) return;
  if (!road->lacks && arrival->stamp_ns - road->learned_ns < SECOND) return;
  if (road->lacks && arrival->stamp_ns <= road->lacked_ns) return; /* it came before */
  road->learned_ns = arrival->stamp_ns;
  struct bb_destination next = {.port = port_of(&l->address)};
  memcpy(next.address, to, sizeof next.address);
  if (is_v4(to) && is_v4(arrival->address)) memcpy(next.source, arrival->address + 12, sizeof next.source);
  const bool group = is_multicast(to), own = !group && bb_interfaces_has_address(r->interfaces, to, road->index) == 1;
  /* It arrived, whatever the kernel says: so the kernel cannot be asked about this node. */
  if (has_source(&next) && takes_from_source(r, &next, road->index) != 1) memset(next.source, 0, sizeof next.source);
  const bool member = group && is_member(r, &next, bb_writer_link(r->writer, link)->name);
  const bool known = own || ((member || !group) && has_source(&next)) || (member && !is_v4(to));
  /* A report has arrived although we lack the known destination, and its own destination is one that we cannot ask
   * about: then the link has none. */
  if (!road->lacks && (!known || (road->own && !own))) return;
  if (!known) next = (struct bb_destination){0};
  road->to = next;
  road->own = own;
  bb_writer_link_destination(r->writer, link, &next);
  if (!road->lacks) return;
  road->lacks = false;
  renew_link(r, link, false);
}

/* For how long after its last failure the kernel may be without room to join pieces: it keeps incomplete ones for so long
 * (net.ipv4.ipfrag_time). */
#define UNJOINED_NS (30 * SECOND)

static void read_unjoined(const struct bb_receiver *r, uint64_t failed[2]) {
  failed[0] = failed[1] = UINT64_MAX;
  if (r->kernel_drops != NULL) bb_kernel_drops_unjoined(r->kernel_drops, failed);
}

/* Once a second: the links by which reports come in pieces listen anew while the kernel fails to join some, whosever they are. */
static void count_unjoined(struct bb_receiver *r) {
  uint64_t failed[2];
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  bool fails[2], any = false;
  for (uint32_t i = 1; i <= r->road_count; i++) any = any || r->roads[i].in_pieces;
  if (!any && !r->roads[BB_LINK_OTHERS].in_pieces) return;
  read_unjoined(r, failed);
  for (int f = 0; f < 2; f++) {
    /* What had failed before the first look was not about these links. */
    fails[f] = r->counts_unjoined && (failed[f] == UINT64_MAX || failed[f] != r->unjoined[f]);
    r->unjoined[f] = failed[f];
  }
  r->counts_unjoined = true;
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    struct road *road = &r->roads[i];
    if (!road->in_pieces) continue;
    const bool known = road->joins[0] || road->joins[1];
    const bool is_foreign = i != BB_LINK_OTHERS && is_elsewhere(bb_writer_link(r->writer, i));
    if (is_foreign || (fails[0] && (road->joins[0] || !known)) || (fails[1] && (road->joins[1] || !known))) {
      /* After the kernel was asked: what it failed to join until then was not heard. */
      bb_writer_link_anew(r->writer, i, bb_clock_ns(CLOCK_MONOTONIC));
      if (road->unjoined_since_ns == 0) road->unjoined_since_ns = now_ns;
      road->unjoined_ns = now_ns;
    } else if (now_ns - road->unjoined_ns > UNJOINED_NS) {
      road->unjoined_since_ns = 0;
    }
    bb_writer_link_unjoined(r->writer, i, road->unjoined_since_ns);
  }
}

/* ---- floods ---- */

/* Makes the kernel drop everything without the size and the magic of a report, or stop doing so. */
static void set_filter(struct bb_receiver *r, bool on) {
  /* A filter of a UDP socket sees the datagram with its header of 8 bytes, and loads words in network byte order. */
  static struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 8 + BB_REPORT_BYTES, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __builtin_bswap32(BB_STAT_MAGIC), 0, 1),
    BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  const int nothing = 0;
  bool is_on = on;
  for (int i = 0; on && i < r->count; i++)
    if (setsockopt(r->listeners[i].fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) is_on = false;
  for (int i = 0; !is_on && i < r->count; i++)
    setsockopt(r->listeners[i].fd, SOL_SOCKET, SO_DETACH_FILTER, &nothing, sizeof nothing);
  r->filtering = is_on;
  bb_writer_filtering(r->writer, is_on);
}

/* Filters from the moment when more junk has come than the limit per second, until a whole second has brought less. */
static void mind_flood(struct bb_receiver *r, int64_t now_ns) {
  const int64_t elapsed_ns = now_ns - r->junk_since_ns;
  const uint64_t seconds = elapsed_ns < SECOND ? 1 : (uint64_t)(elapsed_ns / SECOND);
  const bool is_flood = r->junk > r->flood * seconds;
  if (is_flood && !r->filtering) set_filter(r, true);
  if (elapsed_ns < SECOND) return;
  if (!is_flood && r->filtering) set_filter(r, false);
  r->junk = 0;
  r->junk_since_ns = now_ns;
}

/* ---- stamps ---- */

/* What the kernel reports about a datagram's arrival. */
struct told {
  int64_t ns;        /* its receive time; 0: none */
  unsigned index;    /* the interface; 0: it came before that was enabled */
  uint8_t to[16];    /* its destination: an IPv6 address, IPv4 as ::ffff:a.b.c.d */
  bool in_pieces;    /* it was joined from IP fragments */
};

static struct told read_control(struct msghdr *message) {
  struct told told = {0};
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
      struct timespec t;
      memcpy(&t, CMSG_DATA(c), sizeof t);
      told.ns = (int64_t)t.tv_sec * SECOND + t.tv_nsec;
    } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
      struct in_pktinfo info;
      memcpy(&info, CMSG_DATA(c), sizeof info);
      told.index = (unsigned)info.ipi_ifindex;
      map_v4(told.to, &info.ipi_addr);
    } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
      struct in6_pktinfo info;
      memcpy(&info, CMSG_DATA(c), sizeof info);
      told.index = info.ipi6_ifindex;
      memcpy(told.to, &info.ipi6_addr, sizeof told.to);
    } else {
      told.in_pieces = told.in_pieces || (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVFRAGSIZE) ||
                       (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVFRAGSIZE);
    }
  }
  return told;
}

/* The kernel's time converted to the monotonic clock. What we read now arrived after everything that was heard
 * before, so it is no older than that. If the wall clock stepped meanwhile, that bound is all we know: better too
 * old than too young. The two distances of the clocks were sampled before that bound and after this datagram was
 * read, so its arrival lies between them, however long we were preempted. On a socket that we have not drained
 * before, the bound was set by another receiver, perhaps for another socket. It proves nothing here, so a datagram
 * that needs the bound gets no stamp: 0. */
static int64_t stamp(const struct listener *l, int64_t kernel_ns, int64_t distance, int64_t taken_ns) {
  const int64_t moved = distance - l->heard_offset;
  const int64_t bound_ns = l->inherited ? 0 : l->heard_ns;
  if (kernel_ns == 0 || moved > CLOCK_STEP_NS || moved < -CLOCK_STEP_NS) return bound_ns;
  const int64_t ns = kernel_ns - distance;
  if (ns < l->heard_ns) return bound_ns;
  return ns > taken_ns ? taken_ns : ns;
}

/* Notes until when a socket has been heard, at the end of a drain: if it was left empty, until the drain began;
 * otherwise until the last datagram that was read arrived, because a socket is a queue. In a flood that never lets
 * it be empty, we are late by what waits in its buffer, but not deaf. Never later than the beginning of the drain,
 * because later drops have not been counted. */
static void note_heard(struct listener *l, int64_t began_ns, int64_t distance) {
  if (l->empty) {
    set_heard(l, began_ns, distance);
    l->inherited = false;
    return;
  }
  if (l->latest_ns > l->heard_ns) {
    l->heard_ns = l->latest_ns < began_ns ? l->latest_ns : began_ns;
    if (l->sampled_ns > l->heard_ns) return; /* what comes may have arrived before it was sampled */
    l->heard_offset = l->sampled_offset;
    l->sampled_ns = began_ns;
    l->sampled_offset = distance;
  }
}

static void set_address(struct bb_arrival *arrival, const struct about *about) {
  map_address(arrival->address, &about->from);
  arrival->port = ntohs(about->from.family == AF_INET6 ? about->from.v6.sin6_port : about->from.v4.sin_port);
}

/* ---- the drain ---- */

/* Receives one batch from a socket; returns the number of datagrams. */
static int take_batch(struct bb_receiver *r, struct listener *l) {
  for (int i = 0; i < BATCH; i++) {
    struct msghdr *m = &r->messages[i].msg_hdr;
    m->msg_name = &r->about[i].from;
    m->msg_namelen = sizeof r->about[i].from;
    m->msg_control = r->about[i].control;
    m->msg_controllen = sizeof r->about[i].control;
    m->msg_flags = 0;
  }
  int got = recvmmsg(l->fd, r->messages, BATCH, MSG_DONTWAIT, NULL);
  if (got < 0) {
    l->empty = errno == EAGAIN || errno == EWOULDBLOCK;
    return 0;
  }
  const int64_t taken_ns = bb_clock_ns(CLOCK_MONOTONIC);
  const int64_t distance = clock_distance();
  /* A board is larger than a cache. The memory for the nodes of a batch is requested first, so that its latencies
   * overlap. */
  uint64_t expected[BATCH];
  for (int i = 0; i < got; i++) expected[i] = bb_writer_expect(r->writer, r->data[i]);
  for (int i = 0; i < got; i++) bb_writer_fetch(r->writer, expected[i]);
  for (int i = 0; i < got; i++) {
    if (i + AHEAD < got) bb_writer_fetch_slot(r->writer, expected[i + AHEAD]);
    struct msghdr *m = &r->messages[i].msg_hdr;
    struct bb_arrival arrival = {.expected = expected[i]};
    const struct told told = read_control(m);
    arrival.stamp_ns = stamp(l, told.ns, distance, taken_ns);
    if (arrival.stamp_ns == 0) continue;
    arrival.stamp_real_ns = arrival.stamp_ns + distance;
    set_address(&arrival, &r->about[i]);
    arrival.in_pieces = told.in_pieces;
    set_link(r, l, told.index, &arrival);
    const int outcome = bb_writer_deliver(r->writer, r->data[i], r->messages[i].msg_len, &arrival);
    if (outcome == BB_OUTCOME_ACCEPTED) note_link(r, l, &arrival, told.to);
    r->junk += outcome == BB_REASON_SIZE || outcome == BB_REASON_MAGIC;
    l->latest_ns = arrival.stamp_ns;
  }
  l->empty = got < BATCH;
  return got;
}

/* A leaky bucket: time fills it, and each report takes some out, whether it was waited for or not; so does a drain
 * without a report, because a socket that only fails must not be read without pause. */
static void spend(struct bb_receiver *r, int64_t now_ns, uint64_t reports) {
  const int64_t most_ns = AT_ONCE * SELDOM_NS, had_ns = r->spare_ns + (now_ns - r->last_began_ns);
  const int64_t spent_ns = reports > 2 * AT_ONCE ? 2 * most_ns : (reports > 0 ? (int64_t)reports : 1) * SELDOM_NS;
  r->spare_ns = (had_ns < most_ns ? had_ns : most_ns) - spent_ns;
  if (r->spare_ns < -most_ns) r->spare_ns = -most_ns;
}

static void drain(struct bb_receiver *r) {
  const int64_t began_ns = bb_clock_ns(CLOCK_MONOTONIC);
  const int64_t began_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  /* CLOCK_BOOTTIME, which continues while the machine is suspended. Stored before anything else: a reader that sees
   * a new heartbeat must see that the time before it was not listened to. */
  if (began_boot_ns - r->last_end_boot_ns > PAUSE_NS) {
    bb_writer_resumed(r->writer, began_ns);
    r->stood_still_ns += (uint64_t)(began_boot_ns - r->last_end_boot_ns);
  }
  if (began_boot_ns - r->last_heartbeat_boot_ns > PAUSE_NS) bb_writer_listen_anew(r->writer, began_ns);
  const int64_t allowed_ns = count_drops(r, began_ns);

  const int64_t distance = clock_distance();
  uint64_t total = 0;
  for (int i = 0; i < r->count; i++) r->listeners[i].empty = false;
  bool more;
  /* One batch each in turn, so that a flood on one socket does not starve another. */
  do {
    more = false;
    for (int i = 0; i < r->count; i++) {
      struct listener *l = &r->listeners[i];
      if (l->empty) continue;
      const int got = take_batch(r, l);
      total += (uint64_t)got;
      if (!l->empty && got > 0) more = true;
    }
  } while (more && bb_clock_ns(CLOCK_MONOTONIC) - began_ns <= MOST_DRAIN_NS);
  hear_interfaces(r);
  int64_t heard_ns = allowed_ns < began_ns ? allowed_ns : began_ns;
  for (int i = 0; i < r->count; i++) {
    struct listener *l = &r->listeners[i];
    note_heard(l, began_ns, distance);
    if (l->heard_ns < heard_ns) heard_ns = l->heard_ns;
  }
  spend(r, began_ns, total);
  r->last_began_ns = began_ns;
  r->last_end_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  if (heard_ns > (int64_t)r->heartbeat_ns) {
    bb_writer_heartbeat(r->writer, heard_ns);
    bb_store(&r->heartbeat_ns, (uint64_t)heard_ns);
    r->last_heartbeat_boot_ns = began_boot_ns - (began_ns - heard_ns);
  }
  mind_flood(r, began_ns);
  /* `more`: its time was over. A socket that only fails must not be read without pause. */
  r->again = more || total * BB_STAT_BUFFER_BYTES > r->buffer / 4;
  r->busy = total >= BUSY;
}

/* ---- the thread ---- */

/* Checks whether our board is still at its path; returns the result of bb_writer_check_path(). If the path is
 * another receiver's by now, that is reported, and the thread has to end. */
static int keep_path(struct bb_receiver *r, char *why, size_t size) {
  const int result = bb_writer_check_path(r->writer, why, size);
  if (result != BB_PATH_TAKEN) return result;
  pthread_mutex_lock(&r->mutex);
  r->status.displaced = true;
  snprintf(r->status.trouble, sizeof r->status.trouble, "%s", why);
  pthread_mutex_unlock(&r->mutex);
  return result;
}

/* Whether we have stood still for so long that another receiver may have taken the board, and one has. Checked
 * before anything is written. */
static bool was_displaced(struct bb_receiver *r) {
  char why[sizeof r->status.trouble];
  return bb_clock_ns(CLOCK_BOOTTIME) - r->last_end_boot_ns > PAUSE_NS && keep_path(r, why, sizeof why) == BB_PATH_TAKEN;
}

/* Once a second: is our board still at its path, and are we still in our groups? And what JavaScript may ask for. */
static void keep_house(struct bb_receiver *r) {
  char trouble[sizeof r->status.trouble] = "";
  /* The least important message comes first, because the last one is shown. */
  if (r->unwatched != 0)
    snprintf(trouble, sizeof trouble, "cannot watch the interfaces (rtnetlink): %s; nodes may be called silent for one that is down",
             strerror(r->unwatched));
  const int published = keep_path(r, trouble, sizeof trouble);
  if (published == BB_PATH_TAKEN) return;
  keep_bindings(r, trouble, sizeof trouble);
  keep_memberships(r, trouble, sizeof trouble);
  doubt_addresses(r);
  count_missed(r);
  count_unjoined(r);
  bb_writer_survey(r->writer);
  const struct bb_board_header *h = bb_writer_header(r->writer);
  pthread_mutex_lock(&r->mutex);
  struct bb_receiver_status *s = &r->status;
  s->received = h->received;
  s->accepted = h->accepted;
  s->duplicate = h->duplicate;
  s->kernel_drops = h->kernel_drops;
  s->unfit_drops = h->unfit_drops;
  s->softnet_drops = h->softnet_drops;
  s->missed = 0;
  for (uint32_t i = 1; i <= h->links_used; i++) s->missed += bb_writer_link(r->writer, i)->missed;
  s->nodes = h->count;
  memcpy(s->refused, h->refused, sizeof s->refused);
  bb_writer_senders(r->writer, s->senders);
  s->receive_buffer = r->buffer;
  s->filtering = r->filtering;
  s->publications += published > 0;
  s->stood_still_ns = r->stood_still_ns;
  memcpy(s->trouble, trouble, sizeof trouble);
  pthread_mutex_unlock(&r->mutex);
}

static void wake(struct bb_receiver *r) {
  const uint64_t one = 1;
  bb_store(&r->asked, 1);
  while (write(r->wake, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

/* Does what was requested from outside; returns whether that is to stop. */
static bool obey(struct bb_receiver *r) {
  if (bb_load(&r->asked) == 0) return false;
  /* Before we look: later requests set it again, and the mutex shows us earlier ones. */
  bb_store(&r->asked, 0);
  uint64_t times;
  while (read(r->wake, &times, sizeof times) < 0 && errno == EINTR) {
  }
  pthread_mutex_lock(&r->mutex);
  const bool stop = r->stop;
  if (r->job != NULL) {
    r->job(r->writer, r->job_context);
    r->job = NULL;
    pthread_cond_signal(&r->done);
  }
  pthread_mutex_unlock(&r->mutex);
  return stop;
}

/* The thread ends by itself: pending requests are done here, and later ones by whoever makes them. */
static void leave(struct bb_receiver *r) {
  pthread_mutex_lock(&r->mutex);
  r->ended = true;
  if (r->job != NULL) r->job(r->writer, r->job_context);
  r->job = NULL;
  pthread_cond_signal(&r->done);
  pthread_mutex_unlock(&r->mutex);
  if (r->displaced != NULL) r->displaced(r->displaced_context);
}

static void wait_for_tick(const struct bb_receiver *r) {
  const int64_t tick_ns = r->last_began_ns + r->drain_ns;
  const struct timespec tick = {tick_ns / SECOND, tick_ns % SECOND};
  if (tick_ns > bb_clock_ns(CLOCK_MONOTONIC)) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, NULL);
}

static void *run(void *argument) {
  struct bb_receiver *r = (struct bb_receiver *)argument;
  struct pollfd fds[2 + BB_MOST_SOCKETS] = {
    {.fd = r->wake, .events = POLLIN},
    {.fd = r->interfaces == NULL ? -1 : bb_interfaces_fd(r->interfaces), .events = POLLIN}, /* -1 is ignored */
  };
  for (int i = 0; i < r->count; i++) fds[2 + i] = (struct pollfd){.fd = r->listeners[i].fd, .events = POLLIN};
  const struct timespec heartbeat = {HEARTBEAT_NS / SECOND, HEARTBEAT_NS % SECOND};
  bool stop = false;
  while (!stop && !r->status.displaced) { /* only this thread sets it */
    if (!r->again) {
      /* Blocks for the first report, or news of an interface, and then until the tick unless reports are few; while they keep coming, until
       * the tick at once. Wake-ups are expensive, not copies; a sleep costs less than waiting for requests, which
       * have time until the tick. */
      if (!r->busy) ppoll(fds, 2 + (nfds_t)r->count, &heartbeat, NULL);
      if (r->busy || r->spare_ns < SELDOM_NS) wait_for_tick(r);
    }
    if (was_displaced(r)) break;
    /* Only requests from before a drain are done after it: what came before the request is on the board that it
     * concerns. */
    const bool is_asked = bb_load(&r->asked) != 0;
    drain(r);
    stop = is_asked && obey(r);
    if (r->last_began_ns - r->housekept_ns >= SECOND || stop) {
      keep_house(r);
      r->housekept_ns = r->last_began_ns;
    }
  }
  if (!stop) leave(r);
  return NULL;
}

int bb_receiver_start(struct bb_receiver *r, struct bb_writer *writer, void (*displaced)(void *), void *context) {
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  r->writer = writer;
  r->displaced = displaced;
  r->displaced_context = context;
  look_back(r);
  bb_writer_receive_buffer(r->writer, r->buffer);
  r->last_began_ns = now_ns - r->drain_ns;
  /* Listening begins now, so this is stored before the first heartbeat. */
  bb_writer_listen_anew(r->writer, now_ns);
  bb_writer_resumed(r->writer, now_ns);
  r->last_end_boot_ns = r->last_heartbeat_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  find_links(r);
  /* The first drain is here, before there is a thread: whoever is told that we are ready finds a board that is not
   * stalled. */
  drain(r);
  if (r->heartbeat_ns == 0) drain(r); /* it found drops that nothing explains yet */
  keep_house(r);
  sigset_t all, before;
  sigfillset(&all); /* JavaScript handles signals */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&r->thread, NULL, run, r);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  r->started = error == 0;
  return -error;
}

void bb_receiver_run(struct bb_receiver *r, void (*job)(struct bb_writer *, void *), void *context) {
  if (!r->started) {
    job(r->writer, context);
    return;
  }
  pthread_mutex_lock(&r->mutex);
  r->job = job;
  r->job_context = context;
  wake(r);
  /* A thread that has ended leaves the writer to us. */
  if (r->ended && r->job != NULL) {
    job(r->writer, context);
    r->job = NULL;
  }
  while (r->job != NULL) pthread_cond_wait(&r->done, &r->mutex);
  pthread_mutex_unlock(&r->mutex);
}

void bb_receiver_status(struct bb_receiver *r, struct bb_receiver_status *out) {
  pthread_mutex_lock(&r->mutex);
  *out = r->status;
  pthread_mutex_unlock(&r->mutex);
  out->heartbeat_ns = bb_load(&r->heartbeat_ns);
}

void bb_receiver_stop(struct bb_receiver *r) {
  if (r->started) {
    pthread_mutex_lock(&r->mutex);
    r->stop = true;
    pthread_mutex_unlock(&r->mutex);
    wake(r);
    pthread_join(r->thread, NULL);
    /* Drops of the last drain that were not explained yet are counted, too; they are known only now, by the second
     * look. */
    for (int i = 0; i < 2; i++) count_drops(r, bb_clock_ns(CLOCK_MONOTONIC));
  }
  for (int i = 0; i < r->count; i++) close(r->listeners[i].fd);
  close(r->wake);
  bb_interfaces_close(r->interfaces);
  bb_kernel_drops_close(r->kernel_drops);
  pthread_cond_destroy(&r->done);
  pthread_mutex_destroy(&r->mutex);
  if (r->writer != NULL) bb_writer_close(r->writer);
  free(r);
}

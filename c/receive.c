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

#include "board.h"
#include "seqlock.h"

#define BATCH 64
/* Slots are fetched so many datagrams ahead: each has 1,280 bytes, and the nearest cache is small. */
#define AHEAD 3
/* Larger than a report, so that one that is too long shows; the kernel cuts the rest. */
#define ROOM (BB_REPORT_BYTES + 64)
#define SECOND INT64_C(1000000000)
#define HEARTBEAT_NS (SECOND / 10)
/* Reports in one drain from which on the next tick is waited for without waiting for a report first. */
#define BUSY 4
#define PAUSE_NS SECOND
#define CLOCK_STEP_NS (SECOND / 100)
#define WANTED_BUFFER (64 << 20)
/* What a report takes of a socket buffer: seen as 2,305 bytes on x86-64. */
#define BUFFER_PER_REPORT 2305
/* For how long a drain takes what comes. More is left to the next: a flood must not keep us from saying that we live. */
#define MOST_DRAIN_NS (SECOND / 20)

struct listener {
  int fd;
  struct sockaddr_storage address; /* as bound */
  uint32_t drops;         /* as the kernel last told */
  int64_t heard_ns;       /* what arrived before has been taken, or was dropped */
  int64_t heard_offset;   /* a distance of the clocks from before then */
  int64_t sampled_ns, sampled_offset; /* a later one, and when it was taken: the next, once all from before then has been taken */
  int64_t latest_ns;      /* stamp of what was last taken */
  bool empty;             /* in the drain under way */
  bool inherited;         /* what waits in it came while another receiver drained it, or none */
};

/* Groups on interfaces that were named; the kernel allows a socket twenty. */
#define MOST_MEMBERSHIPS 64

/* A group that was joined on an interface of a name. With the interface the membership goes, and none comes back with another
 * interface of that name (a driver that is loaded again, a bond that is made anew). */
struct membership {
  int fd;
  struct sockaddr_storage group;
  char interface[IF_NAMESIZE];
  unsigned index; /* of the interface on which we are a member */
};

/* What the kernel tells about a datagram: one line of a cache. */
struct about {
  _Alignas(64) uint8_t control[CMSG_SPACE(sizeof(struct timespec))];
  union {
    sa_family_t family;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } from;
};

struct bb_receiver {
  struct bb_writer *writer;
  int64_t drain_ns;
  struct listener listeners[BB_MOST_SOCKETS];
  int count;
  struct membership memberships[MOST_MEMBERSHIPS];
  int membership_count;
  uint64_t buffer;
  uint64_t asked; /* for: to stop, or for a job */
  int wake;       /* eventfd, which tells a thread that waits for reports */
  bool started;
  pthread_t thread;
  int64_t last_began_ns, last_end_boot_ns, last_heartbeat_boot_ns;
  uint64_t heartbeat_ns; /* the last one, for whoever watches the thread */
  bool again; /* the last drain wants another at once */
  bool busy;  /* it brought so much that there will be something at the next tick, too */
  uint64_t flood, junk; /* in a second: when to filter; since `junk_since_ns`: what came */
  int64_t junk_since_ns;
  bool filtering;
  int64_t housekept_ns;
  pthread_mutex_t mutex; /* of what follows, up to the messages */
  pthread_cond_t done;
  struct bb_receiver_status status;
  bool stop;
  void (*job)(struct bb_writer *, void *);
  void *job_context;
  struct mmsghdr messages[BATCH];
  struct iovec vectors[BATCH];
  struct about about[BATCH];
  _Alignas(struct bb_report) uint8_t data[BATCH][ROOM];
};

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

/* CLOCK_REALTIME less CLOCK_MONOTONIC, sampled so close together that no preemption lies between. */
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

/* ---- sockets ---- */

/* All that arrived before `ns` has been taken; `distance`: of the clocks, then or before. */
static void set_heard(struct listener *l, int64_t ns, int64_t distance) {
  l->heard_ns = l->sampled_ns = ns;
  l->heard_offset = l->sampled_offset = distance;
}

static void set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

/* 0 where the kernel does not tell. */
static int get(int fd, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : 0;
}

/* What every socket of ours is set to. */
static void set_up(int fd, int family, uint64_t *buffer) {
  set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  if (family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
  else set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
  set(fd, SOL_SOCKET, SO_RCVBUFFORCE, WANTED_BUFFER); /* beyond rmem_max, for whom CAP_NET_ADMIN allows it */
  const uint64_t granted = (uint64_t)get(fd, SO_RCVBUF);
  if (granted < *buffer) *buffer = granted;
}

static int open_socket(const struct addrinfo *address, uint64_t *buffer) {
  const int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  /* No SO_REUSEADDR: with it any local user could bind beside us and take the reports. */
  if (address->ai_family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  set(fd, SOL_SOCKET, SO_RCVBUF, WANTED_BUFFER);
  set_up(fd, address->ai_family, buffer);
  if (bind(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static uint16_t port_of(const struct sockaddr_storage *a) {
  return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port : ((const struct sockaddr_in *)a)->sin_port);
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
  /* Taken before the socket is bound: nothing that it will hold is older. */
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
  set_heard(l, bound_ns, distance);
  return port_of(&bound);
}

/* Drops of this socket since we last asked, and whether its buffer is more than three quarters full. Asked for at each drain, since
 * SO_RXQ_OVFL comes only with the next datagram. */
static uint32_t new_drops(struct listener *l, bool *full) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof info;
  if (getsockopt(l->fd, SOL_SOCKET, SO_MEMINFO, info, &length) != 0) return 0;
  const uint32_t drops = info[SK_MEMINFO_DROPS] - l->drops;
  l->drops = info[SK_MEMINFO_DROPS];
  *full = info[SK_MEMINFO_RMEM_ALLOC] > info[SK_MEMINFO_RCVBUF] / 4 * 3;
  return drops;
}

/* More than the largest buffer holds, so that what came before is gone, however much comes meanwhile. */
#define MOST_DISCARDED (1 << 20)

/* Takes what waits in a socket, and lays it down nowhere: when it came is not known. */
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

int bb_receiver_adopt(struct bb_receiver *r, int fd, char host[INET6_ADDRSTRLEN], char *why, size_t size) {
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof address;
  if (r->count == BB_MOST_SOCKETS) {
    snprintf(why, size, "at most %d sockets to listen on", BB_MOST_SOCKETS);
    return -1;
  }
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 || get(fd, SO_TYPE) != SOCK_DGRAM ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6) || port_of(&address) == 0) {
    snprintf(why, size, "descriptor %d, which we were passed, is no UDP socket with an address; see ListenDatagram= in its unit", fd);
    return -1;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  /* systemd binds with SO_REUSEADDR, and we take that away below, when the socket has been emptied once. So one that is without it
   * has been ours before, and has kernel stamps for all that it holds: of what came before these were asked for, the kernel would
   * tell the time at which it is taken. */
  const bool inherited = get(fd, SO_REUSEADDR) == 0 && get(fd, SO_TIMESTAMPNS) != 0;
  set_up(fd, address.ss_family, &r->buffer);
  set(fd, SOL_SOCKET, SO_DETACH_FILTER, 0); /* of a receiver that was killed in a flood */
  struct listener *l = &r->listeners[r->count++];
  *l = (struct listener){.fd = fd, .address = address, .inherited = inherited};
  if (!inherited) begin_empty(l);
  set(fd, SOL_SOCKET, SO_REUSEADDR, 0);
  bool full;
  new_drops(l, &full); /* what was dropped before was others' to count */
  if (address.ss_family == AF_INET6) inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, host, INET6_ADDRSTRLEN);
  else inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, host, INET6_ADDRSTRLEN);
  return port_of(&address);
}

/* What waits in a socket that was drained before us came after that receiver's last heartbeat, and its kernel stamps can be believed
 * if the clocks are as far apart as they were then. Without a board that says so nothing is known of it. */
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

/* Whether a socket takes what is sent to any address, at this port. */
static bool takes_all(const struct sockaddr_storage *a, int family, uint16_t port) {
  if (a->ss_family != family || port_of(a) != port) return false;
  if (family == AF_INET) return ((const struct sockaddr_in *)a)->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

/* Joins a group on an interface, or leaves it: what setsockopt() gives. */
static int set_membership(int fd, const struct sockaddr_storage *group, unsigned interface, bool member) {
  if (group->ss_family == AF_INET6) {
    struct ipv6_mreq request = {.ipv6mr_multiaddr = ((const struct sockaddr_in6 *)group)->sin6_addr, .ipv6mr_interface = interface};
    return setsockopt(fd, IPPROTO_IPV6, member ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, &request, sizeof request);
  }
  struct ip_mreqn request = {.imr_multiaddr = ((const struct sockaddr_in *)group)->sin_addr, .imr_ifindex = (int)interface};
  return setsockopt(fd, IPPROTO_IP, member ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &request, sizeof request);
}

/* Joins the groups again whose interface is another by now. Whether we have been a member of all since we last looked; if we still
 * cannot be, one line in `why`. Looks at the index alone, for joining takes the kernel's lock of all interfaces. */
static bool keep_memberships(struct bb_receiver *r, char *why, size_t size) {
  bool kept = true;
  for (int i = 0; i < r->membership_count; i++) {
    struct membership *m = &r->memberships[i];
    const unsigned index = if_nametoindex(m->interface);
    if (index == m->index) continue;
    kept = false;
    if (index == 0) snprintf(why, size, "hears no group on %s: there is no such interface now", m->interface);
    else if (set_membership(m->fd, &m->group, index, true) != 0 && errno != EADDRINUSE)
      snprintf(why, size, "hears no group on %s, which is another interface now: %s; restart beoboard receive", m->interface,
               strerror(errno));
    else {
      /* The old one still counts among those that a socket may have. */
      set_membership(m->fd, &m->group, m->index, false);
      m->index = index;
    }
  }
  return kept;
}

int bb_receiver_join(struct bb_receiver *r, const char *group, uint16_t port, const char *interface, char *why, size_t size) {
  const unsigned index = interface == NULL ? 0 : if_nametoindex(interface);
  if (interface != NULL && index == 0) {
    snprintf(why, size, "there is no interface %s", interface);
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
    snprintf(why, size, "%s is no address", group);
    return -1;
  }
  /* One socket for both where there is one for all addresses: a second could not be bound beside it. */
  int i = 0;
  while (i < r->count && !takes_all(&r->listeners[i].address, address.ss_family, port)) i++;
  /* A group of link scope can be bound on its interface only. */
  char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
  const bool scoped = address.ss_family == AF_INET6 && interface != NULL;
  snprintf(host, sizeof host, "%s%s%s", group, scoped ? "%" : "", scoped ? interface : "");
  const int bound = i < r->count ? (int)port : bb_receiver_listen(r, host, port, why, size);
  if (bound < 0) return bound;
  const int fd = r->listeners[i].fd;
  /* EADDRINUSE: joined already, twice or by a receiver that had the socket before us. */
  if (set_membership(fd, &address, index, true) == 0 || errno == EADDRINUSE) {
    if (interface != NULL) {
      struct membership *m = &r->memberships[r->membership_count++];
      *m = (struct membership){.fd = fd, .group = address, .index = index};
      snprintf(m->interface, sizeof m->interface, "%s", interface);
    }
    return bound;
  }
  snprintf(why, size, "cannot join %s%s%s: %s%s", group, interface == NULL ? "" : " on ", interface == NULL ? "" : interface,
           strerror(errno), interface == NULL ? "; name the interface with --interface" : "");
  return -1;
}

/* Counts what the kernel has dropped. What it was asked to drop counts among that: then it was an overflow only where there is
 * hardly any room. */
static void count_drops(struct bb_receiver *r) {
  uint64_t drops = 0;
  bool overflow = false;
  for (int i = 0; i < r->count; i++) {
    bool full = false;
    const uint32_t here = new_drops(&r->listeners[i], &full);
    drops += here;
    if (here > 0 && (full || !r->filtering)) overflow = true;
  }
  if (drops == 0) return;
  if (r->filtering) r->junk += drops;
  bb_writer_dropped(r->writer, drops, overflow);
  /* After the kernel was asked: what it dropped until then was not heard. */
  if (overflow) bb_writer_listening_since(r->writer, bb_clock_ns(CLOCK_MONOTONIC));
}

/* ---- floods ---- */

/* Lets the kernel drop what has not the size and the magic of a report, or no longer. */
static void set_filter(struct bb_receiver *r, bool on) {
  /* A filter of a UDP socket sees the datagram with its header of 8 bytes, and loads words in network order. */
  static struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 8 + BB_REPORT_BYTES, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x42535231, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  const int nothing = 0;
  /* Drops from before the filter are overflows, and those from under it are not. */
  if (on) count_drops(r);
  bool is_on = on;
  for (int i = 0; on && i < r->count; i++)
    if (setsockopt(r->listeners[i].fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) is_on = false;
  for (int i = 0; !is_on && i < r->count; i++)
    setsockopt(r->listeners[i].fd, SOL_SOCKET, SO_DETACH_FILTER, &nothing, sizeof nothing);
  if (!on) count_drops(r);
  r->filtering = is_on;
  bb_writer_filtering(r->writer, is_on);
}

/* Filters from the moment at which more junk has come than may come in a second, until a whole second has brought less. */
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

/* The kernel's receive time; 0 when it gave none. */
static int64_t kernel_time(struct msghdr *message) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    struct timespec t;
    memcpy(&t, CMSG_DATA(c), sizeof t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
  }
  return 0;
}

/* The kernel's time carried over to the monotonic clock. What we take now arrived after all that was heard before, so it is no
 * older than that; and where the wall clock stepped meanwhile, that bound is all we know: rather old than young. The two
 * distances of the clocks were sampled before what was heard then and after this was taken, so that its arrival lies
 * between them, however long we were kept from going on.
 *
 * Of a socket that we have not drained before, that bound is another receiver's, and perhaps of another socket: there what would need
 * it has no stamp, 0. */
static int64_t stamp(const struct listener *l, int64_t kernel_ns, int64_t distance, int64_t taken_ns) {
  const int64_t moved = distance - l->heard_offset;
  const int64_t bound_ns = l->inherited ? 0 : l->heard_ns;
  if (kernel_ns == 0 || moved > CLOCK_STEP_NS || moved < -CLOCK_STEP_NS) return bound_ns;
  const int64_t ns = kernel_ns - distance;
  if (ns < l->heard_ns) return bound_ns;
  return ns > taken_ns ? taken_ns : ns;
}

/* Notes up to when a socket has been heard, at the end of a drain that began then: one that was left empty, until the drain began.
 * Another until what was last taken arrived, since a socket is a queue: under a flood that never lets it be empty we are late by what
 * waits in its buffer, and not deaf. Never later than the drain began, for what was dropped since has not been counted. */
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
  if (about->from.family == AF_INET6) {
    memcpy(arrival->address, &about->from.v6.sin6_addr, 16);
    arrival->port = ntohs(about->from.v6.sin6_port);
  } else {
    memset(arrival->address, 0, 10);
    memset(arrival->address + 10, 0xff, 2);
    memcpy(arrival->address + 12, &about->from.v4.sin_addr, 4);
    arrival->port = ntohs(about->from.v4.sin_port);
  }
}

/* ---- the drain ---- */

/* Takes one batch from a socket: how many datagrams came. */
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
  /* A board is larger than a cache. What the nodes of a batch need of it is asked for first, and waited for together. */
  uint64_t expected[BATCH];
  for (int i = 0; i < got; i++) expected[i] = bb_writer_expect(r->writer, r->data[i]);
  for (int i = 0; i < got; i++) bb_writer_fetch(r->writer, expected[i]);
  for (int i = 0; i < got; i++) {
    if (i + AHEAD < got) bb_writer_fetch_slot(r->writer, expected[i + AHEAD]);
    struct msghdr *m = &r->messages[i].msg_hdr;
    struct bb_arrival arrival = {.expected = expected[i]};
    arrival.stamp_ns = stamp(l, kernel_time(m), distance, taken_ns);
    if (arrival.stamp_ns == 0) continue;
    arrival.stamp_real_ns = arrival.stamp_ns + distance;
    set_address(&arrival, &r->about[i]);
    const int outcome = bb_writer_deliver(r->writer, r->data[i], r->messages[i].msg_len, &arrival);
    r->junk += outcome == BB_REASON_SIZE || outcome == BB_REASON_MAGIC;
    l->latest_ns = arrival.stamp_ns;
  }
  l->empty = got < BATCH;
  return got;
}

static void drain(struct bb_receiver *r) {
  const int64_t began_ns = bb_clock_ns(CLOCK_MONOTONIC);
  const int64_t began_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  /* CLOCK_BOOTTIME, which goes on while the machine is suspended. Stored before anything else: a reader that sees a new
   * heartbeat must see that the stretch before it was not listened to. */
  if (began_boot_ns - r->last_end_boot_ns > PAUSE_NS) bb_writer_resumed(r->writer, began_ns);
  if (began_boot_ns - r->last_heartbeat_boot_ns > PAUSE_NS) bb_writer_listening_since(r->writer, began_ns);
  count_drops(r);

  const int64_t distance = clock_distance();
  uint64_t total = 0;
  for (int i = 0; i < r->count; i++) r->listeners[i].empty = false;
  bool more;
  /* In turn, a batch each, so that a flood on one socket does not starve another. */
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
  int64_t heard_ns = began_ns;
  for (int i = 0; i < r->count; i++) {
    struct listener *l = &r->listeners[i];
    note_heard(l, began_ns, distance);
    if (l->heard_ns < heard_ns) heard_ns = l->heard_ns;
  }
  r->last_began_ns = began_ns;
  r->last_end_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  if (heard_ns > (int64_t)r->heartbeat_ns) {
    bb_writer_heartbeat(r->writer, heard_ns);
    bb_store(&r->heartbeat_ns, (uint64_t)heard_ns);
    r->last_heartbeat_boot_ns = began_boot_ns - (began_ns - heard_ns);
  }
  mind_flood(r, began_ns);
  /* `more`: its time was over. A socket that only fails is not asked without pause. */
  r->again = more || total * BUFFER_PER_REPORT > r->buffer / 4;
  r->busy = total >= BUSY;
}

/* ---- the thread ---- */

/* Once a second: is our board still at its path, and do we hear our groups? And what JavaScript may ask for. */
static void keep_house(struct bb_receiver *r) {
  char trouble[sizeof r->status.trouble] = "";
  const int published = bb_writer_check_path(r->writer, trouble, sizeof trouble);
  if (!keep_memberships(r, trouble, sizeof trouble)) {
    /* What was sent meanwhile was not heard: as if we had stood still. */
    const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
    bb_writer_resumed(r->writer, now_ns);
    bb_writer_listening_since(r->writer, now_ns);
  }
  const struct bb_board_header *h = bb_writer_header(r->writer);
  pthread_mutex_lock(&r->mutex);
  struct bb_receiver_status *s = &r->status;
  s->received = h->received;
  s->accepted = h->accepted;
  s->duplicate = h->duplicate;
  s->kernel_drops = h->kernel_drops;
  s->nodes = h->count;
  memcpy(s->refused, h->refused, sizeof s->refused);
  s->receive_buffer = r->buffer;
  s->filtering = r->filtering;
  s->publications += published > 0;
  memcpy(s->trouble, trouble, sizeof trouble);
  pthread_mutex_unlock(&r->mutex);
}

static void wake(struct bb_receiver *r) {
  const uint64_t one = 1;
  bb_store(&r->asked, 1);
  while (write(r->wake, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

/* Does what was asked for from outside; whether that is to stop. */
static bool obey(struct bb_receiver *r) {
  if (bb_load(&r->asked) == 0) return false;
  /* Before we look: what is asked for from now on is asked for anew. What was, the mutex shows us. */
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

static void *run(void *argument) {
  struct bb_receiver *r = (struct bb_receiver *)argument;
  struct pollfd fds[1 + BB_MOST_SOCKETS] = {{.fd = r->wake, .events = POLLIN}};
  for (int i = 0; i < r->count; i++) fds[1 + i] = (struct pollfd){.fd = r->listeners[i].fd, .events = POLLIN};
  const struct timespec heartbeat = {HEARTBEAT_NS / SECOND, HEARTBEAT_NS % SECOND};
  bool stop = false;
  while (!stop) {
    if (!r->again) {
      /* Blocks for the first report, and then until the tick; while they keep coming, until the tick at once. Wake-ups are what costs,
       * not copies; a sleep costs less than a wait for what is asked of us, which has time until the tick. */
      if (!r->busy) ppoll(fds, 1 + (nfds_t)r->count, &heartbeat, NULL);
      const int64_t tick_ns = r->last_began_ns + r->drain_ns;
      const struct timespec tick = {tick_ns / SECOND, tick_ns % SECOND};
      if (tick_ns > bb_clock_ns(CLOCK_MONOTONIC)) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, NULL);
    }
    drain(r);
    /* After a drain: what came before the question is on the board that it is about. */
    stop = obey(r);
    if (r->last_began_ns - r->housekept_ns >= SECOND || stop) {
      keep_house(r);
      r->housekept_ns = r->last_began_ns;
    }
  }
  return NULL;
}

int bb_receiver_start(struct bb_receiver *r, struct bb_writer *writer) {
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  r->writer = writer;
  look_back(r);
  bb_writer_receive_buffer(r->writer, r->buffer);
  r->last_began_ns = now_ns - r->drain_ns;
  /* The stretch begins now, and so it is stored before the first heartbeat. */
  bb_writer_listening_since(r->writer, now_ns);
  bb_writer_resumed(r->writer, now_ns);
  r->last_end_boot_ns = r->last_heartbeat_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  /* The first drain here, before there is a thread: whoever is told that we are ready finds a board that is not stalled. */
  drain(r);
  keep_house(r);
  sigset_t all, before;
  sigfillset(&all); /* signals are JavaScript's */
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
  }
  for (int i = 0; i < r->count; i++) close(r->listeners[i].fd);
  close(r->wake);
  pthread_cond_destroy(&r->done);
  pthread_mutex_destroy(&r->mutex);
  if (r->writer != NULL) bb_writer_close(r->writer);
  free(r);
}

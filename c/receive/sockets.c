#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/ipaddress.h"
#include "../format/layout.gen.h"

#define WANTED_BUFFER (64 << 20)

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

static int sockets_open(const struct addrinfo *address, uint64_t *buffer) {
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

int sockets_listen(struct sockets *s, const char *host, uint16_t port, char *why, size_t size) {
  if (s->count == BB_MOST_SOCKETS) {
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
  const int64_t distance = stamps_clock_distance();
  const int fd = sockets_open(address, &s->buffer);
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
  struct listener *l = &s->listeners[s->count++];
  *l = (struct listener){.fd = fd, .address = bound};
  note_bound(l);
  stamps_set_heard(&l->heard, bound_ns, distance);
  return port_of(&bound);
}

uint32_t listener_drops(struct listener *l) {
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
  stamps_set_heard(&l->heard, bb_clock_ns(CLOCK_MONOTONIC), stamps_clock_distance());
  l->heard.inherited = false;
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

int sockets_adopt(struct sockets *s, int fd, char host[INET6_ADDRSTRLEN], char *why, size_t size) {
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof address;
  if (s->count == BB_MOST_SOCKETS) {
    snprintf(why, size, "at most %d sockets to listen on", BB_MOST_SOCKETS);
    return -1;
  }
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 || get(fd, SO_TYPE) != SOCK_DGRAM ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6) || port_of(&address) == 0) {
    snprintf(why, size, "the passed descriptor %d is not a UDP socket with an address; see ListenDatagram= in its unit",
             fd);
    return -1;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  /* systemd binds with SO_REUSEADDR, and we take that away below, when the socket has been emptied once. So a socket
   * without it has been ours before, and has kernel stamps for everything in it: for what came before these were
   * enabled, the kernel would return the time of reading. */
  const bool inherited = get(fd, SO_REUSEADDR) == 0 && get(fd, SO_TIMESTAMPNS) != 0;
  set_up(fd, address.ss_family, &s->buffer);
  set(fd, SOL_SOCKET, SO_DETACH_FILTER, 0); /* of a receiver that was killed in a flood */
  struct listener *l = &s->listeners[s->count++];
  *l = (struct listener){.fd = fd, .address = address, .heard.inherited = inherited, .foreign = !is_at_home(fd)};
  note_bound(l);
  if (!inherited) begin_empty(l);
  set(fd, SOL_SOCKET, SO_REUSEADDR, 0);
  listener_drops(l); /* earlier drops were counted by others */
  if (address.ss_family == AF_INET6)
    inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, host, INET6_ADDRSTRLEN);
  else inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, host, INET6_ADDRSTRLEN);
  return port_of(&address);
}

/* What waits in a socket that was drained before us came after that receiver's last heartbeat, and its kernel stamps
 * can be trusted if the distance of the clocks is the same as then. Without a board that has these, nothing is
 * known. */
void sockets_look_back(struct sockets *s, bool known, int64_t heard_ns, int64_t distance) {
  for (int i = 0; i < s->count; i++) {
    struct listener *l = &s->listeners[i];
    if (!l->heard.inherited) continue;
    if (known) stamps_set_heard(&l->heard, heard_ns, distance);
    else begin_empty(l);
  }
}

/* Whether a socket receives what is sent to any address, at this port. */
static bool receives_any(const struct sockaddr_storage *a, int family, uint16_t port) {
  if (a->ss_family != family || port_of(a) != port) return false;
  if (family == AF_INET) return ((const struct sockaddr_in *)a)->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

/* Joins a group on an interface, or leaves it; returns the result of setsockopt(). */
static int set_membership(int fd, const struct sockaddr_storage *group, unsigned interface, bool member) {
  if (group->ss_family == AF_INET6) {
    struct ipv6_mreq request = {.ipv6mr_multiaddr = ((const struct sockaddr_in6 *)group)->sin6_addr,
                                .ipv6mr_interface = interface};
    return setsockopt(fd, IPPROTO_IPV6, member ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, &request, sizeof request);
  }
  struct ip_mreqn request = {.imr_multiaddr = ((const struct sockaddr_in *)group)->sin_addr,
                             .imr_ifindex = (int)interface};
  return setsockopt(fd, IPPROTO_IP, member ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &request, sizeof request);
}

/* The present number of the interface of that name, 0: there is none. False if that is unknown: asking the kernel
 * needs a descriptor, and a lack of descriptors must not look like an interface that is gone. The kernel is asked only
 * where nothing else is known: for a name that it does not have, it first runs modprobe, and we would wait for that. */
static bool find_interface(const struct bb_interfaces *interfaces, const char *name, unsigned *index) {
  if (interfaces != NULL) {
    const struct bb_interface *is = bb_interfaces_by_name(interfaces, name);
    *index = is == NULL ? 0 : is->index;
    return true;
  }
  *index = if_nametoindex(name);
  return *index != 0 || errno == ENODEV;
}

/* Whether there is no interface of that number. */
static bool is_gone(const struct bb_interfaces *interfaces, unsigned index) {
  char name[IF_NAMESIZE];
  if (interfaces != NULL) return bb_interfaces_by_index(interfaces, index) == NULL;
  return if_indextoname(index, name) == NULL && errno == ENXIO;
}

/* Binds sockets again whose interface has been replaced: they would hear nothing any more, although the new one has
 * their address. This needs privileges; without them they stay so, and `why` gets one line. */
static void keep_bindings(struct sockets *s, const struct bb_interfaces *interfaces,
                          void (*missed)(void *, const char *), void *context, char *why, size_t size) {
  for (int i = 0; i < s->count; i++) {
    struct listener *l = &s->listeners[i];
    unsigned index;
    if (l->bound == 0 || !find_interface(interfaces, l->interface, &index) || index == l->bound) continue;
    const int wanted = (int)index;
    if (index == 0) snprintf(why, size, "hears nothing on %s: there is no such interface now", l->interface);
    else if (setsockopt(l->fd, SOL_SOCKET, SO_BINDTOIFINDEX, &wanted, sizeof wanted) == 0) l->bound = index;
    else
      snprintf(why, size, "hears nothing on %s, which is another interface now: %s; restart beoboard receive",
               l->interface, strerror(errno));
    missed(context, l->interface);
  }
}

/* Joins groups again whose interface has been replaced, or disappeared meanwhile: what was sent then was not heard
 * by that link. If we still cannot join, `why` gets one line. Uses only what is known, because joining takes the
 * kernel's lock of all interfaces. */
static void keep_memberships(struct sockets *s, const struct bb_interfaces *interfaces,
                             void (*missed)(void *, const char *), void *context, char *why, size_t size) {
  for (int i = 0; i < s->membership_count; i++) {
    struct membership *m = &s->memberships[i];
    unsigned index;
    if (m->interface[0] == 0 || !find_interface(interfaces, m->interface, &index)) continue;
    if (index != 0 && index == m->index && !m->lost) continue;
    if (index == 0) {
      snprintf(why, size, "hears no group on %s: there is no such interface now", m->interface);
      m->lost = m->lost || (m->index != 0 && is_gone(interfaces, m->index));
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
        snprintf(why, size, "hears no group on %s, which is another interface now: %s; restart beoboard receive",
                 m->interface, strerror(errno));
    }
    missed(context, m->interface);
  }
}

void sockets_keep(struct sockets *s, const struct bb_interfaces *interfaces, void (*missed)(void *, const char *),
                  void *context, char *why, size_t size) {
  keep_bindings(s, interfaces, missed, context, why, size);
  keep_memberships(s, interfaces, missed, context, why, size);
}

void sockets_lose_memberships(struct sockets *s, unsigned index) {
  for (int i = 0; i < s->membership_count; i++) {
    struct membership *m = &s->memberships[i];
    if (m->index != 0 && (index == 0 || m->index == index)) m->lost = true;
  }
}

int sockets_join(struct sockets *s, const char *group, uint16_t port, const char *interface, char *why, size_t size) {
  const unsigned index = interface == NULL ? 0 : if_nametoindex(interface);
  if (interface != NULL && index == 0) {
    snprintf(why, size, "there is no interface %s; ip link lists them", interface);
    return -1;
  }
  if (s->membership_count == MOST_MEMBERSHIPS) {
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
  while (i < s->count && !receives_any(&s->listeners[i].address, address.ss_family, port)) i++;
  /* A group of link scope can be bound on its interface only. */
  char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
  const bool scoped = address.ss_family == AF_INET6 && interface != NULL;
  snprintf(host, sizeof host, "%s%s%s", group, scoped ? "%" : "", scoped ? interface : "");
  const int bound = i < s->count ? (int)port : sockets_listen(s, host, port, why, size);
  if (bound < 0) return bound;
  const int fd = s->listeners[i].fd;
  /* EADDRINUSE: joined already, twice or by an earlier receiver that had the socket. */
  if (set_membership(fd, &address, index, true) == 0 || errno == EADDRINUSE) {
    struct membership *m = &s->memberships[s->membership_count++];
    *m = (struct membership){.fd = fd, .group = address, .index = index};
    set_port(&m->group, (uint16_t)bound);
    /* Its own name, by which it is watched: the one that was given may be an alternative name. */
    if (interface != NULL && if_indextoname(index, m->interface) == NULL)
      snprintf(m->interface, sizeof m->interface, "%s", interface);
    return bound;
  }
  snprintf(why, size, "cannot join %s%s%s: %s%s", group, interface == NULL ? "" : " on ",
           interface == NULL ? "" : interface, strerror(errno),
           interface == NULL ? "; name the interface with --interface" : "");
  return -1;
}

bool sockets_are_members(const struct sockets *s, const uint8_t group[16], uint16_t port, const char *interface) {
  for (int i = 0; i < s->membership_count; i++) {
    const struct membership *m = &s->memberships[i];
    uint8_t joined[16];
    map_address(joined, &m->group);
    if (memcmp(joined, group, sizeof joined) != 0 || (port != 0 && port_of(&m->group) != port)) continue;
    if (m->interface[0] == 0 || strcmp(m->interface, interface) == 0) return true;
  }
  return false;
}

/* Reports may have come to another receiver with other sockets. */
bool sockets_receive(const struct sockets *s, const uint8_t address[16], uint16_t port) {
  for (int i = 0; i < s->count; i++) {
    const struct sockaddr_storage *a = &s->listeners[i].address;
    if (port != 0 && port_of(a) != port) continue;
    uint8_t bound[16];
    map_address(bound, a);
    if (memcmp(bound, address, sizeof bound) == 0) return true;
    /* A socket of IPv6 for all addresses may take IPv4, too. */
    if (receives_any(a, a->ss_family, port_of(a)) && (a->ss_family == AF_INET6 || is_v4(address))) return true;
  }
  return false;
}

bool sockets_are_foreign(const struct sockets *s) {
  bool any = false;
  for (int i = 0; i < s->count; i++) any = any || s->listeners[i].foreign;
  return any;
}

bool sockets_filter(struct sockets *s, bool on) {
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
  for (int i = 0; on && i < s->count; i++)
    if (setsockopt(s->listeners[i].fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) is_on = false;
  for (int i = 0; !is_on && i < s->count; i++)
    setsockopt(s->listeners[i].fd, SOL_SOCKET, SO_DETACH_FILTER, &nothing, sizeof nothing);
  return is_on;
}

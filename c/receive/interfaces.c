#include "interfaces.h"

#include <errno.h>
#include <linux/in_route.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local.h"

/* Room for some hundred changes until the next drain. */
#define WANTED_BUFFER (1 << 20)
/* The kernel writes its dumps in pieces of at most 32 KiB, unless one interface alone needs more. */
#define FIRST_ROOM ((size_t)1 << 16)
#define MOST_ROOM ((size_t)1 << 22)
/* How many datagrams one drain takes. The socket holds far fewer: a drain ends, however fast the kernel sends. */
#define MOST_RECEIVED (1 << 16)
/* How often a dump is repeated because interfaces came or went meanwhile. */
#define MOST_DUMPS 8
/* How many datagrams a dump or an answer may have. */
#define MOST_PIECES (1 << 20)
#define MOST_ANSWERS 16
/* IFF_LOWER_UP of linux/if.h, which cannot be included together with net/if.h. */
#define LOWER_UP (1u << 16)

struct entry {
  struct bb_interface is;
  uint32_t downs; /* how often it has lost its carrier; 0 if the kernel does not report it (before Linux 4.16) */
  uint32_t dump;  /* the last dump in which it was seen, or before which it came */
  bool gone;      /* not in the last dump: it cannot be found any more */
  bool was_down;  /* found since messages were lost, and not reported yet */
};

struct bb_interfaces {
  int changes;   /* the socket for the kernel's notifications */
  int questions; /* the socket for questions about routes */
  uint32_t sequence, dump;
  bool lost;
  struct entry *entries; /* by index */
  size_t count, room;
  struct bb_addresses addresses;
  uint8_t *buffer;
  size_t buffer_size;
};

/* The caller's functions. */
struct listening {
  bb_interfaces_tell *tell; /* NULL: nobody */
  bb_interfaces_tell_address *tell_address;
  void *context;
  bool only_gone; /* Only for interfaces that are gone: others are reported later. */
};

static void tell_of(const struct listening *to, const struct bb_interface *is, bool gone, bool was_down) {
  const struct bb_interface_news news = {.is = *is, .gone = gone, .was_down = was_down};
  if (to->tell != NULL && (gone || !to->only_gone)) to->tell(&news, to->context);
}

/* ---- what is known ---- */

/* The place of the interface with this index, or where it would be. */
static size_t interfaces_place_of(const struct bb_interfaces *s, unsigned index) {
  size_t low = 0, high = s->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (s->entries[middle].is.index < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

static struct entry *interfaces_find(const struct bb_interfaces *s, unsigned index) {
  const size_t at = interfaces_place_of(s, index);
  return at < s->count && s->entries[at].is.index == index ? &s->entries[at] : NULL;
}

const struct bb_interface *bb_interfaces_by_index(const struct bb_interfaces *s, unsigned index) {
  const struct entry *e = interfaces_find(s, index);
  return e == NULL || e->gone ? NULL : &e->is;
}

const struct bb_interface *bb_interfaces_by_name(const struct bb_interfaces *s, const char *name) {
  for (size_t i = 0; i < s->count; i++)
    if (!s->entries[i].gone && strcmp(s->entries[i].is.name, name) == 0) return &s->entries[i].is;
  return NULL;
}

const struct bb_interface *bb_interfaces_loopback(const struct bb_interfaces *s) {
  for (size_t i = 0; i < s->count; i++)
    if (!s->entries[i].gone && s->entries[i].is.loopback) return &s->entries[i].is;
  return NULL;
}

bool bb_interfaces_sent(const struct bb_interfaces *s, const uint8_t source[16], unsigned index) {
  return bb_addresses_have(&s->addresses, source, index);
}

static int insert(struct bb_interfaces *s, const struct entry *new) {
  if (s->count == s->room) {
    const size_t room = s->room == 0 ? 64 : s->room * 2;
    struct entry *entries = (struct entry *)realloc(s->entries, room * sizeof *entries);
    if (entries == NULL) return -ENOMEM;
    s->entries = entries;
    s->room = room;
  }
  const size_t at = interfaces_place_of(s, new->is.index);
  memmove(&s->entries[at + 1], &s->entries[at], (s->count - at) * sizeof *new);
  s->entries[at] = *new;
  s->count++;
  return 0;
}

/* Stores what was seen of an interface, and reports its changes. */
static int lay_down(struct bb_interfaces *s, const struct entry *seen, const struct listening *to) {
  struct entry *e = interfaces_find(s, seen->is.index);
  if (e == NULL) {
    struct entry new = *seen;
    new.was_down = to->only_gone;
    const int result = insert(s, &new);
    if (result == 0) tell_of(to, &seen->is, false, true);
    return result;
  }
  const struct bb_interface before = e->is;
  /* Carrier events come at most once a second, and what is over by then is visible only in this counter. A message
   * from before the last dump has a lower count than is known, which is not a change. */
  const bool flapped = (int32_t)(seen->downs - e->downs) > 0;
  const bool renamed = strcmp(before.name, seen->is.name) != 0;
  e->is = seen->is;
  e->dump = seen->dump;
  if (flapped) e->downs = seen->downs;
  const bool was_down = !before.up || !seen->is.up || flapped;
  e->was_down = e->was_down || (to->only_gone && was_down);
  if (renamed) tell_of(to, &before, true, true);
  if (renamed || flapped || before.up != seen->is.up) tell_of(to, &seen->is, false, was_down);
  return 0;
}

static void remove_interface(struct bb_interfaces *s, unsigned index, const struct listening *to) {
  const struct entry *e = interfaces_find(s, index);
  if (e == NULL) return;
  const struct bb_interface was = e->is;
  const size_t at = (size_t)(e - s->entries);
  s->count--;
  memmove(&s->entries[at], &s->entries[at + 1], (s->count - at) * sizeof *e);
  tell_of(to, &was, true, true);
}

/* ---- messages ---- */

/* Whether a whole message is in the rest of a datagram, whose length may be negative. */
static bool is_message(const struct nlmsghdr *message, int left) {
  return left > 0 && NLMSG_OK(message, (unsigned)left);
}

/* Whether the message is about an interface itself; then `seen` is its contents. */
static bool read_link(const struct nlmsghdr *message, struct entry *seen) {
  if (message->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg))) return false;
  const struct ifinfomsg *info = (const struct ifinfomsg *)NLMSG_DATA(message);
  /* A bridge reports its ports by messages of their own family: an RTM_DELLINK of that family says that a port has
   * left it. */
  if (info->ifi_family != AF_UNSPEC || info->ifi_index <= 0) return false;
  memset(seen, 0, sizeof *seen);
  seen->is.index = (unsigned)info->ifi_index;
  const unsigned wanted = IFF_UP | IFF_RUNNING | LOWER_UP;
  seen->is.up = (info->ifi_flags & wanted) == wanted;
  seen->is.loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;
  int left = (int)IFLA_PAYLOAD(message);
  for (const struct rtattr *a = IFLA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    const size_t size = RTA_PAYLOAD(a);
    if (a->rta_type == IFLA_IFNAME) memcpy(seen->is.name, RTA_DATA(a), size < IF_NAMESIZE ? size : IF_NAMESIZE - 1);
    else if (a->rta_type == IFLA_CARRIER_DOWN_COUNT && size >= sizeof seen->downs)
      memcpy(&seen->downs, RTA_DATA(a), sizeof seen->downs);
  }
  return true;
}

/* The error in a message: 0 for none, else -errno. */
static int error_in(const struct nlmsghdr *message) {
  int error = 0;
  if (message->nlmsg_len >= NLMSG_LENGTH(sizeof error)) memcpy(&error, NLMSG_DATA(message), sizeof error);
  return error < 0 ? error : 0;
}

/* Notes and reports an address that came or went. For a point-to-point address, IFA_ADDRESS is the peer's and IFA_LOCAL
 * ours. */
static int read_address(struct bb_interfaces *s, const struct nlmsghdr *message, const struct listening *to) {
  if (message->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifaddrmsg))) return 0;
  const struct ifaddrmsg *info = (const struct ifaddrmsg *)NLMSG_DATA(message);
  const size_t wanted = info->ifa_family == AF_INET ? 4 : info->ifa_family == AF_INET6 ? 16 : 0;
  const void *ours = NULL;
  bool local = false;
  int left = (int)IFA_PAYLOAD(message);
  for (const struct rtattr *a = IFA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (RTA_PAYLOAD(a) != wanted || (a->rta_type != IFA_LOCAL && (a->rta_type != IFA_ADDRESS || local))) continue;
    ours = RTA_DATA(a);
    local = a->rta_type == IFA_LOCAL;
  }
  if (ours == NULL || wanted == 0) return 0;
  uint8_t address[16] = {[10] = 0xff, [11] = 0xff};
  memcpy(address + 16 - wanted, ours, wanted);
  const bool gone = message->nlmsg_type == RTM_DELADDR;
  /* During duplicate detection, and after it has failed, the address may be another machine's. */
  if (gone || (info->ifa_flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0)
    bb_addresses_remove(&s->addresses, address, info->ifa_index);
  else if (!bb_addresses_add(&s->addresses, address, info->ifa_index, s->dump)) return -ENOMEM;
  if (to->tell_address != NULL) to->tell_address(address, info->ifa_index, gone, to->context);
  return 0;
}

static int read_message(struct bb_interfaces *s, const struct nlmsghdr *message, const struct listening *to) {
  struct entry seen;
  switch (message->nlmsg_type) {
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return read_address(s, message, to);
    case RTM_DELLINK:
      if (!read_link(message, &seen)) return 0;
      remove_interface(s, seen.is.index, to);
      return 0;
    case RTM_NEWLINK:
      if (!read_link(message, &seen) || seen.is.name[0] == 0) return 0;
      seen.dump = s->dump;
      return lay_down(s, &seen, to);
    default:
      return 0;
  }
}

/* Receives a datagram into the buffer, without waiting. Returns its bytes, 0 if it is not from the kernel, or
 * -errno; -EMSGSIZE: it was cut short. */
static int receive_datagram(struct bb_interfaces *s, int fd) {
  struct sockaddr_nl from = {0};
  struct iovec into = {s->buffer, s->buffer_size};
  struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &into, .msg_iovlen = 1};
  const ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT);
  if (bytes < 0) return -errno;
  if (message.msg_namelen != sizeof from || from.nl_family != AF_NETLINK || from.nl_pid != 0) return 0;
  return (message.msg_flags & MSG_TRUNC) != 0 ? -EMSGSIZE : (int)bytes;
}

static int interfaces_open_socket(uint32_t groups) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  const int wanted = WANTED_BUFFER;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted); /* beyond rmem_max, if CAP_NET_ADMIN allows it */
  const struct sockaddr_nl self = {.nl_family = AF_NETLINK, .nl_groups = groups};
  if (bind(fd, (const struct sockaddr *)&self, sizeof self) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

static int ask(int fd, const void *request, size_t bytes) {
  const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent;
  do sent = sendto(fd, request, bytes, 0, (const struct sockaddr *)&kernel, sizeof kernel);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

/* ---- dumps ---- */

enum { DUMP_GOES_ON, DUMP_DONE };

/* One datagram of a dump. If the kernel says that interfaces came or went meanwhile, `torn` is set. */
static int read_piece(struct bb_interfaces *s, int bytes, const struct listening *to, bool *torn) {
  int left = bytes;
  for (const struct nlmsghdr *m = (const struct nlmsghdr *)s->buffer; is_message(m, left); m = NLMSG_NEXT(m, left)) {
    if (m->nlmsg_seq != s->sequence) continue;
    if ((m->nlmsg_flags & NLM_F_DUMP_INTR) != 0) *torn = true;
    int result = 0;
    if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR) {
      result = error_in(m);
      return result < 0 ? result : DUMP_DONE;
    }
    if (m->nlmsg_type == RTM_NEWLINK || m->nlmsg_type == RTM_NEWADDR) result = read_message(s, m, to);
    if (result < 0) return result;
  }
  return DUMP_GOES_ON;
}

/* Reads a dump to its end. This never waits: the kernel writes the next piece while one is read. */
static int read_dump(struct bb_interfaces *s, int fd, const struct listening *to, bool *torn) {
  bool cut = false;
  for (int i = 0; i < MOST_PIECES; i++) {
    const int bytes = receive_datagram(s, fd);
    if (bytes == -EINTR) continue;
    if (bytes == -EMSGSIZE) cut = true;
    else if (bytes < 0) return bytes == -EAGAIN ? -EIO : bytes;
    const int result = bytes <= 0 ? DUMP_GOES_ON : read_piece(s, bytes, to, torn);
    if (result < 0) return result;
    if (result == DUMP_DONE) return cut ? -EMSGSIZE : 0;
  }
  return -EIO;
}

/* On its own socket: notifications wait on the other one meanwhile, and a failed dump leaves nothing behind. */
static int dump_of(struct bb_interfaces *s, const void *request, size_t bytes, const struct listening *to, bool *torn) {
  const int fd = interfaces_open_socket(0);
  if (fd < 0) return fd;
  int result = ask(fd, request, bytes);
  if (result == 0) result = read_dump(s, fd, to, torn);
  close(fd);
  return result;
}

static struct nlmsghdr dump_head(struct bb_interfaces *s, uint16_t type, size_t bytes) {
  return (struct nlmsghdr){.nlmsg_len = (uint32_t)bytes,
                           .nlmsg_type = type,
                           .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                           .nlmsg_seq = ++s->sequence};
}

/* All interfaces, then all addresses. */
static int dump_once(struct bb_interfaces *s, const struct listening *to, bool *torn) {
  struct {
    struct nlmsghdr head;
    struct ifinfomsg info;
    struct rtattr mask;
    uint32_t skipped;
  } links = {
      .head = dump_head(s, RTM_GETLINK, sizeof links),
      .mask = {.rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = IFLA_EXT_MASK},
      .skipped = RTEXT_FILTER_SKIP_STATS,
  };
  const int result = dump_of(s, &links, sizeof links, to, torn);
  if (result < 0) return result;
  struct {
    struct nlmsghdr head;
    struct ifaddrmsg info;
  } addresses = {.head = dump_head(s, RTM_GETADDR, sizeof addresses)};
  return dump_of(s, &addresses, sizeof addresses, to, torn);
}

/* Room for a datagram that was cut short. */
static int grow(struct bb_interfaces *s) {
  if (s->buffer_size >= MOST_ROOM) return -EMSGSIZE;
  uint8_t *buffer = (uint8_t *)realloc(s->buffer, s->buffer_size * 2);
  if (buffer == NULL) return -ENOMEM;
  s->buffer = buffer;
  s->buffer_size *= 2;
  return 0;
}

/* Stores all interfaces and addresses. While interfaces come and go a dump may leave out one that was there, so
 * it is repeated, and the dumps count together. The kernel's notifications report what has gone since it was seen. */
static int dump(struct bb_interfaces *s, const struct listening *to) {
  s->dump++;
  for (int i = 0; i < MOST_DUMPS;) {
    bool torn = false;
    int result = dump_once(s, to, &torn);
    if (result == 0 && !torn) break;
    if (result == 0) i++;
    else if (result == -EMSGSIZE) result = grow(s);
    if (result < 0) return result;
  }
  bb_addresses_keep(&s->addresses, s->dump);
  return 0;
}

/* After a message was lost: dumps, and reports every interface that existed before or exists now. */
static int begin_anew(struct bb_interfaces *s, const struct listening *to) {
  struct listening names = *to;
  /* a renamed interface is reported when the dump finds its new name; all others below, when the dump is complete */
  names.only_gone = true;
  names.tell_address = NULL; /* any may have come or gone */
  const int result = dump(s, &names);
  if (result < 0) return result;
  for (size_t i = 0; i < s->count; i++) s->entries[i].gone = s->entries[i].dump != s->dump;
  for (size_t i = 0; i < s->count; i++)
    tell_of(to, &s->entries[i].is, s->entries[i].gone, s->entries[i].gone || s->entries[i].was_down);
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    s->entries[i].was_down = false;
    if (!s->entries[i].gone) s->entries[kept++] = s->entries[i];
  }
  s->count = kept;
  return 1;
}

/* ---- changes ---- */

/* Reads all notifications. 1: the socket was left empty, 0: it was not, -errno. */
static int read_changes(struct bb_interfaces *s, const struct listening *to) {
  for (int i = 0; i < MOST_RECEIVED; i++) {
    int left = receive_datagram(s, s->changes);
    if (left == -EAGAIN) return 1;
    if (left == -EMSGSIZE) (void)grow(s);
    if (left == -EMSGSIZE || left == -ENOBUFS) s->lost = true;
    else if (left < 0 && left != -EINTR) return left;
    for (const struct nlmsghdr *m = (const struct nlmsghdr *)s->buffer; is_message(m, left); m = NLMSG_NEXT(m, left)) {
      const int result = read_message(s, m, to);
      if (result == 0) continue;
      s->lost = true; /* for want of memory */
      return result;
    }
  }
  return 0;
}

int bb_interfaces_drain(struct bb_interfaces *s, bb_interfaces_tell *tell, bb_interfaces_tell_address *tell_address,
                        void *context) {
  const struct listening to = {.tell = tell, .tell_address = tell_address, .context = context};
  const int emptied = read_changes(s, &to);
  if (emptied < 0) return emptied;
  if (!s->lost) return 0;
  /* Only now: after an overflow the kernel drops all messages, without further notice, until the socket has been
   * left empty. A notification from before the dump that is read after it restores an old state for a moment, until
   * a later one corrects it. */
  const int result = begin_anew(s, &to);
  if (result == 1 && emptied == 1) s->lost = false;
  return result;
}

int bb_interfaces_fd(const struct bb_interfaces *s) { return s->changes; }

struct bb_interfaces *bb_interfaces_open(void) {
  struct bb_interfaces *s = (struct bb_interfaces *)calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  const struct listening nobody = {0};
  s->buffer = (uint8_t *)malloc(FIRST_ROOM);
  s->buffer_size = FIRST_ROOM;
  /* Subscribed before the dump, so that nothing is missed between the two. */
  s->changes =
      s->buffer == NULL ? -ENOMEM : interfaces_open_socket(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
  s->questions = s->changes < 0 ? s->changes : interfaces_open_socket(0);
  const int result = s->questions < 0 ? s->questions : dump(s, &nobody);
  if (result == 0) return s;
  bb_interfaces_close(s);
  errno = -result;
  return NULL;
}

void bb_interfaces_close(struct bb_interfaces *s) {
  if (s == NULL) return;
  if (s->changes >= 0) close(s->changes);
  if (s->questions >= 0) close(s->questions);
  free(s->entries);
  free(s->addresses.all);
  free(s->buffer);
  free(s);
}

/* ---- addresses ---- */

struct route_request {
  struct nlmsghdr head;
  struct rtmsg route;
  uint8_t attributes[2 * RTA_SPACE(16) + RTA_SPACE(sizeof(uint32_t))];
};

static void add_attribute(struct route_request *request, unsigned short type, const void *value, size_t size) {
  const struct rtattr head = {.rta_len = (unsigned short)RTA_LENGTH(size), .rta_type = type};
  uint8_t *at = (uint8_t *)request + NLMSG_ALIGN(request->head.nlmsg_len);
  memcpy(at, &head, sizeof head);
  memcpy(at + RTA_LENGTH(0), value, size);
  request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + RTA_SPACE((uint32_t)size);
}

/* Whether that route leads to this machine itself; for incoming datagrams also as a broadcast or to a group. */
static bool is_to_us(const struct rtmsg *route, bool coming) {
  return coming ? (route->rtm_flags & RTCF_LOCAL) != 0 : route->rtm_type == RTN_LOCAL;
}

/* 1, 0, or -errno, by the kernel's answer in the buffer; 2: it does not answer this question. */
static int read_answer(struct bb_interfaces *s, int bytes, bool coming) {
  int left = bytes;
  for (const struct nlmsghdr *m = (const struct nlmsghdr *)s->buffer; is_message(m, left); m = NLMSG_NEXT(m, left)) {
    if (m->nlmsg_seq != s->sequence) continue;
    if (m->nlmsg_type == NLMSG_ERROR) {
      /* Each kind of route that leads nowhere has its own error, and these are valid answers. */
      const int error = error_in(m);
      return error == -ENOMEM || error == -ENOBUFS ? error : 0;
    }
    if (m->nlmsg_type == RTM_NEWROUTE && m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct rtmsg)))
      return is_to_us((const struct rtmsg *)NLMSG_DATA(m), coming);
  }
  return 2;
}

/* The kernel's answer; it is there as soon as the question was sent, perhaps after the answer to a question that
 * failed. */
static int ask_route(struct bb_interfaces *s, const struct route_request *request, bool coming) {
  const int asked = ask(s->questions, request, request->head.nlmsg_len);
  if (asked < 0) return asked;
  for (int i = 0; i < MOST_ANSWERS; i++) {
    const int bytes = receive_datagram(s, s->questions);
    if (bytes == -EINTR) continue;
    if (bytes < 0) return bytes == -EAGAIN ? -EIO : bytes;
    const int answer = read_answer(s, bytes, coming);
    if (answer != 2) return answer;
  }
  return -EIO;
}

static struct route_request request_for(struct bb_interfaces *s, uint8_t family, uint8_t to_bits, uint8_t from_bits) {
  return (struct route_request){.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
                                         .nlmsg_type = RTM_GETROUTE,
                                         .nlmsg_flags = NLM_F_REQUEST,
                                         .nlmsg_seq = ++s->sequence},
                                .route = {.rtm_family = family, .rtm_dst_len = to_bits, .rtm_src_len = from_bits}};
}

int bb_interfaces_has_address(struct bb_interfaces *s, const uint8_t address[16], unsigned index) {
  struct in6_addr a;
  memcpy(&a, address, sizeof a);
  const bool v4 = IN6_IS_ADDR_V4MAPPED(&a);
  static const uint8_t unspecified[16];
  /* The kernel takes a route to the unspecified address for one to itself. */
  if (memcmp(address + (v4 ? 12 : 0), unspecified, v4 ? 4 : 16) == 0) return 0;
  struct route_request request = request_for(s, v4 ? AF_INET : AF_INET6, v4 ? 32 : 128, 0);
  add_attribute(&request, RTA_DST, address + (v4 ? 12 : 0), v4 ? 4 : 16);
  const uint32_t out = index;
  if (index != 0 && IN6_IS_ADDR_LINKLOCAL(&a)) add_attribute(&request, RTA_OIF, &out, sizeof out);
  return ask_route(s, &request, false);
}

int bb_interfaces_accepts(struct bb_interfaces *s, const uint8_t from[16], const uint8_t to[16], unsigned index) {
  struct route_request request = request_for(s, AF_INET, 32, 32);
  const uint32_t in = index;
  add_attribute(&request, RTA_SRC, from + 12, 4);
  add_attribute(&request, RTA_DST, to + 12, 4);
  add_attribute(&request, RTA_IIF, &in, sizeof in);
  return ask_route(s, &request, true);
}

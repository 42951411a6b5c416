#include "refusals.h"

#include <errno.h>
#include <netinet/in.h>

/* From linux/errqueue.h, which musl does not have; the address of who refused it follows. */
struct queued {
  uint32_t error;
  uint8_t origin, type, code, pad;
  uint32_t info, data;
};
enum { FROM_ICMP = 2, FROM_ICMP6 = 3 };

enum kind { NOBODY, FORBIDDEN, NO_HOST, NO_WAY, TOO_FAR, NO_PIECES, OTHER };

/* By type and code of ICMP (RFC 792, 1812) and ICMPv6 (RFC 4443). */
static enum kind kind_of(const struct queued *queued) {
  static const uint8_t codes4[] = {NO_WAY, NO_HOST,   OTHER,  NOBODY, OTHER,  NO_WAY, NO_WAY,
                                   NO_WAY, NO_WAY, FORBIDDEN, FORBIDDEN, NO_WAY, NO_WAY, FORBIDDEN};
  static const uint8_t codes6[] = {NO_WAY, FORBIDDEN, NO_WAY, NO_HOST, NOBODY, FORBIDDEN, FORBIDDEN};
  const bool v6 = queued->origin == FROM_ICMP6;
  const uint8_t type = queued->type, code = queued->code;
  if (type == (v6 ? 3 : 11)) return code == 0 ? TOO_FAR : NO_PIECES;
  if (type != (v6 ? 1 : 3)) return OTHER;
  if (v6) return code < sizeof codes6 ? (enum kind)codes6[code] : OTHER;
  return code < sizeof codes4 ? (enum kind)codes4[code] : OTHER;
}

static const void *host_of(const struct sockaddr_storage *at) {
  if (at->ss_family == AF_INET6) return &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr;
  return &((const struct sockaddr_in *)(const void *)at)->sin_addr;
}

/* Not by inet_ntop(), which brings printf() into the sender. */
void add_host(struct words *words, const struct sockaddr_storage *at) {
  const uint8_t *bytes = (const uint8_t *)host_of(at);
  if (at->ss_family == AF_INET) {
    for (unsigned i = 0; i < 4; i++) {
      if (i > 0) add_text(words, ".");
      add_number(words, bytes[i]);
    }
    return;
  }
  unsigned groups[8], zeros = 8, most = 1;
  for (unsigned i = 0; i < 8; i++) groups[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
  for (unsigned i = 0; i < 8; i++) {
    unsigned run = 0;
    while (i + run < 8 && groups[i + run] == 0) run++;
    if (run > most) zeros = i, most = run;
  }
  for (unsigned i = 0; i < 8; i++) {
    if (i == zeros) {
      add_text(words, "::");
      i += most - 1;
      continue;
    }
    if (i > 0 && i != zeros + most) add_text(words, ":");
    add_based(words, groups[i], 16);
  }
}

static bool is_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b) {
  return a->ss_family == b->ss_family && memcmp(host_of(a), host_of(b), a->ss_family == AF_INET6 ? 16 : 4) == 0;
}

static void add_cause(struct words *words, int fd, const struct queued *queued, const struct sockaddr_storage *by) {
  struct sockaddr_storage own = {0}, peer = {0};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  getsockname(fd, (struct sockaddr *)&own, &own_size);
  getpeername(fd, (struct sockaddr *)&peer, &peer_size);
  const bool here = is_host(by, &own), there = is_host(by, &peer);
  enum kind kind = kind_of(queued);
  /* Only a firewall says these in another's name, or of its own machine. */
  if ((kind == NOBODY && !there) || ((kind == NO_HOST || kind == NO_WAY) && there && !here)) kind = FORBIDDEN;
  const char *before = "", *after = "", *whole = NULL;
  switch (kind) {
    case NOBODY: whole = "nothing listens there"; break;
    case NO_PIECES: whole = "its reports travel in pieces, of which some are lost"; break;
    case FORBIDDEN:
      if (here) whole = "a firewall of this machine forbids it";
      before = "a firewall at ", after = " forbids it";
      break;
    case NO_HOST:
    case NO_WAY:
      if (here) whole = kind == NO_HOST ? "no such host on this network" : "this machine has no way there";
      before = "router ", after = " has no way there";
      break;
    case TOO_FAR: before = "its way is too long, or a circle, at router "; break;
    case OTHER: after = " refuses it by ICMP"; break;
  }
  add_text(words, "cannot be reached: ");
  add_text(words, whole != NULL ? whole : before);
  if (whole != NULL) return;
  add_host(words, by);
  add_text(words, after);
}

void refusals_keep(int fd, int family) {
  const int on = 1;
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
  else setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
}

unsigned refusals_take(int fd, struct words *cause) {
  const size_t start = cause->len;
  for (unsigned count = 0;;) {
    union {
      struct cmsghdr header;
      char bytes[512];
    } control;
    struct msghdr message = {.msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return count;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at != NULL; at = CMSG_NXTHDR(&message, at)) {
      const bool v4 = at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_RECVERR;
      if (!v4 && !(at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_RECVERR)) continue;
      struct queued queued;
      struct sockaddr_storage by = {0};
      const size_t bytes = v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
      if (at->cmsg_len < CMSG_LEN(sizeof queued + bytes)) continue;
      memcpy(&queued, CMSG_DATA(at), sizeof queued);
      memcpy(&by, CMSG_DATA(at) + sizeof queued, bytes);
      /* What this machine itself finds, send() returns; a packet that is too large is sent in pieces from now on. */
      if ((queued.origin != FROM_ICMP && queued.origin != FROM_ICMP6) || queued.error == EMSGSIZE) continue;
      cause->len = start;
      add_cause(cause, fd, &queued, &by);
      text_of(cause);
      count++;
    }
  }
}

unsigned refusals_pieces(int fd, unsigned bytes, struct words *what) {
  struct sockaddr_storage peer = {0};
  socklen_t size = sizeof peer;
  int mtu = 0;
  if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0) return 0;
  const bool v6 = peer.ss_family == AF_INET6;
  const unsigned whole = bytes + (v6 ? 48 : 28);
  size = sizeof mtu;
  if (getsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &size) != 0 || mtu <= 0 ||
      (unsigned)mtu >= whole)
    return 0;
  add_text(what, "gets its reports in pieces: a link on the way takes ");
  add_number(what, (unsigned)mtu);
  add_text(what, " bytes at most; raise its MTU to ");
  add_number(what, whole);
  text_of(what);
  return (unsigned)mtu;
}

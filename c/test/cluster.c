/* A cluster of nodes in network namespaces of a test's own: reports for each of them at a steady interval, by as many
 * roads as it has, and what a cluster should not send. For tests; needs CAP_SYS_ADMIN to enter the namespaces, and
 * CAP_NET_RAW for datagrams with wrong checksums.
 *   cluster INTERVAL_MS
 * Reads commands from its input until that ends; answers each with `done BEFORE AFTER`, or `failed WHY`.
 *
 *   net NET PID                         a namespace is that of this process (0: our own)
 *   road NODE NET ADDRESS PORT          the node reports by this road, too; the first road makes the node
 *   move NODE NET ADDRESS PORT          by this one alone
 *   stop NODE | go NODE | bye NODE      no reports any more | again | one more, which says goodbye
 *   once NODE CLUSTER NET ADDRESS PORT  a report of a node of that name, of the cluster of that number, and no more
 *   burst COUNT NET ADDRESS PORT        so many reports of as many nodes that are not of the cluster, at once
 *   bad PER_SECOND NET ADDRESS PORT     datagrams with wrong checksums from now on, short ones and some as long as a
 *                                       report; 0: no more
 *   count                               answers with how many of these have left
 *
 * Times are CLOCK_MONOTONIC in ns. Beside the answers it prints `gap FROM TO` when it was kept from sending for more
 * than two intervals (FROM and TO lie outside of it). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../format/layout.gen.h"

#define MOST_NETS 64
#define MOST_NODES 1024
#define MOST_ROADS 4
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

struct net {
  char name[16];
  int fd;           /* of /proc/PID/ns/net */
  int sockets[2];   /* for IPv4 and IPv6; -1: none yet */
  int raw[2];
};

struct road {
  struct net *net;
  struct sockaddr_storage to;
  socklen_t length;
};

struct node {
  char name[64];
  struct road roads[MOST_ROADS];
  int road_count;
  bool stopped;
  uint32_t seq;
};

static struct net nets[MOST_NETS];
static struct node nodes[MOST_NODES];
static int net_count, node_count, home = -1;
static uint32_t interval_ms;
static struct road bad_road;
static int bad_per_second;
static uint64_t bad_sent;
static const char *why = ""; /* the last command failed */

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* ---- namespaces ---- */

static struct net *find_net(const char *name) {
  for (int i = 0; i < net_count; i++)
    if (strcmp(nets[i].name, name) == 0) return &nets[i];
  why = "no such namespace";
  return NULL;
}

static bool add_net(const char *name, int pid) {
  char path[64];
  if (net_count == MOST_NETS) return false;
  struct net *n = &nets[net_count];
  snprintf(n->name, sizeof n->name, "%s", name);
  if (pid == 0) snprintf(path, sizeof path, "/proc/self/ns/net");
  else snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
  n->fd = open(path, O_RDONLY | O_CLOEXEC);
  n->sockets[0] = n->sockets[1] = n->raw[0] = n->raw[1] = -1;
  if (n->fd < 0) return false;
  net_count++;
  return true;
}

/* A socket in a namespace: it stays there. */
static int socket_in(const struct net *n, int family, int type, int protocol) {
  if (setns(n->fd, CLONE_NEWNET) != 0) return -1;
  const int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol), yes = 1;
  const int error = errno;
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
  if (setns(home, CLONE_NEWNET) != 0) abort();
  errno = error;
  return fd;
}

/* A road to an address, whose interface, if it names one, is of that namespace. */
static bool make_road(struct road *road, const char *net, const char *address, const char *port) {
  struct net *n = find_net(net);
  if (n == NULL) return false;
  if (setns(n->fd, CLONE_NEWNET) != 0) return false;
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM}, *found = NULL;
  const int error = getaddrinfo(address, port, &hints, &found);
  if (setns(home, CLONE_NEWNET) != 0) abort();
  if (error != 0) {
    why = gai_strerror(error);
    return false;
  }
  road->net = n;
  memcpy(&road->to, found->ai_addr, found->ai_addrlen);
  road->length = found->ai_addrlen;
  freeaddrinfo(found);
  int *fd = &n->sockets[road->to.ss_family == AF_INET6];
  if (*fd < 0) *fd = socket_in(n, road->to.ss_family, SOCK_DGRAM, 0);
  return *fd >= 0;
}

/* ---- reports ---- */

static struct bb_report make_report(const char *name, uint32_t cluster, uint32_t seq) {
  struct bb_report r = {0};
  r.magic = 0x31525342;
  r.version = 1;
  r.length = sizeof r;
  r.cluster_id = cluster;
  r.boot_id = 1;
  r.start_boot_ns = 1;
  r.seq = seq;
  r.interval_ms = interval_ms;
  r.t_real_ns = (uint64_t)clock_ns(CLOCK_REALTIME);
  r.t_boot_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
  memcpy(r.hostname, name, strnlen(name, sizeof r.hostname - 1));
  return r;
}

static bool send_by(const struct road *road, const struct bb_report *r) {
  const int fd = road->net->sockets[road->to.ss_family == AF_INET6];
  return sendto(fd, r, sizeof *r, 0, (const struct sockaddr *)&road->to, road->length) == (ssize_t)sizeof *r;
}

static void report(struct node *n, bool goodbye) {
  struct bb_report r = make_report(n->name, 0, n->seq++);
  if (goodbye) r.flags = BB_FLAGS_GOODBYE;
  for (int i = 0; i < n->road_count; i++) send_by(&n->roads[i], &r);
}

/* ---- what is not a report ---- */

static bool send_bad(bool is_long) {
  static uint8_t datagram[sizeof(struct bb_report)];
  const uint16_t port = ((const struct sockaddr_in *)&bad_road.to)->sin_port,
                 length = is_long ? sizeof datagram : 8 + 20;
  /* Source and destination port, length, a checksum that is right for one such datagram in 65,536 at most. */
  const uint16_t header[4] = {htons(4321), port, htons(length), htons(0x1234)};
  memcpy(datagram, header, sizeof header);
  const bool v6 = bad_road.to.ss_family == AF_INET6;
  struct sockaddr_storage to = bad_road.to;
  if (v6) ((struct sockaddr_in6 *)&to)->sin6_port = 0;
  return sendto(bad_road.net->raw[v6], datagram, length, 0, (const struct sockaddr *)&to, bad_road.length) == length;
}

static bool begin_bad(int per_second, const char *net, const char *address, const char *port) {
  if (!make_road(&bad_road, net, address, port)) return false;
  const bool v6 = bad_road.to.ss_family == AF_INET6;
  int *fd = &bad_road.net->raw[v6];
  if (*fd < 0) *fd = socket_in(bad_road.net, v6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_UDP);
  bad_per_second = per_second;
  return *fd >= 0;
}

static bool burst(int count, const char *net, const char *address, const char *port) {
  struct road road;
  if (!make_road(&road, net, address, port)) return false;
  for (int i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "burst%d", i);
    const struct bb_report r = make_report(name, 0xdeadbeef, 0);
    send_by(&road, &r);
  }
  return true;
}

/* ---- commands ---- */

static struct node *find_node(const char *name) {
  for (int i = 0; i < node_count; i++)
    if (strcmp(nodes[i].name, name) == 0) return &nodes[i];
  return NULL;
}

static bool add_road(const char *name, bool alone, const char *net, const char *address, const char *port) {
  struct node *n = find_node(name);
  if (n == NULL) {
    if (node_count == MOST_NODES) return false;
    n = &nodes[node_count++];
    snprintf(n->name, sizeof n->name, "%s", name);
  }
  if (alone) n->road_count = 0;
  if (n->road_count == MOST_ROADS || !make_road(&n->roads[n->road_count], net, address, port)) return false;
  n->road_count++;
  return true;
}

static bool obey(char *words[], int count) {
  const char *what = words[0];
  if (strcmp(what, "net") == 0 && count == 3) return add_net(words[1], atoi(words[2]));
  if (strcmp(what, "road") == 0 && count == 5) return add_road(words[1], false, words[2], words[3], words[4]);
  if (strcmp(what, "move") == 0 && count == 5) return add_road(words[1], true, words[2], words[3], words[4]);
  if (strcmp(what, "burst") == 0 && count == 5) return burst(atoi(words[1]), words[2], words[3], words[4]);
  if (strcmp(what, "bad") == 0 && count == 5) return begin_bad(atoi(words[1]), words[2], words[3], words[4]);
  if (strcmp(what, "once") == 0 && count == 6) {
    struct road road;
    const struct node *n = find_node(words[1]);
    /* Later than what the node has sent itself. */
    const struct bb_report r =
        make_report(words[1], (uint32_t)strtoul(words[2], NULL, 10), n == NULL ? 0 : n->seq + 1000);
    return make_road(&road, words[3], words[4], words[5]) && send_by(&road, &r);
  }
  if (strcmp(what, "count") == 0) {
    printf("bad %llu\n", (unsigned long long)bad_sent);
    return true;
  }
  struct node *n = count == 2 ? find_node(words[1]) : NULL;
  if (n == NULL) return false;
  if (strcmp(what, "bye") == 0) report(n, true);
  n->stopped = strcmp(what, "go") != 0;
  return true;
}

static void obey_line(char *line) {
  char *words[8], *rest = line;
  int count = 0;
  for (char *w; count < 8 && (w = strsep(&rest, " ")) != NULL;) words[count++] = w;
  const int64_t before = clock_ns(CLOCK_MONOTONIC);
  errno = 0;
  why = "";
  if (obey(words, count)) printf("done %lld %lld\n", (long long)before, (long long)clock_ns(CLOCK_MONOTONIC));
  else printf("failed %s: %s\n", words[0], *why != 0 ? why : errno != 0 ? strerror(errno) : "no such command, or node");
}

/* Reads and obeys what has been ordered; false when there will be no more. */
static bool read_orders(void) {
  static char text[65536];
  static size_t length;
  const ssize_t bytes = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
  if (bytes <= 0) return bytes < 0 && errno == EINTR;
  length += (size_t)bytes;
  text[length] = 0;
  char *line = text;
  for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = 0;
    obey_line(line);
  }
  length = strlen(line);
  memmove(text, line, length);
  return true;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  interval_ms = (uint32_t)atoi(argv[1]);
  setvbuf(stdout, NULL, _IOLBF, 0);
  home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  const int64_t interval = interval_ms * MS;
  int64_t tick = clock_ns(CLOCK_MONOTONIC), sent_ns = tick, bad_ns = tick;
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  for (;;) {
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now >= tick) {
      for (int i = 0; i < node_count; i++)
        if (!nodes[i].stopped) report(&nodes[i], false);
      const int64_t done = clock_ns(CLOCK_MONOTONIC);
      if (done - sent_ns > 3 * interval) printf("gap %lld %lld\n", (long long)sent_ns, (long long)done);
      sent_ns = now;
      while (tick <= now) tick += interval;
    }
    /* Never more than are due in a tenth of a second at once. */
    if (bad_per_second == 0 || now - bad_ns > SECOND / 10) bad_ns = bad_per_second == 0 ? now : now - SECOND / 10;
    for (; bad_per_second > 0 && bad_ns <= now; bad_ns += SECOND / bad_per_second)
      bad_sent += send_bad(bad_sent % 2 == 1);
    int64_t next = bad_per_second > 0 && bad_ns < tick ? bad_ns : tick;
    now = clock_ns(CLOCK_MONOTONIC);
    const int64_t left = next > now ? next - now : 0;
    const struct timespec wait = {left / SECOND, left % SECOND};
    if (ppoll(&input, 1, &wait, NULL) > 0 && !read_orders()) return 0;
  }
}

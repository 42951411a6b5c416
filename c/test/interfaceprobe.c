/* Does as it is told, line by line, with what watches interfaces (interfaces.h) and with the kernel's counts of drops
 * (kerneldrops.h), for test/receiver/interfaces.test.ts. An answer is lines that end with one that begins with "= ".
 *   interfaceprobe PROC SYS
 * It makes traffic over loopback alone, and opens a tap interface where it is told to. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../receive/interfaces.h"
#include "../receive/kerneldrops.h"

#define MOST_DESCRIPTORS 64

static struct bb_interfaces *interfaces;
static struct bb_kernel_drops *drops;
static int tap = -1;
static int udp = -1; /* what `overflow` and `spoil` send to */

static void print_interface(const struct bb_interface *is) {
  if (is == NULL) printf("= none\n");
  else printf("= %s %u %s\n", is->name, is->index, is->up ? "up" : "down");
}

/* Whether something was told since it was last asked by which addresses may have come or gone; at first, too. */
static bool stirred = true;

static void note_address(const uint8_t address[16], unsigned index, bool gone, void *context) {
  (void)address;
  (void)index;
  (void)gone;
  (void)context;
  stirred = true;
}

static void print_news(const struct bb_interface_news *news, void *context) {
  (void)context;
  if (news->gone || !news->is.up) stirred = true;
  printf("%s %u %s%s\n", news->is.name, news->is.index,
         news->gone    ? "gone"
         : news->is.up ? "up"
                       : "down",
         news->was_down ? " was-down" : "");
  const struct bb_interface *known = bb_interfaces_by_index(interfaces, news->is.index);
  /* What is told has been laid down before. */
  if (!news->gone && (known == NULL || strcmp(known->name, news->is.name) != 0 || known->up != news->is.up))
    printf("is not known so\n");
  if (news->gone && known != NULL && strcmp(known->name, news->is.name) == 0) printf("is still known\n");
}

static void drain(char **words) {
  (void)words;
  const int result = bb_interfaces_drain(interfaces, print_news, note_address, NULL);
  if (result == 1) stirred = true;
  printf("= %d\n", result);
}

static void changed(char **words) {
  (void)words;
  printf("= %d\n", stirred);
  stirred = false;
}

static void has(char **words) {
  uint8_t address[16] = {[10] = 0xff, [11] = 0xff};
  if (inet_pton(AF_INET, words[1], address + 12) != 1 && inet_pton(AF_INET6, words[1], address) != 1) exit(2);
  printf("= %d\n", bb_interfaces_has_address(interfaces, address, words[2] == NULL ? 0 : if_nametoindex(words[2])));
}

static void accepts(char **words) {
  uint8_t from[16] = {[10] = 0xff, [11] = 0xff}, to[16] = {[10] = 0xff, [11] = 0xff};
  if (inet_pton(AF_INET, words[1], from + 12) != 1 || inet_pton(AF_INET, words[2], to + 12) != 1) exit(2);
  printf("= %d\n", bb_interfaces_accepts(interfaces, from, to, if_nametoindex(words[3])));
}

static void by_name(char **words) { print_interface(bb_interfaces_by_name(interfaces, words[1])); }

static void by_index(char **words) { print_interface(bb_interfaces_by_index(interfaces, (unsigned)atoi(words[1]))); }

static void anew(char **words) {
  (void)words;
  bb_interfaces_close(interfaces);
  interfaces = bb_interfaces_open();
  printf("= %d\n", interfaces == NULL ? -errno : 0);
}

/* The number of a netlink socket of ours; 0: it is none. `subscribed`: to anything. */
static uint32_t netlink_of(int fd, bool *subscribed) {
  struct sockaddr_nl self = {0};
  socklen_t length = sizeof self;
  if (getsockname(fd, (struct sockaddr *)&self, &length) != 0 || self.nl_family != AF_NETLINK) return 0;
  *subscribed = self.nl_groups != 0;
  return self.nl_pid;
}

/* Leaves the socket that is told of changes so many bytes of buffer. */
static void buffer(char **words) {
  const int bytes = atoi(words[1]);
  int set = 0;
  for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
    bool subscribed = false;
    if (netlink_of(fd, &subscribed) != 0 && subscribed)
      set += setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0;
  }
  printf("= %d\n", set);
}

/* Says, as the kernel would, that an interface has gone, to every netlink socket of ours. */
static void forge(char **words) {
  struct {
    struct nlmsghdr head;
    struct ifinfomsg info;
  } message = {.head = {.nlmsg_len = sizeof message, .nlmsg_type = RTM_DELLINK},
               .info.ifi_index = (int)if_nametoindex(words[1])};
  const int from = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  int sent = 0;
  for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
    bool subscribed;
    const struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = fd == from ? 0 : netlink_of(fd, &subscribed)};
    if (to.nl_pid != 0)
      sent +=
          sendto(from, &message, sizeof message, 0, (const struct sockaddr *)&to, sizeof to) == (ssize_t)sizeof message;
  }
  close(from);
  printf("= %d\n", sent);
}

static void open_tap(char **words) {
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", words[1]);
  tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  printf("= %d\n", tap < 0 || ioctl(tap, TUNSETIFF, &request) != 0 ? -errno : 0);
}

static void set_carrier(int on) {
  if (ioctl(tap, TUNSETCARRIER, &on) != 0) exit(1);
}

/* carrier NAME 0|1 MTU: the tap of that name loses it, or has it again; and then it gets another MTU, of which the
 * kernel tells at once. Not by ip, which asks for the interface first: then the kernel brings all that it says up to
 * date. */
static void carrier(char **words) {
  struct ifreq request = {.ifr_mtu = atoi(words[3])};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", words[1]);
  set_carrier(atoi(words[2]));
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  printf("= %d\n", ioctl(fd, SIOCSIFMTU, &request) != 0 ? -errno : 0);
  close(fd);
}

/* The tap's carrier goes and comes back. */
static void flap(char **words) {
  (void)words;
  set_carrier(0);
  set_carrier(1);
  printf("= 0\n");
}

/* ---- drops ---- */

/* Opens the socket to be sent to, which takes little; `to` is where it is reached by IPv4 or IPv6. */
static socklen_t open_udp(const char *kind, struct sockaddr_storage *to) {
  const bool six = strcmp(kind, "4") != 0, both = strcmp(kind, "both") == 0;
  struct sockaddr_in *v4 = (struct sockaddr_in *)to;
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
  memset(to, 0, sizeof *to);
  socklen_t length = six ? sizeof *v6 : sizeof *v4;
  if (six) v6->sin6_family = AF_INET6;
  else v4->sin_family = AF_INET;
  if (udp >= 0) close(udp);
  udp = socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int no = 0, little = 1;
  if (six && both) setsockopt(udp, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  setsockopt(udp, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  if (bind(udp, (struct sockaddr *)to, length) != 0 || getsockname(udp, (struct sockaddr *)to, &length) != 0) exit(1);
  const in_port_t port = six ? v6->sin6_port : v4->sin_port;
  if (six && !both) v6->sin6_addr = in6addr_loopback;
  else *v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return six && !both ? sizeof *v6 : sizeof *v4;
}

static void print_socket_drops(void) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof info;
  getsockopt(udp, SOL_SOCKET, SO_MEMINFO, info, &length);
  printf("= %" PRIu32 "\n", info[SK_MEMINFO_DROPS]);
}

/* overflow 4|6|both: sends more than a socket takes, and says how much it dropped. */
static void overflow(char **words) {
  struct sockaddr_storage to;
  const socklen_t length = open_udp(words[1], &to);
  const int from = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (int i = 0; i < 100; i++)
    if (sendto(from, "0123456789", 10, 0, (struct sockaddr *)&to, length) != 10) exit(1);
  close(from);
  print_socket_drops();
}

/* Sends a datagram with a wrong checksum, and says how much the socket dropped. */
static void spoil(char **words) {
  (void)words;
  struct sockaddr_storage to;
  const socklen_t length = open_udp("4", &to);
  struct {
    struct udphdr head;
    uint8_t data[200]; /* of a shorter one the kernel looks at the checksum before it looks for a socket */
  } datagram = {.head = {.uh_sport = htons(9), .uh_ulen = htons(sizeof datagram), .uh_sum = htons(0x1234)}};
  datagram.head.uh_dport = ((struct sockaddr_in *)&to)->sin_port;
  ((struct sockaddr_in *)&to)->sin_port = 0;
  const int from = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);
  if (sendto(from, &datagram, sizeof datagram, 0, (struct sockaddr *)&to, length) != (ssize_t)sizeof datagram) exit(1);
  close(from);
  uint8_t byte;
  /* Of this one, when it is taken. */
  if (recv(udp, &byte, 1, MSG_DONTWAIT) >= 0) exit(1);
  print_socket_drops();
}

static void buffers(char **words) {
  (void)words;
  uint64_t sum, errors;
  if (bb_kernel_drops_buffers(drops, true, &sum, &errors)) printf("= %" PRIu64 "\n", sum);
  else printf("= false\n");
}

static void softnet(char **words) {
  (void)words;
  uint64_t dropped, processed;
  if (bb_kernel_drops_softnet(drops, &dropped, &processed)) printf("= %" PRIu64 " %" PRIu64 "\n", dropped, processed);
  else printf("= false\n");
}

static void interface(char **words) {
  uint64_t dropped, packets;
  const unsigned index = words[2] == NULL ? if_nametoindex(words[1]) : (unsigned)atoi(words[2]);
  if (bb_kernel_drops_interface(drops, words[1], index, &dropped, &packets))
    printf("= %" PRIu64 " %" PRIu64 "\n", dropped, packets);
  else printf("= false\n");
}

static const struct command {
  const char *name;
  void (*run)(char **words);
  int words; /* at least so many after its name */
} commands[] = {
    {"drain", drain, 0},         {"changed", changed, 0}, {"has", has, 1},         {"accepts", accepts, 3},
    {"name", by_name, 1},        {"index", by_index, 1},  {"anew", anew, 0},       {"buffer", buffer, 1},
    {"forge", forge, 1},         {"tap", open_tap, 1},    {"carrier", carrier, 3}, {"flap", flap, 0},
    {"overflow", overflow, 1},   {"spoil", spoil, 0},     {"buffers", buffers, 0}, {"softnet", softnet, 0},
    {"interface", interface, 1},
};

static bool obey(char *line) {
  char *words[5] = {0};
  int count = 0;
  for (char *word = strtok(line, " \n"); word != NULL && count < 4; word = strtok(NULL, " \n")) words[count++] = word;
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (count <= commands[i].words || strcmp(words[0], commands[i].name) != 0) continue;
    commands[i].run(words);
    fflush(stdout);
    return true;
  }
  return false;
}

static int descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  char line[256];
  const int before = descriptors();
  interfaces = bb_interfaces_open();
  drops = bb_kernel_drops_open(argv[1], argv[2]);
  if (interfaces == NULL || drops == NULL) {
    perror("interfaces");
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL)
    if (!obey(line)) return 2;
  bb_interfaces_close(interfaces);
  bb_kernel_drops_close(drops);
  if (tap >= 0) close(tap);
  if (udp >= 0) close(udp);
  return descriptors() == before ? 0 : 3;
}

/* The minimum for a receiver: drains a socket on every tick with recvmmsg, and copies each datagram into a slot. It
 * parses nothing.
 *   bare-receiver FILE SLOTS [tick=MS] [batch=N] [buffer=BYTES] [stamps] [gro] [poll=US] [threads=N [names]]
 * Makes FILE, which holds the slots, and begins with a count of datagrams for each thread, 64 bytes apart. Prints its
 * port on 127.0.0.1. With a tick of 0 it waits for each datagram. With `stamps` it also reads the kernel's receive
 * times, the addresses and the packet info; with `gro` it reads datagrams that the kernel has joined; `poll` is
 * SO_BUSY_POLL. With `threads` each thread has its own socket at the same port (SO_REUSEPORT); the kernel chooses one
 * by the addresses of a datagram, or with `names` by the node's name in it. A datagram that begins with the bytes
 * "probe" always goes to slot 0, where nothing else goes: see latency.c. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#define BYTES 1216
#define STRIDE 3136 /* of records on the board: the slots are as far apart */
#define NAME_AT 192 /* hostname in a report */
#define NAME_BYTES 64
#define JOINED 65536 /* the most bytes that the kernel joins */
#define COUNTS 4096
#define LINE 64
_Static_assert(CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct in_pktinfo)) <= LINE, "room for what the kernel tells");

static long tick_ms = 5, batch = 64, buffer = 64 << 20, poll_us, threads = 1;
static bool stamps, gro, names;
static size_t slots;
static uint8_t *file;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void set(int fd, int level, int option, int value) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) perror("bare-receiver: setsockopt");
}

static int open_socket(void) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const int wanted = (int)buffer;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) set(fd, SOL_SOCKET, SO_RCVBUF, wanted);
  if (stamps) {
    set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    set(fd, IPPROTO_IP, IP_PKTINFO, 1);
  }
  if (gro) set(fd, IPPROTO_UDP, UDP_GRO, 1);
  if (poll_us > 0) set(fd, SOL_SOCKET, SO_BUSY_POLL, (int)poll_us);
  if (threads > 1) set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  socklen_t size = sizeof address;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) exit(1);
  getsockname(fd, (struct sockaddr *)&address, &size);
  return fd;
}

/* Makes all reports of a node go to the same socket: a program in the kernel chooses it by a hash of the name, which is
 * padded with NULs. */
static void steer_by_names(int fd) {
  enum { WORDS = NAME_BYTES / 4, EACH = 4 };
  const uint32_t prime = 0x9e3779b1;
  struct sock_filter code[1 + WORDS * EACH + 8];
  unsigned short n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, 0);
  for (uint32_t i = 0; i < WORDS; i++) {
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NAME_AT + 4 * i);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, prime);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 15);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, prime);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, (uint32_t)threads);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
  const struct sock_fprog program = {.len = n, .filter = code};
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) != 0) {
    perror("bare-receiver: SO_ATTACH_REUSEPORT_CBPF");
    exit(1);
  }
}

struct receiver {
  int fd;
  uint64_t *count;
};

static void *receive(void *argument) {
  const struct receiver *r = (const struct receiver *)argument;
  const size_t n = (size_t)batch, room = gro ? JOINED : BYTES + 64;
  struct mmsghdr *messages = (struct mmsghdr *)calloc(n, sizeof *messages);
  struct iovec *vectors = (struct iovec *)calloc(n, sizeof *vectors);
  struct sockaddr_storage *from = (struct sockaddr_storage *)calloc(n, sizeof *from);
  uint8_t *control = (uint8_t *)calloc(n, LINE), *data = (uint8_t *)calloc(n, room), *board = file + COUNTS;
  if (messages == NULL || vectors == NULL || from == NULL || control == NULL || data == NULL) exit(1);
  for (size_t i = 0; i < n; i++) {
    vectors[i] = (struct iovec){data + i * room, room};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
  }
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (uint64_t k = 0;;) {
    if (tick_ms > 0) {
      next.tv_nsec += tick_ms * 1000000;
      next.tv_sec += next.tv_nsec / 1000000000;
      next.tv_nsec %= 1000000000;
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    for (int got = (int)n; got == (int)n;) {
      for (size_t i = 0; stamps && i < n; i++) {
        struct msghdr *m = &messages[i].msg_hdr;
        m->msg_name = &from[i];
        m->msg_namelen = sizeof from[i];
        m->msg_control = control + i * LINE;
        m->msg_controllen = LINE;
      }
      got = recvmmsg(r->fd, messages, (unsigned)n, tick_ms > 0 ? MSG_DONTWAIT : MSG_WAITFORONE, NULL);
      for (int i = 0; i < got; i++)
        for (size_t at = 0; at + BYTES <= messages[i].msg_len; at += BYTES) {
          const uint8_t *datagram = data + (size_t)i * room + at;
          const bool probe = memcmp(datagram, "probe", 5) == 0;
          memcpy(board + (probe ? 0 : 1 + k++ % slots) * STRIDE, datagram, BYTES);
        }
      __atomic_store_n(r->count, k, __ATOMIC_RELEASE);
    }
  }
  return NULL;
}

static bool option(const char *argument, const char *name, long *value) {
  const size_t length = strlen(name);
  if (strncmp(argument, name, length) != 0 || argument[length] != '=') return false;
  *value = atol(argument + length + 1);
  return true;
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that was killed leaves no process behind */
  if (argc < 3) return 2;
  slots = strtoul(argv[2], NULL, 10);
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "stamps") == 0) stamps = true;
    else if (strcmp(argv[i], "gro") == 0) gro = true;
    else if (strcmp(argv[i], "names") == 0) names = true;
    else if (!option(argv[i], "tick", &tick_ms) && !option(argv[i], "batch", &batch) && !option(argv[i], "buffer", &buffer) &&
             !option(argv[i], "poll", &poll_us) && !option(argv[i], "threads", &threads))
      return 2;
  }
  if (slots == 0 || batch <= 0 || threads < 1 || threads > COUNTS / LINE) return 2;
  const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const size_t size = COUNTS + (1 + slots) * STRIDE;
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) return 1;
  file = (uint8_t *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (file == MAP_FAILED) return 1;
  memset(file + COUNTS, 1, size - COUNTS); /* its pages are allocated before it is measured */
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct receiver receivers[COUNTS / LINE];
  for (long i = 0; i < threads; i++) receivers[i] = (struct receiver){open_socket(), (uint64_t *)(void *)(file + i * LINE)};
  if (names && threads > 1) steer_by_names(receivers[0].fd); /* this applies to all sockets of the port */
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (long i = 1; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, receive, &receivers[i]) != 0) return 1;
  }
  receive(&receivers[0]);
}

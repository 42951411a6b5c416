/* The minimum for a receiver: drains a socket on every tick with recvmmsg, and copies each datagram into a slot. It
 * parses nothing.
 *   bare-receiver FILE SLOTS [tick=MS] [stamps]
 * Makes FILE, which holds the slots, and begins with a count of datagrams. Prints its port on 127.0.0.1. With a tick of
 * 0 it waits for each datagram. With `stamps` it also reads the kernel's receive times, the addresses and the packet
 * info. A datagram that begins with the bytes "probe" always goes to slot 0, where nothing else goes: see latency.c. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
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

#define BYTES 1216
#define STRIDE 3520 /* of records on the board: the slots are as far apart */
#define BATCH 64
#define BUFFER (64 << 20)
#define COUNTS 4096
#define CONTROL 64
_Static_assert(CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct in_pktinfo)) <= CONTROL, "room for what the kernel tells");

static void set(int fd, int level, int option, int value) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) perror("bare-receiver: setsockopt");
}

static int open_socket(bool stamps) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const int wanted = BUFFER;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) set(fd, SOL_SOCKET, SO_RCVBUF, wanted);
  if (stamps) {
    set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    set(fd, IPPROTO_IP, IP_PKTINFO, 1);
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) exit(1);
  getsockname(fd, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

static void receive(int fd, uint8_t *file, size_t slots, long tick_ms, bool stamps) {
  static struct mmsghdr messages[BATCH];
  static struct iovec vectors[BATCH];
  static struct sockaddr_storage from[BATCH];
  static uint8_t control[BATCH][CONTROL], data[BATCH][BYTES + 64];
  for (size_t i = 0; i < BATCH; i++) {
    vectors[i] = (struct iovec){data[i], sizeof data[i]};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
  }
  uint64_t *count = (uint64_t *)(void *)file;
  uint8_t *board = file + COUNTS;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (uint64_t k = 0;;) {
    if (tick_ms > 0) {
      next.tv_nsec += tick_ms * 1000000;
      next.tv_sec += next.tv_nsec / 1000000000;
      next.tv_nsec %= 1000000000;
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    for (int got = BATCH; got == BATCH;) {
      for (size_t i = 0; stamps && i < BATCH; i++) {
        struct msghdr *m = &messages[i].msg_hdr;
        m->msg_name = &from[i];
        m->msg_namelen = sizeof from[i];
        m->msg_control = control[i];
        m->msg_controllen = CONTROL;
      }
      got = recvmmsg(fd, messages, BATCH, tick_ms > 0 ? MSG_DONTWAIT : MSG_WAITFORONE, NULL);
      for (int i = 0; i < got; i++) {
        if (messages[i].msg_len < BYTES) continue;
        const bool probe = memcmp(data[i], "probe", 5) == 0;
        memcpy(board + (probe ? 0 : 1 + k++ % slots) * STRIDE, data[i], BYTES);
      }
      __atomic_store_n(count, k, __ATOMIC_RELEASE);
    }
  }
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that was killed leaves no process behind */
  if (argc < 3) return 2;
  const size_t slots = strtoul(argv[2], NULL, 10);
  long tick_ms = 5;
  bool stamps = false;
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "stamps") == 0) stamps = true;
    else if (strncmp(argv[i], "tick=", 5) == 0) tick_ms = atol(argv[i] + 5);
    else return 2;
  }
  if (slots == 0) return 2;
  const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const size_t size = COUNTS + (1 + slots) * STRIDE;
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) return 1;
  uint8_t *file = (uint8_t *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (file == MAP_FAILED) return 1;
  memset(file + COUNTS, 1, size - COUNTS); /* its pages are allocated before it is measured */
  receive(open_socket(stamps), file, slots, tick_ms, stamps);
}

/* What a receiver cannot do without: on a tick drains a socket by recvmmsg and copies each datagram into a slot. Understands
 * nothing of what it receives.
 *   bare-receiver DRAIN_MS SLOTS [stamps]      prints its port on 127.0.0.1; with `stamps` it also takes the kernel's receive
 *                                              times and the addresses */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH 64
#define BYTES 1216
#define STRIDE 2944 /* of records on the board: the slots lie as far apart as there */

static uint8_t data[BATCH][BYTES + 64];
static struct sockaddr_storage from[BATCH];
static _Alignas(8) uint8_t control[BATCH][64];

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const bool stamps = argc > 3;
  const long drain_ns = atol(argv[1]) * 1000000;
  const size_t slots = (size_t)atol(argv[2]);
  uint8_t *board = (uint8_t *)malloc(slots * STRIDE);
  if (board == NULL || slots == 0 || drain_ns <= 0) return 2;
  memset(board, 1, slots * STRIDE);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int buffer = 64 << 20;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  const int on = 1;
  if (stamps) setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  getsockname(fd, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  struct mmsghdr messages[BATCH] = {0};
  struct iovec vectors[BATCH];
  for (int i = 0; i < BATCH; i++) {
    vectors[i] = (struct iovec){data[i], sizeof data[i]};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
  }
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (uint64_t n = 0;;) {
    next.tv_nsec += drain_ns;
    while (next.tv_nsec >= 1000000000) {
      next.tv_sec++;
      next.tv_nsec -= 1000000000;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    for (int got = BATCH; got == BATCH;) {
      for (int i = 0; stamps && i < BATCH; i++) {
        struct msghdr *m = &messages[i].msg_hdr;
        m->msg_name = &from[i];
        m->msg_namelen = sizeof from[i];
        m->msg_control = control[i];
        m->msg_controllen = sizeof control[i];
      }
      got = recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL);
      for (int i = 0; i < got; i++) memcpy(board + n++ % slots * STRIDE, data[i], BYTES);
    }
  }
}

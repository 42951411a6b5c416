/* Sends datagrams as large as a report whose UDP checksum is wrong, until it is ended: noise of a bad line, or of
 * somebody who means ill. For the torture (test/torture/). Needs a raw socket, which root has, also one of a namespace
 * only.
 *   badsums FROM TO PORT EVERY_US      IPv4 addresses; prints `ready`, and at SIGTERM how many it has sent */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BYTES 1216

static volatile sig_atomic_t ended;

static void end(int signal) {
  (void)signal;
  ended = 1;
}

static uint32_t sum_of(const void *bytes, size_t length) {
  const uint8_t *b = (const uint8_t *)bytes;
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < length; i += 2) sum += (uint32_t)b[i] << 8 | b[i + 1];
  return sum;
}

/* By RFC 768: over the addresses, the protocol, and the datagram with its length. */
static uint16_t checksum(struct in_addr from, struct in_addr to, const uint8_t *datagram, size_t length) {
  uint32_t sum =
      sum_of(&from, sizeof from) + sum_of(&to, sizeof to) + IPPROTO_UDP + (uint32_t)length + sum_of(datagram, length);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t)~sum;
}

int main(int argc, char **argv) {
  struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
  if (argc != 5 || inet_pton(AF_INET, argv[1], &from.sin_addr) != 1 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
    return 2;
  const uint16_t port = (uint16_t)atoi(argv[3]);
  const int64_t every = atoi(argv[4]) * INT64_C(1000);
  const int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&from, sizeof from) != 0) {
    perror("badsums");
    return 1;
  }
  uint8_t datagram[sizeof(struct udphdr) + BYTES] = {0};
  struct udphdr header = {.source = htons(port), .dest = htons(port), .len = htons(sizeof datagram)};
  memset(datagram + sizeof header, 0x42, BYTES);
  memcpy(datagram, &header, sizeof header);
  header.check = htons(checksum(from.sin_addr, to.sin_addr, datagram, sizeof datagram)) ^ 1;
  if (header.check == 0) header.check = 2; /* which would say that there is none */
  memcpy(datagram, &header, sizeof header);
  const struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  puts("ready");
  fflush(stdout);
  uint64_t sent = 0;
  while (!ended) {
    if (sendto(fd, datagram, sizeof datagram, 0, (const struct sockaddr *)&to, sizeof to) == (ssize_t)sizeof datagram)
      sent++;
    const struct timespec pause = {every / 1000000000, every % 1000000000};
    nanosleep(&pause, NULL);
  }
  printf("%" PRIu64 "\n", sent);
  return 0;
}

#include "bulk_send.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#define MOST_BYTES 65507 /* of one UDP datagram before it is split */
#define MOST_SEGMENTS 64

int bb_bulk_open(const char *host, uint16_t port) {
  char service[8];
  snprintf(service, sizeof service, "%u", (unsigned)port);
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM};
  struct addrinfo *address = NULL;
  if (getaddrinfo(host, service, &hints, &address) != 0) return -EINVAL;
  int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fd = -errno;
  else if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
    const int error = errno;
    close(fd);
    fd = -error;
  }
  freeaddrinfo(address);
  return fd;
}

/* One system call: `segments` datagrams, which the kernel splits from one buffer. */
static ssize_t send_segments(int fd, const uint8_t *data, size_t bytes, size_t segments) {
  union {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
  } control = {0};
  struct iovec vector = {(void *)data, bytes * segments};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (segments > 1) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    control.header.cmsg_level = SOL_UDP;
    control.header.cmsg_type = UDP_SEGMENT;
    control.header.cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const uint16_t size = (uint16_t)bytes;
    memcpy(CMSG_DATA(&control.header), &size, sizeof size);
  }
  return sendmsg(fd, &message, 0);
}

long bb_bulk_send(int fd, const void *datagrams, size_t bytes, size_t count) {
  const uint8_t *data = (const uint8_t *)datagrams;
  if (bytes == 0 || bytes > MOST_BYTES) return -EINVAL;
  size_t most = MOST_BYTES / bytes < MOST_SEGMENTS ? MOST_BYTES / bytes : MOST_SEGMENTS;
  size_t sent = 0;
  int refusals = 0;
  while (sent < count) {
    const size_t segments = count - sent < most ? count - sent : most;
    if (send_segments(fd, data + sent * bytes, bytes, segments) >= 0) {
      sent += segments;
      refusals = 0;
    } else if (errno == ECONNREFUSED) {
      /* The error of an earlier datagram; this one has not been sent yet. One more try, then it counts as lost as on
       * a wire. */
      if (++refusals > 1) {
        sent += segments;
        refusals = 0;
      }
    } else if (errno != EINTR) {
      if (segments == 1) return sent > 0 ? (long)sent : -errno;
      most = 1; /* a kernel or an interface without segmentation: one by one */
    }
  }
  return (long)sent;
}

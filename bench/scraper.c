/* The minimum for a master that polls: once a second it requests the metrics of each Prometheus exporter over a
 * connection that stays open, and reads the answer to its end. It parses nothing and keeps nothing.
 *   scraper PORT... */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char last_chunk[] = "\r\n0\r\n\r\n";
#define END (sizeof last_chunk - 1)

static char buffer[1 << 16];

/* Connects, and tries again until somebody listens there. */
static int connected(const char *port) {
  const struct sockaddr_in to = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (;;) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd != -1 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0) return fd;
    if (fd != -1) close(fd);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
}

/* Reads one answer, which is chunked, because it is large. */
static bool read_answer(int fd) {
  size_t kept = 0;
  for (;;) {
    const ssize_t got = recv(fd, buffer + kept, sizeof buffer - kept, 0);
    if (got <= 0) return false;
    const size_t length = kept + (size_t)got;
    if (length >= END && memcmp(buffer + length - END, last_chunk, END) == 0) return true;
    kept = length < END ? length : END;
    memmove(buffer, buffer + length - kept, kept);
  }
}

int main(int argc, char *argv[]) {
  int fds[argc];
  for (int i = 1; i < argc; i++) fds[i] = connected(argv[i]);
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (;; next.tv_sec++) {
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    for (int i = 1; i < argc; i++) {
      if (send(fds[i], request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)(sizeof request - 1) && read_answer(fds[i])) continue;
      fprintf(stderr, "scraper: the exporter on port %s does not answer\n", argv[i]);
      return 1;
    }
  }
}

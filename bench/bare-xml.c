/* The minimum for a server of Ganglia's XML: copies prepared parts, writes numbers between them, and sends that. It
 * reads no board and calculates no rates.
 *   bare-xml serve HOSTS         prints its port on 127.0.0.1; each client gets a document of so many hosts with 33
 *                                metrics
 *   bare-xml drain PORT TIMES    reads so many documents to their ends without copying them; prints the bytes */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define METRICS 33
#define ROOM (256 << 10)
#define HEAD "<METRIC NAME=\"a_metric\" VAL=\""
#define TAIL                                                                                                           \
  "\" TYPE=\"float\" UNITS=\"bytes/sec\" TN=\"1\" TMAX=\"300\" DMAX=\"0\" SLOPE=\"both\">\n<EXTRA_DATA>\n"             \
  "<EXTRA_ELEMENT NAME=\"GROUP\" VAL=\"network\"/>\n<EXTRA_ELEMENT NAME=\"DESC\" VAL=\"Number of bytes in per second\"/>\n" \
  "<EXTRA_ELEMENT NAME=\"TITLE\" VAL=\"Bytes Received\"/>\n</EXTRA_DATA>\n</METRIC>\n"

static char page[ROOM + (64 << 10)];

static char *text(char *to, const char *from, size_t bytes) {
  memcpy(to, from, bytes);
  return to + bytes;
}

static char *number(char *to, unsigned value) {
  char digits[10];
  int n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (n > 0) *to++ = digits[--n];
  return to;
}

static int flush(int fd, const char *end) {
  for (const char *from = page; from < end;) {
    const ssize_t sent = send(fd, from, (size_t)(end - from), MSG_NOSIGNAL);
    if (sent <= 0) return -1;
    from += sent;
  }
  return 0;
}

static void serve(int fd, unsigned hosts) {
  char *to = page;
  for (unsigned host = 0; host < hosts; host++) {
    to = text(to, "<HOST NAME=\"node", 16);
    to = number(to, host);
    to = text(to, "\">\n", 3);
    for (unsigned metric = 0; metric < METRICS; metric++) {
      to = text(to, HEAD, sizeof HEAD - 1);
      to = number(to, host * 7919 + metric);
      *to++ = '.';
      to = number(to, 10 + metric);
      to = text(to, TAIL, sizeof TAIL - 1);
    }
    to = text(to, "</HOST>\n", 8);
    if (to < page + ROOM) continue;
    if (flush(fd, to) != 0) return;
    to = page;
  }
  flush(fd, to);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (strcmp(argv[1], "drain") == 0) {
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    long long bytes = 0;
    for (int times = argc > 3 ? atoi(argv[3]) : 1; times > 0; times--) {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(fd, (struct sockaddr *)&address, size) != 0) return 1;
      ssize_t got;
      /* Discarded in place, because the reader should cost as little as possible. */
      while ((got = recv(fd, NULL, 1 << 20, MSG_TRUNC)) > 0) bytes += got;
      close(fd);
      if (got < 0) return 1;
    }
    printf("%lld\n", bytes);
    return 0;
  }
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0) return 1;
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0) return 1;
    serve(fd, (unsigned)atoi(argv[2]));
    close(fd);
  }
}

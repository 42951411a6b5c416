/* Sends a command to a server of Supermon's protocol over one connection, again as soon as it has an answer. For
 * benchmarks.
 *   ask-fast PORT COMMAND SECONDS [RATE]     prints the number of answers per second; RATE: at most so many commands a
 *                                            second */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Sends a command and reads the answer, which ends with a line that is only a parenthesis. */
static int ask(int fd, const char *command) {
  static char answer[1 << 16];
  size_t used = 0;
  if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0) return -1;
  while (used < 3 || memcmp(answer + used - 3, "\n)\n", 3) != 0) {
    const ssize_t got = recv(fd, answer + used, sizeof answer - used, 0);
    if (got <= 0) return -1;
    used += (size_t)got;
  }
  return 0;
}

int main(int argc, char *argv[]) {
  if (argc < 4) return 2;
  const double step = argc > 4 ? 1 / atof(argv[4]) : 0;
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char command[64];
  snprintf(command, sizeof command, "%s\n", argv[2]);
  const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  for (int i = 0; i < 10; i++)
    if (ask(fd, command) != 0) return 1;
  const double from = now(), until = from + atof(argv[3]);
  unsigned long answers = 0;
  for (double due = from; now() < until; answers++) {
    const double left = (due += step) - now();
    const struct timespec rest = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
    if (step > 0 && left > 0) nanosleep(&rest, NULL);
    if (ask(fd, command) != 0) return 1;
  }
  printf("%.1f\n", (double)answers / (now() - from));
  return 0;
}

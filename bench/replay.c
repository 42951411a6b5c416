/* Simulates a cluster of gmonds or collectds: records the datagrams of one agent, and sends them as if they came from
 * many nodes, each of which reports once a second.
 *   replay record PORT FILE SECONDS    records what arrives at 127.0.0.1:PORT; prints `ready`, and at the end the
 *                                      datagrams per second of the second half
 *   replay play FILE NODES PORT [collectd]
 *                                      sends the first half, an agent's start, once for each node, and the second half
 *                                      over and over
 * The agent's name must contain zzzz, which is replaced by four digits for each node. With `collectd` the times in the
 * packets are moved on with the clock, because collectd accepts only newer ones. */
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define MARK "zzzz"
#define DIGITS 4
#define MOST_BYTES 2048
#define MOST_SPOTS 64

/* In collectd's protocol, a part has a type and a length of 16 bits each; this type is a time in 2^-30 s. */
enum { PART_TIME_HR = 0x0008, PART_HEAD = 4 };

struct packet {
  uint32_t second;
  uint32_t length;
  unsigned char bytes[MOST_BYTES];
};

/* Where in a packet there are bytes that differ for each node. */
struct spots {
  unsigned names[MOST_SPOTS], times[MOST_SPOTS];
  unsigned name_count, time_count;
};

static void die(const char *why) {
  fprintf(stderr, "replay: %s\n", why);
  exit(1);
}

static int bound_or_connected(const char *port, bool binds) {
  const struct sockaddr_in there = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const int done = binds ? bind(fd, (const struct sockaddr *)&there, sizeof there)
                         : connect(fd, (const struct sockaddr *)&there, sizeof there);
  if (done != 0) die("no socket");
  return fd;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Seconds are counted from half a second before the first datagram, so that datagrams sent together stay together. */
static int record(const char *port, const char *path, unsigned seconds) {
  static struct packet packet;
  const int fd = bound_or_connected(port, true);
  FILE *file = fopen(path, "w");
  if (file == NULL) die("cannot write the file");
  puts("ready");
  fflush(stdout);
  unsigned repeated = 0;
  double first = 0;
  for (;;) {
    const ssize_t got = recv(fd, packet.bytes, sizeof packet.bytes, 0);
    if (got < 0) die("cannot receive");
    if (first <= 0) first = now();
    packet.second = (uint32_t)(now() - first + 0.5);
    packet.length = (uint32_t)got;
    if (packet.second >= seconds) break;
    if (packet.second >= seconds / 2) repeated++;
    fwrite(&packet, sizeof packet, 1, file);
  }
  if (fclose(file) != 0) die("cannot write the file");
  printf("%g\n", (double)repeated / (seconds - seconds / 2));
  return 0;
}

static uint16_t u16(const unsigned char *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static uint64_t u64(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return be64toh(value);
}

static struct spots find(const struct packet *packet, bool times) {
  struct spots spots = {.name_count = 0};
  for (unsigned i = 0; i + DIGITS <= packet->length; i++)
    if (memcmp(packet->bytes + i, MARK, DIGITS) == 0 && spots.name_count < MOST_SPOTS) spots.names[spots.name_count++] = i;
  for (unsigned i = 0; times && i + PART_HEAD <= packet->length;) {
    const uint16_t length = u16(packet->bytes + i + 2);
    if (length < PART_HEAD || i + length > packet->length) die("a packet that is not collectd's");
    if (u16(packet->bytes + i) == PART_TIME_HR && spots.time_count < MOST_SPOTS) spots.times[spots.time_count++] = i + PART_HEAD;
    i += length;
  }
  if (spots.name_count == 0 || (times && spots.time_count == 0)) die("a packet without a name or a time");
  if (spots.name_count == MOST_SPOTS || spots.time_count == MOST_SPOTS) die("a packet with too much in it");
  return spots;
}

static void adapt(struct packet *packet, const struct packet *recorded, const struct spots *spots, unsigned node, uint64_t later) {
  char digits[DIGITS + 8];
  snprintf(digits, sizeof digits, "%04u", node % 10000);
  memcpy(packet->bytes, recorded->bytes, recorded->length);
  for (unsigned i = 0; i < spots->name_count; i++) memcpy(packet->bytes + spots->names[i], digits, DIGITS);
  for (unsigned i = 0; i < spots->time_count; i++) {
    const uint64_t time = htobe64(u64(packet->bytes + spots->times[i]) + (later << 30));
    memcpy(packet->bytes + spots->times[i], &time, sizeof time);
  }
}

_Noreturn static void play(const char *path, unsigned nodes, const char *port, bool times) {
  FILE *file = fopen(path, "r");
  if (file == NULL) die("cannot read the file");
  struct packet *recorded = NULL;
  unsigned count = 0;
  for (struct packet packet; fread(&packet, sizeof packet, 1, file) == 1; recorded[count++] = packet)
    if ((recorded = realloc(recorded, (count + 1) * sizeof packet)) == NULL) die("no memory");
  fclose(file);
  if (count == 0) die("nothing was recorded");
  struct spots *spots = calloc(count, sizeof *spots);
  if (spots == NULL) die("no memory");
  for (unsigned i = 0; i < count; i++) spots[i] = find(&recorded[i], times);
  const uint32_t seconds = recorded[count - 1].second + 1, half = seconds / 2;
  const int fd = bound_or_connected(port, false);
  /* The age of the recording, s. */
  const uint64_t age = times ? (uint64_t)time(NULL) - (u64(recorded[0].bytes + spots[0].times[0]) >> 30) : 0;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (uint64_t turn = 0;; turn++) {
    const uint32_t second = (uint32_t)(turn < seconds ? turn : half + (turn - half) % (seconds - half));
    unsigned from = 0, to;
    while (from < count && recorded[from].second < second) from++;
    for (to = from; to < count && recorded[to].second == second; to++)
      ;
    for (unsigned node = 0; node < nodes; node++) {
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
      static struct packet packet;
      for (unsigned i = from; i < to; i++) {
        adapt(&packet, &recorded[i], &spots[i], node, age + turn - second);
        send(fd, packet.bytes, recorded[i].length, 0);
      }
      next.tv_nsec += 1000000000 / nodes;
      next.tv_sec += next.tv_nsec / 1000000000;
      next.tv_nsec %= 1000000000;
    }
  }
}

int main(int argc, char *argv[]) {
  if (argc == 5 && strcmp(argv[1], "record") == 0) return record(argv[2], argv[3], (unsigned)atoi(argv[4]));
  if (argc >= 5 && strcmp(argv[1], "play") == 0) play(argv[2], (unsigned)atoi(argv[3]), argv[4], argc > 5);
  die("record PORT FILE SECONDS, or play FILE NODES PORT");
}

/* The time from sending a report until it is visible on a board.
 *   latency PORT BOARD SAMPLES          sends reports of one node, one after the other, and looks at the board until
 *                                       each is there
 *   latency PORT FILE SAMPLES bare      the same for bare-receiver.c, whose file has the report in slot 0
 * CLUSTER_ID in the environment is the cluster of the reports. Sends at random moments, so that it is not in step with
 * a tick: with pauses of at most 4 ms, or of pause=MS. Prints one time per line, ns. */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "../c/beoboard.h"
#include "../c/addon/bulk_send.h"

#define SECOND INT64_C(1000000000)
#define BARE_SLOT 4096 /* in bare-receiver.c: the beginning of slot 0 */
#define GIVE_UP_NS SECOND

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static const char *const NODE = "latency";

/* Whether the report number `seq` is on the board. */
static bool seen(beoboard *b, int *index, uint32_t seq) {
  struct beoboard_slot slot;
  if (*index < 0) *index = beoboard_index(b, NODE);
  return *index >= 0 && beoboard_reports(b, *index, &slot, NULL, sizeof slot) > 0 && slot.report.seq == seq;
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that was killed leaves no process behind */
  if (argc < 4) return 2;
  bool bare = false;
  double pause_ms = 4;
  for (int i = 4; i < argc; i++) {
    if (strncmp(argv[i], "pause=", 6) == 0) pause_ms = strtod(argv[i] + 6, NULL);
    else bare = true;
  }
  const int fd = bb_bulk_open("127.0.0.1", (uint16_t)atoi(argv[1]));
  if (fd < 0) return 1;
  beoboard *b = NULL;
  const volatile uint8_t *slot = NULL;
  if (bare) {
    const int file = open(argv[2], O_RDONLY | O_CLOEXEC);
    slot = (const volatile uint8_t *)mmap(NULL, BARE_SLOT + sizeof(struct beoboard_report), PROT_READ, MAP_SHARED, file, 0);
    if (slot == MAP_FAILED) return 1;
    slot += BARE_SLOT;
  } else if (beoboard_open(&b, argv[2], 0) < 0) return 1;
  struct beoboard_report report;
  memset(&report, 0, sizeof report);
  report.magic = 0x31525342;
  report.version = 1;
  report.length = sizeof report;
  report.boot_id = (uint64_t)clock_ns(CLOCK_BOOTTIME);
  report.start_boot_ns = report.boot_id;
  report.interval_ms = 100;
  const char *const cluster = getenv("CLUSTER_ID");
  report.cluster_id = cluster == NULL ? 0 : (uint32_t)strtoul(cluster, NULL, 10);
  snprintf(report.hostname, sizeof report.hostname, "%s", NODE);
  int index = -1;
  srand48(1);
  const long samples = atol(argv[3]);
  for (long i = 1; i <= samples; i++) {
    report.seq = (uint32_t)i;
    report.t_real_ns = (uint64_t)clock_ns(CLOCK_REALTIME);
    report.t_boot_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    uint8_t datagram[sizeof report];
    memcpy(datagram, &report, sizeof report);
    if (bare) memcpy(datagram, "probe", 5);
    const int64_t sent = clock_ns(CLOCK_MONOTONIC);
    if (bb_bulk_send(fd, datagram, sizeof datagram, 1) != 1) return 1;
    uint32_t here;
    bool is_there = false;
    while (!is_there && clock_ns(CLOCK_MONOTONIC) - sent < GIVE_UP_NS) {
      if (bare) {
        memcpy(&here, (const void *)(slot + offsetof(struct beoboard_report, seq)), sizeof here);
        is_there = here == report.seq;
      } else is_there = seen(b, &index, report.seq);
      if (!is_there) sched_yield();
    }
    if (is_there) printf("%" PRId64 "\n", clock_ns(CLOCK_MONOTONIC) - sent);
    else puts("lost");
    const struct timespec pause = {0, (long)(drand48() * pause_ms * 1e6)};
    nanosleep(&pause, NULL);
  }
  beoboard_close(b);
  return 0;
}

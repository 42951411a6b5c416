/* Sends reports of many nodes as cheaply as possible: `beoboard load` changes every reading of every node, which takes
 * longer than receiving. Here a report differs from the last one only by its number and its times.
 *   storm PORT NODES RATE REPORTS [cluster|node SECRET]
 * sends REPORTS reports in all to 127.0.0.1, node after node, RATE a second, evenly spread; 0: as fast as possible.
 * With a key (number 1, SECRET in hexadecimal) they are signed, all of them before the first is sent. CLUSTER_ID in the
 * environment is the cluster of the reports. Prints a line when it begins to send, and at the end how many seconds
 * sending took. */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "../c/addon/bulk_send.h"
#include "../c/format/layout.gen.h"
#include "../c/rules/mac.h"

#define SECOND INT64_C(1000000000)
#define TICK_NS (SECOND / 1000)
#define TOGETHER 53 /* datagrams that one system call can send: 64 KB */
/* If it is late by more than this part of a second (it was stopped, or its machine was), it does not catch up: that
 * would not be evenly spread. */
#define MOST_LATE 5

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void begin(struct bb_report *r, size_t node, uint32_t interval_ms, int64_t boot_ns) {
  r->magic = 0x31525342;
  r->version = 1;
  r->length = sizeof *r;
  r->boot_id = node + 1; /* unique among all storms: the next one is a restart of the sender, not another machine with the name */
  r->interval_ms = interval_ms;
  const char *const cluster = getenv("CLUSTER_ID");
  r->cluster_id = cluster == NULL ? 0 : (uint32_t)strtoul(cluster, NULL, 10);
  r->start_boot_ns = (uint64_t)boot_ns;
  r->valid = BB_VALID_KNOWN;
  snprintf(r->hostname, sizeof r->hostname, "node%06zu", node + 1);
}

/* The keys with which nodes sign: one for all, or one for each. */
static struct bb_hmac *keys_of(const struct bb_report *nodes, size_t count, const char *kind, const char *hex) {
  uint8_t secret[BB_SECRET_BYTES];
  for (int i = 0; i < BB_SECRET_BYTES; i++)
    if (sscanf(hex + 2 * i, "%2hhx", &secret[i]) != 1) return NULL;
  struct bb_hmac *keys = (struct bb_hmac *)calloc(count, sizeof *keys), cluster;
  if (keys == NULL) return NULL;
  bb_hmac_key(&cluster, secret, sizeof secret);
  for (size_t i = 0; i < count; i++) {
    uint8_t own[BB_MAC_BYTES];
    keys[i] = cluster;
    if (strcmp(kind, "cluster") == 0) continue;
    bb_mac(&cluster, nodes[i].hostname, strlen(nodes[i].hostname), own);
    bb_hmac_key(&keys[i], own, sizeof own);
  }
  return keys;
}

/* The report number `seq` of a node. */
static void move(struct bb_report *r, uint32_t seq, int64_t real_ns, int64_t boot_ns) {
  r->seq = seq;
  r->t_real_ns = (uint64_t)real_ns;
  r->t_boot_ns = (uint64_t)boot_ns;
}

static void sign(struct bb_report *r, const struct bb_hmac *key, const char *kind) {
  uint8_t mac[BB_MAC_BYTES];
  r->key_id = 1;
  r->auth_alg = strcmp(kind, "node") == 0 ? BB_AUTH_ALG_NODE : BB_AUTH_ALG_CLUSTER;
  bb_mac(key, r, offsetof(struct bb_report, tag), mac);
  memcpy(r->tag, mac, sizeof r->tag);
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that was killed leaves no process behind */
  if (argc != 5 && argc != 7) return 2;
  const size_t nodes = strtoul(argv[2], NULL, 10), rate = strtoul(argv[3], NULL, 10), total = strtoul(argv[4], NULL, 10);
  const char *kind = argc == 7 ? argv[5] : NULL;
  if (nodes == 0) return 2;
  /* Signed reports are prepared one after another; otherwise each node has one report that is changed. */
  const size_t kept = kind == NULL ? nodes : total;
  struct bb_report *reports = (struct bb_report *)mmap(NULL, (kept < nodes ? nodes : kept) * sizeof(struct bb_report), PROT_READ | PROT_WRITE,
                                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reports == MAP_FAILED) return 1;
  const int fd = bb_bulk_open("127.0.0.1", (uint16_t)atoi(argv[1]));
  if (fd < 0) return 1;
  const int64_t real_ns = clock_ns(CLOCK_REALTIME), boot_ns = clock_ns(CLOCK_BOOTTIME);
  const uint64_t interval = rate == 0 ? 1000 : 1000 * nodes / rate;
  for (size_t i = 0; i < nodes; i++) begin(&reports[i], i, (uint32_t)(interval < 100 ? 100 : interval > 600000 ? 600000 : interval), boot_ns);
  if (kind != NULL) {
    struct bb_hmac *keys = keys_of(reports, nodes, kind, argv[6]);
    if (keys == NULL) return 1;
    for (size_t i = nodes; i < total; i++) reports[i] = reports[i - nodes];
    for (size_t i = 0; i < total; i++) {
      const int64_t passed = (int64_t)(i / nodes) * TICK_NS;
      move(&reports[i], (uint32_t)(i / nodes), real_ns + passed, boot_ns + passed);
      sign(&reports[i], &keys[i % nodes], kind);
    }
  }
  puts("sending");
  fflush(stdout);
  const int64_t first_ns = clock_ns(CLOCK_MONOTONIC);
  int64_t began = first_ns;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (size_t sent = 0; sent < total;) {
    const int64_t now = clock_ns(CLOCK_MONOTONIC) - began;
    size_t due = rate == 0 ? total : (size_t)((double)now * (double)rate / SECOND);
    if (rate > 0 && due > sent + rate / MOST_LATE) {
      began += (int64_t)((double)(due - sent) / (double)rate * SECOND);
      continue;
    }
    if (due > total) due = total;
    while (sent < due) {
      const size_t first = sent % kept;
      size_t count = due - sent < TOGETHER ? due - sent : TOGETHER;
      if (count > kept - first) count = kept - first;
      const int64_t passed = clock_ns(CLOCK_MONOTONIC) - first_ns;
      for (size_t i = first; kind == NULL && i < first + count; i++) move(&reports[i], (uint32_t)(sent / nodes), real_ns + passed, boot_ns + passed);
      if (bb_bulk_send(fd, reports + first, sizeof(struct bb_report), count) < 0) return 1;
      sent += count;
    }
    next.tv_nsec += TICK_NS;
    next.tv_sec += next.tv_nsec / SECOND;
    next.tv_nsec %= SECOND;
    if (sent < total) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
  printf("%.6f\n", (double)(clock_ns(CLOCK_MONOTONIC) - first_ns) / SECOND);
  return 0;
}

/* The two ends of a board, for measuring readers: a writer that is quiet or lays reports as fast as it can, and a
 * reader by libbeoboard.
 *   lib-bench write BOARD NODES     makes the board, all nodes live, with two reports each
 *   lib-bench read BOARD            reads it
 * Both take a line on stdin and answer it with a line of JSON, until stdin ends. The writer takes `quiet` and `busy`,
 * and answers how many reports a second it laid since the line before. The reader takes the name of what it has to do,
 * and answers how long that took, in ns, as the median of as many rounds as there is time for. A reader that sees less
 * than the whole board ends with 1. */
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../beoboard.h"
#include "../../board/writer.h"

static int64_t clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "lib-bench: %s\n", what);
  exit(1);
}

static void *room(size_t bytes) {
  void *made = malloc(bytes);
  if (made == NULL) fail("out of memory");
  return made;
}

/* ---- The writer ---- */

struct source {
  struct bb_writer *writer;
  struct bb_report report;
  char (*names)[sizeof((struct bb_report *)0)->hostname];
  uint32_t nodes, next;
};

/* A second later: counters have moved, so that rates are not 0. */
static void next_second(struct bb_report *r) {
  r->seq++;
  r->t_boot_ns += 1000000000;
  r->cpu_user_ms += 25000;
  r->cpu_idle_ms += 39000;
  r->net[0].rx_bytes += 1250000;
  r->net[0].tx_bytes += 1000000;
  r->net[0].rx_packets += 1250;
  r->net[0].tx_packets += 1000;
}

/* Writes the next report of so many nodes in turn, then says that everything was heard until now. */
static void lay(struct source *s, uint32_t count) {
  struct bb_arrival arrival = {
      .stamp_ns = clock_ns(), .link = bb_links_find(bb_writer_links(s->writer), "eth0", false), .interface = "eth0"};
  for (uint32_t i = 0; i < count; i++) {
    memcpy(s->report.hostname, s->names[s->next], sizeof s->report.hostname);
    if (bb_writer_deliver(s->writer, (const uint8_t *)&s->report, sizeof s->report, &arrival) != BB_OUTCOME_ACCEPTED)
      fail("a report was not accepted");
    if (++s->next < s->nodes) continue;
    s->next = 0;
    next_second(&s->report);
  }
  bb_writer_heartbeat(s->writer, clock_ns());
}

static int write_board(const char *path, uint32_t nodes) {
  /* With these limits all nodes stay live on a quiet board, too, although their interval is one second. */
  const int64_t hour_ns = 3600000000000;
  const struct bb_writer_options o = {.path = path,
                                      .cluster_name = "",
                                      .capacity = nodes,
                                      .uncertain_after_ns = hour_ns,
                                      .silent_after_ns = 2 * hour_ns};
  char why[256];
  struct source s = {.writer = bb_writer_open(&o, why, sizeof why), .nodes = nodes};
  if (s.writer == NULL) fail(why);
  s.report = (struct bb_report){.magic = 0x31525342,
                                .version = 1,
                                .length = sizeof s.report,
                                .boot_id = 1,
                                .interval_ms = 1000,
                                .t_boot_ns = 1000000000,
                                .start_boot_ns = 1,
                                .valid = BB_VALID_KNOWN,
                                .load1_c = 150,
                                .cpus_online = 64,
                                .cpus_present = 64,
                                .mem_total_mib = 1 << 18,
                                .os_release = "6.1.0",
                                .net[0] = {.name = "eth0", .mbps = 25000}};
  s.names = room(nodes * sizeof *s.names);
  memset(s.names, 0, nodes * sizeof *s.names);
  for (uint32_t i = 0; i < nodes; i++) snprintf(s.names[i], sizeof s.names[i], "node%06" PRIu32, i);
  bb_writer_listening_since(s.writer, clock_ns() - 100000000000);
  lay(&s, 2 * nodes);
  char line[64] = "quiet\n";
  int64_t began = clock_ns();
  uint64_t laid = 0;
  printf("{}\n");
  for (;;) {
    fflush(stdout);
    const bool busy = strcmp(line, "busy\n") == 0;
    struct pollfd in = {.fd = 0, .events = POLLIN};
    while (poll(&in, 1, busy ? 0 : 10) == 0) {
      lay(&s, busy ? 256 : 0);
      laid += busy ? 256 : 0;
    }
    if (fgets(line, sizeof line, stdin) == NULL) break;
    const int64_t now = clock_ns();
    printf("{\"reports\":%.0f}\n", (double)laid * 1e9 / (double)(now - began));
    began = now;
    laid = 0;
  }
  bb_writer_close(s.writer);
  free(s.names);
  return 0;
}

/* ---- The reader ---- */

enum { ROUNDS_LEAST = 3, ROUNDS_MOST = 1000, CALLS = 10000, FEW = 64 };
static const int64_t enough_ns = 50000000;

struct reader {
  beoboard *board;
  int nodes;
  char (*names)[BEOBOARD_NAME_MAX];
  int *order; /* the order in which nodes are asked for at random */
  int8_t *states;
  struct beoboard_node *all;
  struct beoboard_slot *reports, *other;
};

static volatile int64_t sink;

static void scan(struct reader *r) {
  int live = 0;
  for (int i = 0; i < r->nodes; i++) {
    r->states[i] = (int8_t)beoboard_state(r->board, i);
    live += r->states[i] == BEOBOARD_LIVE;
  }
  if (live != r->nodes) fail("not all nodes are live");
}

static void tally(struct reader *r) {
  int counts[BEOBOARD_NSTATES];
  beoboard_tally(r->board, counts);
  if (counts[BEOBOARD_LIVE] != r->nodes) fail("not all nodes are live");
}

static void memory(struct reader *r) {
  struct beoboard_memory known;
  for (int i = 0; i < r->nodes; i++)
    if (beoboard_memory(r->board, i, &known, sizeof known) != 0 || known.recent != 0) fail("a memory was not read");
}

static void one(struct reader *r) {
  struct beoboard_node node;
  for (int i = 0; i < CALLS; i++)
    if (beoboard_read(r->board, beoboard_index(r->board, r->names[r->order[i % r->nodes]]), &node, sizeof node) != 0)
      fail("a node was not read");
}

static void find(struct reader *r) {
  for (int i = 0; i < CALLS; i++) sink += beoboard_index(r->board, r->names[i % FEW % r->nodes]);
}

static void copy(struct reader *r) {
  struct beoboard_node node;
  for (int i = 0; i < CALLS; i++)
    if (beoboard_read(r->board, i % FEW % r->nodes, &node, sizeof node) != 0) fail("a node was not read");
}

static void every(struct reader *r) {
  if (beoboard_read_all(r->board, r->all, sizeof *r->all, 0, r->nodes) != r->nodes) fail("not all nodes were read");
  for (int i = 0; i < r->nodes; i++)
    if (r->all[i].state != BEOBOARD_LIVE) fail("a node was not read");
}

static void whole(struct reader *r) {
  for (int i = 0; i < r->nodes; i++)
    /* The writer may be changing the older one. */
    if (beoboard_reports(r->board, i, &r->reports[2 * i], &r->reports[2 * i + 1], sizeof *r->reports) < 1)
      fail("a node was not read");
}

/* For comparison: copies as many bytes from private memory. */
static void bare(struct reader *r) { memcpy(r->reports, r->other, 2 * (size_t)r->nodes * sizeof *r->reports); }

static const struct work {
  const char *name;
  void (*run)(struct reader *);
  void (*beside)(struct reader *); /* done in turn with it, so that neither finds its own data in a cache */
  bool calls;                      /* CALLS of them in a round */
} works[] = {{"scan", scan, NULL, false}, {"tally", tally, NULL, false}, {"memory", memory, NULL, false},
             {"one", one, NULL, true},      {"find", find, NULL, true},    {"copy", copy, NULL, true},
             {"every", every, NULL, false}, {"whole", whole, bare, false}};

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double timed(void (*run)(struct reader *), struct reader *r) {
  const int64_t began = clock_ns();
  run(r);
  return (double)(clock_ns() - began);
}

/* Does it as often as there is time for, and prints the medians; and the minimum, because other work on the machine
 * can only add time. */
static void measure(const struct work *work, struct reader *r) {
  static double rounds[ROUNDS_MOST], beside[ROUNDS_MOST];
  const int64_t began = clock_ns();
  size_t n = 0;
  for (; n < ROUNDS_LEAST || (n < ROUNDS_MOST && clock_ns() - began < enough_ns); n++) {
    rounds[n] = timed(work->run, r) / (work->calls ? CALLS : 1);
    if (work->beside != NULL) beside[n] = timed(work->beside, r);
  }
  qsort(rounds, n, sizeof *rounds, by_size);
  qsort(beside, n, sizeof *beside, by_size);
  printf("{\"ns\":%.1f,\"least\":%.1f,\"memcpy\":%.1f}\n", rounds[n / 2], rounds[0], beside[n / 2]);
}

static int read_board(const char *path) {
  struct reader r = {0};
  const int err = beoboard_open(&r.board, path, 0);
  if (err < 0) fail(beoboard_strerror(err));
  r.nodes = beoboard_count(r.board);
  const size_t n = (size_t)r.nodes, slots = 2 * n * sizeof *r.reports;
  r.names = room(n * sizeof *r.names);
  r.order = room(n * sizeof *r.order);
  r.states = room(n);
  r.all = room(n * sizeof *r.all);
  r.reports = memset(room(slots), 1, slots);
  r.other = memset(room(slots), 2, slots);
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < r.nodes; i++) {
    beoboard_name(r.board, i, r.names[i], sizeof r.names[i]);
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    r.order[i] = (int)(random % n);
  }
  printf("{\"nodes\":%d,\"bytes\":%zu}\n", r.nodes, slots);
  for (char line[64]; fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL;) {
    line[strcspn(line, "\n")] = '\0';
    const struct work *work = works;
    while (work < works + sizeof works / sizeof *works && strcmp(work->name, line) != 0) work++;
    if (work == works + sizeof works / sizeof *works) fail("it reads in no such way");
    measure(work, &r);
  }
  beoboard_close(r.board);
  free(r.names);
  free(r.order);
  free(r.states);
  free(r.all);
  free(r.reports);
  free(r.other);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "write") == 0) return write_board(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
  if (argc == 3 && strcmp(argv[1], "read") == 0) return read_board(argv[2]);
  fprintf(stderr, "usage: lib-bench write BOARD NODES | lib-bench read BOARD\n");
  return 2;
}

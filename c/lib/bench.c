/* How long the calls of the library take, on a board made here with the project's own writer. Not a test.
 *   lib-bench [BOARD]      prints a table; BOARD is made and removed, by default /dev/shm/beoboard-bench.PID */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../beoboard.h"
#include "../board_writer.h"

static int64_t clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static void fill(struct bb_writer *w, uint32_t nodes, uint32_t seq, unsigned late) {
  const int64_t now = clock_ns();
  struct bb_report r;
  memset(&r, 0, sizeof r);
  r.magic = 0x31525342;
  r.version = 1;
  r.length = sizeof r;
  r.boot_id = 1;
  r.seq = seq;
  r.interval_ms = 1000;
  r.t_boot_ns = 1000000000u + (uint64_t)seq * 1000000000u;
  r.start_boot_ns = 1;
  r.valid = BB_VALID_KNOWN;
  r.load1_c = 150;
  r.mem_total_mib = 1 << 18;
  r.cpu_user_ms = (uint64_t)seq * 10000;
  for (uint32_t i = 0; i < nodes; i++) {
    snprintf(r.hostname, sizeof r.hostname, "node%06" PRIu32, i);
    struct bb_arrival arrival = {.stamp_ns = now - (late > 0 && i % late == 0 ? 6000000000 : 0)};
    bb_writer_deliver(w, (const uint8_t *)&r, sizeof r, &arrival);
  }
}

static volatile int64_t sink;

/* The best of some rounds, in ns per `per` calls: what else the machine does only ever adds. */
#define TIME(result, per, calls)                                   \
  do {                                                             \
    result = 1e18;                                                 \
    for (int round = 0; round < 200; round++) {                      \
      bb_writer_heartbeat(w, clock_ns());                          \
      const int64_t began = clock_ns();                            \
      calls;                                                       \
      const double took = (double)(clock_ns() - began) / (per);    \
      if (took < result) result = took;                            \
    }                                                              \
  } while (0)

static void measure(const char *path, uint32_t nodes) {
  const struct bb_writer_options o = {.path = path, .cluster_name = "", .capacity = nodes, .uncertain_after_ns = 4500000000, .silent_after_ns = 10500000000};
  char why[256];
  struct bb_writer *w = bb_writer_open(&o, why, sizeof why);
  if (w == NULL) {
    fprintf(stderr, "lib-bench: %s\n", why);
    exit(1);
  }
  fill(w, nodes, 1, 0);
  fill(w, nodes, 2, 0);
  bb_writer_listening_since(w, clock_ns() - 100000000000);
  bb_writer_heartbeat(w, clock_ns());
  beoboard *b;
  const int err = beoboard_open(&b, path, 0);
  if (err < 0) {
    fprintf(stderr, "lib-bench: %s\n", beoboard_strerror(err));
    exit(1);
  }
  const int n = beoboard_count(b);
  char(*names)[BEOBOARD_NAME_MAX] = (char(*)[BEOBOARD_NAME_MAX])malloc((size_t)n * sizeof *names);
  const char **list = (const char **)malloc((size_t)n * sizeof *list);
  int *order = (int *)malloc((size_t)n * sizeof *order);
  for (int i = 0; i < n; i++) {
    beoboard_name(b, i, names[i], sizeof names[i]);
    list[i] = names[i];
    order[i] = (int)(next_random() % (uint64_t)n);
  }
  struct beoboard_node node;
  struct beoboard_node *all = (struct beoboard_node *)malloc((size_t)n * sizeof *all);
  struct beoboard_rates rates;
  int step = 0;
  int counts[BEOBOARD_NSTATES];
  const int m = 10000;
  double one, state, random_state_ns, index, same, read, again, every, tally, check, rate;
  TIME(one, m, for (int i = 0; i < m; i++) sink += beoboard_state(b, 7));
  TIME(state, m, for (int i = 0; i < m; i++) sink += beoboard_state(b, i % n));
  TIME(random_state_ns, m, for (int i = 0; i < m; i++) sink += beoboard_state(b, order[(step = (step + 1) % n)]));
  TIME(same, m, for (int i = 0; i < m; i++) sink += beoboard_index(b, names[i % 64 % n]));
  TIME(index, m, for (int i = 0; i < m; i++) sink += beoboard_index(b, names[order[(step = (step + 1) % n)]]));
  TIME(read, m, for (int i = 0; i < m; i++) sink += beoboard_read(b, i % 64 % n, &node, sizeof node));
  TIME(again, m, for (int i = 0; i < m; i++) sink += beoboard_read(b, order[(step = (step + 1) % n)], &node, sizeof node));
  TIME(every, n, sink += beoboard_read_all(b, all, sizeof *all, 0, n));
  fill(w, nodes, 3, 0); /* all live again: what was measured above took its time */
  TIME(tally, 1.0 * n, sink += beoboard_tally(b, counts));
  TIME(check, n, sink += beoboard_check(b, list, n, NULL));
  TIME(rate, 1000, for (int i = 0; i < 1000; i++) sink += beoboard_rates(b, i % 64 % n, &rates, sizeof rates));
  fill(w, nodes, 4, 3);
  double mixed;
  TIME(mixed, 1.0 * n, sink += beoboard_tally(b, counts));
  printf("%7d | %6.1f %6.1f %6.1f | %6.1f %6.1f | %6.1f %6.1f %6.1f | %6.2f %8.1f %6.2f | %6.1f | %6.0f\n", n, one, state, random_state_ns, same,
         index, read, again, every, tally, tally * n / 1000, mixed, check, rate);
  if (counts[BEOBOARD_LIVE] == n) printf("the late are missing\n");
  beoboard_close(b);
  bb_writer_close(w);
  free(names);
  free(list);
  free(order);
  free(all);
  unlink(path);
}

int main(int argc, char **argv) {
  char folder[64], path[80], lock[96];
  snprintf(folder, sizeof folder, "/dev/shm/beoboard-bench.%d", (int)getpid());
  snprintf(path, sizeof path, "%s/board", folder);
  if (argc < 2) mkdir(folder, 0755);
  const char *board = argc > 1 ? argv[1] : path;
  printf("ns      | state  state  state  | index  index  | read   read   read   | tally  us for   tally  | check  | rates\n");
  printf("nodes   | of one in row random | of 64  random | of 64  random of all | /node  all      mixed  | /node  | of 64\n");
  for (uint32_t nodes = 1000; nodes <= 100000; nodes *= 10) measure(board, nodes);
  snprintf(lock, sizeof lock, "%s.lock", board);
  unlink(lock);
  if (argc < 2) rmdir(folder);
  return 0;
}

/* What counts.bench.mjs runs under callgrind: the receive thread's work and looks at a board, so often as it is told,
 * counted from the first to the last and without what prepares them. It is linked with the objects of the addon as
 * the build has made them (`drain` and `keep_house` of the receive thread made visible, and no thread started), and
 * with libbeoboard.
 *   counted receive BOARD NODES TIMES HOW   TIMES drains of 64 reports each, of all nodes in turn, that came by loopback;
 *                                           HOW: none, cluster, node, or ring: as node, and two cluster keys are valid
 *   counted tick BOARD NODES TIMES          TIMES drains that find nothing
 *   counted single BOARD NODES TIMES        TIMES drains of one report
 *   counted house BOARD NODES TIMES         what is done once a second, TIMES times
 *   counted hold BOARD NODES                makes a board of live nodes, says so, and keeps it alive until stdin ends
 *   counted LOOK BOARD TIMES                all nodes, TIMES times, by libbeoboard (state, tally, read, read_all), by
 *                                           what is behind the addon's snapshots (states, snapshot), or for a relay:
 *                                           sweep (of which every node is new), quiet (of which none is)
 *   counted hmac - TIMES                    the HMAC of a report, which a receiver with keys computes */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "../c/beoboard.h"
#include "../c/judge/overview.h"
#include "../c/receive/receive.h"
#include "../c/relay/sweep.h"

#define SECOND INT64_C(1000000000)
#define BATCH 64
#define BATCH_BYTES 400000

/* Of receive.o. */
void drain(struct bb_receiver *receiver);
void keep_house(struct bb_receiver *receiver);

/* In place of pthread_create() in receive.o: drains are ours. */
int no_thread(void *thread, const void *attributes, void *(*run)(void *), void *argument);
int no_thread(void *thread, const void *attributes, void *(*run)(void *), void *argument) {
  (void)thread, (void)attributes, (void)run, (void)argument;
  return 0;
}

/* In place of the kernel's, for the board: by its seed it depends which names collide, and which are found at once. */
ssize_t getrandom(void *to, size_t bytes, unsigned flags) {
  (void)flags;
  memset(to, 0x5a, bytes);
  return (ssize_t)bytes;
}

_Noreturn static void fail(const char *what) {
  fprintf(stderr, "counted: %s\n", what);
  _exit(1);
}

static void *room(size_t count, size_t bytes) {
  void *made = aligned_alloc(64, (count * bytes + 63) / 64 * 64);
  if (made == NULL) fail("no memory");
  return memset(made, 0, count * bytes);
}

static int64_t now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* ---- Those who report ---- */

enum how { NONE, CLUSTER, NODE, RING };

static const char *const hows[] = {"none", "cluster", "node", "ring"};

struct fleet {
  struct bb_report *reports;
  struct bb_hmac *keys; /* with which each signs; NULL: nobody does */
  enum bb_auth_alg alg;
  uint16_t key_id;
  size_t nodes, next;
};

static const struct bb_key keys[] = {{.id = 1, .secret = {1}}, {.id = 2, .secret = {2}}};

static struct fleet begin(size_t nodes, enum how how) {
  struct fleet f = {.reports = room(nodes, sizeof *f.reports), .nodes = nodes};
  for (size_t i = 0; i < nodes; i++) {
    f.reports[i] = (struct bb_report){.magic = 0x31525342,
                                      .version = 1,
                                      .length = sizeof *f.reports,
                                      .boot_id = i + 1,
                                      .interval_ms = 600000,
                                      .t_boot_ns = SECOND,
                                      .start_boot_ns = 1,
                                      .valid = BB_VALID_KNOWN,
                                      .load1_c = 150,
                                      .cpus_online = 64,
                                      .cpus_present = 64,
                                      .mem_total_mib = 1 << 18,
                                      .os_release = "6.1.0",
                                      .net[0] = {.name = "eth0", .mbps = 25000}};
    snprintf(f.reports[i].hostname, sizeof f.reports[i].hostname, "node%06zu", i + 1);
  }
  if (how == NONE) return f;
  const struct bb_key *key = &keys[how == RING];
  struct bb_hmac cluster;
  bb_hmac_key(&cluster, key->secret, sizeof key->secret);
  f.keys = room(nodes, sizeof *f.keys);
  f.alg = how == CLUSTER ? BB_AUTH_ALG_CLUSTER : BB_AUTH_ALG_NODE;
  f.key_id = key->id;
  for (size_t i = 0; i < nodes; i++) {
    uint8_t own[BB_MAC_BYTES];
    f.keys[i] = cluster;
    if (how == CLUSTER) continue;
    const char *name = f.reports[i].hostname;
    bb_mac(&cluster, name, strlen(name), own);
    bb_hmac_key(&f.keys[i], own, sizeof own);
  }
  return f;
}

/* The next report of the next node: a second later, so that counters have moved. */
static const struct bb_report *next_report(struct fleet *f) {
  const size_t i = f->next;
  struct bb_report *r = &f->reports[i];
  f->next = (i + 1) % f->nodes;
  r->seq++;
  r->t_boot_ns += (uint64_t)SECOND;
  r->t_real_ns = (uint64_t)now_ns(CLOCK_REALTIME);
  r->cpu_user_ms += 25000;
  r->cpu_idle_ms += 39000;
  r->net[0].rx_bytes += 1250000;
  if (f->keys == NULL) return r;
  uint8_t mac[BB_MAC_BYTES];
  r->key_id = f->key_id;
  r->auth_alg = (uint8_t)f->alg;
  bb_mac(&f->keys[i], r, offsetof(struct bb_report, tag), mac);
  memcpy(r->tag, mac, sizeof r->tag);
  return r;
}

static struct bb_writer *open_board(const char *path, size_t nodes, enum how how) {
  const struct bb_writer_options o = {.path = path,
                                      .cluster_name = "",
                                      .capacity = (uint32_t)nodes,
                                      .uncertain_after_ns = 3600 * SECOND,
                                      .silent_after_ns = 7200 * SECOND,
                                      .longest_interval_ms = 600000,
                                      .clock_window_ns = (uint64_t)(600 * SECOND),
                                      .keys = how == NONE ? NULL : keys,
                                      .key_count = how == NONE ? 0 : how == RING ? 2 : 1,
                                      .required = how == NONE      ? BB_AUTH_ALG_NONE
                                                  : how == CLUSTER ? BB_AUTH_ALG_CLUSTER
                                                                   : BB_AUTH_ALG_NODE};
  char why[256];
  struct bb_writer *writer = bb_writer_open(&o, why, sizeof why);
  if (writer == NULL) fail(why);
  return writer;
}

/* ---- The receive thread ---- */

struct receiving {
  struct bb_receiver *receiver;
  struct bb_writer *writer;
  struct fleet fleet;
  int fd;
};

static struct receiving open_receiver(const char *path, size_t nodes, enum how how) {
  char why[256] = "";
  struct receiving r = {.receiver = bb_receiver_new(1000000, BB_FLOOD), .fleet = begin(nodes, how)};
  const int port = r.receiver == NULL ? -1 : bb_receiver_listen(r.receiver, "127.0.0.1", 0, why, sizeof why);
  if (port < 0) fail(why);
  r.writer = open_board(path, nodes, how);
  if (bb_receiver_start(r.receiver, r.writer, NULL, NULL) != 0) fail("the receiver did not start");
  r.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in to = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (r.fd < 0 || connect(r.fd, (const struct sockaddr *)&to, sizeof to) != 0) fail("no socket");
  return r;
}

static void send_reports(struct receiving *r, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (send(r->fd, next_report(&r->fleet), sizeof(struct bb_report), 0) < 0) fail("a report was not sent");
}

static int receive(const char *what, const char *path, size_t nodes, size_t times, enum how how) {
  struct receiving r = open_receiver(path, nodes, how);
  /* Every node's record, key and both slots are there, and the next node is the first. */
  for (size_t left = 2 * nodes, now; left > 0; left -= now) {
    now = left < BATCH ? left : BATCH;
    send_reports(&r, now);
    drain(r.receiver);
  }
  const bool is_house = strcmp(what, "house") == 0;
  const size_t each = strcmp(what, "receive") == 0 ? BATCH : strcmp(what, "single") == 0 ? 1 : 0;
  const uint64_t before = bb_writer_header(r.writer)->accepted;
  CALLGRIND_START_INSTRUMENTATION;
  for (size_t i = 0; i < times; i++) {
    send_reports(&r, each);
    CALLGRIND_TOGGLE_COLLECT;
    (is_house ? keep_house : drain)(r.receiver);
    CALLGRIND_TOGGLE_COLLECT;
  }
  CALLGRIND_STOP_INSTRUMENTATION;
  if (bb_writer_header(r.writer)->accepted - before != each * times) fail("not every report was accepted");
  return 0;
}

static int hold(const char *path, size_t nodes) {
  struct bb_writer *writer = open_board(path, nodes, NONE);
  struct fleet f = begin(nodes, NONE);
  bb_writer_listening_since(writer, now_ns(CLOCK_MONOTONIC) - 100 * SECOND);
  for (size_t i = 0; i < 2 * nodes; i++) {
    struct bb_arrival arrival = {.stamp_ns = now_ns(CLOCK_MONOTONIC),
                                 .stamp_real_ns = now_ns(CLOCK_REALTIME),
                                 .link = bb_links_find(bb_writer_links(writer), "eth0", false),
                                 .interface = "eth0"};
    const uint8_t *report = (const uint8_t *)next_report(&f);
    if (bb_writer_deliver(writer, report, sizeof(struct bb_report), &arrival) != BB_OUTCOME_ACCEPTED)
      fail("a report was not accepted");
  }
  struct pollfd in = {.fd = 0, .events = POLLIN};
  bool told = false;
  do {
    bb_writer_heartbeat(writer, now_ns(CLOCK_MONOTONIC));
    if (!told) told = puts("ready") > 0 && fflush(stdout) == 0;
  } while (poll(&in, 1, 50) == 0);
  bb_writer_close(writer);
  return 0;
}

/* ---- Looks ---- */

struct view {
  beoboard *lib;
  struct bb_board board;
  struct bb_sweep *sweep;
  struct beoboard_node *all;
  uint8_t *copy, *told;
  size_t copy_bytes;
  int nodes, live;
};

static void state(struct view *v) {
  for (int i = 0; i < v->nodes; i++) v->live += beoboard_state(v->lib, i) == BEOBOARD_LIVE;
}

static void tally(struct view *v) {
  int counts[BEOBOARD_NSTATES];
  beoboard_tally(v->lib, counts);
  v->live += counts[BEOBOARD_LIVE];
}

static void read_each(struct view *v) {
  for (int i = 0; i < v->nodes; i++)
    v->live += beoboard_read(v->lib, i, v->all, sizeof *v->all) == 0 && v->all->state == BEOBOARD_LIVE;
}

static void read_all(struct view *v) {
  beoboard_read_all(v->lib, v->all, sizeof *v->all, 0, v->nodes);
  for (int i = 0; i < v->nodes; i++) v->live += v->all[i].state == BEOBOARD_LIVE;
}

static void count_live(struct view *v, const uint8_t *states) {
  for (int i = 0; i < v->nodes; i++) v->live += states[i] == BB_NODE_STATE_LIVE;
}

static void states(struct view *v) {
  struct bb_look look;
  const size_t bytes = bb_board_bytes(&v->board, 0);
  if (bb_board_begin(&v->board, v->copy, bytes, 0, 0, &look) != NULL &&
      bb_overview_states(v->copy, bytes, &look, v->told))
    count_live(v, v->told);
}

static void snapshot(struct view *v) {
  struct bb_look look;
  const size_t nodes = (size_t)v->nodes, room = nodes * bb_overview_bytes(1);
  if (bb_overview_snapshot(&v->board, v->copy, v->copy_bytes, 0, &look))
    count_live(v, bb_overview_at(v->copy + v->copy_bytes - room, nodes).states);
}

static void swept(struct view *v, bool anew) {
  struct bb_relay_board board;
  size_t bytes;
  uint32_t entries;
  enum bb_sweep_state now;
  if (anew) {
    bb_sweep_free(v->sweep);
    v->sweep = bb_sweep_new(&v->board);
  }
  if (!bb_sweep_begin(v->sweep, false, BATCH_BYTES, &board)) return;
  do now = bb_sweep_next(v->sweep, v->copy, BATCH_BYTES, &bytes, &entries);
  while (now == BB_SWEEP_MORE);
  v->live += now == BB_SWEEP_COMPLETE ? v->nodes : 0;
}

static void sweep(struct view *v) { swept(v, true); }
static void quiet(struct view *v) { swept(v, false); }

static const struct {
  const char *name;
  void (*look)(struct view *);
} looks[] = {{"state", state},   {"tally", tally},       {"read", read_each}, {"read_all", read_all},
             {"states", states}, {"snapshot", snapshot}, {"sweep", sweep},    {"quiet", quiet}};

static int look(const char *what, const char *path, size_t times) {
  size_t i = 0;
  while (i < sizeof looks / sizeof *looks && strcmp(looks[i].name, what) != 0) i++;
  if (i == sizeof looks / sizeof *looks) return 2;
  char why[256];
  struct view v = {0};
  if (beoboard_open(&v.lib, path, 0) < 0 || bb_board_open(&v.board, path, (uid_t)-1, why, sizeof why) != BB_READY)
    fail("no board");
  v.nodes = beoboard_count(v.lib);
  v.copy_bytes = bb_board_bytes(&v.board, v.board.header.record_stride + bb_overview_bytes(1));
  v.copy = room(v.copy_bytes < BATCH_BYTES ? BATCH_BYTES : v.copy_bytes, 1);
  v.told = room(bb_overview_bytes((uint64_t)v.nodes), 1);
  v.all = room((size_t)v.nodes, sizeof *v.all);
  sweep(&v);
  looks[i].look(&v);
  v.live = 0;
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_TOGGLE_COLLECT;
  for (size_t time = 0; time < times; time++) looks[i].look(&v);
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_STOP_INSTRUMENTATION;
  if ((size_t)v.live != times * (size_t)v.nodes) fail("not every node was seen live");
  return 0;
}

static int hmac(size_t times) {
  struct bb_hmac key;
  bb_hmac_key(&key, keys[0].secret, sizeof keys[0].secret);
  struct bb_report *report = room(1, sizeof *report);
  uint8_t out[BB_MAC_BYTES];
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_TOGGLE_COLLECT;
  for (size_t i = 0; i < times; i++) bb_mac(&key, report, offsetof(struct bb_report, tag), out);
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_STOP_INSTRUMENTATION;
  return 0;
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that was killed leaves no process behind */
  const size_t number = argc > 3 ? strtoul(argv[3], NULL, 10) : 0, times = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
  if (number == 0) return 2;
  if (strcmp(argv[1], "hold") == 0) return hold(argv[2], number);
  if (strcmp(argv[1], "hmac") == 0) return hmac(number);
  if (argc == 4) return look(argv[1], argv[2], number);
  for (enum how how = NONE; how <= RING; how++)
    if (strcmp(argc > 5 ? argv[5] : hows[NONE], hows[how]) == 0) return receive(argv[1], argv[2], number, times, how);
  return 2;
}

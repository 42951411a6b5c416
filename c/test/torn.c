/* Real processes at one board: a writer at full speed that is killed with SIGKILL again and again, another that takes
 * over each time, and readers that look for anything torn, vanished or gone backward, at any moment.
 *   torn BOARD KILLS SEED SPAN_US     each writer lives for up to SPAN_US; prints a line, exits with 0 when nothing was
 *   wrong */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reports.h"

/* Whole boards; one node after the other; both reports of each node, by the library; and links, rejected senders and
 * events. */
enum { WHOLE, SINGLE, LIBRARY, TABLES, READERS };

static struct shared {
  atomic_bool done;
  atomic_int faulty; /* the first fault is the one that is told */
  char fault[256];
  atomic_uint handed[NODES]; /* the report that a writer set out to lay */
  atomic_uint laid[NODES];   /* the report whose delivery was over */
  atomic_uint guest, refused;
  atomic_ullong reports, looks[READERS];
} *shared;

static void blame(const char *who, const char *fault) {
  int none = 0;
  if (atomic_compare_exchange_strong(&shared->faulty, &none, 1))
    snprintf(shared->fault, sizeof shared->fault, "%s: %s", who, fault);
  atomic_store(&shared->done, true);
}

static void write_reports(const char *path) {
  struct bb_writer *w = open_writer(path, NODES);
  if (w == NULL) {
    blame("writer", "cannot take over");
    return;
  }
  const int64_t instance = (int64_t)bb_writer_header(w)->instance;
  bb_writer_listening_since(w, rounded(bb_clock_ns(CLOCK_MONOTONIC)) | instance);
  for (uint32_t round = 0;; round++) {
    const int64_t began = rounded(bb_clock_ns(CLOCK_MONOTONIC)) | instance;
    for (unsigned node = 0; node < CORE; node++) {
      const uint32_t seq = atomic_fetch_add(&shared->handed[node], 1) + 1;
      if (deliver(w, node, seq, began) != BB_OUTCOME_ACCEPTED) blame("writer", "a report was not accepted");
      atomic_store(&shared->laid[node], seq);
    }
    /* Now and then a name that was not there before. */
    const unsigned guest = CORE + atomic_load(&shared->guest);
    if (round % 64 == 0 && guest < NODES) {
      atomic_store(&shared->handed[guest], 1);
      deliver(w, guest, 1, began); /* a duplicate, when the writer before was killed right after it */
      atomic_store(&shared->laid[guest], 1);
      atomic_fetch_add(&shared->guest, 1);
    }
    /* And a link that is down for a while, and senders whom nobody knows. */
    if (round % 8 == 0)
      bb_links_set_state(bb_writer_links(w), FLAPPING, FLAPPING, round % 16 == 0 ? 0 : BB_LINK_STATE_UP, false, began);
    if (round % 4 == 0) {
      const uint32_t k = atomic_fetch_add(&shared->refused, 1) + 1;
      for (int times = 1; times <= 2; times++)
        if (deliver_refused(w, k, times) != BB_REASON_MAGIC) blame("writer", "a stranger was let in");
    }
    bb_writer_heartbeat(w, began);
    atomic_fetch_add(&shared->reports, CORE);
  }
}

static const char *look_at_each(const struct bb_board *b, uint8_t *copy, struct memory *m) {
  const size_t one = b->header.header_bytes + (size_t)b->header.column_stride + b->header.record_stride;
  for (unsigned node = 0; node < NODES; node++) {
    char name[24];
    struct bb_look look;
    snprintf(name, sizeof name, "n%u", node);
    const int64_t at = bb_board_find(b, name);
    if (at < 0 && m->node[node].seq != 0) return "vanished: not found by its name";
    if (at < 0) continue;
    if (bb_board_snapshot(b, copy, one, (uint64_t)at, &look) != 0 || look.nodes != 1)
      return "vanished: found, but not there";
    const char *fault = judge_look(b, copy, &look, (uint64_t)at, false, m);
    if (fault != NULL) return fault;
    if (!m->node[node].is_here) return "torn: another node than was found";
    atomic_fetch_add(&shared->looks[SINGLE], 1);
  }
  return NULL;
}

static const char *look_by_role(const struct bb_board *b, uint8_t *copy, size_t room, struct memory *m, int role) {
  if (role == SINGLE) return look_at_each(b, copy, m);
  atomic_fetch_add(&shared->looks[role], 1);
  return role == WHOLE ? look_at(b, copy, room, m) : judge_tables(b, m);
}

static void read_board(const char *path, int role) {
  struct bb_board b;
  char why[256];
  size_t room;
  uint8_t *copy = make_room(&room);
  struct memory m = {0};
  while (bb_board_open(&b, path, (uid_t)-1, why, sizeof why) != BB_READY)
    if (atomic_load(&shared->done)) return;
  forget_places(&m, &b);
  while (!atomic_load(&shared->done)) {
    follow_board(&b, path, &m);
    const char *fault = look_by_role(&b, copy, room, &m, role);
    if (fault != NULL) blame(role == WHOLE ? "whole" : role == SINGLE ? "single" : "tables", fault);
    /* Events go by faster than anybody reads them. The writer, of whom there is one for four readers, needs the
     * processor more. */
    const struct timespec nap = {0, 200000};
    if (role == TABLES) nanosleep(&nap, NULL);
  }
}

static void ask(const char *path, int role) {
  beoboard *b;
  struct memory m = {0};
  while (beoboard_open(&b, path, 0) < 0)
    if (atomic_load(&shared->done)) return;
  while (!atomic_load(&shared->done)) {
    if (beoboard_refresh(b) < 0) blame("library", "vanished: the board");
    const char *fault = ask_library(b, &m);
    if (fault != NULL) blame("library", fault);
    atomic_fetch_add(&shared->looks[role], 1);
  }
}

/* What a board must hold right after the writer was killed, before anybody repaired anything. */
static const char *inspect(const struct bb_board *b, uint8_t *copy, size_t room, struct memory *m) {
  const char *fault = look_at(b, copy, room, m);
  if (fault == NULL) fault = judge_tables(b, m);
  if (fault != NULL) return fault;
  const uint8_t *column = copy + b->header.header_bytes;
  const uint8_t *record = column + m->count * b->header.column_stride;
  for (uint64_t i = 0; i < m->count; i++, record += b->header.record_stride, column += b->header.column_stride) {
    /* The word is that of the newest report, or still that of the one before. */
    uint64_t word;
    memcpy(&word, column, sizeof word);
    const struct bb_slot *x = slot_of(b, record, 0), *y = slot_of(b, record, 1);
    if (x->head != 0 && y->head != 0 && BB_COLUMN_STAMP(word) != x->stamp_ns / 1000000 &&
        BB_COLUMN_STAMP(word) != y->stamp_ns / 1000000)
      return "torn: a column of neither report";
  }
  for (unsigned node = 0; node < NODES; node++) {
    const struct seen *seen = &m->node[node];
    char name[24];
    snprintf(name, sizeof name, "n%u", node);
    if (seen->seq < atomic_load(&shared->laid[node])) return "vanished: a report that was laid";
    if (seen->seq > atomic_load(&shared->handed[node])) return "a report that nobody sent";
    if (seen->seq != 0 && bb_board_find(b, name) < 0) return "vanished: a name";
  }
  return NULL;
}

static pid_t start(void (*what)(const char *, int), const char *path, int role) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  what(path, role);
  _exit(0);
}

static void writer(const char *path, int role) {
  (void)role;
  write_reports(path);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const char *path = argv[1];
  const unsigned long kills = strtoul(argv[2], NULL, 10);
  uint64_t random = strtoull(argv[3], NULL, 10) * 2 + 1;
  const uint64_t span_ns = strtoull(argv[4], NULL, 10) * 1000;
  shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  size_t room;
  uint8_t *copy = make_room(&room);
  struct memory m = {0};
  struct bb_board b = {.fd = -1};
  pid_t readers[READERS];
  for (int i = 0; i < READERS; i++) readers[i] = start(i == LIBRARY ? ask : read_board, path, i);

  unsigned long killed = 0, early = 0;
  char why[256];
  for (int i = 0; i < 20; i++) next_random(&random);
  while (killed < kills && !atomic_load(&shared->faulty)) {
    const pid_t pid = start(writer, path, 0);
    const uint64_t life = next_random(&random) % span_ns;
    const struct timespec pause = {0, (long)life};
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    killed++;
    if (!WIFSIGNALED(status) && !atomic_load(&shared->faulty)) blame("writer", "ended by itself");
    /* Killed before there was a board: that, too, must do no harm. */
    if (b.map == NULL && bb_board_open(&b, path, (uid_t)-1, why, sizeof why) != BB_READY) {
      early++;
      continue;
    }
    if (m.count == 0) forget_places(&m, &b);
    follow_board(&b, path, &m);
    const char *fault = inspect(&b, copy, room, &m);
    if (fault != NULL) blame("after the kill", fault);
  }
  atomic_store(&shared->done, true);
  for (int i = 0; i < READERS; i++) {
    int status;
    waitpid(readers[i], &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) blame("reader", "crashed");
  }
  /* In the end a last one takes over, whose every report counts. */
  struct bb_writer *w = open_writer(path, NODES);
  if (w == NULL) return 1;
  for (unsigned node = 0; node < CORE; node++)
    if (deliver(w, node, atomic_load(&shared->handed[node]) + 1, rounded(bb_clock_ns(CLOCK_MONOTONIC))) !=
        BB_OUTCOME_ACCEPTED)
      blame("at the end", "a report was not accepted");
  const uint64_t instance = bb_writer_header(w)->instance;
  bb_writer_close(w);
  if (b.map != NULL) follow_board(&b, path, &m);
  const char *fault = b.map != NULL ? look_at(&b, copy, room, &m) : NULL;
  if (fault == NULL && b.map != NULL) fault = judge_tables(&b, &m);
  if (fault != NULL) blame("at the end", fault);
  const unsigned names = CORE + atomic_load(&shared->guest);
  bb_board_close(&b);
  free(copy);
  printf("%lu kills (%lu before there was a board), %" PRIu64 " takeovers, %llu reports of %u nodes; "
         "%llu snapshots, %llu looks at one node, %llu by the library, %llu at the tables%s%s\n",
         killed, early, instance - 1, atomic_load(&shared->reports), names, atomic_load(&shared->looks[WHOLE]),
         atomic_load(&shared->looks[SINGLE]), atomic_load(&shared->looks[LIBRARY]), atomic_load(&shared->looks[TABLES]),
         atomic_load(&shared->faulty) ? "; " : "", shared->fault);
  return atomic_load(&shared->faulty) ? 1 : 0;
}

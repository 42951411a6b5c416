/* Every state in which a kill can leave a board: a writer is run instruction by instruction through what it does, and
 * after each instruction that changed the board readers look at it, and another receiver takes a copy of it over. The
 * machine code is that of the product, so whatever the compiler made of the order of stores is seen, too. Takeovers can
 * be stepped through in turn.
 *   steps FOLDER NESTED SEED [SCENE]      of the takeovers, one in NESTED is stepped through as well (0: none), and in
 *                                         each scene the first that puts another board into the place; exits with 0
 *                                         when nothing was wrong, with 3 when this machine lets nobody trace a process
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../rules/order.h"
#include "memoryfault.h"
#include "reports.h"

#define CAPACITY 2

static unsigned long states, nested, steps; /* states within deliveries, within takeovers; all instructions */
static uint64_t random_state;
static unsigned long nested_every;
static uint8_t *copy;
static size_t room;
static char live[PATH_MAX], taken[PATH_MAX], retaken[PATH_MAX];
static const char *only; /* the scene that is asked for; NULL: all */
static int64_t now;

/* What each node's sender has sent, and what of it is known to have been laid, while the next is on its way. */
struct sent {
  uint32_t laid[2], begun[2];
};

static void die(const char *what) {
  perror(what);
  exit(2);
}

static void tell(const char *scenario, const char *where, const char *fault) {
  printf("%s, %s, after instruction %lu (state %lu): %s\n", scenario, where, steps, states + nested, fault);
  exit(1);
}

/* What of a board can change here, but for the many entries of rejected senders and of events that nothing is written
 * to: the rest is zero. All of it is looked at after each instruction. */
#define PARTS 4
#define MOST_EVENTS 64
struct part {
  size_t from, bytes;
};

static void find_parts(const struct bb_board *b, struct part parts[PARTS]) {
  const struct bb_board_header *h = &b->header;
  parts[0] = (struct part){0, h->senders_offset};
  parts[1] = (struct part){h->senders_offset + BB_REASON_MAGIC * BB_SENDERS_EACH * sizeof(struct bb_sender),
                           BB_SENDERS_EACH * sizeof(struct bb_sender)};
  parts[2] = (struct part){h->events_offset, MOST_EVENTS * sizeof(struct bb_event)};
  parts[3] = (struct part){h->index_offset, b->bytes - h->index_offset};
}

/* `in_place`: it says that it was written under the lock beside it, as a board of a writer who was killed does; else
 * that it was closed, so that it is taken over by a copy, and nobody watches first whether its writer lives. */
static void store(const char *path, const struct bb_board *b, bool in_place) {
  struct part parts[PARTS];
  char lock[PATH_MAX + 8];
  struct stat st;
  find_parts(b, parts);
  unlink(path);
  snprintf(lock, sizeof lock, "%s.lock", path);
  const int held = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (held < 0 || fstat(held, &st) != 0) die(lock);
  close(held);
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ftruncate(fd, (off_t)b->bytes) != 0) die(path);
  for (int i = 0; i < PARTS; i++)
    if (pwrite(fd, b->map + parts[i].from, parts[i].bytes, (off_t)parts[i].from) != (ssize_t)parts[i].bytes) die(path);
  const uint64_t inode = (uint64_t)st.st_ino, closed = BB_BOARD_STATE_CLOSED;
  const bool said = in_place
                        ? pwrite(fd, &inode, sizeof inode, offsetof(struct bb_board_header, lock_inode)) == sizeof inode
                        : pwrite(fd, &closed, sizeof closed, offsetof(struct bb_board_header, state)) == sizeof closed;
  if (!said) die(path);
  close(fd);
}

static const struct bb_memory *memory_of(const struct bb_board *b, const uint8_t *record) {
  return (const struct bb_memory *)(record + b->header.memory_offset);
}

/* Whatever a kill leaves is marked: where head and tail differ, head is odd. Readers know the newest by that. */
static const char *is_marked(const struct bb_board *b) {
  const uint8_t *record = b->map + b->header.records_offset;
  for (uint64_t i = 0; i < CAPACITY; i++, record += b->header.record_stride) {
    const struct bb_record *r = (const struct bb_record *)record;
    const struct bb_slot *slot[2] = {slot_of(b, record, 0), slot_of(b, record, 1)};
    const struct bb_memory *m = memory_of(b, record);
    if ((r->order_head & 1) == 0 && r->order_head != r->order_tail) return "unmarked: order block";
    if ((m->clone_head & 1) == 0 && m->clone_head != m->clone_tail) return "unmarked: what was concluded";
    const char *fault = memory_fault(m, UINT64_MAX, false);
    if (fault != NULL) return fault;
    for (int k = 0; k < 2; k++)
      if ((slot[k]->head & 1) == 0 && slot[k]->head != slot[k]->tail) return "unmarked: a slot";
  }
  const struct bb_sender *sender = (const struct bb_sender *)(b->map + b->header.senders_offset);
  for (uint64_t i = 0; i < b->header.senders; i++)
    if ((sender[i].head & 1) == 0 && sender[i].head != sender[i].tail) return "unmarked: a sender";
  const struct bb_event *event = (const struct bb_event *)(b->map + b->header.events_offset);
  if (last_event(b) >= MOST_EVENTS) return "more events than are looked at";
  for (uint64_t i = 0; i < MOST_EVENTS; i++)
    if ((event[i].head & 1) == 0 && event[i].head != event[i].tail) return "unmarked: an event";
  return NULL;
}

/* A look at the board as it is: what was laid is there, the newest is whole, nothing went back. */
static const char *inspect(const struct bb_board *b, const struct sent *sent, struct memory *m) {
  const char *fault = look_at(b, copy, room, m);
  if (fault == NULL) fault = judge_tables(b, m);
  if (fault == NULL) fault = is_marked(b);
  if (fault != NULL) return fault;
  for (unsigned node = 0; node < 2; node++) {
    const uint32_t seq = m->node[node].seq;
    if (seq < sent->laid[node]) return "vanished: a report that was laid";
    if (seq > sent->begun[node]) return "a report that nobody sent";
    char name[24];
    snprintf(name, sizeof name, "n%u", node);
    if (sent->laid[node] != 0 && bb_board_find(b, name) < 0) return "vanished: a name";
  }
  return NULL;
}

/* What a takeover must have set right: order block and column agree with the newest report. */
static const char *is_settled(const struct bb_board *b) {
  struct bb_look look;
  if (bb_board_snapshot(b, copy, room, 0, &look) != 0) return "truncated";
  const uint8_t *column = copy + b->header.header_bytes;
  const uint8_t *record = column + look.nodes * b->header.column_stride;
  for (uint64_t i = 0; i < look.nodes; i++, record += b->header.record_stride, column += b->header.column_stride) {
    const struct bb_record *r = (const struct bb_record *)record;
    const struct bb_slot *slot = newest_of(b, record);
    uint64_t word;
    memcpy(&word, column, sizeof word);
    if (slot == NULL) continue;
    if (word != BB_COLUMN(slot->stamp_ns / 1000000, slot->link, slot->report.interval_ms, 0))
      return "the column is not that of the newest report";
    if (r->order_head == 0 || r->history_seq != slot->report.seq)
      return "the order block is not that of the newest report";
    const struct bb_memory *m = memory_of(b, b->map + b->header.records_offset + i * b->header.record_stride);
    if ((m->clone_head & 1) != 0 || m->clone_head != m->clone_tail) return "what was concluded is half-written";
    const char *fault = memory_fault(m, UINT64_MAX, true);
    if (fault != NULL) return fault;
    /* Of each number that has come, if one is remembered; 0 where nothing is. */
    for (int k = 0; k < 2; k++) {
      const struct bb_report *report = &slot_of(b, record, k)->report;
      const uint32_t back = slot->report.seq - report->seq;
      const uint16_t digest = (uint16_t)(m->digests[report->seq % 64 / 4] >> report->seq % 4 * 16);
      if (report->seq != 0 && back < 64 && ((r->history & ~r->history_lost) >> back & 1) != 0 && digest != 0 &&
          digest != bb_order_digest(report))
        return "the digest of a number is another one's";
    }
  }
  return NULL;
}

/* Another receiver takes over a board as it lies at `path`, and two more reports of each node come. */
static const char *succeed(const char *path, const struct sent *sent, struct memory m) {
  char why[256];
  struct bb_board b;
  const char *fault = NULL;
  struct sent then = *sent;
  struct bb_writer *w = open_writer(path, CAPACITY);
  if (w == NULL) return "cannot be taken over";
  if (bb_board_open(&b, path, (uid_t)-1, why, sizeof why) != BB_READY) fault = "cannot be read after the takeover";
  else {
    /* The takeover may have made another board, without a name of which no report had come. */
    forget_places(&m, &b);
    fault = inspect(&b, &then, &m);
    if (fault == NULL) fault = is_settled(&b);
  }
  for (int k = 0; k < 2; k++)
    for (unsigned node = 0; fault == NULL && node < 2; node++) {
      now += 0x10000;
      then.begun[node]++;
      if (deliver(w, node, then.begun[node], now) != BB_OUTCOME_ACCEPTED)
        fault = "a report after the takeover was not accepted";
      then.laid[node] = then.begun[node];
      if (fault == NULL) fault = inspect(&b, &then, &m);
    }
  /* And strangers, on whichever entries and events were left half-written. */
  for (uint32_t k = BB_SENDERS_EACH + 2; fault == NULL && k < 2 * BB_SENDERS_EACH + 4; k++) {
    deliver_refused(w, k, 1);
    fault = judge_tables(&b, &m);
  }
  bb_writer_close(w);
  bb_board_close(&b);
  return fault;
}

static bool has_changed(const struct bb_board *b, const uint8_t *last) {
  struct part parts[PARTS];
  find_parts(b, parts);
  for (int i = 0; i < PARTS; i++)
    if (memcmp(last + parts[i].from, b->map + parts[i].from, parts[i].bytes) != 0) return true;
  return false;
}

/* Runs `child` until it stops itself, then step by step until it does so again; after each step that changed the board
 * calls `at`. */
static void trace(pid_t child, const char *path, void (*at)(const char *path, const struct bb_board *b, void *more),
                  void *more) {
  int status;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) {
    fprintf(stderr, "steps: cannot trace a child\n");
    exit(3);
  }
  struct bb_board b;
  char why[256];
  if (bb_board_open(&b, path, (uid_t)-1, why, sizeof why) != BB_READY) {
    fprintf(stderr, "steps: %s\n", why);
    exit(2);
  }
  uint8_t *last = (uint8_t *)malloc(b.bytes);
  memcpy(last, b.map, b.bytes);
  for (;;) {
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
      perror("steps: cannot step");
      exit(3);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) die("steps: the writer ended");
    if (WSTOPSIG(status) == SIGSTOP) break;
    if (WSTOPSIG(status) != SIGTRAP) {
      fprintf(stderr, "steps: the writer got signal %d\n", WSTOPSIG(status));
      exit(2);
    }
    steps++;
    /* A takeover may put another board into its place. */
    const bool is_replaced = !bb_board_is_at(&b, path);
    if (is_replaced) {
      bb_board_close(&b);
      if (bb_board_open(&b, path, (uid_t)-1, why, sizeof why) != BB_READY) tell("a takeover", "another board", why);
      last = (uint8_t *)realloc(last, b.bytes);
    }
    if (!is_replaced && !has_changed(&b, last)) continue;
    memcpy(last, b.map, b.bytes);
    at(path, &b, more);
  }
  free(last);
  bb_board_close(&b);
  /* By what this is all about. */
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

struct scene {
  const char *name;
  const struct sent *sent;
  struct memory memory;
  ino_t inode;
  bool was_replaced; /* in a takeover of a board that was left in its place */
};

/* Looks at the board in the state that it is in now. */
static const char *look_on(struct scene *scene, const struct bb_board *b) {
  if (scene->inode != b->inode) forget_places(&scene->memory, b);
  scene->inode = b->inode;
  return inspect(b, scene->sent, &scene->memory);
}

/* A state within a takeover. */
static void in_takeover(const char *path, const struct bb_board *b, void *more) {
  struct scene *scene = (struct scene *)more;
  (void)path;
  nested++;
  const char *fault = look_on(scene, b);
  if (fault != NULL) tell(scene->name, "killed in a takeover", fault);
  store(retaken, b, true);
  fault = succeed(retaken, scene->sent, scene->memory);
  if (fault != NULL) tell(scene->name, "after a second takeover", fault);
}

static ino_t inode_at(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) die(path);
  return st.st_ino;
}

/* A state within the delivery of a report. */
static void in_delivery(const char *path, const struct bb_board *b, void *more) {
  struct scene *scene = (struct scene *)more;
  (void)path;
  states++;
  const char *fault = look_on(scene, b);
  if (fault != NULL) tell(scene->name, "killed", fault);
  const bool in_place = states % 4 != 0;
  store(taken, b, in_place);
  const ino_t stored = inode_at(taken);
  fault = succeed(taken, scene->sent, scene->memory);
  if (fault != NULL) tell(scene->name, "after the takeover", fault);
  const bool is_first = in_place && !scene->was_replaced && inode_at(taken) != stored;
  if (is_first) scene->was_replaced = true;
  else if (nested_every == 0 || next_random(&random_state) % nested_every != 0) return;
  store(taken, b, true);
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    open_writer(taken, CAPACITY);
    raise(SIGSTOP);
    _exit(0);
  }
  struct scene inner = *scene;
  trace(child, taken, in_takeover, &inner);
}

/* What is done step by step. */
enum act { REPORT, DUPLICATE, REFUSAL, REFUSED_AGAIN, LINK_DOWN };

/* Lays `before` reports of each node, then does something with `node`: one more of it, say. */
static void play(const char *name, int before, unsigned node, enum act act) {
  struct sent sent = {{0}, {0}};
  char why[256];
  if (only != NULL && strcmp(name, only) != 0) return;
  unlink(live);
  now = rounded(bb_clock_ns(CLOCK_MONOTONIC));
  struct bb_writer *w = open_writer(live, CAPACITY);
  if (w == NULL) exit(2);
  for (int i = 1; i <= before; i++)
    for (unsigned k = 0; k < 2; k++) {
      if (before == 1 && k != 0 && node == 1) continue; /* a name that is not there yet, beside one that is */
      deliver(w, k, (uint32_t)i, now);
      sent.laid[k] = sent.begun[k] = (uint32_t)i;
    }
  if (act == REPORT) sent.begun[node]++;
  for (uint32_t k = 1; act == REFUSED_AGAIN && k <= BB_SENDERS_EACH; k++) deliver_refused(w, k, 1);
  const uint32_t seq = sent.begun[node];
  const int64_t laid = now;
  now += 0x10000;
  const int64_t stamp = now;
  struct scene scene = {.name = name, .sent = &sent};
  struct bb_board b;
  if (bb_board_open(&b, live, (uid_t)-1, why, sizeof why) != BB_READY) exit(2);
  const char *fault = inspect(&b, &sent, &scene.memory);
  if (fault != NULL) tell(name, "before", fault);
  const pid_t child = fork(); /* shares the mapping and the lock, and so is the writer */
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    switch (act) {
      case REPORT: deliver(w, node, seq, stamp); break;
      case DUPLICATE: deliver(w, node, seq, laid); break;
      case REFUSAL: deliver_refused(w, 1, 1); break;
      /* The first time over an entry that was long unheard, the second time over its own. */
      case REFUSED_AGAIN:
        for (int times = 1; times <= 2; times++) deliver_refused(w, BB_SENDERS_EACH + 1, times);
        break;
      case LINK_DOWN: bb_links_set_state(bb_writer_links(w), FLAPPING, FLAPPING, 0, false, stamp); break;
    }
    raise(SIGSTOP);
    _exit(0);
  }
  trace(child, live, in_delivery, &scene);
  sent.laid[node] = sent.begun[node];
  fault = inspect(&b, &sent, &scene.memory);
  if (fault != NULL) tell(name, "at the end", fault);
  bb_board_close(&b);
  bb_writer_close(w);
}

int main(int argc, char **argv) {
  if (argc != 4 && argc != 5) return 2;
  only = argv[4];
  /* A copy by `rep movsb` is a step for each byte. */
  if (getenv("GLIBC_TUNABLES") == NULL) {
    setenv("GLIBC_TUNABLES",
           "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000", 1);
    execv("/proc/self/exe", argv);
    die("steps: cannot begin anew");
  }
  snprintf(live, sizeof live, "%s/live", argv[1]);
  snprintf(taken, sizeof taken, "%s/taken", argv[1]);
  snprintf(retaken, sizeof retaken, "%s/retaken", argv[1]);
  nested_every = strtoul(argv[2], NULL, 10);
  random_state = strtoull(argv[3], NULL, 10) * 2 + 1;
  for (int i = 0; i < 20; i++) next_random(&random_state);
  copy = make_room(&room);
  play("the first name", 0, 0, REPORT);
  play("another name", 1, 1, REPORT);
  play("the second report", 1, 0, REPORT);
  play("the third report, over the first", 2, 0, REPORT);
  play("the fourth report, over the second", 3, 1, REPORT);
  play("a report whose digest takes the place of another", 66, 0, REPORT);
  play("a duplicate", 3, 0, DUPLICATE);
  play("a stranger", 2, 0, REFUSAL);
  play("one stranger after others", 2, 0, REFUSED_AGAIN);
  play("a link that goes down", 2, 0, LINK_DOWN);
  if (states == 0) {
    fprintf(stderr, "steps: there is no scene %s\n", only);
    return 2;
  }
  printf("%lu instructions; killed and taken over in %lu states, and in %lu within a takeover\n", steps, states,
         nested);
  free(copy);
  return 0;
}

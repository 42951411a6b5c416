/* The library under fire: a writer lays reports at full speed and puts new boards into the old one's place, while
 * threads, or the main thread and a signal handler in the midst of it, make every read call and look for anything torn,
 * gone backward or not promised. Or the writer alone, for readers in other languages.
 *   threads BOARD ROUNDS threads|signals|alone     prints a line, exits with 0 when nothing was wrong; soon, if much
 *   was */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "made.h"

#define NODES 4
#define READERS 2

static atomic_bool done;
static atomic_int faults;
static atomic_ullong looks, handled;
static const char *path;

static void blame(const char *what) {
  /* Also from a handler: no printf. */
  if (atomic_fetch_add(&faults, 1) < 5) {
    char line[160] = "fault: ";
    strncat(line, what, 140);
    strcat(line, "\n");
    if (write(2, line, strlen(line)) < 0) return;
  }
}
#define CLAIM(is) \
  do {            \
    if (!(is)) blame(#is); \
  } while (0)

struct memory {
  uint64_t number[NODES];
  uint64_t accepted[2], strays, next_event;
  int64_t refused_ns;
  struct beoboard_sender senders[16];
  struct beoboard_event events[64];
};

static void judge_report(const struct beoboard_slot *slot, const char *name) {
  struct bb_report made;
  make_report(&made, name, slot->report.seq);
  if (memcmp(&made, &slot->report, sizeof made) != 0) blame("torn: a report of two");
  CLAIM(slot->stamp_wall_ns == (int64_t)slot->report.seq);
}

static void judge_rates(const struct beoboard_rates *r) {
  /* A word grows by 65,536 from one report to the next, and these are a second apart. */
  CLAIM(r->seconds >= 1 && r->seconds == floor(r->seconds));
  CLAIM(r->cpu_user_ms == 65536 && r->ctxt == 0 && r->disk_weighted_ms == 65536);
  CLAIM(r->cpu_user_pct == 12.5 && r->cpu_steal_pct == 12.5);
  CLAIM(r->energy_dram_mj == 65536);
  for (int i = 0; i < 3; i++) CLAIM(r->net[i].name[0] == 'e' && r->net[i].rx_bytes == 65536 && r->net[i].errors == 1);
  CLAIM(isnan(r->net_rest.rx_bytes) && isnan(r->fabric.rx_bytes));
}

static void look_at_links(const beoboard *b, struct memory *m) {
  struct beoboard_link links[BEOBOARD_LINKS_MAX];
  CLAIM(beoboard_links(b, links, sizeof links[0], BEOBOARD_LINKS_MAX) == 3);
  CLAIM(strcmp(links[0].name, "eth0") == 0 && strcmp(links[1].name, "eth1") == 0 &&
        strcmp(links[2].name, "all others") == 0);
  CLAIM(links[0].number == 1 && links[1].number == 2 && links[2].number == BEOBOARD_LINK_OTHERS);
  for (int i = 0; i < 2; i++) {
    CLAIM((links[i].flags & ~BEOBOARD_LINK_F_STALE) == BEOBOARD_LINK_F_UP);
    CLAIM(links[i].heartbeat_age_ns >= 0 && links[i].changed_age_ns >= 0 && links[i].dark_age_ns == -1);
    CLAIM(links[i].accepted >= m->accepted[i]); /* never back in time */
    m->accepted[i] = links[i].accepted;
  }
}

static void look_at_senders(const beoboard *b, struct memory *m) {
  const int n = beoboard_senders(b, m->senders, sizeof m->senders[0], 16);
  CLAIM(n >= 0 && n <= 2); /* one that is being written is left out */
  for (int i = 0; i < n; i++) {
    const struct beoboard_sender *s = &m->senders[i];
    CLAIM(s->last_age_ns >= 0 && s->first_age_ns >= s->last_age_ns);
    if (s->reason == BEOBOARD_REASON_RIVAL) {
      CLAIM(strcmp(s->name, "node0") == 0);
      continue;
    }
    CLAIM(s->reason == BEOBOARD_REASON_CLUSTER && strcmp(s->name, "stray") == 0);
    if (s->last_wall_ns != (int64_t)s->count) blame("torn: a sender of two datagrams");
    CLAIM(s->count >= m->strays);
    m->strays = s->count;
  }
}

static void look_at_events(const beoboard *b, struct memory *m) {
  const uint64_t before = m->next_event;
  const int n = beoboard_events(b, &m->next_event, m->events, sizeof m->events[0], 64);
  CLAIM(n >= 0 && n <= 64 && m->next_event >= before + (uint64_t)n);
  for (int i = 0; i < n; i++) {
    const struct beoboard_event *e = &m->events[i];
    CLAIM(e->number < m->next_event && e->number >= (i == 0 ? before : e[-1].number + 1) && e->age_ns >= 0);
    if (e->kind == BEOBOARD_EVENT_KIND_GOODBYE) {
      if (e->subject != (int)(NODES + e->wall_ns % 3)) blame("torn: an event of two");
    } else if (e->kind == BEOBOARD_EVENT_KIND_REFUSAL) {
      CLAIM(e->detail == BEOBOARD_REASON_RIVAL
                ? e->subject == 0
                : e->subject == BEOBOARD_NO_SUBJECT && e->detail == BEOBOARD_REASON_CLUSTER);
    } else CLAIM(e->kind == BEOBOARD_EVENT_KIND_FORGET && e->subject == BEOBOARD_NO_SUBJECT && e->detail == 1);
  }
}

static void look_at_refusal(const beoboard *b, struct memory *m) {
  struct beoboard_refusal refusal;
  const int result = beoboard_last_refusal(b, beoboard_index(b, "node0"), &refusal, sizeof refusal);
  if (result == -EAGAIN) return; /* it is being written again and again */
  CLAIM(result == 0 && refusal.reason == BEOBOARD_REASON_RIVAL && refusal.age_ns >= 0);
  if (refusal.skew_us * 500 != refusal.wall_ns) blame("torn: a refusal of two");
  CLAIM(refusal.wall_ns >= m->refused_ns);
  m->refused_ns = refusal.wall_ns;
  const int none = beoboard_last_refusal(b, beoboard_index(b, "node1"), &refusal, sizeof refusal);
  CLAIM(none == -ENODATA || none == -EAGAIN);
}

/* Every read call once. */
static void look_at_all(const beoboard *b, struct memory *m) {
  static const char *const names[NODES] = {"node0", "node1", "node2", "node3"};
  errno = 4242;
  struct beoboard_receiver receiver;
  CLAIM(beoboard_receiver(b, &receiver, sizeof receiver) == 0);
  CLAIM(receiver.nodes >= NODES && receiver.capacity >= NODES);
  const int count = beoboard_count(b);
  CLAIM(count >= NODES);
  int counts[BEOBOARD_NSTATES];
  CLAIM(beoboard_tally(b, counts) >= count);
  int8_t states[NODES];
  const int others = beoboard_check(b, names, NODES, states);
  CLAIM(others == 0 || others == -ESTALE);
  for (int i = 0; i < NODES; i++) {
    const int index = beoboard_index(b, names[i]);
    CLAIM(index >= 0 && index < count);
    if (index < 0) continue;
    char name[BEOBOARD_NAME_MAX];
    CLAIM(beoboard_name(b, index, name, sizeof name) == 5 && strcmp(name, names[i]) == 0);
    const int state = beoboard_state(b, index);
    CLAIM(state == BEOBOARD_LIVE || state == -ESTALE);
    const int64_t age = beoboard_age(b, index);
    CLAIM((age >= 0 && age < 4500000000) || age == -ESTALE);
    struct beoboard_node node;
    int result = beoboard_read(b, index, &node, sizeof node);
    if (result != -EAGAIN) {
      CLAIM(result == 0 && strcmp(node.name, names[i]) == 0);
      CLAIM(node.state == BEOBOARD_LIVE || node.state == BEOBOARD_UNKNOWN);
      CLAIM(node.mem_total_kib == node.mem_avail_kib &&
            node.mem_total_kib == 1024 * (uint64_t)node.last_report_wall_ns);
      CLAIM(node.load1 == (float)((double)node.last_report_wall_ns / 100));
      CLAIM(node.link == (node.last_report_wall_ns % 2 == 1 ? 1 : 2));
    }
    struct beoboard_slot newest, before;
    result = beoboard_reports(b, index, &newest, &before, sizeof newest);
    if (result != -EAGAIN) {
      CLAIM(result >= 1 && result <= 2);
      judge_report(&newest, names[i]);
      CLAIM(newest.number >= m->number[i]); /* never back in time */
      if (newest.number > m->number[i]) m->number[i] = newest.number;
    }
    if (result == 2) {
      judge_report(&before, names[i]);
      CLAIM(before.number < newest.number && before.report.seq < newest.report.seq);
    }
    struct beoboard_rates rates;
    result = beoboard_rates(b, index, &rates, sizeof rates);
    CLAIM(result == 0 || result == -ENODATA || result == -EAGAIN);
    if (result == 0) judge_rates(&rates);
  }
  struct beoboard_node all[NODES];
  CLAIM(beoboard_read_all(b, all, sizeof all[0], 0, NODES) == NODES);
  CLAIM(beoboard_index(b, "nobody") == -ENOENT);
  CLAIM(beoboard_state(b, beoboard_index(b, "nobody")) == -ENOENT);
  look_at_links(b, m);
  look_at_senders(b, m);
  look_at_events(b, m);
  look_at_refusal(b, m);
  CLAIM(errno == 4242);
  atomic_fetch_add(&looks, 1);
}

/* One handle for all threads of a board that stays. */
static beoboard *shared;

static void *read_all_the_time(void *unused) {
  (void)unused;
  struct memory m = {0};
  while (!atomic_load(&done)) look_at_all(shared, &m);
  return NULL;
}

/* A handle of its own, which follows from board to board: of reports, too, none is newer on the old one. */
static void *follow(void *unused) {
  (void)unused;
  beoboard *b;
  struct memory m = {0};
  if (beoboard_open(&b, path, 0) != 0) {
    blame("cannot open");
    return NULL;
  }
  while (!atomic_load(&done)) {
    errno = 4242;
    const int result = beoboard_refresh(b);
    CLAIM(result == 0 || result == 1);
    CLAIM(errno == 4242);
    look_at_all(b, &m);
  }
  beoboard_close(b);
  return NULL;
}

static int64_t strays;

static void *write_all_the_time(void *argument) {
  struct bb_writer *w = (struct bb_writer *)argument;
  for (uint32_t seq = 3; !atomic_load(&done); seq++) {
    char name[16];
    for (int i = 0; i < NODES; i++) {
      snprintf(name, sizeof name, "node%d", i);
      deliver(w, name, seq);
    }
    deliver_news(w, seq, &strays);
    bb_writer_heartbeat(w, clock_ns(CLOCK_MONOTONIC));
  }
  return NULL;
}

static struct memory of_handler;
static void handle(int signal) {
  (void)signal;
  const int error = errno;
  look_at_all(shared, &of_handler);
  atomic_fetch_add(&handled, 1);
  errno = error;
}

/* Main thread and handler at 1 kHz of its own time, until the handler has run as often as asked. */
static void with_signals(uint64_t rounds) {
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGUSR1, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
    blame("no timer");
    return;
  }
  const struct itimerspec khz = {{0, 1000000}, {0, 1000000}};
  timer_settime(timer, 0, &khz, NULL);
  struct memory m = {0};
  while (atomic_load(&handled) < rounds) look_at_all(shared, &m);
  timer_delete(timer);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  path = argv[1];
  const uint64_t rounds = strtoull(argv[2], NULL, 10);
  struct bb_writer *w = make_board(path, 16);
  if (w == NULL) return 1;
  for (uint32_t seq = 1; seq <= 2; seq++)
    for (int i = 0; i < NODES; i++) {
      char name[16];
      snprintf(name, sizeof name, "node%d", i);
      CLAIM(deliver(w, name, seq) == BB_OUTCOME_ACCEPTED);
    }
  /* Theirs are the numbers from NODES on, in this order. */
  for (uint32_t seq = 0; seq < 3; seq++) deliver_news(w, seq, &strays);
  bb_writer_heartbeat(w, clock_ns(CLOCK_MONOTONIC));
  if (beoboard_open(&shared, path, 0) != 0) blame("cannot open");
  else if (strcmp(argv[3], "signals") == 0) {
    pthread_t writer;
    pthread_create(&writer, NULL, write_all_the_time, w);
    with_signals(rounds);
    atomic_store(&done, true);
    pthread_join(writer, NULL);
  } else {
    pthread_t threads[READERS + 1];
    const int readers = strcmp(argv[3], "alone") == 0 ? 0 : READERS + 1;
    for (int i = 0; i < readers; i++) pthread_create(&threads[i], NULL, i < READERS ? read_all_the_time : follow, NULL);
    char name[16], why[256];
    for (uint32_t seq = 3; seq < 3 + rounds && atomic_load(&faults) < 5; seq++) {
      for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "node%d", i);
        CLAIM(deliver(w, name, seq) == BB_OUTCOME_ACCEPTED);
      }
      deliver_news(w, seq, &strays);
      bb_writer_heartbeat(w, clock_ns(CLOCK_MONOTONIC));
      /* A guest comes and goes: whose going is a new board. Those who stay with the old one see it stalled or
       * retired. */
      if (seq % 500 == 499) {
        bool found;
        const char *const guest = "guest";
        deliver(w, guest, seq);
        CLAIM(bb_writer_forget(w, &guest, 1, &found, why, sizeof why) && found);
      }
    }
    atomic_store(&done, true);
    for (int i = 0; i < readers; i++) pthread_join(threads[i], NULL);
  }
  beoboard_close(shared);
  bb_writer_close(w);
  printf("%llu looks, %llu in a handler, %d faults\n", (unsigned long long)atomic_load(&looks),
         (unsigned long long)atomic_load(&handled), atomic_load(&faults));
  return atomic_load(&faults) == 0 ? 0 : 1;
}

/* Asks libbeoboard for the state of every node of a board again and again, as a scheduler does, and prints what
 * changes. For tests.
 *   watcher BOARD EVERY_MS MISSING      until SIGTERM
 * Times are CLOCK_MONOTONIC in ns. A look at all nodes has a beginning and an end; what it says of a node is true of a
 * moment between.
 *
 *   state NAME FROM TO BEFORE BEGAN ENDED HEARTBEAT_THEN HEARTBEAT SINCE SEQ STAMP SENT
 *       BEFORE and HEARTBEAT_THEN are of the last look that said FROM: its beginning by the coarse clock, which is what
 *       the library goes by, and the heartbeat as it stood at that or earlier; BEGAN (likewise), SINCE, ENDED and
 *       HEARTBEAT of the look that says TO: since when the receiver listened as it stood at its beginning, and the
 *       heartbeat as it stood at its end. Heartbeats and SINCE are those of the link by which the newest report came.
 *       SEQ, STAMP and SENT are of the newest report, SENT by the node's own clock, which has to be this machine's
 *       CLOCK_BOOTTIME.
 *   gap NAME LOST SEQ
 *       LOST reports, at least MISSING, are missing after number SEQ, before the next one of that run that was laid
 *       down.
 *   end LOOKS LONGEST REPORTS UNSEEN SENT
 *       the longest time from the beginning of one look to that of the next; reports seen, and not seen for want of
 *       looks; when the last of all was sent. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/internal.h"

#define SECOND INT64_C(1000000000)

static volatile sig_atomic_t ended;

static void end(int signal) {
  (void)signal;
  ended = 1;
}

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* What is known of a node. */
struct known {
  uint64_t word; /* of the column, from which its report was looked up */
  int64_t stamp, sent;
  uint64_t number, start;
  uint32_t seq;
  int state;
};

static int64_t from_boot; /* from CLOCK_BOOTTIME to CLOCK_MONOTONIC */
static int64_t last_sent;
static uint64_t reports, unseen;
static uint32_t least_missing;

/* Counts one report; tells what is missing before it. */
static void count_report(const beoboard *b, int i, struct known *k, const struct beoboard_slot *s) {
  const int64_t sent = (int64_t)s->report.t_boot_ns + from_boot;
  const uint32_t lost = s->report.seq - k->seq - 1;
  char name[BEOBOARD_NAME_MAX];
  if (k->number > 0 && s->report.start_boot_ns == k->start && lost >= least_missing &&
      beoboard_name(b, i, name, sizeof name) > 0)
    printf("gap %s %" PRIu32 " %" PRIu32 "\n", name, lost, k->seq);
  if (k->number > 0) unseen += s->number - k->number - 1;
  reports++;
  if (sent > last_sent) last_sent = sent;
  *k = (struct known){k->word, s->stamp_ns, sent, s->number, s->report.start_boot_ns, s->report.seq, k->state};
}

#define MOST_TRIES 1000

static bool is_of(const struct beoboard_slot *s, uint64_t word) {
  return (uint64_t)s->stamp_ns / NS_PER_MS == BB_COLUMN_STAMP(word);
}

/* The state of a node, and in `k` the very report by which it was judged. */
static int look_at(const beoboard *b, int i, struct known *k) {
  for (int tries = 0;; tries++) {
    const uint64_t word = bb_load_acquire(column_of(&b->board, (uint64_t)i));
    if (word != k->word) {
      static struct beoboard_slot newest, before;
      const int n = beoboard_reports(b, i, &newest, &before, sizeof newest);
      /* Slots are written before the word, and of a receiver that was killed between the two they stay ahead of it. */
      const bool is_behind = n == 2 && !is_of(&newest, word) && is_of(&before, word);
      if ((n <= 0 || (!is_behind && !is_of(&newest, word))) && tries < MOST_TRIES) continue;
      if (n == 2 && before.number > k->number) count_report(b, i, k, &before);
      if (n > 0 && !is_behind && newest.number > k->number) count_report(b, i, k, &newest);
      k->word = word;
    }
    const int state = beoboard_state(b, i);
    if (state < 0 && state != -ESTALE) exit(3);
    if (bb_load_acquire(column_of(&b->board, (uint64_t)i)) == word) return state < 0 ? BEOBOARD_UNKNOWN : state;
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int64_t every = atoi(argv[2]) * (int64_t)NS_PER_MS;
  least_missing = (uint32_t)atoi(argv[3]);
  beoboard *b;
  const int error = beoboard_open(&b, argv[1], 0);
  if (error < 0) {
    fprintf(stderr, "watcher: %s: %s\n", argv[1], beoboard_strerror(error));
    return 1;
  }
  const uint32_t capacity = b->board.header.capacity;
  struct known *nodes = (struct known *)calloc(capacity, sizeof *nodes);
  int *states = (int *)calloc(capacity, sizeof *states);
  if (nodes == NULL || states == NULL) return 1;
  const struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  from_boot = clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_BOOTTIME);
  puts("begun");
  fflush(stdout);
  uint64_t looks = 0;
  int64_t before = 0, look_before = 0, longest = 0;
  struct bb_link_evidence then[BB_LINKS] = {0}, by[BB_LINKS], after[BB_LINKS];
  /* The last look is whole, so that it shows what there was at the end. */
  for (bool last = false; !last; looks++) {
    last = ended != 0;
    const int64_t look = clock_ns(CLOCK_MONOTONIC), began = clock_ns(CLOCK_MONOTONIC_COARSE);
    if (look_before != 0 && look - look_before > longest) longest = look - look_before;
    load_links(&b->board, by);
    const int count = beoboard_count(b);
    for (int i = 0; i < count; i++) states[i] = look_at(b, i, &nodes[i]);
    const int64_t done = clock_ns(CLOCK_MONOTONIC);
    load_links(&b->board, after);
    for (int i = 0; i < count; i++) {
      struct known *k = &nodes[i];
      if (states[i] == k->state) continue;
      char name[BEOBOARD_NAME_MAX];
      const unsigned link = link_of(k->word);
      if (beoboard_name(b, i, name, sizeof name) < 0) return 3;
      printf("state %s %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
             " %" PRId64 " %" PRId64 "\n",
             name, beoboard_state_name(k->state), beoboard_state_name(states[i]), before, began, done,
             then[link].heartbeat_ns, after[link].heartbeat_ns, by[link].listening_since_ns, k->seq, k->stamp, k->sent);
      k->state = states[i];
    }
    before = began;
    look_before = look;
    memcpy(then, by, sizeof then);
    const int64_t now = clock_ns(CLOCK_MONOTONIC), rest = every - now % every;
    const struct timespec pause = {rest / SECOND, rest % SECOND};
    if (!last) nanosleep(&pause, NULL);
  }
  printf("end %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n", looks, longest, reports, unseen,
         last_sent);
  beoboard_close(b);
  free(nodes);
  free(states);
  return fflush(stdout) == 0 ? 0 : 1;
}

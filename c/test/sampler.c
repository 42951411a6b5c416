/* Looks at a board a thousand times a second, and prints what it saw and how it judges every node: a reader of its own,
 * written after proto/board-v2.md and sharing nothing with the other readers but the layout. For tests.
 *   sampler BOARD      until SIGTERM
 * First a line `base NS`; then one line a look, with all times less that base (CLOCK_MONOTONIC, ns):
 *   NOW HEARTBEAT LISTENING_SINCE { NAME STAMP INTERVAL_MS GOODBYE SEQ HEAD LINK_HEARTBEAT LINK_SINCE BY_SLOT BY_COLUMN
 *   } END
 * NOW is when the look began, END when it was over. LINK_… are what is known of the link by which the newest report
 * came. BY_SLOT and BY_COLUMN are the states by the newest report and by the liveness column. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "../board/reader.h"
#include "../board/seqlock.h"

#include "../format/layout.gen.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static volatile sig_atomic_t ended;

static void end(int signal) {
  (void)signal;
  ended = 1;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

#define LINKS 32

/* What the header says at one look. */
struct look {
  int64_t now, heartbeat, since, uncertain_after, silent_after;
  uint64_t state;
  struct {
    int64_t heartbeat, since;
  } links[LINKS]; /* by number; of 0, and of one that is not there, nothing is known */
};

struct last {
  bool heard, goodbye;
  int64_t stamp;
  uint32_t interval_ms, seq;
  uint64_t head, link;
};

/* The rows of the table under "Liveness", from the top. */
static const char *judge(const struct look *l, const struct last *n) {
  if ((l->state & BB_BOARD_STATE_RETIRED) || l->now - l->heartbeat > 3 * SECOND || l->heartbeat - l->now > SECOND)
    return "unknown";
  if (!n->heard) return "never";
  if (n->goodbye) return "left";
  /* Limits are for intervals up to a second, and grow with longer ones. */
  const int64_t scale_ms = n->interval_ms > 1000 ? n->interval_ms : 1000;
  const int64_t age = l->now > n->stamp ? l->now - n->stamp : 0;
  if (n->stamp - l->now <= SECOND && age <= l->uncertain_after / 1000 * scale_ms) return "live";
  const int64_t since = l->links[n->link].since, from = n->stamp > since ? n->stamp : since;
  if (l->links[n->link].heartbeat - from > l->silent_after / 1000 * scale_ms) return "silent";
  return "uncertain";
}

/* The newest report of a record. While one slot is being written the other is the newest, if it is copied after that
 * was seen. */
static struct last newest_of(const struct bb_board_header *h, const uint8_t *record) {
  static struct bb_slot slots[2];
  const uint8_t *at = record + h->slots_offset;
  const size_t tail = offsetof(struct bb_slot, tail);
  bool empty = false;
  uint64_t heads[2] = {0, 0};
  for (int i = 0; i < BB_SLOT_ATTEMPTS; i++) {
    heads[i & 1] =
        bb_read_block(&slots[i & 1], at + (size_t)(i & 1) * h->slot_stride, sizeof slots[0], tail, 1, &empty);
    if (i > 0 && (heads[i & 1] != 0 || empty)) break;
  }
  const struct bb_slot *s = &slots[heads[1] > heads[0]];
  if (heads[0] == 0 && heads[1] == 0) return (struct last){0};
  return (struct last){.heard = true,
                       .goodbye = (s->report.flags & BB_FLAGS_GOODBYE) != 0,
                       .stamp = (int64_t)s->stamp_ns,
                       .interval_ms = s->report.interval_ms,
                       .seq = s->report.seq,
                       .head = s->head,
                       .link = s->link % LINKS};
}

static struct last from_word(uint64_t word) {
  return (struct last){.heard = word != 0,
                       .goodbye = BB_COLUMN_GOODBYE(word) != 0,
                       .stamp = (int64_t)BB_COLUMN_STAMP(word) * MS,
                       .interval_ms = (uint32_t)BB_COLUMN_INTERVAL(word),
                       .link = BB_COLUMN_LINK(word)};
}

#define MOST_NODES 64

static void sample(const uint8_t *map, int64_t base) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  uint64_t words[MOST_NODES];
  struct look l;
  /* Something far ahead of now: we may have been preempted between the clock and the loads. */
  for (int tries = 2; tries > 0; tries--) {
    l.now = now_ns();
    l.heartbeat = (int64_t)bb_load_acquire(&h->heartbeat_ns);
    l.since = (int64_t)bb_load(&h->listening_since_ns);
    l.links[0].heartbeat = l.links[0].since = 0;
    for (int i = 1; i < LINKS; i++) {
      l.links[i].heartbeat = (int64_t)bb_load_acquire(&h->evidence[i].heartbeat_ns);
      l.links[i].since = (int64_t)bb_load(&h->evidence[i].listening_since_ns);
    }
    if (l.heartbeat - l.now <= SECOND) break;
  }
  l.state = bb_load(&h->state);
  l.uncertain_after = (int64_t)bb_load(&h->uncertain_after_ns);
  l.silent_after = (int64_t)bb_load(&h->silent_after_ns);
  uint64_t count = bb_load_acquire(&h->count);
  if (count > MOST_NODES) count = MOST_NODES;
  for (uint64_t i = 0; i < count; i++)
    words[i] = bb_load_acquire((const uint64_t *)(map + h->column_offset + i * h->column_stride));
  printf("%" PRId64 " %" PRId64 " %" PRId64, l.now - base, l.heartbeat - base, l.since - base);
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *record = map + h->records_offset + i * h->record_stride;
    const struct last slot = newest_of(h, record), word = from_word(words[i]);
    printf(" %.64s %" PRId64 " %u %d %u %" PRIu64 " %" PRId64 " %" PRId64 " %s %s", (const char *)record,
           slot.stamp - base, slot.interval_ms, slot.goodbye, slot.seq, slot.head, l.links[slot.link].heartbeat - base,
           l.links[slot.link].since - base, judge(&l, &slot), judge(&l, &word));
  }
  /* When it was over: on a busy machine it may have lasted for longer than a node's interval. */
  printf(" %" PRId64 "\n", now_ns() - base);
}

int main(int argc, char **argv) {
  const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) return 2;
  const uint8_t *map = (const uint8_t *)mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 2;
  const struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  const int64_t base = now_ns();
  printf("base %" PRId64 "\n", base);
  fflush(stdout);
  while (!ended) {
    sample(map, base);
    const struct timespec pause = {0, MS - now_ns() % MS};
    nanosleep(&pause, NULL);
  }
  return fflush(stdout) == 0 ? 0 : 1;
}

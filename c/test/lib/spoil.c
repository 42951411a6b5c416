/* Random and spoiled boards: opens them, makes every call, and looks only for what was promised of any file: no crash,
 * no hang, nothing written beyond an output, no result that the header does not tell of.
 *   spoil BOARD ROUNDS SEED     BOARD is made with the project's writer, then spoiled over and over; prints a line */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../board/reader.h"
#include "made.h"

#define NODES 5
#define CAPACITY 8
#define EVENTS 5

static uint64_t seed;
static uint64_t any(void) { return next_random(&seed); }
static uint64_t below(uint64_t n) { return any() % n; }
static int faults;

static void blame(const char *what, int64_t got) {
  if (faults++ < 5) fprintf(stderr, "fault: %s: %" PRId64 "\n", what, got);
}

static int is_one_of(int64_t result, const int *errors) {
  for (; *errors != 0; errors++)
    if (result == -*errors) return 1;
  return result >= 0;
}
#define ALLOWED(result, ...)                              \
  do {                                                    \
    const int64_t got = (result);                         \
    if (!is_one_of(got, (const int[]){__VA_ARGS__, 0})) blame(#result, got); \
  } while (0)

/* Outputs on the heap: a write beyond them is found by the address sanitizer. */
static void call_all(const beoboard *b) {
  struct beoboard_receiver *r = (struct beoboard_receiver *)malloc(sizeof *r);
  struct beoboard_node *node = (struct beoboard_node *)malloc(sizeof *node),
                       *all = (struct beoboard_node *)malloc(CAPACITY * sizeof *all);
  struct beoboard_slot *newest = (struct beoboard_slot *)malloc(sizeof *newest),
                       *before = (struct beoboard_slot *)malloc(sizeof *before);
  struct beoboard_rates *rates = (struct beoboard_rates *)malloc(sizeof *rates);
  char *name = (char *)malloc(BEOBOARD_NAME_MAX);
  const char *names[] = {"node0", "node4", "nobody", ""};
  int8_t states[4];
  int counts[BEOBOARD_NSTATES], sum = 0;
  struct beoboard_link *links = (struct beoboard_link *)malloc(BEOBOARD_LINKS_MAX * sizeof *links);
  struct beoboard_refusal *refusal = (struct beoboard_refusal *)malloc(sizeof *refusal);
  struct beoboard_sender *senders = (struct beoboard_sender *)malloc(BEOBOARD_SENDERS_MAX * sizeof *senders);
  struct beoboard_event *events = (struct beoboard_event *)malloc(EVENTS * sizeof *events);
  errno = 4242;
  ALLOWED(beoboard_receiver(b, r, sizeof *r), EINVAL);
  if (memchr(r->cluster, 0, sizeof r->cluster) == NULL) blame("cluster without an end", 0);
  const int count = beoboard_count(b);
  if (count < 0 || (uint32_t)count > r->capacity) blame("count", count);
  if (beoboard_tally(b, counts) != count) blame("tally", count);
  for (int i = 0; i < BEOBOARD_NSTATES; i++) sum += counts[i];
  if (sum != count) blame("tally's sum", sum);
  ALLOWED(beoboard_check(b, names, 4, states), ESTALE);
  for (int i = 0; i < 4; i++) ALLOWED(states[i], ENOENT);
  for (int i = 0; i < 4; i++) ALLOWED(beoboard_index(b, names[i]), ENOENT);
  ALLOWED(beoboard_read_all(b, all, sizeof *all, 0, CAPACITY), EINVAL);
  for (int i = -2; i <= count + 1; i++) {
    if (beoboard_name(b, i, name, BEOBOARD_NAME_MAX) >= 0) ALLOWED(beoboard_index(b, name), ENOENT);
    ALLOWED(beoboard_name(b, i, name, below(BEOBOARD_NAME_MAX)), 1, 2, EINVAL, ENOSPC);
    ALLOWED(beoboard_state(b, i), 1, 2, EINVAL, ESTALE);
    if (beoboard_state(b, i) >= BEOBOARD_UNKNOWN) blame("state", beoboard_state(b, i));
    ALLOWED(beoboard_age(b, i), 1, 2, EINVAL, ESTALE, ENODATA);
    const int read = beoboard_read(b, i, node, sizeof *node);
    ALLOWED(read, 1, 2, EINVAL, EAGAIN);
    if (read == 0 &&
        (node->state >= BEOBOARD_NSTATES || memchr(node->name, 0, sizeof node->name) == NULL || node->age_ns < -1))
      blame("node", node->state);
    struct beoboard_memory memory;
    ALLOWED(beoboard_memory(b, i, &memory, sizeof memory), 1, 2, EINVAL, ENODATA);
    ALLOWED(beoboard_recent(b, i), 1, 2, EINVAL, ENODATA);
    ALLOWED(beoboard_last_refusal(b, i, refusal, sizeof *refusal), 1, 2, EINVAL, EAGAIN, ENODATA);
    const int reports = beoboard_reports(b, i, newest, before, sizeof *newest);
    ALLOWED(reports, 1, 2, EINVAL, EAGAIN);
    if (reports > 2) blame("reports", reports);
    const int result = beoboard_rates(b, i, rates, sizeof *rates);
    ALLOWED(result, 1, 2, EINVAL, EAGAIN, ENODATA);
    if (result == 0 && (rates->cpu_user_ms < 0 || rates->cpu_user_pct > 100 || isinf(rates->net[0].rx_bytes)))
      blame("rates", 0);
  }
  const int linked = beoboard_links(b, links, sizeof *links, BEOBOARD_LINKS_MAX);
  if (linked < 1 || linked > BEOBOARD_LINKS_MAX) blame("links", linked);
  for (int i = 0; i < linked; i++)
    if (memchr(links[i].name, 0, sizeof links[i].name) == NULL ||
        links[i].number <= (i > 0 ? links[i - 1].number : 0) || links[i].listened_ns < 0 || links[i].dark_age_ns < -1 ||
        links[i].changed_age_ns < -1 || links[i].flags > 0x7f)
      blame("link", links[i].number);
  if (linked > 0 && links[linked - 1].number != BEOBOARD_LINK_OTHERS) blame("the last link", links[linked - 1].number);
  if (beoboard_links(b, links, sizeof *links, 1) != 1) blame("one link", 0);
  const int refused = beoboard_senders(b, senders, sizeof *senders, BEOBOARD_SENDERS_MAX);
  if (refused < 0 || refused > BEOBOARD_SENDERS_MAX) blame("senders", refused);
  for (int i = 0; i < refused; i++)
    if (memchr(senders[i].name, 0, sizeof senders[i].name) == NULL || senders[i].last_age_ns < 0 ||
        senders[i].first_age_ns < 0 || senders[i].reason < (i > 0 ? senders[i - 1].reason : 0) ||
        senders[i].reason > 31)
      blame("sender", senders[i].reason);
  const uint64_t cursors[] = {0, 1, any(), UINT64_MAX - 1, BEOBOARD_EVENTS_FROM_NOW};
  for (size_t k = 0; k < sizeof cursors / sizeof cursors[0]; k++) {
    uint64_t next = cursors[k];
    const int happened = beoboard_events(b, &next, events, sizeof *events, EVENTS);
    if (happened < 0 || happened > EVENTS || (happened > 0 && cursors[k] == BEOBOARD_EVENTS_FROM_NOW))
      blame("events", happened);
    for (int i = 0; i < happened; i++)
      if (events[i].number <= (i > 0 ? events[i - 1].number : 0) || events[i].number >= next || events[i].age_ns < 0 ||
          events[i].subject < -1)
        blame("event", (int64_t)events[i].number);
  }
  if (errno != 4242) blame("errno", errno);
  free(links);
  free(refusal);
  free(senders);
  free(events);
  free(r);
  free(node);
  free(all);
  free(newest);
  free(before);
  free(rates);
  free(name);
}

static uint64_t value(void) {
  switch (below(10)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return UINT64_C(1) << below(64);
    case 3: return below(16);
    case 4: return (uint64_t)clock_ns(CLOCK_MONOTONIC);
    case 5: return (uint64_t)clock_ns(CLOCK_MONOTONIC) + (below(2) == 0 ? below(20000000000) : -below(20000000000));
    case 6:
      return (uint64_t)clock_ns(CLOCK_MONOTONIC) / 1000000 << BB_COLUMN_STAMP_SHIFT | below(1 << BB_COLUMN_STAMP_SHIFT);
    case 7: return UINT64_C(1) << 63;
    case 8: return below(1 << 20) * 8;
    default: return any();
  }
}

/* Words of the board, and now and then halves and bytes, where they matter more often than elsewhere. */
static void spoil(uint8_t *file, size_t bytes, const struct bb_board_header *h) {
  for (uint64_t k = 1 + below(6); k > 0; k--) {
    size_t at;
    switch (below(10)) {
      case 0: at = below(62) * 4; break;                                      /* geometry */
      case 1: at = 256 + below(14) * 8; break;                                /* the receiver */
      case 2: at = h->index_offset + below(h->index_slots) * 8; break;
      case 3: at = h->column_offset + below(h->capacity) * 8; break;
      case 4: { /* heads, tails, stamps, order blocks, names */
        static const size_t places[] = {0,   8,   64,  104, 136, 192, 304, 312, 320, 328, 376, 384,
                                        392, 408, 416, 464, 1632, 1664, 1672, 1688, 1696, 2912};
        at = h->records_offset + below(CAPACITY) * h->record_stride + places[below(sizeof places / sizeof places[0])];
        break;
      }
      case 5: at = 1024 + below(4) * 16 + below(2) * 8; break;                /* evidence */
      case 6: at = h->links_offset + below(4) * h->links_stride + below(16) * 8; break;
      case 7: { /* of the reasons that were refused, and any */
        static const uint64_t reasons[] = {BB_REASON_CLUSTER, BB_REASON_RIVAL};
        const uint64_t i = below(2) == 0 ? reasons[below(2)] * BB_SENDERS_EACH : below(h->senders);
        at = h->senders_offset + i * h->senders_stride + below(16) * 8;
        break;
      }
      case 8: at = h->events_offset + below(8) * h->events_stride + below(8) * 8; break;
      default: at = below(bytes / 8) * 8; break;
    }
    const uint64_t v = value();
    const size_t width = below(3) == 0 ? 4 : 8;
    if (at + width <= bytes) memcpy(file + at, &v, width);
  }
}

/* Readers that copy a board by board/reader.h go through the same tables. */
static void copy_all(const char *path) {
  struct bb_board board;
  char why[256];
  if (bb_board_open(&board, path, (uid_t)-1, why, sizeof why) != BB_READY) return;
  struct bb_link_copy *links = (struct bb_link_copy *)malloc((BB_LINKS - 1) * sizeof *links);
  struct bb_sender *senders = (struct bb_sender *)malloc(BB_SENDERS * sizeof *senders);
  struct bb_event *events = (struct bb_event *)malloc(BB_EVENTS * sizeof *events);
  uint32_t numbers[BB_LINKS];
  const int linked = bb_board_links(&board, links, numbers);
  if (linked < 1 || linked >= BB_LINKS) blame("bb_board_links", linked);
  if (bb_board_senders(&board, senders) != 0) blame("bb_board_senders", -1);
  const uint64_t cursors[] = {0, 1, any(), UINT64_MAX};
  for (size_t k = 0; k < sizeof cursors / sizeof cursors[0]; k++) {
    uint64_t next = cursors[k];
    const int happened = bb_board_events(&board, &next, events, BB_EVENTS);
    if (happened < 0 || happened > BB_EVENTS) blame("bb_board_events", happened);
    for (int i = 0; i < happened; i++)
      if (events[i].head <= (i > 0 ? events[i - 1].head : 0) || events[i].head / 2 >= next)
        blame("bb_board_events' event", (int64_t)events[i].head);
  }
  bb_board_close(&board);
  free(links);
  free(senders);
  free(events);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *path = argv[1];
  const uint64_t rounds = strtoull(argv[2], NULL, 10);
  seed = strtoull(argv[3], NULL, 10) * 2 + 1;
  struct bb_writer *w = make_board(path, CAPACITY);
  if (w == NULL) return 1;
  for (uint32_t seq = 1; seq <= 2; seq++)
    for (uint32_t i = seq - 1; i < NODES; i++) {
      char name[16];
      snprintf(name, sizeof name, "node%u", i);
      deliver(w, name, seq);
    }
  int64_t strays = 0;
  for (uint32_t seq = 3; seq < 6; seq++) deliver_news(w, seq, &strays);
  const struct bb_board_header h = *bb_writer_header(w);
  bb_writer_close(w);
  const int fd = open(path, O_RDWR);
  const size_t bytes = h.file_bytes;
  uint8_t *whole = (uint8_t *)malloc(bytes);
  if (fd < 0 || read(fd, whole, bytes) != (ssize_t)bytes) return 1;
  uint64_t opened = 0, refused = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    /* As it was, alive now, then spoiled; sometimes cut short, sometimes with more behind it. */
    const uint64_t now = (uint64_t)clock_ns(CLOCK_MONOTONIC);
    memcpy(whole + offsetof(struct bb_board_header, heartbeat_ns), &now, 8);
    const size_t length = below(20) == 0 ? below(bytes + 8192) : bytes;
    if (ftruncate(fd, 0) != 0 || pwrite(fd, whole, bytes, 0) != (ssize_t)bytes) return 1;
    uint8_t *file = (uint8_t *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED) return 1;
    if (below(4) != 0) spoil(file, bytes, &h);
    if (length != bytes && ftruncate(fd, (off_t)length) != 0) return 1;
    beoboard *b;
    errno = 4242;
    const int result = beoboard_open(&b, path, 0);
    ALLOWED(result, EAGAIN, ESTALE, EBADMSG, EUCLEAN);
    if (errno != 4242) blame("errno of open", errno);
    if (result == 0) {
      opened++;
      call_all(b);
      if (length >= bytes) copy_all(path);
      /* And while it is mapped: what was checked when it was opened is what counts. */
      for (uint64_t k = below(4); k > 0 && length >= bytes; k--) {
        spoil(file, bytes, &h);
        call_all(b);
        ALLOWED(beoboard_refresh(b), EAGAIN, ESTALE, EBADMSG, EUCLEAN);
        call_all(b);
      }
    } else refused++;
    beoboard_close(b);
    munmap(file, bytes);
  }
  close(fd);
  free(whole);
  printf("%" PRIu64 " opened, %" PRIu64 " refused, %d faults\n", opened, refused, faults);
  return faults == 0 ? 0 : 1;
}

/* Fuzzes the reading of boards, by the library and by board/reader.h, and the taking over of them by a writer. An input
 * is a list of edits of a good board, some of them made while it is mapped; or a file as it is.
 *
 * What must hold, whatever stands in the file:
 *   - a board that is opened is sound by a second reckoning, in 128 bits: every part within the file, and none on
 *     another;
 *   - no call gives a node, a state or a length beyond its bounds, and calls that tell of the same thing agree;
 *   - the JSON of a report and of its rates is one object of printable characters, no longer than was reckoned, or is
 *     left to others;
 *   - totals are of no more nodes than there are, of none that is not live, and never below 0;
 *   - a report that is given stands in the file as it was given, in a slot that is whole; an event or a refused sender
 *     likewise, in a block that is; events in the order of their numbers, none before the one that was asked for, and
 *     none twice;
 *   - what a relay collects of it is in whole entries, of records and links that there can be, and comes to an end;
 *   - a writer takes it over, replaces it or refuses it, and what it remembers of trouble is sound; then a report, a
 *     stranger's and a link's coming and going are laid on it, and read back.
 * But for takeovers the ring of events has few places: what is written for each input is a tenth of it, then. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

#include "../../beoboard.h"
#include "../../board/reader.h"
#include "../../board/writer.h"
#include "../../judge/overview.h"
#include "../../judge/rates.h"
#include "../../judge/totals.h"
#include "../../relay/sweep.h"
#include "../memoryfault.h"
#include "../snapshot.h"
#include "fuzz.h"

const char fuzz_unit[] = "boards";
uint64_t fuzz_units;

#define SECOND INT64_C(1000000000)
#define CAPACITY 4u
#define MOST_BYTES (1u << 20)
#define REACH 65536u /* how far edits go */
#define FEW_EVENTS 8u
__extension__ typedef unsigned __int128 wide;

static char path[128], taken[128];
static int file;
static uint8_t now[MOST_BYTES];
static size_t now_bytes;
/* The board as a writer made it, and one with few places for events. */
static struct good {
  uint8_t *map;
  size_t bytes;
} whole, small;

static void make_report(struct bb_report *r, const char *name, uint32_t seq, bool goodbye) {
  memset(r, 0, sizeof *r);
  r->magic = 0x31525342;
  r->version = 1;
  r->length = sizeof *r;
  r->boot_id = 7;
  r->seq = seq;
  r->interval_ms = 1000;
  r->t_boot_ns = (uint64_t)SECOND * (1000 + seq);
  r->slow_boot_ns = r->t_boot_ns;
  r->start_boot_ns = (uint64_t)SECOND;
  r->valid = BB_VALID_KNOWN;
  r->flags = goodbye ? 1u << 1 : 0;
  r->mem_total_mib = 1000;
  r->mem_avail_mib = 750 + seq;
  r->cpu_idle_ms = 1000 * seq;
  r->cpu_user_ms = 500 * seq;
  strcpy(r->net[0].name, "eth0");
  r->net[0].rx_bytes = 1000 * seq;
  strcpy(r->hostname, name);
}

static int lay(struct bb_writer *w, const char *name, uint32_t seq, bool goodbye, int64_t stamp_ns) {
  struct bb_report report;
  struct bb_arrival arrival = {.stamp_ns = stamp_ns,
                               .stamp_real_ns = 1700000000 * SECOND,
                               .port = 1,
                               .interface = seq % 2 == 0 ? "eth0" : "eth1"};
  make_report(&report, name, seq, goodbye);
  return bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival);
}

/* What no receiver takes. */
static int lay_junk(struct bb_writer *w, uint8_t who, int64_t stamp_ns) {
  struct bb_report report;
  struct bb_arrival arrival = {
      .stamp_ns = stamp_ns, .stamp_real_ns = 1700000000 * SECOND, .address = {[15] = who}, .link = BB_LINK_OTHERS};
  make_report(&report, "stranger", 1, false);
  report.magic = 0;
  return bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival);
}

static const char *const listed[] = {"node1", "node2", "left3", "never4"};
static const struct bb_writer_options options = {.cluster_name = "fuzz",
                                                 .capacity = CAPACITY,
                                                 .uncertain_after_ns = SECOND * 9 / 2,
                                                 .silent_after_ns = SECOND * 21 / 2,
                                                 .clock_window_ns = UINT64_MAX};

static struct bb_writer *open_writer(const char *at, const char *const *names, size_t count) {
  char why[256] = "";
  struct bb_writer_options o = options;
  o.path = at;
  o.nodes = names;
  o.node_count = count;
  return bb_writer_open(&o, why, sizeof why);
}

static void end(void) {
  char lock[160];
  unlink(path);
  unlink(taken);
  snprintf(lock, sizeof lock, "%s.lock", taken);
  unlink(lock);
  rmdir(fuzz_path(""));
  free(whole.map);
  free(small.map);
  fprintf(stderr, "%" PRIu64 " %s\n", fuzz_units, fuzz_unit);
}

/* The same board with fewer places for events: what lies behind these moves up. */
static struct good shrink(const struct good *from, uint32_t events) {
  struct bb_board_header h;
  memcpy(&h, from->map, sizeof h);
  const size_t less = (size_t)(h.events - events) * h.events_stride, rest = (size_t)h.index_offset;
  struct good to = {(uint8_t *)malloc(from->bytes), from->bytes - less};
  memcpy(to.map, from->map, rest);
  memcpy(to.map + rest - less, from->map + rest, from->bytes - rest);
  h.events = events;
  h.index_offset -= less;
  h.column_offset -= less;
  h.records_offset -= less;
  h.file_bytes -= less;
  memcpy(to.map, &h, sizeof h);
  return to;
}

static void start(void) {
  char lock[160];
  snprintf(path, sizeof path, "%s", fuzz_path("board"));
  snprintf(taken, sizeof taken, "%s", fuzz_path("taken"));
  struct bb_writer *w = open_writer(path, listed, 4);
  MUST(w != NULL, "no board can be made");
  /* Its names stand where they stand for any seed of the index: each input is the same board in each process. */
  ((struct bb_board_header *)(uintptr_t)bb_writer_header(w))->index_seed = 42;
  const struct bb_board_header *h = bb_writer_header(w);
  uint8_t *map = (uint8_t *)(uintptr_t)h;
  memset(map + h->index_offset, 0, h->index_slots * h->index_stride);
  for (uint64_t i = 0; i < 4; i++) {
    const uint64_t hash = bb_name_hash(listed[i], 42);
    uint64_t k = hash & (h->index_slots - 1);
    while (*(uint64_t *)(map + h->index_offset + 8 * k) != 0) k = (k + 1) & (h->index_slots - 1);
    *(uint64_t *)(map + h->index_offset + 8 * k) = (hash >> 32) << 32 | (i + 1);
  }
  for (uint32_t seq = 1; seq <= 3; seq++) MUST(lay(w, "node1", seq, false, SECOND * seq) == 0, "no report can be laid");
  MUST(lay(w, "node2", 1, false, SECOND) == 0 && lay(w, "left3", 1, false, SECOND) == 0 &&
           lay(w, "left3", 2, true, 2 * SECOND) == 0,
       "no report can be laid");
  for (uint8_t who = 1; who <= 3; who++) MUST(lay_junk(w, who, SECOND) == BB_REASON_MAGIC, "junk was taken");
  bb_links_set_state(bb_writer_links(w), 1, 1, 0, false, SECOND);
  bb_links_set_state(bb_writer_links(w), 1, 1, BB_LINK_STATE_UP, false, 2 * SECOND);
  MUST(h->links_used == 2 && h->event_last > 4 && h->event_last < FEW_EVENTS, "%" PRIu64 " links, %" PRIu64 " events",
       h->links_used, h->event_last);
  whole = (struct good){(uint8_t *)malloc((size_t)h->file_bytes), (size_t)h->file_bytes};
  memcpy(whole.map, h, whole.bytes);
  bb_writer_close(w);
  small = shrink(&whole, FEW_EVENTS);
  snprintf(lock, sizeof lock, "%s.lock", path);
  unlink(lock);
  file = open(path, O_RDWR | O_CLOEXEC);
  MUST(file >= 0 && whole.bytes < MOST_BYTES / 2 && small.bytes < REACH, "cannot open %s", path);
  atexit(end);
}

/* A good board, as if its receiver were at work. */
static void refresh_good(const struct good *good) {
  struct bb_board_header *h = (struct bb_board_header *)now;
  memcpy(now, good->map, good->bytes);
  now_bytes = good->bytes;
  const uint64_t ns = (uint64_t)bb_clock_ns(CLOCK_MONOTONIC);
  h->state = 0;
  h->heartbeat_ns = ns;
  h->listening_since_ns = ns - 60 * (uint64_t)SECOND;
  for (uint32_t i = 0; i < BB_LINKS; i++)
    if (i == BB_LINK_OTHERS || (i > 0 && i <= h->links_used))
      h->evidence[i] = (struct bb_link_evidence){h->heartbeat_ns, h->listening_since_ns};
  for (uint32_t i = 0; i < CAPACITY; i++) {
    uint8_t *record = now + h->records_offset + (uint64_t)i * h->record_stride;
    for (uint32_t k = 0; k < 2; k++) {
      struct bb_slot *slot = (struct bb_slot *)(record + h->slots_offset + k * h->slot_stride);
      if (slot->head != 0) slot->stamp_ns = ns - (uint64_t)SECOND;
    }
    uint64_t *word = (uint64_t *)(now + h->column_offset + i * h->column_stride);
    if (*word != 0)
      *word = BB_COLUMN((ns - (uint64_t)SECOND) / 1000000, BB_COLUMN_LINK(*word), BB_COLUMN_INTERVAL(*word),
                        BB_COLUMN_GOODBYE(*word));
  }
}

/* Edits up to the end, or to a mark. */
static void edit(struct input *in) {
  static const uint64_t telling[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     7,
                                     8,
                                     12,
                                     16,
                                     1024,
                                     1216,
                                     1280,
                                     2944,
                                     4096,
                                     65535,
                                     65536,
                                     1 << 20,
                                     (1 << 20) + 8,
                                     1 << 24,
                                     (1 << 24) + 1,
                                     INT32_MAX,
                                     UINT32_MAX - 7,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 62,
                                     INT64_MAX,
                                     UINT64_MAX - 7,
                                     UINT64_MAX};
  const size_t tellings = sizeof telling / sizeof telling[0];
  for (unsigned edits = 0; in->left > 0 && edits < 64; edits++) {
    const uint8_t op = (uint8_t)draw(in, 1);
    if (op % 10 == 9) return;
    size_t at = draw(in, 2) % REACH, width = 8;
    uint64_t value = 0;
    switch (op % 10) {
      case 0: width = 1; value = draw(in, 1); break;
      case 1: width = 4; value = draw(in, 4); break;
      case 2: value = draw(in, 8); break;
      case 3: /* a whole field of the header */
        at = at % ((op & 0x40) != 0 ? BB_BOARD_HEADER_BYTES / 4 : 96) * 4;
        width = (op & 0x80) != 0 ? 4 : 8;
        value = telling[draw(in, 1) % tellings];
        break;
      case 4: /* a word anywhere */
        at = at / 8 * 8;
        value = telling[draw(in, 1) % tellings];
        break;
      case 5: { /* a little more or less */
        at = at / 8 * 8;
        memcpy(&value, now + at, 8);
        value += (uint64_t)(int64_t)(int8_t)draw(in, 1);
        break;
      }
      case 6: now_bytes = at; continue; /* shorter, or longer by what is there */
      case 7: { /* a piece from elsewhere */
        const size_t from = draw(in, 2) % REACH, length = draw(in, 2) % 4096;
        memmove(now + at, now + from, length);
        continue;
      }
      default: { /* the head or tail of a slot, or its order block */
        const struct bb_board_header *h =
            (const struct bb_board_header *)(now_bytes == whole.bytes ? whole.map : small.map);
        if ((op & 0x80) != 0) { /* or a word of one of the tables, among those that are used */
          const size_t tables[] = {h->links_offset, h->links_offset + BB_LINK_OTHERS * sizeof(struct bb_link),
                                   h->senders_offset + BB_REASON_MAGIC * BB_SENDERS_EACH * sizeof(struct bb_sender),
                                   h->events_offset, offsetof(struct bb_board_header, evidence)};
          at = tables[at / 128 % 5] + at % 128 * 8;
          value = (op & 0x40) != 0 ? telling[draw(in, 1) % tellings] : draw(in, 1) % 32;
          break;
        }
        const size_t record = h->records_offset + at % CAPACITY * h->record_stride;
        static const size_t places[] = {0, 1248, 1280, 1280 + 1248};
        at = (at & 0x1000) != 0 ? record + ((at & 0x2000) != 0 ? 192 : 376)
                                : record + h->slots_offset + places[at / 4 % 4];
        value = draw(in, 1) % 16;
      }
    }
    memcpy(now + at, &value, width);
  }
}

static void store(void) {
  MUST(ftruncate(file, (off_t)now_bytes) == 0 && pwrite(file, now, now_bytes, 0) == (ssize_t)now_bytes,
       "cannot write %s", path);
}

/* ---- what must hold ---- */

static bool is_within(wide offset, wide bytes) { return offset + bytes <= now_bytes && offset % 8 == 0; }

static bool are_apart(wide a, wide a_bytes, wide b, wide b_bytes) { return a + a_bytes <= b || b + b_bytes <= a; }

/* Whether a reader that trusts this header stays within the file, and within each of its parts. */
static bool is_sound(const struct bb_board_header *h) {
  const wide index = (wide)h->index_slots * h->index_stride, column = (wide)h->capacity * h->column_stride;
  const wide records = (wide)h->capacity * h->record_stride;
  const struct {
    wide at, bytes;
  } parts[] = {{0, h->header_bytes},
               {h->links_offset, (wide)h->links * h->links_stride},
               {h->senders_offset, (wide)h->senders * h->senders_stride},
               {h->events_offset, (wide)h->events * h->events_stride},
               {h->index_offset, index},
               {h->column_offset, column},
               {h->records_offset, records}};
  const size_t count = sizeof parts / sizeof parts[0];
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      if (!is_within(parts[i].at, parts[i].bytes) ||
          !are_apart(parts[i].at, parts[i].bytes, parts[k].at, parts[k].bytes))
        return false;
  return h->magic == UINT64_C(0x4452414f424f4542) && h->version >> 16 == 2 && h->file_bytes <= now_bytes &&
         h->header_bytes >= 1536 && h->links == 32 && h->senders == 256 && h->events > 0 && h->events <= 1u << 20 &&
         h->links_stride >= 128 && h->links_stride % 8 == 0 && h->senders_stride >= 128 && h->senders_stride % 8 == 0 &&
         h->events_stride >= 64 && h->events_stride % 8 == 0 && h->capacity > 0 && h->capacity <= 1u << 24 &&
         h->index_slots >= 2 * (wide)h->capacity && __builtin_popcount(h->index_slots) == 1 && h->index_stride >= 8 &&
         h->index_stride % 8 == 0 && h->column_stride >= 8 && h->column_stride % 8 == 0 && h->record_stride % 8 == 0 &&
         h->slots == 2 && h->slot_stride >= 1280 && h->slot_stride % 8 == 0 && h->slots_offset >= 384 &&
         h->slots_offset % 8 == 0 && (wide)h->slots_offset + 2 * (wide)h->slot_stride <= h->record_stride &&
         h->report_offset == 32 && h->report_bytes == 1216 && h->count <= h->capacity &&
         (h->state & BB_BOARD_STATE_RETIRED) == 0 && h->master_boot_id == bb_boot_id() && h->uncertain_after_ns > 0 &&
         h->silent_after_ns > 0;
}

static const struct bb_slot *slot_of(const struct bb_board_header *h, int i, int k) {
  return (const struct bb_slot *)(now + h->records_offset + (size_t)i * h->record_stride + h->slots_offset +
                                  (size_t)k * h->slot_stride);
}

/* Whether a report stands in one of the two slots, which is whole. */
static bool stands(const struct bb_board_header *h, int i, const struct beoboard_slot *slot) {
  for (int k = 0; k < 2; k++) {
    const struct bb_slot *in = slot_of(h, i, k);
    if (in->head / 2 == slot->number && in->head % 2 == 0 && in->head == in->tail &&
        (int64_t)in->stamp_ns == slot->stamp_ns && memcmp(&in->report, &slot->report, sizeof slot->report) == 0)
      return true;
  }
  return false;
}

static bool is_share(double value) { return isnan(value) || value >= 0; }

static void check_remembered(const beoboard *b, int i) {
  struct beoboard_memory m;
  const int result = beoboard_memory(b, i, &m, sizeof m), recent = beoboard_recent(b, i);
  MUST((result == 0 || result == -ENODATA) && (recent >= 0) == (result == 0), "remembered %d, recent %d", result,
       recent);
  if (result != 0) return;
  MUST(m.recent == (uint32_t)recent && recent >> BEOBOARD_NPROBLEMS == 0, "recent %d", recent);
  MUST(m.remembers_age_ns >= 0 && m.heard_age_ns >= -1 && m.boot_age_ns >= -1 && m.silence_age_ns >= -1 &&
           m.silence_end_age_ns >= -1 && m.last_words_age_ns >= -1,
       "an age below none");
  for (int k = 0; k < BEOBOARD_PROBLEMS_MAX; k++)
    MUST(m.episodes[k].begin_age_ns >= m.episodes[k].seen_age_ns && m.episodes[k].seen_age_ns >= -1,
         "an episode that was seen before it began");
}

/* Every call, on a board whose geometry is `h`. */
static void ask(const beoboard *b, const struct bb_board_header *h) {
  static struct beoboard_node nodes[64];
  static struct beoboard_slot newest, before;
  static int8_t states[64];
  const char *names[64];
  static char texts[64][BEOBOARD_NAME_MAX];
  struct beoboard_receiver receiver;
  struct beoboard_rates rates;
  int counts[BEOBOARD_NSTATES], tallied = 0;
  const int count = beoboard_count(b);
  MUST(count >= 0 && (uint32_t)count <= h->capacity && count < 64, "%d nodes", count);
  MUST(beoboard_receiver(b, &receiver, sizeof receiver) == 0 && receiver.nodes == (uint32_t)count, "another count");
  MUST(strnlen(receiver.cluster, sizeof receiver.cluster) < sizeof receiver.cluster, "the cluster's name has no end");
  MUST(beoboard_tally(b, counts) == count, "another count");
  for (int s = 0; s < BEOBOARD_NSTATES; s++) {
    MUST(counts[s] >= 0, "%d nodes are %s", counts[s], beoboard_state_name(s));
    tallied += counts[s];
  }
  MUST(tallied == count, "%d of %d nodes have a state", tallied, count);
  MUST(beoboard_read_all(b, nodes, sizeof nodes[0], 0, 64) == count || count == 0, "not all nodes are read");
  for (int i = 0; i < count; i++) {
    const int length = beoboard_name(b, i, texts[i], sizeof texts[i]);
    MUST(length >= 0 && (size_t)length == strlen(texts[i]), "a name of %d", length);
    names[i] = texts[i];
    const int index = beoboard_index(b, texts[i]);
    MUST(index == -ENOENT || (index >= 0 && index < count), "the name is that of node %d", index);
    if (index >= 0) {
      char other[BEOBOARD_NAME_MAX];
      MUST(beoboard_name(b, index, other, sizeof other) == length && strcmp(other, texts[i]) == 0,
           "the index leads to another name");
    }
    const int state = beoboard_state(b, i);
    MUST(state == -ESTALE || (state >= 0 && state < BEOBOARD_UNKNOWN), "state %d", state);
    const int64_t age = beoboard_age(b, i);
    MUST(age >= 0 || age == -ESTALE || age == -ENODATA, "an age of %" PRId64, age);
    struct beoboard_node node;
    const int read = beoboard_read(b, i, &node, sizeof node);
    MUST(read == 0 || read == -EAGAIN, "reading gives %d", read);
    if (read == 0) {
      MUST(node.state < BEOBOARD_NSTATES && node.age_ns >= -1, "state %u, age %" PRId64, node.state, node.age_ns);
      MUST(strcmp(node.name, texts[i]) == 0 && strcmp(nodes[i].name, texts[i]) == 0, "another name");
      MUST(node.state == nodes[i].state && node.reports == nodes[i].reports && node.boot_id == nodes[i].boot_id,
           "one and all differ");
    }
    check_remembered(b, i);
    const int had = beoboard_reports(b, i, &newest, &before, sizeof newest);
    MUST((had >= 0 && had <= 2) || had == -EAGAIN, "%d reports", had);
    MUST(had < 1 || stands(h, i, &newest), "a report that does not stand there");
    MUST(had < 2 || (stands(h, i, &before) && before.number <= newest.number),
         "the report before it does not stand there");
    if (read == 0 && had > 0)
      MUST(node.boot_id == newest.report.boot_id && node.interval_ms == newest.report.interval_ms, "another report");
    const int rated = beoboard_rates(b, i, &rates, sizeof rates);
    MUST(rated == 0 || rated == -ENODATA || rated == -EAGAIN, "rates give %d", rated);
    if (rated == 0)
      MUST(is_share(rates.cpu_idle_pct) && is_share(rates.ctxt) && is_share(rates.net[0].rx_bytes), "a rate below 0");
  }
  MUST(beoboard_read(b, count, &nodes[0], sizeof nodes[0]) == -EINVAL, "a node behind the last");
  const int others = beoboard_check(b, names, count, states);
  MUST(others == -ESTALE || (others >= 0 && others <= count), "%d of %d are not live", others, count);
  for (int i = 0; i < count; i++)
    MUST((states[i] >= 0 && states[i] < BEOBOARD_NSTATES) || states[i] == -ENOENT, "state %d", states[i]);
}

/* Bytes of a copy that so many nodes take. */
static size_t bytes_of(const struct bb_board_header *h, uint64_t nodes) {
  return h->header_bytes + nodes * ((size_t)h->column_stride + h->record_stride);
}

/* Sums are of no more nodes than there are, of none that is not live, and none is below 0. */
static void totals(const uint8_t *copy, size_t bytes, uint64_t nodes) {
  uint8_t states[64];
  struct bb_totals t;
  memset(states, BEOBOARD_LIVE, sizeof states);
  MUST(bb_totals(copy, bytes, nodes, states, &t), "no totals of %" PRIu64 " nodes", nodes);
  const struct bb_part *const parts[] = {&t.cpus, &t.memory, &t.gpus};
  for (size_t i = 0; i < 3; i++)
    MUST(parts[i]->nodes <= nodes && parts[i]->used >= 0 && parts[i]->total >= 0, "part %zu: %g of %g", i,
         parts[i]->used, parts[i]->total);
  const struct bb_flow *const flows[] = {&t.network, &t.fabric, &t.disks};
  for (size_t i = 0; i < 3; i++)
    MUST(flows[i]->nodes <= nodes && flows[i]->in >= 0 && flows[i]->out >= 0, "flow %zu: %g and %g", i, flows[i]->in,
         flows[i]->out);
  memset(states, BEOBOARD_NEVER, sizeof states);
  MUST(bb_totals(copy, bytes, nodes, states, &t) &&
           t.cpus.nodes + t.memory.nodes + t.network.nodes + t.power.nodes == 0,
       "totals of nobody");
}

/* What one look over a copy tells agrees with itself; more nodes than are in it, or a copy that is cut short, are
 * refused. */
static void overview(const uint8_t *copy, size_t bytes, struct bb_look *look) {
  uint8_t states[64], known[64], told[64];
  uint32_t problems[64], kernels[64], unmeasured[64], unsettled[64], measured[64], intervals[64], lates[64];
  double ages[64], skews[64];
  const struct bb_overview out = {
      .ages = ages, .skews = skews, .problems = problems, .kernels = kernels, .unmeasured = unmeasured,
      .unsettled = unsettled, .measured = measured, .intervals = intervals, .lates = lates, .told = told,
      .states = states, .known = known,
  };
  MUST(look->nodes < 64 && bb_overview(copy, bytes, look, &out, NULL, 0), "no overview of %" PRIu64 " nodes",
       look->nodes);
  for (uint64_t i = 0; i < look->nodes; i++) {
    MUST(states[i] < BEOBOARD_NSTATES, "state %d", states[i]);
    MUST(known[i] < BEOBOARD_UNKNOWN && (states[i] == BEOBOARD_UNKNOWN || states[i] == known[i]),
         "known as %d, and is %d", known[i], states[i]);
    MUST((ages[i] >= 0) == (states[i] != BEOBOARD_NEVER) || states[i] == BEOBOARD_UNKNOWN, "state %d, age %g",
         states[i], ages[i]);
    MUST(problems[i] >> BEOBOARD_NPROBLEMS == 0, "problems %" PRIx32, problems[i]);
    MUST(problems[i] == 0 || states[i] == BEOBOARD_LIVE || states[i] == BEOBOARD_UNCERTAIN,
         "a node of state %d is unhealthy", states[i]);
    MUST((unmeasured[i] & measured[i]) == 0 && (unsettled[i] & measured[i]) == 0,
         "measured %" PRIx32 ", not measured %" PRIx32 " and %" PRIx32, measured[i], unmeasured[i], unsettled[i]);
    MUST(states[i] == BEOBOARD_LIVE || kernels[i] == 0, "of a node of state %d more is told", states[i]);
    MUST(ages[i] >= 0 || (skews[i] == 0 && intervals[i] == 0 && lates[i] == 0),
         "a clock %g s off, of which nothing was heard", skews[i]);
    MUST(told[i] <= 1, "trouble %d", told[i]);
  }
  struct bb_look more = {.now_ns = look->now_ns, .real_ns = look->real_ns, .nodes = UINT64_MAX / 2};
  MUST(!bb_overview(copy, bytes, &more, &out, NULL, 0) && !bb_overview_states(copy, bytes, &more, states),
       "more nodes than there are");
  const size_t whole = bytes_of((const struct bb_board_header *)copy, look->nodes);
  MUST(!bb_overview(copy, whole - 1, look, &out, NULL, 0), "an overview of a copy that is cut short");
  totals(copy, bytes, look->nodes);
  struct bb_totals sums;
  MUST(!bb_totals(copy, whole - 1, look->nodes, states, &sums) && !bb_totals(copy, bytes, more.nodes, states, &sums),
       "totals of too much");
}

/* Whether a block of so many bytes stands in the file at that place as it was given, and is whole there. */
static bool stands_at(const void *block, uint64_t offset, size_t bytes) {
  uint64_t head, tail;
  memcpy(&head, now + offset, 8);
  memcpy(&tail, now + offset + bytes - 8, 8);
  return head != 0 && head % 2 == 0 && head == tail && memcmp(block, now + offset, bytes) == 0;
}

/* Events from number `from` on, a few at a time, up to the last. */
static void look_at_events(const struct bb_board *b, const struct bb_board_header *h, uint64_t from) {
  struct bb_event events[3];
  uint64_t next = from, newest = 0, calls = 0;
  for (int n = 3; n == 3; calls++) {
    const uint64_t before = next;
    n = bb_board_events(b, &next, events, 3);
    MUST(n >= 0 && n <= 3, "%d events", n);
    MUST(calls <= h->events, "events from %" PRIu64 " on have no end", from);
    for (int i = 0; i < n; i++) {
      const uint64_t number = events[i].head / 2;
      MUST(number > newest && number < next && (number >= before || before > h->event_last + 1),
           "event %" PRIu64 " after %" PRIu64 ", of those from %" PRIu64 " on", number, newest, before);
      MUST(stands_at(&events[i], h->events_offset + number % h->events * h->events_stride, sizeof events[i]),
           "event %" PRIu64 " does not stand there", number);
      newest = number;
    }
  }
}

/* Links, rejected senders and events of a board whose geometry is `h`. */
static void look_at_tables(const struct bb_board *b, const struct bb_board_header *h) {
  static struct bb_sender senders[BB_SENDERS];
  struct bb_link_copy links[BB_LINKS];
  struct bb_board_header is; /* as it stands there by now */
  memcpy(&is, now, sizeof is);
  is.events = h->events;
  is.events_offset = h->events_offset;
  is.events_stride = h->events_stride;
  uint32_t numbers[BB_LINKS];
  const int n = bb_board_links(b, links, numbers);
  MUST(n >= 1 && n < BB_LINKS && numbers[n - 1] == BB_LINK_OTHERS, "%d links", n);
  for (int i = 0; i < n; i++) {
    MUST(numbers[i] == (uint32_t)i + 1 || i == n - 1, "link %u after %d", numbers[i], i);
    MUST(memcmp(&links[i].link, now + h->links_offset + (uint64_t)numbers[i] * h->links_stride, sizeof links[i].link) ==
                 0 &&
             memcmp(&links[i].evidence, &is.evidence[numbers[i]], sizeof links[i].evidence) == 0,
         "link %u does not stand there", numbers[i]);
  }
  MUST(bb_board_senders(b, senders) == 0, "no senders");
  for (uint32_t i = 0; i < BB_SENDERS; i++) {
    static const struct bb_sender none;
    MUST(memcmp(&senders[i], &none, sizeof none) == 0 ||
             stands_at(&senders[i], h->senders_offset + (uint64_t)i * h->senders_stride, sizeof senders[i]),
         "sender %u does not stand there", i);
  }
  const uint64_t from[] = {
      0, 1, 2, is.event_last - 1, is.event_last, is.event_last + 1, is.event_last - is.events, UINT64_MAX, INT64_MAX};
  for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) look_at_events(b, &is, from[i]);
}

#define ROOM 8192u /* the least that a batch has */

/* Entries of a batch: each of a kind and a size that there is, of a record or link that there can be. */
static void check_entries(const uint8_t *at, size_t bytes, uint32_t entries, const struct bb_board_header *h) {
  for (; entries > 0; entries--) {
    struct bb_relay_record e; /* any entry begins so, and with a number */
    MUST(bytes >= 8, "%u entries more than there is room for", entries);
    memcpy(&e, at, 8);
    const size_t size = e.kind == BB_RELAY_ENTRY_REPORT   ? sizeof(struct bb_relay_report)
                        : e.kind == BB_RELAY_ENTRY_RECORD ? sizeof(struct bb_relay_record)
                                                          : sizeof(struct bb_relay_link);
    MUST(e.kind > BB_RELAY_ENTRY_NONE && e.kind < BB_RELAY_ENTRY_COUNT && e.bytes == size && size <= bytes,
         "an entry of kind %u", e.kind);
    MUST(e.record < (e.kind == BB_RELAY_ENTRY_LINK ? BB_LINKS : h->capacity), "an entry of number %u", e.record);
    at += size;
    bytes -= size;
  }
  MUST(bytes == 0, "%zu bytes behind the last entry", bytes);
}

/* What a relay makes of it, three times: all, what was asked for, and nothing new. In memory of just that size. */
static void collect(const struct bb_board *b, const struct bb_board_header *h) {
  struct bb_sweep *harvest = bb_sweep_new(b);
  uint64_t *const room = (uint64_t *)malloc(ROOM);
  MUST(harvest != NULL && room != NULL, "no memory");
  for (unsigned sweep = 0; sweep < 3; sweep++) {
    struct bb_relay_board said;
    enum bb_sweep_state state = BB_SWEEP_MORE;
    size_t bytes;
    uint32_t entries;
    if (!bb_sweep_begin(harvest, sweep == 0, ROOM, &said)) break;
    MUST(said.links_used < BB_LINK_OTHERS && said.count <= h->capacity, "%u links, %u records are said",
         said.links_used, said.count);
    for (unsigned n = 0; state == BB_SWEEP_MORE; n++) {
      MUST(n < 100, "a sweep does not come to an end");
      state = bb_sweep_next(harvest, (uint8_t *)room, ROOM, &bytes, &entries);
      if (state == BB_SWEEP_BACKWARD || state == BB_SWEEP_CUT) break;
      MUST(bytes <= ROOM, "%zu bytes of a batch", bytes);
      check_entries((const uint8_t *)room, bytes, entries, h);
    }
    const uint32_t records = bb_sweep_records(harvest);
    MUST(records <= h->capacity, "%u records", records);
    const uint32_t count =
        records < ROOM / sizeof(struct bb_relay_indexed) ? records : ROOM / sizeof(struct bb_relay_indexed);
    MUST(bb_sweep_index(harvest, 0, count, (struct bb_relay_indexed *)(void *)room) <= count,
         "an index of more than was asked for");
    const uint32_t asked[] = {0, CAPACITY - 1, h->capacity - 1, UINT32_MAX};
    bb_sweep_ask(harvest, asked, sizeof asked / sizeof asked[0]);
  }
  free(room);
  bb_sweep_free(harvest);
}

/* The same by board/reader.h. */
static void look(const struct bb_board_header *h) {
  struct bb_board b;
  struct bb_look look;
  char why[256] = "";
  if (bb_board_open(&b, path, (uid_t)-1, why, sizeof why) != BB_READY) {
    MUST(why[0] != 0 && strchr(why, '\n') == NULL, "the fault is not one line: %s", why);
    return;
  }
  look_at_tables(&b, h);
  collect(&b, h);
  const size_t room = bb_board_snapshot_bytes(&b);
  MUST(room <= h->header_bytes + (size_t)h->capacity * ((size_t)h->column_stride + h->record_stride),
       "a snapshot of %zu", room);
  void *copy = malloc(room);
  MUST(copy != NULL, "no memory");
  if (bb_board_snapshot(&b, copy, room, 0, &look) == 0) {
    MUST(look.nodes <= h->capacity, "%" PRIu64 " nodes", look.nodes);
    overview(copy, room, &look);
  }
  free(copy);
  const size_t roll = bb_board_bytes(&b, 0);
  copy = malloc(roll);
  MUST(copy != NULL, "no memory");
  if (bb_board_begin(&b, copy, roll, 0, 0, &look) != NULL) {
    MUST(look.nodes <= h->capacity, "a roll of %" PRIu64, look.nodes);
    uint8_t *states = malloc(look.nodes + 1);
    MUST(states != NULL && bb_overview_states(copy, roll, &look, states), "no states of %" PRIu64 " nodes", look.nodes);
    for (uint64_t i = 0; i < look.nodes; i++) MUST(states[i] < BEOBOARD_NSTATES, "state %d", states[i]);
    free(states);
  }
  free(copy);
  char names[64 * BB_NAME_BYTES];
  uint32_t numbers[64];
  for (uint32_t i = 0; i < 64; i++) numbers[i] = i;
  if (look.nodes < 64) bb_board_names(&b, numbers, look.nodes, names);
  static const struct bb_memory nothing[64];
  static struct bb_memory memories[64];
  const int64_t changed = bb_board_memories(&b, nothing, memories, numbers, 64);
  MUST(changed <= 64, "%" PRId64 " memories", changed);
  for (int64_t i = 0; i < changed; i++) MUST(numbers[i] < h->capacity, "the memory of node %u", numbers[i]);
  numbers[0] = h->capacity;
  MUST(bb_board_names(&b, numbers, 1, names) == -1, "a name beyond the last one");
  for (size_t i = 0; i < 4; i++) {
    const int64_t found = bb_board_find(&b, listed[i]);
    MUST(found >= -1 && found < (int64_t)h->capacity, "%s is node %" PRId64, listed[i], found);
  }
  bb_board_close(&b);
}

static struct bb_sender senders[BB_SENDERS];
static uint64_t events_before, numbered;

/* What else a receiver does: links come and go, strangers knock, it looks after links and says that it has heard
 * everything. */
static void receive_on(struct bb_writer *w, int64_t ns) {
  const struct bb_board_header *h = bb_writer_header(w);
  const uint32_t link = bb_links_add(bb_writer_links(w), "eth9", false, 9, ns);
  numbered = h->links_used;
  MUST(link == BB_LINK_OTHERS ||
           (link > 0 && link <= numbered && strcmp(bb_links_entry(bb_writer_links(w), link)->name, "eth9") == 0),
       "link %u", link);
  events_before = h->event_last;
  for (uint32_t i = 0; i <= BB_LINKS; i++) {
    bb_links_set_state(bb_writer_links(w), i, i, 0, false, ns);
    bb_links_set_state(bb_writer_links(w), i, i, BB_LINK_STATE_UP, true, ns);
    bb_links_add_missed(bb_writer_links(w), i, 3);
  }
  MUST(h->event_last > events_before, "no link went down or up");
  for (uint8_t who = 1; who <= 2 * BB_SENDERS_EACH; who++)
    MUST(lay_junk(w, who, ns) == BB_REASON_MAGIC, "junk was taken");
  bb_writer_overflowed(w, 1);
  bb_writer_listening_since(w, ns);
  bb_links_survey(bb_writer_links(w));
  bb_writer_heartbeat(w, ns + 1);
  bb_writer_survey(w, ns + 1);
  bb_writer_senders(w, senders);
}

/* And finds it on the board. */
static void read_on(struct bb_writer *w) {
  const struct bb_board_header *h = bb_writer_header(w);
  struct bb_board b;
  struct bb_link_copy links[BB_LINKS];
  static struct bb_event events[BB_EVENTS];
  uint32_t numbers[BB_LINKS];
  uint64_t next = events_before + 1;
  char why[256] = "";
  MUST(bb_board_open(&b, taken, (uid_t)-1, why, sizeof why) == BB_READY, "%s", why);
  const int n = bb_board_links(&b, links, numbers);
  MUST((uint64_t)n == numbered + 1, "%d links", n);
  for (int i = 0; i < n; i++)
    MUST((links[i].link.state & ~(uint64_t)BB_LINK_STATE_IN_PIECES) == BB_LINK_STATE_UP &&
             links[i].evidence.heartbeat_ns == h->heartbeat_ns &&
             links[i].evidence.listening_since_ns == h->listening_since_ns && links[i].evidence.heartbeat_ns != 0,
         "link %u", numbers[i]);
  const int count = bb_board_events(&b, &next, events, BB_EVENTS);
  MUST((uint64_t)count == h->event_last - events_before && next == h->event_last + 1, "%d events", count);
  bb_board_close(&b);
}

/* Has the board say that its writer has gone: by the lock under which it was written, or else as one that was closed. A
 * receiver takes it over in place, or by a copy. Of any other it would first watch whether it has a writer who lives,
 * for longer than a thousand inputs take. */
static void say_left(bool in_place) {
  char lock[160];
  struct stat st;
  struct bb_board_header h;
  if (pread(file, &h, sizeof h, 0) != (ssize_t)sizeof h) return;
  snprintf(lock, sizeof lock, "%s.lock", taken);
  const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  MUST(fd >= 0 && fstat(fd, &st) == 0, "cannot make %s", lock);
  close(fd);
  if (in_place) h.lock_inode = (uint64_t)st.st_ino;
  else h.state |= BB_BOARD_STATE_CLOSED;
  MUST(pwrite(file, &h, sizeof h, 0) == (ssize_t)sizeof h, "cannot write %s", path);
}

/* Whatever stood in the memories of trouble, a writer leaves nothing there that cannot be. Of times only their order:
 * the stamps of reports may be any. */
static void check_memories(bool is_settled) {
  struct bb_board b;
  char why[256] = "";
  MUST(bb_board_open(&b, taken, (uid_t)-1, why, sizeof why) == BB_READY, "%s", why);
  const uint8_t *record = b.map + b.header.records_offset + b.header.memory_offset;
  for (uint64_t i = 0; i < bb_board_count(&b); i++, record += b.header.record_stride) {
    const char *fault = memory_fault((const struct bb_memory *)(const void *)record, UINT64_MAX, is_settled);
    MUST(fault == NULL, "of record %" PRIu64 ": %s", i, fault);
  }
  bb_board_close(&b);
}

/* A receiver is started on it. */
static void take_over(bool in_place) {
  static struct beoboard_slot newest;
  say_left(in_place);
  MUST(rename(path, taken) == 0, "cannot rename");
  struct bb_writer *w = open_writer(taken, NULL, 0);
  if (w != NULL) {
    const int64_t ns = bb_clock_ns(CLOCK_MONOTONIC);
    check_memories(true);
    const int outcome = lay(w, "node1", 1000, false, ns);
    MUST(outcome >= -1 && outcome < BB_REASON_COUNT, "outcome %d", outcome);
    receive_on(w, ns);
    beoboard *b;
    const int opened = beoboard_open(&b, taken, 0);
    MUST(opened == 0, "what was taken over is not readable: %d", opened);
    const int index = beoboard_index(b, "node1");
    if (outcome == 0)
      MUST(index >= 0 && beoboard_reports(b, index, &newest, NULL, sizeof newest) > 0 && newest.report.seq == 1000,
           "the report is not there");
    if (outcome == 0) MUST(beoboard_state(b, index) == BEOBOARD_LIVE, "the node is not live");
    beoboard_close(b);
    read_on(w);
    check_memories(false);
    bb_writer_close(w);
  }
  unlink(taken);
  close(file);
  file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  MUST(file >= 0, "cannot make %s", path);
}

enum { TAKEN = 2, RAW = 5, IN_PLACE = 8 };

static uint8_t make_board(struct input *in) {
  const uint8_t flags = (uint8_t)draw(in, 1);
  memset(now, 0, now_bytes > REACH ? now_bytes : REACH);
  refresh_good((flags & TAKEN) != 0 && (flags & RAW) != RAW ? &whole : &small);
  if ((flags & RAW) == RAW) {
    now_bytes = in->left < REACH ? in->left : REACH;
    memset(now, 0, small.bytes);
    memcpy(now, in->at, now_bytes);
    in->left = 0;
  } else {
    edit(in);
  }
  store();
  return flags;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_started;
  if (!is_started) start();
  is_started = true;
  struct input in = {data, size};
  const uint8_t flags = make_board(&in);
  struct bb_board_header h;
  memcpy(&h, now, sizeof h);
  fuzz_units++;
  beoboard *b = NULL;
  const int opened = beoboard_open(&b, path, 0);
  MUST(opened == 0 || opened == -EAGAIN || opened == -EBADMSG || opened == -EUCLEAN || opened == -ESTALE,
       "opening gives %d", opened);
  MUST((opened == 0) == (b != NULL), "a handle with %d", opened);
  MUST(opened != 0 || (now_bytes >= sizeof h && is_sound(&h)), "a board was opened that is not sound");
  MUST(size > 1 || (flags & RAW) == RAW || opened == 0, "the good board is not opened: %d", opened);
  if (now_bytes >= sizeof h) look(&h);
  if (opened == 0) {
    ask(b, &h);
    struct bb_board mapped_board;
    char why[256];
    const bool is_open = in.left > 0 && bb_board_open(&mapped_board, path, (uid_t)-1, why, sizeof why) == BB_READY;
    if (in.left > 0) { /* and while it is mapped; cut short it must not be: that is SIGBUS, and only its owner can */
      const size_t mapped = now_bytes;
      edit(&in);
      now_bytes = mapped;
      store();
      ask(b, &h);
      if (is_open) look_at_tables(&mapped_board, &h);
      if (is_open) collect(&mapped_board, &h);
      MUST(beoboard_refresh(b) <= 1, "refreshing gives more than 1");
    }
    if (is_open) bb_board_close(&mapped_board);
    beoboard_close(b);
  }
  if ((flags & TAKEN) != 0) take_over((flags & IN_PLACE) != 0);
  return 0;
}

/* The state of opening; then each node by what the library says. The file stands at the path in the first line. */
void fuzz_tell(const uint8_t *data, size_t size, FILE *out) {
  char name[512];
  snprintf(name, sizeof name, "%.*s", (int)size, (const char *)data);
  beoboard *b;
  const int opened = beoboard_open(&b, name, 0);
  if (opened != 0) {
    fprintf(out, "%s",
            opened == -ENOENT    ? "absent"
            : opened == -EAGAIN  ? "starting"
            : opened == -EUCLEAN ? "truncated"
            : opened == -ESTALE  ? "retired"
                                 : "foreign");
    return;
  }
  const int count = beoboard_count(b);
  fprintf(out, "ready %d", count);
  for (int i = 0; i < count; i++) {
    struct beoboard_node node;
    struct beoboard_slot newest, before;
    const int read = beoboard_read(b, i, &node, sizeof node);
    const int had = beoboard_reports(b, i, &newest, &before, sizeof newest);
    if (read != 0 || had < 0) {
      fprintf(out, " ?");
      continue;
    }
    fputc(' ', out);
    for (const char *c = node.name; *c != 0; c++) fprintf(out, "%02x", (uint8_t)*c);
    fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%d", beoboard_state_name((int)node.state), node.reports, node.lost, had);
    if (had > 0) fprintf(out, ",%" PRIu32 ",%" PRIu64, newest.report.seq, newest.report.boot_id);
    if (had > 1) fprintf(out, ",%" PRIu32, before.report.seq);
  }
  beoboard_close(b);
}

/* Fuzzes the laying of what a relay carries. An input is a list of steps: an honest master hears nodes, its relay sends
 * batches and indexes of that by pings that are good or bad, some are left out, time goes on; or any bytes come as a
 * message, or an honest one with some of them changed.
 *
 * What must hold, whatever comes:
 *   - a reader finds a sound board at the path, with no more records than there is room for, and no stamp or heartbeat
 *     later than now;
 *   - the newest slot of a record and its word are of one report: stamp, link, interval and goodbye are the same;
 *   - what is remembered of trouble is sound, and nothing of it later than now;
 *   - with a key, the newest slot has a report that is signed with it, newer than the one before it;
 * and while all that came was honest:
 *   - a report on the board is one that the master has heard, and no younger than that;
 *   - nobody is silent by the board whom the master itself, by what it has said so far, does not call silent. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../board/newest.h"
#include "../../board/reader.h"
#include "../../judge/liveness.h"
#include "../../relay/mirror.h"
#include "../../rules/mac.h"
#include "../memoryfault.h"
#include "fuzz.h"

const char fuzz_unit[] = "messages";
uint64_t fuzz_units;

#define SECOND INT64_C(1000000000)
#define CAPACITY 4u
#define NODES 5u /* more than there is room for */
#define LINKS 2u
#define MOST_REPORTS 256u
#define MOST_STEPS 200u
/* The master's clock is behind by so much. */
#define OFFSET (77 * SECOND)
#define UNCERTAIN (SECOND * 9 / 2)
#define SILENT (SECOND * 21 / 2)

static char path[128];
static struct bb_mirror *mirror;
/* Of the board that was begun last: the one before it stands at the path until it is whole. */
static uint64_t instance;

/* Nodes sign, but for one; whether that matters is the mirror's choice. */
static const struct bb_key key = {.id = 1, .secret = {1, 2, 3}};
static struct bb_hmac mac;

/* What the master has heard, by its own clock. */
struct master {
  struct bb_report report[NODES];
  uint64_t head[NODES], stamp[NODES], link[NODES];
  uint32_t count;
  uint64_t heartbeat[LINKS + 1], since;
  uint64_t sequence;
  uint32_t index;
};

struct play {
  struct input *in;
  struct master is;
  int64_t now_ns;
  uint32_t seq;
  uint64_t stamp_of[MOST_REPORTS]; /* of each report by its seq, by the master's clock */
  uint64_t said[LINKS + 1];        /* the latest heartbeat of each link that was sent, by the master's clock */
  bool honest;
  bool verifies; /* the mirror, with the key */
};

static uint64_t there(const struct play *p) { return (uint64_t)(p->now_ns - OFFSET); }

/* `room`: records; `followed`: which of the masters. */
static void begin(struct play *p, bool verifies, uint32_t room, uint32_t followed) {
  const char *masters[] = {"m1", "m2"};
  p->verifies = verifies;
  const struct bb_mirror_options o = {.path = path,
                                      .site = "home",
                                      .masters = masters,
                                      .master_count = 2,
                                      .cluster_name = "",
                                      .capacity = room,
                                      .followed = followed,
                                      .uncertain_after_ns = UNCERTAIN,
                                      .silent_after_ns = SILENT,
                                      .instance = ++instance,
                                      .origin = instance % 3,
                                      .now_ns = p->now_ns,
                                      .keys = &key,
                                      .key_count = verifies,
                                      .required = BB_AUTH_ALG_CLUSTER,
                                      .clock_window_ns = 60 * SECOND};
  char why[256] = "";
  if (mirror == NULL) mirror = bb_mirror_open(&o, why, sizeof why);
  else MUST(bb_mirror_renew(mirror, &o, why, sizeof why), "%s", why);
  MUST(mirror != NULL, "%s", why);
}

/* The mirror ends, some words of its board become others, or it is cut, and a mirror starts again. */
static void restart(struct play *p, uint8_t how) {
  bb_mirror_close(mirror);
  mirror = NULL;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat st;
  MUST(file >= 0 && fstat(file, &st) == 0, "no board is there");
  const uint64_t words = (uint64_t)st.st_size / 8;
  const struct bb_board_header *h = NULL;
  struct bb_board_header header;
  MUST(pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header, "it is short");
  h = &header;
  if ((how & 1) != 0) p->honest = false;
  for (uint64_t n = (how & 1) == 0 ? 0 : draw(p->in, 1) % 8; n > 0; n--) {
    /* Half of them in records, the rest in the index and the column, or the header behind its first word. */
    const uint64_t where = draw(p->in, 3), value = draw(p->in, 1) % 4 == 0 ? draw(p->in, 8) : draw(p->in, 1);
    const uint64_t first = (where & 1) != 0 ? h->records_offset / 8 : (where & 2) != 0 ? h->index_offset / 8 : 1;
    const uint64_t last = (where & 1) != 0 ? words : (where & 2) != 0 ? h->records_offset / 8 : sizeof *h / 8;
    const uint64_t at = (first + where / 4 % (last - first)) * 8;
    MUST(pwrite(file, &value, sizeof value, (off_t)at) == (ssize_t)sizeof value, "cannot write it");
  }
  if ((how & 14) == 14) MUST(ftruncate(file, (off_t)(8 + draw(p->in, 3) % (uint64_t)st.st_size)) == 0, "cannot cut it");
  close(file);
  begin(p, (how & 32) != 0, 1 + how / 16 % CAPACITY, how >> 7);
}

static void end(void) {
  if (mirror != NULL) bb_mirror_close(mirror);
  char command[160];
  snprintf(command, sizeof command, "rm -rf %s", fuzz_path(""));
  if (system(command) != 0) return;
}

/* ---- messages ---- */

static uint8_t message[16384];
static size_t length;

static void *put(size_t bytes) {
  MUST(length + bytes <= sizeof message, "a message is too long");
  void *at = message + length;
  memset(at, 0, bytes);
  length += bytes;
  return at;
}

static void head(const struct play *p, uint32_t kind) {
  length = 0;
  struct bb_relay_head *h = (struct bb_relay_head *)put(sizeof *h);
  *h = (struct bb_relay_head){.magic = BB_RELAY_MAGIC,
                              .version = BB_RELAY_VERSION,
                              .kind = kind,
                              .sequence = p->is.sequence,
                              .taken_ns = there(p)};
}

static void evidence(const struct master *m, struct bb_link_evidence *out) {
  for (unsigned i = 1; i <= LINKS; i++) {
    out[i].heartbeat_ns = m->heartbeat[i];
    out[i].listening_since_ns = m->since;
  }
  out[BB_LINK_OTHERS].heartbeat_ns = m->heartbeat[1];
  out[BB_LINK_OTHERS].listening_since_ns = m->since;
}

static void make_batch(struct play *p, uint32_t which) {
  struct master *m = &p->is;
  m->sequence++;
  head(p, BB_RELAY_KIND_BATCH);
  struct bb_relay_board *b = (struct bb_relay_board *)put(sizeof *b);
  b->stat_hash = BB_HASH_STAT_V1;
  b->flags = BB_RELAY_FLAGS_COMPLETE;
  b->heartbeat_ns = m->heartbeat[1];
  b->listening_since_ns = m->since;
  b->count = m->count;
  evidence(m, b->evidence);
  for (uint32_t i = 1; i <= LINKS; i++, b->entries++) {
    struct bb_relay_link *e = (struct bb_relay_link *)put(sizeof *e);
    e->kind = BB_RELAY_ENTRY_LINK;
    e->bytes = sizeof *e;
    e->number = i;
    e->link.name[0] = (char)('a' + i);
    e->link.state = BB_LINK_STATE_UP;
  }
  for (uint32_t i = 0; i < m->count; i++) {
    if ((which >> i & 1) == 0) continue;
    struct bb_relay_report *e = (struct bb_relay_report *)put(sizeof *e);
    *e = (struct bb_relay_report){.kind = BB_RELAY_ENTRY_REPORT,
                                  .bytes = sizeof *e,
                                  .record = i,
                                  .head = m->head[i],
                                  .stamp_ns = m->stamp[i],
                                  .stamp_real_ns = m->stamp[i],
                                  .link = m->link[i],
                                  .report = m->report[i]};
    b->entries++;
  }
}

static uint32_t name_of(const char *name) { return (uint32_t)(bb_name_hash(name, 0) >> 32); }

static void make_index(struct play *p) {
  struct master *m = &p->is;
  head(p, BB_RELAY_KIND_INDEX);
  struct bb_relay_index *x = (struct bb_relay_index *)put(sizeof *x);
  x->number = ++m->index;
  x->parts = 1;
  x->count = x->records = m->count;
  x->links_well = UINT64_MAX;
  evidence(m, x->evidence);
  for (uint32_t i = 0; i < m->count; i++) {
    struct bb_relay_indexed *e = (struct bb_relay_indexed *)put(sizeof *e);
    *e = (struct bb_relay_indexed){name_of(m->report[i].hostname), (uint32_t)(m->head[i] / 2),
                                   BB_COLUMN(m->stamp[i] / 1000000u, m->link[i], m->report[i].interval_ms, 0)};
  }
}

/* Some bytes of what is there become others. */
static void spoil(struct play *p) {
  p->honest = false;
  for (uint64_t n = 1 + draw(p->in, 1) % 4; n > 0; n--) {
    const size_t at = draw(p->in, 2) % length;
    if ((n & 1) != 0 || at + 8 > length) message[at] = (uint8_t)draw(p->in, 1);
    else {
      const uint64_t value = draw(p->in, 8);
      memcpy(message + at, &value, sizeof value);
    }
  }
  if (draw(p->in, 1) % 8 == 0) length = draw(p->in, 2) % (length + 1);
}

/* In memory of just that size. */
static void deliver(struct play *p, uint32_t error_ms, uint8_t as) {
  const int64_t error = (int64_t)error_ms * 1000000;
  const struct bb_mirror_clock clock = {p->now_ns - error, p->now_ns - error / 2 - OFFSET, p->now_ns};
  uint8_t *exact = (uint8_t *)malloc(length > 0 ? length : 1);
  memcpy(exact, message, length);
  fuzz_units++;
  enum bb_mirror_outcome outcome;
  if (as == 0) outcome = bb_mirror_batch(mirror, exact, length, &clock, p->now_ns);
  else if (as == 1) outcome = bb_mirror_index(mirror, exact, length, p->now_ns);
  else outcome = bb_mirror_claims(mirror, 1, exact, length, p->now_ns);
  free(exact);
  MUST(!p->honest || outcome == BB_MIRROR_ACCEPTED || outcome == BB_MIRROR_UNPLACED,
       "an honest message was not taken: %d", (int)outcome);
  if (as == 0 && outcome == BB_MIRROR_ACCEPTED && p->honest) memcpy(p->said, p->is.heartbeat, sizeof p->said);
}

/* ---- what must hold ---- */

static void check_record(const struct play *p, const struct bb_board *b, uint32_t i) {
  struct bb_slot slot;
  int which;
  const uint64_t sequence = bb_newest_of(b, i, &slot, sizeof slot, &which);
  const uint64_t word = bb_load(
      (const uint64_t *)(const void *)(b->map + b->header.column_offset + (uint64_t)i * b->header.column_stride));
  MUST(sequence != 1, "a slot is not whole");
  if (sequence == 0) {
    MUST(word == 0, "a word without a report");
    return;
  }
  MUST((int64_t)slot.stamp_ns <= p->now_ns && slot.stamp_ns > 0, "a stamp of %" PRIu64 " at %" PRId64, slot.stamp_ns,
       p->now_ns);
  const uint8_t *record = b->map + b->header.records_offset + (uint64_t)i * b->header.record_stride;
  const struct bb_memory *m = (const struct bb_memory *)(const void *)(record + b->header.memory_offset);
  const char *fault = memory_fault(m, (uint64_t)p->now_ns, true);
  MUST(fault == NULL, "remembered: %s", fault);
  MUST(word == BB_COLUMN(slot.stamp_ns / 1000000u, slot.link, slot.report.interval_ms,
                         (slot.report.flags & BB_FLAGS_GOODBYE) != 0),
       "word and slot differ");
  if (p->verifies) {
    uint8_t tag[BB_MAC_BYTES];
    struct bb_slot before;
    bb_mac(&mac, &slot.report, offsetof(struct bb_report, tag), tag);
    MUST(memcmp(tag, slot.report.tag, sizeof slot.report.tag) == 0, "a report that its node has not signed");
    memcpy(&before, b->map + b->header.records_offset + (uint64_t)i * b->header.record_stride + b->header.slots_offset +
                        (uint64_t)(1 - which) * b->header.slot_stride, sizeof before);
    /* By its time, because a node that starts again begins to count anew. */
    MUST(before.head == 0 || before.report.t_boot_ns <= slot.report.t_boot_ns, "a report that came before");
  }
  if (!p->honest) return;
  const uint32_t seq = slot.report.seq;
  MUST(seq > 0 && seq <= p->seq, "a report that nobody sent");
  const int64_t heard = (int64_t)p->stamp_of[seq] + OFFSET;
  MUST((int64_t)slot.stamp_ns <= heard, "a report is younger than it is");
  if (slot.link == BB_LINK_UNKNOWN || slot.link > LINKS) return;
  struct bb_said by;
  bb_board_said(b, &by);
  const struct bb_link_evidence *e = &by.links[slot.link];
  if ((int64_t)(e->heartbeat_ns - slot.stamp_ns) <= SILENT ||
      (int64_t)(e->heartbeat_ns - e->listening_since_ns) <= SILENT)
    return;
  MUST((int64_t)(p->said[slot.link] - p->stamp_of[seq]) > SILENT &&
           (int64_t)(p->said[slot.link] - p->is.since) > SILENT,
       "silent here, and not at the master");
}

static void check(const struct play *p) {
  char why[256];
  struct bb_board b;
  memset(&b, 0, sizeof b);
  const enum bb_state state = bb_board_open(&b, path, (uid_t)-1, why, sizeof why);
  MUST(state == BB_READY, "state %d: %s", (int)state, why);
  struct bb_mirror_counts counts;
  bb_mirror_counts(mirror, &counts);
  const uint64_t count = bb_board_count(&b);
  MUST(count <= CAPACITY && counts.missing <= CAPACITY && counts.vetoed <= CAPACITY && counts.doubtful <= CAPACITY,
       "more than there is room for");
  const struct bb_board_header *h = (const struct bb_board_header *)(const void *)b.map;
  const bool is_this = bb_load(&h->instance) == instance;
  struct bb_said said;
  bb_board_said(&b, &said);
  MUST(!is_this || (int64_t)said.heartbeat <= p->now_ns, "a heartbeat from the future");
  for (unsigned i = 1; is_this && i < BB_LINKS; i++)
    MUST((int64_t)said.links[i].heartbeat_ns <= p->now_ns, "a link's heartbeat from the future");
  for (uint32_t i = 0; is_this && i < count; i++) check_record(p, &b, i);
  bb_board_close(&b);
}

static void hear(struct play *p) {
  struct master *m = &p->is;
  const uint32_t i = (uint32_t)(draw(p->in, 1) % NODES);
  if (p->seq + 1 >= MOST_REPORTS) return;
  if (i >= m->count) {
    if (m->count == NODES) return;
    m->count++;
  }
  const uint32_t n = i < m->count ? i : m->count - 1;
  struct bb_report *r = &m->report[n];
  if (m->head[n] == 0) {
    r->magic = 0x31525342;
    r->version = 1;
    r->length = sizeof *r;
    r->boot_id = 7;
    r->interval_ms = 1000;
    r->valid = 0;
    snprintf(r->hostname, sizeof r->hostname, "n%u", n);
  }
  r->seq = ++p->seq;
  r->t_boot_ns = r->t_real_ns = there(p);
  if (n != 1) {
    uint8_t tag[BB_MAC_BYTES];
    r->key_id = key.id;
    r->auth_alg = BB_AUTH_ALG_CLUSTER;
    bb_mac(&mac, r, offsetof(struct bb_report, tag), tag);
    memcpy(r->tag, tag, sizeof r->tag);
  }
  m->head[n] += 2;
  m->stamp[n] = p->stamp_of[p->seq] = there(p);
  m->link[n] = 1 + n % LINKS;
}

static void step(struct play *p) {
  const uint8_t op = (uint8_t)draw(p->in, 1), with = (uint8_t)draw(p->in, 1);
  /* What arrived before a heartbeat is in the column by then. */
  switch (op % 12) {
    case 0:
    case 1: hear(p); break;
    case 2:
      p->now_ns += (int64_t)with * (SECOND / 10);
      for (unsigned i = 1; i <= LINKS; i++) p->is.heartbeat[i] = there(p);
      break;
    case 3:
    case 4:
      /* A batch holds all that has changed; what it leaves out, its relay cannot have taken: then there was a gap. */
      make_batch(p, UINT32_MAX);
      deliver(p, with % 200, 0);
      break;
    case 5: /* some of the batches before it were lost */
      make_batch(p, with);
      bb_mirror_gap(mirror, p->now_ns);
      deliver(p, 1, 0);
      break;
    case 6:
      make_index(p);
      deliver(p, 0, 1);
      break;
    case 7: /* another master says whom it hears: the same, or as it is with other stamps */
      make_index(p);
      deliver(p, 0, 2);
      break;
    case 8: bb_mirror_review(mirror, with, p->now_ns); break;
    case 9: {
      uint32_t numbers[CAPACITY + 1];
      MUST(bb_mirror_missing(mirror, numbers, with % (CAPACITY + 2)) <= CAPACITY,
           "more missing than there is room for");
      if (with % 16 == 15) {
        if (with > 128) bb_mirror_distrust(mirror);
        begin(p, (with & 32) != 0, 1 + with / 16 % CAPACITY, with >> 7);
      } else if (with % 16 == 14 || with % 16 == 3) {
        restart(p, (uint8_t)draw(p->in, 1));
        begin(p, p->verifies, CAPACITY, 0);
      }
      break;
    }
    case 10:
      if (with % 3 == 0) make_batch(p, UINT32_MAX);
      else make_index(p);
      spoil(p);
      deliver(p, with % 50, with % 3);
      break;
    default: {
      p->honest = false;
      length = p->in->left < sizeof message ? p->in->left : sizeof message;
      memcpy(message, p->in->at, length);
      p->in->at += length;
      p->in->left -= length;
      deliver(p, with, op % 3);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input in = {data, size};
  static struct play p;
  static uint64_t inputs;
  memset(&p, 0, sizeof p);
  p.in = &in;
  p.honest = true;
  /* Hours from the inputs before. */
  p.now_ns = (100000 + (int64_t)(inputs++ % 10000) * 20000) * SECOND;
  p.is.since = there(&p);
  for (unsigned i = 1; i <= LINKS; i++) p.is.heartbeat[i] = there(&p);
  if (mirror == NULL) {
    char folder[120];
    strcpy(folder, fuzz_path("mirror"));
    MUST(mkdir(folder, 0755) == 0, "cannot make %s", folder);
    snprintf(path, sizeof path, "%.100s/board", folder);
    bb_hmac_key(&mac, key.secret, sizeof key.secret);
    atexit(end);
  }
  begin(&p, false, CAPACITY, 0);
  for (unsigned n = 0; in.left > 0 && n < MOST_STEPS; n++) step(&p);
  check(&p);
  return 0;
}

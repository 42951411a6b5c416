/* Fuzzes what becomes of datagrams: validation, tags, the rules of order, and the board. An input is a board's
 * configuration, then steps that edit a report, sign it, move the clocks and deliver it, so that the rules are reached
 * and not only the magic; or that deliver bytes as they are.
 *
 * After each datagram, held against rules that are restated here by hand from proto/stat-v1.md and proto/board-v2.md:
 *   - the reason is the first of the ladder, or there is none;
 *   - nothing has changed on the board but what this outcome changes, to the byte;
 *   - what was accepted stands there as it came, and the report before it beside it, as the library reads them;
 *   - what had to be signed was signed by us; nothing signed is taken twice; a duplicate has come before; whoever goes
 *     on reporting is taken once the reset limit has passed;
 *   - a refusal is noted where it has to be, and pushes out nobody who is kept: who came again stays for a minute,
 *     whatever flood of invented addresses comes; of what names no record ten events are told of in a second, of all
 *     else each kind once in a minute;
 *   - the counters add up to the number of datagrams. */
#include <net/if.h>

#include "../../base/sha256.h"
#include "../../beoboard.h"
#include "../../board/reader.h"
#include "../../board/writer.h"
#include "../../judge/problems.h"
#include "../../rules/order.h"
#include "../memoryfault.h"
#include "fuzz.h"

const char fuzz_unit[] = "datagrams";
uint64_t fuzz_units;

#define SECOND INT64_C(1000000000)
#define CAPACITY 3u /* less than there are names: boards are full */
#define NAMES 5u
#define CLUSTER_ID 0x1234abcdu
#define MOST_DATAGRAMS 400u
#define KEPT 4u
#define MOST_SIGNATURES 64u

static const struct configuration {
  size_t keys;
  enum bb_auth_alg required;
  uint64_t window_ns;
  bool listed;
} configurations[] = {
  {0, BB_AUTH_ALG_NONE, BB_CLOCK_WINDOW_OFF, false},        {0, BB_AUTH_ALG_NONE, BB_CLOCK_WINDOW_OFF, true},
  {2, BB_AUTH_ALG_NONE, UINT64_C(300000000000), false},     {2, BB_AUTH_ALG_CLUSTER, UINT64_C(300000000000), false},
  {1, BB_AUTH_ALG_NODE, UINT64_C(300000000000), false},     {2, BB_AUTH_ALG_NODE, BB_CLOCK_WINDOW_OFF, true},
};
#define CONFIGURATIONS (sizeof configurations / sizeof configurations[0])

static const struct bb_key keys[] = {{7, "the first key, of 32 bytes: one."},
                                     {40000, "another key with as many bytes.."}};
static const char *const names[NAMES] = {"node1", "n2", "a.b-c_d", "0", "node1x"};
static const char *const list[] = {"node1", "n2"};

/* A board that lives as long as the process; it begins anew with each input. */
struct place {
  const struct configuration *is;
  char path[128];
  struct bb_writer_options options;
  struct bb_writer *writer;
  beoboard *reader;
  size_t bytes;
  uint64_t inputs;
  uint8_t *empty;  /* the board as it began */
  uint8_t *before; /* the board as it was before the datagram under way; between datagrams the same as the board */
};
static struct place places[CONFIGURATIONS];

/* The writer's own mapping, which is const to all but a fuzzer. */
static uint8_t *map_of(const struct place *p) { return (uint8_t *)(uintptr_t)bb_writer_header(p->writer); }

static void open_place(struct place *p, size_t number) {
  char why[256] = "", name[16];
  p->is = &configurations[number];
  snprintf(name, sizeof name, "board%zu", number);
  snprintf(p->path, sizeof p->path, "%s", fuzz_path(name));
  p->options = (struct bb_writer_options){.path = p->path,
                                          .cluster_name = "fuzz",
                                          .cluster_id = CLUSTER_ID,
                                          .capacity = CAPACITY,
                                          .uncertain_after_ns = SECOND * 9 / 2,
                                          .silent_after_ns = SECOND * 21 / 2,
                                          .clock_window_ns = p->is->window_ns,
                                          .keys = keys,
                                          .key_count = p->is->keys,
                                          .required = p->is->required};
  p->writer = bb_writer_open(&p->options, why, sizeof why);
  MUST(p->writer != NULL, "%s", why);
  /* Else the same input would take other ways through the index each time. */
  ((struct bb_board_header *)map_of(p))->index_seed = 42;
  if (p->is->listed) {
    p->options.nodes = list;
    p->options.node_count = 2;
    MUST(bb_writer_change(p->writer, &p->options, why, sizeof why), "%s", why);
  }
  MUST(beoboard_open(&p->reader, p->path, 0) == 0, "the library does not open %s", p->path);
  p->bytes = (size_t)bb_writer_header(p->writer)->file_bytes;
  p->empty = (uint8_t *)malloc(p->bytes);
  memcpy(p->empty, map_of(p), p->bytes);
  p->before = (uint8_t *)malloc(p->bytes);
  memcpy(p->before, p->empty, p->bytes);
}

/* The ring of events is most of a board, and a place of it changes at a time: it is compared where it may have changed,
 * and all of it at the end of each input. */
static bool differs(const struct place *p) {
  const struct bb_board_header *h = bb_writer_header(p->writer);
  const size_t ring = (size_t)h->events_offset, behind = (size_t)h->index_offset;
  const uint8_t *after = map_of(p);
  return memcmp(p->before, after, ring) != 0 || memcmp(p->before + behind, after + behind, p->bytes - behind) != 0;
}

static void close_places(void) {
  char lock[160];
  for (size_t i = 0; i < CONFIGURATIONS; i++) {
    beoboard_close(places[i].reader);
    bb_writer_close(places[i].writer);
    free(places[i].empty);
    free(places[i].before);
    unlink(places[i].path);
    snprintf(lock, sizeof lock, "%s.lock", places[i].path);
    unlink(lock);
  }
  rmdir(fuzz_path(""));
  fprintf(stderr, "%" PRIu64 " %s\n", fuzz_units, fuzz_unit);
}

static void begin(struct place *p) {
  char why[256] = "";
  const struct bb_board_header *h = bb_writer_header(p->writer);
  const size_t ring = (size_t)h->events_offset, behind = (size_t)h->index_offset;
  const size_t used = (size_t)(h->event_last < BB_EVENTS ? h->event_last + 1 : BB_EVENTS) * sizeof(struct bb_event);
  memcpy(map_of(p), p->empty, ring + used);
  memcpy(map_of(p) + behind, p->empty + behind, p->bytes - behind);
  bb_writer_resumed(p->writer, 0);
  /* Records begin anew: what was derived for the names that they had is not theirs. */
  if (p->is->keys > 0) MUST(bb_writer_change(p->writer, &p->options, why, sizeof why), "%s", why);
  MUST(beoboard_refresh(p->reader) >= 0, "the library lost %s", p->path);
  memcpy(p->before, map_of(p), p->bytes);
}

/* ---- the rules of a report alone ---- */

static uint64_t at(const uint8_t *r, size_t offset, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, r + offset, bytes);
  return value;
}

static bool is_zero(const uint8_t *r, size_t offset, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (r[offset + i] != 0) return false;
  return true;
}

static bool is_name(const uint8_t *r) {
  const char *const any = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  const size_t length = strnlen((const char *)r + 192, 64);
  if (length < 1 || length > 63 || !is_zero(r, 192 + length, 64 - length)) return false;
  if (strspn((const char *)r + 192, any) != length) return false;
  return strchr("._-", r[192]) == NULL;
}

/* By hand from proto/stat-v1.md: "What a receiver checks", in its order. */
static enum bb_reason reason_of(const uint8_t *r, size_t length) {
  if (length != 1216) return BB_REASON_SIZE;
  if (memcmp(r, "BSR1", 4) != 0) return BB_REASON_MAGIC;
  if (at(r, 4, 2) != 1) return BB_REASON_VERSION;
  if (at(r, 6, 2) != 1216) return BB_REASON_LENGTH;
  if (at(r, 8, 4) != CLUSTER_ID) return BB_REASON_CLUSTER;
  if (!is_zero(r, 12, 4) || !is_zero(r, 63, 1) || !is_zero(r, 130, 2) || !is_zero(r, 316, 4) || !is_zero(r, 572, 4) ||
      !is_zero(r, 636, 4) || !is_zero(r, 1082, 6) || at(r, 48, 8) >> 40 != 0 || at(r, 56, 4) >> 9 != 0)
    return BB_REASON_RESERVED;
  if (!is_name(r)) return BB_REASON_NAME;
  if (at(r, 28, 4) < 100 || at(r, 28, 4) > 600000) return BB_REASON_INTERVAL;
  if (r[62] > 2 || r[69] > 4 || r[128] > 3 || r[129] > 2 || r[304] > 5 || r[305] > 2 || r[1042] > 2 || r[1043] > 3)
    return BB_REASON_RANGE;
  return BB_REASON_NONE;
}

/* ---- a play: one input ---- */

struct play {
  struct place *place;
  struct bb_report report; /* the one that is being edited */
  struct bb_report kept[KEPT];
  int64_t now_ns, real_ns;
  unsigned delivered, rebuilt;
  /* Reports that we signed as they are here. */
  struct bb_report *signed_;
  unsigned signatures;
  /* What became of all of them. */
  struct came {
    struct bb_report report;
    int64_t stamp_ns;
    bool accepted;
  } *came;
  /* The last two accepted of each record. */
  struct bb_report newest[CAPACITY], before[CAPACITY];
  unsigned accepted[CAPACITY];
  struct {
    int64_t ns, real_ns;
    enum bb_auth_alg proved;
  } stamp[CAPACITY];
  /* By which interface the next one comes, of so many that not all can have a link; and from where. */
  char interface[IF_NAMESIZE];
  uint8_t from[16];
  /* The second in which events without a record are told of, by the first that was. */
  bool told;
  int64_t told_ns;
  unsigned told_count;
};

static void fill(struct bb_report *r) {
  memset(r, 0, sizeof *r);
  r->magic = 0x31525342;
  r->version = 1;
  r->length = 1216;
  r->cluster_id = CLUSTER_ID;
  r->boot_id = 1;
  r->interval_ms = 1000;
  r->t_boot_ns = 100 * SECOND;
  r->start_boot_ns = 50 * SECOND;
  strcpy(r->hostname, names[0]);
}

/* Makes the tag of a key, or of one that the receiver does not have. */
static void sign(struct play *p, uint8_t how) {
  struct bb_report *r = &p->report;
  if (p->signatures == MOST_SIGNATURES) return;
  struct bb_hmac hmac;
  uint8_t digest[BB_SHA256_BYTES];
  const struct bb_key *key = &keys[how & 1];
  bb_hmac_key(&hmac, key->secret, sizeof key->secret);
  r->auth_alg = (how & 2) != 0 ? BB_AUTH_ALG_NODE : BB_AUTH_ALG_CLUSTER;
  r->key_id = (how & 12) == 12 ? 8 : key->id;
  if (r->auth_alg == BB_AUTH_ALG_NODE) {
    bb_hmac(&hmac, r->hostname, strnlen(r->hostname, 64), digest);
    bb_hmac_key(&hmac, digest, sizeof digest);
  }
  bb_hmac(&hmac, r, offsetof(struct bb_report, tag), digest);
  memcpy(r->tag, digest, sizeof r->tag);
  if ((how & 12) == 12 || (how & 1) >= p->place->is->keys) return;
  p->signed_[p->signatures++] = *r;
}

/* What its tag proves; nobody guesses one. */
static enum bb_auth_alg proof_of(const struct play *p, const struct bb_report *r) {
  if (p->place->is->keys == 0) return BB_AUTH_ALG_NONE;
  for (unsigned i = 0; i < p->signatures; i++)
    if (memcmp(&p->signed_[i], r, sizeof *r) == 0) return (enum bb_auth_alg)r->auth_alg;
  return BB_AUTH_ALG_NONE;
}

static struct bb_record *record_in(uint8_t *map, uint32_t i) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  return (struct bb_record *)(map + h->records_offset + (uint64_t)i * h->record_stride);
}

static struct bb_slot *slot_in(uint8_t *map, uint32_t i, uint32_t slot) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  return (struct bb_slot *)((uint8_t *)record_in(map, i) + h->slots_offset + (uint64_t)slot * h->slot_stride);
}

static uint64_t *word_in(uint8_t *map, uint32_t i) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  return (uint64_t *)(map + h->column_offset + (uint64_t)i * h->column_stride);
}

static uint32_t find_record(uint8_t *map, const char *name) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  for (uint32_t i = 0; i < h->count; i++)
    if (strncmp(record_in(map, i)->name, name, 64) == 0) return i;
  return BB_NO_RECORD;
}

static struct bb_event *event_in(uint8_t *map, uint64_t number) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  return (struct bb_event *)(map + h->events_offset + number % h->events * h->events_stride);
}

static struct bb_sender *senders_in(uint8_t *map, enum bb_reason reason) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  return (struct bb_sender *)(map + h->senders_offset + 8 * (uint64_t)reason * h->senders_stride);
}

static struct bb_link *link_in(uint8_t *map, uint32_t link) {
  const struct bb_board_header *h = (const struct bb_board_header *)map;
  return (struct bb_link *)(map + h->links_offset + (uint64_t)link * h->links_stride);
}

#define ALLOW(field) (was->field = is->field)
#define GROWS(field, by)                                                                                               \
  MUST(is->field == was->field + (by), "it was %" PRIu64 ", and is %" PRIu64, (uint64_t)was->field, (uint64_t)is->field)

/* The next event, which must be this one. */
static void allow_event(uint8_t *before, uint8_t *after, const struct play *p, enum bb_event_kind kind,
                        uint64_t subject, uint64_t detail) {
  struct bb_board_header *was = (struct bb_board_header *)before;
  const struct bb_board_header *is = (const struct bb_board_header *)after;
  const uint64_t number = was->event_last + 1;
  const struct bb_event *e = event_in(after, number);
  MUST(is->event_last >= number, "event %d of %" PRIu64 " was not told", (int)kind, subject);
  was->event_last = number;
  MUST(e->head == 2 * number && e->tail == e->head && e->kind == (uint64_t)kind && e->subject == subject &&
           e->detail == detail && e->stamp_ns == (uint64_t)p->now_ns && e->stamp_real_ns == (uint64_t)p->real_ns &&
           e->reserved0 == 0,
       "event %" PRIu64 " is of kind %" PRIu64 ", subject %" PRIu64 ", detail %" PRIu64 ", and not of %d, %" PRIu64
       ", %" PRIu64,
       number, e->kind, e->subject, e->detail, (int)kind, subject, detail);
  memcpy(event_in(before, number), e, sizeof *e);
}

/* Until when an entry is kept, by "Rejected senders" in proto/board-v2.md. */
static int64_t kept_until(const struct bb_sender *s) {
  return s->head == 0 ? INT64_MIN : (int64_t)s->last_ns + (s->count > 1 ? 60 : 10) * SECOND;
}

/* Where a refusal was noted, if anywhere. Whether that is news. */
static bool allow_sender(uint8_t *before, uint8_t *after, const struct play *p, enum bb_reason reason,
                         const char name[64]) {
  struct bb_sender *was = senders_in(before, reason), *own = NULL, *changed = NULL;
  const struct bb_sender *is = senders_in(after, reason);
  bool may_be_taken = false, is_empty = false;
  uint64_t stalest = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    if (was[i].head != 0 && memcmp(was[i].address, p->from, 16) == 0 && memcmp(was[i].name, name, 64) == 0) {
      MUST(own == NULL, "one sender has two entries");
      own = &was[i];
    }
    if (memcmp(&was[i], &is[i], sizeof was[i]) != 0) {
      MUST(changed == NULL, "one refusal changed two entries");
      changed = &was[i];
    }
    if (kept_until(&was[i]) > p->now_ns) continue;
    may_be_taken = true;
    is_empty = is_empty || was[i].head == 0;
    if (was[i].head != 0 && was[i].last_ns < stalest) stalest = was[i].last_ns;
  }
  if (changed == NULL) {
    MUST(own == NULL && !may_be_taken, "a refusal was not noted");
    return false;
  }
  const struct bb_sender *now = &is[changed - was];
  const bool is_new = own == NULL;
  MUST(is_new || changed == own, "a sender got a second entry");
  if (is_new) {
    MUST(kept_until(changed) <= p->now_ns, "who came %" PRIu64 " times was pushed out after %" PRId64 " ns",
         changed->count, p->now_ns - (int64_t)changed->last_ns);
    MUST(is_empty ? changed->head == 0 : changed->last_ns == stalest,
         "another entry was taken than the one that was longest unheard");
  }
  MUST(now->head == changed->head + 2 && now->tail == now->head, "the sequence of the entry is wrong");
  MUST(now->first_ns == (is_new ? (uint64_t)p->now_ns : own->first_ns) && now->last_ns == (uint64_t)p->now_ns &&
           now->last_real_ns == (uint64_t)p->real_ns && now->count == (is_new ? 1 : own->count + 1) &&
           memcmp(now->address, p->from, 16) == 0 && memcmp(now->name, name, 64) == 0,
       "the entry tells another story");
  memcpy(changed, now, sizeof *changed);
  return is_new;
}

/* A refusal that names no record: whether an event may tell of it. */
static bool may_be_told(struct play *p) {
  if (!p->told || p->now_ns - p->told_ns >= SECOND) {
    p->told = true;
    p->told_ns = p->now_ns;
    p->told_count = 0;
  }
  return p->told_count++ < 10;
}

/* Whether the record says what it was refused for: nothing but what the node itself made, as far as anybody can
 * know. */
static bool is_of_node(const struct play *p, enum bb_reason reason) {
  if (p->place->is->keys > 0) return reason > BB_REASON_TAG;
  return reason != BB_REASON_AUTH_MISSING && reason != BB_REASON_KEY_ID && reason != BB_REASON_TAG;
}

/* What a refusal leaves in the record, beside counters. Taken over into the board as it was, so that all else must be
 * equal. Whether it is news of that node. */
static bool allow_refusal(struct bb_record *was, const struct bb_record *is, enum bb_reason reason,
                          const struct play *p) {
  GROWS(refused, 1);
  ALLOW(refused);
  GROWS(late, reason == BB_REASON_LATE);
  ALLOW(late);
  if (!is_of_node(p, reason)) return false;
  const uint64_t kind = UINT64_C(1) << reason;
  const bool is_stale = p->now_ns - (int64_t)was->refusal_ns > 60 * SECOND,
             is_news = is_stale || (was->refused_kinds & kind) == 0;
  MUST(is->refused_kinds == ((is_stale ? 0 : was->refused_kinds) | kind), "the kinds of refusals are wrong");
  ALLOW(refused_kinds);
  GROWS(order_head, 2);
  GROWS(order_tail, is->order_head - was->order_tail);
  ALLOW(order_head);
  ALLOW(order_tail);
  MUST(is->refusal_reason == (uint64_t)reason && is->refusal_ns == (uint64_t)p->now_ns &&
           is->refusal_real_ns == (uint64_t)p->real_ns,
       "another refusal is told of than %d", reason);
  ALLOW(refusal_reason);
  ALLOW(refusal_ns);
  ALLOW(refusal_real_ns);
  ALLOW(refusal_offset_us);
  if (reason != BB_REASON_LATE) return is_news && reason > BB_REASON_TAG;
  MUST(is->lost <= was->lost && is->unheard <= was->unheard && was->lost - is->lost + (was->unheard - is->unheard) <= 1,
       "one late report took back more than one");
  ALLOW(lost);
  ALLOW(unheard);
  ALLOW(history);
  ALLOW(history_lost);
  return is_news;
}

/* The link by which a report was accepted, which may be a new one. */
static uint32_t allow_link(uint8_t *before, uint8_t *after, const struct play *p) {
  struct bb_board_header *was = (struct bb_board_header *)before;
  const struct bb_board_header *is = (const struct bb_board_header *)after;
  uint32_t link = p->interface[0] == 0 ? BB_LINK_OTHERS : 1;
  while (link <= was->links_used && strcmp(link_in(before, link)->name, p->interface) != 0) link++;
  if (link > 30) link = BB_LINK_OTHERS;
  MUST(is->links_used == (link > was->links_used && link != BB_LINK_OTHERS ? link : was->links_used),
       "%" PRIu64 " links are used", is->links_used);
  if (is->links_used != was->links_used) {
    struct bb_link made = {.index = 7, .state = BB_LINK_STATE_UP, .changed_ns = (uint64_t)p->now_ns};
    strcpy(made.name, p->interface);
    memcpy(link_in(before, link), &made, sizeof made);
    MUST(was->evidence[link].heartbeat_ns == 0, "a link without an entry had a heartbeat");
    was->evidence[link].listening_since_ns = (uint64_t)p->now_ns;
  }
  was->links_used = is->links_used;
  link_in(before, link)->accepted++;
  return link;
}

static void allow_accepted(uint8_t *before, uint8_t *after, uint32_t i, const struct bb_report *r,
                           const struct play *p) {
  const uint32_t link = allow_link(before, after, p);
  struct bb_record *was = record_in(before, i);
  const struct bb_record *is = record_in(after, i);
  GROWS(accepted, 1);
  ALLOW(accepted);
  MUST(is->lost >= was->lost && is->unheard >= was->unheard, "a loss was taken back by the next report");
  ALLOW(lost);
  ALLOW(unheard);
  const uint64_t begun = is->restarts - was->restarts + is->reboots - was->reboots + is->resets - was->resets;
  MUST(begun <= 1, "one report began %" PRIu64 " runs", begun);
  MUST(begun == 0 || (is->lost == was->lost && is->unheard == was->unheard), "a run began with losses");
  /* It is told of; or else, that the node said goodbye. */
  if (is->restarts != was->restarts) allow_event(before, after, p, BB_EVENT_KIND_RESTART, i, 0);
  else if (is->reboots != was->reboots) allow_event(before, after, p, BB_EVENT_KIND_REBOOT, i, 0);
  else if (is->resets != was->resets) allow_event(before, after, p, BB_EVENT_KIND_RESET, i, 0);
  else if ((r->flags >> 1 & 1) != 0) allow_event(before, after, p, BB_EVENT_KIND_GOODBYE, i, 0);
  ALLOW(restarts);
  ALLOW(reboots);
  ALLOW(resets);
  ALLOW(offset_us);
  MUST(is->history_seq == r->seq && (is->history & 1) == 1 && (is->history_lost & 1) == 0, "the history is wrong");
  MUST(is->start_boot_ns == r->start_boot_ns && is->known[0].boot_id == r->boot_id &&
           is->known[0].highest_boot_ns >= r->t_boot_ns,
       "another run is remembered than was accepted");
  MUST(is->port == 4711 && is->order_head == is->order_tail && is->order_head == was->order_head + 2,
       "the order block is wrong");
  /* From where reports came before is kept when they come from elsewhere. */
  static const uint8_t nowhere[sizeof was->address];
  if (memcmp(was->address, nowhere, sizeof nowhere) != 0 && memcmp(was->address, is->address, sizeof nowhere) != 0) {
    MUST(memcmp(is->address_before, was->address, sizeof nowhere) == 0 && is->address_ns == (uint64_t)p->now_ns,
         "the address before was lost");
    memcpy(was->address_before, is->address_before, sizeof nowhere);
    ALLOW(address_ns);
  }
  const size_t from = offsetof(struct bb_record, order_head), to = offsetof(struct bb_record, order_tail) + 8;
  MUST(is->refusal_reason == was->refusal_reason && is->refusal_ns == was->refusal_ns, "a refusal was forgotten");
  memcpy((uint8_t *)was + from, (const uint8_t *)is + from, to - from);

  const uint32_t slot = slot_in(before, i, 0)->head > slot_in(before, i, 1)->head;
  struct bb_slot *old = slot_in(before, i, slot);
  const struct bb_slot *new = slot_in(after, i, slot);
  const uint64_t number =
      slot_in(before, i, 1 - slot)->head > old->head ? slot_in(before, i, 1 - slot)->head : old->head;
  MUST(new->head == number + 2 && new->tail == new->head, "the sequence of the slot is wrong");
  MUST(new->stamp_ns == (uint64_t)p->now_ns && new->stamp_real_ns == (uint64_t)p->real_ns, "the stamp is wrong");
  MUST(memcmp(&new->report, r, sizeof *r) == 0, "the report is another one than came");
  MUST(new->link == link, "it came by link %u, and not by %" PRIu64, link, new->link);
  memcpy(old, new, sizeof *old);
  *word_in(before, i) = BB_COLUMN((uint64_t)p->now_ns / 1000000, link, r->interval_ms, r->flags >> 1 & 1);
}

/* How many reports of its run came that may be another machine's: they were not accepted, or share their number with
 * another. */
static unsigned count_others(const struct play *p, const struct bb_report *r) {
  unsigned count = 0;
  for (unsigned i = 0; i < p->delivered; i++) {
    const struct bb_report *one = &p->came[i].report;
    if (strncmp(one->hostname, r->hostname, 64) != 0 || one->boot_id != r->boot_id ||
        one->start_boot_ns != r->start_boot_ns)
      continue;
    bool is_shared = !p->came[i].accepted;
    for (unsigned k = 0; k < p->delivered; k++) {
      const struct bb_report *other = &p->came[k].report;
      is_shared = is_shared || (strncmp(other->hostname, r->hostname, 64) == 0 && other->boot_id == r->boot_id &&
                                other->seq == one->seq && other->start_boot_ns == r->start_boot_ns &&
                                memcmp(one, other, sizeof *one) != 0);
    }
    count += is_shared;
  }
  return count;
}

/* What is concluded about trouble: only from what was accepted, and all of what the last two reports show. */
static void allow_trouble(struct bb_memory *was, const struct bb_memory *is, uint32_t i, const struct bb_report *r,
                          const struct play *p) {
  const char *fault = memory_fault(is, (uint64_t)p->now_ns, true);
  MUST(fault == NULL, "remembered: %s", fault);
  const uint32_t shown = bb_problems(r, p->accepted[i] == 0 ? NULL : &p->newest[i]);
  MUST((is->recent & shown) == shown, "problems %x are shown, and only %" PRIx64 " are recent", shown, is->recent);
  MUST(is->silence_end_ms > BB_SPELL_BEGIN(is->silence) || is->silence == 0, "silent with a report");
  MUST(is->remembers_since_ns != 0 && is->heard_since_ns >= was->heard_since_ns, "it was heard since an earlier time");
  MUST(BB_SPELL_COUNT(is->silence) - BB_SPELL_COUNT(was->silence) <= 1, "more than one silence before a report");
  for (unsigned k = 0; k < BEOBOARD_NPROBLEMS; k++) {
    const uint64_t more = BB_SPELL_COUNT(is->episodes[k].begun) - BB_SPELL_COUNT(was->episodes[k].begun);
    MUST(more <= 1 && (more == 0 || BB_SPELL_BEGIN(is->episodes[k].begun) == (uint64_t)p->now_ns / 1000000),
         "a report began %" PRIu64 " episodes of %s", more, bb_problem_names[k]);
  }
  const size_t from = offsetof(struct bb_memory, recent);
  memcpy((uint8_t *)was + from, (const uint8_t *)is + from, sizeof *is - from);
}

/* What is remembered of the report, and whether two machines are told of. */
static void allow_memory(uint8_t *before, uint8_t *after, uint32_t i, const struct bb_report *r, int outcome,
                         const struct play *p) {
  struct bb_board_header *h = (struct bb_board_header *)before;
  struct bb_memory *was = (struct bb_memory *)((uint8_t *)record_in(before, i) + h->memory_offset);
  const struct bb_memory *is = (const struct bb_memory *)((uint8_t *)record_in(after, i) + h->memory_offset);
  const unsigned word = r->seq % 64 / 4, shift = r->seq % 4 * 16;
  const uint64_t others = ~(UINT64_C(0xffff) << shift);
  const uint16_t digest = (uint16_t)(is->digests[word] >> shift);
  MUST((was->digests[word] & others) == (is->digests[word] & others), "the digest of another number changed");
  if (outcome == BB_OUTCOME_ACCEPTED || was->digests[word] != is->digests[word]) {
    MUST(outcome == BB_OUTCOME_ACCEPTED || outcome == BB_REASON_LATE, "a digest of what has no number");
    MUST(digest != 0 && digest == bb_order_digest(r), "the digest is another report's");
  }
  ALLOW(digests[word]);
  if (outcome == BB_OUTCOME_ACCEPTED) allow_trouble(was, is, i, r, p);
  if (is->clone_head == was->clone_head) return;
  MUST(outcome == BB_OUTCOME_ACCEPTED && count_others(p, r) >= 3, "two machines without three turns");
  const uint64_t longest = r->interval_ms > 1000 ? r->interval_ms : 1000;
  const bool is_new = was->clone_ns == 0 || (uint64_t)p->now_ns - was->clone_ns > 60 * UINT64_C(1000000) * longest;
  GROWS(clone_head, 2);
  MUST(is->clone_tail == is->clone_head && is->clone_ns == (uint64_t)p->now_ns &&
           is->clone_since_ns == (is_new ? is->clone_ns : was->clone_since_ns),
       "the times of two machines are wrong");
  if (is_new)
    MUST(memcmp(is->clone_address, p->from, sizeof p->from) == 0 ||
             memcmp(is->clone_other, p->from, sizeof p->from) == 0,
         "another address is told of");
  else MUST(memcmp(is->clone_address, was->clone_address, 2 * sizeof p->from) == 0, "the addresses changed meanwhile");
  memcpy(was, is, offsetof(struct bb_memory, digests));
  h->clone_ns = is->clone_ns;
  if (is_new) allow_event(before, after, p, BB_EVENT_KIND_CLONE, i, 0);
}

/* A name that came for the first time. */
static void allow_new(uint8_t *before, uint8_t *after, uint32_t i, const char *name) {
  struct bb_board_header *was = (struct bb_board_header *)before;
  const struct bb_board_header *is = (const struct bb_board_header *)after;
  GROWS(count, 1);
  ALLOW(count);
  MUST(i == is->count - 1 && i < is->capacity, "the new record is at %u", i);
  memcpy(record_in(before, i)->name, record_in(after, i)->name, 64);
  MUST(strncmp(record_in(after, i)->name, name, 64) == 0, "the record has another name");
  unsigned changed = 0;
  for (uint64_t k = 0; k < is->index_slots; k++) {
    uint64_t *old = (uint64_t *)(before + is->index_offset + k * is->index_stride);
    const uint64_t new = *(const uint64_t *)(after + is->index_offset + k * is->index_stride);
    if (*old == new) continue;
    MUST(*old == 0 && (uint32_t)new == i + 1, "the index is wrong");
    *old = new;
    changed++;
  }
  MUST(changed == 1, "%u entries of the index are new", changed);
}

static void check_reader(const struct play *p, uint32_t i) {
  static struct beoboard_slot newest, before;
  char name[BEOBOARD_NAME_MAX];
  const beoboard *b = p->place->reader;
  const int have = p->accepted[i] < 2 ? (int)p->accepted[i] : 2;
  MUST(beoboard_name(b, (int)i, name, sizeof name) > 0 && beoboard_index(b, name) == (int)i,
       "record %u is not found by its name", i);
  MUST(beoboard_reports(b, (int)i, &newest, &before, sizeof newest) == have, "the library does not have %d reports",
       have);
  MUST(have < 1 || memcmp(&newest.report, &p->newest[i], sizeof newest.report) == 0,
       "the library gives another report");
  MUST(have < 1 || newest.number == p->accepted[i], "it is the %uth", p->accepted[i]);
  MUST(have < 2 || memcmp(&before.report, &p->before[i], sizeof before.report) == 0,
       "the library gives another one before it");
}

/* Whether the node's wall clock, as the last accepted report has it, was before this one. */
static bool is_later(const struct play *p, const struct bb_report *r, uint32_t record) {
  return p->accepted[record] == 0 || r->t_real_ns > p->newest[record].t_real_ns;
}

static uint64_t between(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Whether an unproved report comes back from before the goodbye that is held. */
static bool is_back(const struct play *p, const struct bb_report *r, uint32_t record, enum bb_auth_alg proof) {
  const struct bb_report *held = &p->newest[record];
  return proof == BB_AUTH_ALG_NONE && p->accepted[record] > 0 && (held->flags & BB_FLAGS_GOODBYE) != 0 &&
         r->boot_id == held->boot_id && r->start_boot_ns <= held->start_boot_ns && r->t_boot_ns <= held->t_boot_ns;
}

/* Whether one of its boot came before that, and as much earlier as the node says, give or take half an interval. */
static bool has_begun_back(const struct play *p, const struct bb_report *r) {
  const uint64_t half_ns = r->interval_ms * UINT64_C(500000);
  for (unsigned i = 0; i < p->delivered; i++) {
    const struct bb_report *other = &p->came[i].report;
    const uint64_t apart = r->t_boot_ns - other->t_boot_ns;
    if (strncmp(other->hostname, r->hostname, 64) != 0 || p->came[i].accepted || other->boot_id != r->boot_id) continue;
    if (r->t_boot_ns > other->t_boot_ns && apart >= half_ns &&
        between(apart, (uint64_t)(p->now_ns - p->came[i].stamp_ns)) <= half_ns)
      return true;
  }
  return false;
}

/* Whether a report of the boot that is held has to be taken because nothing else was for the reset limit, by "Order,
 * and trust": in seconds of the shorter interval. Half of 4.5 and 10.5 is 7.5. A proved one has to be fresh, too;
 * `as_proved`: the last one was as well. */
static bool is_due(const struct play *p, const struct bb_report *r, uint32_t record, enum bb_auth_alg proof) {
  const struct bb_report *held = &p->newest[record];
  /* The very report that is held is never news, with a proof as without, whichever key signed it. */
  const bool same = r->start_boot_ns == held->start_boot_ns && r->seq == held->seq && r->t_boot_ns == held->t_boot_ns;
  if (p->accepted[record] == 0 || r->boot_id != held->boot_id || same || is_back(p, r, record, proof)) return false;
  const uint64_t shorter = r->interval_ms < held->interval_ms ? r->interval_ms : held->interval_ms;
  const uint64_t limit = 7500 * UINT64_C(1000) * (shorter > 1000 ? shorter : 1000);
  if ((uint64_t)(p->now_ns - p->stamp[record].ns) <= limit) return false;
  if (proof == BB_AUTH_ALG_NONE) return true;
  const uint64_t window = p->place->is->window_ns;
  if (between(r->t_real_ns, (uint64_t)p->real_ns) > window || p->stamp[record].proved < proof) return false;
  if (between(held->t_real_ns, (uint64_t)p->stamp[record].real_ns) <= window) return r->t_real_ns > held->t_real_ns;
  return r->t_real_ns > (uint64_t)p->stamp[record].real_ns + window;
}

/* Rules of order that hold whatever came before. */
static void check_order(const struct play *p, const struct bb_report *r, int outcome, const struct bb_record *is,
                        uint32_t record, enum bb_auth_alg proof, bool begun) {
  bool same_run = false, same = false;
  uint64_t boots[8];
  unsigned boot_count = 0;
  for (unsigned i = 0; i < p->delivered; i++) {
    const struct bb_report *other = &p->came[i].report;
    if (strncmp(other->hostname, r->hostname, 64) != 0) continue;
    if (other->boot_id == r->boot_id && other->start_boot_ns == r->start_boot_ns && other->seq == r->seq)
      same_run = true;
    if (!p->came[i].accepted) continue;
    if (memcmp(other, r, sizeof *r) == 0) same = true;
    unsigned k = 0;
    while (k < boot_count && boots[k] != other->boot_id) k++;
    if (k == boot_count && boot_count < 8) boots[boot_count++] = other->boot_id;
  }
  if (outcome == BB_OUTCOME_DUPLICATE) MUST(same_run, "a duplicate of what never came");
  const bool is_held = p->accepted[record] > 0 && memcmp(&p->newest[record], r, sizeof *r) == 0;
  if (is_held && (outcome <= 0 || outcome > BB_REASON_TAG))
    MUST(outcome == BB_OUTCOME_DUPLICATE, "the very report that is held was no duplicate");
  if ((outcome <= 0 || outcome > BB_REASON_TAG) && is_due(p, r, record, proof))
    MUST(outcome == BB_OUTCOME_ACCEPTED, "%d, though nothing was accepted for longer than the reset limit", outcome);
  if (outcome != BB_OUTCOME_ACCEPTED) return;
  if (is_back(p, r, record, proof)) MUST(has_begun_back(p, r), "a single report came back from before a goodbye");
  /* Of a boot that so many others have followed that it was forgotten, the window is all there is; after a reset, and
   * of a boot without an id, that it is later by the node's own clock. */
  const bool is_forgotten = boot_count > BB_KNOWN_BOOTS;
  const bool by_clock = is->resets > 0 || r->boot_id == 0;
  if (proof != BB_AUTH_ALG_NONE && !is_forgotten && !(by_clock && is_later(p, r, record)))
    MUST(!same, "a signed report was taken twice");
  if (!begun && p->accepted[record] > 0)
    MUST(r->boot_id == p->newest[record].boot_id && r->start_boot_ns == p->newest[record].start_boot_ns &&
             (r->t_boot_ns > p->newest[record].t_boot_ns || proof > BB_AUTH_ALG_NONE),
         "the next report is of another run, or not later");
}

static void deliver(struct play *p, const uint8_t *datagram, size_t length) {
  struct place *place = p->place;
  uint8_t *const before = place->before, *const after = map_of(place);
  struct bb_arrival arrival = {.stamp_ns = p->now_ns, .stamp_real_ns = p->real_ns, .port = 4711, .interface_index = 7};
  memcpy(arrival.address, p->from, sizeof arrival.address);
  if (p->interface[0] == 0) arrival.link = BB_LINK_OTHERS;
  else arrival.interface = p->interface;
  if (length >= BB_REPORT_BYTES) {
    const uint64_t expected = bb_writer_expect(place->writer, datagram);
    bb_writer_fetch(place->writer, expected);
    bb_writer_fetch_slot(place->writer, expected);
    MUST(!differs(place), "a look ahead changed the board");
  }
  const int outcome = bb_writer_deliver(place->writer, datagram, length, &arrival);
  fuzz_units++;
  MUST(outcome >= -1 && outcome < BB_REASON_COUNT, "outcome %d", outcome);

  /* The ladder. */
  const enum bb_reason invalid = reason_of(datagram, length);
  MUST(invalid == BB_REASON_NONE ? outcome <= 0 || outcome > BB_REASON_RANGE : outcome == (int)invalid,
       "%d, and it has to be %d", outcome, (int)invalid);
  struct bb_board_header *was = (struct bb_board_header *)before;
  const struct bb_board_header *is = (const struct bb_board_header *)after;
  GROWS(received, 1);
  ALLOW(received);
  if (outcome > 0) {
    GROWS(refused[outcome], 1);
    ALLOW(refused[outcome]);
  } else if (outcome == 0) {
    GROWS(accepted, 1);
    ALLOW(accepted);
  } else {
    GROWS(duplicate, 1);
    ALLOW(duplicate);
  }
  char name[64] = {0}; /* as it claims */
  if (length == BB_REPORT_BYTES && is_name(datagram)) memcpy(name, datagram + 192, sizeof name);
  const bool is_named = invalid == BB_REASON_NONE || invalid == BB_REASON_INTERVAL || invalid == BB_REASON_RANGE;
  struct bb_report report;
  uint32_t record = BB_NO_RECORD;
  if (is_named) {
    memcpy(&report, datagram, sizeof report);
    const uint32_t old = find_record(before, report.hostname);
    record = find_record(after, report.hostname);
    if (old == BB_NO_RECORD && record != BB_NO_RECORD) allow_new(before, after, record, report.hostname);
    MUST(old == BB_NO_RECORD || old == record, "record %u became %u", old, record);
    const bool is_stranger = old == BB_NO_RECORD && place->is->listed;
    if (is_stranger) MUST(outcome > 0 && record == BB_NO_RECORD, "a stranger was let in");
  }
  if (record != BB_NO_RECORD) {
    struct bb_record *had = record_in(before, record);
    const struct bb_record *has = record_in(after, record);
    const enum bb_auth_alg proof = proof_of(p, &report);
    /* Tags. */
    const uint64_t least = had->auth_proved > (uint64_t)place->is->required && place->is->keys > 0
                               ? had->auth_proved
                               : (uint64_t)place->is->required;
    if (outcome == BB_REASON_AUTH_MISSING) MUST(report.auth_alg < least, "a tag was called missing");
    if (outcome <= 0 || outcome > BB_REASON_TAG)
      MUST(place->is->keys == 0 || report.auth_alg == proof, "a tag was believed that nobody made");
    if (outcome <= 0) MUST((uint64_t)proof >= least, "accepted on less than it takes");
    MUST(has->auth_proved == had->auth_proved ||
             (has->auth_proved == (uint64_t)proof && has->auth_proved > had->auth_proved),
         "auth_proved went from %" PRIu64 " to %" PRIu64, had->auth_proved, has->auth_proved);
    had->auth_proved = has->auth_proved;
    const bool begun = has->restarts + has->reboots + has->resets != had->restarts + had->reboots + had->resets;
    if (invalid == BB_REASON_NONE) check_order(p, &report, outcome, has, record, proof, begun);
    if (outcome > 0) {
      if (allow_refusal(had, has, (enum bb_reason)outcome, p))
        allow_event(before, after, p, BB_EVENT_KIND_REFUSAL, record, (uint64_t)outcome);
    } else if (outcome == BB_OUTCOME_DUPLICATE) {
      MUST(has->duplicate == had->duplicate + 1, "a duplicate was not counted");
      had->duplicate++;
    } else {
      allow_accepted(before, after, record, &report, p);
    }
    allow_memory(before, after, record, &report, outcome, p);
  } else {
    MUST(outcome > 0, "accepted without a record");
  }
  if (outcome > 0 && allow_sender(before, after, p, (enum bb_reason)outcome, name) && outcome <= BB_REASON_TAG &&
      may_be_told(p))
    allow_event(before, after, p, BB_EVENT_KIND_REFUSAL, UINT32_MAX, (uint64_t)outcome);
  MUST(!differs(place), "outcome %d changed what it must not", outcome);
  if (outcome == 0) {
    p->stamp[record].ns = p->now_ns;
    p->stamp[record].real_ns = p->real_ns;
    p->stamp[record].proved = proof_of(p, &report);
    p->before[record] = p->newest[record];
    p->newest[record] = report;
    p->accepted[record]++;
    check_reader(p, record);
  }
  /* A board that was rebuilt may have let go of it. */
  p->came[p->delivered].report = report;
  if (!is_named) memset(&p->came[p->delivered].report, 0, sizeof report);
  p->came[p->delivered].stamp_ns = p->now_ns;
  p->came[p->delivered++].accepted = outcome == 0;
}

/* Delivers so many bytes of what is there; where these are others than a report has, in memory of just that size. */
static void deliver_cut(struct play *p, const uint8_t *bytes, size_t length) {
  static uint8_t *whole;
  if (whole == NULL) whole = (uint8_t *)malloc(BB_REPORT_BYTES);
  if (length == BB_REPORT_BYTES) {
    memcpy(whole, bytes, BB_REPORT_BYTES);
    deliver(p, whole, length);
    return;
  }
  uint8_t *exact = (uint8_t *)malloc(length > 0 ? length : 1);
  memset(exact, 0x42, length);
  memcpy(exact, bytes, length < BB_REPORT_BYTES ? length : BB_REPORT_BYTES);
  deliver(p, exact, length);
  free(exact);
}

/* What is known of the records that stay, which come together in their order. */
static void close_up(struct play *p, const bool *stays, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!stays[i]) continue;
    p->newest[kept] = p->newest[i];
    p->before[kept] = p->before[i];
    p->stamp[kept] = p->stamp[i];
    p->accepted[kept++] = p->accepted[i];
  }
  memcpy(p->place->before, map_of(p->place), p->place->bytes);
  for (; kept < CAPACITY; kept++) p->accepted[kept] = 0;
  MUST(beoboard_refresh(p->place->reader) >= 0, "the library lost the board");
  for (uint32_t i = 0; i < bb_writer_header(p->place->writer)->count; i++) check_reader(p, i);
}

/* A receiver ends and is started again: everything stands as it stood, but names that never had a report. */
static void take_over(struct play *p) {
  char why[256] = "";
  struct place *place = p->place;
  const uint32_t count = (uint32_t)bb_writer_header(place->writer)->count;
  const size_t records = (size_t)bb_writer_header(place->writer)->records_offset;
  bool stays[CAPACITY], all = true;
  for (uint32_t i = 0; i < count; i++) all &= stays[i] = place->is->listed || p->accepted[i] > 0;
  uint8_t *before = (uint8_t *)malloc(place->bytes);
  memcpy(before, map_of(place), place->bytes);
  bb_writer_close(place->writer);
  place->writer = bb_writer_open(&place->options, why, sizeof why);
  MUST(place->writer != NULL, "%s", why);
  bb_writer_resumed(place->writer, 0);
  p->told = false; /* who counted them is gone */
  MUST(!all || memcmp(before + records, map_of(place) + records, place->bytes - records) == 0,
       "a good board was repaired");
  free(before);
  close_up(p, stays, count);
}

/* Some names are forgotten. What is known of the others stays; those of the list stay empty, behind them. */
static void forget(struct play *p, uint8_t which) {
  char why[256] = "";
  const char *gone[NAMES];
  bool found[NAMES], stays[CAPACITY];
  size_t count = 0;
  struct place *place = p->place;
  const uint32_t records = (uint32_t)bb_writer_header(place->writer)->count;
  for (unsigned i = 0; i < NAMES; i++)
    if ((which >> i & 1) != 0) gone[count++] = names[i];
  for (uint32_t i = 0; i < records; i++) {
    stays[i] = true;
    for (size_t k = 0; k < count; k++)
      if (strcmp(record_in(map_of(place), i)->name, gone[k]) == 0) stays[i] = false;
  }
  for (size_t k = 0; k < count; k++)
    for (unsigned i = 0; i < p->delivered; i++)
      if (strncmp(p->came[i].report.hostname, gone[k], 64) == 0)
        memset(&p->came[i].report, 0, sizeof p->came[i].report);
  MUST(bb_writer_forget(place->writer, gone, count, found, why, sizeof why), "%s", why);
  close_up(p, stays, records);
}

/* What comes next comes by another interface, or from another address; or at once so many datagrams do, each from one
 * that nobody has. */
static void come_from(struct play *p, struct input *in, uint8_t which) {
  const uint8_t n = (uint8_t)draw(in, 1);
  if ((which & 0x60) == 0x20) {
    memset(p->interface, 0, sizeof p->interface);
    if (n % 40 != 39) snprintf(p->interface, sizeof p->interface, "eth%u", n % 40);
  } else if ((which & 0x60) == 0x40) {
    memset(p->from, 0, sizeof p->from);
    p->from[15] = n % 16;
  } else {
    uint8_t from[16];
    memcpy(from, p->from, sizeof from);
    for (unsigned i = 0; i < n % 32u && p->delivered < MOST_DATAGRAMS; i++) {
      p->from[0] = (uint8_t)(i + 1);
      p->from[1] = which & 0x1f;
      deliver_cut(p, (const uint8_t *)&p->report, (which & 1) != 0 ? BB_REPORT_BYTES : 100);
    }
    memcpy(p->from, from, sizeof from);
  }
}

static void step(struct play *p, struct input *in) {
  struct bb_report *r = &p->report;
  uint8_t *bytes = (uint8_t *)r;
  const uint8_t op = (uint8_t)draw(in, 1);
  switch (op % 22) {
    case 0: /* the next report, a second later */
      r->seq++;
      r->t_boot_ns += (uint64_t)SECOND;
      r->t_real_ns = (uint64_t)p->real_ns;
      p->now_ns += SECOND;
      p->real_ns += SECOND;
      break;
    case 1: deliver_cut(p, bytes, BB_REPORT_BYTES); break;
    case 2: {
      const size_t offset = draw(in, 2) % BB_REPORT_BYTES;
      bytes[offset] = (uint8_t)draw(in, 1);
      break;
    }
    case 3: {
      const size_t offset = draw(in, 2) % (BB_REPORT_BYTES - 8);
      const uint64_t value = draw(in, 8);
      memcpy(bytes + offset, &value, 8);
      break;
    }
    case 4: r->seq += (uint32_t)(int8_t)draw(in, 1); break;
    case 5: r->t_boot_ns += (uint64_t)((int8_t)draw(in, 1) * (SECOND / 4)); break;
    case 6: r->start_boot_ns = draw(in, 1) * (uint64_t)SECOND; break;
    case 7: r->boot_id = draw(in, 1); break;
    case 8:
      memset(r->hostname, 0, sizeof r->hostname);
      strcpy(r->hostname, names[draw(in, 1) % NAMES]);
      break;
    case 9: {
      static const uint32_t intervals[] = {1000, 100, 600000, 10000, 250, 99, 600001, 0};
      r->interval_ms = intervals[draw(in, 1) % 8];
      break;
    }
    case 10: r->flags ^= 1u << draw(in, 1) % 10; break;
    case 11: { /* the master's clocks go on together */
      const int64_t ns = (int64_t)draw(in, 1) * (SECOND / 4);
      p->now_ns += ns;
      p->real_ns += ns;
      break;
    }
    case 12: p->real_ns += (int64_t)(int8_t)draw(in, 1) * 10 * SECOND; break; /* or one of them steps */
    case 13: r->t_real_ns = (uint64_t)(p->real_ns + (int64_t)(int8_t)draw(in, 1) * 5 * SECOND); break;
    case 14: sign(p, (uint8_t)draw(in, 1)); break;
    case 15: deliver_cut(p, bytes, draw(in, 2) % 1400); break;
    case 16: bb_writer_resumed(p->place->writer, p->now_ns - (int64_t)draw(in, 1) * SECOND); break;
    case 17: p->kept[draw(in, 1) % KEPT] = *r; break;
    case 18: /* what somebody heard before */
      deliver_cut(p, (const uint8_t *)&p->kept[draw(in, 1) % KEPT], BB_REPORT_BYTES);
      break;
    case 19: fill(r); break;
    case 20: { /* bytes as they are: as many as there are, and zeros */
      const size_t n = in->left < sizeof *r ? in->left : sizeof *r;
      memset(r, 0, sizeof *r);
      memcpy(r, in->at, n);
      in->at += n;
      in->left -= n;
      deliver_cut(p, bytes, BB_REPORT_BYTES);
      break;
    }
    default: { /* system calls: seldom */
      const uint8_t which = (uint8_t)draw(in, 1);
      if ((which & 0x80) == 0 && (which & 0x60) != 0) {
        come_from(p, in, which);
        break;
      }
      if (p->rebuilt++ > 0) break;
      if ((which & 0x80) != 0) take_over(p);
      else forget(p, which);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct came came[MOST_DATAGRAMS];
  static struct bb_report signatures[MOST_SIGNATURES];
  static bool is_open;
  if (!is_open) {
    for (size_t i = 0; i < CONFIGURATIONS; i++) open_place(&places[i], i);
    atexit(close_places);
    is_open = true;
  }
  struct input in = {data, size};
  static struct play play;
  memset(&play, 0, sizeof play);
  play.came = came;
  play.signed_ = signatures;
  play.place = &places[draw(&in, 1) % CONFIGURATIONS];
  /* Hours from the inputs before: the writer, which is the same, may have told of events in their seconds. */
  play.now_ns = (1000000 + (int64_t)(play.place->inputs++ % 10000) * 20000) * SECOND;
  play.real_ns = 1700000000 * SECOND;
  fill(&play.report);
  for (unsigned i = 0; i < KEPT; i++) play.kept[i] = play.report;
  begin(play.place);
  const uint64_t received = bb_writer_header(play.place->writer)->received;
  while (in.left > 0 && play.delivered < MOST_DATAGRAMS) step(&play, &in);

  const struct bb_board_header *h = bb_writer_header(play.place->writer);
  MUST(memcmp(play.place->before, map_of(play.place), play.place->bytes) == 0, "an event changed that is not the next");
  uint64_t refused = 0, accepted = 0;
  for (size_t i = 0; i < 32; i++) refused += h->refused[i];
  for (uint32_t i = 0; i < h->count; i++) accepted += record_in(map_of(play.place), i)->accepted;
  MUST(h->received - received == play.delivered && h->received == h->accepted + h->duplicate + refused,
       "the counters do not add up");
  MUST(play.rebuilt > 0 || accepted == h->accepted, "the records' counters do not add up");
  for (uint32_t i = 0; i < h->count; i++) check_reader(&play, i);
  return 0;
}

#include "mirror.h"

#include <stdlib.h>

#include "../board/column.h"
#include "../board/file.h"
#include "../board/hearing.h"
#include "../board/memory.h"
#include "../board/records.h"
#include "../board/repair.h"
#include "../board/seqlock.h"
#include "../board/writer.h"
#include "../format/validate.h"
#include "../rules/interval.h"
#include "../rules/order.h"
#include "claims.h"
#include "messages.h"

/* A report that is older than this when it is stored is doubtful, unless the master says silent. */
#define FRESH_NS (30 * SECOND)
/* Rounding and slewing alone put nothing so far ahead of this machine's clock. */
#define AHEAD_NS INT64_C(10000000)
/* For so long a new board waits for the indexes of the other masters that are heard. */
#define WAIT_NS (2 * SECOND)
/* What is known about a record of the master, by its number there. */
struct mirrored {
  uint32_t record; /* the number of our record; NONE: none yet */
  uint32_t name;   /* as in the index */
  uint64_t head;   /* of the newest stored report; 0: none */
  uint64_t stamp_ns; /* its stamp by the master's clock */
  uint64_t skipped;  /* reports that never arrived here */
  uint8_t link;      /* the link by which it came */
  int64_t early_ns;  /* its report is from before this machine's boot, and is stored from this time on; 0: it is not */
  bool doubtful, vetoed, missing;
};

/* What is known about a link. */
struct listened {
  uint64_t since;   /* by the master's clock */
  int64_t since_ns; /* by this machine's clock: the smallest upper bound */
  int64_t floor_ns; /* nothing before this counts until an index repairs it; 0: it is repaired */
  int64_t worst_ns; /* the largest bound by which a stamp of it was stored */
};

struct bb_mirror {
  struct bb_mapped board;  /* the board being written */
  /* the board at the path while the other one is not whole; unmapped: the other one is at the path */
  struct bb_mapped before;
  struct bb_place place;
  uint32_t capacity, followed;
  struct bb_keyring *keys; /* NULL: the relay is trusted */
  enum bb_auth_alg required;
  struct bb_limits limits; /* the master's */
  struct bb_order *orders; /* with keys: for each of our records */
  struct mirrored *records;
  struct claims claims;
  uint64_t heard;   /* bit n: master n */
  int64_t began_ns; /* the board */
  struct listened links[BB_LINKS], header;
  struct bb_hearing hearing; /* by CLOCK_MONOTONIC: a clock that stood still begins another board */
  struct bb_mirror_counts counts;
  struct {
    uint32_t number, next_part, records, missing;
    bool under_way;
    /* All parts of the index have arrived, but not all reports that it names: when these have, the board has what the
     * master has heard (mirror_heal()). A gap in the batches before that ends the waiting. */
    bool waits;
    struct bb_link_evidence said[BB_LINKS];
  } index;
  uint32_t next_missing;
  uint32_t kept; /* records of nodes that this master does not know */
  bool gone; /* nothing may be stored until another board is begun */
  bool stood_still; /* a clock, since the board at the path was begun */
};

/* ---- the board ---- */

static struct bb_board_header mirror_header(const struct bb_mirror_options *o) {
  struct bb_board_header h;
  bb_fresh_header(&h, &(struct bb_cluster){o->cluster_name, o->cluster_id}, o->capacity);
  h.uncertain_after_ns = (uint64_t)o->uncertain_after_ns;
  h.silent_after_ns = (uint64_t)o->silent_after_ns;
  h.longest_interval_ms = o->longest_interval_ms;
  h.mirror_masters = o->master_count;
  h.mirror_followed = o->followed;
  h.mirror_origin = o->origin;
  memcpy(h.mirror_site, o->site, strnlen(o->site, sizeof h.mirror_site - 1));
  for (size_t i = 0; i < o->key_count; i++) h.accepted_keys[i] = o->keys[i].id + UINT64_C(1);
  for (size_t i = 0; i < o->master_count; i++)
    memcpy(h.mirror_names[i].name, o->masters[i], strnlen(o->masters[i], sizeof h.mirror_names[i].name - 1));
  return h;
}

/* Whether a board is of the same cluster, site and masters. */
static bool is_same_mirror(const struct bb_board_header *a, const struct bb_board_header *b) {
  return memcmp(a->cluster_name, b->cluster_name, sizeof a->cluster_name) == 0 &&
         memcmp(a->mirror_site, b->mirror_site, sizeof a->mirror_site) == 0 &&
         memcmp(a->mirror_names, b->mirror_names, sizeof a->mirror_names) == 0;
}

static bool make_board(struct bb_mirror *m, const struct bb_mirror_options *o, struct bb_mapped *made, char *why,
                       size_t size) {
  const struct bb_board_header h = mirror_header(o);
  if (!bb_file_create(&m->place, made, &h, why, size)) return false;
  bb_file_use_huge_pages(made, BB_BRIEFLY_NS);
  bb_begin_instance(made, o->instance);
  if (o->followed < o->master_count) bb_add_event(made, BB_EVENT_KIND_FOLLOWED, BB_NO_SUBJECT, o->followed, NULL);
  return true;
}

/* The masters that are heard, but the followed one. */
static uint64_t others_of(uint64_t heard, uint32_t followed) { return heard & ~(UINT64_C(1) << followed); }

/* Another master that is heard has not said yet which nodes it calls live. Until then nobody may be called silent. */
static bool waits_for_claims(const struct bb_mirror *m, int64_t now_ns) {
  return now_ns - m->began_ns <= WAIT_NS && !claims_are_complete(&m->claims, others_of(m->heard, m->followed));
}

/* Forgets what is known about the master, with a new board. False: no memory. */
static bool mirror_begin(struct bb_mirror *m, const struct bb_mirror_options *o) {
  struct mirrored *records = (struct mirrored *)calloc(o->capacity, sizeof *records);
  struct bb_keyring *keys = o->key_count == 0 ? NULL : bb_keyring_new(o->keys, o->key_count, o->capacity);
  struct bb_order *orders = o->key_count == 0 ? NULL : (struct bb_order *)calloc(o->capacity, sizeof *orders);
  if (records == NULL || (o->key_count != 0 && (keys == NULL || orders == NULL)) ||
      !claims_begin(&m->claims, o->capacity, o->now_ns)) {
    free(records);
    free(orders);
    bb_keyring_free(keys);
    return false;
  }
  for (uint32_t i = 0; i < o->capacity; i++) records[i].record = NONE;
  free(m->records);
  m->records = records;
  free(m->orders);
  m->orders = orders;
  bb_keyring_free(m->keys);
  m->keys = keys;
  m->required = o->required;
  m->limits = (struct bb_limits){.uncertain_after_ns = o->uncertain_after_ns, .silent_after_ns = o->silent_after_ns,
                                 .longest_interval_ms = o->longest_interval_ms, .clock_window_ns = o->clock_window_ns};
  m->began_ns = o->now_ns;
  m->capacity = o->capacity;
  m->followed = o->followed;
  memset(m->links, 0, sizeof m->links);
  memset(&m->header, 0, sizeof m->header);
  memset(&m->counts, 0, sizeof m->counts);
  memset(&m->index, 0, sizeof m->index);
  m->next_missing = m->kept = 0;
  /* Nothing has been stored on it yet. */
  for (uint32_t i = 0; i < BB_LINKS; i++) m->links[i].floor_ns = o->now_ns;
  m->header.floor_ns = o->now_ns;
  m->hearing = (struct bb_hearing){o->now_ns, o->now_ns, o->now_ns};
  return true;
}

/* Drops the board being written, if it is not at the path yet. */
static void drop_draft(struct bb_mirror *m) {
  if (m->before.map == NULL) return;
  bb_file_discard(&m->place, &m->board);
  m->board = m->before;
  m->before.map = NULL;
}

static void mirror_dispose(struct bb_mirror *m) {
  bb_file_unmap(&m->board);
  bb_file_unmap(&m->before);
  bb_place_release(&m->place);
  bb_keyring_free(m->keys);
  free(m->orders);
  free(m->records);
  claims_free(&m->claims);
  free(m);
}

static bool mirror_check(const struct bb_mirror_options *o, char *why, size_t size) {
  if (o->master_count == 0 || o->master_count > BB_MASTERS)
    return bb_fail(why, size, "a mirror knows 1 to %d masters", BB_MASTERS);
  return o->capacity > 0 || bb_fail(why, size, "a board has room for one record at least");
}

struct bb_mirror *bb_mirror_open(const struct bb_mirror_options *o, char *why, size_t size) {
  if (!mirror_check(o, why, size)) return NULL;
  struct bb_mirror *m = (struct bb_mirror *)calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  if (!bb_place_hold(&m->place, o->path, why, size)) {
    mirror_dispose(m);
    return NULL;
  }
  struct bb_mapped old = {0}, made = {0};
  const struct bb_board_header h = mirror_header(o);
  enum bb_found found = bb_file_examine(&m->place, BB_SIDE_MIRROR, NULL, &old, why, size);
  if (found == BB_FOUND_BOARD)
    found = is_same_mirror(old.header, &h) ? bb_claim_board(&m->place, &m->board, &old, o->now_ns, why, size)
                                           : BB_FOUND_NOTHING;
  bool ok = found != BB_FOUND_FAULT;
  if (ok && !mirror_begin(m, o)) ok = bb_fail(why, size, "out of memory");
  /* Nothing is laid on it: the stamps of another run of this program came from pings of another clock. But it stays
   * until the next one is whole, which takes from it what it remembers. */
  m->gone = found == BB_FOUND_BOARD;
  if (ok && m->gone) {
    bb_store(&m->board.header->state, bb_load(&m->board.header->state) & ~(uint64_t)BB_BOARD_STATE_CLOSED);
    return m;
  }
  ok = ok && make_board(m, o, &made, why, size) && bb_file_publish(&m->place, &made, why, size);
  if (ok) m->board = made;
  if (ok && old.map != NULL) bb_file_retire(&old);
  bb_file_unmap(&old);
  if (ok) return m;
  mirror_dispose(m);
  return NULL;
}

bool bb_mirror_renew(struct bb_mirror *m, const struct bb_mirror_options *o, char *why, size_t size) {
  struct bb_mapped made = {0};
  if (!mirror_check(o, why, size)) return false;
  if (bb_place_keep(&m->place, why, size) != BB_KEPT) return false;
  drop_draft(m);
  m->gone = true; /* what was known about records belongs to another board, whatever follows */
  if (!make_board(m, o, &made, why, size)) return false;
  if (!mirror_begin(m, o)) {
    bb_file_discard(&m->place, &made);
    return bb_fail(why, size, "out of memory");
  }
  m->before = m->board;
  bb_memory_survey(&m->before, (int64_t)m->before.header->heartbeat_ns);
  m->board = made;
  m->gone = false;
  return true;
}

void bb_mirror_distrust(struct bb_mirror *m) {
  struct bb_mapped *there = m->before.map != NULL ? &m->before : &m->board;
  bb_store_release(&there->header->heartbeat_ns, 0);
  /* What is stored until another board is begun is no better. */
  m->gone = m->stood_still = true;
}

int bb_mirror_check_path(struct bb_mirror *m, char *why, size_t size) {
  const enum bb_keeping keeping = bb_place_keep(&m->place, why, size);
  if (keeping == BB_HELD_BY_ANOTHER) return BB_PATH_HELD;
  if (keeping != BB_KEPT) return -1;
  struct bb_mapped *there = m->before.map != NULL ? &m->before : &m->board;
  bb_store(&m->board.header->lock_inode, m->place.lock_inode);
  bb_store(&there->header->lock_inode, m->place.lock_inode);
  return bb_file_is_published(&m->place, there) ? 0 : 1;
}

void bb_mirror_close(struct bb_mirror *m) {
  drop_draft(m);
  struct bb_board_header *h = m->board.header;
  bb_store(&h->state, bb_load(&h->state) | BB_BOARD_STATE_CLOSED);
  mirror_dispose(m);
}

/* ---- names ---- */

/* Assigns one of our records to the master's record of that number. False: there is no room, or another number has
 * that name. */
static bool mirror_adopt(struct bb_mirror *m, uint32_t number, const char name[64]) {
  struct bb_mapped *b = &m->board;
  struct mirrored *r = &m->records[number];
  if (r->record != NONE) {
    if (strncmp(record_at(b, r->record)->name, name, 64) == 0) return true;
    m->counts.unfit++;
    return false;
  }
  if (bb_record_of(b, name, bb_hash_of(b, name)) != NONE) {
    m->counts.unfit++;
    return false;
  }
  r->record = bb_new_record(b, name);
  if (r->record == NONE) {
    m->counts.full++;
    return false;
  }
  r->name = (uint32_t)(bb_name_hash(name, 0) >> 32);
  return true;
}

/* ---- reports ---- */

/* Whether the master calls it silent, by its own evidence. */
static bool is_silent_there(const struct bb_mirror *m, const struct bb_link_evidence *said, const struct mirrored *r,
                            uint32_t interval_ms) {
  const struct bb_link_evidence *by = evidence_by(said, r->link);
  const int64_t limit = bb_limit_for((uint64_t)m->limits.silent_after_ns, interval_ms, m->limits.longest_interval_ms);
  return from_to(r->stamp_ns, by->heartbeat_ns) > limit && from_to(by->listening_since_ns, by->heartbeat_ns) > limit;
}

/* Stores the word of a record. Release: whoever sees it sees the slot that was written before. */
static void store_word(struct bb_mapped *b, uint32_t record, const struct bb_arrival *a,
                       const struct bb_report *report) {
  bb_store_release(column_word(b, record), BB_COLUMN((uint64_t)a->stamp_ns / NS_PER_MS, a->link, report->interval_ms,
                                                     (report->flags & BB_FLAGS_GOODBYE) != 0));
}

/* Stores the present report of a record again with another link, because the word and the slot must agree. It goes
 * into the older slot, like every report, so that there is one at every moment. */
static void store_again(struct bb_mirror *m, struct mirrored *r) {
  struct bb_mapped *b = &m->board;
  const int newest = newest_slot(b, r->record);
  if (newest < 0) return;
  const struct bb_slot slot = *slot_at(b, r->record, (uint32_t)newest);
  const struct bb_arrival a = {.stamp_ns = (int64_t)slot.stamp_ns,
                               .stamp_real_ns = (int64_t)slot.stamp_real_ns,
                               .link = r->doubtful || r->vetoed ? BB_LINK_UNKNOWN : r->link};
  if (slot.link == a.link && bb_load(column_word(b, r->record)) != 0) return;
  bb_store_report(b, r->record, newest, &slot.report, &a);
  store_word(b, r->record, &a, &slot.report);
}

/* Sets a mark of a record, of which it is counted how many have it. */
static void set_mark(bool *mark, bool is_set, uint64_t *count) {
  *count += (uint64_t)is_set - *mark;
  *mark = is_set;
}

static uint64_t mirror_since_of(const struct listened *l) {
  const int64_t since = l->since_ns > l->floor_ns ? l->since_ns : l->floor_ns;
  return since > 0 ? (uint64_t)since : 0;
}

/* Everything in an index is on the board: what the master has heard since then, this board has, too. */
static void mirror_heal(struct bb_mirror *m, const struct bb_link_evidence *said) {
  struct bb_board_header *h = m->board.header;
  bool all = true;
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    struct listened *l = &m->links[i];
    if (!has_entry(i, m->board.header->links_used) || l->floor_ns == 0) continue;
    if (said[i].listening_since_ns != l->since) {
      all = false;
      continue;
    }
    l->floor_ns = 0;
    bb_store(&h->evidence[i].listening_since_ns, mirror_since_of(l));
  }
  if (all) {
    m->header.floor_ns = 0;
    bb_store(&h->listening_since_ns, mirror_since_of(&m->header));
  }
  m->counts.whole = true;
}

/* The missing part of a record has arrived; perhaps it was the last one missing. */
static void receive_missing(struct bb_mirror *m, struct mirrored *r) {
  if (!r->missing) return;
  r->missing = false;
  if (--m->counts.missing > 0 || !m->index.waits) return;
  m->index.waits = false;
  mirror_heal(m, m->index.said);
}

static enum bb_event_kind mirror_news_of(const struct bb_report *before, const struct bb_report *now) {
  if (before->boot_id != now->boot_id) return BB_EVENT_KIND_REBOOT;
  if (before->start_boot_ns != now->start_boot_ns) return BB_EVENT_KIND_RESTART;
  return (now->flags & BB_FLAGS_GOODBYE) != 0 ? BB_EVENT_KIND_GOODBYE : BB_EVENT_KIND_NONE;
}

/* A batch, and by which clocks it came. */
struct batch {
  struct relay_batch of;
  const struct bb_mirror_clock *clock;
  int64_t now_ns;
};

/* It contains something that no receiver writes: a stamp from far ahead of the master's own clock. */
static bool is_unfit(const struct bb_mirror *m, const struct batch *batch, const struct bb_relay_report *e) {
  return (e->head & 1) != 0 || e->head == 0 || e->head >= MOST_SEQUENCE ||
         !bounds_are_known(batch->clock, e->stamp_ns) || from_to(batch->of.head.taken_ns, e->stamp_ns) > SECOND ||
         bb_validate((const uint8_t *)&e->report, sizeof e->report, m->board.header->cluster_id) != BB_REASON_NONE;
}

/* Whether the node itself made that report, after the last stored one. `held`: what it proved by keys that we had. */
static bool is_proved(struct bb_mirror *m, uint32_t record, const struct bb_report *report, struct bb_stamp stamp,
                      enum bb_auth_alg held) {
  struct bb_order *order = &m->orders[record];
  /* A name that has proved a key is not trusted with a weaker proof. */
  const enum bb_auth_alg least = order->proved > m->required ? order->proved : m->required;
  enum bb_auth_alg proved = held;
  if ((held == BB_AUTH_ALG_NONE || held < least) &&
      bb_keyring_prove(m->keys, (const uint8_t *)report, record, least, &proved) != BB_REASON_NONE)
    return false;
  const enum bb_verdict verdict = bb_order_judge(order, report, proved, stamp, &m->limits).verdict;
  return verdict != BB_DUPLICATE && verdict != BB_REFUSED;
}

/* What the relay says is newer is not, or is not proved: the stored report stays, and its age makes nobody silent until
 * the relay itself says that none came. */
static void pass_over(struct bb_mirror *m, struct mirrored *r, const struct bb_relay_report *e) {
  r->head = e->head;
  r->stamp_ns = e->stamp_ns;
  r->link = (uint8_t)(e->link < BB_LINKS ? e->link : BB_LINK_UNKNOWN);
  r->early_ns = 0;
  set_mark(&r->doubtful, true, &m->counts.doubtful);
  store_again(m, r);
  receive_missing(m, r);
  m->counts.unproved += m->keys != NULL;
}

/* What the reports of a record of ours have proved by keys that we had. */
static enum bb_auth_alg held_by(const struct bb_mapped *b, uint32_t record) {
  const uint64_t *keys = b->header->accepted_keys;
  return (keys[0] | keys[1]) != 0 ? (enum bb_auth_alg)record_at(b, record)->auth_proved : BB_AUTH_ALG_NONE;
}

/* Whether the node made both reports of a record `old` of a board of ours; then what comes must be newer. `ahead_ns`:
 * the master's clock, of ours. One that was stored again stands in both slots. */
static bool are_proved(struct bb_mirror *m, uint32_t record, const struct bb_mapped *b, uint32_t old, int newest,
                       int64_t now_ns, uint64_t ahead_ns) {
  const struct bb_slot *last = slot_at(b, old, (uint32_t)newest);
  /* What no mirror lays: that board is corrupt. */
  if (last->stamp_ns > (uint64_t)now_ns ||
      bb_validate((const uint8_t *)&last->report, sizeof last->report, m->board.header->cluster_id) != BB_REASON_NONE)
    return false;
  for (int i = 1; m->keys != NULL && i >= 0; i--) {
    const struct bb_slot *s = slot_at(b, old, (uint32_t)(newest ^ i));
    const struct bb_stamp stamp = {(int64_t)(s->stamp_ns + ahead_ns), (int64_t)s->stamp_real_ns};
    if (!is_whole(s) || (i == 1 && memcmp(&s->report, &last->report, sizeof s->report) == 0) ||
        is_proved(m, record, &s->report, stamp, held_by(b, old)))
      continue;
    memset(&m->orders[record], 0, sizeof m->orders[record]);
    return false;
  }
  return true;
}

/* The record in which a board keeps what it remembers of a node that its master does not know: from the end on, behind
 * those that count. NONE: there is none. */
static uint32_t kept_of(const struct bb_mapped *b, const char *name) {
  for (uint32_t i = b->header->capacity; i-- > b->header->count && bb_is_name(record_at(b, i)->name);)
    if (strncmp(record_at(b, i)->name, name, 64) == 0) return i;
  return NONE;
}

/* What the board before, or this one, remembers of the node, but its word: with the number of a link of another master.
 * Returns the newest slot; -1: there is none. */
static int recall(struct bb_mirror *m, uint32_t record, int64_t now_ns, uint64_t ahead_ns) {
  struct bb_mapped *b = &m->board, *from = m->before.map != NULL ? &m->before : b;
  const char *name = record_at(b, record)->name;
  uint32_t old = from == b ? NONE : bb_record_of(from, name, bb_hash_of(from, name));
  if (old == NONE) old = kept_of(from, name);
  const int there = old == NONE ? -1 : newest_slot(from, old);
  if (there < 0 || !are_proved(m, record, from, old, there, now_ns, ahead_ns)) return -1;
  /* What this master says of it may have come before its report. */
  const struct bb_record said = *record_at(b, record);
  bb_copy_record(b, record, from, old);
  if (said.order_head != 0) *record_at(b, record) = said;
  bb_memory_repair(b, record, now_ns);
  if (from == b) slot_at(b, old, 0)->head = slot_at(b, old, 1)->head = 0;
  return newest_slot(b, record);
}

/* Keeps that record of the board before, of which origin it is, unless the node has one, was forgotten (the board goes
 * on, and lacks it), or there is no room. */
static void keep_record(struct bb_mirror *m, uint32_t old, uint64_t origin) {
  struct bb_mapped *b = &m->board;
  const char *name = record_at(&m->before, old)->name;
  if ((origin != 0 && origin == b->header->mirror_origin) || newest_slot(&m->before, old) < 0 ||
      bb_record_of(b, name, bb_hash_of(b, name)) != NONE || b->header->count + m->kept >= m->capacity)
    return;
  const uint32_t record = m->capacity - ++m->kept;
  memcpy(record_at(b, record)->name, name, sizeof record_at(b, record)->name);
  bb_copy_record(b, record, &m->before, old);
  bb_store(&record_at(b, record)->auth_proved, held_by(&m->before, old));
  bb_store(column_word(b, record), origin);
}

/* Keeps what the board before remembers of nodes that this master does not know. */
static void keep_others(struct bb_mirror *m) {
  const struct bb_board_header *h = m->before.header;
  for (uint32_t i = 0; i < h->count; i++) keep_record(m, i, h->mirror_origin);
  for (uint32_t i = h->capacity; i-- > h->count && bb_is_name(record_at(&m->before, i)->name);)
    keep_record(m, i, bb_load(column_word(&m->before, i)));
}

/* Whether a node that is silent is silent since that report: the master before may not have heard it. */
static bool is_last_before(const struct bb_memory *m, int64_t stamp_ns, int64_t now_ns, int64_t limit) {
  return now_ns - stamp_ns > limit && stamp_ns - (int64_t)(BB_SPELL_BEGIN(m->silence) * NS_PER_MS) <= limit;
}

static void store_report(struct bb_mirror *m, const struct batch *batch, const struct bb_relay_report *e) {
  struct bb_mapped *b = &m->board;
  if (e->record >= m->capacity) {
    m->counts.full++;
    return;
  }
  if (is_unfit(m, batch, e)) {
    m->counts.unfit++;
    return;
  }
  struct mirrored *r = &m->records[e->record];
  if (e->head <= r->head || !mirror_adopt(m, e->record, e->report.hostname)) return;
  int newest = newest_slot(b, r->record);
  const uint32_t link = e->link < BB_LINKS ? (uint32_t)e->link : BB_LINK_UNKNOWN;
  const struct mirrored now = {.stamp_ns = e->stamp_ns, .link = (uint8_t)link};
  const int64_t limit = bb_limit_for((uint64_t)m->limits.silent_after_ns, e->report.interval_ms,
                                     m->limits.longest_interval_ms);
  int64_t stamp_ns = bounds_lower(batch->clock, e->stamp_ns);
  if (stamp_ns > batch->now_ns) stamp_ns = batch->now_ns;
  if (newest >= 0 && stamp_ns < (int64_t)slot_at(b, r->record, (uint32_t)newest)->stamp_ns)
    stamp_ns = (int64_t)slot_at(b, r->record, (uint32_t)newest)->stamp_ns;
  if (stamp_ns < (int64_t)NS_PER_MS) {
    /* From before this machine's boot, which no word can express. With the time of the boot it would be too young,
     * until that is long ago. */
    r->early_ns = limit;
    receive_missing(m, r);
    if (batch->now_ns <= limit) return;
    stamp_ns = (int64_t)NS_PER_MS;
  }
  const bool is_first = newest < 0;
  if (is_first) newest = recall(m, r->record, batch->now_ns, e->stamp_ns - (uint64_t)stamp_ns);
  const struct bb_slot *before = newest < 0 ? NULL : slot_at(b, r->record, (uint32_t)newest);
  /* It lay on the board before. */
  const bool is_known = is_first && before != NULL && memcmp(&before->report, &e->report, sizeof e->report) == 0;
  const struct bb_stamp stamp = {(int64_t)e->stamp_ns, (int64_t)e->stamp_real_ns};
  const struct bb_report *last = is_first && before != NULL ? &before->report : &e->report;
  const bool is_older = e->report.boot_id == last->boot_id ? e->report.t_boot_ns < last->t_boot_ns
                                                           : e->report.t_real_ns < last->t_real_ns;
  if (m->keys == NULL ? is_older : !is_known && !is_proved(m, r->record, &e->report, stamp, BB_AUTH_ALG_NONE)) {
    pass_over(m, r, e);
    return;
  }
  /* See proto/relay-v1.md, Time: a doubtful node is not called silent. */
  const bool is_old = (int64_t)(batch->of.head.taken_ns - e->stamp_ns) > FRESH_NS;
  bool doubtful = is_old && !is_silent_there(m, batch->of.board.evidence, &now, e->report.interval_ms);
  /* Whichever clock stood still: the earlier of both places is never too young. And a node that was heard before that
   * is not silent, either, until the master calls it silent. */
  if (is_known && m->stood_still && (int64_t)before->stamp_ns < stamp_ns) {
    stamp_ns = (int64_t)before->stamp_ns;
    doubtful = true;
  }
  struct listened *l = &m->links[link];
  const int64_t error_ns = batch->clock->answered_ns - batch->clock->asked_ns;
  if (error_ns > l->worst_ns) {
    if ((int64_t)b->header->evidence[link].heartbeat_ns - stamp_ns > limit) doubtful = true;
    l->worst_ns = error_ns;
  }
  const enum bb_event_kind news =
      before == NULL || is_known ? BB_EVENT_KIND_NONE : mirror_news_of(&before->report, &e->report);
  struct bb_record *record = record_at(b, r->record);
  if (r->head != 0 && e->head > r->head + 2) {
    const uint64_t skipped = (e->head - r->head) / 2 - 1;
    r->skipped += skipped;
    bb_add(&record->unheard, skipped);
  }
  r->head = e->head;
  r->stamp_ns = e->stamp_ns;
  r->link = (uint8_t)link;
  r->early_ns = 0;
  set_mark(&r->doubtful, doubtful, &m->counts.doubtful);
  set_mark(&r->vetoed, false, &m->counts.vetoed);
  const struct bb_arrival a = {
      .stamp_ns = stamp_ns, .stamp_real_ns = (int64_t)e->stamp_real_ns, .link = doubtful ? BB_LINK_UNKNOWN : link};
  struct bb_after after = {0};
  if (!is_known) after = bb_memory_begin(b, r->record, newest, &e->report, stamp_ns);
  if (is_first && is_last_before(memory_at(b, r->record), stamp_ns, batch->now_ns, limit))
    after.what |= BB_AFTER_BEGIN;
  bb_store_report(b, r->record, newest, &e->report, &a);
  bb_add(&record->accepted, 1);
  if (m->keys != NULL) bb_store(&record->auth_proved, m->orders[r->record].proved);
  bb_store((uint64_t *)&record->offset_us, (uint64_t)offset_us(&e->report, &a));
  bb_add(&b->header->accepted, 1);
  store_word(b, r->record, &a, &e->report);
  if (!is_known) bb_memory_end(b, r->record, after, &e->report, stamp_ns);
  if (news != BB_EVENT_KIND_NONE) bb_add_event(b, news, r->record, 0, &a);
  m->counts.laid++;
  receive_missing(m, r);
}

/* What the master concluded about a node. */
static void store_memory(struct bb_mirror *m, const struct batch *batch, uint32_t record,
                         const struct bb_relay_record *e) {
  struct bb_memory *to = memory_at(&m->board, record);
  const uint64_t since_ns = bounds_shown(batch->clock, e->clone_since_ns),
                 last_ns = bounds_shown(batch->clock, e->clone_ns);
  if (last_ns == 0 && to->clone_head == 0) return;
  const uint64_t sequence = to->clone_head + 2;
  const uint32_t interval_ms = interval_of(*column_word(&m->board, record));
  /* Not by another time alone: the same one becomes later when more is known about the master's clock. */
  const bool is_new = !bb_clone_lasts(to->clone_ns, since_ns, interval_ms, m->limits.longest_interval_ms) &&
                      bb_clone_lasts(last_ns, (uint64_t)batch->now_ns, interval_ms, m->limits.longest_interval_ms);
  bb_write_begin(&to->clone_head, &to->clone_tail, sequence);
  bb_store(&to->clone_since_ns, since_ns);
  bb_store(&to->clone_ns, last_ns);
  bb_copy_in(to->clone_address, e->clone_address, sizeof to->clone_address);
  bb_copy_in(to->clone_other, e->clone_other, sizeof to->clone_other);
  bb_write_end(&to->clone_head, sequence);
  if (last_ns > m->board.header->clone_ns) bb_store(&m->board.header->clone_ns, last_ns);
  if (is_new) bb_add_event(&m->board, BB_EVENT_KIND_CLONE, record, 0, NULL);
}

static void store_record(struct bb_mirror *m, const struct batch *batch, const struct bb_relay_record *e) {
  struct bb_mapped *b = &m->board;
  if (e->record >= m->capacity) {
    m->counts.full++;
    return;
  }
  if (!bb_is_name(e->name) || e->refusal_reason >= BB_REASON_COUNT || e->auth_proved >= BB_AUTH_ALG_COUNT) {
    m->counts.unfit++;
    return;
  }
  struct mirrored *r = &m->records[e->record];
  if (!mirror_adopt(m, e->record, e->name)) return;
  if (r->head == 0 && newest_slot(b, r->record) < 0) receive_missing(m, r);
  struct bb_record *to = record_at(b, r->record);
  bb_store(&to->lost, e->lost);
  bb_store(&to->unheard, e->unheard + r->skipped);
  bb_copy_in(&to->duplicate, &e->duplicate,
             offsetof(struct bb_record, offset_us) - offsetof(struct bb_record, duplicate));
  /* With keys, what was proved here. */
  if (m->keys == NULL) bb_store(&to->auth_proved, e->auth_proved);
  bb_store(&to->flags, e->flags & BB_RECORD_FLAGS_KNOWN);
  bb_copy_in(to->address_before, e->address_before, sizeof to->address_before);
  bb_store(&to->address_ns, bounds_shown(batch->clock, e->address_ns));
  const uint64_t sequence = to->order_head + 2;
  bb_write_begin(&to->order_head, &to->order_tail, sequence);
  bb_store(&to->refusal_reason, e->refusal_reason);
  bb_store(&to->refusal_ns, bounds_shown(batch->clock, e->refusal_ns));
  bb_store(&to->refusal_real_ns, e->refusal_real_ns);
  bb_store((uint64_t *)&to->refusal_offset_us, (uint64_t)e->refusal_offset_us);
  bb_copy_in(to->address, e->address, sizeof to->address);
  bb_store(&to->port, e->port);
  bb_write_end(&to->order_head, sequence);
  store_memory(m, batch, r->record, e);
  uint32_t problems;
  if (e->settled != 0 && e->settled == r->head && bb_memory_clear(b, r->record, &problems))
    bb_add_event(b, BB_EVENT_KIND_CLEAR, r->record, problems, NULL);
}

/* ---- links ---- */

static void store_link(struct bb_mirror *m, const struct batch *batch, const struct bb_relay_link *e) {
  struct bb_mapped *b = &m->board;
  const uint32_t number = e->number;
  struct bb_link link = e->link;
  const bool is_new = !has_entry(number, b->header->links_used);
  if (number == 0 || number >= BB_LINKS || memchr(link.name, 0, sizeof link.name) == NULL ||
      (!is_new && number != BB_LINK_OTHERS && memcmp(link_at(b, number)->name, link.name, sizeof link.name) != 0)) {
    m->counts.unfit++;
    return;
  }
  /* Entries come in the order of their numbers; one that was added meanwhile comes with the next thorough sweep. */
  if (is_new && number != b->header->links_used + 1) return;
  struct bb_link *to = link_at(b, number);
  link.changed_ns = bounds_shown(batch->clock, link.changed_ns);
  link.dark_since_ns = bounds_shown(batch->clock, link.dark_since_ns);
  link.unjoined_since_ns = bounds_shown(batch->clock, link.unjoined_since_ns);
  const bool was_up = (to->state & BB_LINK_STATE_UP) != 0, is_up = (link.state & BB_LINK_STATE_UP) != 0;
  const bool was_dark = to->dark_since_ns != 0, is_dark = link.dark_since_ns != 0;
  bb_copy_in(to, &link, sizeof link);
  /* Release: whoever sees the number finds the entry. */
  if (is_new) {
    /* No evidence until the next heartbeat: it listens since our last gap, or since the time that the master says. */
    m->links[number].floor_ns = m->header.floor_ns;
    bb_store_release(&b->header->links_used, number);
    return;
  }
  if (was_up != is_up) bb_add_event(b, is_up ? BB_EVENT_KIND_LINK_UP : BB_EVENT_KIND_LINK_DOWN, number, 0, NULL);
  if (was_dark != is_dark)
    bb_add_event(b, is_dark ? BB_EVENT_KIND_DARK : BB_EVENT_KIND_LIT, number, is_dark ? link.dark_nodes : 0, NULL);
}

/* ---- evidence ---- */

/* Since when it listens, as the master says now. */
static void hear_since(struct listened *l, uint64_t since, const struct bb_mirror_clock *clock) {
  const int64_t at = bounds_upper(clock, since);
  if (since != l->since || at < l->since_ns) l->since_ns = at;
  l->since = since;
}

/* The heartbeats of a complete sweep: everything that arrived before them has been stored. Each listening-since is
 * stored before its heartbeat, and the heartbeat with release: whoever sees it sees every earlier word, and the
 * listening-since that belongs to it. */
static void mirror_hear(struct bb_mirror *m, const struct batch *batch) {
  struct bb_board_header *h = m->board.header;
  const struct bb_mirror_clock *c = batch->clock;
  const int64_t steady_ns = 2 * ((m->limits.silent_after_ns + FRESH_NS) / BOUNDS_RATE);
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    const struct bb_link_evidence *said = &batch->of.board.evidence[i];
    struct listened *l = &m->links[i];
    if (!has_entry(i, m->board.header->links_used) || said->heartbeat_ns == 0 ||
        !bounds_are_known(c, said->heartbeat_ns) || !bounds_are_known(c, said->listening_since_ns))
      continue;
    hear_since(l, said->listening_since_ns, c);
    bb_store(&h->evidence[i].listening_since_ns, mirror_since_of(l));
    /* An earlier one is true, too; no master's clock has said one that is ahead of us. */
    const int64_t lower = bounds_lower(c, said->heartbeat_ns) - l->worst_ns - steady_ns,
                  at = lower < batch->now_ns ? lower : batch->now_ns;
    if (at > (int64_t)h->evidence[i].heartbeat_ns) bb_store_release(&h->evidence[i].heartbeat_ns, (uint64_t)at);
  }
  if (!bounds_are_known(c, batch->of.board.heartbeat_ns) || !bounds_are_known(c, batch->of.board.listening_since_ns))
    return;
  hear_since(&m->header, batch->of.board.listening_since_ns, c);
  bb_store(&h->listening_since_ns, mirror_since_of(&m->header));
  if (!m->counts.whole || (h->heartbeat_ns == 0 && waits_for_claims(m, batch->now_ns))) return;
  const int64_t lower = bounds_lower(c, batch->of.board.heartbeat_ns), behind_ns = batch->now_ns - lower,
                at = behind_ns > 0 ? lower : batch->now_ns;
  if (at <= (int64_t)h->heartbeat_ns) return;
  m->hearing.heard_ns = at;
  bb_add(&h->drains, 1);
  bb_store(&h->mirror_behind_ns, behind_ns > 0 ? (uint64_t)behind_ns : 0);
  bb_store_release(&h->heartbeat_ns, (uint64_t)at);
}

void bb_mirror_gap(struct bb_mirror *m, int64_t now_ns) {
  if (m->gone) return;
  struct bb_board_header *h = m->board.header;
  const struct bb_link_evidence e = {h->heartbeat_ns, h->listening_since_ns};
  const int64_t floor_ns = now_ns + bb_hearing_anew(&m->hearing, e, m->limits.silent_after_ns, now_ns);
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    m->links[i].floor_ns = floor_ns;
    if (has_entry(i, m->board.header->links_used))
      bb_store(&h->evidence[i].listening_since_ns, mirror_since_of(&m->links[i]));
  }
  m->header.floor_ns = floor_ns;
  bb_store(&h->listening_since_ns, mirror_since_of(&m->header));
  m->index.under_way = false;
  m->index.waits = false;
}

/* ---- messages ---- */

/* Publishes a board that has become whole. False: it is gone. */
static bool mirror_publish(struct bb_mirror *m) {
  char why[256];
  if (m->before.map == NULL || m->board.header->heartbeat_ns == 0) return true;
  keep_others(m);
  if (bb_place_keep(&m->place, why, sizeof why) != BB_KEPT || !bb_file_publish(&m->place, &m->board, why, sizeof why)) {
    drop_draft(m);
    m->gone = true;
    return false;
  }
  bb_file_retire(&m->before);
  bb_file_unmap(&m->before);
  m->stood_still = false;
  return true;
}

enum bb_mirror_outcome bb_mirror_batch(struct bb_mirror *m, const uint8_t *message, size_t length,
                                       const struct bb_mirror_clock *clock, int64_t now_ns) {
  struct batch batch = {.clock = clock, .now_ns = now_ns};
  if (m->gone) return BB_MIRROR_UNPLACED;
  if (!relay_read_batch(&batch.of, message, length) || !bounds_are_known(clock, batch.of.head.taken_ns))
    return BB_MIRROR_MALFORMED;
  if (bounds_lower(clock, batch.of.head.taken_ns) > now_ns + AHEAD_NS) return BB_MIRROR_AHEAD;
  struct relay_entry e;
  for (size_t at = 0; relay_next_entry(&batch.of, &at, &e);) {
    if (e.kind == BB_RELAY_ENTRY_RECORD) store_record(m, &batch, &e.record);
    else if (e.kind == BB_RELAY_ENTRY_LINK) store_link(m, &batch, &e.link);
    if (e.kind != BB_RELAY_ENTRY_REPORT) continue; /* of a later version */
    /* It was here before this was checked: only a clock that stood still, or a stamp that no receiver writes, can
     * be ahead. */
    if (!is_unfit(m, &batch, &e.report) && bounds_lower(clock, e.report.stamp_ns) > now_ns + AHEAD_NS)
      return BB_MIRROR_AHEAD;
    store_report(m, &batch, &e.report);
  }
  if ((batch.of.board.flags & BB_RELAY_FLAGS_COMPLETE) != 0) mirror_hear(m, &batch);
  return mirror_publish(m) ? BB_MIRROR_ACCEPTED : BB_MIRROR_UNPLACED;
}

/* Whether the board holds what the index says about a record. */
static bool is_held(const struct mirrored *r, const struct bb_relay_indexed *e, int64_t now_ns) {
  if (r->record == NONE || r->name != e->name) return false;
  if (r->early_ns != 0) return now_ns <= r->early_ns;
  /* Modulo 2^32: a node that reports ten times a second needs 13 years for that. */
  return e->number == 0 || (r->head != 0 && (int32_t)((uint32_t)(r->head / 2) - e->number) >= 0);
}

enum bb_mirror_outcome bb_mirror_index(struct bb_mirror *m, const uint8_t *message, size_t length, int64_t now_ns) {
  struct relay_index i;
  if (m->gone) return BB_MIRROR_UNPLACED;
  if (!relay_read_index(&i, message, length)) return BB_MIRROR_MALFORMED;
  if (i.index.part == 0) {
    memset(&m->index, 0, sizeof m->index);
    m->index.under_way = true;
    m->index.number = i.index.number;
  }
  if (!m->index.under_way || m->index.number != i.index.number || m->index.next_part != i.index.part ||
      m->index.records != i.index.first) {
    m->index.under_way = false;
    return BB_MIRROR_ACCEPTED;
  }
  for (uint32_t n = 0; n < i.index.count && i.index.first + n < m->capacity; n++) {
    const struct bb_relay_indexed e = relay_indexed(&i, n);
    struct mirrored *r = &m->records[i.index.first + n];
    const bool is_missing = !is_held(r, &e, now_ns);
    set_mark(&r->missing, is_missing, &m->counts.missing);
    m->index.missing += is_missing;
    /* At that age, the master itself calls it silent by now. */
    if (r->doubtful && !is_missing &&
        is_silent_there(m, i.index.evidence, r, interval_of(*column_word(&m->board, r->record)))) {
      set_mark(&r->doubtful, false, &m->counts.doubtful);
      store_again(m, r);
    }
  }
  m->index.records += i.index.count;
  m->index.next_part++;
  if (m->index.next_part < i.index.parts) return BB_MIRROR_ACCEPTED;
  m->index.under_way = false;
  m->next_missing = 0;
  if (m->index.records != i.index.records) return BB_MIRROR_ACCEPTED;
  if (m->index.missing == 0) mirror_heal(m, i.index.evidence);
  else {
    m->index.waits = true;
    memcpy(m->index.said, i.index.evidence, sizeof m->index.said);
  }
  return BB_MIRROR_ACCEPTED;
}

uint32_t bb_mirror_missing(struct bb_mirror *m, uint32_t *numbers, uint32_t most) {
  uint32_t n = 0;
  if (m->gone || m->counts.missing == 0) return 0;
  uint32_t i = m->next_missing;
  for (; i < m->capacity && n < most; i++)
    if (m->records[i].missing) numbers[n++] = i;
  m->next_missing = i < m->capacity ? i : 0;
  return n;
}

void bb_mirror_review(struct bb_mirror *m, uint64_t heard, int64_t now_ns) {
  struct bb_mapped *b = &m->board;
  bb_store(&b->header->mirror_heard, heard);
  if (m->before.map != NULL) bb_store(&m->before.header->mirror_heard, heard);
  m->heard = heard;
  if (m->gone) return;
  for (uint32_t i = 0; i < m->capacity; i++) {
    struct mirrored *r = &m->records[i];
    if (r->record == NONE) continue;
    const uint64_t word = *column_word(b, r->record);
    if (word == 0) continue;
    /* Before it can become silent: a veto that comes too late would leave it silent for a while. */
    const bool unheard =
        now_ns - (int64_t)stamp_of(word) >
        bb_limit_for((uint64_t)m->limits.uncertain_after_ns, interval_of(word), m->limits.longest_interval_ms);
    const bool veto = unheard && BB_COLUMN_GOODBYE(word) == 0 &&
                      claims_are_made(&m->claims, others_of(heard, m->followed), r->name, now_ns);
    if (veto == r->vetoed) continue;
    set_mark(&r->vetoed, veto, &m->counts.vetoed);
    store_again(m, r);
  }
  bb_store(&b->header->mirror_vetoed, m->counts.vetoed);
  bb_memory_survey(b, now_ns);
}

enum bb_mirror_outcome bb_mirror_claims(struct bb_mirror *m, uint32_t master, const uint8_t *message, size_t length,
                                        int64_t now_ns) {
  struct relay_index i;
  if (m->gone) return BB_MIRROR_ACCEPTED;
  if (master >= BB_MASTERS || !relay_read_index(&i, message, length)) return BB_MIRROR_MALFORMED;
  /* The board may have waited only for that. */
  if (claims_note(&m->claims, master, &i, &m->limits, now_ns)) bb_mirror_review(m, m->heard, now_ns);
  return BB_MIRROR_ACCEPTED;
}

void bb_mirror_counts(const struct bb_mirror *m, struct bb_mirror_counts *counts) { *counts = m->counts; }

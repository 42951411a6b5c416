/* Reports all of whose words say which one they are, so that a mixture of two shows; and what no look at a board may
 * ever show. For the tests of tearing: no I/O, no state but what the caller hands in. */
#ifndef BB_REPORTS_H
#define BB_REPORTS_H
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../beoboard.h"
#include "../board/hearing.h"
#include "../board/reader.h"
#include "../board/seqlock.h"
#include "../board/writer.h"
#include "snapshot.h"

#define CORE 4   /* nodes of which every round brings a report */
#define NODES 40 /* with those of which only one ever comes */

/* The links by which the reports come: two that have an entry, and all others. Each has a third of every millisecond,
 * so that a word of the column that is later is greater, too. */
#define LINKS 3
#define FLAPPING 2 /* goes down and up */
static const char *const link_names[] = {"", "eth0", "eth1"};
static inline uint32_t link_for(int64_t stamp_ns) {
  const uint32_t third = (uint32_t)(stamp_ns % 1000000 * LINKS / 1000000);
  return third + 1 == LINKS ? BB_LINK_OTHERS : third + 1;
}
static inline bool is_link(uint64_t number) { return number == BB_LINK_OTHERS || (number > 0 && number < LINKS); }

/* What the word at this offset holds. */
static inline uint64_t word_of(uint32_t seq, size_t offset) { return (uint64_t)seq << 16 | offset; }

static inline void make_report(struct bb_report *r, unsigned node, uint32_t seq, int64_t stamp_ns) {
  uint8_t *bytes = (uint8_t *)r;
  memset(r, 0, sizeof *r);
  for (size_t at = offsetof(struct bb_report, cpu_user_ms); at < sizeof *r; at += 8) {
    const uint64_t word = word_of(seq, at);
    memcpy(bytes + at, &word, sizeof word);
  }
  for (size_t i = 0; i < sizeof bb_report_reserved / sizeof bb_report_reserved[0]; i++)
    memset(bytes + bb_report_reserved[i].offset, 0, bb_report_reserved[i].bytes);
  for (size_t i = 0; i < sizeof bb_report_ranges / sizeof bb_report_ranges[0]; i++)
    memset(bytes + bb_report_ranges[i].offset, 0, bb_report_ranges[i].bytes);
  r->magic = 0x31525342;
  r->version = 1;
  r->length = sizeof *r;
  r->boot_id = 1;
  r->start_boot_ns = 1;
  r->seq = seq;
  r->interval_ms = 1000;
  r->t_boot_ns = 1000 + (uint64_t)seq;
  /* Trouble, which is remembered: a program killed with every report, and every other one held. */
  r->valid = BB_VALID_VMSTAT;
  r->oom_kills = seq;
  r->flags = seq % 2 == 0 ? BB_FLAGS_HELD : 0;
  r->t_real_ns = (uint64_t)stamp_ns;
  snprintf(r->hostname, sizeof r->hostname, "n%u", node);
}

static inline struct bb_arrival make_arrival(uint32_t seq, int64_t stamp_ns) {
  struct bb_arrival arrival = {.stamp_ns = stamp_ns,
                               .stamp_real_ns = (int64_t)word_of(seq, 0),
                               .port = (uint16_t)seq,
                               .link = link_for(stamp_ns)};
  const uint64_t address[2] = {word_of(seq, 1), word_of(seq, 2)};
  memcpy(arrival.address, address, sizeof address);
  return arrival;
}

static inline int deliver(struct bb_writer *w, unsigned node, uint32_t seq, int64_t stamp_ns) {
  struct bb_report report;
  struct bb_arrival arrival = make_arrival(seq, stamp_ns);
  make_report(&report, node, seq, stamp_ns);
  return bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival);
}

/* Stamps and heartbeats are rounded, so that their low bits can say which instance of the writer they are of. */
static inline int64_t rounded(int64_t ns) { return ns & ~INT64_C(0xffff); }

static inline struct bb_writer *open_writer(const char *path, uint32_t capacity) {
  const struct bb_writer_options options = {.path = path,
                                            .cluster_name = "",
                                            .capacity = capacity,
                                            .uncertain_after_ns = 4500000000,
                                            .silent_after_ns = 10500000000};
  char why[256];
  struct bb_writer *w = bb_writer_open(&options, why, sizeof why);
  if (w == NULL) fprintf(stderr, "%s\n", why);
  /* The low bits of a listening-since tell its instance, so here deafness adds nothing to it. */
  for (uint32_t i = 0; w != NULL && i < BB_LINKS; i++) bb_writer_links(w)->hearing[i].deaf_ns = INT64_MAX;
  /* As the receiver does when it begins: the links that it knows are up. */
  for (uint32_t i = 1; w != NULL && i < LINKS; i++) {
    const int64_t now_ns = rounded(bb_clock_ns(CLOCK_MONOTONIC)) | (int64_t)bb_writer_header(w)->instance;
    if (bb_links_add(bb_writer_links(w), link_names[i], false, i, now_ns) != i) abort();
    bb_links_set_state(bb_writer_links(w), i, i, BB_LINK_STATE_UP, false, now_ns);
  }
  return w;
}

/* What a reader remembers of earlier looks. */
struct memory {
  uint64_t count, heartbeat, accepted, links[BB_LINKS];
  uint64_t event_last, event_floor; /* up to the latter events may be missing: they are of the board before this one */
  uint64_t sender[BB_SENDERS];      /* heads of the refused */
  unsigned place[NODES]; /* per record: 1 + its node; of this very board */
  struct seen {
    uint32_t seq, history_seq;
    uint64_t head, column, accepted;
    bool is_here; /* in the last look */
  } node[NODES];
};

/* Why this copy of a slot, which looks whole, is not one of our reports. NULL: it is. */
static inline const char *torn(const struct bb_slot *slot, unsigned node) {
  const struct bb_report *r = &slot->report;
  struct bb_report made;
  if (slot->head != slot->tail || (slot->head & 1) != 0) return "torn: head and tail";
  make_report(&made, node, r->seq, (int64_t)r->t_real_ns);
  if (memcmp(&made, r, sizeof made) != 0) return "torn: the words are not all of one report";
  if (slot->stamp_ns != r->t_real_ns || slot->stamp_real_ns != word_of(r->seq, 0))
    return "torn: a stamp of another report";
  if (slot->link != link_for((int64_t)slot->stamp_ns)) return "torn: a link of another report";
  return NULL;
}

/* The order block was copied before the slots, and is written after them: it never knows of a later report. */
static inline const char *judge_order(const struct bb_record *r, uint32_t newest, struct seen *seen) {
  if (r->order_head == 0 || r->history_seq == 0) return NULL; /* none, not to be had, or just cleared by a takeover */
  uint64_t address[2];
  memcpy(address, r->address, sizeof address);
  const uint32_t seq = (uint32_t)(address[0] >> 16);
  const bool is_clear = address[0] == 0 && address[1] == 0 && r->port == 0;
  if (!is_clear && (address[0] != word_of(seq, 1) || address[1] != word_of(seq, 2) || r->port != (uint16_t)seq))
    return "torn: an address of two reports in the order block";
  if (r->start_boot_ns != 1 || r->known[0].boot_id != 1 || r->known[0].highest_boot_ns != 1000 + r->history_seq)
    return "torn: order block";
  if (!is_clear && seq > r->history_seq) return "torn: an address of a later report in the order block";
  if (r->history_seq > newest) return "backward: the order block knows a later report than the slots";
  if (r->history_seq < seen->history_seq) return "backward: order block";
  seen->history_seq = (uint32_t)r->history_seq;
  return NULL;
}

static inline const struct bb_slot *slot_of(const struct bb_board *b, const uint8_t *record, int i) {
  return (const struct bb_slot *)(record + b->header.slots_offset + (size_t)i * b->header.slot_stride);
}

/* The newest of the two slots of a copied record; NULL: none. */
static inline const struct bb_slot *newest_of(const struct bb_board *b, const uint8_t *record) {
  const struct bb_slot *x = slot_of(b, record, 0), *y = slot_of(b, record, 1);
  const struct bb_slot *newest = x->head > y->head ? x : y;
  return newest->head != 0 ? newest : NULL;
}

static inline const char *judge_record(const struct bb_board *b, const uint8_t *record, uint64_t column,
                                       uint64_t heartbeat, uint64_t place, struct memory *m) {
  const struct bb_record *r = (const struct bb_record *)record;
  unsigned node;
  char name[64] = {0};
  if (memchr(r->name, 0, sizeof r->name) == NULL || sscanf(r->name, "n%u", &node) != 1 || node >= NODES)
    return "torn: name";
  snprintf(name, sizeof name, "n%u", node);
  if (memcmp(name, r->name, sizeof name) != 0) return "torn: name";
  if (m->place[place] != 0 && m->place[place] != node + 1) return "vanished: another name in its place";
  m->place[place] = node + 1;
  struct seen *seen = &m->node[node];
  if (seen->is_here) return "torn: a name twice";
  seen->is_here = true;

  for (int i = 0; i < 2; i++) {
    const struct bb_slot *slot = slot_of(b, record, i);
    const char *fault = slot->head == 0 ? NULL : torn(slot, node);
    if (fault != NULL) return fault;
  }
  const struct bb_slot *x = slot_of(b, record, 0), *y = slot_of(b, record, 1);
  if (x->head != 0 && y->head != 0 && (x->head > y->head) != (x->report.seq > y->report.seq))
    return "torn: slots in disorder";
  const struct bb_slot *newest = newest_of(b, record);
  if (newest == NULL && seen->seq != 0) return "vanished: no report";
  if (newest != NULL) {
    if (newest->report.seq < seen->seq) return "backward: an older report than was seen before";
    if (newest->head < seen->head) return "backward: sequence";
    seen->seq = newest->report.seq;
    seen->head = newest->head;
  }
  const char *fault = judge_order(r, newest != NULL ? newest->report.seq : 0, seen);
  if (fault != NULL) return fault;
  if (r->accepted < seen->accepted) return "backward: reports counted";
  if (r->lost != 0) return "lost: a report that was never sent while somebody listened";
  seen->accepted = r->accepted;

  /* The word was loaded before the slots, and is stored after them. */
  if (column < seen->column) return "backward: column";
  seen->column = column;
  if (column != 0) {
    if (BB_COLUMN_INTERVAL(column) != 1000 || BB_COLUMN_GOODBYE(column) != 0 || !is_link(BB_COLUMN_LINK(column)))
      return "torn: column";
    if (newest == NULL || BB_COLUMN_STAMP(column) > newest->stamp_ns / 1000000)
      return "backward: the column knows a later report than the slots";
  }
  /* A heartbeat says that all reports of its round are there: their stamps are no earlier than it. */
  if (heartbeat != 0 && node < CORE) {
    if (newest == NULL || newest->stamp_ns < heartbeat) return "backward: a heartbeat without the reports before it";
    if (BB_COLUMN_STAMP(column) < heartbeat / 1000000) return "backward: a heartbeat without the column before it";
  }
  return NULL;
}

/* Judges what bb_board_snapshot() gave for the records from `first` on, or for one of them; remembers it. NULL: nothing
 * wrong. */
static inline const char *judge_look(const struct bb_board *b, const uint8_t *copy, const struct bb_look *look,
                                     uint64_t first, bool is_whole, struct memory *m) {
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  const uint64_t heartbeat = h->heartbeat_ns;
  if (heartbeat < m->heartbeat) return "backward: heartbeat";
  if (h->accepted < m->accepted) return "backward: reports counted on the board";
  m->heartbeat = heartbeat;
  m->accepted = h->accepted;
  /* The writer marks both with the same number of its instance in the low bits. */
  if (heartbeat != 0 && (h->listening_since_ns & 0xffff) < (heartbeat & 0xffff))
    return "backward: a heartbeat without the listening-since before it";
  /* Of each link that is up the same, and none is behind the receiver: it is stored first, and was loaded after. */
  uint64_t latest = heartbeat;
  for (uint32_t i = 0; i < BB_LINKS; i++) {
    const struct bb_link_evidence *e = &h->evidence[i];
    if (!is_link(i)) {
      if (e->heartbeat_ns != 0 || e->listening_since_ns != 0) return "torn: evidence of a link that is not there";
      continue;
    }
    if (e->heartbeat_ns < m->links[i]) return "backward: heartbeat of a link";
    if (i != FLAPPING && e->heartbeat_ns < heartbeat)
      return "backward: a heartbeat without those of the links before it";
    if (e->heartbeat_ns != 0 && (e->listening_since_ns & 0xffff) < (e->heartbeat_ns & 0xffff))
      return "backward: a link's heartbeat without the listening-since before it";
    m->links[i] = e->heartbeat_ns;
    if (e->heartbeat_ns > latest) latest = e->heartbeat_ns;
  }
  if (first + look->nodes > NODES) return "torn: count";
  for (unsigned node = 0; node < NODES; node++) m->node[node].is_here = false;
  const uint8_t *column = copy + b->header.header_bytes;
  const uint8_t *record = column + look->nodes * b->header.column_stride;
  for (uint64_t i = 0; i < look->nodes; i++, record += b->header.record_stride, column += b->header.column_stride) {
    uint64_t word;
    memcpy(&word, column, sizeof word);
    const char *fault = judge_record(b, record, word, latest, first + i, m);
    if (fault != NULL) return fault;
  }
  if (!is_whole) return NULL;
  if (look->nodes < m->count) return "vanished: fewer records than before";
  m->count = look->nodes;
  for (unsigned node = 0; node < NODES; node++) {
    if (m->node[node].is_here) continue;
    if (m->node[node].seq != 0) return "vanished: a record";
    if (latest != 0 && node < CORE) return "vanished: a heartbeat without the records before it";
  }
  return NULL;
}

/* A look at the whole board. */
static inline const char *look_at(const struct bb_board *b, uint8_t *copy, size_t room, struct memory *m) {
  struct bb_look look;
  if (bb_board_snapshot(b, copy, room, 0, &look) != 0) return "truncated";
  return judge_look(b, copy, &look, 0, true, m);
}

/* A look at both reports of every node, as the library for schedulers gives them. */
static inline const char *ask_library(const beoboard *b, struct memory *m) {
  const int count = beoboard_count(b);
  for (int i = 0; i < count && i < NODES; i++) {
    unsigned node;
    char name[64];
    struct beoboard_slot slot[2];
    if (beoboard_name(b, i, name, sizeof name) < 0 || sscanf(name, "n%u", &node) != 1 || node >= NODES)
      return "torn: name";
    const int n = beoboard_reports(b, i, &slot[0], &slot[1], sizeof slot[0]);
    struct seen *seen = &m->node[node];
    if (n == 0 && seen->seq != 0) return "vanished: no report";
    if (n < 0) return "vanished: not to be had";
    for (int k = 0; k < n; k++) {
      struct bb_report made;
      make_report(&made, node, (uint32_t)slot[k].report.seq, (int64_t)slot[k].report.t_real_ns);
      if (memcmp(&made, &slot[k].report, sizeof made) != 0) return "torn: the words are not all of one report";
      if ((uint64_t)slot[k].stamp_ns != made.t_real_ns) return "torn: a stamp of another report";
    }
    if (n == 0) continue;
    if (slot[0].report.seq < seen->seq) return "backward: an older report than was seen before";
    if (n == 2 && slot[1].report.seq >= slot[0].report.seq) return "backward: the one before is the newer";
    seen->seq = slot[0].report.seq;
  }
  return NULL;
}

/* -- what is refused, and noted in the tables: datagram number k comes from an address of its own, two times, each long
 * enough after the one before that nobody keeps an entry from it -- */

#define REFUSED_EVERY INT64_C(100000000000)
#define AGAIN INT64_C(1000000000)

static inline struct bb_arrival refused_arrival(uint32_t k, int times) {
  struct bb_arrival arrival = make_arrival(k, (int64_t)k * REFUSED_EVERY + (times > 1 ? AGAIN : 0));
  arrival.link = BB_LINK_OTHERS;
  return arrival;
}

static inline void refused_name(char name[64], uint32_t k) {
  memset(name, 0, 64);
  snprintf(name, 64, "stranger%u", k);
}

static inline int deliver_refused(struct bb_writer *w, uint32_t k, int times) {
  struct bb_report report;
  struct bb_arrival arrival = refused_arrival(k, times);
  make_report(&report, 0, k, arrival.stamp_ns);
  refused_name(report.hostname, k);
  report.magic = 0;
  return bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival);
}

/* Why this copy of an entry, which is given as whole, is not one of ours. NULL: it is. */
static inline const char *torn_sender(const struct bb_sender *s) {
  if (s->head != s->tail || (s->head & 1) != 0) return "torn: head and tail of a sender";
  const uint32_t k = (uint32_t)(s->last_real_ns >> 16);
  char name[64];
  refused_name(name, k);
  if (s->count < 1 || s->count > 2) return "torn: how often a sender was refused";
  const struct bb_arrival first = refused_arrival(k, 1), last = refused_arrival(k, (int)s->count);
  if (memcmp(s->address, last.address, sizeof s->address) != 0 || memcmp(s->name, name, sizeof name) != 0)
    return "torn: two senders in one entry";
  if (s->first_ns != (uint64_t)first.stamp_ns || s->last_ns != (uint64_t)last.stamp_ns ||
      s->last_real_ns != (uint64_t)last.stamp_real_ns)
    return "torn: times of another sender";
  return NULL;
}

/* Likewise of an event. Those of refusals say which they are of; all others are of now. */
static inline const char *torn_event(const struct bb_event *e, uint64_t number) {
  if (e->head != 2 * number || e->head != e->tail) return "torn: another event than was asked for";
  const uint32_t k = (uint32_t)(e->stamp_real_ns >> 16);
  switch (e->kind) {
    case BB_EVENT_KIND_REFUSAL:
      return e->subject != BB_NO_SUBJECT || e->detail != BB_REASON_MAGIC || e->stamp_real_ns != word_of(k, 0) ||
                     e->stamp_ns != (uint64_t)refused_arrival(k, 1).stamp_ns
                 ? "torn: a refusal"
                 : NULL;
    case BB_EVENT_KIND_LINK_DOWN:
    case BB_EVENT_KIND_LINK_UP: return e->subject != FLAPPING || e->detail != 0 ? "torn: a link" : NULL;
    case BB_EVENT_KIND_TAKEOVER: return e->subject != BB_NO_SUBJECT || e->detail < 2 ? "torn: a takeover" : NULL;
    case BB_EVENT_KIND_FORGET: return e->subject != BB_NO_SUBJECT || e->detail == 0 ? "torn: a forgetting" : NULL;
    default: return "torn: a kind of event that nobody wrote";
  }
}

static inline uint64_t last_event(const struct bb_board *b) {
  return bb_load_acquire(&((const struct bb_board_header *)b->map)->event_last);
}

/* Events from this number on: whole, in order, and none missing but for those that were overwritten. */
static inline const char *judge_events(const struct bb_board *b, uint64_t from, uint64_t last, const struct memory *m) {
  static struct bb_event events[BB_EVENTS];
  uint64_t next = from, due = from;
  const int n = bb_board_events(b, &next, events, BB_EVENTS);
  if (n < 0) return "truncated";
  if (next <= last) return "vanished: the newest event";
  for (int i = 0; i <= n; i++) {
    const uint64_t number = i < n ? events[i].head / 2 : last + 1;
    if (i < n && number < due) return "torn: events in disorder";
    /* The event that is being written has taken the place of an old one, and its number is not told yet. */
    if (due < number && number - 1 > m->event_floor && number - 1 + BB_EVENTS > last_event(b) + 1)
      return "vanished: an event";
    if (i < n) due = number + 1;
    const char *fault = i < n ? torn_event(&events[i], number) : NULL;
    if (fault != NULL) return fault;
  }
  return NULL;
}

/* A look at links, rejected senders and events. */
static inline const char *judge_tables(const struct bb_board *b, struct memory *m) {
  static struct bb_sender senders[BB_SENDERS];
  struct bb_link_copy links[BB_LINKS];
  uint32_t numbers[BB_LINKS], told = UINT32_C(1) << BB_LINK_OTHERS, used = 0;
  const struct bb_board_header *h = (const struct bb_board_header *)b->map;
  const uint64_t count = bb_load_acquire(&h->count);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t word =
        bb_load_acquire((const uint64_t *)(b->map + b->header.column_offset + i * b->header.column_stride));
    if (word != 0) used |= UINT32_C(1) << BB_COLUMN_LINK(word);
  }
  const int n = bb_board_links(b, links, numbers);
  for (int i = 0; i < n; i++) {
    told |= UINT32_C(1) << numbers[i];
    if (numbers[i] != BB_LINK_OTHERS &&
        (numbers[i] >= LINKS || strcmp(links[i].link.name, link_names[numbers[i]]) != 0))
      return "torn: the name of a link";
  }
  if (n < 1 || (used & ~told) != 0) return "vanished: a link by which a report came";

  if (bb_board_senders(b, senders) != 0) return "truncated";
  for (uint32_t i = 0; i < BB_SENDERS; i++) {
    const struct bb_sender *s = &senders[i];
    if (s->head == 0) continue;
    if (i / BB_SENDERS_EACH != BB_REASON_MAGIC) return "torn: a sender among those of another reason";
    if (s->head < m->sender[i]) return "backward: a sender";
    const char *fault = torn_sender(s);
    if (fault != NULL) return fault;
    m->sender[i] = s->head;
  }

  const uint64_t last = last_event(b);
  if (last < m->event_last) return "backward: the number of the newest event";
  m->event_last = last;
  const char *fault = judge_events(b, last > BB_EVENTS ? last - BB_EVENTS + 1 : 1, last, m);
  return fault != NULL ? fault : judge_events(b, last > 8 ? last - 8 : 1, last, m);
}

/* What is remembered of one very board, and not of its nodes. */
static inline void forget_places(struct memory *m, const struct bb_board *b) {
  memset(m->place, 0, sizeof m->place);
  m->count = 0;
  m->event_floor = last_event(b);
}

/* Goes over to the board that has taken this one's place, if one has. A takeover makes a new one when the receiver
 * before was killed between the name and the first report of a node: that record goes, the rest stays. */
static inline void follow_board(struct bb_board *b, const char *path, struct memory *m) {
  char why[256];
  struct bb_board next;
  if (bb_board_is_at(b, path) || bb_board_open(&next, path, (uid_t)-1, why, sizeof why) != BB_READY) return;
  bb_board_close(b);
  *b = next;
  forget_places(m, b);
}

/* Room for every look at a board of these tests. */
static inline uint8_t *make_room(size_t *room) {
  *room = 4096 + NODES * 4096;
  uint8_t *copy = (uint8_t *)aligned_alloc(64, *room);
  if (copy == NULL) abort();
  return copy;
}

static inline uint64_t next_random(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

#endif

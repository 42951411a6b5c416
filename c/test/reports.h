/* Reports all of whose words say which one they are, so that a mixture of two shows; and what no look at a board may ever
 * show. For the tests of tearing: no I/O, no state but what the caller hands in. */
#ifndef BB_TEST_REPORTS_H
#define BB_TEST_REPORTS_H
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../beoboard.h"
#include "../board.h"
#include "../board_writer.h"

#define CORE 4   /* nodes of which every round brings a report */
#define NODES 40 /* with those of which only one ever comes */

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
  r->t_real_ns = (uint64_t)stamp_ns;
  snprintf(r->hostname, sizeof r->hostname, "n%u", node);
}

static inline struct bb_arrival make_arrival(uint32_t seq, int64_t stamp_ns) {
  struct bb_arrival arrival = {.stamp_ns = stamp_ns, .stamp_real_ns = (int64_t)word_of(seq, 0), .port = (uint16_t)seq};
  const uint64_t address[2] = {word_of(seq, 1), word_of(seq, 2)};
  memcpy(arrival.address, address, sizeof address);
  return arrival;
}

static inline int deliver(struct bb_writer *w, unsigned node, uint32_t seq, int64_t stamp_ns) {
  struct bb_report report;
  const struct bb_arrival arrival = make_arrival(seq, stamp_ns);
  make_report(&report, node, seq, stamp_ns);
  return bb_writer_deliver(w, (const uint8_t *)&report, sizeof report, &arrival);
}

static inline struct bb_writer *open_writer(const char *path, uint32_t capacity) {
  const struct bb_writer_options options = {.path = path,
                                            .cluster_name = "",
                                            .capacity = capacity,
                                            .uncertain_after_ns = 4500000000,
                                            .silent_after_ns = 10500000000};
  char why[256];
  struct bb_writer *w = bb_writer_open(&options, why, sizeof why);
  if (w == NULL) fprintf(stderr, "%s\n", why);
  return w;
}

/* What a reader remembers of earlier looks. */
struct memory {
  uint64_t count, heartbeat, accepted;
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
  if (slot->stamp_ns != r->t_real_ns || slot->stamp_real_ns != word_of(r->seq, 0)) return "torn: a stamp of another report";
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

static inline const char *judge_record(const struct bb_board *b, const uint8_t *record, uint64_t column, uint64_t heartbeat,
                                       uint64_t place, struct memory *m) {
  const struct bb_record *r = (const struct bb_record *)record;
  unsigned node;
  char name[64] = {0};
  if (memchr(r->name, 0, sizeof r->name) == NULL || sscanf(r->name, "n%u", &node) != 1 || node >= NODES) return "torn: name";
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
  if (x->head != 0 && y->head != 0 && (x->head > y->head) != (x->report.seq > y->report.seq)) return "torn: slots in disorder";
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
    if ((column & 0x1fffff) != 1000 << 1) return "torn: column";
    if (newest == NULL || column >> 21 > newest->stamp_ns / 1000000)
      return "backward: the column knows a later report than the slots";
  }
  /* A heartbeat says that all reports of its round are there: their stamps are no earlier than it. */
  if (heartbeat != 0 && node < CORE) {
    if (newest == NULL || newest->stamp_ns < heartbeat) return "backward: a heartbeat without the reports before it";
    if (column >> 21 < heartbeat / 1000000) return "backward: a heartbeat without the column before it";
  }
  return NULL;
}

/* Judges what bb_board_snapshot() gave for the records from `first` on, or for one of them; remembers it. NULL: nothing wrong. */
static inline const char *judge_look(const struct bb_board *b, const uint8_t *copy, const struct bb_look *look, uint64_t first,
                                     bool is_whole, struct memory *m) {
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  const uint64_t heartbeat = h->heartbeat_ns;
  if (heartbeat < m->heartbeat) return "backward: heartbeat";
  if (h->accepted < m->accepted) return "backward: reports counted on the board";
  m->heartbeat = heartbeat;
  m->accepted = h->accepted;
  /* The writer marks both with the same number of its instance in the low bits. */
  if (heartbeat != 0 && (h->listening_since_ns & 0xffff) < (heartbeat & 0xffff))
    return "backward: a heartbeat without the listening-since before it";
  if (first + look->nodes > NODES) return "torn: count";
  for (unsigned node = 0; node < NODES; node++) m->node[node].is_here = false;
  const uint8_t *column = copy + b->header.header_bytes;
  const uint8_t *record = column + look->nodes * b->header.column_stride;
  for (uint64_t i = 0; i < look->nodes; i++, record += b->header.record_stride, column += b->header.column_stride) {
    uint64_t word;
    memcpy(&word, column, sizeof word);
    const char *fault = judge_record(b, record, word, heartbeat, first + i, m);
    if (fault != NULL) return fault;
  }
  if (!is_whole) return NULL;
  if (look->nodes < m->count) return "vanished: fewer records than before";
  m->count = look->nodes;
  for (unsigned node = 0; node < NODES; node++) {
    if (m->node[node].is_here) continue;
    if (m->node[node].seq != 0) return "vanished: a record";
    if (heartbeat != 0 && node < CORE) return "vanished: a heartbeat without the records before it";
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
    if (beoboard_name(b, i, name, sizeof name) < 0 || sscanf(name, "n%u", &node) != 1 || node >= NODES) return "torn: name";
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

/* What is remembered of one very board, and not of its nodes. */
static inline void forget_places(struct memory *m) {
  memset(m->place, 0, sizeof m->place);
  m->count = 0;
}

/* Goes over to the board that has taken this one's place, if one has. A takeover makes a new one when the receiver before was
 * killed between the name and the first report of a node: that record goes, the rest stays. */
static inline void follow_board(struct bb_board *b, const char *path, struct memory *m) {
  char why[256];
  struct bb_board next;
  if (bb_board_is_at(b, path) || bb_board_open(&next, path, (uid_t)-1, why, sizeof why) != BB_READY) return;
  bb_board_close(b);
  *b = next;
  forget_places(m);
}

/* Room for every look at a board of these tests. */
static inline uint8_t *make_room(size_t *room) {
  *room = 4096 + NODES * 4096;
  uint8_t *copy = (uint8_t *)aligned_alloc(64, *room);
  if (copy == NULL) abort();
  return copy;
}

/* Stamps and heartbeats are rounded, so that their low bits can say which instance of the writer they are of. */
static inline int64_t rounded(int64_t ns) { return ns & ~INT64_C(0xffff); }

static inline uint64_t next_random(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

#endif

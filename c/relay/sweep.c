#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "../board/column.h"
#include "../board/newest.h"
#include "../judge/problems.h"

/* What was taken of a record. */
struct swept {
  uint64_t word;
  uint64_t head;     /* 0: no report */
  uint64_t valid;    /* the sets of that report */
  uint64_t counters; /* a hash of a relay_record except `accepted` */
  uint32_t name;     /* as in the index; 0: not looked at yet */
  bool asked;
};

struct bb_sweep {
  const struct bb_board *board;
  struct swept *records;
  struct bb_link links[BB_LINKS];
  uint64_t well;
  /* The present sweep. */
  uint32_t count, links_used, next_link, next, next_asked;
  bool thorough, partial, priming;
  size_t asked_bytes;
  /* Records that are asked for; no one is before the first. */
  uint32_t asked, first_asked;
};

struct bb_sweep *bb_sweep_new(const struct bb_board *board) {
  struct bb_sweep *h = (struct bb_sweep *)calloc(1, sizeof *h);
  if (h == NULL) return NULL;
  h->board = board;
  h->records = (struct swept *)calloc(board->header.capacity, sizeof *h->records);
  if (h->records != NULL) return h;
  free(h);
  return NULL;
}

void bb_sweep_free(struct bb_sweep *h) {
  if (h == NULL) return;
  free(h->records);
  free(h);
}

bool bb_sweep_begin(struct bb_sweep *h, bool thorough, size_t asked_bytes, struct bb_relay_board *out) {
  const struct bb_board *b = h->board;
  if (bb_board_is_cut(b)) return false;
  const struct bb_board_header *shared = header_of(b);
  struct bb_said said;
  /* Heartbeats first, each with acquire: what arrived before them is in the words that are loaded below. */
  bb_board_said(b, &said);
  const uint64_t used = bb_load_acquire(&shared->links_used);
  h->links_used = used < BB_LINK_OTHERS ? (uint32_t)used : 0;
  h->count = (uint32_t)bb_board_count(b);
  h->next = h->next_asked = 0;
  h->next_link = 1;
  h->thorough = thorough;
  h->partial = false;
  h->asked_bytes = asked_bytes;
  memset(out, 0, sizeof *out);
  out->stat_hash = b->header.stat_hash;
  out->uncertain_after_ns = bb_load(&shared->uncertain_after_ns);
  out->silent_after_ns = bb_load(&shared->silent_after_ns);
  out->longest_interval_ms = bb_load(&shared->longest_interval_ms);
  out->capacity = b->header.capacity;
  out->count = h->count;
  out->cluster_id = b->header.cluster_id;
  out->links_used = h->links_used;
  out->state = said.state;
  out->heartbeat_ns = said.heartbeat;
  out->listening_since_ns = said.since;
  out->instance = bb_load(&shared->instance);
  memcpy(out->cluster_name, b->header.cluster_name, sizeof out->cluster_name);
  memcpy(out->evidence, said.links, sizeof out->evidence);
  return true;
}

/* A range of consecutive records or links. */
struct room {
  uint8_t *at;
  size_t left;
  uint32_t entries;
};

static void *add(struct room *room, size_t bytes, uint16_t kind, uint32_t number) {
  if (room->left < bytes) return NULL;
  uint8_t *const entry = room->at;
  memset(entry, 0, bytes);
  const uint16_t size = (uint16_t)bytes;
  memcpy(entry, &kind, sizeof kind);
  memcpy(entry + 2, &size, sizeof size);
  memcpy(entry + 4, &number, sizeof number);
  room->at += bytes;
  room->left -= bytes;
  room->entries++;
  return entry;
}

/* What is sent at once when it changes. Counters, and the address to which reports are sent, are not. */
static bool is_news(const struct bb_link *a, const struct bb_link *b) {
  return memcmp(a->name, b->name, sizeof a->name) != 0 || a->index != b->index || a->state != b->state ||
         a->downs != b->downs || a->changed_ns != b->changed_ns || a->dark_since_ns != b->dark_since_ns ||
         a->dark_nodes != b->dark_nodes || a->unjoined_since_ns != b->unjoined_since_ns;
}

static bool sweep_link(struct bb_sweep *h, uint32_t number, struct room *room) {
  const struct bb_link link = read_link(h->board, number).link;
  const uint64_t bit = UINT64_C(1) << number;
  h->well = (link.state & BB_LINK_STATE_UP) != 0 && link.dark_since_ns == 0 ? h->well | bit : h->well & ~bit;
  if (!h->thorough && !is_news(&link, &h->links[number])) return true;
  if (!h->priming) {
    struct bb_relay_link *entry = (struct bb_relay_link *)add(room, sizeof *entry, BB_RELAY_ENTRY_LINK, number);
    if (entry == NULL) return false;
    entry->link = link;
  }
  h->links[number] = link;
  return true;
}

/* FNV-1a over words. */
static uint64_t hash_words(uint64_t hash, const void *words, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word;
    memcpy(&word, (const uint8_t *)words + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* The bytes from one field to another. What a relay_record has of a record lies alike in both. */
#define SPAN(type, first, next) (offsetof(type, next) - offsetof(type, first))
BB_STATIC_ASSERT(SPAN(struct bb_relay_record, accepted, auth_proved) == SPAN(struct bb_record, accepted, offset_us) &&
                     SPAN(struct bb_relay_record, refusal_reason, address_before) ==
                         SPAN(struct bb_record, refusal_reason, port) &&
                     SPAN(struct bb_relay_record, clone_since_ns, settled) ==
                         SPAN(struct bb_memory, clone_since_ns, clone_tail),
                 "counters, refusal and clone of a record");

/* Copies what is sent of a record besides its reports. False: no whole copy could be made. */
static bool copy_counters(const struct bb_sweep *h, uint32_t number, struct bb_relay_record *out) {
  const uint8_t *const in = record_of(h->board, number);
  const size_t order = offsetof(struct bb_record, order_head);
  struct bb_record r;
  bb_copy_out(&r, in, order);
  bool empty = false;
  const size_t order_bytes = sizeof r - order;
  if (bb_read_block((uint8_t *)&r + order, in + order, order_bytes, offsetof(struct bb_record, order_tail) - order,
                    BB_TRIES, &empty) == 0) {
    if (!empty) return false;
    memset((uint8_t *)&r + order, 0, order_bytes);
  }
  memcpy(out->name, r.name, sizeof out->name);
  out->name[sizeof out->name - 1] = 0;
  memcpy(&out->accepted, &r.accepted, SPAN(struct bb_record, accepted, offset_us));
  out->auth_proved = r.auth_proved;
  out->flags = r.flags;
  memcpy(&out->refusal_reason, &r.refusal_reason, SPAN(struct bb_record, refusal_reason, port));
  memcpy(out->address_before, r.address_before, sizeof out->address_before);
  out->address_ns = r.address_ns;
  out->port = r.port;
  struct bb_memory m;
  const size_t clone_bytes = offsetof(struct bb_memory, clone_tail) + sizeof m.clone_tail;
  if (h->board->header.memory_bytes < clone_bytes) return true;
  if (bb_read_block(&m, in + h->board->header.memory_offset, clone_bytes, offsetof(struct bb_memory, clone_tail),
                    BB_TRIES, &empty) == 0)
    return empty;
  memcpy(&out->clone_since_ns, &m.clone_since_ns, SPAN(struct bb_memory, clone_since_ns, clone_tail));
  return true;
}

/* The head of the newest report that was swept, if nothing is remembered that it does not measure; 0: something is. */
static uint64_t settled_head(const struct bb_sweep *h, uint32_t number) {
  const struct bb_board *b = h->board;
  if (b->header.memory_bytes < sizeof(struct bb_memory)) return 0;
  struct bb_memory m;
  bb_copy_out(&m, record_of(b, number) + b->header.memory_offset, sizeof m);
  const struct swept *s = &h->records[number];
  const bool is_gone = (m.health_gone_ns | m.gpu_gone_ns) != 0;
  return is_gone || bb_unmeasured(m.recent, m.measured, s->valid) != 0 ? 0 : s->head;
}

/* False: there was no room. */
static bool sweep_counters(struct bb_sweep *h, uint32_t number, bool always, struct room *room) {
  struct swept *const s = &h->records[number];
  struct bb_relay_record now = {0};
  if (!copy_counters(h, number, &now)) return true; /* the next thorough sweep includes it */
  const uint64_t accepted = now.accepted, settled = settled_head(h, number);
  now.accepted = 0;
  now.settled = settled != 0;
  const uint64_t counters =
      hash_words(UINT64_C(0xcbf29ce484222325), now.name, sizeof now - offsetof(struct bb_relay_record, name)) | 1;
  s->name = (uint32_t)(bb_name_hash(now.name, 0) >> 32);
  if (counters == s->counters && !always) return true;
  if (!h->priming) {
    struct bb_relay_record *entry = (struct bb_relay_record *)add(room, sizeof *entry, BB_RELAY_ENTRY_RECORD, number);
    if (entry == NULL) return false;
    const size_t at = offsetof(struct bb_relay_record, name);
    memcpy((uint8_t *)entry + at, (const uint8_t *)&now + at, sizeof now - at);
    entry->accepted = accepted;
    entry->settled = settled;
  }
  s->counters = counters;
  return true;
}

enum result { SWEPT, NO_ROOM, TORN, BACKWARD };

/* Sweeps the newest report of a record, if it was not swept yet, or if `always`. */
static enum result sweep_report(struct bb_sweep *h, uint32_t number, bool always, struct room *room) {
  struct swept *const s = &h->records[number];
  if (!h->priming && room->left < sizeof(struct bb_relay_report)) return NO_ROOM;
  struct bb_slot slot;
  int which;
  const uint64_t sequence = bb_newest_of(h->board, number, &slot, sizeof slot, &which);
  if (sequence == 1) return TORN;
  if (sequence < s->head) return BACKWARD;
  if (sequence == 0 || (sequence == s->head && !always)) return SWEPT;
  if (!h->priming) {
    struct bb_relay_report *entry = (struct bb_relay_report *)add(room, sizeof *entry, BB_RELAY_ENTRY_REPORT, number);
    entry->head = sequence;
    entry->stamp_ns = slot.stamp_ns;
    entry->stamp_real_ns = slot.stamp_real_ns;
    entry->link = slot.link;
    entry->report = slot.report;
  }
  s->head = sequence;
  s->valid = slot.report.valid;
  return SWEPT;
}

/* The changes of a record. */
static enum result sweep_record(struct bb_sweep *h, uint32_t number, struct room *room) {
  struct swept *const s = &h->records[number];
  /* Acquire: whoever sees the word sees its report. */
  const uint64_t word =
      bb_load_acquire((const uint64_t *)(const void *)(h->board->map + h->board->header.column_offset +
                                                       (uint64_t)number * h->board->header.column_stride));
  if (word != s->word) {
    const enum result result = sweep_report(h, number, false, room);
    if (result != SWEPT) return result;
    s->word = word;
  }
  /* A new record is sent even without a report. */
  if ((h->thorough || s->name == 0) && !sweep_counters(h, number, false, room)) return NO_ROOM;
  return SWEPT;
}

static enum result sweep_asked(struct bb_sweep *h, uint32_t number, struct room *room) {
  struct swept *const s = &h->records[number];
  if (room->left < sizeof(struct bb_relay_report) + sizeof(struct bb_relay_record)) return NO_ROOM;
  const size_t before = room->left;
  const enum result result = sweep_report(h, number, true, room);
  if (result != SWEPT) return result;
  sweep_counters(h, number, true, room);
  const size_t bytes = before - room->left;
  h->asked_bytes = h->asked_bytes > bytes ? h->asked_bytes - bytes : 0;
  s->asked = false;
  h->asked--;
  return SWEPT;
}

enum bb_sweep_state bb_sweep_next(struct bb_sweep *h, uint8_t *to, size_t bytes_of_room, size_t *bytes,
                                  uint32_t *entries) {
  struct room room = {to, bytes_of_room, 0};
  enum result result = SWEPT;
  *bytes = 0;
  *entries = 0;
  if (bb_board_is_cut(h->board)) return BB_SWEEP_CUT;
  for (; result == SWEPT && h->next_link < BB_LINKS; h->next_link += result == SWEPT)
    if (has_entry(h->next_link, h->links_used) && !sweep_link(h, h->next_link, &room)) result = NO_ROOM;
  for (; result == SWEPT && h->next < h->count; h->next += result == SWEPT) {
    result = sweep_record(h, h->next, &room);
    if (result == TORN) {
      h->partial = true;
      result = SWEPT;
    }
  }
  if (h->next_asked < h->first_asked) h->next_asked = h->first_asked;
  for (; result == SWEPT && h->asked > 0 && h->asked_bytes > 0 && h->next_asked < h->count;
       h->next_asked += result == SWEPT) {
    if (h->records[h->next_asked].asked) result = sweep_asked(h, h->next_asked, &room);
    if (result == TORN) result = SWEPT; /* it remains requested */
  }
  *bytes = bytes_of_room - room.left;
  *entries = room.entries;
  if (result == BACKWARD) return BB_SWEEP_BACKWARD;
  if (result == NO_ROOM) return BB_SWEEP_MORE;
  /* The ones before it have been answered; at the end of the board it begins again, for those that could not be
   * copied. */
  h->first_asked = h->asked > 0 && h->next_asked < h->count ? h->next_asked : 0;
  return h->partial ? BB_SWEEP_PARTIAL : BB_SWEEP_COMPLETE;
}

enum bb_sweep_state bb_sweep_prime(struct bb_sweep *h) {
  struct bb_relay_board board;
  size_t bytes;
  uint32_t entries;
  if (!bb_sweep_begin(h, true, 0, &board)) return BB_SWEEP_CUT;
  h->priming = true;
  const enum bb_sweep_state state = bb_sweep_next(h, NULL, 0, &bytes, &entries);
  h->priming = false;
  return state;
}

void bb_sweep_ask(struct bb_sweep *h, const uint32_t *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (numbers[i] >= h->count || h->records[numbers[i]].asked) continue;
    h->records[numbers[i]].asked = true;
    h->asked++;
    if (numbers[i] < h->first_asked) h->first_asked = numbers[i];
  }
}

uint32_t bb_sweep_index(const struct bb_sweep *h, uint32_t first, uint32_t count, struct bb_relay_indexed *out) {
  uint32_t n = 0;
  for (; n < count && first + n < h->count; n++) {
    const struct swept *s = &h->records[first + n];
    /* A word whose report was not swept is not a report that a mirror could have. */
    out[n] = (struct bb_relay_indexed){s->name, (uint32_t)(s->head / 2), s->head == 0 ? 0 : s->word};
  }
  return n;
}

uint32_t bb_sweep_records(const struct bb_sweep *h) { return h->count; }

uint64_t bb_sweep_links_well(const struct bb_sweep *h) { return h->well; }

#include "repair.h"

#include "../format/validate.h"
#include "column.h"
#include "memory.h"
#include "records.h"
#include "reader.h"
#include "seqlock.h"

static bool is_torn(const uint64_t *head, const uint64_t *tail) { return (*head & 1) != 0 || *head != *tail; }

/* Begins to write a block anew, and empties it: nothing in it can be trusted. Its sequence, for its end. */
static uint64_t begin_empty(uint64_t *head, uint64_t *tail) {
  const uint64_t sequence = (*head | 1) + 1;
  bb_write_begin(head, tail, sequence);
  for (uint64_t *word = head + 1; word < tail; word++) bb_store(word, 0);
  return sequence;
}

/* Makes order state and column agree with the newest whole report. A half-written slot stays half-written until its
 * next report comes: readers take the other slot, and rely on it that no slot ever goes back, not even to 0. */
void bb_repair(struct bb_mapped *b, uint32_t record, int64_t now_ns) {
  struct bb_record *r = record_at(b, record);
  const int newest = newest_slot(b, record);
  for (uint32_t i = 0; i < 2; i++) {
    struct bb_slot *slot = slot_at(b, record, i);
    if ((slot->head & 1) != 0 || slot->head <= (newest < 0 ? 0 : slot_at(b, record, (uint32_t)newest)->head)) continue;
    /* Neither whole nor being written, and still readers would prefer it: no kill leaves that, so the file is
     * corrupt. */
    begin_empty(&slot->head, &slot->tail);
    bb_store(&slot->tail, 0);
    bb_store(&slot->head, 0);
  }
  if (is_torn(&r->order_head, &r->order_tail))
    bb_write_end(&r->order_head, begin_empty(&r->order_head, &r->order_tail));
  struct bb_memory *m = memory_at(b, record);
  if (is_torn(&m->clone_head, &m->clone_tail))
    bb_write_end(&m->clone_head, begin_empty(&m->clone_head, &m->clone_tail));
  bb_memory_repair(b, record, now_ns);
  if (newest < 0) {
    bb_store(column_word(b, record), 0);
    return;
  }
  const struct bb_slot *slot = slot_at(b, record, (uint32_t)newest);
  const struct bb_report *report = &slot->report;
  const bool agrees = r->known[0].boot_id == report->boot_id && r->start_boot_ns == report->start_boot_ns &&
                      r->history_seq == report->seq;
  if (!agrees) {
    /* Of which numbers they are is unknown. Before the order agrees: after that, nobody would look at them again. */
    for (size_t i = 0; i < sizeof m->digests / sizeof *m->digests; i++) bb_store(&m->digests[i], 0);
    const uint64_t sequence = r->order_head + 2;
    bb_write_begin(&r->order_head, &r->order_tail, sequence);
    struct bb_known_boot known[BB_KNOWN_BOOTS];
    memcpy(known, r->known, sizeof known);
    bb_order_know(known, report->boot_id, report->t_boot_ns);
    bb_copy_in(r->known, known, sizeof known);
    bb_store(&r->start_boot_ns, report->start_boot_ns);
    bb_store(&r->history_seq, report->seq);
    /* The history of arrivals is unknown: better to count a duplicate too many than to undo a loss. */
    bb_store(&r->history, ~UINT64_C(0));
    bb_store(&r->history_lost, 0);
    bb_store(&r->order_proved, BB_AUTH_ALG_NONE); /* The proof is unknown as well: the first proof decides anew. */
    bb_write_end(&r->order_head, sequence);
  }
  const uint64_t goodbye = (report->flags & BB_FLAGS_GOODBYE) != 0;
  /* Release: whoever sees the word sees the report, which the last writer may have stored. */
  bb_store_release(column_word(b, record),
                   BB_COLUMN(slot->stamp_ns / NS_PER_MS, slot->link, report->interval_ms, goodbye));
}

/* Every link listens anew with its receiver; see bb_writer_listening_since(). */
void bb_repair_links(struct bb_mapped *b) {
  struct bb_board_header *h = b->header;
  if (h->links_used >= BB_LINK_OTHERS) bb_store(&h->links_used, 0);
  for (uint32_t i = 1; i <= h->links_used; i++)
    if (memchr(link_at(b, i)->name, 0, sizeof link_at(b, i)->name) == NULL) bb_store(&h->links_used, i - 1);
  if (h->event_last >= MOST_SEQUENCE / 2) bb_store(&h->event_last, 0);
}

bool bb_repair_index(struct bb_mapped *b) {
  struct bb_board_header *h = b->header;
  uint64_t used = 0;
  if (h->count > h->capacity) return false;
  for (uint64_t i = 0; i < h->index_slots; i++) {
    const uint64_t entry = *index_entry(b, i);
    if (entry == 0) continue;
    const uint64_t record = (entry & UINT32_MAX) - 1;
    if (record >= h->capacity || !bb_is_name(record_at(b, (uint32_t)record)->name)) return false;
    /* Release, as in bb_new_record(). */
    if (record == h->count) bb_store_release(&h->count, h->count + 1);
    used++;
  }
  /* At most half of the entries are used, so that a search ends. */
  if (used != h->count) return false;
  for (uint32_t i = 0; i < h->count; i++)
    if (!bb_is_name(record_at(b, i)->name) ||
        bb_record_of(b, record_at(b, i)->name, bb_hash_of(b, record_at(b, i)->name)) != i)
      return false;
  return true;
}

/* How often to try to copy a block whose writer may be running: it writes one in a tenth of a microsecond. */
#define TRIES 100

/* Copies a block that begins with its head and has its tail at `tail_offset`, whole or not at all. */
static void copy_block(void *to, const void *from, size_t bytes, size_t tail_offset) {
  bool empty;
  if (bb_read_block(to, from, bytes, tail_offset, TRIES, &empty) == 0) memset(to, 0, bytes);
}

/* Of a memory that is shorter, what there is. The digests after the history: a newer one stands in the place of the
 * oldest number, an older one would stand in that of the newest, which is the most likely to come again. */
static void repair_copy_memory(struct bb_mapped *to, uint32_t new, const struct bb_mapped *from, uint32_t old) {
  const size_t there = from->header->memory_bytes, digests = offsetof(struct bb_memory, digests);
  const size_t bytes = there < sizeof(struct bb_memory) ? there : sizeof(struct bb_memory);
  if (bytes < digests) return;
  uint8_t *m = (uint8_t *)memory_at(to, new);
  const uint8_t *source = (const uint8_t *)memory_at(from, old);
  copy_block(m, source, digests, offsetof(struct bb_memory, clone_tail));
  bb_copy_out(m + digests, source + digests, bytes - digests);
}

void bb_copy_record(struct bb_mapped *to, uint32_t new, const struct bb_mapped *from, uint32_t old) {
  struct bb_record *r = record_at(to, new);
  const struct bb_record *source = record_at(from, old);
  const size_t order = offsetof(struct bb_record, order_head),
               end = offsetof(struct bb_record, order_tail) + sizeof r->order_tail;
  bb_copy_out((uint8_t *)r + sizeof r->name, (const uint8_t *)source + sizeof r->name,
              BB_RECORD_BYTES - sizeof r->name);
  copy_block((uint8_t *)r + order, (const uint8_t *)source + order, end - order,
             offsetof(struct bb_record, order_tail) - order);
  for (uint32_t i = 0; i < from->header->slots; i++)
    copy_block(slot_at(to, new, i), slot_at(from, old, i), BB_SLOT_BYTES, offsetof(struct bb_slot, tail));
  repair_copy_memory(to, new, from, old);
}

static void copy_named(struct bb_mapped *to, const struct bb_mapped *from, uint32_t i) {
  bb_copy_out(record_at(to, i)->name, record_at(from, i)->name, sizeof record_at(to, i)->name);
  bb_copy_record(to, i, from, i);
  *column_word(to, i) = bb_load(column_word(from, i));
}

void bb_copy_board(struct bb_mapped *to, const struct bb_mapped *from) {
  const struct bb_board_header *h = to->header;
  /* One more than are counted: its insertion may be in progress. */
  const uint32_t records = h->count < h->capacity ? (uint32_t)h->count + 1 : h->capacity;
  /* The parts before the records lie alike. */
  bb_copy_out(to->map + sizeof *h, from->map + sizeof *h, h->records_offset - sizeof *h);
  memset(to->map + h->events_offset, 0, (size_t)h->events * h->events_stride);
  for (uint32_t i = 0; i < records; i++) copy_named(to, from, i);
  /* Those that a mirror keeps of nodes that its master does not know: from the end on. */
  for (uint32_t i = h->capacity; i-- > records && bb_is_name(record_at(from, i)->name);) copy_named(to, from, i);
}

enum bb_found bb_claim_board(const struct bb_place *p, struct bb_mapped *b, struct bb_mapped *found, int64_t now_ns,
                             char *why, size_t size) {
  const bool in_place =
      found->header->lock_inode == p->lock_inode && found->header->memory_bytes == BB_MEMORY_BYTES;
  if (in_place) {
    *b = *found;
  } else {
    struct bb_board_header like = *found->header;
    bb_file_plan(&like, like.capacity);
    like.board_hash = BB_HASH_BOARD_V2;
    if (!bb_file_create(p, b, &like, why, size)) return BB_FOUND_FAULT;
    bb_copy_board(b, found);
  }
  if (!bb_repair_index(b)) {
    if (!in_place) bb_file_unmap(b);
    b->map = NULL;
    return BB_FOUND_NOTHING;
  }
  for (uint32_t i = 0; i < b->header->count; i++) bb_repair(b, i, now_ns);
  bb_repair_links(b);
  /* Whom readers may have seen silent since the writer before last looked, is remembered. */
  bb_memory_survey(b, (int64_t)b->header->heartbeat_ns);
  if (!in_place) {
    if (!bb_file_publish(p, b, why, size)) return BB_FOUND_FAULT;
    bb_file_retire(found);
    bb_file_unmap(found);
  }
  found->map = NULL;
  return BB_FOUND_BOARD;
}

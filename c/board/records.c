#include "records.h"

#include <sys/random.h>
#include <unistd.h>

#include "../base/invariant.h"
#include "file.h"
#include "seqlock.h"

/* ---- events ---- */

void bb_add_event(struct bb_mapped *b, enum bb_event_kind kind, uint64_t subject, uint64_t detail,
                  const struct bb_arrival *arrival) {
  const uint64_t number = b->header->event_last + 1;
  struct bb_event *e = event_at(b, number);
  bb_write_begin(&e->head, &e->tail, 2 * number);
  bb_store(&e->stamp_ns, (uint64_t)(arrival != NULL ? arrival->stamp_ns : bb_clock_ns(CLOCK_MONOTONIC)));
  bb_store(&e->stamp_real_ns, (uint64_t)(arrival != NULL ? arrival->stamp_real_ns : bb_clock_ns(CLOCK_REALTIME)));
  bb_store(&e->kind, kind);
  bb_store(&e->subject, subject);
  bb_store(&e->detail, detail);
  bb_write_end(&e->head, 2 * number);
  /* Release: whoever sees the number finds the event. */
  bb_store_release(&b->header->event_last, number);
}

/* ---- names ---- */

uint64_t bb_hash_of(const struct bb_mapped *b, const char *name) { return bb_name_hash(name, b->header->index_seed); }

uint32_t bb_record_of(const struct bb_mapped *b, const char *name, uint64_t hash) {
  const uint64_t mask = b->header->index_slots - 1;
  for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
    const uint64_t entry = *index_entry(b, i);
    if (entry == 0) return NONE;
    const uint32_t record = (uint32_t)entry - 1;
    if (entry >> 32 == hash >> 32 && strncmp(record_at(b, record)->name, name, 64) == 0) return record;
  }
}

uint32_t bb_new_record(struct bb_mapped *b, const char *name) {
  const uint32_t record = (uint32_t)b->header->count;
  if (record >= b->header->capacity) return NONE;
  struct bb_record *r = record_at(b, record);
  /* All of it: on a corrupt board that was taken over, unused records may contain something. */
  memset(r, 0, b->header->record_stride);
  bb_store(column_word(b, record), 0);
  memcpy(r->name, name, strlen(name));
  const uint64_t hash = bb_hash_of(b, name);
  const uint64_t mask = b->header->index_slots - 1;
  BB_BOARD_INVARIANT(bb_record_of(b, name, hash) == NONE);
  uint64_t i = hash & mask;
  while (*index_entry(b, i) != 0) i = (i + 1) & mask;
  /* Release: whoever finds the entry finds the name, and whoever sees the count finds the record. */
  bb_store_release(index_entry(b, i), (hash >> 32) << 32 | (record + 1));
  bb_store_release(&b->header->count, record + 1);
  return record;
}

/* ---- boards ---- */

void bb_begin_instance(struct bb_mapped *b, uint64_t instance) {
  struct bb_board_header *h = b->header;
  bb_store(&h->instance, instance);
  bb_store(&h->pid, (uint64_t)getpid());
  bb_store(&h->started_ns, (uint64_t)bb_clock_ns(CLOCK_MONOTONIC));
  bb_store(&h->started_real_ns, (uint64_t)bb_clock_ns(CLOCK_REALTIME));
  bb_store(&h->state, 0);
  /* The link for reports without a known interface cannot go down. */
  bb_store(&link_at(b, BB_LINK_OTHERS)->state, BB_LINK_STATE_UP);
}

void bb_fresh_header(struct bb_board_header *h, const struct bb_cluster *cluster, uint32_t capacity) {
  memset(h, 0, sizeof *h);
  bb_file_plan(h, capacity);
  h->magic = BB_BOARD_MAGIC;
  h->stat_hash = BB_HASH_STAT_V1;
  h->board_hash = BB_HASH_BOARD_V2;
  h->master_boot_id = bb_boot_id();
  h->created_real_ns = (uint64_t)bb_clock_ns(CLOCK_REALTIME);
  h->cluster_id = cluster->id;
  memcpy(h->cluster_name, cluster->name, strnlen(cluster->name, sizeof h->cluster_name - 1));
  if (getrandom(&h->index_seed, sizeof h->index_seed, 0) != (ssize_t)sizeof h->index_seed)
    /* The kernel has no entropy yet: weaker, but no reason not to start. */
    h->index_seed = (uint64_t)bb_clock_ns(CLOCK_REALTIME);
}

/* ---- reports ---- */

/* Keeps the address from which reports came until now, if this one comes from another: of two machines with one name
 * both are shown, also if one has taken the other's place. */
static void keep_address(struct bb_record *r, const uint64_t address[2], int64_t stamp_ns) {
  uint64_t before[2];
  memcpy(before, r->address, sizeof before);
  if ((before[0] | before[1]) == 0 || memcmp(before, address, sizeof before) == 0) return;
  bb_copy_in(r->address_before, before, sizeof before);
  bb_store(&r->address_ns, (uint64_t)stamp_ns);
}

void bb_store_order(struct bb_mapped *b, uint32_t record, const struct bb_order *o, const struct bb_refusal *refusal,
                    const struct bb_arrival *arrival) {
  struct bb_record *r = record_at(b, record);
  const uint64_t sequence = r->order_head + 2;
  bb_write_begin(&r->order_head, &r->order_tail, sequence);
  bb_store(&r->start_boot_ns, o->start_boot_ns);
  bb_store(&r->history_seq, o->history_seq);
  bb_store(&r->history, o->history);
  bb_store(&r->history_lost, o->history_lost);
  bb_copy_in(r->known, o->known, sizeof r->known);
  if (refusal != NULL) {
    bb_store(&r->refusal_reason, refusal->reason);
    bb_store(&r->refusal_ns, (uint64_t)arrival->stamp_ns);
    bb_store(&r->refusal_real_ns, (uint64_t)arrival->stamp_real_ns);
    bb_store((uint64_t *)&r->refusal_offset_us, (uint64_t)refusal->offset_us);
  } else {
    uint64_t address[2];
    memcpy(address, arrival->address, sizeof address);
    keep_address(r, address, arrival->stamp_ns);
    bb_copy_in(r->address, address, sizeof address);
    bb_store(&r->port, arrival->port);
    bb_store(&r->order_proved, o->proved);
  }
  bb_write_end(&r->order_head, sequence);
}

void bb_store_report(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report,
                     const struct bb_arrival *arrival) {
  struct bb_slot *slot = slot_at(b, record, newest == 0 ? 1 : 0);
  const uint64_t sequence = newest < 0 ? 2 : slot_at(b, record, (uint32_t)newest)->head + 2;
  bb_write_begin(&slot->head, &slot->tail, sequence);
  bb_store(&slot->stamp_ns, (uint64_t)arrival->stamp_ns);
  bb_store(&slot->stamp_real_ns, (uint64_t)arrival->stamp_real_ns);
  bb_store(&slot->link, arrival->link);
  bb_copy_in(&slot->report, report, sizeof *report);
  bb_write_end(&slot->head, sequence);
}

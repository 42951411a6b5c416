#include "rejected.h"

#include "../format/validate.h"
#include "column.h"
#include "seqlock.h"

/* For how long an entry of the table of rejected senders is kept: after a single rejection, and after repeated ones. */
#define KEPT_ONCE_NS (10 * SECOND)
#define KEPT_AGAIN_NS (60 * SECOND)
/* After so long, a rejection of a kind that has had an event gets another one. */
#define NEWS_NS (60 * SECOND)
/* How many events per second may have no record: otherwise anybody who can send could fill the ring with them. */
#define MOST_EVENTS 10

/* A rejected datagram. */
struct refused {
  enum bb_reason reason;
  char name[64]; /* the claimed name; empty: none */
  const struct bb_arrival *arrival;
};

static bool is_of(const struct bb_sender *s, const struct refused *r) {
  return s->head != 0 && memcmp(s->address, r->arrival->address, sizeof s->address) == 0 &&
         memcmp(s->name, r->name, sizeof s->name) == 0;
}

/* Whether an entry is kept. Not if it is empty, half-written, or has a time in the future, as in a corrupt file. */
static bool is_kept(const struct bb_sender *s, int64_t now_ns) {
  if (s->head == 0 || (s->head & 1) != 0) return false;
  const int64_t age = from_to(s->last_ns, (uint64_t)now_ns);
  return age > -SECOND && age < (s->count > 1 ? KEPT_AGAIN_NS : KEPT_ONCE_NS);
}

/* The entry for this rejection: its sender's, or the free one that is oldest; NULL if none is free. */
static struct bb_sender *entry_for(const struct bb_mapped *b, const struct refused *r) {
  struct bb_sender *stalest = NULL;
  for (uint32_t i = 0; i < BB_SENDERS_EACH; i++) {
    struct bb_sender *s = sender_at(b, (uint32_t)r->reason * BB_SENDERS_EACH + i);
    if (is_of(s, r)) return s;
    if (is_kept(s, r->arrival->stamp_ns)) continue;
    if (stalest == NULL || s->head == 0 || (stalest->head != 0 && s->last_ns < stalest->last_ns)) stalest = s;
  }
  return stalest;
}

/* Stores the sender of a rejection. Returns whether it is new there. The time that this takes does not depend on
 * earlier rejections. */
static bool note_sender(const struct bb_mapped *b, const struct refused *r) {
  struct bb_sender *s = entry_for(b, r);
  if (s == NULL) return false;
  const bool is_new = !is_of(s, r) || (s->head & 1) != 0;
  const uint64_t sequence = (s->head + 1) / 2 * 2 + 2, count = is_new ? 0 : s->count;
  bb_write_begin(&s->head, &s->tail, sequence);
  if (is_new) {
    uint64_t words[sizeof s->name / 8];
    memcpy(words, r->arrival->address, sizeof s->address);
    bb_copy_in(s->address, words, sizeof s->address);
    memcpy(words, r->name, sizeof s->name);
    bb_copy_in(s->name, words, sizeof s->name);
    bb_store(&s->first_ns, (uint64_t)r->arrival->stamp_ns);
  }
  bb_store(&s->last_ns, (uint64_t)r->arrival->stamp_ns);
  bb_store(&s->last_real_ns, (uint64_t)r->arrival->stamp_real_ns);
  bb_store(&s->count, count + 1);
  bb_write_end(&s->head, sequence);
  return is_new;
}

/* Whether this second may have one more event without a record. */
static bool may_add_event(struct bb_rejections *r, int64_t now_ns) {
  /* A stamp that is a little older comes from another socket, and belongs to the same second. */
  if (now_ns - r->second_began_ns >= SECOND || r->second_began_ns - now_ns >= SECOND) {
    r->second_began_ns = now_ns;
    r->events = 0;
  }
  return r->events++ < MOST_EVENTS;
}

int bb_reject(struct bb_rejections *rejections, enum bb_reason reason, const uint8_t *datagram, size_t length,
              const struct bb_arrival *arrival) {
  struct bb_mapped *b = rejections->board;
  bb_add(&b->header->refused[reason], 1);
  struct refused r = {.reason = reason, .arrival = arrival};
  if (length == BB_REPORT_BYTES) {
    memcpy(r.name, datagram + offsetof(struct bb_report, hostname), sizeof r.name);
    if (!bb_is_name(r.name)) memset(r.name, 0, sizeof r.name);
  }
  if (note_sender(b, &r) && reason <= BB_REASON_TAG && may_add_event(rejections, arrival->stamp_ns))
    bb_add_event(b, BB_EVENT_KIND_REFUSAL, BB_NO_SUBJECT, reason, arrival);
  return (int)reason;
}

/* Whether the node itself made what was rejected, as far as can be known: without keys a name is trusted, with keys
 * a signature is. If a report was rejected before its signature was checked, or because of it, nobody knows; it must
 * not hide the reason for rejecting the node's own reports. */
static bool is_own(bool has_keys, enum bb_reason reason) {
  return reason > BB_REASON_TAG || (!has_keys && reason < BB_REASON_AUTH_MISSING);
}

int bb_reject_report(struct bb_rejections *rejections, uint32_t record, const struct bb_order *order,
                     const struct bb_report *report, enum bb_reason reason, const struct bb_arrival *arrival) {
  struct bb_mapped *b = rejections->board;
  struct bb_record *r = record_at(b, record);
  if (is_own(rejections->has_keys, reason)) {
    const uint64_t kind = UINT64_C(1) << reason;
    const uint64_t kinds = from_to(r->refusal_ns, (uint64_t)arrival->stamp_ns) > NEWS_NS ? 0 : r->refused_kinds;
    const struct bb_refusal refusal = {reason, offset_us(report, arrival)};
    bb_store_order(b, record, order, &refusal, arrival);
    bb_store(&r->refused_kinds, kinds | kind);
    if ((kinds & kind) == 0 && reason > BB_REASON_TAG) bb_add_event(b, BB_EVENT_KIND_REFUSAL, record, reason, arrival);
  }
  bb_add(&r->refused, 1);
  if (reason == BB_REASON_LATE) bb_add(&r->late, 1);
  return bb_reject(rejections, reason, (const uint8_t *)report, sizeof *report, arrival);
}

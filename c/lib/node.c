/* Names, and copies of nodes and reports. A copy of a slot is whole, by the sequence lock of board/seqlock.h; nothing
 * waits. No system call, no lock, no memory of its own. */
#include <math.h>

#include "../board/newest.h"
#include "internal.h"

int beoboard_count(const beoboard *b) { return b == NULL ? -EINVAL : (int)nodes_of(&b->board); }

int beoboard_index(const beoboard *b, const char *name) {
  if (b == NULL || name == NULL) return -EINVAL;
  const int64_t index = bb_find(&b->board, name);
  return index < 0 ? -ENOENT : (int)index;
}

/* Names are written before the record can be seen, and never changed. */
static void copy_name(const uint8_t *record, char name[BEOBOARD_NAME_MAX]) {
  uint64_t words[BEOBOARD_NAME_MAX / 8];
  bb_copy_out(words, record + offsetof(struct bb_record, name), sizeof words);
  memcpy(name, words, sizeof words);
  name[BEOBOARD_NAME_MAX - 1] = 0;
}

int beoboard_name(const beoboard *b, int index, char *buf, size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (buf == NULL) return -EINVAL;
  char name[BEOBOARD_NAME_MAX];
  copy_name(record_of(&b->board, (uint64_t)index), name);
  const size_t length = strlen(name);
  if (length >= size) return -ENOSPC;
  memcpy(buf, name, length + 1);
  return (int)length;
}

/* A field of a report, or of a slot, that was copied as words. */
#define FIELD(words, type, name) field(words, offsetof(type, name), sizeof(((type *)0)->name))
static inline uint64_t field(const uint64_t *words, size_t offset, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, (const uint8_t *)words + offset, bytes); /* little-endian */
  return value;
}
#define SLOT(name) FIELD(slot, struct bb_slot, name)
#define REPORT(name) FIELD(slot, struct bb_slot, report.name)

/* How much of a slot a struct beoboard_node needs, and how much of an order block its last rejection. */
#define NODE_BYTES ((offsetof(struct bb_slot, report.health) + 8) / 8 * 8)
#define ORDER(name) (offsetof(struct bb_record, name) - offsetof(struct bb_record, order_head))
#define REFUSAL_BYTES (ORDER(refusal_offset_us) + 8)
_Static_assert(offsetof(struct bb_report, mem_avail_mib) < offsetof(struct bb_report, health), "within NODE_BYTES");

static int32_t milliseconds(int64_t us) {
  const int64_t ms = us / 1000;
  return ms > INT32_MAX ? INT32_MAX : ms < INT32_MIN ? INT32_MIN : (int32_t)ms;
}

/* The order block up to the last rejection. 0: there is none; below 0: no whole copy could be made. */
static int read_refusal(const uint8_t *record, uint64_t order[REFUSAL_BYTES / 8]) {
  bool is_empty;
  if (bb_read_block(order, record + offsetof(struct bb_record, order_head), REFUSAL_BYTES, ORDER(order_tail), BB_TRIES,
                    &is_empty) == 0)
    return is_empty ? 0 : -EAGAIN;
  return order[ORDER(refusal_reason) / 8] != 0;
}
#define REFUSAL(name) order[ORDER(name) / 8]

static uint32_t reason_of(uint64_t reason) { return reason <= UINT32_MAX ? (uint32_t)reason : UINT32_MAX; }

/* Whether a rejection explains why no report is newer than one with that stamp. A late report does not: a newer one
 * of its run had been accepted before. */
static bool is_reason(const uint64_t order[REFUSAL_BYTES / 8], uint64_t stamp) {
  return REFUSAL(refusal_ns) > stamp && REFUSAL(refusal_reason) != BB_REASON_LATE;
}

/* The last rejection, if it is newer than the newest report. */
static void add_refusal(const uint8_t *record, uint64_t stamp, struct beoboard_node *node) {
  uint64_t order[REFUSAL_BYTES / 8];
  if (read_refusal(record, order) <= 0 || !is_reason(order, stamp)) return;
  node->refused = reason_of(REFUSAL(refusal_reason));
  node->skew_ms = milliseconds((int64_t)REFUSAL(refusal_offset_us));
}

int beoboard_last_refusal(const beoboard *b, int index, struct beoboard_refusal *out, size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (out == NULL || size == 0) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    uint64_t order[REFUSAL_BYTES / 8], slot[2];
    const int found = read_refusal(record_of(&b->board, (uint64_t)index), order);
    if (found <= 0) return found < 0 ? found : -ENODATA;
    /* The slot is copied after the rejection: a report that comes meanwhile is newer, so no rejection is called
     * newer than a report that preceded it. */
    int which;
    const uint64_t sequence = bb_newest_of(&b->board, (uint64_t)index, slot, sizeof slot, &which);
    if (sequence == 1) return -EAGAIN;
    const uint64_t stamp = REFUSAL(refusal_ns);
    if (!again && from_to(e.now, stamp) > BB_AHEAD_NS) continue;
    struct beoboard_refusal refusal;
    memset(&refusal, 0, sizeof refusal);
    refusal.age_ns = age_of(&e, stamp);
    refusal.wall_ns = (int64_t)REFUSAL(refusal_real_ns);
    refusal.skew_us = (int64_t)REFUSAL(refusal_offset_us);
    refusal.reason = reason_of(REFUSAL(refusal_reason));
    refusal.is_newer = sequence == 0 || is_reason(order, SLOT(stamp_ns));
    give(out, size, &refusal, sizeof refusal);
    return 0;
  }
}

static void add_report(const uint64_t *slot, struct beoboard_node *node) {
  const uint64_t valid = REPORT(valid);
  node->last_report_wall_ns = (int64_t)SLOT(stamp_real_ns);
  node->boot_id = REPORT(boot_id);
  node->valid = valid;
  node->interval_ms = (uint32_t)REPORT(interval_ms);
  node->flags = (uint32_t)REPORT(flags);
  if ((valid & BB_VALID_MEMORY) != 0) {
    node->mem_total_kib = REPORT(mem_total_mib) * 1024;
    node->mem_avail_kib = REPORT(mem_avail_mib) * 1024;
  }
  if ((valid & BB_VALID_CPUS) != 0) node->cpus = (uint32_t)REPORT(cpus_online);
  if ((valid & BB_VALID_LOAD) != 0) node->load1 = (float)((double)REPORT(load1_c) / 100);
  if ((valid & BB_VALID_CPU_SHARE) != 0) node->cpu_busy = (float)((double)REPORT(cpu_busy_pm) / 1000);
  if ((valid & BB_VALID_HEALTH) != 0) node->health = (uint32_t)REPORT(health);
}

/* The newest slot as returned by bb_newest_of(), copied after the evidence of its link: as load_word() does for the
 * word, so that state and age belong to one report. */
static uint64_t newest_after(const beoboard *b, uint64_t index, uint64_t *slot, size_t bytes,
                             struct bb_link_evidence *by) {
  uint64_t link = link_of(bb_load(column_of(&b->board, index))), sequence = 0;
  int which;
  for (int tries = 3; tries > 0; tries--) {
    *by = load_link(b, link);
    sequence = bb_newest_of(&b->board, index, slot, bytes, &which);
    if (sequence < 2 || SLOT(link) == link) return sequence;
    link = SLOT(link);
  }
  *by = no_evidence;
  return sequence;
}

/* One node in this look, with the evidence of all links; NULL: its own link's is loaded. 0, -EAGAIN, or 1: the look
 * has to be repeated. */
static int copy_node(const beoboard *b, const struct evidence *e, const struct bb_link_evidence *links, uint64_t index,
                     struct beoboard_node *node) {
  memset(node, 0, sizeof *node);
  node->age_ns = -1;
  node->load1 = node->cpu_busy = NAN;
  node->state = BEOBOARD_UNKNOWN;
  const uint8_t *record = record_of(&b->board, index);
  copy_name(record, node->name);
  uint64_t slot[NODE_BYTES / 8];
  struct bb_link_evidence own;
  int which;
  const uint64_t sequence =
      links == NULL ? newest_after(b, index, slot, sizeof slot, &own)
                    : bb_newest_of(&b->board, index, slot, sizeof slot, &which);
  if (sequence == 1) return -EAGAIN;
  const struct bb_record *r = (const struct bb_record *)record;
  node->reports = bb_load(&r->accepted);
  node->lost = bb_load(&r->lost);
  bool is_ahead = false;
  uint64_t stamp = 0;
  int state = BEOBOARD_NEVER;
  if (sequence != 0) {
    stamp = SLOT(stamp_ns);
    add_report(slot, node);
    node->age_ns = age_of(e, stamp);
    node->skew_ms = milliseconds((int64_t)bb_load((const uint64_t *)&r->offset_us));
    node->link = SLOT(link) < BB_LINKS ? (uint32_t)SLOT(link) : BB_LINK_UNKNOWN;
    state = judge(e, links != NULL ? evidence_by(links, node->link) : &own, stamp, node->interval_ms,
                  (node->flags & BB_FLAGS_GOODBYE) != 0, &is_ahead);
  }
  if (!is_unknown(e)) node->state = (uint32_t)state;
  if (bb_load(&r->refused) != 0) add_refusal(record, stamp, node);
  return is_ahead;
}

int beoboard_read(const beoboard *b, int index, struct beoboard_node *out, size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (out == NULL || size == 0) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    struct beoboard_node node;
    look(b, again, &e);
    const int result = copy_node(b, &e, NULL, (uint64_t)index, &node);
    if (result < 0) return result;
    if (result > 0 && !again) continue;
    give(out, size, &node, sizeof node);
    return 0;
  }
}

int beoboard_read_all(const beoboard *b, struct beoboard_node *out, size_t size, int first, int max) {
  if (b == NULL || size == 0 || first < 0 || max < 0 || (out == NULL && max > 0)) return -EINVAL;
  const uint32_t nodes = nodes_of(&b->board);
  const uint32_t left = (uint32_t)first < nodes ? nodes - (uint32_t)first : 0;
  const int n = (uint32_t)max < left ? max : (int)left;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    struct bb_link_evidence links[BB_LINKS];
    load_links(&b->board, links);
    bool is_ahead = false;
    for (int i = 0; i < n; i++) {
      struct beoboard_node node;
      if (copy_node(b, &e, links, (uint64_t)first + (uint64_t)i, &node) > 0) is_ahead = true;
      give((uint8_t *)out + (size_t)i * size, size, &node, sizeof node);
    }
    if (!is_ahead || again) return n;
  }
}

/* In place, for the sake of a handler's stack: a slot of the board and the public one are of the same shape up to the
 * report's end,
 *     head   stamp  stamp_real  link | report
 *     number age    stamp       wall | report */
_Static_assert(offsetof(struct beoboard_slot, report) == offsetof(struct bb_slot, report), "where the report begins");
static void give_slot(const struct evidence *e, uint64_t *slot, struct beoboard_slot *out, size_t size) {
  if (out == NULL) return;
  const uint64_t stamp = SLOT(stamp_ns), wall = SLOT(stamp_real_ns);
  slot[offsetof(struct beoboard_slot, number) / 8] /= 2;
  slot[offsetof(struct beoboard_slot, age_ns) / 8] = (uint64_t)age_of(e, stamp);
  slot[offsetof(struct beoboard_slot, stamp_ns) / 8] = stamp;
  slot[offsetof(struct beoboard_slot, stamp_wall_ns) / 8] = wall;
  give(out, size, slot, sizeof *out);
}

int bb_pair(const beoboard *b, uint64_t index, struct bb_slot pair[2], int *newest) {
  static const struct bb_part all = {0, sizeof *pair};
  const int reports = bb_pair_parts(&b->board, index, pair, &all, 1, newest);
  return reports < 0 ? -EAGAIN : reports;
}

int beoboard_reports(const beoboard *b, int index, struct beoboard_slot *newest, struct beoboard_slot *before,
                     size_t size) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  if (size == 0) return -EINVAL;
  struct evidence e;
  look(b, false, &e);
  struct bb_slot pair[2];
  int which;
  const int n = bb_pair(b, (uint64_t)index, pair, &which);
  if (n < 0) return n;
  if (newest != NULL) memset(newest, 0, size);
  if (before != NULL) memset(before, 0, size);
  if (n > 0) give_slot(&e, (uint64_t *)&pair[which], newest, size);
  if (n > 1) give_slot(&e, (uint64_t *)&pair[1 - which], before, size);
  return n;
}

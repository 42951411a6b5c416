#include "overview.h"

#include <string.h>

#include "problems.h"
#include "liveness.h"

/* Header and column words, and the results for each node after them. */
static bool holds(const struct bb_board_header *h, size_t bytes, uint64_t nodes, uint64_t record_stride) {
  if (h->header_bytes < BB_BOARD_HEADER_BYTES || h->header_bytes > bytes || h->header_bytes % 8 != 0) return false;
  if (h->column_stride < sizeof(uint64_t) || h->column_stride % 8 != 0) return false;
  return nodes <= (bytes - h->header_bytes) / ((uint64_t)h->column_stride + record_stride);
}

size_t bb_overview_bytes(uint64_t nodes) { return (size_t)nodes * (2 * sizeof(double) + 7 * sizeof(uint32_t) + 3); }

struct bb_overview bb_overview_at(uint8_t *memory, uint64_t nodes) {
  double *const ages = (double *)memory;
  double *const skews = ages + nodes;
  uint32_t *const problems = (uint32_t *)(skews + nodes), *const kernels = problems + nodes;
  uint32_t *const unmeasured = kernels + nodes, *const unsettled = unmeasured + nodes;
  uint32_t *const measured = unsettled + nodes, *const intervals = measured + nodes, *const lates = intervals + nodes;
  uint8_t *const told = (uint8_t *)(lates + nodes), *const states = told + nodes, *const known = states + nodes;
  return (struct bb_overview){ages,     skews,     problems, kernels, unmeasured, unsettled,
                              measured, intervals, lates,    told,    states,     known};
}

bool bb_overview_states(const uint8_t *copy, size_t bytes, struct bb_look *look, uint8_t *states) {
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  if (bytes < sizeof *h || !holds(h, bytes, look->nodes, 0)) return false;
  const struct evidence e = evidence_at(h, look->now_ns);
  const bool unknown = is_unknown(&e);
  look->stalled = is_stalled(&e);
  const uint8_t *column = copy + h->header_bytes;
  for (uint64_t i = 0; i < look->nodes; i++, column += h->column_stride) {
    uint64_t word;
    memcpy(&word, column, sizeof word);
    bool is_ahead = false; /* The code that made the copy has already looked twice. */
    states[i] = (uint8_t)(unknown ? BEOBOARD_UNKNOWN
                                  : judge_word(&e, evidence_by(h->evidence, link_of(word)), word, &is_ahead));
  }
  return true;
}

bool bb_copy_holds(const uint8_t *copy, size_t bytes, uint64_t nodes) {
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  if (bytes < sizeof *h || !holds(h, bytes, nodes, h->record_stride)) return false;
  if (h->slots != 2 || h->slots_offset < BB_RECORD_BYTES || h->slot_stride < BB_SLOT_BYTES) return false;
  if (h->slots_offset % 8 != 0 || h->slot_stride % 8 != 0 || h->record_stride % 8 != 0) return false;
  return h->record_stride >= (uint64_t)h->slots_offset + 2 * (uint64_t)h->slot_stride;
}

/* Of two equal sequences, which no writer makes, the later slot counts. */
const struct bb_slot *bb_copy_slots(const struct bb_board_header *h, const uint8_t *record,
                                    const struct bb_slot **before) {
  const struct bb_slot *const first = (const struct bb_slot *)(record + h->slots_offset);
  const struct bb_slot *const second = (const struct bb_slot *)((const uint8_t *)first + h->slot_stride);
  const bool is_second = second->head != 0 && second->head >= first->head;
  const struct bb_slot *const newest = is_second ? second : first, *const other = is_second ? first : second;
  *before = other->head == 0 ? NULL : other;
  return newest->head == 0 ? NULL : newest;
}

/* FNV-1a. */
static uint32_t kernel_of(const struct bb_report *r) {
  if ((r->valid & BB_VALID_SYSTEM) == 0) return 0;
  uint32_t hash = UINT32_C(0x811c9dc5);
  for (size_t i = 0; i < sizeof r->os_release && r->os_release[i] != 0; i++)
    hash = (hash ^ (uint8_t)r->os_release[i]) * UINT32_C(0x01000193);
  return hash != 0 ? hash : 1;
}

/* The wall clock of a record's node minus the master's, s. A report contains the time when it was begun and is
 * stamped when it arrives; the time that collecting took, which is in the report, is subtracted. */
static double skew_of(const struct bb_record *record, const struct bb_report *r) {
  const double collected_us = (r->valid & BB_VALID_SENDER) != 0 ? (double)r->collect_us : 0;
  return ((double)record->offset_us + collected_us) / 1e6;
}

/* The state of a node by its newest slot. */
static int judge_slot(const struct evidence *e, const struct bb_board_header *h, const struct bb_slot *slot) {
  if (slot == NULL) return BEOBOARD_NEVER;
  bool is_ahead = false;
  return judge(e, evidence_by(h->evidence, slot->link), slot->stamp_ns, slot->report.interval_ms,
               (slot->report.flags & BB_FLAGS_GOODBYE) != 0, &is_ahead);
}

/* Its memory in such a copy; NULL: it is not remembered. */
static const struct bb_memory *memory_in(const struct bb_board_header *h, const uint8_t *record) {
  if (h->memory_bytes < sizeof(struct bb_memory)) return NULL;
  const struct bb_memory *m = (const struct bb_memory *)(record + h->memory_offset);
  return m->remembers_since_ns == 0 ? NULL : m;
}

uint64_t bb_unmeasured_limit_ms(uint32_t interval_ms, uint64_t longest_ms) {
  const uint64_t round_ms = interval_ms < longest_ms || longest_ms == 0 ? interval_ms : longest_ms;
  return round_ms > 20000 ? 3 * round_ms : 60000;
}

/* Stores what its newest report does not measure. */
static void judge_unmeasured(const struct bb_overview *out, uint64_t i, const struct bb_board_header *h,
                             const struct bb_memory *m, const struct bb_slot *slot, uint64_t now_ms) {
  if (m == NULL || m->recent == 0) return;
  const uint64_t limit_ms = bb_unmeasured_limit_ms(slot->report.interval_ms, h->longest_interval_ms);
  for (uint32_t bits = bb_unmeasured(m->recent, m->measured, slot->report.valid); bits != 0; bits &= bits - 1) {
    const struct bb_episode *e = &m->episodes[__builtin_ctz(bits)];
    out->measured[i] &= ~(bits & -bits); /* some of its sets are there */
    if (bb_measured_ms(e) + limit_ms <= now_ms) out->unmeasured[i] |= bits & -bits;
    if (bb_was_shown(e)) out->unsettled[i] |= bits & -bits;
  }
}

/* Whether trouble is remembered: of nearly all nodes there never was any. The low half of some words has a count. */
static bool tells_trouble(const struct bb_memory *m) {
  uint64_t some = m->recent | m->health_gone_ns | m->gpu_gone_ns | (uint32_t)m->silence;
  for (size_t i = 0; i < sizeof m->episodes / sizeof *m->episodes; i++) some |= (uint32_t)m->episodes[i].begun;
  return some != 0;
}

bool bb_overview(const uint8_t *copy, size_t bytes, struct bb_look *look, const struct bb_overview *out,
                 const struct bb_board *from, uint64_t first) {
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  if (!bb_copy_holds(copy, bytes, look->nodes)) return false;
  const struct evidence e = evidence_at(h, look->now_ns);
  const bool unknown = is_unknown(&e);
  struct evidence then = e;
  then.now = e.heartbeat;
  look->stalled = is_stalled(&e);
  const uint8_t *at = copy + h->header_bytes + look->nodes * h->column_stride;
  for (uint64_t i = 0; i < look->nodes; i++, at += h->record_stride) {
    if (from != NULL) bb_board_copy(from, first + i, (uint8_t *)at);
    const struct bb_slot *before, *slot = bb_copy_slots(h, at, &before);
    const struct bb_memory *const m = memory_in(h, at);
    const int known = judge_slot(unknown ? &then : &e, h, slot);
    const bool live = !unknown && known == BEOBOARD_LIVE;
    out->known[i] = (uint8_t)known;
    out->states[i] = (uint8_t)(unknown ? BEOBOARD_UNKNOWN : known);
    out->ages[i] = slot == NULL ? -1 : (double)age_of(&e, slot->stamp_ns) / 1e6;
    const bool heard = !unknown && (known == BEOBOARD_LIVE || known == BEOBOARD_UNCERTAIN);
    out->problems[i] = heard ? bb_problems(&slot->report, before == NULL ? NULL : &before->report) : 0;
    out->unmeasured[i] = out->unsettled[i] = 0;
    out->measured[i] = heard ? bb_measured(slot->report.valid) : 0;
    if (heard) judge_unmeasured(out, i, h, m, slot, e.now / UINT64_C(1000000));
    out->skews[i] = slot == NULL ? 0 : skew_of((const struct bb_record *)at, &slot->report);
    out->kernels[i] = live ? kernel_of(&slot->report) : 0;
    out->intervals[i] = slot == NULL ? 0 : slot->report.interval_ms;
    out->lates[i] = slot == NULL || (slot->report.valid & BB_VALID_SENDER) == 0 ? 0 : slot->report.late_us;
    out->told[i] = m != NULL && tells_trouble(m);
  }
  return true;
}

bool bb_overview_snapshot(const struct bb_board *b, uint8_t *to, size_t bytes, uint64_t first, struct bb_look *look) {
  const size_t each = b->header.record_stride;
  uint8_t *const records = bb_board_begin(b, to, bytes, first, each + bb_overview_bytes(1), look);
  if (records == NULL) return false;
  const struct bb_overview out = bb_overview_at(records + look->nodes * each, look->nodes);
  return bb_overview(to, bytes, look, &out, b, first);
}

#include "totals.h"

#include "../beoboard.h"
#include "overview.h"
#include "rates.h"

#define HAS(r, SET) (((r)->valid & BB_VALID_##SET) != 0)
#define MIB 1048576.0

static void add_part(struct bb_part *part, double used, double total) {
  part->nodes++;
  part->used += used;
  part->total += total;
}

static void add_flow(struct bb_flow *flow, double in, double out) {
  if (isnan(in) || isnan(out)) return;
  flow->nodes++;
  flow->in += in;
  flow->out += out;
}

/* The values of one report. */
static void add_levels(struct bb_totals *t, const struct bb_report *r) {
  if (HAS(r, CPUS) && HAS(r, CPU_SHARE))
    add_part(&t->cpus, r->cpu_busy_pm * (double)r->cpus_online / 1000, r->cpus_online);
  if (HAS(r, MEMORY) && r->mem_total_mib > 0 && r->mem_avail_mib <= r->mem_total_mib)
    add_part(&t->memory, (r->mem_total_mib - r->mem_avail_mib) * MIB, r->mem_total_mib * MIB);
  if (HAS(r, GPU) && r->gpu_count > 0) add_part(&t->gpus, r->gpu_busy, r->gpu_count);
  if (!HAS(r, POWER)) return;
  t->power.nodes++;
  t->power.watts += r->power_node_w;
}

/* The values of two reports. Division by NaN, if no time has passed, is NaN. */
static void add_rates(struct bb_totals *t, const struct bb_span *s) {
  const struct bb_report *const before = s->before, *const after = s->after;
  double traffic[BB_TRAFFIC_KINDS];
  bb_traffic_of(s, traffic);
  add_flow(&t->network, traffic[0], traffic[1]);
  if (bb_has_fabric(s))
    add_flow(&t->fabric, bb_moved_64(before->fabric.rx_bytes, after->fabric.rx_bytes) / s->slow,
             bb_moved_64(before->fabric.tx_bytes, after->fabric.tx_bytes) / s->slow);
  if (HAS(s, DISK) && bb_is_same_run(s))
    add_flow(&t->disks, bb_moved_64(before->disk_read_bytes, after->disk_read_bytes) / s->seconds,
             bb_moved_64(before->disk_write_bytes, after->disk_write_bytes) / s->seconds);
}

bool bb_totals(const uint8_t *copy, size_t bytes, uint64_t nodes, const uint8_t *states, struct bb_totals *out) {
  if (!bb_copy_holds(copy, bytes, nodes)) return false;
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  struct bb_totals t = {0};
  const uint8_t *at = copy + h->header_bytes + nodes * h->column_stride;
  for (uint64_t i = 0; i < nodes; i++, at += h->record_stride) {
    if (states[i] != BEOBOARD_LIVE) continue;
    const struct bb_slot *before, *const newest = bb_copy_slots(h, at, &before);
    if (newest == NULL) continue;
    struct bb_span span;
    add_levels(&t, &newest->report);
    if (before != NULL && bb_span_of(&before->report, &newest->report, &span)) add_rates(&t, &span);
  }
  *out = t;
  return true;
}

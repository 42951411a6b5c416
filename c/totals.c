#include "totals.h"

#include "beoboard.h"
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
  if (HAS(r, CPUS) && HAS(r, CPU_SHARE)) add_part(&t->cpus, r->cpu_busy_pm * (double)r->cpus_online / 1000, r->cpus_online);
  if (HAS(r, MEMORY) && r->mem_total_mib > 0 && r->mem_avail_mib <= r->mem_total_mib)
    add_part(&t->memory, (r->mem_total_mib - r->mem_avail_mib) * MIB, r->mem_total_mib * MIB);
  if (HAS(r, GPU) && r->gpu_count > 0) add_part(&t->gpus, r->gpu_busy, r->gpu_count);
  if (!HAS(r, POWER)) return;
  t->power.nodes++;
  t->power.watts += r->power_node_w;
}

static void add_entry(double *in, double *out, const struct bb_net_if *before, const struct bb_net_if *after) {
  *in += bb_moved_64(before->rx_bytes, after->rx_bytes);
  *out += bb_moved_64(before->tx_bytes, after->tx_bytes);
}

/* All network entries of a node together, by the rule of the columns IN/s and OUT/s of status
 * (src/readings/cursor.ts): while one of them has no rate, the node is not in the sum, because the rest would look
 * like all of its traffic. */
static void add_network(struct bb_flow *flow, const struct bb_span *s) {
  double in = 0, out = 0;
  int entries = 0;
  for (int i = 0; i < BB_NET_ENTRIES; i++) {
    const struct bb_net_if *const after = &s->after->net[i];
    if (after->name[0] == 0) continue;
    const struct bb_net_if *const before = bb_partner(s->before, after);
    if (before == NULL) return;
    add_entry(&in, &out, before, after);
    entries++;
  }
  if (s->after->net_rest.name[0] != 0) {
    if (!bb_has_rest(s)) return;
    add_entry(&in, &out, &s->before->net_rest, &s->after->net_rest);
    entries++;
  }
  if (entries > 0) add_flow(flow, in / s->seconds, out / s->seconds);
}

/* The values of two reports. Division by NaN, if no time has passed, is NaN. */
static void add_rates(struct bb_totals *t, const struct bb_span *s) {
  const struct bb_report *const before = s->before, *const after = s->after;
  if (bb_has_net(s)) add_network(&t->network, s);
  if (bb_has_fabric(s))
    add_flow(&t->fabric, bb_moved_64(before->fabric.rx_bytes, after->fabric.rx_bytes) / s->slow,
             bb_moved_64(before->fabric.tx_bytes, after->fabric.tx_bytes) / s->slow);
  if (HAS(s, DISK))
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

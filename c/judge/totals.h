/* What the nodes in a copy of the board have, use and move together. Pure. */
#ifndef BB_TOTALS_H
#define BB_TOTALS_H
#include "../board/reader.h"

/* Sums, and the number of their nodes: of what is used and what there is; of incoming and outgoing traffic per
 * second; of watts. A node of which one of two numbers is unknown counts in neither. */
struct bb_part { uint64_t nodes; double used, total; };
struct bb_flow { uint64_t nodes; double in, out; };
struct bb_power { uint64_t nodes; double watts; };

struct bb_totals {
  struct bb_part cpus, gpus;
  struct bb_part memory;          /* bytes */
  struct bb_flow network, fabric; /* bytes per second; what the fabric moves may be in `network`, too */
  struct bb_flow disks;           /* bytes read and written per second */
  struct bb_power power;
};

/* For the nodes that are live according to `states`, which has an enum beoboard_state for each, from a copy
 * of so many nodes. To restrict the sums to some nodes, set the others to never. False, and
 * nothing is written, if `bytes` is too small for so many nodes, or if it is not a copy of a board. */
bool bb_totals(const uint8_t *copy, size_t bytes, uint64_t nodes, const uint8_t *states, struct bb_totals *out);
#endif

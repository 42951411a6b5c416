/* What the nodes of a copy of the board have, use and move together. Pure. */
#ifndef BB_TOTALS_H
#define BB_TOTALS_H
#include "board.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums, and of how many nodes: of what is in use and of all that there is; of what comes and what goes in a second; of watts. A node of
 * which one of two numbers is not known is in neither. */
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

/* Of the nodes that are live by `states`, which has an enum beoboard_state of each, by a copy of so many that bb_board_snapshot() made. Who
 * asks about some alone says of the others that they have never reported. False, and nothing is written, when `bytes` cannot hold so many nodes, or the copy is none. */
bool bb_totals(const uint8_t *copy, size_t bytes, uint64_t nodes, const uint8_t *states, struct bb_totals *out);

#ifdef __cplusplus
}
#endif
#endif

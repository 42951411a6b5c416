/* When to report: points of a grid over the clock, shifted by the node's name so that the reports of a cluster are
 * spread over the interval. Pure. */
#ifndef BB_SCHEDULE_H
#define BB_SCHEDULE_H
#include <stdint.h>

/* The shift of a node within the interval: a hash of its name, so that it is the same after every restart. */
uint64_t phase_of(const char *name, uint64_t interval_ns);
/* The first point of the grid after now. */
uint64_t next_tick(uint64_t now_ns, uint64_t interval_ns, uint64_t phase_ns);
/* The number by which reports identify their cluster: the first 4 bytes of SHA-256(name), little-endian; 0 without a
 * name. */
uint32_t cluster_id_of(const char *name);

#endif

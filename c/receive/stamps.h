/* When the datagrams of a socket came, by CLOCK_MONOTONIC. Holds no socket. */
#ifndef BB_STAMPS_H
#define BB_STAMPS_H
#include <stdbool.h>
#include <stdint.h>

/* The kernel stamps what comes by the wall clock, and the board wants the monotonic one: so of each socket it is known
 * up to when it was heard, and how far the clocks were apart by then. A datagram's stamp is the kernel's, by that
 * distance, if that lies behind `heard_ns` and the clocks have not moved against each other since; else there is only
 * the bound.
 *
 *   the socket                                  heard_ns               heard_offset       inherited  the bound
 *   ------------------------------------------  ---------------------  -----------------  ---------  ------------
 *   bound by us                                 before it was bound    then               no         heard_ns
 *   passed to us, never one of ours: emptied    when it was empty      then               no         heard_ns
 *   passed, and drained by one before us        its last heartbeat     at its last report yes        none (*)
 *   the same, without a board that tells of it  as in the second row
 *   drained until it was empty                  the drain's beginning  then               no         heard_ns
 *   not emptied by a drain, in a flood          what was last taken    before heard_ns    as before  as before
 *
 * (*) What needs the bound is left out.
 *
 * In the last row the distance must be one from before `heard_ns`: it is sampled at the beginning of a drain, waits in
 * `sampled_*` until all from before then has been taken, and is `heard_offset` only then. */
struct heard {
  int64_t heard_ns;      /* what arrived before has been received, or was dropped */
  int64_t heard_offset;  /* CLOCK_REALTIME minus CLOCK_MONOTONIC, from no later than then */
  int64_t sampled_ns, sampled_offset; /* a later one, and when it was sampled */
  int64_t latest_ns;     /* the stamp of the last datagram */
  bool empty;            /* in the present drain */
  bool inherited;        /* what waits in it came while another receiver drained it, or none did */
};

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, sampled so close together that no preemption is in between. */
int64_t stamps_clock_distance(void);

/* Everything that arrived before `ns` has been received; `distance`: of the clocks, then or before. */
void stamps_set_heard(struct heard *heard, int64_t ns, int64_t distance);

#define STAMPS_CLOCK_STEP_NS INT64_C(10000000)

/* The stamp of a datagram that was read at `taken_ns`, from the kernel's time (0: none), converted to the monotonic
 * clock; 0: there is none. What we read now arrived after everything that was heard
 * before, so it is no older than that. If the wall clock stepped meanwhile, that bound is all we know: better too
 * old than too young. The two distances of the clocks were sampled before that bound and after this datagram was
 * read, so its arrival lies between them, however long we were preempted. On a socket that we have not drained
 * before, the bound was set by another receiver, perhaps for another socket. It proves nothing here, so a datagram
 * that needs the bound gets no stamp: 0. */
static inline int64_t stamps_of(const struct heard *h, int64_t kernel_ns, int64_t distance, int64_t taken_ns) {
  const int64_t moved = distance - h->heard_offset;
  const int64_t bound_ns = h->inherited ? 0 : h->heard_ns;
  if (kernel_ns == 0 || moved > STAMPS_CLOCK_STEP_NS || moved < -STAMPS_CLOCK_STEP_NS) return bound_ns;
  const int64_t ns = kernel_ns - distance;
  if (ns < h->heard_ns) return bound_ns;
  return ns > taken_ns ? taken_ns : ns;
}

/* Notes until when a socket has been heard, at the end of a drain that began at `began_ns`. */
void stamps_drained(struct heard *heard, int64_t began_ns, int64_t distance);

#endif

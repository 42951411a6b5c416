/* The slow side: asks sources that can hang, in threads of their own, and gives reports what they last said. Never
 * waits for any of them: a source that hangs loses its own readings and nobody else's.
 *
 *     main:  begin ───────────────────────── report ── begin ─────
 *              │ sem_post                       ▲ memcpy under the lock, as of the end of the last round
 *     worker:  └ fabric … taint … ┤ end         │
 *                   │ 180 ms: SIGALRM to main
 *     another:      └ … the others ┤ end, and from now on this one is asked
 *
 * One thread is enough as long as everybody answers, and so costs as little as one. Where a source keeps it longer than
 * a moment, the others go on in another thread at once, still in the same round: each source may in the end have a
 * thread of its own. Their memory is reserved at the start, and takes none before it is used. */
#ifndef BB_ROUNDS_H
#define BB_ROUNDS_H
#include "source.h"

/* Sets up the slow side over a tree; asks nothing yet. `alarms`: SIGALRM comes when a source takes long. False: no
 * memory. */
bool rounds_open(const struct slow_world *world, uint32_t interval_ms, bool alarms);
/* Opens what only root may, while we are; tells of what cannot be. */
void rounds_open_privileged(void);
/* The rounds have another interval from now on. */
void rounds_change(uint32_t interval_ms);

/* Begins a round; what was not answered in the last one by now hangs. */
void rounds_begin(void);
/* Reads again what counts so fast that it would wrap unseen in a round as long as this. */
void rounds_between(void);
/* How often that must be done, ms; 0: never. */
uint32_t rounds_between_ms(void);
/* Readable when a file of others has changed: then call rounds_noticed(). -1: no such thing. */
int rounds_notices(void);
void rounds_noticed(void);
/* Lets the others go on in another thread, when a source takes long. */
void rounds_overdue(void);
/* Waits until the round is closed, or its time is over. */
void rounds_wait(void);

/* Begins a report with what the sources last said, and gives what the fast sets need of it. */
void rounds_fill(struct bb_report *report, struct details *details);

/* One round over each of some trees, in this thread, instead of all that; for a run that never was. */
void rounds_pretend(const struct slow_world *worlds, unsigned count, uint64_t slow_boot_ns);

#endif

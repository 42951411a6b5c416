/* The sending loop: a report at once, then one at each point of the grid. Does not collect, and does not know the
 * destinations. */
#ifndef BB_LOOP_H
#define BB_LOOP_H
#include <signal.h>

#include "pack.h"

/* Settings that may change while the loop runs. */
struct course {
  struct identity identity;
  bool aligned; /* aligned to the wall clock instead of spread by name */
};

/* Callbacks of the loop. */
struct loop_calls {
  void (*hangup)(void);   /* SIGHUP came */
  void (*due)(void);      /* a report is due */
  void (*ready)(void);    /* the first report is out */
  void (*interval)(void); /* loop_rate_ms() or loop_goal_ms() has changed, because of the pace file or a step */
};

/* Blocks the signals that the loop waits for, and makes its descriptors; to be called before any thread is made. For
 * a single report, signals still end the program. False with the reason in `fault`. */
bool loop_open(bool once, struct words *fault);
/* Switches to another course from the next report on. That is sent at once if the grid has changed; but a longer
 * interval is reached in steps, each of which is announced before, so that a receiver that misses some reports does not
 * take the node for dead. Another node, or one with a destination that it did not have, begins with the first step. */
void loop_change(const struct course *course, bool to_others);
/* The interval in force, and the one that is wanted. */
uint32_t loop_rate_ms(void);
uint32_t loop_goal_ms(void);
/* Says goodbye to all destinations if the present course is replaced by this one and the name or the cluster
 * changes. To be called before either is changed. */
void loop_leave(const struct course *course);
/* Reports until SIGTERM or SIGINT; then says goodbye. Returns how many destinations took that, and how many reports
 * there were. */
unsigned loop_run(const struct loop_calls *calls, uint64_t *reports);
/* The only report of this run; returns how many destinations took it. */
unsigned loop_once(uint64_t seq, uint32_t missed, uint64_t late_ns);

/* Sent by the thread that resolves names. */
#define SIGNAL_ANSWER SIGUSR1

#endif

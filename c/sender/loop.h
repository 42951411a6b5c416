/* The sending loop: a report at once, then one at each point of the grid. Does not collect, and does not know the
 * destinations. */
#ifndef BB_SENDER_LOOP_H
#define BB_SENDER_LOOP_H
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
  void (*interval)(void); /* reports say another interval, because of the pace file */
};

/* Blocks the signals that the loop waits for, and makes its descriptors; to be called before any thread is made. For
 * a single report, signals still end the program. False with the reason in `fault`. */
bool loop_open(bool once, struct words *fault);
/* Switches to another course from the next report on. That is sent at once if the grid has changed; but a longer
 * interval is first announced in some reports at the old rate, so that a receiver that misses some of them does not
 * take the node for dead. */
void loop_change(const struct course *course);
/* The interval in reports: the one in force, or the next one. */
uint32_t loop_interval_ms(void);
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

/* The loop that sends: a report at once, then one at each point of the grid. Refuses to collect, and to know where reports
 * go. */
#ifndef BB_SENDER_LOOP_H
#define BB_SENDER_LOOP_H
#include <signal.h>

#include "pack.h"

/* What may change while the loop runs. */
struct course {
  struct identity identity;
  bool aligned; /* on the wall clock instead of spread by name */
};

/* What the loop calls. */
struct loop_calls {
  void (*hangup)(void);   /* SIGHUP came */
  void (*ready)(void);    /* the first report is out */
  void (*interval)(void); /* reports say another interval, by the pace file */
};

/* Blocks the signals that the loop waits for, and takes what it waits with; before any thread is made. Where there is one report
 * only, those that end a program still do. False with the reason in `fault`. */
bool loop_open(bool once, struct words *fault);
/* Goes over to another course from the next report on. That comes at once when the grid has changed; but a longer interval is
 * first announced in some reports at the rate of before, so that nobody who misses some of them takes the node for dead. */
void loop_change(const struct course *course);
/* What reports say: the interval that holds, or that soon will. */
uint32_t loop_interval_ms(void);
/* Takes leave of all when the course of now becomes this one and the name or the cluster is another. Before either is changed. */
void loop_leave(const struct course *course);
/* Reports until SIGTERM or SIGINT; then says goodbye. Gives how many destinations took that, and how many reports there were. */
unsigned loop_run(const struct loop_calls *calls, uint64_t *reports);
/* The only report of this run; gives how many destinations took it. */
unsigned loop_once(uint64_t seq, uint32_t missed, uint64_t late_ns);

/* Sent by those who bring an answer about a name. */
#define SIGNAL_ANSWER SIGUSR1

#endif

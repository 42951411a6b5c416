#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../base/service.h"
#include "destinations.h"
#include "pacefile.h"
#include "schedule.h"
#include "slow/rounds.h"

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)

/* The longest interval at which a node begins to report. It says that it goes on at twice that, goes on so once every
 * destination was told, and so on, until it has the interval that is wanted. So the first report is soon followed by
 * others if it is lost; a node that dies on the way is not waited for much longer than one with the interval that it
 * has; and a receiver that was deaf knows how much later than announced a report may come. */
#define FIRST_MS 1000u

static struct course course; /* with the interval in reports */
static uint32_t own_ms;      /* the node's own interval, even if another one is in force for a time */
static uint32_t goal_ms;     /* the interval that is wanted now */
static uint32_t rate_ms;     /* the time between reports: shorter than the interval in them while that is announced */
static bool changed;         /* the grid has changed, or the name */
static uint64_t point_ns;    /* the last point of the grid with a report; 0 if the grid begins */
static uint64_t seq;
static uint32_t missed;
static sigset_t waited_for;
static int timer = -1, signals = -1; /* descriptors for the timer and for signals */
static uint64_t armed_ns;            /* the time that the timer is set to */
static struct bb_report report;

/* When rounds of the slow side begin: a second before the report, so that they are recent also if the interval is
 * long; with an interval of a second, together with the last report. */
static uint64_t round_due_ns, round_begun_ns, between_due_ns;

bool loop_open(bool once, struct words *fault) {
  static const int all[] = {SIGALRM, SIGNAL_ANSWER, SIGTERM, SIGINT, SIGHUP};
  sigemptyset(&waited_for);
  for (size_t i = 0; i < (once ? 2 : sizeof all / sizeof all[0]); i++) sigaddset(&waited_for, all[i]);
  sigprocmask(SIG_BLOCK, &waited_for, NULL);
  if (once) return true;
  timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  signals = signalfd(-1, &waited_for, SFD_CLOEXEC | SFD_NONBLOCK);
  if (timer != -1 && signals != -1) return true;
  const int error = errno;
  add_text(fault, "cannot make a timer: ");
  add_text(fault, error_name(error));
  return false;
}

static void set_rate(uint32_t ms) {
  if (ms == rate_ms) return;
  rate_ms = ms;
  point_ns = 0;
  changed = true;
  rounds_change(ms);
}

/* What reports say from now on: the interval that is wanted, or the next step on the way there. */
static void steer(void) {
  goal_ms = pace_look(machine->clocks(), own_ms);
  if (goal_ms < rate_ms || destinations_know(course.identity.interval_ms))
    set_rate(least(goal_ms, course.identity.interval_ms));
  course.identity.interval_ms = least(goal_ms, 2 * rate_ms);
}

/* For receivers: they identify a node by its name, and accept only their own cluster. */
static bool is_another_node(const struct identity *a, const struct identity *b) {
  return strcmp(a->name, b->name) != 0 || a->cluster_id != b->cluster_id;
}

void loop_change(const struct course *to, bool to_others) {
  const bool is_first = rate_ms == 0, is_another = is_another_node(&to->identity, &course.identity);
  const uint32_t said_ms = course.identity.interval_ms;
  changed |= to->aligned != course.aligned || is_another;
  course = *to;
  goal_ms = own_ms = to->identity.interval_ms;
  course.identity.interval_ms = said_ms;
  if (is_another || to_others) {
    set_rate(least(FIRST_MS, own_ms));
    course.identity.interval_ms = rate_ms;
  }
  if (!is_first) steer();
}

uint32_t loop_rate_ms(void) { return rate_ms; }
uint32_t loop_goal_ms(void) { return goal_ms; }

static uint64_t interval_ns(void) { return rate_ms * MS_NS; }

/* The next point of the grid, on CLOCK_BOOTTIME. An aligned grid is on the wall clock, but the wait is on the other
 * clock: a step of the wall clock moves the grid, and neither delays a report nor skips one. */
static uint64_t next_due(void) {
  const struct clocks now = machine->clocks();
  if (course.aligned) return now.boot_ns + next_tick(now.real_ns, interval_ns(), 0) - now.real_ns;
  return next_tick(now.boot_ns, interval_ns(), phase_of(course.identity.name, interval_ns()));
}

static unsigned send_report(struct tick tick) {
  tick.seq = seq++;
  tick.missed = missed;
  tick.late = tick.late_ns > interval_ns() / 2;
  tick.clocks = machine->clocks();
  pack(&report, &course.identity, &tick);
  return destinations_send(&report);
}

static unsigned say_goodbye(void) { return send_report((struct tick){.goodbye = true}); }

void loop_leave(const struct course *to) {
  if (!is_another_node(&to->identity, &course.identity)) return;
  say_goodbye();
  destinations_forget();
}

static uint64_t round_ns(void) { return interval_ns() > SECOND_NS ? interval_ns() : SECOND_NS; }

static void begin_round(uint64_t now_ns) {
  round_begun_ns = now_ns;
  between_due_ns = now_ns + rounds_between_ms() * MS_NS;
  rounds_begin();
}

/* Schedules the next round for the report that is due then. */
static void plan_round(uint64_t report_due_ns) {
  if (interval_ns() < SECOND_NS) {
    round_due_ns = round_begun_ns + round_ns();
    return;
  }
  round_due_ns = report_due_ns - SECOND_NS;
  /* At most once a second: the first report may be due soon. */
  if (round_due_ns < round_begun_ns + round_ns() - round_ns() / 10) round_due_ns = UINT64_MAX;
}

/* Does what is due on the slow side; returns when there is more to do. */
static uint64_t go_round(void) {
  const uint64_t now_ns = bb_clock_ns(CLOCK_BOOTTIME);
  if (now_ns >= round_due_ns) {
    begin_round(now_ns);
    /* With a long interval, the next round is scheduled with its report. */
    round_due_ns = interval_ns() < SECOND_NS ? now_ns + round_ns() : UINT64_MAX;
  }
  const uint64_t between_ns = rounds_between_ms() * MS_NS;
  if (between_ns == 0) return round_due_ns;
  if (now_ns >= between_due_ns) {
    rounds_between();
    between_due_ns = now_ns + between_ns;
  }
  return between_due_ns < round_due_ns ? between_due_ns : round_due_ns;
}

/* Waits for a signal, and returns it; 0: the time on CLOCK_BOOTTIME has come, or a debugger interrupted. The timer
 * is set to that time, and not to the remaining time: so the time also comes for a process that is stopped, frozen
 * or suspended meanwhile. (In some C libraries a call with the remaining time begins again after each stop, and the
 * kernel does not count the time of a suspend.) */
static int wait_for_signal(uint64_t until_ns) {
  if (until_ns != armed_ns) {
    const struct itimerspec at = {.it_value = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
    armed_ns = until_ns;
  }
  struct pollfd ready[] = {
    {.fd = timer, .events = POLLIN}, {.fd = signals, .events = POLLIN}, {.fd = rounds_notices(), .events = POLLIN}};
  struct signalfd_siginfo info;
  const int count = poll(ready, 3, -1);
  if (count > 0 && ready[2].revents != 0) rounds_noticed();
  if (count <= 0 || ready[1].revents == 0 || read(signals, &info, sizeof info) != sizeof info) return 0;
  return (int)info.ssi_signo;
}

/* Waits until a report is due, and does everything else meanwhile. False: it is time to end. `due` is UINT64_MAX if
 * the grid has changed: then a report is due at once, and it is not late. */
static bool wait_until(uint64_t *due, const struct loop_calls *calls) {
  for (;;) {
    uint64_t next = go_round();
    const uint64_t now_ns = bb_clock_ns(CLOCK_BOOTTIME);
    const uint64_t watch_ns = service_watch(now_ns);
    if (now_ns >= *due) return true;
    if (*due < next) next = *due;
    if (watch_ns < next) next = watch_ns;
    switch (wait_for_signal(next)) {
      case SIGTERM:
      case SIGINT: return false;
      case SIGHUP:
        calls->hangup();
        if (!changed) break;
        changed = false;
        *due = UINT64_MAX;
        return true;
      case SIGALRM: rounds_overdue(); break;
      case SIGNAL_ANSWER: destinations_answered(); break;
      default: break;
    }
  }
}

unsigned loop_run(const struct loop_calls *calls, uint64_t *reports) {
  begin_round(bb_clock_ns(CLOCK_BOOTTIME));
  steer();
  changed = false;
  send_report((struct tick){0});
  bool told = false;
  int error;
  while (destinations_stdout(&error) == STDOUT_GOOD) {
    if (!told && destinations_waiting() == 0) {
      calls->ready();
      told = true;
    }
    uint64_t due = next_due();
    /* Points that passed while the last report was made. */
    const uint64_t passed = point_ns == 0 || due <= point_ns ? 0 : (due - point_ns) / interval_ns();
    plan_round(due);
    if (!wait_until(&due, calls)) break;
    const uint64_t now_ns = bb_clock_ns(CLOCK_BOOTTIME), late_ns = due == UINT64_MAX ? 0 : now_ns - due;
    /* Woken more than an interval late: the ticks in between had no report. */
    const uint64_t late = late_ns / interval_ns();
    const bool is_new = due == UINT64_MAX;
    const uint64_t skipped = late + (passed > 1 && !is_new ? passed - 1 : 0);
    missed += (uint32_t)skipped;
    point_ns = is_new ? 0 : due + late * interval_ns();
    const uint32_t before_ms = rate_ms, wanted_ms = goal_ms;
    calls->due();
    steer();
    if (rate_ms != before_ms || goal_ms != wanted_ms) calls->interval();
    changed = false; /* this is the immediate report */
    send_report((struct tick){.late_ns = late_ns, .skipped = skipped > 0});
  }
  service_stopping();
  const unsigned goodbyes = say_goodbye();
  *reports = seq;
  return goodbyes;
}

unsigned loop_once(uint64_t first_seq, uint32_t missed_before, uint64_t late_ns) {
  seq = first_seq;
  missed = missed_before;
  rate_ms = course.identity.interval_ms = own_ms; /* no other one follows, so there is nothing to announce */
  unsigned sent = send_report((struct tick){.goodbye = true, .late_ns = late_ns});
  while (destinations_waiting() > 0)
    if (sigwaitinfo(&waited_for, NULL) == SIGNAL_ANSWER) sent += destinations_answered();
  return sent;
}

/* The gate for jobs: its exit code says whether a job may start on its nodes. 0: it may, 1: it may not, and nothing
 * else, whatever happens to the gate itself. Waits for a limited time; writes nothing but requests to a bridge. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../base/say.h"
#include "../base/startup.h"
#include "commandline.h"
#include "requests.h"
#include "verdict.h"

#define LOOK_EVERY_MS 100
/* Anything that is not an intended wait takes no time; a name service, a file or the system's log that hangs is
 * waited for no longer than this. */
#define MOST_HANGING_S 20
#define MOST_LOGGING_S 2

/* The answer when a signal ends the program. */
static volatile sig_atomic_t answer;

static void end_late(int signal) {
  (void)signal;
  _exit(answer);
}

/* An unintended wait has taken too long. */
static void end_hanging(int signal) {
  (void)signal;
  tell(answer == 0 ? "yes, fails open: it took too long" : "no, fails closed: it took too long");
  _exit(answer);
}

/* The board was cut short while it was read: the signal comes from our own access in the library, and not within a
 * call that must not be interrupted. */
static void end_cut_short(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)context;
  const char *why = answer == 0 ? "yes, fails open: the board was cut short"
    : "no, fails closed: the board was cut short";
  alarm(MOST_LOGGING_S);
  if (info->si_code > 0) announce(SAY_WARN, why);
  else tell(why); /* another process sent the signal, at any time */
  _exit(answer);
}

/* A program that is asked to end ends while it waits; `ends` are those signals. */
static void await_signals(sigset_t *ends) {
  set_signals(ends);
  sigprocmask(SIG_BLOCK, ends, NULL);
  const struct sigaction cut = {.sa_sigaction = end_cut_short, .sa_flags = SA_SIGINFO},
    hangs = {.sa_handler = end_hanging};
  sigaction(SIGBUS, &cut, NULL);
  sigaction(SIGALRM, &hangs, NULL);
}

/* ---- Looking at the board ---- */

struct looking {
  const struct question *question;
  beoboard *b;
  int fault; /* of the last look: nothing is known */
  int8_t *states;
};

/* Whether another look may have a better result: a node may come back, and so may a receiver. */
static bool gate_look(struct looking *l) {
  const struct nodes *nodes = l->question->nodes;
  const struct options *options = l->question->options;
  if (l->b == NULL) l->fault = beoboard_open_owner(&l->b, options->board, options->owner, 0);
  else beoboard_refresh(l->b); /* if there is no other board, it answers from the one that it has */
  if (l->b == NULL) return l->fault == -EAGAIN || l->fault == -ESTALE;
  const int others = beoboard_check(l->b, nodes->board, (int)nodes->list.count, l->states);
  l->fault = others < 0 ? others : 0;
  if (others <= 0) return others < 0;
  for (size_t i = 0; i < nodes->list.count; i++)
    if (l->states[i] == BEOBOARD_UNCERTAIN || l->states[i] == BEOBOARD_LEFT) return true;
  return false;
}

/* Looks until there is nothing to wait for, or no more time. Returns whether it was asked to end. */
static bool look_until(struct looking *l, int64_t end_ms, const sigset_t *ends) {
  while (gate_look(l)) {
    const int64_t left = end_ms - bb_clock_ms(CLOCK_MONOTONIC);
    if (left <= 0) return false;
    const int64_t ms = left < LOOK_EVERY_MS ? left : LOOK_EVERY_MS;
    const struct timespec most = {.tv_nsec = (long)ms * 1000000};
    if (sigtimedwait(ends, NULL, &most) > 0) return true;
  }
  return false;
}

/* Why nothing is known about any node; NULL: something is. */
static const char *unknown(const struct looking *l) {
  const char *path = l->question->options->board == NULL ? BEOBOARD_PATH : l->question->options->board;
  struct beoboard_receiver receiver;
  if (l->fault == 0) return NULL;
  if (l->b == NULL && l->fault == -EINVAL) return "--owner names no user";
  if (l->b == NULL) return fault("%s: %s", quoted(path, strlen(path)), beoboard_strerror(l->fault));
  if (l->fault != -ESTALE || beoboard_receiver(l->b, &receiver, sizeof receiver) < 0)
    return beoboard_strerror(l->fault);
  const long long s = receiver.heartbeat_age_ns / 1000000000;
  if ((receiver.flags & BEOBOARD_F_RETIRED) != 0) return "the board is retired, and there is no other";
  if (receiver.heartbeat_age_ns == INT64_MAX) return "the receiver has no heartbeat yet";
  if ((receiver.flags & BEOBOARD_F_CLOSED) != 0) return fault("the receiver was stopped %lld s ago", s);
  if (s < 0) return "the receiver's clock is not ours";
  return fault("the receiver is stalled: its last heartbeat was %lld s ago", s);
}

/* ---- The question ---- */

static const char *number_in(const char *variable) {
  const char *text = getenv(variable);
  return text != NULL && text[0] != 0 && strlen(text) <= 20 && strspn(text, "0123456789") == strlen(text) ? text : NULL;
}

/* The number of the job, of an array's task as squeue shows it, 9_5; NULL: unknown. */
static const char *job_number(void) {
  static char task[48];
  const char *array = number_in("SLURM_ARRAY_JOB_ID"), *index = number_in("SLURM_ARRAY_TASK_ID");
  if (array == NULL || index == NULL) return number_in("SLURM_JOB_ID");
  snprintf(task, sizeof task, "%s_%s", array, index);
  return task;
}

/* NULL, or why the job's nodes are unknown. */
static const char *read_nodes(const struct options *options, const struct exceptions *exceptions, struct nodes *nodes) {
  const char *list = options->nodes != NULL ? options->nodes : getenv("SLURM_JOB_NODELIST");
  if (list == NULL) return "no nodes are named: SLURM_JOB_NODELIST is not set; give --nodes LIST";
  return nodes_read(nodes, list, options->nodes != NULL ? "--nodes" : "SLURM_JOB_NODELIST", exceptions);
}

static void answer_question(const struct question *question, const sigset_t *ends, struct verdict *verdict) {
  const struct options *options = question->options;
  struct looking l = {.question = question, .states = (int8_t *)malloc(question->nodes->list.count + 1)};
  if (l.states == NULL) {
    judge_nothing(options->fails_closed, question->job, "out of memory", verdict);
    return;
  }
  if (look_until(&l, bb_clock_ms(CLOCK_MONOTONIC) + options->wait_ms, ends))
    judge_nothing(options->fails_closed, question->job, "it was asked to end", verdict);
  else judge(question, l.b, unknown(&l), verdict);
  beoboard_close(l.b);
  free(l.states);
}

static void decide(const struct options *options, const sigset_t *ends, struct verdict *verdict) {
  struct exceptions exceptions = {0};
  struct nodes nodes = {0};
  const char *job = job_number(), *why = options->names == NULL ? NULL : exceptions_read(&exceptions, options->names);
  if (why == NULL) why = read_nodes(options, &exceptions, &nodes);
  const struct question question = {options, &exceptions, &nodes, job};
  if (why == NULL) answer_question(&question, ends, verdict);
  else judge_nothing(options->fails_closed, job, why, verdict);
  answer = verdict->may_start ? 0 : 1; /* known from here on, whatever hangs */
  if (verdict->silent_count > 0) requests_leave(options->requests, verdict->silent, verdict->silent_count);
  nodes_free(&nodes);
  exceptions_free(&exceptions);
}

int main(int argc, char *argv[]) {
  struct options options;
  struct verdict verdict;
  const char *why;
  sigset_t ends;
  hold_standard_places(); /* the board, or the system's log, could get one of them, and we would write to it */
  await_signals(&ends);
  const enum outcome outcome = read_options(argc, argv, &options, &why);
  if (outcome == OPTIONS_HELP || outcome == OPTIONS_VERSION) {
    show(outcome == OPTIONS_HELP ? help_text : version_text);
    return 0; /* whether or not it could be shown */
  }
  answer = options.fails_closed ? 1 : 0;
  alarm((unsigned)(options.wait_ms / 1000) + MOST_HANGING_S);
  if (outcome == OPTIONS_GOOD) decide(&options, &ends, &verdict);
  else judge_nothing(options.fails_closed, job_number(), why, &verdict);
  answer = verdict.may_start ? 0 : 1;
  signal(SIGALRM, end_late);
  alarm(MOST_LOGGING_S);
  if (verdict.line[0] != 0) announce(verdict.may_start ? SAY_INFO : SAY_WARN, verdict.line);
  return answer;
}

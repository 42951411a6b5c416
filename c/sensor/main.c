/* A load sensor for Grid Engine: one process of one sge_execd, that of the master, tells qmaster how every host is. Its
 * queues' load thresholds then keep jobs off silent hosts. Blames no host without evidence; gives no orders. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../base/say.h"
#include "../base/startup.h"
#include "commandline.h"
#include "input.h"

/* Hosts come and go seldom, and qmaster has other things to do. */
#define ROUNDS_EACH_LIST 5
/* For how long an answer holds: execd asks for the next within its load_report_time, 40 s if nobody has changed it. */
#define HOLDS_S 120
/* For how long a reader that wants us to end may take nothing: execd kills us after ten seconds. */
#define MOST_ENDING_MS 5000
/* As much as a pipe of an ordinary user may have, if nobody has changed that. */
#define USUAL_PIPE (1 << 20)
#define LISTENED_NS 60000000000

struct sensor {
  struct options options;
  struct requests input;
  struct hosts hosts;
  struct round round;
  char *text; /* room for an answer about all hosts */
  size_t room;
  struct words answer;
  uint64_t rounds;
  bool is_nameless; /* it is not known which nodes the hosts are */
  char list_why[MOST_FAULT]; /* why the hosts are not those of now, or nameless; empty: they are well */
  char said[MOST_FAULT]; /* the last thing that was wrong */
  bool is_unguarded_told;
};

/* Each thing that is wrong once, until another is, or none. */
static void complain_once(struct sensor *s, const char *why) {
  if (strcmp(s->said, why) == 0) return;
  announce(SAY_WARN, why[0] != 0 ? why : "all is well again"); /* execd discards stderr */
  snprintf(s->said, sizeof s->said, "%s", why);
}

/* ---- Requests ---- */

/* Waits for input, and reads what there is. */
static void read_input(struct requests *input) {
  char bytes[4096];
  struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&ready, 1, -1) <= 0) return;
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got > 0) input_parse(input, (struct span){bytes, (size_t)got});
  else if (got == 0 || (errno != EINTR && errno != EAGAIN)) input->is_over = true;
}

/* Whether there is a request; otherwise there will be none. */
static bool next_request(struct requests *input) {
  while (input->asked == 0 && !input->is_over) read_input(input);
  if (input->asked == 0) return false;
  input->asked--;
  return true;
}

/* ---- Answers ---- */

/* execd reads only what is in the pipe when it comes: all of the answer, if it fits. Pages have whole lines only,
 * and are not quite full. */
static void enlarge_pipe(size_t bytes) {
  const size_t wanted = bytes + bytes / 16 + PIPE_BUF;
  const int now = fcntl(STDOUT_FILENO, F_GETPIPE_SZ);
  if (now < 0 || (size_t)now >= wanted || wanted > INT_MAX) return;
  if (fcntl(STDOUT_FILENO, F_SETPIPE_SZ, (int)wanted) < 0) (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, USUAL_PIPE);
}

/* NULL, or why the list is still the last one, or nameless. */
static const char *renew_hosts(struct sensor *s) {
  const struct options *o = &s->options;
  struct exceptions exceptions = {0};
  struct hosts hosts = {0};
  const char *why_nameless = o->names == NULL ? NULL : exceptions_read(&exceptions, o->names);
  if (why_nameless != NULL && s->hosts.count > 0 && !s->is_nameless) return why_nameless;
  const char *why = hosts_read(&hosts, o->hosts, o->qconf, &exceptions);
  if (why != NULL) return why;
  /* Without its exceptions a host could be taken for another's node. */
  for (size_t i = 0; why_nameless != NULL && i < hosts.count; i++) hosts.on_board[i] = "";
  struct host_verdict *verdicts = (struct host_verdict *)calloc(hosts.count, sizeof *verdicts);
  int8_t *states = (int8_t *)malloc(hosts.count);
  const size_t room = round_bytes(&hosts);
  char *text = (char *)malloc(room);
  if (verdicts == NULL || states == NULL || text == NULL) {
    free(verdicts);
    free(states);
    free(text);
    hosts_free(&hosts);
    return "out of memory";
  }
  free(s->round.verdicts);
  free(s->round.states);
  free(s->text);
  hosts_free(&s->hosts);
  s->hosts = hosts;
  s->round.verdicts = verdicts;
  s->round.states = states;
  s->text = text;
  s->room = room;
  s->is_nameless = why_nameless != NULL;
  enlarge_pipe(room);
  return why_nameless;
}

/* That the board has not all hosts: once, until it has. Before a minute it may be about to hear of them. */
static void tell_unguarded(struct sensor *s) {
  struct beoboard_receiver receiver;
  const int known = s->round.known, count = (int)s->hosts.count;
  if (known < 0 || s->list_why[0] != 0 || beoboard_receiver(s->round.b, &receiver, sizeof receiver) < 0 ||
      receiver.listened_ns < LISTENED_NS)
    return;
  if (known < count && !s->is_unguarded_told)
    announce(SAY_WARN, fault("%d of %d hosts are on the board, the others are not guarded: see %s --check", known,
                             count, program));
  s->is_unguarded_told = known < count;
}

/* Without hosts it is empty: execd does not ask again before it has an answer. */
static void make_answer(struct sensor *s) {
  if (s->rounds++ % ROUNDS_EACH_LIST == 0 || s->hosts.count == 0) {
    const char *list_why = renew_hosts(s);
    snprintf(s->list_why, sizeof s->list_why, "%s", list_why == NULL ? "" : list_why);
  }
  const char *why = s->list_why[0] != 0 ? s->list_why : NULL;
  if (why == NULL && s->hosts.left_out > 0) why = fault("%zu lines are not the name of a host", s->hosts.left_out);
  if (s->hosts.count > 0) {
    const uint64_t now_s = (uint64_t)bb_clock_ms(CLOCK_REALTIME) / 1000;
    round_look(&s->round, &s->options.round, &s->hosts);
    if (why == NULL) why = s->round.why;
    s->answer = (struct words){s->text, s->room, 0};
    round_write(s->round.verdicts, &s->hosts, now_s + HOLDS_S, &s->answer);
  } else {
    static char nothing[32];
    s->answer = WORDS(nothing);
    round_write(NULL, &s->hosts, 0, &s->answer);
  }
  complain_once(s, why);
  tell_unguarded(s);
}

/* Says what is unknown, for people. */
static int check_hosts(struct sensor *s) {
  const struct exceptions *names = &s->hosts.exceptions;
  s->round.known = -1;
  make_answer(s);
  if (s->round.known < 0) return NOT_SO; /* it has said why */
  for (size_t i = 0; i < s->hosts.count; i++)
    if (s->round.states[i] < 0)
      printf("%s is not on the board%s\n", s->hosts.names[i], names_hint(s->round.b, s->hosts.names[i]));
  for (size_t i = 0; i < names->count; i++)
    if (beoboard_index(s->round.b, names->all[i].board) < 0)
      printf("%s, which --names has for %s, is not on the board\n", names->all[i].board, names->all[i].node);
  printf("%d of %zu hosts are on the board\n", s->round.known, s->hosts.count);
  return fflush(stdout) == 0 && (size_t)s->round.known == s->hosts.count ? DONE : NOT_SO;
}

/* How much of a text to write at once: whole lines, and no more than a pipe takes in one piece. execd does not wait for
 * the rest of a line, and takes a part of it for the whole. */
static size_t whole_lines(struct span text) {
  if (text.len <= PIPE_BUF) return text.len;
  size_t bytes = PIPE_BUF;
  while (text.at[bytes - 1] != '\n') bytes--;
  return bytes;
}

/* Waits until the reader takes more; false if it does not, or if it has told us to end and takes nothing for long. */
static bool wait_for_reader(struct requests *input) {
  for (;;) {
    struct pollfd ready[] = {{.fd = STDOUT_FILENO, .events = POLLOUT}, {.fd = STDIN_FILENO, .events = POLLIN}};
    const int count = poll(ready, input->is_over ? 1 : 2, input->is_over ? MOST_ENDING_MS : -1);
    if (count == 0 || (count < 0 && errno != EINTR)) return false;
    if (count > 0 && (ready[0].revents & (POLLERR | POLLNVAL)) != 0) return false;
    if (count > 0 && (ready[0].revents & POLLOUT) != 0) return true;
    if (count > 0 && !input->is_over) read_input(input);
  }
}

/* Whether all of it was written. */
static bool write_answer(struct requests *input, struct span text) {
  while (text.len > 0) {
    if (!wait_for_reader(input)) return false;
    const ssize_t written = write(STDOUT_FILENO, text.at, whole_lines(text));
    if (written >= 0) text = without(text, (size_t)written);
    else if (errno != EINTR && errno != EAGAIN) return false;
  }
  return true;
}

int main(int argc, char *argv[]) {
  static struct sensor sensor;
  static char text[MOST_FAULT];
  struct words fault_words = WORDS(text);
  hold_standard_places(); /* the board could get one of them, and we would write to it */
  sigset_t ends;
  set_signals(&ends);
  signal(SIGCHLD, SIG_DFL);
  const enum outcome outcome = read_options(argc, argv, &sensor.options, &fault_words);
  if (outcome == OPTIONS_HELP || outcome == OPTIONS_VERSION)
    return show(outcome == OPTIONS_HELP ? help_text : version_text);
  if (outcome == OPTIONS_BAD) return refuse_start(&fault_words, USAGE);
  if (sensor.options.checks) return check_hosts(&sensor);
  while (next_request(&sensor.input)) {
    make_answer(&sensor);
    if (!write_answer(&sensor.input, (struct span){sensor.answer.text, sensor.answer.len})) break;
  }
  return DONE;
}

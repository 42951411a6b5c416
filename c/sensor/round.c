#include "round.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"

/* A board that is cut short while it is read sends SIGBUS. The library holds no lock and allocates nothing while it
 * reads, so that we may leave it there. */
static sigjmp_buf cut;
static volatile enum { ELSEWHERE, OPENING, READING } doing;

static void leave_board(int number, siginfo_t *info, void *context) {
  (void)context;
  if (doing != ELSEWHERE && info->si_code > 0) siglongjmp(cut, 1);
  signal(number, SIG_DFL);
  raise(number);
}

static void round_why(struct round *s, const char *why) { snprintf(s->why, sizeof s->why, "%s", why); }

/* Whether there is a board whose states can be judged. */
static bool round_open(struct round *s, const struct round_options *options) {
  if (s->b != NULL) {
    beoboard_refresh(s->b); /* if there is no other, it answers from the one that it has */
    return true;
  }
  const int error = beoboard_open_owner(&s->b, options->board, options->owner, 0);
  if (s->b == NULL) round_why(s, error == -EINVAL ? "--owner names no user" : beoboard_strerror(error));
  return s->b != NULL;
}

/* Whether so many nodes are not heard that the cause is elsewhere. */
static bool round_brakes(struct round *s, const struct portion *brake) {
  int counts[BEOBOARD_NSTATES];
  const int nodes = beoboard_tally(s->b, counts);
  if (nodes < 0 || counts[BEOBOARD_UNKNOWN] > 0) return true;
  const int unheard = counts[BEOBOARD_SILENT] + counts[BEOBOARD_UNCERTAIN];
  const double limit = brake_limit(brake, nodes);
  if (unheard <= limit) return false;
  snprintf(s->why, sizeof s->why, "%d of %d nodes are silent or uncertain, more than the brake of %.10g", unheard,
           nodes, limit);
  return true;
}

static enum host_state state_of(const struct round *s, int index, int state, const struct beoboard_link *links,
                                int link_count) {
  struct beoboard_node node;
  if (state == BEOBOARD_LEFT) return HOST_LEFT;
  /* It may have come back since, and then has no silent state any more. */
  if (state != BEOBOARD_SILENT || beoboard_read(s->b, index, &node, sizeof node) < 0) return HOST_FINE;
  for (int i = 0; i < link_count; i++)
    if (links[i].number == node.link && link_is_at_fault(&links[i])) return HOST_FINE;
  return node.state == BEOBOARD_SILENT ? HOST_SILENT : HOST_FINE;
}

static bool has_domains(const beoboard *b) {
  char name[NAME_LENGTH + 1] = "";
  for (int i = 0; i < beoboard_count(b) && strchr(name, '.') == NULL; i++) beoboard_name(b, i, name, sizeof name);
  return strchr(name, '.') != NULL;
}

/* The host's name on the board: without the stated domain, where it can only be that. `into` may be it. */
static const char *name_of(struct round *s, const struct hosts *hosts, size_t i, const char *domain, char *into) {
  const char *name = hosts->on_board[i], *dot = strchr(name, '.');
  if (s->states[i] >= 0 || dot == NULL || strcasecmp(dot + 1, domain) != 0 || strcasecmp(name, hosts->names[i]) != 0)
    return name;
  snprintf(into, NAME_LENGTH + 1, "%.*s", (int)(dot - name), name);
  s->states[i] = (int8_t)beoboard_state(s->b, beoboard_index(s->b, into));
  return into;
}

static struct host_verdict judge_host(const struct round *s, const char *name, int state, uint32_t wanted,
                                      const struct beoboard_link *links, int link_count) {
  const int index = beoboard_index(s->b, name);
  const int64_t age = beoboard_age(s->b, index);
  struct host_verdict verdict = {.age_s = age < 0 ? 0 : (uint32_t)least_64((uint64_t)age / 1000000000, UINT32_MAX)};
  verdict.state = (uint8_t)state_of(s, index, state, links, link_count);
  const int problems = state == BEOBOARD_LIVE || state == BEOBOARD_UNCERTAIN ? beoboard_problems(s->b, index) : 0;
  if (problems > 0) verdict.problems = (uint8_t)__builtin_popcount((unsigned)problems & wanted);
  return verdict;
}

static void round_judge(struct round *s, const struct round_options *options, const struct hosts *hosts) {
  struct beoboard_link links[BEOBOARD_LINKS_MAX];
  const int others = beoboard_check(s->b, hosts->on_board, (int)hosts->count, s->states);
  if (others < 0) {
    round_why(s, beoboard_strerror(others));
    return;
  }
  /* After the states: a link is found to be dark before the first of its nodes is silent. */
  const int link_count = beoboard_links(s->b, links, sizeof links[0], BEOBOARD_LINKS_MAX);
  const bool brakes = round_brakes(s, &options->brake);
  const char *domain = others == 0 || has_domains(s->b) ? "" : options->domain;
  char into[NAME_LENGTH + 1];
  s->known = 0;
  for (size_t i = 0; i < hosts->count; i++) {
    const char *name = name_of(s, hosts, i, domain, into);
    if (s->states[i] < 0) continue;
    s->known++;
    s->verdicts[i] = judge_host(s, name, s->states[i], options->problems, links, link_count);
    if (brakes) s->verdicts[i].state = HOST_FINE;
  }
}

void round_look(struct round *s, const struct round_options *options, const struct hosts *hosts) {
  const struct sigaction leave = {.sa_sigaction = leave_board, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &leave, NULL);
  s->why[0] = 0;
  s->known = -1;
  memset(s->verdicts, 0, hosts->count * sizeof *s->verdicts);
  if (sigsetjmp(cut, 1) == 0) {
    doing = OPENING;
    const bool is_open = round_open(s, options);
    doing = READING;
    if (is_open) round_judge(s, options, hosts);
    doing = ELSEWHERE;
    return;
  }
  memset(s->verdicts, 0, hosts->count * sizeof *s->verdicts);
  round_why(s, "the board was cut short");
  if (doing == READING) beoboard_close(s->b); /* one that is half open is left as it is */
  doing = ELSEWHERE;
  s->b = NULL;
}

/* ---- Writing ---- */

static const struct span values[] = {SPAN_TEXT(":bb_state:"), SPAN_TEXT(":bb_age:"), SPAN_TEXT(":bb_problems:"),
                                     SPAN_TEXT(":bb_until:")};
#define VALUES (sizeof values / sizeof values[0])
#define MOST_ROW (sizeof ":bb_problems:" + MOST_NUMBER)
#define MOST_NUMBER 20

size_t round_bytes(const struct hosts *hosts) {
  size_t bytes = sizeof "begin\nend\n";
  for (size_t i = 0; i < hosts->count; i++) bytes += VALUES * (strlen(hosts->names[i]) + MOST_ROW);
  return bytes;
}

void round_write(const struct host_verdict *verdicts, const struct hosts *hosts, uint64_t until, struct words *out) {
  char digits[2 * MOST_NUMBER];
  add_text(out, "begin\n");
  for (size_t i = 0; i < hosts->count; i++) {
    const struct span name = span_of(hosts->names[i]);
    const uint64_t numbers[VALUES] = {verdicts[i].state, verdicts[i].age_s, verdicts[i].problems, until};
    for (size_t k = 0; k < VALUES; k++) {
      add_span(out, name);
      add_span(out, values[k]);
      size_t length = write_number(digits, numbers[k], 0); /* ten thousand hosts are to take milliseconds */
      digits[length++] = '\n';
      add_span(out, (struct span){digits, length});
    }
  }
  add_text(out, "end\n");
}

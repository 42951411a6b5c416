#include "verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skip.h"

/* The verdict on a node of the job. */
enum standing {
  FINE,
  REFUSED_START, /* because of evidence */
  UNSURE,       /* there is no evidence */
  BY_LINK,      /* let through: its link is the cause */
  BY_SKIP,      /* let through: it is in power saving */
  SKIP_UNKNOWN, /* would be refused, and may be in power saving */
};

/* A node of the job, as it was found on the board. */
struct job_node {
  struct beoboard_node is;
  int state; /* enum beoboard_state, or negative: not on the board */
  int problems;  /* the problems for which it is refused, a bit each */
  bool is_unmeasured; /* these are not measured, and the last report that measured them showed them */
  enum standing standing;
};

struct judging {
  const struct question *question;
  const beoboard *b;
  struct job_node *nodes;
  struct beoboard_link links[BEOBOARD_LINKS_MAX];
  int link_count;
  struct skip skip;
  bool knows_skip;
  const char *skip_fault;
  struct verdict *out;
};

static void verdict_add(struct verdict *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void verdict_add(struct verdict *out, const char *format, ...) {
  const size_t at = strlen(out->line);
  va_list values;
  va_start(values, format);
  vsnprintf(out->line + at, sizeof out->line - at, format, values);
  va_end(values);
}

static void add_job(struct verdict *out, const char *job) {
  if (job != NULL) verdict_add(out, "; job %s should not start there", job);
}

void judge_nothing(bool fails_closed, const char *job, const char *why, struct verdict *out) {
  *out = (struct verdict){.may_start = !fails_closed};
  verdict_add(out, "%s: %s", fails_closed ? "no, fails closed" : "yes, fails open", why);
  if (fails_closed && job != NULL) verdict_add(out, "; job %s is held back", job);
}

/* An age for people, in one unit. */
static void add_age(struct verdict *out, int64_t ns) {
  const long long s = ns < 0 ? 0 : ns / 1000000000;
  if (s < 120) verdict_add(out, "%llds", s);
  else if (s < 7200) verdict_add(out, "%lldm", s / 60);
  else if (s < 172800) verdict_add(out, "%lldh", s / 3600);
  else verdict_add(out, "%lldd", s / 86400);
}

/* ---- What is found ---- */

/* The problems for which a node is refused. */
static int objections(const struct judging *j, int index) {
  const int problems = j->question->options->health ? beoboard_problems(j->b, index) : 0;
  return problems < 0 ? 0 : problems & NO_JOB_PROBLEMS & ~(int)j->question->options->ignored;
}

/* Likewise, those that the last report to measure them showed in this boot, and that are not measured any more: that
 * proves neither that they are over nor that they last. */
static int unmeasured_objections(const struct judging *j, int index) {
  struct beoboard_memory memory;
  if (!j->question->options->health || beoboard_memory(j->b, index, &memory, sizeof memory) < 0) return 0;
  return (int)memory.unsettled & NO_JOB_PROBLEMS & ~(int)j->question->options->ignored;
}

static const struct beoboard_link *link_of(const struct judging *j, const struct job_node *n) {
  for (int i = 0; i < j->link_count; i++)
    if (j->links[i].number == n->is.link) return &j->links[i];
  return NULL;
}

/* The present state of a node. For one that is not live everything is copied, and the state is that of the copy. */
static void verdict_find(const struct judging *j, size_t i) {
  struct job_node *n = &j->nodes[i];
  const int index = beoboard_index(j->b, j->question->nodes->board[i]);
  n->state = index < 0 ? index : beoboard_state(j->b, index);
  if (n->state == -ESTALE) n->state = BEOBOARD_UNKNOWN;
  if (n->state >= 0 && n->state != BEOBOARD_LIVE)
    n->state = beoboard_read(j->b, index, &n->is, sizeof n->is) < 0 ? BEOBOARD_UNCERTAIN : (int)n->is.state;
  if (n->state != BEOBOARD_LIVE && n->state != BEOBOARD_UNCERTAIN) return;
  n->problems = objections(j, index);
  if (n->problems != 0) return;
  n->problems = unmeasured_objections(j, index);
  n->is_unmeasured = n->problems != 0;
}

static enum standing stand(const struct judging *j, const struct job_node *n) {
  if (n->problems != 0) return REFUSED_START;
  switch (n->state) {
    case BEOBOARD_LIVE: return FINE;
    case BEOBOARD_LEFT: return REFUSED_START;
    case BEOBOARD_SILENT: return link_is_at_fault(link_of(j, n)) ? BY_LINK : REFUSED_START;
    case BEOBOARD_UNCERTAIN: return link_is_at_fault(link_of(j, n)) ? BY_LINK : UNSURE;
    default: return UNSURE;
  }
}

static size_t count_of(const struct judging *j, enum standing standing) {
  size_t count = 0;
  for (size_t i = 0; i < j->question->nodes->list.count; i++) count += j->nodes[i].standing == standing;
  return count;
}

static bool is_closed(const struct judging *j) { return j->question->options->fails_closed; }

/* Whether any node would be refused now. */
static bool refuses(const struct judging *j) {
  const size_t unsure = count_of(j, UNSURE) + count_of(j, SKIP_UNKNOWN) + j->question->nodes->odd;
  return count_of(j, REFUSED_START) > 0 || (is_closed(j) && unsure > 0);
}

/* Lets nodes in power saving through. If it is unknown which these are, no node that could be one is refused because of
 * evidence. */
static void look_for_skipped(struct judging *j) {
  const struct question *q = j->question;
  if (q->options->skip == NULL || !refuses(j)) return;
  j->skip_fault = skip_read(&j->skip, q->options->skip, q->exceptions);
  j->knows_skip = j->skip_fault == NULL;
  for (size_t i = 0; i < q->nodes->list.count; i++) {
    enum standing *standing = &j->nodes[i].standing;
    if (*standing != FINE && *standing != BY_LINK && j->knows_skip && skip_has(&j->skip, q->nodes->board[i]))
      *standing = BY_SKIP;
    if (*standing == REFUSED_START && !j->knows_skip &&
        (!j->skip.limits_doubt || skip_has(&j->skip, q->nodes->board[i])))
      *standing = SKIP_UNKNOWN;
  }
}

/* ---- The brake ---- */

/* Nodes of the whole board that should be heard and are not. -1: nothing is known. */
static int count_unheard(const struct judging *j) {
  int counts[BEOBOARD_NSTATES], unheard;
  if (beoboard_tally(j->b, counts) < 0 || counts[BEOBOARD_UNKNOWN] > 0) return -1;
  unheard = counts[BEOBOARD_SILENT] + counts[BEOBOARD_UNCERTAIN];
  for (size_t i = 0; i < j->skip.nodes.list.count; i++) {
    /* Two NodeNames may mean the same node of the board. */
    if (i > 0 && strcmp(j->skip.nodes.board[i - 1], j->skip.nodes.board[i]) == 0) continue;
    const int state = beoboard_state(j->b, beoboard_index(j->b, j->skip.nodes.board[i]));
    unheard -= state == BEOBOARD_SILENT || state == BEOBOARD_UNCERTAIN;
  }
  return unheard < 0 ? 0 : unheard;
}

/* ---- The messages ---- */

static void add_fault_of(struct verdict *out, const struct beoboard_link *link) {
  verdict_add(out, ": its link %s is %s", link->name, (link->flags & BEOBOARD_LINK_F_UP) == 0 ? "down" : "dark");
}

/* Reports that are rejected are no sign of life, because they may be recordings; but if they are the node's own, a
 * reboot would not end the silence. */
static void add_refusal(const struct judging *j, const char *name) {
  struct beoboard_refusal refusal;
  if (beoboard_last_refusal(j->b, beoboard_index(j->b, name), &refusal, sizeof refusal) < 0 || !refusal.is_newer)
    return;
  const char *reason = beoboard_reason_name((int)refusal.reason);
  verdict_add(j->out, " (reports in its name are rejected: %s; they may be recordings)", reason == NULL ? "?" : reason);
}

/* A node that reports more rarely than its receiver allows for is judged as if it did not: by its own interval it is
 * not late, and may be well. */
static void add_rarity(const struct judging *j, const struct job_node *n) {
  struct beoboard_receiver receiver;
  if (n->is.interval_ms <= 1000 || n->standing == BY_LINK || beoboard_receiver(j->b, &receiver, sizeof receiver) < 0)
    return;
  const int64_t limit_ns = n->state == BEOBOARD_SILENT ? receiver.silent_after_ns : receiver.uncertain_after_ns;
  if ((double)n->is.age_ns > (double)limit_ns * n->is.interval_ms / 1000) return;
  verdict_add(j->out, " (it reports every ");
  add_age(j->out, (int64_t)n->is.interval_ms * 1000000);
  verdict_add(j->out, ", and is judged by the receiver's --longest-interval)");
}

static void add_node(const struct judging *j, size_t i) {
  const struct nodes *nodes = j->question->nodes;
  const struct job_node *n = &j->nodes[i];
  struct verdict *out = j->out;
  verdict_add(out, "%s", nodes->list.names[i]);
  if (n->is_unmeasured) {
    const int problem = __builtin_ctz((unsigned)n->problems);
    struct beoboard_memory memory;
    verdict_add(out, " was unhealthy when that was last measured");
    if (beoboard_memory(j->b, beoboard_index(j->b, nodes->board[i]), &memory, sizeof memory) == 0) {
      verdict_add(out, ", ");
      add_age(out, memory.measured_age_ns[problem]);
      verdict_add(out, " ago");
    }
    verdict_add(out, ": %s; until that is measured as absent, it boots, or somebody runs beoboard clear -w %s",
        beoboard_problem_text(problem), nodes->board[i]);
  } else if (n->problems != 0) {
    verdict_add(out, " is unhealthy: %s", beoboard_problem_text(__builtin_ctz((unsigned)n->problems)));
  } else if (n->state < 0) {
    verdict_add(out, " is not on the board");
    if (strcasecmp(nodes->list.names[i], nodes->board[i]) != 0) verdict_add(out, " as %s", nodes->board[i]);
    else verdict_add(out, "%s", names_hint(j->b, nodes->list.names[i]));
  } else if (n->state == BEOBOARD_SILENT) {
    verdict_add(out, " has been silent for ");
    add_age(out, n->is.age_ns);
    add_rarity(j, n);
    add_refusal(j, nodes->board[i]);
  } else if (n->state == BEOBOARD_LEFT) {
    verdict_add(out, " left ");
    add_age(out, n->is.age_ns);
    verdict_add(out, " ago");
  } else {
    verdict_add(out, n->state == BEOBOARD_NEVER ? " has never reported" : " is %s", beoboard_state_name(n->state));
    if (n->state == BEOBOARD_UNCERTAIN) add_rarity(j, n);
  }
  if (n->standing == BY_LINK) add_fault_of(out, link_of(j, n));
}

/* Entries of the list that no board can have a node for: nothing is known about them. */
static void add_odd(const struct judging *j, const char *so, bool *is_first) {
  const struct nodes *nodes = j->question->nodes;
  if (nodes->odd == 0) return;
  if (!*is_first) verdict_add(j->out, "; ");
  *is_first = false;
  if (nodes->odd == 1) verdict_add(j->out, "a name is not one that the board can have (%s)%s", nodes->odd_why, so);
  else verdict_add(j->out, "%zu names are not such as the board can have (%s)%s", nodes->odd, nodes->odd_why, so);
}

/* The nodes with one verdict, a few of them by name. */
static void add_nodes(const struct judging *j, enum standing standing) {
  enum { MOST = 4 };
  const size_t all = count_of(j, standing);
  size_t told = 0;
  for (size_t i = 0; i < j->question->nodes->list.count && told < MOST; i++) {
    if (j->nodes[i].standing != standing) continue;
    if (told++ > 0) verdict_add(j->out, ", ");
    add_node(j, i);
  }
  if (all > told) verdict_add(j->out, " and %zu more", all - told);
}

static void add_group(const struct judging *j, enum standing standing, const char *so, bool *is_first) {
  if (count_of(j, standing) == 0) return;
  if (!*is_first) verdict_add(j->out, "; ");
  *is_first = false;
  add_nodes(j, standing);
  if (standing == SKIP_UNKNOWN) verdict_add(j->out, " and may be in power saving: %s", j->skip_fault);
  verdict_add(j->out, "%s", so);
}

static void let_start(const struct judging *j) {
  bool is_first = true;
  j->out->may_start = true;
  verdict_add(j->out, "yes, though ");
  add_group(j, BY_LINK, "", &is_first);
  add_group(j, BY_SKIP, ": left out by --skip", &is_first);
  add_group(j, SKIP_UNKNOWN, ": fails open", &is_first);
  add_group(j, UNSURE, ": fails open", &is_first);
  add_odd(j, ": fails open", &is_first);
  if (is_first) j->out->line[0] = 0;
}

static void verdict_refuse(const struct judging *j) {
  bool is_first = true;
  j->out->may_start = false;
  verdict_add(j->out, count_of(j, REFUSED_START) > 0 ? "no: " : "no, fails closed: ");
  if (count_of(j, REFUSED_START) > 0) {
    add_nodes(j, REFUSED_START);
  } else {
    add_group(j, SKIP_UNKNOWN, "", &is_first);
    add_group(j, UNSURE, "", &is_first);
    add_odd(j, "", &is_first);
  }
  for (size_t i = 0; i < j->question->nodes->list.count &&
       j->out->silent_count < sizeof j->out->silent / sizeof j->out->silent[0]; i++)
    if (j->nodes[i].standing == REFUSED_START && j->nodes[i].state == BEOBOARD_SILENT && j->nodes[i].problems == 0)
      j->out->silent[j->out->silent_count++] = j->question->nodes->list.names[i];
  add_job(j->out, j->question->job);
}

/* Whether so many nodes are not heard that none of them is to blame; adds the message. */
static bool brakes(const struct judging *j) {
  const int unheard = count_unheard(j), nodes = beoboard_count(j->b);
  const double limit = brake_limit(&j->question->options->brake, nodes);
  if (unheard <= limit) return false;
  bool is_first = true;
  j->out->may_start = true;
  verdict_add(j->out, "yes, though ");
  add_group(j, REFUSED_START, "", &is_first);
  add_group(j, SKIP_UNKNOWN, "", &is_first);
  if (is_closed(j)) add_group(j, UNSURE, "", &is_first);
  if (is_closed(j)) add_odd(j, "", &is_first);
  verdict_add(j->out, ": %d of %d nodes are silent or uncertain, more than the brake of %.10g", unheard, nodes, limit);
  return true;
}

static void judge_all(struct judging *j) {
  const size_t count = j->question->nodes->list.count;
  for (size_t i = 0; i < count; i++) verdict_find(j, i);
  /* After the states: a link is known to be dark before the first of its nodes is silent. */
  j->link_count = beoboard_links(j->b, j->links, sizeof j->links[0], BEOBOARD_LINKS_MAX);
  for (size_t i = 0; i < count; i++) j->nodes[i].standing = stand(j, &j->nodes[i]);
}

static bool is_unknown(const struct judging *j) {
  for (size_t i = 0; i < j->question->nodes->list.count; i++)
    if (j->nodes[i].state == BEOBOARD_UNKNOWN) return true;
  return false;
}

void judge(const struct question *question, const beoboard *b, const char *unknown, struct verdict *out) {
  const bool closed = question->options->fails_closed;
  struct judging j = {.question = question, .b = b, .out = out};
  *out = (struct verdict){.may_start = true};
  j.nodes = (struct job_node *)calloc(question->nodes->list.count + 1, sizeof *j.nodes);
  if (j.nodes == NULL) {
    judge_nothing(closed, question->job, "out of memory", out);
    return;
  }
  if (unknown == NULL) judge_all(&j);
  if (unknown == NULL && is_unknown(&j)) unknown = beoboard_strerror(-ESTALE);
  for (size_t i = 0; unknown != NULL && i < question->nodes->list.count; i++)
    j.nodes[i] = (struct job_node){.state = BEOBOARD_UNKNOWN, .standing = UNSURE};
  look_for_skipped(&j);
  if (unknown != NULL && count_of(&j, UNSURE) > 0) judge_nothing(closed, question->job, unknown, out);
  else if (unknown == NULL && refuses(&j) && brakes(&j)) (void)0;
  else if (refuses(&j)) verdict_refuse(&j);
  else let_start(&j);
  if (out->line[0] != 0 && question->exceptions->age > 0)
    verdict_add(out, " (%s was written %.0f s ago: is beoboard scheduler running?)", question->options->names,
        question->exceptions->age);
  nodes_free(&j.skip.nodes);
  free(j.nodes);
}

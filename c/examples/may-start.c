/* May a job start on these nodes? As a scheduler's prologue would ask, for example Slurm's:
 *   may-start [-b BOARD] $(scontrol show hostnames)
 * Exits with 0 when all are live and none is held or unhealthy; 1 when not, with a line for each that is why; 4 when
 * nobody knows: then the job must wait, and no node may be blamed. A line also says so when the network is more likely
 * to blame than the node, and when reports in its name are rejected. */
#include <beoboard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Problems with which no job should start on a node; with others it may be used. */
#define BIT(problem) (1 << BEOBOARD_PROBLEM_##problem)
#define FATAL (BIT(HELD) | BIT(BAD_HEALTH) | BIT(ROOT_READONLY) | BIT(MEMORY_ERRORS) | BIT(GPU_LOST) | BIT(GPU_ERRORS))

/* Why a live node may not be used, though. */
static const char *objection(const beoboard *b, const char *name) {
  const int problems = beoboard_problems(b, beoboard_index(b, name));
  if (problems < 0) return beoboard_strerror(problems);
  for (int i = 0; i < BEOBOARD_NPROBLEMS; i++)
    if ((problems & FATAL & 1 << i) != 0) return beoboard_problem_text(i);
  return NULL;
}

/* Why a node is not heard, as far as that is known: its link is down, or fell dark with all of its nodes, or reports in
 * its name are rejected. */
static void explain(const beoboard *b, const char *name) {
  struct beoboard_node node;
  struct beoboard_link links[BEOBOARD_LINKS_MAX];
  struct beoboard_refusal refusal;
  const int index = beoboard_index(b, name);
  const int n = beoboard_links(b, links, sizeof links[0], BEOBOARD_LINKS_MAX);
  if (beoboard_read(b, index, &node, sizeof node) < 0) return;
  for (int i = 0; i < n; i++) {
    if (node.age_ns < 0 || links[i].number != node.link) continue;
    if ((links[i].flags & BEOBOARD_LINK_F_UP) == 0) printf("; the master's link %s is down", links[i].name);
    else if ((links[i].flags & BEOBOARD_LINK_F_DARK) != 0)
      printf("; %llu nodes on link %s fell together", (unsigned long long)links[i].dark_nodes, links[i].name);
  }
  if (beoboard_last_refusal(b, index, &refusal, sizeof refusal) < 0 || !refusal.is_newer) return;
  const char *reason = beoboard_reason_name((int)refusal.reason);
  printf("; reports in its name are rejected: %s, clock %+.3f s off; they may be recordings",
         reason != NULL ? reason : "?", (double)refusal.skew_us / 1e6);
}

int main(int argc, char **argv) {
  const char *path = NULL;
  int at = 1;
  if (at + 1 < argc && strcmp(argv[at], "-b") == 0) {
    path = argv[at + 1];
    at += 2;
  }
  const int n = argc - at;
  if (n <= 0) {
    fprintf(stderr, "usage: may-start [-b BOARD] NODE...\n");
    return 2;
  }

  beoboard *b;
  const int err = beoboard_open(&b, path, 0);
  if (err < 0) {
    fprintf(stderr, "may-start: %s\n", beoboard_strerror(err));
    return 4;
  }
  const char *const *names = (const char *const *)(argv + at);
  int8_t *states = (int8_t *)malloc((size_t)n);
  /* All by one look at the clock: not one of them judged a second later than another. */
  const int others = states == NULL ? -1 : beoboard_check(b, names, n, states);
  if (others < 0) {
    fprintf(stderr, "may-start: %s\n", states == NULL ? "out of memory" : beoboard_strerror(others));
    free(states);
    beoboard_close(b);
    return 4;
  }
  int may = 1;
  for (int i = 0; i < n; i++) {
    const char *why = states[i] < 0                 ? "not on the board"
                      : states[i] != BEOBOARD_LIVE ? beoboard_state_name(states[i])
                                                   : objection(b, names[i]);
    if (why == NULL) continue;
    printf("%s: %s", names[i], why);
    if (states[i] == BEOBOARD_SILENT || states[i] == BEOBOARD_UNCERTAIN || states[i] == BEOBOARD_NEVER)
      explain(b, names[i]);
    printf("\n");
    may = 0;
  }
  free(states);
  beoboard_close(b);
  return may ? 0 : 1;
}

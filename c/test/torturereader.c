/* Looks at a board through libbeoboard as a scheduler would, fifty times a second until it is killed, and prints what
 * it saw. For the torture (test/torture/). One line a look, with times of CLOCK_MONOTONIC in ns:
 *   ready NOW TOOK HEARTBEAT LISTENING_SINCE STALLED { NAME:STATE:SEQ:WHOLE:LINK:HEARTBEAT:SINCE:SINCE_AFTER }
 *   -ERRNO NOW        there is no board to be read; `retired NOW`: only one whose successor has not been found yet
 * WHOLE: whether both reports that it has of the node match the checksums that lie in them in place of a tag. Behind it
 * the number of the node's link, and what is known of that: before the nodes were looked at, and since when it is
 * listened to, after that once more. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../lib/internal.h"

#define EVERY_NS 20000000
#define MOST_NODES 64

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* FNV-1a over all but the tag. */
static bool is_whole(const struct beoboard_slot *slot) {
  const struct beoboard_report *report = &slot->report;
  if (slot->number == 0 || report->auth_alg == BEOBOARD_AUTH_ALG_NONE) return true;
  uint32_t told, h = UINT32_C(0x811c9dc5);
  for (size_t i = 0; i < offsetof(struct beoboard_report, tag); i++)
    h = (h ^ ((const uint8_t *)report)[i]) * UINT32_C(0x01000193);
  memcpy(&told, report->tag, sizeof told);
  return told == h;
}

static void tell(const beoboard *b) {
  static struct beoboard_node nodes[MOST_NODES];
  static struct beoboard_slot slots[MOST_NODES][2];
  struct beoboard_receiver receiver;
  /* By the coarse clock, as the library may have it: what that says before is no later than what the library goes by,
   * however far a busy machine lets it fall behind. */
  const int64_t before = clock_ns(CLOCK_MONOTONIC_COARSE);
  struct bb_link_evidence by[BB_LINKS], after[BB_LINKS];
  beoboard_receiver(b, &receiver, sizeof receiver);
  load_links(&b->board, by);
  const int count = beoboard_read_all(b, nodes, sizeof nodes[0], 0, MOST_NODES);
  load_links(&b->board, after);
  memset(slots, 0, sizeof slots);
  for (int i = 0; i < count; i++)
    /* overwritten in a burst: again */
    while (beoboard_reports(b, i, &slots[i][0], &slots[i][1], sizeof slots[i][0]) < 0) {
    }
  if (receiver.flags & BEOBOARD_F_RETIRED) {
    printf("retired %" PRId64 "\n", before);
    return;
  }
  const int64_t heartbeat = before - receiver.heartbeat_age_ns;
  printf("ready %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d", before, clock_ns(CLOCK_MONOTONIC) - before,
         heartbeat, heartbeat - receiver.listened_ns, (receiver.flags & BEOBOARD_F_STALLED) != 0);
  for (int i = 0; i < count; i++) {
    const struct beoboard_slot *s = slots[i];
    const int64_t seq = s[0].number == 0 ? -1 : (int64_t)s[0].report.seq;
    const uint32_t link = nodes[i].link;
    printf(" %s:%s:%" PRId64 ":%d:%u:%" PRIu64 ":%" PRIu64 ":%" PRIu64, nodes[i].name,
           beoboard_state_name((int)nodes[i].state), seq, is_whole(&s[0]) && is_whole(&s[1]), link,
           by[link].heartbeat_ns, by[link].listening_since_ns, after[link].listening_since_ns);
  }
  putchar('\n');
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  beoboard *b = NULL;
  for (;;) {
    int error = 0;
    if (b == NULL) error = beoboard_open(&b, argv[1], 0);
    else beoboard_refresh(b); /* where there is none to go over to, it answers from the one that it has */
    if (error < 0) printf("%d %" PRId64 "\n", error, clock_ns(CLOCK_MONOTONIC));
    else tell(b);
    if (fflush(stdout) != 0) return 0; /* whoever started us is gone */
    const struct timespec pause = {0, EVERY_NS};
    nanosleep(&pause, NULL);
  }
}

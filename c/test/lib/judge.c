/* The rule of liveness and the scan of the column, apart from any board.
 *   judge                 reads rows "now heartbeat uncertain silent flags link link's-heartbeat link's-since stamp
 *   interval goodbye" (ns, ms),
 *                         writes a state each; a stamp of -1 is not a report. Tried as a stamp, and as a word of the
 *                         column where it is whole ms.
 *   judge scan SEED N     compares the scan with N rows judged one by one; prints a line, exits with 0 when they agree
 *   */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/live.c"

/* Asked for by what is not tried here. */
int64_t bb_find(const beoboard *b, const char *name) {
  (void)b;
  (void)name;
  return -1;
}

/* What is known of all links: of this one as given, and of all others what would make anybody silent, or nobody at
 * all. */
static void fill(struct bb_link_evidence all[BB_LINKS], unsigned link, struct bb_link_evidence by, uint64_t now) {
  for (unsigned i = 0; i < BB_LINKS; i++)
    all[i] = i % 2 == 0 ? (struct bb_link_evidence){now, 0} : (struct bb_link_evidence){0, now};
  all[link] = by;
}

static int read_rows(void) {
  struct evidence e;
  struct bb_link_evidence by, all[BB_LINKS];
  int64_t stamp, now;
  uint32_t interval, link;
  int goodbye;
  while (scanf("%" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64
               " %" SCNd64 " %" SCNu32 " %d",
               &now, &e.heartbeat, &e.uncertain_after, &e.silent_after, &e.flags, &link, &by.heartbeat_ns,
               &by.listening_since_ns, &stamp, &interval, &goodbye) == 11) {
    e.now = (uint64_t)now;
    fill(all, link % BB_LINKS, by, e.now);
    bool is_ahead = false;
    int state = stamp < 0 ? BEOBOARD_NEVER
                          : judge(&e, evidence_by(all, link), (uint64_t)stamp, interval, goodbye != 0, &is_ahead);
    if (stamp > 0 && (uint64_t)stamp % NS_PER_MS == 0 && link < BB_LINKS) {
      const uint64_t word = BB_COLUMN((uint64_t)stamp / NS_PER_MS, link, interval, goodbye);
      const int other = judge_word(&e, evidence_by(all, link_of(word)), word, &is_ahead);
      if (other != state) state = 100 + other;
    }
    printf("%d\n", is_unknown(&e) ? BEOBOARD_UNKNOWN : state);
  }
  return 0;
}

static uint64_t seed;
static uint64_t next_random(void) { /* xorshift64 */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

/* A word as boards have them, mostly of a node that is live, sometimes at an edge, sometimes any at all. */
static uint64_t random_word(const struct evidence *e, unsigned spoiled) {
  static const uint32_t intervals[] = {100, 250, 999, 1000, 1001, 1023, 2000, 10000, 600000, 0xfffff};
  uint64_t age = next_random() % 1200;
  uint64_t interval = 1000, goodbye = 0;
  if (next_random() % 100 < spoiled) {
    switch (next_random() % 7) {
      case 0: return next_random();
      case 1: return 0;
      case 2: goodbye = 1; break;
      case 3: interval = intervals[next_random() % (sizeof intervals / sizeof intervals[0])]; break;
      case 4: age = e->uncertain_after / NS_PER_MS - 3 + next_random() % 6; break;
      case 5: age = (uint64_t)0 - next_random() % 1200; break;
      default: age = next_random() % 20000; break;
    }
  }
  /* Mostly of a few links, as a master has them. */
  const uint64_t link = next_random() % 4 == 0 ? next_random() % BB_LINKS : 1 + next_random() % 2;
  return BB_COLUMN(e->now / NS_PER_MS - age, link, interval, goodbye);
}

static int compare_scans(uint64_t rounds) {
  static const uint64_t limits[] = {100000000,  500000000,     1000000000,     4500000000, 4096000000,
                                    4097000000, 3600000000000, 86400000000000, 0,          UINT64_MAX};
  enum { MOST = 100 };
  static uint64_t words[MOST * 2];
  uint64_t nodes = 0, live = 0, silent[BB_LINKS] = {0};
  for (uint64_t round = 0; round < rounds; round++) {
    /* seldom more than a word holds */
    struct evidence e = {.now = round % 8 == 0 ? next_random() % 20000000000 : next_random() % (UINT64_C(1) << 58)};
    e.heartbeat = e.now - next_random() % 100000000;
    e.uncertain_after = limits[next_random() % (sizeof limits / sizeof limits[0])];
    e.silent_after = e.uncertain_after * 2;
    /* Of every link something else: some have just begun, some stand, some have no gaps for long. */
    struct bb_link_evidence links[BB_LINKS] = {{0, 0}};
    for (unsigned i = 1; i < BB_LINKS; i++) {
      links[i].heartbeat_ns = e.now - next_random() % (next_random() % 2 == 0 ? 100000000 : 30000000000);
      links[i].listening_since_ns = next_random() % 2 == 0 ? 0 : e.now - next_random() % 20000000000;
    }
    const uint64_t n = next_random() % MOST;
    const size_t stride = next_random() % 2 == 0 ? 8 : 16;
    const unsigned spoiled = (unsigned)(next_random() % 4 == 0 ? next_random() % 100 : next_random() % 3);
    for (uint64_t i = 0; i < n; i++) words[i * stride / 8] = random_word(&e, spoiled);
    int counts[BEOBOARD_NSTATES] = {0}, wanted[BEOBOARD_NSTATES] = {0};
    bool is_ahead = false, was_ahead = false;
    scan((const uint8_t *)words, stride, n, &e, links, counts, &is_ahead);
    for (uint64_t i = 0; i < n; i++) {
      const uint64_t word = words[i * stride / 8];
      wanted[judge_word(&e, evidence_by(links, link_of(word)), word, &was_ahead)]++;
      silent[link_of(word)] += judge_word(&e, evidence_by(links, link_of(word)), word, &was_ahead) == BEOBOARD_SILENT;
    }
    if (memcmp(counts, wanted, sizeof counts) != 0 || is_ahead != was_ahead) {
      printf("round %" PRIu64 ": the scan counts %d live, one by one there are %d\n", round, counts[BEOBOARD_LIVE],
             wanted[BEOBOARD_LIVE]);
      return 1;
    }
    nodes += n;
    live += (uint64_t)counts[BEOBOARD_LIVE];
  }
  for (unsigned i = 0; i < BB_LINKS; i++)
    if ((silent[i] == 0) != (i == BB_LINK_UNKNOWN)) {
      printf("of link %u %" PRIu64 " nodes were silent\n", i, silent[i]);
      return 1;
    }
  printf("%" PRIu64 " nodes, %" PRIu64 " live\n", nodes, live);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 1) return read_rows();
  if (argc != 4) return 2;
  seed = strtoull(argv[2], NULL, 10) * 2 + 1;
  return compare_scans(strtoull(argv[3], NULL, 10));
}

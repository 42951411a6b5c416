/* The rule of liveness by a table of times, and the scan of the column by that rule. SEED=n makes other boards. */
#include <inttypes.h>
#include <stdlib.h>

#include "../../lib/live.c"
#include "check.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)
#define NOW (1000 * S)

/* Ages of what a look finds, ns: of the receiver's heartbeat, the link's, its listening, the report. */
static const struct {
  const char *what;
  int64_t heartbeat, link_heartbeat, listening, stamp;
  uint32_t interval_ms;
  bool goodbye;
  int state;
} rows[] = {
  {"just reported", 0, 0, 900 * S, 0, 1000, false, BEOBOARD_LIVE},
  {"on the first limit", 0, 0, 900 * S, 4500 * MS, 1000, false, BEOBOARD_LIVE},
  {"beyond it", 0, 0, 900 * S, 4500 * MS + 1, 1000, false, BEOBOARD_UNCERTAIN},
  {"on the second limit", 0, 0, 900 * S, 10500 * MS, 1000, false, BEOBOARD_UNCERTAIN},
  {"beyond it", 0, 0, 900 * S, 10500 * MS + 1, 1000, false, BEOBOARD_SILENT},
  {"beyond it now, not at the link's heartbeat", 0, 2, 900 * S, 10500 * MS + 1, 1000, false, BEOBOARD_UNCERTAIN},
  {"nobody listened for so long", 0, 0, 10500 * MS, 20 * S, 1000, false, BEOBOARD_UNCERTAIN},
  {"and a moment longer", 0, 0, 10500 * MS + 1, 20 * S, 1000, false, BEOBOARD_SILENT},
  {"before the link began to listen", 0, 0, 5 * S, 900 * S, 1000, false, BEOBOARD_UNCERTAIN},
  {"an interval of ten seconds: on its first limit", 0, 0, 900 * S, 45 * S, 10000, false, BEOBOARD_LIVE},
  {"beyond it", 0, 0, 900 * S, 45 * S + 1, 10000, false, BEOBOARD_UNCERTAIN},
  {"on its second", 0, 0, 900 * S, 105 * S, 10000, false, BEOBOARD_UNCERTAIN},
  {"beyond that", 0, 0, 900 * S, 105 * S + 1, 10000, false, BEOBOARD_SILENT},
  {"an interval of a tenth: the limits of a second", 0, 0, 900 * S, 4500 * MS, 100, false, BEOBOARD_LIVE},
  {"a goodbye", 0, 0, 900 * S, 0, 1000, true, BEOBOARD_LEFT},
  {"a goodbye long ago", 0, 0, 900 * S, 900 * S, 1000, true, BEOBOARD_LEFT},
  {"a stamp a little ahead", 0, 0, 900 * S, -S, 1000, false, BEOBOARD_LIVE},
  {"a stamp of another clock", 0, 0, 900 * S, -S - 1, 1000, false, BEOBOARD_UNCERTAIN},
  {"the receiver's heartbeat is old", 3 * S, 0, 900 * S, 0, 1000, false, BEOBOARD_LIVE},
  {"too old", 3 * S + 1, 0, 900 * S, 0, 1000, false, BEOBOARD_UNKNOWN},
  {"too old, and the report as well", 3 * S + 1, 0, 900 * S, 900 * S, 1000, false, BEOBOARD_UNKNOWN},
  {"a little ahead", -S, 0, 900 * S, 0, 1000, false, BEOBOARD_LIVE},
  {"of another clock", -S - 1, 0, 900 * S, 0, 1000, false, BEOBOARD_UNKNOWN},
};

static void check_rows(void) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct evidence e = {.now = NOW,
                               .heartbeat = (uint64_t)(NOW - rows[i].heartbeat),
                               .uncertain_after = (uint64_t)(4500 * MS),
                               .silent_after = (uint64_t)(10500 * MS)};
    const struct bb_link_evidence by = {(uint64_t)(NOW - rows[i].link_heartbeat), (uint64_t)(NOW - rows[i].listening)};
    const uint64_t stamp = (uint64_t)(NOW - rows[i].stamp);
    bool is_ahead = false;
    int state = judge(&e, &by, stamp, rows[i].interval_ms, rows[i].goodbye, &is_ahead);
    if (is_unknown(&e)) state = BEOBOARD_UNKNOWN;
    CHECK(state == rows[i].state, "%s (row %zu): state %d", rows[i].what, i, state);
    CHECK(is_ahead == (rows[i].stamp < -S && !rows[i].goodbye), "%s (row %zu): whether it is ahead", rows[i].what, i);
    if (is_unknown(&e) || stamp % NS_PER_MS != 0) continue;
    const uint64_t word = BB_COLUMN(stamp / NS_PER_MS, 1, rows[i].interval_ms, rows[i].goodbye);
    CHECK(judge_word(&e, &by, word, &is_ahead) == state, "%s (row %zu): as a word of the column", rows[i].what, i);
  }
  const struct evidence retired = {.now = NOW, .heartbeat = NOW, .flags = BB_BOARD_STATE_RETIRED};
  CHECK(is_unknown(&retired), "a board that is retired");
  bool is_ahead = false;
  CHECK(judge_word(&retired, &no_evidence, 0, &is_ahead) == BEOBOARD_NEVER, "a word of 0: it never reported");
}

/* By a link without evidence nobody is silent. */
static void check_links(void) {
  const struct evidence e = {NOW, NOW, (uint64_t)(4500 * MS), (uint64_t)(10500 * MS), 0, 0};
  struct bb_link_evidence links[BB_LINKS];
  for (unsigned i = 0; i < BB_LINKS; i++) links[i] = (struct bb_link_evidence){NOW, 0};
  static const uint64_t numbers[] = {0, 1, 2, BB_LINK_OTHERS, BB_LINKS, 1000, UINT64_MAX};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    bool is_ahead = false;
    const int state = judge(&e, evidence_by(links, numbers[i]), NOW - 900 * S, 1000, false, &is_ahead);
    const bool is_link = numbers[i] > 0 && numbers[i] < BB_LINKS;
    CHECK(state == (is_link ? BEOBOARD_SILENT : BEOBOARD_UNCERTAIN), "link %" PRIu64 ": state %d", numbers[i], state);
  }
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

/* The scan counts as the rule does for each word: boards at random. */
static void check_scan(uint64_t rounds) {
  static const uint64_t limits[] = {100000000,  500000000,     1000000000,     4500000000, 4096000000,
                                    4097000000, 3600000000000, 86400000000000, 0,          UINT64_MAX};
  enum { MOST = 100 };
  static uint64_t words[MOST * 2];
  uint64_t nodes = 0, live = 0, silent[BB_LINKS] = {0};
  for (uint64_t round = 0; round < rounds; round++) {
    /* Seldom more than a word holds. */
    struct evidence e = {.now = next_random() % (round % 8 == 0 ? UINT64_C(20000000000) : UINT64_C(1) << 58)};
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
      CHECK(memcmp(counts, wanted, sizeof counts) == 0, "round %" PRIu64 ": %d and %d are live", round,
            counts[BEOBOARD_LIVE], wanted[BEOBOARD_LIVE]);
      CHECK(is_ahead == was_ahead, "round %" PRIu64 ": whether one is ahead", round);
      return;
    }
    nodes += n;
    live += (uint64_t)counts[BEOBOARD_LIVE];
  }
  for (unsigned i = 0; i < BB_LINKS; i++)
    CHECK((silent[i] == 0) == (i == BB_LINK_UNKNOWN), "link %u: %" PRIu64 " were silent", i, silent[i]);
  CHECK(live > nodes / 2 && live < nodes, "%" PRIu64 " of %" PRIu64 " are live", live, nodes);
}

int main(void) {
  const char *text = getenv("SEED");
  const uint64_t given = text == NULL ? 44 : strtoull(text, NULL, 10);
  printf("SEED=%" PRIu64 "\n", given);
  seed = given * 2 + 1;
  check_rows();
  check_links();
  check_scan(100000);
  return checked();
}

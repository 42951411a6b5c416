/* Looks at a board as a scheduler would, by board/reader.h alone: says its state, and how each node is by the column's
 * words, as "Liveness" in proto/board-v2.md has it. Beside that the newest report, by the slots.
 *   look BOARD [OWNER]                 exits with 0; with 4 when there is no board to be read, or a stalled one
 *   look --spoil ROUNDS SEED BOARD     looks so many times at a copy with bytes changed at random, BOARD.spoiled;
 *   prints how
 *                                      many of them were read and refused. For the sanitizers. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "snapshot.h"

#define MOST_BYTES ((size_t)1 << 30) /* a scheduler has other uses for its memory */
#define MOST_SHOWN 4

static volatile uint64_t seen; /* what was looked at, so that no compiler leaves it out */

/* One node by the snapshot. */
struct node {
  const struct bb_record *record;
  const struct bb_slot *newest; /* NULL: no whole slot */
  uint64_t word;
};

static bool is_stalled(const struct bb_board_header *h, const struct bb_look *look) {
  const int64_t age = (int64_t)((uint64_t)look->now_ns - h->heartbeat_ns);
  return age > BB_STALLED_NS || age < -BB_AHEAD_NS;
}

static uint64_t limit_ms(const struct bb_board_header *h, uint64_t limit_ns, uint64_t interval_ms) {
  const uint64_t limit = limit_ns / 1000000, said = h->longest_interval_ms,
                 longest = said != 0 && said < 60000 ? 60000 : said;
  if (longest != 0 && interval_ms > longest) interval_ms = longest;
  return interval_ms > 1000 ? limit * interval_ms / 1000 : limit;
}

static const char *state_of(const struct bb_board_header *h, const struct bb_look *look, uint64_t word) {
  const uint64_t stamp = word >> 26, link = word >> 21 & 31, interval = word >> 1 & 0xfffff,
                 now = (uint64_t)look->now_ns / 1000000;
  if (is_stalled(h, look) || (h->state & BB_BOARD_STATE_RETIRED)) return "unknown";
  if (word == 0) return "never";
  if (word & 1) return "left";
  if (stamp > now + (uint64_t)BB_AHEAD_NS / 1000000) return "uncertain";
  if (stamp >= now || now - stamp <= limit_ms(h, h->uncertain_after_ns, interval)) return "live";
  if (link == 0) return "uncertain";
  const uint64_t heartbeat = h->evidence[link].heartbeat_ns / 1000000,
                 since = h->evidence[link].listening_since_ns / 1000000;
  const uint64_t from = stamp > since ? stamp : since;
  return heartbeat > from && heartbeat - from > limit_ms(h, h->silent_after_ns, interval) ? "silent" : "uncertain";
}

static struct node node_at(const struct bb_board *b, const uint8_t *copy, const struct bb_look *look, uint64_t i) {
  const struct bb_board_header *h = &b->header;
  const uint8_t *column = copy + h->header_bytes;
  const uint8_t *record = column + look->nodes * h->column_stride + i * h->record_stride;
  struct node node = {.record = (const struct bb_record *)record};
  memcpy(&node.word, column + i * h->column_stride, sizeof node.word);
  for (size_t k = 0; k < 2; k++) {
    const struct bb_slot *slot = (const struct bb_slot *)(record + h->slots_offset + k * h->slot_stride);
    if (slot->head != 0 && (node.newest == NULL || slot->head > node.newest->head)) node.newest = slot;
  }
  return node;
}

/* A text of a board, which may hold anything. */
static void print_name(const char *name, size_t size) {
  for (size_t i = 0; i < size && name[i] != 0; i++)
    if (name[i] > ' ' && name[i] <= '~' && name[i] != '\\') putchar(name[i]);
    else printf("\\x%02x", (uint8_t)name[i]);
}

static void print_node(const struct bb_board_header *h, const struct bb_look *look, const struct node *node,
                       bool found) {
  print_name(node->record->name, sizeof node->record->name);
  printf(" %s%s", found ? "" : "(not found by its name) ", state_of(h, look, node->word));
  if (node->newest == NULL) {
    printf(", no report\n");
    return;
  }
  const struct bb_report *report = &node->newest->report;
  printf(", report %" PRIu32 " of ", report->seq);
  print_name(report->hostname, sizeof report->hostname);
  printf("\n");
}

/* Everything of a snapshot is looked at; `show`: and the first of it told. Whether the board was stalled. */
static bool tell(const struct bb_board *b, const uint8_t *copy, const struct bb_look *look, bool show) {
  const struct bb_board_header *h = (const struct bb_board_header *)copy;
  const bool stalled = is_stalled(h, look);
  if (show) printf("ready%s, %" PRIu64 " nodes\n", stalled ? ", stalled" : "", look->nodes);
  for (uint64_t i = 0; i < look->nodes; i++) {
    const struct node node = node_at(b, copy, look, i);
    char name[sizeof node.record->name + 1] = {0};
    memcpy(name, node.record->name, sizeof node.record->name);
    const bool found = bb_board_find(b, name) == (int64_t)i;
    if (show && i < MOST_SHOWN) print_node(h, look, &node, found);
    seen += (uint8_t)*state_of(h, look, node.word) + strnlen(node.record->name, sizeof node.record->name);
    if (node.newest != NULL)
      for (size_t at = 0; at < sizeof node.newest->report; at++) seen += ((const uint8_t *)&node.newest->report)[at];
  }
  if (show && look->nodes > MOST_SHOWN) printf("and %" PRIu64 " more\n", look->nodes - MOST_SHOWN);
  return stalled;
}

/* The tables beside the nodes: nothing of them is told, and all of it is looked at. */
static void look_around(const struct bb_board *b) {
  static struct bb_link_copy links[BB_LINKS];
  static struct bb_sender senders[BB_SENDERS];
  static struct bb_event events[64];
  uint32_t numbers[BB_LINKS];
  uint64_t first = 0;
  const int n = bb_board_links(b, links, numbers);
  for (int i = 0; i < n; i++) seen += strnlen(links[i].link.name, sizeof links[i].link.name) + numbers[i];
  if (bb_board_senders(b, senders) == 0)
    for (int i = 0; i < BB_SENDERS; i++) seen += senders[i].count + strnlen(senders[i].name, sizeof senders[i].name);
  const int told = bb_board_events(b, &first, events, 64);
  for (int i = 0; i < told; i++) seen += events[i].kind;
}

enum outcome { READ, STALLED, NOT_READ };

/* One look at a path. */
static enum outcome look_at(const char *path, uid_t owner, bool show) {
  struct bb_board board;
  char why[256];
  const enum bb_state state = bb_board_open(&board, path, owner, why, sizeof why);
  if (state != BB_READY) {
    if (show) printf("%s: %s: %s\n", path, bb_state_names[state], why);
    return NOT_READ;
  }
  enum outcome outcome = NOT_READ;
  struct bb_look look;
  const size_t room = bb_board_snapshot_bytes(&board);
  uint8_t *copy = room <= MOST_BYTES ? (uint8_t *)aligned_alloc(64, (room + 63) / 64 * 64) : NULL;
  const bool taken = copy != NULL && bb_board_snapshot(&board, copy, room, 0, &look) == 0;
  look_around(&board);
  if (taken) outcome = tell(&board, copy, &look, show) ? STALLED : READ;
  else if (show) printf("%s: %s; a copy needs %zu MiB\n", path, copy == NULL ? "too large" : "cut short", room >> 20);
  free(copy);
  bb_board_close(&board);
  return outcome;
}

static uint64_t next(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* Where a byte is changed: every second time in the part of the header by which all else is found. */
static size_t anywhere(uint64_t *seed, size_t bytes) {
  return next(seed) % 2 == 0 ? next(seed) % 256 : next(seed) % bytes;
}

static int spoil(const char *path, uint32_t rounds, uint64_t seed) {
  static uint8_t good[1 << 20], bad[sizeof good];
  char spoiled[4096];
  snprintf(spoiled, sizeof spoiled, "%s.spoiled", path);
  const int from = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = from < 0 ? -1 : read(from, good, sizeof good);
  const int to = open(spoiled, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (bytes < BB_BOARD_HEADER_BYTES || to < 0) {
    fprintf(stderr, "look: cannot read %s, or cannot write %s\n", path, spoiled);
    return 1;
  }
  uint32_t ready = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    memcpy(bad, good, (size_t)bytes);
    for (uint64_t k = next(&seed) % 4; k > 0; k--) bad[anywhere(&seed, (size_t)bytes)] = (uint8_t)next(&seed);
    /* And one whole field: a byte alone seldom makes a number that is almost right. */
    const uint64_t values[] = {
        0, 1, 8, 12, 1024, (uint64_t)bytes - 8, (uint64_t)bytes, UINT32_MAX, UINT64_MAX - 7, UINT64_MAX};
    const size_t width = next(&seed) % 2 == 0 ? 4 : 8;
    memcpy(bad + anywhere(&seed, (size_t)bytes) / width * width, &values[next(&seed) % 10], width);
    if (pwrite(to, bad, (size_t)bytes, 0) != bytes) return 1;
    ready += look_at(spoiled, (uid_t)-1, false) != NOT_READ;
  }
  printf("%" PRIu32 " looks, %" PRIu32 " boards were read\n", rounds, ready);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--spoil") == 0)
    return spoil(argv[4], (uint32_t)strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10) * 2 + 1);
  if (argc != 2 && argc != 3) return 2;
  return look_at(argv[1], argc == 3 ? (uid_t)strtoul(argv[2], NULL, 10) : (uid_t)-1, true) == READ ? 0 : 4;
}

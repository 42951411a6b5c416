/* A board in a folder of its own: laid, read, closed, taken over, its nodes forgotten. */
#include "../../board/hearing.h"
#include "../../board/writer.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../board/arrival.h"
#include "../../board/linktable.h"
#include "../../board/reader.h"
#include "../../rules/order.h"
#include "../snapshot.h"
#include "check.h"

#define S INT64_C(1000000000)
#define NOW (20 * S) /* early: the machine may have just been booted */
#define REAL (1700000000 * S)

static char folder[100], path[120], why[500];

static struct bb_writer_options options_of(uint32_t capacity) {
  return (struct bb_writer_options){.path = path,
                                    .cluster_name = "",
                                    .capacity = capacity,
                                    .uncertain_after_ns = 4500000000,
                                    .silent_after_ns = 10500000000,
                                    .clock_window_ns = BB_CLOCK_WINDOW_OFF};
}

static struct bb_writer *open_writer(const struct bb_writer_options *options) {
  struct bb_writer *w = bb_writer_open(options, why, sizeof why);
  CHECK(w != NULL, "opened: %s", why);
  if (w == NULL) exit(checked());
  return w;
}

static struct bb_report report_of(const char *name, uint32_t seq) {
  struct bb_report r = {.magic = BB_STAT_MAGIC, .version = BB_STAT_VERSION, .length = BB_REPORT_BYTES, .boot_id = 1};
  r.seq = seq;
  r.interval_ms = 1000;
  r.start_boot_ns = 50;
  r.t_boot_ns = (uint64_t)(100 * S + seq * S);
  r.t_real_ns = (uint64_t)(REAL + seq * S);
  memcpy(r.hostname, name, strlen(name));
  return r;
}

/* Delivers it when it was made. */
static int deliver(struct bb_writer *w, const struct bb_report *r, size_t length) {
  struct bb_arrival arrival = {.stamp_ns = NOW + r->seq * S, .stamp_real_ns = REAL + r->seq * S, .interface = "eth0"};
  arrival.link = bb_links_find(bb_writer_links(w), "eth0", false);
  return bb_writer_deliver(w, (const uint8_t *)r, length, &arrival);
}

static int deliver_seq(struct bb_writer *w, const char *name, uint32_t seq) {
  const struct bb_report r = report_of(name, seq);
  return deliver(w, &r, sizeof r);
}

/* A copy of the record of that name as a reader finds it; `seq`: the number of its newest report, or -1. */
static bool read_node(const char *name, struct bb_record *record, int64_t *seq) {
  struct bb_board board;
  struct bb_look look;
  if (bb_board_open(&board, path, (uid_t)-1, why, sizeof why) != BB_READY) {
    CHECK(false, "a reader opens it: %s", why);
    return false;
  }
  const size_t bytes = bb_board_snapshot_bytes(&board);
  uint8_t *const copy = malloc(bytes);
  const int64_t number = bb_board_find(&board, name);
  CHECK(bb_board_snapshot(&board, copy, bytes, 0, &look) == 0, "a reader copies it");
  if (number >= 0) {
    const struct bb_board_header *const h = &board.header;
    const uint8_t *at = copy + h->header_bytes + look.nodes * h->column_stride + (uint64_t)number * h->record_stride;
    memcpy(record, at, sizeof *record);
    *seq = -1;
    uint64_t newest = 0;
    for (int i = 0; i < 2; i++) {
      const struct bb_slot *slot = (const struct bb_slot *)(at + h->slots_offset + (size_t)i * h->slot_stride);
      if (slot->head > newest) *seq = slot->report.seq;
      if (slot->head > newest) newest = slot->head;
    }
  }
  free(copy);
  bb_board_close(&board);
  return number >= 0;
}

/* What is delivered in turn, its fate, and what the record of node1 has counted then. */
static const struct {
  const char *what;
  uint64_t boot_id, start_boot_ns;
  uint32_t seq;
  int fate;
  uint64_t accepted, lost, duplicate, late, refused, restarts, reboots;
} rows[] = {
  {"the first", 1, 50, 10, BB_OUTCOME_ACCEPTED, 1, 0, 0, 0, 0, 0, 0},
  {"the next", 1, 50, 11, BB_OUTCOME_ACCEPTED, 2, 0, 0, 0, 0, 0, 0},
  {"the same once more", 1, 50, 11, BB_OUTCOME_DUPLICATE, 2, 0, 1, 0, 0, 0, 0},
  {"one after a gap", 1, 50, 14, BB_OUTCOME_ACCEPTED, 3, 2, 1, 0, 0, 0, 0},
  {"one of the gap", 1, 50, 12, BB_REASON_LATE, 3, 1, 1, 1, 1, 0, 0},
  {"another boot", 2, 50, 15, BB_REASON_RIVAL, 3, 1, 1, 1, 2, 0, 0},
  {"another run", 1, 60, 15, BB_OUTCOME_ACCEPTED, 4, 1, 1, 1, 2, 1, 0},
  {"another boot, when it is uncertain", 2, 50, 20, BB_OUTCOME_ACCEPTED, 5, 1, 1, 1, 2, 1, 1},
};

static void check_counts(void) {
  const struct bb_writer_options options = options_of(2);
  struct bb_writer *const w = open_writer(&options);
  bb_writer_resumed(w, 0); /* it has been listening since long before */
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bb_report r = report_of("node1", rows[i].seq);
    r.boot_id = rows[i].boot_id;
    r.start_boot_ns = rows[i].start_boot_ns;
    const int fate = deliver(w, &r, sizeof r);
    CHECK(fate == rows[i].fate, "%s: fate %d", rows[i].what, fate);
    struct bb_record record;
    int64_t seq;
    if (!CHECK(read_node("node1", &record, &seq), "%s: it has a record", rows[i].what)) break;
    CHECK(record.accepted == rows[i].accepted && record.lost == rows[i].lost && record.duplicate == rows[i].duplicate &&
            record.late == rows[i].late && record.refused == rows[i].refused && record.restarts == rows[i].restarts &&
            record.reboots == rows[i].reboots && record.unheard == 0 && record.resets == 0,
          "%s: what is counted", rows[i].what);
    if (fate == BB_OUTCOME_ACCEPTED) CHECK(seq == rows[i].seq, "%s: %lld is the newest", rows[i].what, (long long)seq);
    if (fate > 0) CHECK(record.refusal_reason == (uint64_t)fate, "%s: why the last one was refused", rows[i].what);
  }
  const struct bb_board_header *const h = bb_writer_header(w);
  CHECK(h->received == 8 && h->accepted == 5 && h->duplicate == 1, "of the board");
  CHECK(h->refused[BB_REASON_LATE] == 1 && h->refused[BB_REASON_RIVAL] == 1, "by reason");
  CHECK(h->links_used == 1 && bb_links_find(bb_writer_links(w), "eth0", false) == 1, "one link");
  CHECK(bb_links_find(bb_writer_links(w), "eth0", true) == BB_LINK_UNKNOWN, "none for what comes in pieces");

  const struct bb_report valid = report_of("node1", 30);
  CHECK(deliver(w, &valid, sizeof valid - 1) == BB_REASON_SIZE, "cut short");
  struct bb_report r = report_of("node2", 0);
  r.cluster_id = 1;
  CHECK(deliver(w, &r, sizeof r) == BB_REASON_CLUSTER, "of another cluster");
  CHECK(deliver_seq(w, "node2", 0) == BB_OUTCOME_ACCEPTED && deliver_seq(w, "node3", 0) == BB_REASON_FULL, "full");
  r = report_of("node1", 31);
  r.interval_ms = 0;
  CHECK(deliver(w, &r, sizeof r) == BB_REASON_INTERVAL, "its interval");
  struct bb_record record;
  int64_t seq;
  CHECK(read_node("node1", &record, &seq) && record.refused == 3 && seq == 20, "which its record has, too");
  CHECK(!read_node("node3", &record, &seq), "no record for what did not fit");
  bb_writer_close(w);
}

static void check_take_over(void) {
  struct bb_writer_options options = options_of(2);
  struct bb_writer *w = open_writer(&options);
  const struct bb_board_header *h = bb_writer_header(w);
  const uint64_t instance = h->instance;
  struct bb_record record;
  int64_t seq;
  CHECK(h->count == 2 && read_node("node1", &record, &seq) && record.accepted == 5 && seq == 20, "the nodes are there");
  CHECK((h->state & BB_BOARD_STATE_CLOSED) == 0, "it is in use");
  CHECK(bb_writer_open(&options, why, sizeof why) == NULL && strstr(why, "writes") != NULL, "by one only: %s", why);
  CHECK(bb_writer_edit(path, why, sizeof why) == NULL, "nor may it be edited");
  const struct bb_report last = report_of("node1", 20);
  struct bb_report r = last;
  r.boot_id = 2;
  CHECK(deliver(w, &r, sizeof r) == BB_OUTCOME_DUPLICATE, "what had come before is known");
  r.seq = 23;
  r.t_boot_ns += 3 * (uint64_t)S;
  CHECK(deliver(w, &r, sizeof r) == BB_OUTCOME_ACCEPTED && read_node("node1", &record, &seq), "it goes on");
  CHECK(record.unheard == 2 && record.lost == 1, "what came meanwhile was not heard: %llu, %llu",
        (unsigned long long)record.unheard, (unsigned long long)record.lost);
  bb_writer_heartbeat(w, NOW);
  CHECK(h->heartbeat_ns == (uint64_t)NOW && h->instance == instance, "its heartbeat");
  bb_writer_close(w);

  struct bb_board board;
  CHECK(bb_board_open(&board, path, (uid_t)-1, why, sizeof why) == BB_READY, "readable when it is closed");
  CHECK((board.header.state & BB_BOARD_STATE_CLOSED) != 0, "and marked");
  bb_board_close(&board);
  w = open_writer(&options);
  CHECK(bb_writer_header(w)->instance != instance, "another start");
  bb_writer_close(w);
  options.cluster_name = "other";
  options.cluster_id = 1;
  CHECK(bb_writer_open(&options, why, sizeof why) == NULL && strstr(why, "rm ") != NULL, "another cluster: %s", why);
}

static void check_forget(void) {
  struct bb_writer *w = bb_writer_edit(path, why, sizeof why);
  static const char *const names[] = {"node1", "nobody"};
  bool found[2] = {false, true};
  struct bb_record record;
  int64_t seq;
  if (!CHECK(w != NULL, "edited: %s", why)) return;
  CHECK(bb_writer_forget(w, names, 2, found, why, sizeof why) && found[0] && !found[1], "forgotten: %s", why);
  bb_writer_close(w);
  CHECK(!read_node("node1", &record, &seq) && read_node("node2", &record, &seq), "one is gone, one stays");
  CHECK(record.accepted == 1 && seq == 0, "with its report");

  const struct bb_writer_options options = options_of(2);
  w = open_writer(&options);
  CHECK(deliver_seq(w, "node1", 0) == BB_OUTCOME_ACCEPTED, "who was forgotten may come again");
  CHECK(read_node("node1", &record, &seq) && record.accepted == 1 && seq == 0, "as a new one");
  bb_writer_close(w);
}

static void check_node_list(void) {
  static const char *const nodes[] = {"node2", "node4"};
  struct bb_writer_options options = options_of(2);
  options.nodes = nodes;
  options.node_count = 2;
  struct bb_writer *const w = open_writer(&options);
  struct bb_record record;
  int64_t seq;
  CHECK(deliver_seq(w, "node3", 0) == BB_REASON_STRANGER, "who is not listed");
  CHECK(deliver_seq(w, "node2", 1) == BB_OUTCOME_ACCEPTED, "who is");
  CHECK(deliver_seq(w, "node4", 0) == BB_OUTCOME_ACCEPTED, "and never was on the board");
  CHECK(read_node("node2", &record, &seq) && record.accepted == 2 && seq == 1, "with what it had");
  options.nodes = NULL;
  options.node_count = 0;
  options.capacity = 3;
  CHECK(bb_writer_change(w, &options, why, sizeof why), "another capacity: %s", why);
  CHECK(read_node("node2", &record, &seq) && record.accepted == 2 && seq == 1, "on the new board");
  CHECK(deliver_seq(w, "node3", 0) == BB_OUTCOME_ACCEPTED, "and room for one more");
  CHECK(bb_writer_check_path(w, why, sizeof why) == 0, "it is where it was: %s", why);
  unlink(path);
  CHECK(bb_writer_check_path(w, why, sizeof why) == 1, "removed, and published again: %s", why);
  CHECK(read_node("node3", &record, &seq) && seq == 0, "with all nodes");
  bb_writer_close(w);
}

/* With keys: what is not signed as it must be is not laid. */
static void check_keys(void) {
  static const struct bb_key keys[] = {{1, {1}}};
  struct bb_writer_options options = options_of(4);
  options.keys = keys;
  options.key_count = 1;
  options.required = BB_AUTH_ALG_CLUSTER;
  struct bb_writer *const w = open_writer(&options);
  struct bb_report r = report_of("signed", 0);
  CHECK(deliver(w, &r, sizeof r) == BB_REASON_AUTH_MISSING, "not signed");
  r.auth_alg = BB_AUTH_ALG_CLUSTER;
  CHECK(deliver(w, &r, sizeof r) == BB_REASON_KEY_ID, "by a key that nobody knows");
  r.key_id = 1;
  CHECK(deliver(w, &r, sizeof r) == BB_REASON_TAG, "not by this key");
  struct bb_hmac key;
  uint8_t tag[BB_MAC_BYTES];
  bb_hmac_key(&key, keys[0].secret, sizeof keys[0].secret);
  bb_mac(&key, &r, offsetof(struct bb_report, tag), tag);
  memcpy(r.tag, tag, sizeof r.tag);
  CHECK(deliver(w, &r, sizeof r) == BB_OUTCOME_ACCEPTED, "by this key");
  bb_writer_close(w);
}

static void check_places(void) {
  static char place[200];
  struct bb_writer_options options = options_of(2);
  options.path = place;
  sprintf(place, "%s/none/none/board", folder);
  CHECK(bb_writer_open(&options, why, sizeof why) == NULL && strstr(why, "none") != NULL, "no folder for it: %s", why);
  sprintf(place, "%s/", folder);
  CHECK(bb_writer_open(&options, why, sizeof why) == NULL, "a folder: %s", why);
  sprintf(place, "%s/text", folder);
  FILE *const file = fopen(place, "w");
  fputs("a text that somebody wants to keep", file);
  fclose(file);
  CHECK(bb_writer_open(&options, why, sizeof why) == NULL && strstr(why, "is not a board") != NULL, "a file: %s", why);
  unlink(place);
  sprintf(place, "%s/text.lock", folder);
  unlink(place);
}

/* Of an edited board all calls are as of another; and no time on a board that somebody has corrupted overflows. */
static void check_edited(void) {
  struct bb_writer *w = bb_writer_edit(path, why, sizeof why);
  CHECK(w != NULL, "%s", why);
  bb_writer_heartbeat(w, bb_clock_ns(CLOCK_MONOTONIC));
  bb_links_survey(bb_writer_links(w));
  bb_writer_close(w);
  static const uint64_t odd[] = {0, 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 60000000000000, UINT64_MAX};
  for (size_t i = 0; i < sizeof odd / sizeof *odd * 2; i++) {
    struct bb_link_evidence e = {odd[i / 2], i % 2 == 0 ? odd[i / 2] : 1};
    struct bb_hearing h = bb_hearing_inherited(e, 1, 60000000000000);
    const int64_t doubt_ns = bb_hearing_anew(&h, e, 10, 60000000000000);
    CHECK(doubt_ns >= 0 && doubt_ns <= BB_MOST_DOUBT_NS, "%zu: a doubt of %lld ns", i, (long long)doubt_ns);
  }
}

int main(void) {
  const char *const within = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.60s/beoboard-unit.XXXXXX", within == NULL ? "/tmp" : within);
  if (mkdtemp(folder) == NULL) return perror(folder), 1;
  snprintf(path, sizeof path, "%s/board", folder);
  check_counts();
  check_take_over();
  check_forget();
  check_node_list();
  check_keys();
  check_edited();
  check_places();
  char lock[130];
  snprintf(lock, sizeof lock, "%s.lock", path);
  CHECK(unlink(path) == 0 && unlink(lock) == 0 && rmdir(folder) == 0, "nothing else is left");
  return checked();
}

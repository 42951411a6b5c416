/* Every way in which a reader can be interrupted once or twice by a writer that lays reports, is killed in the middle
 * of one or of a takeover, and is followed by another: all in one process, step by step, by hooks in the atomics.
 * Sequentially consistent: what weaker memory adds to this is for the proofs in c/test/proof.
 *   weave BOARD EVERY SEED      takes every so-manieth of the ways; prints a line, exits with 0 when nothing was wrong
 *   */
#include <setjmp.h>

#include "../board/writer.c"
#include "../lib/internal.h"
#include "reports.h"

static struct bb_writer *w;
static struct bb_board board;
static beoboard *handle;
static bool asks_library; /* in place of bb_board_snapshot() */

/* The reader stops before the numbered loads and lets the writer act. Not every load counts: the words within a report
 * are all alike, and of the header only three tell of what the writer does. */
static long loads, pauses[2];
static void (*interrupt)(int pause);
/* The writer is killed before the numbered store. */
static long stores, last_store;
static jmp_buf killed;
static bool is_writing; /* the writer's own loads are not the reader's */

static bool counts(const volatile void *word) {
  const uint8_t *map = asks_library ? handle->board.map : board.map;
  const uint64_t at = (uint64_t)((const volatile uint8_t *)word - map);
  if (at < board.header.header_bytes)
    return at == offsetof(struct bb_board_header, heartbeat_ns) ||
           at == offsetof(struct bb_board_header, listening_since_ns) || at == offsetof(struct bb_board_header, count);
  if (at < board.header.records_offset) return true;
  const uint64_t within = (at - board.header.records_offset) % board.header.record_stride;
  if (within < board.header.slots_offset) return within == 0 || within >= offsetof(struct bb_record, order_head);
  const uint64_t in_slot = (within - board.header.slots_offset) % board.header.slot_stride;
  return in_slot <= 8 || in_slot == 640 || in_slot >= offsetof(struct bb_slot, tail) - 8;
}

void bb_hook(enum bb_hook what, const volatile void *word, uint64_t value, int order) {
  (void)value, (void)order;
  if (what == BB_HOOK_STORE && ++stores == last_store) longjmp(killed, 1);
  if (what != BB_HOOK_LOAD || is_writing || interrupt == NULL || !counts(word)) return;
  loads++;
  for (int i = 0; i < 2; i++)
    if (loads == pauses[i]) {
      is_writing = true;
      interrupt(i);
      is_writing = false;
    }
}

static uint32_t seq[CORE];
static const char *fault; /* of the writer */
static int64_t now;

static void lay(unsigned node) {
  now += 0x10000;
  seq[node]++;
  if (deliver(w, node, seq[node], now) != BB_OUTCOME_ACCEPTED) fault = "a report was not accepted";
}

/* Lays a report, but is killed before the numbered store. */
static void lay_half(unsigned node, long at) {
  stores = 0;
  last_store = at;
  if (setjmp(killed) == 0) lay(node);
  last_store = 0;
}

/* The takeover by another receiver, as far as it writes on records; killed before the numbered store, or not (0). */
static void follow(long at) {
  bb_writer_resumed(w, now + 1);
  stores = 0;
  last_store = at;
  if (setjmp(killed) == 0) {
    if (!bb_repair_index(&w->board)) fault = "a board that cannot be taken over";
    for (uint32_t i = 0; i < w->board.header->count; i++) bb_repair(&w->board, i, bb_clock_ns(CLOCK_MONOTONIC));
  }
  last_store = 0;
}

/* What the writer does while the reader stands still: lays reports; is killed in the middle of one; is followed by
 * another, who is killed in the middle of his takeover, and by a third; who lays reports. 0: not that. */
struct act {
  int before;
  long cut;
  bool is_followed;
  long cut_again;
  int after;
};
static struct act acts[2];

static void act(int pause) {
  const struct act *a = &acts[pause];
  for (int i = 0; i < a->before; i++) lay(0);
  if (a->cut == 0) return;
  lay_half(0, a->cut);
  if (!a->is_followed) return;
  if (a->cut_again > 0) follow(a->cut_again);
  follow(0);
  for (int i = 0; i < a->after; i++) lay(0);
}

static uint8_t *copy, *image;
static size_t room;
static unsigned long looks, ways, every;

/* The board and the clock as they were. */
static uint32_t seq_then[CORE];
static int64_t now_then;

static void keep(void) {
  memcpy(image, w->board.map, w->board.bytes);
  memcpy(seq_then, seq, sizeof seq);
  now_then = now;
}

/* Nobody is refused here, and nothing happens that is told of: of the tables of that, which are most of a board,
 * nothing changes. */
static void restore(void) {
  const size_t from = (size_t)w->board.header->senders_offset, to = (size_t)w->board.header->index_offset;
  memcpy(w->board.map, image, from);
  memcpy(w->board.map + to, image + to, w->board.bytes - to);
  memcpy(seq, seq_then, sizeof seq);
  now = now_then;
}

static void tell(const char *what) {
  printf("%s%s; ", asks_library ? "the library: " : "", what);
  for (int i = 0; i < 2; i++)
    if (pauses[i] > 0)
      printf("before its load %ld the reader stood still for %d reports, one cut before store %ld, %s before store "
             "%ld, %d more; ",
             pauses[i], acts[i].before, acts[i].cut, acts[i].is_followed ? "a takeover cut" : "no takeover",
             acts[i].cut_again, acts[i].after);
  printf("\n");
  exit(1);
}

static const char *look_once(struct memory *m) {
  return asks_library ? ask_library(handle, m) : look_at(&board, copy, room, m);
}

/* A look while the writer acts, and another one after it: nothing may be torn, vanish or go backward since `before`. */
static void weave(const struct memory *before) {
  if (ways++ % every != 0) return;
  struct memory m = *before;
  restore();
  loads = 0;
  fault = NULL;
  interrupt = act;
  const char *found = look_once(&m);
  interrupt = NULL;
  looks++;
  if (found == NULL) found = look_once(&m);
  if (found == NULL) found = fault;
  if (found != NULL) tell(found);
}

/* Some ways to act that differ in what they leave behind; for two interruptions of one look. */
static size_t sketches(struct act *out, long cuts) {
  size_t count = 0;
  const long where[] = {0, 3, 4, 80, cuts / 2 + 70, cuts};
  for (int before = 0; before < 4; before++)
    for (size_t i = 0; i < sizeof where / sizeof where[0]; i++)
      for (int after = -1; after <= (where[i] != 0 ? 1 : -1); after++)
        out[count++] = (struct act){before, where[i], after >= 0, 0, after};
  return count;
}

/* All ways in which a reader who has seen what there is, is interrupted when he looks again. */
static void weave_all(long cuts) {
  struct memory before = {0};
  restore();
  const char *found = look_once(&before);
  if (found != NULL) tell(found);

  /* One interruption, at every load and with every cut. */
  const long most = 60; /* a look that finds nothing whole at once loads more than one that does */
  pauses[1] = 0;
  for (pauses[0] = 1; pauses[0] <= most; pauses[0]++)
    for (int reports = 0; reports < 4; reports++)
      for (long cut = 0; cut <= cuts; cut++)
        for (int after = -1; after <= (cut > 0 ? 2 : -1); after++) {
          acts[0] = (struct act){reports, cut, after >= 0, 0, after};
          weave(&before);
        }
  /* A takeover that is cut short as well. */
  for (pauses[0] = 1; pauses[0] <= most; pauses[0] += 3)
    for (long cut = 2; cut <= cuts; cut += 11)
      for (long again = 1; again <= cuts; again += 5) {
        acts[0] = (struct act){1, cut, true, again, 1};
        weave(&before);
      }
  /* Two interruptions. */
  struct act some[64];
  const size_t count = sketches(some, cuts);
  for (pauses[0] = 1; pauses[0] <= most; pauses[0]++)
    for (pauses[1] = pauses[0] + 1; pauses[1] <= most; pauses[1]++)
      for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
          /* Who was killed and not followed lays nothing more. */
          if (some[i].cut != 0 && !some[i].is_followed) continue;
          acts[0] = some[i];
          acts[1] = some[k];
          weave(&before);
        }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  every = strtoul(argv[2], NULL, 10);
  ways = strtoul(argv[3], NULL, 10);
  now = rounded(bb_clock_ns(CLOCK_MONOTONIC));
  copy = make_room(&room);
  for (int prelude = 0; prelude <= 3; prelude++) {
    char why[256];
    remove(argv[1]);
    w = open_writer(argv[1], 2);
    if (w == NULL || bb_board_open(&board, argv[1], (uid_t)-1, why, sizeof why) != BB_READY) return 2;
    if (beoboard_open(&handle, argv[1], 0) < 0) return 2;
    image = (uint8_t *)malloc(w->board.bytes);
    memset(seq, 0, sizeof seq);
    for (int i = 0; i < prelude; i++) lay(0);
    keep();
    stores = 0;
    lay(0);
    const long cuts = stores + 1; /* the last cut is after the last store */
    asks_library = false;
    weave_all(cuts);
    asks_library = true;
    weave_all(cuts);
    restore();
    if (memcmp(w->board.map, image, w->board.bytes) != 0) tell("a refusal or an event");
    beoboard_close(handle);
    bb_board_close(&board);
    bb_writer_close(w);
    free(image);
  }
  free(copy);
  printf("%lu looks, nothing torn, vanished or backward\n", looks);
  return 0;
}

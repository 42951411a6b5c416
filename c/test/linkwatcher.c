/* Asks libbeoboard for the state of every node of a board again and again, as a scheduler does, and prints what
 * changes: states, links, events, and what the receiver counted as dropped. For tests.
 *   linkwatcher BOARD EVERY_MS      a JSON object in each line, until its input ends
 * Times are CLOCK_MONOTONIC in ns. Where two are told of one thing, they are of the beginning and of the end of a look:
 * heartbeats and listening-since as they stood then, so that those by which the node was judged lie between. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../lib/internal.h"

#define SECOND INT64_C(1000000000)

static beoboard *board;

struct known {
  int state;
  uint64_t word;
};

/* What is told of a link. */
struct link_state {
  uint64_t index, state, changed, downs, nodes, dark_since, dark_nodes, since, address[2];
};

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)(t.tv_sec * SECOND + t.tv_nsec);
}

/* The state of a node, and the word by which it was judged. */
static int look_at(int i, uint64_t *word) {
  for (;;) {
    const uint64_t before = bb_load_acquire(column_of(&board->board, (uint64_t)i));
    const int state = beoboard_state(board, i);
    if (state < 0 && state != -ESTALE) exit(3);
    *word = bb_load_acquire(column_of(&board->board, (uint64_t)i));
    if (*word == before) return state < 0 ? BEOBOARD_UNKNOWN : state;
  }
}

static const struct bb_link *link_at(uint64_t i) {
  const struct bb_board_header *h = header_of(&board->board);
  return (const struct bb_link *)(board->board.map + h->links_offset + i * h->links_stride);
}

static void tell_links(struct link_state told[BB_LINKS]) {
  const struct bb_board_header *h = header_of(&board->board);
  const uint64_t used = bb_load_acquire(&h->links_used);
  for (uint64_t i = 1; i < BB_LINKS; i++) {
    if (i > used && i != BB_LINK_OTHERS) continue;
    const struct bb_link *l = link_at(i);
    const struct bb_link_evidence by = load_link(board, i);
    struct link_state is = {bb_load(&l->index),      bb_load(&l->state),    bb_load(&l->changed_ns),
                            bb_load(&l->downs),      bb_load(&l->nodes),    bb_load(&l->dark_since_ns),
                            bb_load(&l->dark_nodes), by.listening_since_ns, {0}};
    char address[INET6_ADDRSTRLEN];
    memcpy(is.address, l->address, sizeof is.address); /* it may be torn: it is for waiting only */
    inet_ntop(AF_INET6, is.address, address, sizeof address);
    if (memcmp(&is, &told[i], sizeof is) == 0) continue;
    told[i] = is;
    printf("{\"what\":\"link\",\"number\":%" PRIu64 ",\"name\":\"%s\",\"index\":%" PRIu64 ",\"state\":%" PRIu64
           ",\"changed\":%" PRIu64 ",\"downs\":%" PRIu64 ",\"nodes\":%" PRIu64 ",\"darkSince\":%" PRIu64
           ",\"darkNodes\":%" PRIu64 ",\"since\":%" PRIu64 ",\"address\":\"%s\",\"heartbeat\":%" PRIu64
           ",\"at\":%" PRIu64 "}\n",
           i, l->name, is.index, is.state, is.changed, is.downs, is.nodes, is.dark_since, is.dark_nodes, is.since,
           address, by.heartbeat_ns, now());
  }
}

static void tell_events(uint64_t *seen) {
  const struct bb_board_header *h = header_of(&board->board);
  const uint64_t last = bb_load_acquire(&h->event_last);
  if (last - *seen > h->events) *seen = last - h->events;
  for (; *seen < last; ++*seen) {
    const uint64_t number = *seen + 1;
    const struct bb_event *e =
        (const struct bb_event *)(board->board.map + h->events_offset + number % h->events * h->events_stride);
    const struct bb_event copy = {.kind = bb_load(&e->kind),
                                  .stamp_ns = bb_load(&e->stamp_ns),
                                  .subject = bb_load(&e->subject),
                                  .detail = bb_load(&e->detail)};
    if (bb_load_acquire(&e->tail) != 2 * number) continue; /* overwritten */
    printf("{\"what\":\"event\",\"number\":%" PRIu64 ",\"kind\":%" PRIu64 ",\"subject\":%" PRIu64 ",\"detail\":%" PRIu64
           ",\"at\":%" PRIu64 "}\n",
           number, copy.kind, copy.subject, copy.detail, copy.stamp_ns);
  }
}

static void tell_counts(uint64_t told[6]) {
  const struct bb_board_header *h = header_of(&board->board);
  const uint64_t is[6] = {bb_load(&h->kernel_drops), bb_load(&h->unfit_drops),        bb_load(&h->overflows),
                          bb_load(&h->instance),     bb_load(&h->listening_since_ns), bb_load(&h->state)};
  if (memcmp(is, told, sizeof is) == 0) return;
  memcpy(told, is, sizeof is);
  printf("{\"what\":\"counts\",\"kernelDrops\":%" PRIu64 ",\"unfitDrops\":%" PRIu64 ",\"overflows\":%" PRIu64
         ",\"instance\":\"%" PRIu64 "\",\"since\":%" PRIu64 ",\"flags\":%" PRIu64 ",\"at\":%" PRIu64 "}\n",
         is[0], is[1], is[2], is[3], is[4], is[5], now());
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const int error = beoboard_open(&board, argv[1], 0);
  if (error < 0) {
    fprintf(stderr, "linkwatcher: %s: %s\n", argv[1], beoboard_strerror(error));
    return 1;
  }
  const uint32_t capacity = board->board.header.capacity;
  struct known *nodes = (struct known *)calloc(capacity, sizeof *nodes);
  struct known *seen = (struct known *)calloc(capacity, sizeof *seen);
  if (nodes == NULL || seen == NULL) return 1;
  struct link_state told[BB_LINKS] = {0};
  uint64_t counts[6] = {0}, event = 0, looks = 0, late = 0;
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  /* The last look is whole, so that it shows what there was at the end. */
  for (bool last = false; !last; looks++) {
    last = poll(&input, 1, looks == 0 ? 0 : atoi(argv[2])) > 0;
    const uint64_t began = now();
    late += from_to(bb_load_acquire(&header_of(&board->board)->heartbeat_ns), began) > SECOND / 5;
    struct bb_link_evidence then[BB_LINKS], by[BB_LINKS];
    load_links(&board->board, then);
    const int count = beoboard_count(board);
    for (int i = 0; i < count; i++) seen[i].state = look_at(i, &seen[i].word);
    const uint64_t ended = now();
    load_links(&board->board, by);
    for (int i = 0; i < count; i++) {
      const unsigned link = link_of(seen[i].word);
      const bool moved = link != link_of(nodes[i].word);
      const int from = nodes[i].state;
      nodes[i] = seen[i];
      if (seen[i].state == from && !moved) continue;
      char name[BEOBOARD_NAME_MAX];
      if (beoboard_name(board, i, name, sizeof name) < 0) return 3;
      printf("{\"what\":\"state\",\"name\":\"%s\",\"from\":\"%s\",\"to\":\"%s\",\"link\":%u,\"stamp\":%" PRIu64
             ",\"began\":%" PRIu64 ",\"ended\":%" PRIu64 ",\"heartbeat\":[%" PRIu64 ",%" PRIu64 "],\"since\":[%" PRIu64
             ",%" PRIu64 "]}\n",
             name, beoboard_state_name(from), beoboard_state_name(seen[i].state), link, stamp_of(seen[i].word), began,
             ended, then[link].heartbeat_ns, by[link].heartbeat_ns, then[link].listening_since_ns,
             by[link].listening_since_ns);
    }
    tell_links(told);
    tell_events(&event);
    tell_counts(counts);
    if (fflush(stdout) != 0) return 1;
  }
  printf("{\"what\":\"end\",\"looks\":%" PRIu64 ",\"late\":%" PRIu64 "}\n", looks, late);
  beoboard_close(board);
  return fflush(stdout) == 0 ? 0 : 1;
}

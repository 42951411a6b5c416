/* The links of a board: the number of each interface, whether it is up, since when it is listened to, and whether it
 * is dark. The memory order for readers is explained at each store. */
#include <stdio.h>
#include <time.h>

#include "../rules/interval.h"
#include "column.h"
#include "mapped.h"
#include "reader.h"
#include "seqlock.h"

static bool is_entry(const struct bb_writer *w, uint32_t link) {
  return link == BB_LINK_OTHERS || (link != BB_LINK_UNKNOWN && link <= w->board.header->links_used);
}

/* ---- deafness ---- */

/* While a writer is deaf, nodes may go over to intervals that it does not know of. One doubles in twelve of its
 * intervals at the earliest (rule 7 of stat-v1.md), so after D it is D/12 longer at most than the one that was known.
 * Twice that, so that one report more may be lost; but a minute at most, see docs/liveness.md. */
#define DOUBT_SHARE 6
#define MOST_DOUBT_NS (60 * SECOND)

static int64_t limited(int64_t doubt_ns) { return doubt_ns <= 0 ? 0 : doubt_ns < MOST_DOUBT_NS ? doubt_ns : MOST_DOUBT_NS; }

/* The part of an earlier doubt that was not over at the last heartbeat. */
static int64_t doubt_left(struct bb_link_evidence e) {
  return e.heartbeat_ns == 0 ? 0 : limited(from_to(e.heartbeat_ns, e.listening_since_ns));
}

int64_t bb_doubt(struct bb_hearing *hearing, struct bb_link_evidence e, int64_t silent_after_ns, int64_t now_ns) {
  /* Listening that was too short for calling anybody silent ended no deafness: a node may have reported in each of many
   * short gaps, and only then. */
  if (hearing->heard_ns - hearing->began_ns > silent_after_ns) hearing->deaf_ns = hearing->heard_ns - doubt_left(e) * DOUBT_SHARE;
  hearing->began_ns = hearing->heard_ns = now_ns;
  return limited((now_ns - hearing->deaf_ns) / DOUBT_SHARE);
}

/* Of the receiver itself, or of a link. */
static struct bb_link_evidence evidence_of(const struct bb_board_header *h, uint32_t link) {
  return link == BB_LINK_UNKNOWN ? (struct bb_link_evidence){h->heartbeat_ns, h->listening_since_ns} : h->evidence[link];
}

void bb_inherit_hearing(struct bb_writer *w) {
  const int64_t now_ns = bb_clock_ns(CLOCK_BOOTTIME), ahead_ns = now_ns - bb_clock_ns(CLOCK_MONOTONIC);
  for (uint32_t i = 0; i < BB_LINKS; i++) {
    const struct bb_link_evidence e = evidence_of(w->board.header, i);
    const int64_t heard_ns = e.heartbeat_ns == 0 ? now_ns : (int64_t)e.heartbeat_ns + ahead_ns;
    w->hearing[i] = (struct bb_hearing){heard_ns, heard_ns, heard_ns - doubt_left(e) * DOUBT_SHARE};
  }
}

static int64_t since_of(struct bb_writer *w, uint32_t link, int64_t now_ns) {
  const struct bb_board_header *h = w->board.header;
  return now_ns + bb_doubt(&w->hearing[link], evidence_of(h, link), (int64_t)h->silent_after_ns, bb_clock_ns(CLOCK_BOOTTIME));
}

/* ---- links ---- */

static bool is_in_pieces(const struct bb_link *l) { return (l->state & BB_LINK_STATE_IN_PIECES) != 0; }

uint32_t bb_writer_find_link(const struct bb_writer *w, const char *name, bool in_pieces) {
  for (uint32_t i = 1; i <= w->board.header->links_used; i++)
    if (strcmp(link_at(&w->board, i)->name, name) == 0 && is_in_pieces(link_at(&w->board, i)) == in_pieces) return i;
  return BB_LINK_UNKNOWN;
}

uint32_t bb_writer_take_link(struct bb_writer *w, const char *name, bool in_pieces, uint32_t index, int64_t arrived_ns) {
  struct bb_mapped *b = &w->board;
  uint32_t link = bb_writer_find_link(w, name, in_pieces);
  if (link != BB_LINK_UNKNOWN) return link;
  link = (uint32_t)b->header->links_used + 1;
  if (link >= BB_LINK_OTHERS) return BB_LINK_OTHERS;
  struct bb_link *l = link_at(b, link);
  memset(l, 0, sizeof *l);
  snprintf(l->name, sizeof l->name, "%s", name);
  l->index = index;
  l->state = BB_LINK_STATE_UP | (in_pieces ? BB_LINK_STATE_IN_PIECES : 0);
  /* Until now it was one of the others: it may have missed what they have missed since that report came. */
  const uint64_t arrived = (uint64_t)arrived_ns, others = b->header->evidence[BB_LINK_OTHERS].listening_since_ns;
  const uint64_t since_ns = arrived > others ? arrived : others;
  l->changed_ns = arrived;
  /* No heartbeat yet: a reader that judges by this link before the next one calls nobody silent. */
  bb_store(&b->header->evidence[link].listening_since_ns, since_ns);
  w->hearing[link] = w->hearing[BB_LINK_OTHERS];
  w->up |= UINT32_C(1) << link;
  /* Release: whoever sees the number finds the entry. */
  bb_store_release(&b->header->links_used, link);
  return link;
}

void bb_writer_link_since(struct bb_writer *w, uint32_t link, int64_t since_ns) {
  if (is_entry(w, link)) bb_store(&w->board.header->evidence[link].listening_since_ns, (uint64_t)since_ns);
}

void bb_writer_link_anew(struct bb_writer *w, uint32_t link, int64_t now_ns) {
  if (is_entry(w, link)) bb_writer_link_since(w, link, since_of(w, link, now_ns));
}

void bb_writer_link_resumed(struct bb_writer *w, uint32_t link, int64_t resumed_ns) {
  if (!is_entry(w, link)) return;
  bb_writer_link_anew(w, link, resumed_ns);
  w->resumed_ns[link] = resumed_ns;
}

void bb_writer_listen_anew(struct bb_writer *w, int64_t now_ns) {
  struct bb_board_header *h = w->board.header;
  bb_store(&h->listening_since_ns, (uint64_t)since_of(w, BB_LINK_UNKNOWN, now_ns));
  bb_writer_link_anew(w, BB_LINK_OTHERS, now_ns);
  for (uint32_t i = 1; i <= h->links_used; i++) bb_writer_link_anew(w, i, now_ns);
}

void bb_writer_link_state(struct bb_writer *w, uint32_t link, uint32_t index, uint64_t state, bool was_down, int64_t now_ns) {
  if (!is_entry(w, link)) return;
  struct bb_link *l = link_at(&w->board, link);
  const bool up = (state & BB_LINK_STATE_UP) != 0, before = (l->state & BB_LINK_STATE_UP) != 0;
  bb_store(&l->index, index);
  bb_store(&l->state, state | (l->state & BB_LINK_STATE_IN_PIECES));
  if (up) w->up |= UINT32_C(1) << link;
  else w->up &= ~(UINT32_C(1) << link);
  if (up == before && !(up && was_down)) return;
  /* Before any heartbeat that follows: what was sent to it while it was down has not been heard. */
  bb_writer_link_anew(w, link, now_ns);
  if (before) {
    /* Not when it comes up again, which may be learned of by a report: what is missing after that one is lost. */
    w->resumed_ns[link] = now_ns;
    bb_add(&l->downs, 1);
    bb_add_event(&w->board, BB_EVENT_KIND_LINK_DOWN, link, 0, NULL);
  }
  if (up) bb_add_event(&w->board, BB_EVENT_KIND_LINK_UP, link, 0, NULL);
  bb_store(&l->changed_ns, (uint64_t)now_ns);
}

void bb_writer_link_unjoined(struct bb_writer *w, uint32_t link, int64_t since_ns) {
  if (is_entry(w, link)) bb_store(&link_at(&w->board, link)->unjoined_since_ns, (uint64_t)since_ns);
}

void bb_writer_link_destination(struct bb_writer *w, uint32_t link, const struct bb_destination *to) {
  if (!is_entry(w, link)) return;
  struct bb_link *l = link_at(&w->board, link);
  uint64_t address[2], rest;
  const uint32_t port = to->port;
  _Static_assert(offsetof(struct bb_link, source) == offsetof(struct bb_link, port) + sizeof port, "both are in one word");
  memcpy(address, to->address, sizeof address);
  memcpy(&rest, &port, sizeof port);
  memcpy((uint8_t *)&rest + sizeof port, to->source, sizeof to->source);
  bb_copy_in(l->address, address, sizeof address);
  bb_store((uint64_t *)(void *)&l->port, rest);
}

void bb_writer_link_missed(struct bb_writer *w, uint32_t link, uint64_t packets) {
  if (is_entry(w, link)) bb_add(&link_at(&w->board, link)->missed, packets);
}

const struct bb_link *bb_writer_link(const struct bb_writer *w, uint32_t link) { return is_entry(w, link) ? link_at(&w->board, link) : NULL; }

/* The summary of a link from the column: its nodes except those that left; when any node was last heard, including
 * those that left; when the last of them passed or will pass its first limit; and the same time for a reader who
 * listened to this link only. */
struct roster {
  uint64_t nodes, heard_ns, dark_ns, listened_ns, fallen;
};

static uint64_t limit_of(const struct bb_board_header *h, uint64_t limit_ns, uint64_t word) {
  return (uint64_t)bb_limit_for(limit_ns, interval_of(word), h->longest_interval_ms);
}

static void count_nodes(const struct bb_mapped *b, struct roster rosters[BB_LINKS]) {
  const struct bb_board_header *h = b->header;
  for (uint32_t i = 0; i < h->count; i++) {
    const uint64_t word = *column_word(b, i);
    if (word == 0) continue;
    struct roster *r = &rosters[link_of(word)];
    const uint64_t since = h->evidence[link_of(word)].listening_since_ns, stamp = stamp_of(word);
    const uint64_t limit = limit_of(h, h->uncertain_after_ns, word), listened = (stamp > since ? stamp : since) + limit;
    if (stamp > r->heard_ns) r->heard_ns = stamp;
    if (BB_COLUMN_GOODBYE(word) != 0) continue;
    r->nodes++;
    if (stamp + limit > r->dark_ns) r->dark_ns = stamp + limit;
    if (listened > r->listened_ns) r->listened_ns = listened;
  }
}

/* A dark link stays dark until one of its nodes is heard, even if the receiver restarts meanwhile, or some of its
 * nodes are removed or are heard by another link. */
static bool stays_dark(const struct bb_link *l, const struct roster *r) { return l->dark_since_ns != 0 && r->heard_ns < l->dark_since_ns; }

/* How many nodes of each link had been heard within their second limit when it went dark, or would have been now. */
static void count_fallen(const struct bb_mapped *b, struct roster rosters[BB_LINKS]) {
  const struct bb_board_header *h = b->header;
  for (uint32_t i = 0; i < h->count; i++) {
    const uint64_t word = *column_word(b, i);
    if (word == 0 || BB_COLUMN_GOODBYE(word) != 0) continue;
    struct roster *r = &rosters[link_of(word)];
    const struct bb_link *l = link_at(b, link_of(word));
    const uint64_t dark_ns = stays_dark(l, r) ? l->dark_since_ns : r->dark_ns;
    r->fallen += from_to(stamp_of(word), dark_ns) <= (int64_t)limit_of(h, h->silent_after_ns, word);
  }
}

/* Whether every node of a link with two or more nodes is past its first limit, and the receiver has listened there
 * for long enough. What comes in pieces may be missing for a reason that is none of the link's. */
static bool has_fallen(const struct bb_link *l, const struct bb_link_evidence *e, const struct roster *r) {
  return !is_in_pieces(l) && r->nodes >= 2 && e->heartbeat_ns > r->dark_ns && e->heartbeat_ns > r->listened_ns;
}

void bb_writer_survey(struct bb_writer *w) {
  struct bb_mapped *b = &w->board;
  const struct bb_link_evidence *evidence = b->header->evidence;
  struct roster rosters[BB_LINKS] = {0};
  count_nodes(b, rosters);
  bool any = false;
  for (uint32_t i = 1; i < BB_LINKS; i++)
    any = any || (is_entry(w, i) && (link_at(b, i)->dark_since_ns != 0 || has_fallen(link_at(b, i), &evidence[i], &rosters[i])));
  if (any) count_fallen(b, rosters);
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    if (!is_entry(w, i)) continue;
    const struct roster *r = &rosters[i];
    struct bb_link *l = link_at(b, i);
    bb_store(&l->nodes, r->nodes);
    const uint64_t was_dark_ns = l->dark_since_ns;
    const bool stays = stays_dark(l, r) && r->fallen > 0, falls = was_dark_ns == 0 && has_fallen(l, &evidence[i], r) && r->fallen >= 2;
    bb_store(&l->dark_nodes, stays || falls ? r->fallen : 0);
    bb_store(&l->dark_since_ns, stays ? was_dark_ns : falls ? r->dark_ns : 0);
    if (falls) bb_add_event(b, BB_EVENT_KIND_DARK, i, r->fallen, NULL);
    else if (was_dark_ns != 0 && r->heard_ns >= was_dark_ns) bb_add_event(b, BB_EVENT_KIND_LIT, i, 0, NULL);
  }
}

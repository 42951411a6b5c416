/* The memory order for readers is explained at each store. */
#include "linktable.h"

#include <stdio.h>

#include "../rules/interval.h"
#include "hearing.h"
#include "records.h"
#include "seqlock.h"

static bool is_entry(const struct bb_links *l, uint32_t link) {
  return has_entry(link, l->board->header->links_used);
}

static int64_t since_of(struct bb_links *l, uint32_t link, int64_t now_ns) {
  const struct bb_board_header *h = l->board->header;
  const int64_t boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  return now_ns + bb_hearing_anew(&l->hearing[link], h->evidence[link], (int64_t)h->silent_after_ns, boot_ns);
}

static bool is_in_pieces(const struct bb_link *entry) { return (entry->state & BB_LINK_STATE_IN_PIECES) != 0; }

static bool is_up(const struct bb_link *entry) { return (entry->state & BB_LINK_STATE_UP) != 0; }

void bb_links_inherit(struct bb_links *l, struct bb_mapped *board, int64_t now_ns, int64_t ahead_ns) {
  l->board = board;
  for (uint32_t i = 0; i < BB_LINKS; i++)
    l->hearing[i] = bb_hearing_inherited(board->header->evidence[i], now_ns, ahead_ns);
}

void bb_links_heartbeat(struct bb_links *l, int64_t heard_ns, int64_t heard_boot_ns) {
  struct bb_board_header *h = l->board->header;
  /* Release, for each: whoever sees this heartbeat sees every word of the drain, and the listening-since stored
   * before it. A link that is down has no heartbeat: what is sent to it is not heard. */
  for (uint32_t i = 1; i <= h->links_used; i++) {
    if (!is_up(link_at(l->board, i))) continue;
    l->hearing[i].heard_ns = heard_boot_ns;
    bb_store_release(&h->evidence[i].heartbeat_ns, (uint64_t)heard_ns);
  }
  l->hearing[BB_LINK_OTHERS].heard_ns = heard_boot_ns;
  bb_store_release(&h->evidence[BB_LINK_OTHERS].heartbeat_ns, (uint64_t)heard_ns);
}

uint32_t bb_links_find(const struct bb_links *l, const char *name, bool in_pieces) {
  for (uint32_t i = 1; i <= l->board->header->links_used; i++)
    if (strcmp(link_at(l->board, i)->name, name) == 0 && is_in_pieces(link_at(l->board, i)) == in_pieces) return i;
  return BB_LINK_UNKNOWN;
}

uint32_t bb_links_add(struct bb_links *l, const char *name, bool in_pieces, uint32_t index, int64_t arrived_ns) {
  struct bb_mapped *b = l->board;
  uint32_t link = bb_links_find(l, name, in_pieces);
  if (link != BB_LINK_UNKNOWN) return link;
  link = (uint32_t)b->header->links_used + 1;
  if (link >= BB_LINK_OTHERS) return BB_LINK_OTHERS;
  struct bb_link *entry = link_at(b, link);
  memset(entry, 0, sizeof *entry);
  snprintf(entry->name, sizeof entry->name, "%s", name);
  entry->index = index;
  entry->state = BB_LINK_STATE_UP | (in_pieces ? BB_LINK_STATE_IN_PIECES : 0);
  /* Until now it was one of the others: it may have missed what they have missed since that report came. */
  const uint64_t arrived = (uint64_t)arrived_ns, others = b->header->evidence[BB_LINK_OTHERS].listening_since_ns;
  const uint64_t since_ns = arrived > others ? arrived : others;
  entry->changed_ns = arrived;
  /* No heartbeat yet: a reader that judges by this link before the next one calls nobody silent. */
  bb_store(&b->header->evidence[link].listening_since_ns, since_ns);
  l->hearing[link] = l->hearing[BB_LINK_OTHERS];
  /* Release: whoever sees the number finds the entry. */
  bb_store_release(&b->header->links_used, link);
  return link;
}

void bb_links_listening_since(struct bb_links *l, uint32_t link, int64_t since_ns) {
  if (is_entry(l, link)) bb_store(&l->board->header->evidence[link].listening_since_ns, (uint64_t)since_ns);
}

void bb_links_listen_anew(struct bb_links *l, uint32_t link, int64_t now_ns) {
  if (is_entry(l, link)) bb_links_listening_since(l, link, since_of(l, link, now_ns));
}

void bb_links_resumed(struct bb_links *l, uint32_t link, int64_t resumed_ns) {
  if (!is_entry(l, link)) return;
  bb_links_listen_anew(l, link, resumed_ns);
  l->resumed_ns[link] = resumed_ns;
}

void bb_links_set_state(struct bb_links *l, uint32_t link, uint32_t index, uint64_t state, bool was_down,
                        int64_t now_ns) {
  if (!is_entry(l, link)) return;
  struct bb_link *entry = link_at(l->board, link);
  const bool up = (state & BB_LINK_STATE_UP) != 0, before = is_up(entry);
  bb_store(&entry->index, index);
  bb_store(&entry->state, state | (entry->state & BB_LINK_STATE_IN_PIECES));
  if (up == before && !(up && was_down)) return;
  /* Before any heartbeat that follows: what was sent to it while it was down has not been heard. */
  bb_links_listen_anew(l, link, now_ns);
  if (before) {
    /* Not when it comes up again, which may be learned of by a report: what is missing after that one is lost. */
    l->resumed_ns[link] = now_ns;
    bb_add(&entry->downs, 1);
    bb_add_event(l->board, BB_EVENT_KIND_LINK_DOWN, link, 0, NULL);
  }
  if (up) bb_add_event(l->board, BB_EVENT_KIND_LINK_UP, link, 0, NULL);
  bb_store(&entry->changed_ns, (uint64_t)now_ns);
}

void bb_links_set_unjoined(struct bb_links *l, uint32_t link, int64_t since_ns) {
  if (is_entry(l, link)) bb_store(&link_at(l->board, link)->unjoined_since_ns, (uint64_t)since_ns);
}

void bb_links_set_destination(struct bb_links *l, uint32_t link, const struct bb_destination *to) {
  if (!is_entry(l, link)) return;
  struct bb_link *entry = link_at(l->board, link);
  uint64_t address[2], rest;
  const uint32_t port = to->port;
  _Static_assert(offsetof(struct bb_link, source) == offsetof(struct bb_link, port) + sizeof port,
                 "both are in one word");
  memcpy(address, to->address, sizeof address);
  memcpy(&rest, &port, sizeof port);
  memcpy((uint8_t *)&rest + sizeof port, to->source, sizeof to->source);
  bb_copy_in(entry->address, address, sizeof address);
  bb_store((uint64_t *)(void *)&entry->port, rest);
}

void bb_links_add_missed(struct bb_links *l, uint32_t link, uint64_t packets) {
  if (is_entry(l, link)) bb_add(&link_at(l->board, link)->missed, packets);
}

const struct bb_link *bb_links_entry(const struct bb_links *l, uint32_t link) {
  return is_entry(l, link) ? link_at(l->board, link) : NULL;
}

/* The summary of a link from the column: its nodes except those that left; when any node was last heard, including
 * those that left; when the last of them passed or will pass its first limit; and the same time for a reader who
 * listened to this link only. */
struct node_count {
  uint64_t nodes, heard_ns, dark_ns, listened_ns, cut_off;
};

static uint64_t limit_of(const struct bb_board_header *h, uint64_t limit_ns, uint64_t word) {
  return (uint64_t)bb_limit_for(limit_ns, interval_of(word), h->longest_interval_ms);
}

static void count_nodes(const struct bb_mapped *b, struct node_count counts[BB_LINKS]) {
  const struct bb_board_header *h = b->header;
  for (uint32_t i = 0; i < h->count; i++) {
    const uint64_t word = *column_word(b, i);
    if (word == 0) continue;
    struct node_count *c = &counts[link_of(word)];
    const uint64_t since = h->evidence[link_of(word)].listening_since_ns, stamp = stamp_of(word);
    const uint64_t limit = limit_of(h, h->uncertain_after_ns, word), listened = (stamp > since ? stamp : since) + limit;
    if (stamp > c->heard_ns) c->heard_ns = stamp;
    if (BB_COLUMN_GOODBYE(word) != 0) continue;
    c->nodes++;
    if (stamp + limit > c->dark_ns) c->dark_ns = stamp + limit;
    if (listened > c->listened_ns) c->listened_ns = listened;
  }
}

/* A dark link stays dark until one of its nodes is heard, even if the receiver restarts meanwhile, or some of its
 * nodes are removed or are heard by another link. */
static bool stays_dark(const struct bb_link *entry, const struct node_count *c) {
  return entry->dark_since_ns != 0 && c->heard_ns < entry->dark_since_ns;
}

/* How many nodes of each link had been heard within their second limit when it went dark, or would have been now. */
static void count_cut_off(const struct bb_mapped *b, struct node_count counts[BB_LINKS]) {
  const struct bb_board_header *h = b->header;
  for (uint32_t i = 0; i < h->count; i++) {
    const uint64_t word = *column_word(b, i);
    if (word == 0 || BB_COLUMN_GOODBYE(word) != 0) continue;
    struct node_count *c = &counts[link_of(word)];
    const struct bb_link *entry = link_at(b, link_of(word));
    const uint64_t dark_ns = stays_dark(entry, c) ? entry->dark_since_ns : c->dark_ns;
    c->cut_off += from_to(stamp_of(word), dark_ns) <= (int64_t)limit_of(h, h->silent_after_ns, word);
  }
}

/* Whether every node of a link with two or more nodes is past its first limit, and the receiver has listened there
 * for long enough. What comes in pieces may be missing for a reason that is none of the link's. */
static bool went_dark(const struct bb_link *entry, const struct bb_link_evidence *e, const struct node_count *c) {
  return !is_in_pieces(entry) && c->nodes >= 2 && e->heartbeat_ns > c->dark_ns && e->heartbeat_ns > c->listened_ns;
}

void bb_links_survey(struct bb_links *l) {
  struct bb_mapped *b = l->board;
  const struct bb_link_evidence *evidence = b->header->evidence;
  struct node_count counts[BB_LINKS] = {0};
  count_nodes(b, counts);
  bool any = false;
  for (uint32_t i = 1; i < BB_LINKS; i++)
    any = any || (is_entry(l, i) && (link_at(b, i)->dark_since_ns != 0 ||
                                     went_dark(link_at(b, i), &evidence[i], &counts[i])));
  if (any) count_cut_off(b, counts);
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    if (!is_entry(l, i)) continue;
    const struct node_count *c = &counts[i];
    struct bb_link *entry = link_at(b, i);
    bb_store(&entry->nodes, c->nodes);
    const uint64_t was_dark_ns = entry->dark_since_ns;
    const bool stays = stays_dark(entry, c) && c->cut_off > 0;
    const bool goes = was_dark_ns == 0 && went_dark(entry, &evidence[i], c) && c->cut_off >= 2;
    bb_store(&entry->dark_nodes, stays || goes ? c->cut_off : 0);
    bb_store(&entry->dark_since_ns, stays ? was_dark_ns : goes ? c->dark_ns : 0);
    if (goes) bb_add_event(b, BB_EVENT_KIND_DARK, i, c->cut_off, NULL);
    else if (was_dark_ns != 0 && c->heard_ns >= was_dark_ns) bb_add_event(b, BB_EVENT_KIND_LIT, i, 0, NULL);
  }
}

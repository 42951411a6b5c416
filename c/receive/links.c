#include "links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/ipaddress.h"

#define SECOND INT64_C(1000000000)

static int64_t now(void) { return bb_clock_ns(CLOCK_MONOTONIC); }

void links_open(struct links *l, struct sockets *sockets, struct bb_kernel_drops *kernel_drops) {
  l->sockets = sockets;
  l->kernel_drops = kernel_drops;
  l->interfaces = bb_interfaces_open();
  l->unwatched = l->interfaces == NULL ? errno : 0;
}

void links_close(struct links *l) {
  bb_interfaces_close(l->interfaces);
  free(l->local.ranges);
}

bool links_set_local(struct links *l, const struct bb_network *networks, size_t count) {
  return bb_networks_set(&l->local, networks, count);
}

int links_fd(const struct links *l) { return l->interfaces == NULL ? -1 : bb_interfaces_fd(l->interfaces); }

/* Everything received in an unknown namespace has one link. No interface name contains a space. */
static const char elsewhere[] = "other namespace";

static bool is_elsewhere(const struct bb_link *entry) { return strcmp(entry->name, elsewhere) == 0; }

/* The links of that interface, of what comes whole and in pieces; returns whether one has a number. */
static bool find_both(const struct links *l, const char *interface, uint32_t numbers[2]) {
  for (int i = 0; i < 2; i++) numbers[i] = bb_links_find(l->table, interface, i == 1);
  return numbers[0] != BB_LINK_UNKNOWN || numbers[1] != BB_LINK_UNKNOWN;
}

/* The link of the interface of that number; BB_LINK_UNKNOWN: it has none. */
static uint32_t find_by_index(const struct links *l, unsigned index, bool in_pieces) {
  for (uint32_t i = 1; i <= l->count; i++)
    if (l->links[i].index == index && l->links[i].in_pieces == in_pieces) return i;
  return BB_LINK_UNKNOWN;
}

/* ---- the state of a link ---- */

/* Updates a link whose interface or address may have changed. */
static void renew_state(struct links *l, uint32_t number, bool was_down) {
  struct link *link = &l->links[number];
  const struct bb_link *entry = bb_links_entry(l->table, number);
  if (entry == NULL) return;
  uint64_t state = BB_LINK_STATE_UP;
  if (is_elsewhere(entry)) {
    /* An earlier receiver may have listened there. */
    if (l->interfaces != NULL && !sockets_are_foreign(l->sockets)) state = BB_LINK_STATE_GONE;
  } else if (l->interfaces != NULL) {
    const struct bb_interface *is = bb_interfaces_by_name(l->interfaces, entry->name);
    const unsigned index = is == NULL ? 0 : is->index;
    if (index != link->index) {
      was_down = true;
      link->missed = link->packets = 0;
    }
    link->index = index;
    if (is == NULL) state = BB_LINK_STATE_GONE;
    else if (!is->up) state = 0;
    else if (link->unreachable) state = BB_LINK_STATE_NO_ADDRESS;
  }
  bb_links_set_state(l->table, number, link->index, state, was_down, now());
}

/* What was sent to that interface since it was last checked was not heard. If it has no number it may be any of those
 * without one: these listen anew, but their losses still count, because others of them are heard. */
static void have_missed(void *context, const char *interface) {
  struct links *l = (struct links *)context;
  uint32_t numbers[2];
  const int64_t now_ns = now();
  if (!find_both(l, interface, numbers)) bb_links_listen_anew(l->table, BB_LINK_OTHERS, now_ns);
  for (int i = 0; i < 2; i++)
    if (numbers[i] != BB_LINK_UNKNOWN) bb_links_resumed(l->table, numbers[i], now_ns);
}

/* ---- destinations ---- */

static bool has_address(const struct bb_destination *to) {
  static const uint8_t none[16];
  return memcmp(to->address, none, sizeof none) != 0;
}

static bool has_source(const struct bb_destination *to) {
  static const uint8_t none[4];
  return memcmp(to->source, none, sizeof none) != 0;
}

/* Whether the kernel would accept what comes from its source; the kernel answers that. */
static int accepts_source(struct links *l, const struct bb_destination *to, unsigned index) {
  uint8_t from[16];
  map_v4(from, (const struct in_addr *)(const void *)to->source);
  return bb_interfaces_accepts(l->interfaces, from, to->address, index);
}

static bool is_member(const struct links *l, const struct bb_destination *to, const char *interface) {
  return sockets_are_members(l->sockets, to->address, to->port, interface);
}

/* Whether what is sent to the destination of a link's reports cannot reach us; the last answer if the kernel cannot
 * be asked. */
static bool is_unreachable(struct links *l, const struct link *link, const char *interface) {
  const struct bb_destination *to = &link->to;
  if (!has_address(to)) return false;
  if (is_multicast(to->address)) {
    if (!is_member(l, to, interface)) return true;
  } else if (!sockets_receive(l->sockets, to->address, to->port)) {
    return true;
  }
  const struct bb_interface *is = bb_interfaces_by_index(l->interfaces, link->index);
  /* On a link that is down nothing is accepted, and that is reported as down. */
  int reaches = 1;
  if (has_source(to) && is != NULL && is->up) reaches = accepts_source(l, to, link->index);
  else if (link->own) reaches = bb_interfaces_has_address(l->interfaces, to->address, link->index);
  return reaches < 0 ? link->unreachable : reaches == 0;
}

void links_begin(struct links *l, struct bb_links *table) {
  l->table = table;
  for (uint32_t i = 1; i < BB_LINK_OTHERS && bb_links_entry(table, i) != NULL; i++) {
    const struct bb_link *entry = bb_links_entry(table, i);
    const struct bb_interface *is = l->interfaces == NULL ? NULL : bb_interfaces_by_name(l->interfaces, entry->name);
    l->count = i;
    struct link *link = &l->links[i];
    link->index = is == NULL ? 0 : is->index;
    link->in_pieces = (entry->state & BB_LINK_STATE_IN_PIECES) != 0;
    link->to.port = (uint16_t)entry->port;
    memcpy(link->to.address, entry->address, sizeof link->to.address);
    memcpy(link->to.source, entry->source, sizeof link->to.source);
    /* A broadcast address is recognised only by its source, and an address that we do not have now may have been
     * one. */
    const bool has_it =
        l->interfaces != NULL && bb_interfaces_has_address(l->interfaces, entry->address, link->index) == 1;
    link->own = !is_multicast(entry->address) && (!has_source(&link->to) || has_it);
    link->unreachable = l->interfaces != NULL && is_unreachable(l, link, entry->name);
    renew_state(l, i, false);
  }
}

/* ---- bridges ---- */

/* Whether reports of the listed networks came by that interface. */
static bool is_bridge(const struct links *l, const char *interface) {
  for (uint32_t i = 0; i < l->bridge_count; i++)
    if (strcmp(l->bridges[i], interface) == 0) return true;
  return false;
}

/* What is sent to a bridge that is down is not heard, and the loopback's link stays up: so it listens anew. */
static void listen_anew_locally(struct links *l) {
  const struct bb_interface *loopback = bb_interfaces_loopback(l->interfaces);
  uint32_t numbers[2];
  if (loopback == NULL || !find_both(l, loopback->name, numbers)) return;
  for (int i = 0; i < 2; i++) bb_links_listen_anew(l->table, numbers[i], now());
}

static void look_at_bridges(struct links *l) {
  l->bridge_down = false;
  for (uint32_t i = 0; i < l->bridge_count; i++) {
    const struct bb_interface *is = bb_interfaces_by_name(l->interfaces, l->bridges[i]);
    l->bridge_down = l->bridge_down || is == NULL || !is->up;
  }
}

/* If there are too many, the last ones are not watched. */
static void note_bridge(struct links *l, unsigned index) {
  const struct bb_interface *is = bb_interfaces_by_index(l->interfaces, index);
  if (is == NULL || is->loopback || is_bridge(l, is->name) || l->bridge_count == BB_BRIDGES) return;
  memcpy(l->bridges[l->bridge_count++], is->name, sizeof is->name);
}

/* ---- news of interfaces ---- */

/* The changes that rtnetlink reports in one drain. */
struct changes {
  struct links *links;
  bool others;  /* something happened to an interface without a number */
  bool bridges; /* or to one by which reports of the listed networks came */
};

static void on_interface(const struct bb_interface_news *news, void *context) {
  struct changes *c = (struct changes *)context;
  struct links *l = c->links;
  /* An interface that has another name now is still found by its number. */
  if (news->gone && bb_interfaces_by_index(l->interfaces, news->is.index) == NULL)
    sockets_lose_memberships(l->sockets, news->is.index);
  uint32_t numbers[2];
  c->bridges = c->bridges || is_bridge(l, news->is.name);
  if (!find_both(l, news->is.name, numbers)) c->others = true;
  for (int i = 0; i < 2; i++) {
    if (numbers[i] == BB_LINK_UNKNOWN) continue;
    l->links[numbers[i]].changed = true;
    renew_state(l, numbers[i], news->was_down);
  }
}

/* Noted here, and checked when all changes have been read. An interface whose number belongs to no link may be one
 * of the others. Several interfaces may have the same address of link scope, each its own; any other address counts
 * for all, by whichever interface its reports come. */
static void on_address(const uint8_t address[16], unsigned index, bool gone, void *context) {
  struct changes *c = (struct changes *)context;
  bool known = false;
  for (uint32_t i = 1; i <= c->links->count; i++) {
    struct link *link = &c->links->links[i];
    if (memcmp(link->to.address, address, sizeof link->to.address) != 0) continue;
    if (is_link_local(address) && index != link->index) continue;
    known = link->changed = true;
    link->went_down = link->went_down || gone;
  }
  if (gone && !known) c->others = true;
}

void links_drain(struct links *l) {
  if (l->interfaces == NULL) return;
  struct changes changes = {.links = l};
  /* Messages were lost, or cannot be read: anything may have happened, to addresses too. Every interface has been
   * reported since messages were lost; while none can be read, each link listens anew in each drain, and nothing
   * else is concluded. */
  const int result = bb_interfaces_drain(l->interfaces, on_interface, on_address, &changes);
  const bool lost = result != 0;
  if (result > 0) sockets_lose_memberships(l->sockets, 0);
  l->unwatched = result < 0 ? -result : 0;
  for (uint32_t i = 1; i <= l->count; i++) {
    struct link *link = &l->links[i];
    if (!link->changed && !lost) continue;
    const struct bb_link *entry = bb_links_entry(l->table, i);
    const bool was_unreachable = link->unreachable;
    link->unreachable = entry != NULL && is_unreachable(l, link, entry->name);
    if (link->unreachable && !was_unreachable) link->unreachable_ns = now();
    renew_state(l, i, link->went_down);
    if (lost) bb_links_listen_anew(l->table, i, now());
    link->changed = link->went_down = false;
  }
  if (changes.others || lost) bb_links_listen_anew(l->table, BB_LINK_OTHERS, now());
  if (changes.bridges || lost) look_at_bridges(l);
  if (changes.bridges || l->bridge_down) listen_anew_locally(l);
}

/* ---- datagrams ---- */

void links_find(const struct links *l, const struct listener *listener, unsigned index, struct bb_arrival *arrival) {
  arrival->link = BB_LINK_UNKNOWN;
  arrival->interface_index = index;
  if (listener->foreign || l->interfaces == NULL) {
    arrival->interface = elsewhere;
    arrival->interface_index = 0;
    return;
  }
  if (bb_interfaces_sent(l->interfaces, arrival->address, index) || bb_networks_hold(&l->local, arrival->address)) {
    const struct bb_interface *loopback = bb_interfaces_loopback(l->interfaces);
    if (loopback != NULL) arrival->interface_index = index = loopback->index;
  }
  if (index != 0) arrival->link = find_by_index(l, index, arrival->in_pieces);
  if (arrival->link != BB_LINK_UNKNOWN) return;
  const struct bb_interface *is = index == 0 ? NULL : bb_interfaces_by_index(l->interfaces, index);
  if (is != NULL) arrival->interface = is->name;
  else arrival->link = BB_LINK_OTHERS;
}

/* The destination is checked at most once a second, because nodes may send to two addresses in turn. Of several, our
 * own address takes precedence over a group or a broadcast. */
void links_note(struct links *l, const struct listener *listener, const struct bb_arrival *arrival, unsigned index,
                const uint8_t to[16]) {
  const uint32_t number = arrival->link;
  struct link *link = &l->links[number];
  if (number > l->count && number < BB_LINK_OTHERS) {
    l->count = number;
    link->index = arrival->interface_index;
    link->in_pieces = arrival->in_pieces;
    renew_state(l, number, false);
  }
  if (arrival->in_pieces) {
    link->in_pieces = true; /* Of all others one may be, and then each of them is judged so. */
    link->joins[is_v4(arrival->address) ? 0 : 1] = true;
  }
  if (index != arrival->interface_index && bb_networks_hold(&l->local, arrival->address)) note_bridge(l, index);
  if (number >= BB_LINK_OTHERS || link->index == 0) return;
  if (!link->unreachable && arrival->stamp_ns - link->checked_ns < SECOND) return;
  if (link->unreachable && arrival->stamp_ns <= link->unreachable_ns) return; /* it came before */
  link->checked_ns = arrival->stamp_ns;
  struct bb_destination next = {.port = port_of(&listener->address)};
  memcpy(next.address, to, sizeof next.address);
  if (is_v4(to) && is_v4(arrival->address)) memcpy(next.source, arrival->address + 12, sizeof next.source);
  const bool group = is_multicast(to), own = !group && bb_interfaces_has_address(l->interfaces, to, link->index) == 1;
  /* It arrived, whatever the kernel says: so the kernel cannot be asked about this node. */
  if (has_source(&next) && accepts_source(l, &next, link->index) != 1) memset(next.source, 0, sizeof next.source);
  const bool member = group && is_member(l, &next, bb_links_entry(l->table, number)->name);
  const bool known = own || ((member || !group) && has_source(&next)) || (member && !is_v4(to));
  /* A report has arrived although we lack the known destination, and its own destination is one that we cannot ask
   * about: then the link has none. */
  if (!link->unreachable && (!known || (link->own && !own))) return;
  if (!known) next = (struct bb_destination){0};
  link->to = next;
  link->own = own;
  bb_links_set_destination(l->table, number, &next);
  if (!link->unreachable) return;
  link->unreachable = false;
  renew_state(l, number, false);
}

/* ---- once a second ---- */

/* Packets that an interface dropped before a socket could count them. */
static void count_interface_drops(struct links *l) {
  uint64_t dropped, packets;
  for (uint32_t i = 1; l->kernel_drops != NULL && i <= l->count; i++) {
    struct link *link = &l->links[i];
    const struct bb_link *entry = bb_links_entry(l->table, i);
    if (entry == NULL || link->index == 0) continue;
    const bool first = link->packets == 0;
    const uint64_t accepted = bb_kernel_drops_advance(&link->accepted, entry->accepted);
    if (!bb_kernel_drops_interface(l->kernel_drops, entry->name, link->index, &dropped, &packets)) continue;
    const uint64_t more = bb_kernel_drops_advance(&link->missed, dropped),
                   came = bb_kernel_drops_advance(&link->packets, packets);
    if (first || more == 0) continue;
    /* Of two links of one interface, what it dropped is counted for one. */
    if (!link->in_pieces || bb_links_find(l->table, entry->name, false) == BB_LINK_UNKNOWN)
      bb_links_add_missed(l->table, i, more);
    if (bb_kernel_drops_are_lossy(more, accepted, came)) bb_links_listen_anew(l->table, i, now());
  }
}

/* For how long after its last failure the kernel may be without room to join pieces: it keeps incomplete ones for so
 * long (net.ipv4.ipfrag_time). */
#define UNJOINED_NS (30 * SECOND)

/* Since the last call, for IPv4 and IPv6: whether the kernel may have failed to join some pieces. */
static void look_for_failures(struct links *l, bool fails[2]) {
  uint64_t failed[2] = {UINT64_MAX, UINT64_MAX};
  if (l->kernel_drops != NULL) bb_kernel_drops_unjoined(l->kernel_drops, failed);
  for (int f = 0; f < 2; f++) {
    /* What had failed before the first look was not about these links. */
    fails[f] = l->counts_unjoined && (failed[f] == UINT64_MAX || failed[f] != l->unjoined[f]);
    l->unjoined[f] = failed[f];
  }
  l->counts_unjoined = true;
}

/* The links by which reports come in pieces listen anew while the kernel fails to join some, whosever they are. */
static void count_unjoined(struct links *l) {
  const int64_t now_ns = now();
  bool fails[2], any = l->links[BB_LINK_OTHERS].in_pieces;
  for (uint32_t i = 1; i <= l->count; i++) any = any || l->links[i].in_pieces;
  if (!any) return;
  look_for_failures(l, fails);
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    struct link *link = &l->links[i];
    if (!link->in_pieces) continue;
    const bool known = link->joins[0] || link->joins[1];
    const bool is_foreign = i != BB_LINK_OTHERS && is_elsewhere(bb_links_entry(l->table, i));
    if (is_foreign || (fails[0] && (link->joins[0] || !known)) || (fails[1] && (link->joins[1] || !known))) {
      /* After the kernel was asked: what it failed to join until then was not heard. */
      bb_links_listen_anew(l->table, i, now());
      if (link->unjoined_since_ns == 0) link->unjoined_since_ns = now_ns;
      link->unjoined_ns = now_ns;
    } else if (now_ns - link->unjoined_ns > UNJOINED_NS) {
      link->unjoined_since_ns = 0;
    }
    bb_links_set_unjoined(l->table, i, link->unjoined_since_ns);
  }
}

void links_keep(struct links *l, char *why, size_t size) {
  if (l->unwatched != 0 && why[0] == 0)
    snprintf(why, size, "cannot watch the interfaces (rtnetlink): %s; nodes may be called silent for one that is down",
             strerror(l->unwatched));
  sockets_keep(l->sockets, l->interfaces, have_missed, l, why, size);
  /* All addresses are checked in the next drain. The kernel reports an address before its routes change, and it does
   * not report a route that changes without an address (a VRF takes the interface, an admin removes the route). */
  for (uint32_t i = 1; i <= l->count; i++) l->links[i].changed = l->links[i].changed || has_address(&l->links[i].to);
  count_interface_drops(l);
  count_unjoined(l);
  bb_links_survey(l->table);
}

uint64_t links_missed(const struct links *l) {
  uint64_t missed = 0;
  for (uint32_t i = 1; i < BB_LINK_OTHERS && bb_links_entry(l->table, i) != NULL; i++)
    missed += bb_links_entry(l->table, i)->missed;
  return missed;
}

/* The board's other contents: the links by which nodes report, rejected senders, and events. They are returned also
 * for a stalled or retired board, because the past remains evidence of the past. No system call, no lock, no memory
 * of its own. */
#include "internal.h"

_Static_assert(BEOBOARD_LINK_UNKNOWN == BB_LINK_UNKNOWN && BEOBOARD_LINK_OTHERS == BB_LINK_OTHERS, "numbers of links");
_Static_assert(BEOBOARD_LINKS_MAX == BB_LINKS - 1 && BEOBOARD_SENDERS_MAX == BB_SENDERS, "room for all");
_Static_assert(BEOBOARD_LINK_F_UP == BB_LINK_STATE_UP && BEOBOARD_LINK_F_GONE == BB_LINK_STATE_GONE &&
                   BEOBOARD_LINK_F_NO_ADDRESS == BB_LINK_STATE_NO_ADDRESS,
               "the bits of the board are those of the header");
#define LINK_STATES (BEOBOARD_LINK_F_UP | BEOBOARD_LINK_F_GONE | BEOBOARD_LINK_F_NO_ADDRESS)

static bool is_ahead_of(const struct evidence *e, uint64_t stamp) { return from_to(e->now, stamp) > BB_AHEAD_NS; }

/* The age of a time that is 0 if there is none. */
static int64_t age_or_none(const struct evidence *e, uint64_t stamp) { return stamp == 0 ? -1 : age_of(e, stamp); }

/* One link in this look. Its evidence is loaded first: a caller who was told about a silent node finds here that its
 * link was dark by then. Returns whether the look has to be repeated. */
static bool copy_link(const beoboard *b, const struct evidence *e, uint32_t number, struct beoboard_link *out) {
  const struct bb_link_copy copy = read_link(&b->board, number);
  const struct bb_link_evidence by = copy.evidence;
  const struct bb_link link = copy.link;
  memset(out, 0, sizeof *out);
  if (number == BB_LINK_OTHERS) memcpy(out->name, "all others", sizeof "all others");
  else memcpy(out->name, link.name, sizeof out->name - 1);
  out->number = number;
  out->flags = (uint32_t)(link.state & LINK_STATES) | (link.dark_since_ns != 0 ? BEOBOARD_LINK_F_DARK : 0) |
               ((link.state & BB_LINK_STATE_IN_PIECES) != 0 ? BEOBOARD_LINK_F_IN_PIECES : 0) |
               (number == BB_LINK_OTHERS ? BEOBOARD_LINK_F_OTHERS : 0) | (is_unknown(e) ? BEOBOARD_LINK_F_STALE : 0);
  out->changed_age_ns = age_or_none(e, link.changed_ns);
  const bool is_ahead = is_ahead_of(e, by.heartbeat_ns);
  /* A time far ahead is returned as it is, like the receiver's own. */
  out->heartbeat_age_ns = is_ahead ? from_to(by.heartbeat_ns, e->now) : age_or_none(e, by.heartbeat_ns);
  const int64_t listened = from_to(by.listening_since_ns, by.heartbeat_ns);
  out->listened_ns = by.heartbeat_ns != 0 && listened > 0 ? listened : 0;
  out->nodes = link.nodes;
  out->dark_age_ns = age_or_none(e, link.dark_since_ns);
  out->dark_nodes = link.dark_nodes;
  out->downs = link.downs;
  out->accepted = link.accepted;
  out->missed = link.missed;
  return is_ahead || is_ahead_of(e, link.changed_ns) || is_ahead_of(e, link.dark_since_ns);
}

int beoboard_links(const beoboard *b, struct beoboard_link *out, size_t size, int max) {
  if (b == NULL || size == 0 || max < 0 || (out == NULL && max > 0)) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    const uint32_t used = links_of(&b->board);
    bool is_ahead = false;
    int n = 0;
    for (uint32_t i = 1; i < BB_LINKS && n < max; i++) {
      if (!has_entry(i, used)) continue;
      struct beoboard_link link;
      if (copy_link(b, &e, i, &link)) is_ahead = true;
      give((uint8_t *)out + (size_t)n++ * size, size, &link, sizeof link);
    }
    if (!is_ahead || again) return n;
  }
}

int beoboard_senders(const beoboard *b, struct beoboard_sender *out, size_t size, int max) {
  if (b == NULL || size == 0 || max < 0 || (out == NULL && max > 0)) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    bool is_ahead = false;
    int n = 0;
    for (uint32_t i = 0; i < BB_SENDERS && n < max; i++) {
      struct bb_sender from;
      /* An entry that a killed receiver left half-written is left out until its sender's next datagram is rejected. */
      if (!read_sender(&b->board, i, &from)) continue;
      struct beoboard_sender to;
      memset(&to, 0, sizeof to);
      memcpy(to.address, from.address, sizeof to.address);
      memcpy(to.name, from.name, sizeof to.name - 1);
      to.first_age_ns = age_of(&e, from.first_ns);
      to.last_age_ns = age_of(&e, from.last_ns);
      to.last_wall_ns = (int64_t)from.last_real_ns;
      to.count = from.count;
      to.reason = i / BB_SENDERS_EACH;
      if (is_ahead_of(&e, from.last_ns)) is_ahead = true;
      give((uint8_t *)out + (size_t)n++ * size, size, &to, sizeof to);
    }
    if (!is_ahead || again) return n;
  }
}

/* Event number n, unless a later one has replaced it, or it belongs to the last board. */
static bool copy_event(const beoboard *b, const struct evidence *e, uint64_t n, struct beoboard_event *out,
                       bool *is_ahead) {
  struct bb_event event;
  if (!read_event(&b->board, n, &event)) return false;
  memset(out, 0, sizeof *out);
  out->number = n;
  out->age_ns = age_of(e, event.stamp_ns);
  out->wall_ns = (int64_t)event.stamp_real_ns;
  out->detail = event.detail;
  out->kind = event.kind <= UINT32_MAX ? (uint32_t)event.kind : UINT32_MAX;
  out->subject = event.subject <= INT32_MAX ? (int32_t)event.subject : BEOBOARD_NO_SUBJECT;
  if (is_ahead_of(e, event.stamp_ns)) *is_ahead = true;
  return true;
}

int beoboard_events(const beoboard *b, uint64_t *next, struct beoboard_event *out, size_t size, int max) {
  if (b == NULL || next == NULL || size == 0 || max < 0 || (out == NULL && max > 0)) return -EINVAL;
  for (bool again = false;; again = true) {
    struct evidence e;
    look(b, again, &e);
    const uint64_t last = newest_event(&b->board);
    uint64_t n = first_event(&b->board, *next == BEOBOARD_EVENTS_FROM_NOW ? last + 1 : *next, last);
    bool is_ahead = false;
    int given = 0;
    for (; n <= last && given < max; n++) {
      struct beoboard_event event;
      if (!copy_event(b, &e, n, &event, &is_ahead)) continue;
      give((uint8_t *)out + (size_t)given++ * size, size, &event, sizeof event);
    }
    if (is_ahead && !again) continue;
    *next = n;
    return given;
  }
}

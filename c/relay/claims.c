#include "claims.h"

#include <stdlib.h>
#include <string.h>

#include "../board/column.h"
#include "../rules/interval.h"

#define SECOND INT64_C(1000000000)
/* A claim of another master is valid until its next index but one is due. */
#define CLAIM_NS (11 * SECOND)
/* A heartbeat that is older than this, by its own master's clock, supports no claim. */
#define HEARD_NS (3 * SECOND)

/* The place of a name: its entry, or an empty one. */
static struct claim *claims_place_of(struct claim *table, uint32_t size, uint32_t name) {
  uint32_t i = name & (size - 1);
  while (table[i].used && table[i].name != name) i = (i + 1) & (size - 1);
  return &table[i];
}

/* Whether one of these masters has made it, and it is still valid. */
static bool is_valid(const struct claim *c, uint64_t masters, int64_t now_ns) {
  for (uint32_t k = 0; k < BB_MASTERS; k++)
    if ((masters >> k & 1) != 0 && c->ns[k] != 0 && now_ns - c->ns[k] <= CLAIM_NS) return true;
  return false;
}

/* Another table, with the claims that are still valid. False: no memory; the old one stays. */
static bool renew_table(struct claims *c, uint32_t size, int64_t now_ns) {
  struct claim *table = (struct claim *)calloc(size, sizeof *table);
  if (table == NULL) return false;
  uint32_t used = 0;
  for (uint32_t i = 0; i < c->size && used < size / 2; i++) {
    if (!c->table[i].used || !is_valid(&c->table[i], UINT64_MAX, now_ns)) continue;
    *claims_place_of(table, size, c->table[i].name) = c->table[i];
    used++;
  }
  free(c->table);
  c->table = table;
  c->size = size;
  c->used = used;
  return true;
}

bool claims_begin(struct claims *c, uint32_t capacity, int64_t now_ns) {
  uint32_t size = 2;
  while (size < 2 * capacity) size *= 2;
  if (!renew_table(c, size, now_ns)) return false;
  memset(c->masters, 0, sizeof c->masters);
  return true;
}

void claims_free(struct claims *c) { free(c->table); }

static void note_name(struct claims *c, uint32_t master, uint32_t name, bool is_live, int64_t now_ns) {
  struct claim *claim = claims_place_of(c->table, c->size, name);
  if (!claim->used) {
    if (!is_live) return;
    /* Names that came and went: a master has no more nodes at a time than there is room for, or they are claimed by
     * nobody here. */
    if (c->used >= c->size / 2 && (!renew_table(c, c->size, now_ns) || c->used >= c->size / 2)) return;
    claim = claims_place_of(c->table, c->size, name);
    claim->used = true;
    claim->name = name;
    c->used++;
  }
  claim->ns[master] = is_live ? now_ns : 0;
}

/* Whether the master calls that node live: it hears it, by a link that is well and that it has listened to for so long
 * that it would call it silent otherwise. */
static bool is_called_live(const struct relay_index *i, const struct bb_relay_indexed *e,
                           const struct bb_limits *limits) {
  const unsigned link = link_of(e->word);
  const struct bb_link_evidence *by = evidence_by(i->index.evidence, link);
  const uint32_t interval_ms = interval_of(e->word);
  const uint64_t longest_ms = limits->longest_interval_ms;
  const int64_t uncertain_after_ns = bb_limit_for((uint64_t)limits->uncertain_after_ns, interval_ms, longest_ms);
  const int64_t silent_after_ns = bb_limit_for((uint64_t)limits->silent_after_ns, interval_ms, longest_ms);
  return BB_COLUMN_GOODBYE(e->word) == 0 && link != BB_LINK_UNKNOWN && (i->index.links_well >> link & 1) != 0 &&
         from_to(stamp_of(e->word), i->head.taken_ns) <= uncertain_after_ns &&
         from_to(by->heartbeat_ns, i->head.taken_ns) <= HEARD_NS &&
         from_to(by->listening_since_ns, by->heartbeat_ns) > silent_after_ns;
}

bool claims_note(struct claims *c, uint32_t master, const struct relay_index *i, const struct bb_limits *limits,
                 int64_t now_ns) {
  for (uint32_t n = 0; n < i->index.count; n++) {
    const struct bb_relay_indexed e = relay_indexed(i, n);
    /* Two names with the same hash are both claimed: uncertain at worst. */
    if (e.word != 0) note_name(c, master, e.name, is_called_live(i, &e, limits), now_ns);
  }
  if (i->index.part == 0) {
    c->masters[master].number = i->index.number;
    c->masters[master].next_part = 0;
  }
  if (c->masters[master].number != i->index.number || c->masters[master].next_part != i->index.part) return false;
  c->masters[master].next_part++;
  if (c->masters[master].next_part != i->index.parts || c->masters[master].complete) return false;
  return c->masters[master].complete = true;
}

bool claims_are_made(const struct claims *c, uint64_t masters, uint32_t name, int64_t now_ns) {
  return is_valid(claims_place_of(c->table, c->size, name), masters, now_ns);
}

bool claims_are_complete(const struct claims *c, uint64_t masters) {
  for (uint32_t k = 0; k < BB_MASTERS; k++)
    if ((masters >> k & 1) != 0 && !c->masters[k].complete) return false;
  return true;
}

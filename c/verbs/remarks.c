#include "remarks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/hostfold.h"
#include "../base/ipaddress.h"
#include "../judge/liveness.h"
#include "telling.h"
#include "wording.gen.h"

#define DAY_MS UINT64_C(86400000)
/* A rejection younger than this describes the present. */
#define LATELY_MS UINT64_C(60000)

/* Nodes that cannot be judged because their reports come in pieces: what lasts for less is no news. */
#define UNJOINED_NS (UINT64_C(60000) * NS_PER_MS)

/* The least MTU with which a report is one packet of IPv4: the report, and the headers of UDP and IP. */
#define WHOLE_MTU "1,244"
_Static_assert(BB_REPORT_BYTES + 8 + 20 == 1244, "WHOLE_MTU");

#define BIT(state) (1u << BEOBOARD_##state)
/* Nodes that may report nevertheless, and be rejected. */
#define UNHEARD (BIT(SILENT) | BIT(UNCERTAIN) | BIT(NEVER))

void add_all(struct words *words, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  for (const char *next = first; next != NULL; next = va_arg(rest, const char *)) add_text(words, next);
  va_end(rest);
}

/* ---- What is filled in ---- */

/* Longer than any of them: four parts of a host list, of 60 characters each. */
#define SLOT_BYTES 2048

static struct words slot_words(void) { return (struct words){(char *)keep(SLOT_BYTES, 1), SLOT_BYTES, 0}; }

const char *text_number(uint64_t number) {
  struct words words = slot_words();
  add_number(&words, number);
  return text_of(&words);
}

static const char *text_nodes(size_t count) {
  struct words words = slot_words();
  add_plural(&words, count);
  return text_of(&words);
}

void add_plural(struct words *words, size_t count) {
  add_number(words, count);
  add_text(words, count == 1 ? " node" : " nodes");
}

void add_shortened(struct words *words, struct span text, size_t most, void (*add)(struct words *, struct span)) {
  struct span left = text;
  size_t kept = 0;
  for (size_t characters = 0; left.len > 0 && characters < most; characters++) {
    uint32_t character;
    if (characters + 1 == most) kept = text.len - left.len;
    left = without(left, next_character(left, &character));
  }
  add(words, left.len > 0 ? (struct span){text.at, kept} : text);
  if (left.len > 0) add_text(words, "\xe2\x80\xa6");
}

bool add_names(struct words *words, const char *const *names, size_t count, size_t parts, size_t longest) {
  struct folded folded;
  if (!hostlist_fold(&folded, names, count)) give_up_memory();
  for (size_t i = 0; i < folded.count && i < parts; i++) {
    if (i > 0) add_text(words, ",");
    add_shortened(words, span_of(folded.parts[i]), longest, add_span);
  }
  const bool is_more = folded.count > parts;
  folded_free(&folded);
  return is_more;
}

static const char *one_line(const char *text) {
  bool is_plain = true;
  for (const char *c = text; *c != 0; c++) is_plain = is_plain && *c > 0x20 && *c < 0x7f;
  if (is_plain) return text;
  char *line = (char *)keep(BB_NAME_BYTES * 10, 1);
  struct words words = {line, BB_NAME_BYTES * 10, 0};
  add_one_line(&words, span_of(text));
  return text_of(&words);
}

/* A few parts of a host list, shortened. */
static const char *text_names(const char *const *names, size_t count) {
  struct words words = slot_words();
  const char **lines = (const char **)keep(count + 1, sizeof *lines);
  for (size_t i = 0; i < count; i++) lines[i] = one_line(names[i]);
  if (add_names(&words, lines, count, 4, 60)) add_text(&words, ",\xe2\x80\xa6");
  return text_of(&words);
}

/* ---- Time ---- */

/* From a time of CLOCK_MONOTONIC to a look; never negative, whatever the board says. */
static uint64_t since_ns(const struct bb_look *look, uint64_t ns) {
  return (uint64_t)look->now_ns > ns ? (uint64_t)look->now_ns - ns : 0;
}

const char *text_age(uint64_t ns) {
  struct words words = slot_words();
  add_duration(&words, ns / NS_PER_MS);
  return text_of(&words);
}

const char *text_moment(const struct bb_look *look, uint64_t ago_ns) {
  const double ms = (double)(look->real_ns / (int64_t)NS_PER_MS) - (double)ago_ns / (double)NS_PER_MS;
  const int64_t whole = (int64_t)ms;
  const time_t seconds = (time_t)(whole >= 0 ? whole / 1000 : -((-whole + 999) / 1000));
  struct words words = slot_words();
  struct tm at, twin;
  char text[32] = "", offset[32] = "";
  const uint64_t days = ago_ns / (DAY_MS * NS_PER_MS);
  const char *format = days == 0 ? "%H:%M:%S" : days < 183 ? "%b %d %H:%M" : "%Y-%m-%d";
  if (localtime_r(&seconds, &at) != NULL) {
    strftime(text, sizeof text, format, &at);
    twin = at;
    twin.tm_isdst = at.tm_isdst <= 0;
    /* In the hour that happens twice, with its offset. */
    if (days < 183 && mktime(&twin) != seconds && twin.tm_hour == at.tm_hour && twin.tm_min == at.tm_min)
      snprintf(offset, sizeof offset, " %+03ld:%02ld", at.tm_gmtoff / 3600, labs(at.tm_gmtoff) / 60 % 60);
  }
  ADD(&words, text, offset, " (", text_age(ago_ns), ")");
  return text_of(&words);
}

/* ---- The receiver ---- */

static const char *text_accepted_keys(const struct bb_board_header *h) {
  const uint64_t first = h->accepted_keys[0] != 0 ? h->accepted_keys[0] : h->accepted_keys[1];
  if (first == 0) return SAY_RELOAD_NO_KEYS;
  const char *key = text_number(first - 1);
  struct words words = slot_words();
  if (h->accepted_keys[0] == 0 || h->accepted_keys[1] == 0) ADD(&words, SAY_RELOAD_KEY(key));
  else ADD(&words, SAY_RELOAD_KEYS(key, text_number(h->accepted_keys[1] - 1)));
  return text_of(&words);
}

/* That the receiver goes on with old options, because it could not read them again; false: it could. */
static bool add_reload(struct words *words, const struct census *c) {
  const struct bb_board_header *h = c->header;
  if (h->reload_failed_at == BB_RELOAD_PART_NONE || h->reload_failed_at >= BB_RELOAD_PART_COUNT) return false;
  const bool keys = h->reload_failed_at == BB_RELOAD_PART_KEYS, nodes = h->reload_failed_at == BB_RELOAD_PART_NODES;
  const char *what = keys ? "key file" : nodes ? "node list" : "options";
  const char *holds = keys ? text_accepted_keys(h) : nodes ? SAY_RELOAD_NODES : SAY_RELOAD_OPTIONS;
  ADD(words, "; ", SAY_RELOAD(what, text_moment(&c->look, since_ns(&c->look, h->reload_failed_ns)), holds));
  return true;
}

/* ---- Links ---- */

struct link_table {
  struct bb_link_copy all[BB_LINKS];
  uint32_t numbers[BB_LINKS];
  int count;
};

static const char *text_link(const struct link_table *l, int i) {
  const struct bb_link *link = &l->all[i].link;
  if (l->numbers[i] == BB_LINK_OTHERS) return "other interfaces";
  struct words words = slot_words();
  add_one_line(&words, (struct span){link->name, strnlen(link->name, sizeof link->name)});
  if ((link->state & BB_LINK_STATE_IN_PIECES) != 0) add_text(&words, ", in pieces");
  return text_of(&words);
}

/* The name of the link for reports that arrived while the receiver knew of no interfaces. */
static bool is_elsewhere(const struct bb_link *link) {
  return strncmp(link->name, "other namespace", sizeof link->name) == 0;
}

static const char *text_address(const uint8_t address[16]) {
  return print_address(address, (char *)keep(INET6_ADDRSTRLEN, 1));
}

static const char *text_destination(const struct bb_link *link) {
  static const uint8_t none[sizeof link->address];
  struct words words = slot_words();
  add_text(&words, memcmp(link->address, none, sizeof none) == 0 ? "the address" : text_address(link->address));
  if (link->port != 0) ADD(&words, " port ", text_number(link->port));
  return text_of(&words);
}

/* Why nothing is heard by a link that is down. */
static void add_down(struct words *words, const struct census *c, const struct link_table *l, int i) {
  const struct bb_link *link = &l->all[i].link;
  const bool is_gone = (link->state & BB_LINK_STATE_GONE) != 0, is_one = link->nodes == 1;
  const char *name = text_link(l, i), *moment = text_moment(&c->look, since_ns(&c->look, link->changed_ns));
  const char *all = text_nodes(link->nodes), *nodes = is_one ? "one node" : all;
  if (is_gone && is_elsewhere(link)) ADD(words, SAY_LINK_ELSEWHERE(all, is_one, moment));
  else if (is_gone) ADD(words, SAY_LINK_GONE(name, moment, nodes));
  else if ((link->state & BB_LINK_STATE_NO_ADDRESS) == 0) ADD(words, SAY_LINK_DOWN(name, moment, nodes));
  else ADD(words, SAY_LINK_NO_ADDRESS(text_destination(link), name, moment, nodes));
}

/* All nodes of a link fell silent together. */
static void add_dark(struct words *words, const struct link_table *l, int i, uint64_t for_ms) {
  const struct bb_link *link = &l->all[i].link;
  const char *name = text_link(l, i), *age = text_age(for_ms * NS_PER_MS);
  const bool is_all = link->dark_nodes >= link->nodes;
  /* The other nodes were removed from the board, or report by other links. */
  if (link->dark_nodes == 1) ADD(words, SAY_LINK_DARK_LAST(name, age));
  else ADD(words, SAY_LINK_DARK(name, age, is_all, text_number(link->dark_nodes), text_nodes(link->dark_nodes)));
}

/* Whether any node is live by that link; `*youngest`: the least age of its nodes, ms, UINT64_MAX: it has none. */
static bool is_heard(const struct census *c, uint32_t link, uint64_t *youngest) {
  *youngest = UINT64_MAX;
  for (uint32_t i = 0; i < c->nodes; i++) {
    if (census_link(c, i) != link) continue;
    if (c->states[i] == BEOBOARD_LIVE) return true;
    const uint64_t age = census_age(c, i);
    if (age < *youngest) *youngest = age;
  }
  return false;
}

/* The sentence about a link. Returns whether there is one. */
static bool add_news(struct words *words, const struct census *c, const struct link_table *l, int i) {
  const struct bb_link *link = &l->all[i].link;
  uint64_t youngest;
  if (l->numbers[i] == BB_LINK_OTHERS && link->accepted == 0) return false;
  if ((link->state & BB_LINK_STATE_UP) == 0) {
    if (link->nodes > 0) add_down(words, c, l, i);
    return link->nodes > 0;
  }
  /* A receiver updates once a second which links are dark; a link with a live node is not dark any more. */
  if (link->dark_since_ns == 0 || is_heard(c, l->numbers[i], &youngest)) return false;
  add_dark(words, l, i, youngest < UINT64_MAX ? youngest : since_ns(&c->look, link->dark_since_ns) / NS_PER_MS);
  return true;
}

/* Whether a wanted node is behind that link. */
static bool is_behind(const struct census *c, uint32_t link) {
  for (uint32_t i = 0; c->is_asked != NULL && i < c->nodes; i++)
    if (c->is_asked[i] != 0 && census_link(c, i) == link) return true;
  return c->is_asked == NULL;
}

/* ---- Rejections ---- */

/* A node whose newest report was rejected. */
struct refused {
  const char *name;
  int state;
  uint32_t reason;
  uint64_t age_ns;
  int64_t offset_us;
  bool is_told;
};

/* The difference of two clocks without its sign: 2.1 s. */
static const char *text_distance(int64_t offset_us) {
  const uint64_t us = offset_us < 0 ? -(uint64_t)offset_us : (uint64_t)offset_us;
  if (us >= UINT64_C(60000000)) return text_age(us / 1000 * NS_PER_MS);
  const uint64_t tenths = (us + 50000) / 100000; /* rounded half away from zero */
  struct words words = slot_words();
  ADD(&words, text_number(tenths / 10), ".", text_number(tenths % 10), " s");
  return text_of(&words);
}

static const char *text_reason(uint32_t reason, int64_t offset_us) {
  const char *name = beoboard_reason_name((int)reason), *meaning = reason_words[reason].meaning;
  if (reason != BB_REASON_CLOCK && meaning == NULL) return name;
  struct words words = slot_words();
  if (reason == BB_REASON_CLOCK) ADD(&words, SAY_CLOCK_OFF(text_distance(offset_us), offset_us > 0));
  else ADD(&words, SAY_REASON_MEANT(name, meaning));
  return text_of(&words);
}

/* Whether a rejection of that age is recent; exact to the nanosecond, like the other program. */
static bool is_late(uint64_t age_ns) { return age_ns <= LATELY_MS * NS_PER_MS; }

static bool find_refusal(const struct census *c, uint32_t node, const char *name, struct refused *out) {
  struct node_look l;
  census_look(c, node, &l);
  const struct bb_record *r = l.record;
  const uint64_t reason = r->refusal_reason;
  /* A late report says nothing: a newer one of its run had been accepted before. */
  if (reason == BB_REASON_NONE || reason >= BB_REASON_COUNT || reason == BB_REASON_LATE) return false;
  if (l.newest != NULL && r->refusal_ns <= l.newest->stamp_ns) return false;
  *out = (struct refused){name, l.state, (uint32_t)reason, since_ns(&l.look, r->refusal_ns),
    (int64_t)r->refusal_offset_us, false};
  return is_late(out->age_ns);
}

static void add_one_refused(struct words *words, const struct refused *r) {
  const char *name = one_line(r->name);
  struct words refusal = slot_words();
  ADD(&refusal, SAY_REFUSAL(true, text_reason(r->reason, r->offset_us), text_age(r->age_ns)));
  if (r->state == BEOBOARD_NEVER) ADD(words, SAY_REFUSED_NEVER(name, text_of(&refusal)));
  else ADD(words, SAY_REFUSED(name, beoboard_state_name(r->state), text_of(&refusal)));
}

/* A sentence about nodes with the same state and reason. */
static void add_refused(struct words *words, const struct refused *first, const struct refused *end) {
  const char **names = (const char **)keep((size_t)(end - first) + 1, sizeof *names);
  size_t count = 0;
  uint64_t far_us = 0, young_ns = LATELY_MS * NS_PER_MS;
  for (const struct refused *r = first; r < end; r++) {
    if (r->state != first->state || r->reason != first->reason) continue;
    const uint64_t us = r->offset_us < 0 ? -(uint64_t)r->offset_us : (uint64_t)r->offset_us;
    if (us > far_us) far_us = us;
    if (r->age_ns < young_ns) young_ns = r->age_ns;
    names[count++] = r->name;
  }
  if (count == 1) {
    add_one_refused(words, first);
    return;
  }
  struct words off = slot_words();
  ADD(&off, SAY_CLOCKS_OFF(text_distance((int64_t)far_us)));
  const char *shown = text_names(names, count), *age = text_age(young_ns);
  const char *why = first->reason == BB_REASON_CLOCK ? text_of(&off) : text_reason(first->reason, 0);
  if (first->state == BEOBOARD_NEVER) ADD(words, SAY_REFUSED_ALL_NEVER(shown, why, age));
  else ADD(words, SAY_REFUSED_ALL(shown, beoboard_state_name(first->state), why, age));
}

/* ---- Senders that claim the name of another node ---- */

/* What came from one address and was rejected for one reason, under any number of names. */
struct source {
  uint32_t reason;
  const uint8_t *address;
  uint64_t count, first_ns, last_ns;
  const char *names[BB_SENDERS_EACH];
  size_t name_count;
};

/* Whether a name in a report that was rejected so proves nothing, because the signature is missing or false. */
static bool is_unproved(uint32_t reason) { return reason < BB_REASON_COUNT && reason_words[reason].sends != NULL; }

struct senders {
  struct bb_sender all[BB_SENDERS];
  uint32_t order[BB_SENDERS]; /* the most recent first */
  size_t count;
};

/* Of equally old ones, the first one stays first. */
static void order_senders(struct senders *s) {
  for (uint32_t i = 0; i < BB_SENDERS; i++) {
    if (s->all[i].head == 0) continue;
    s->all[i].name[sizeof s->all[i].name - 1] = 0;
    size_t at = s->count++;
    for (; at > 0 && s->all[s->order[at - 1]].last_ns < s->all[i].last_ns; at--) s->order[at] = s->order[at - 1];
    s->order[at] = i;
  }
}

static void add_to_source(struct source *sources, size_t *count, uint32_t reason, const struct bb_sender *sender) {
  size_t i = 0;
  while (i < *count && (sources[i].reason != reason ||
                        memcmp(sources[i].address, sender->address, sizeof sender->address) != 0)) i++;
  struct source *s = &sources[i];
  if (i == *count)
    sources[(*count)++] =
      (struct source){.reason = reason, .address = sender->address, .first_ns = sender->first_ns,
        .last_ns = sender->last_ns};
  s->count += sender->count;
  if (sender->first_ns < s->first_ns) s->first_ns = sender->first_ns;
  if (sender->last_ns > s->last_ns) s->last_ns = sender->last_ns;
  if (sender->name[0] != 0) s->names[s->name_count++] = sender->name;
}

static const char *text_often(const struct census *c, const struct source *s) {
  struct words words = slot_words();
  const char *age = text_age(since_ns(&c->look, s->last_ns));
  if (s->count == 1) ADD(&words, SAY_ONCE(age));
  else ADD(&words, SAY_OFTEN(text_number(s->count), text_age(s->last_ns > s->first_ns ? s->last_ns - s->first_ns : 0),
                             age));
  return text_of(&words);
}

static void add_source(struct words *words, const struct census *c, const struct senders *senders,
                       const struct source *s) {
  struct words names = slot_words();
  size_t of_reason = 0;
  for (size_t i = 0; i < senders->count; i++) of_reason += senders->order[i] / BB_SENDERS_EACH == s->reason;
  const bool is_full = of_reason >= BB_SENDERS_EACH; /* the board has no room for more entries of one reason */
  add_text(&names, " ");
  if (s->name_count == 1) ADD(&names, SAY_CLAIM_NAME(one_line(s->names[0])));
  else ADD(&names, SAY_CLAIM_NAMES(is_full, text_number(s->name_count), text_names(s->names, s->name_count)));
  ADD(words, SAY_CLAIM(text_address(s->address), reason_words[s->reason].sends, text_of(&names), text_often(c, s),
                       reason_words[s->reason].why));
}

/* ---- Two machines that report as one ---- */

/* A node as which two machines report. */
struct cloned {
  struct bb_memory memory;
  uint64_t since_ns; /* so long ago */
  bool is_proved;
};

static bool find_clone(const struct census *c, uint32_t node, struct cloned *out) {
  struct node_look l;
  const struct bb_board_header *h = &c->board.header;
  census_look(c, node, &l);
  memcpy(&out->memory, (const uint8_t *)l.record + h->memory_offset, offsetof(struct bb_memory, digests));
  const struct bb_memory *m = &out->memory;
  const uint32_t interval_ms = l.newest == NULL ? 0 : l.newest->report.interval_ms;
  if (m->clone_head == 0 ||
      !bb_clone_lasts(m->clone_ns, (uint64_t)l.look.now_ns, interval_ms, c->header->longest_interval_ms))
    return false;
  out->since_ns = since_ns(&l.look, m->clone_since_ns);
  out->is_proved = (c->header->mirror_masters != 0 ? l.record->auth_proved
                    : l.record->order_proved) != BB_AUTH_ALG_NONE;
  return true;
}

static void add_clone(struct words *words, const struct census *c, const char *name, const struct cloned *one) {
  const struct bb_memory *m = &one->memory;
  const char *address = text_address(m->clone_address), *moment = text_moment(&c->look, one->since_ns);
  struct words from = slot_words();
  if (memcmp(m->clone_address, m->clone_other, sizeof m->clone_address) == 0)
    ADD(&from, SAY_CLONE_ONE_ADDRESS(address));
  else ADD(&from, SAY_CLONE_ADDRESSES(address, text_address(m->clone_other)));
  ADD(words, "; ", SAY_CLONE(one_line(name), moment, text_of(&from), !one->is_proved));
}

/* ---- All of it ---- */

/* What is written so far, and the beginning of the next sentence. */
struct writing {
  struct words words;
  struct remarks *out;
};

static void end_sentence(struct writing *w, size_t begun) {
  if (w->words.len + 1 >= w->words.room || w->out->count == BB_SENDERS) return;
  w->words.text[w->words.len++] = 0;
  w->out->texts[w->out->count++] = w->words.text + begun;
}

static const struct link_table *links_of(const struct census *c) {
  struct link_table *l = (struct link_table *)keep(1, sizeof *l);
  l->count = bb_board_links(&c->board, l->all, l->numbers);
  if (l->count < 0) give_up("the board was cut short", NO_BOARD);
  return l;
}

static void tell_links(const struct census *c, struct writing *w) {
  const struct link_table *l = links_of(c);
  for (int i = 0; i < l->count; i++) {
    const size_t begun = w->words.len;
    if (is_behind(c, l->numbers[i]) && add_news(&w->words, c, l, i)) end_sentence(w, begun);
  }
}

/* Whether a name is among these. */
static bool is_among(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static const struct senders *senders_of(const struct census *c) {
  struct senders *senders = (struct senders *)keep(1, sizeof *senders);
  if (bb_board_senders(&c->board, senders->all) != 0) give_up("the board was cut short", NO_BOARD);
  order_senders(senders);
  return senders;
}

static void tell_claims(const struct census *c, const char *const *unheard, size_t count, struct writing *w) {
  const struct senders *senders = senders_of(c);
  struct source *sources = (struct source *)keep(BB_SENDERS, sizeof *sources);
  size_t source_count = 0;
  for (size_t i = 0; i < senders->count; i++) {
    const struct bb_sender *s = &senders->all[senders->order[i]];
    const uint32_t reason = senders->order[i] / BB_SENDERS_EACH;
    if (reason != BB_REASON_LATE && is_late(since_ns(&c->look, s->last_ns)))
      add_to_source(sources, &source_count, reason, s);
  }
  for (size_t i = 0; i < source_count; i++) {
    bool is_of_them = false;
    for (size_t k = 0; k < sources[i].name_count; k++)
      is_of_them = is_of_them || is_among(unheard, count, sources[i].names[k]);
    if (!is_of_them || !is_unproved(sources[i].reason)) continue;
    const size_t begun = w->words.len;
    add_source(&w->words, c, senders, &sources[i]);
    end_sentence(w, begun);
  }
}

/* That more nodes report than the board has room for; false: it has room, or none of them reported lately. */
static bool add_full(struct words *words, const struct census *c) {
  if (c->header->count < c->header->capacity) return false;
  const struct senders *senders = senders_of(c);
  const char *names[BB_SENDERS_EACH];
  size_t entries = 0, count = 0;
  for (size_t i = 0; i < senders->count; i++) {
    const struct bb_sender *s = &senders->all[senders->order[i]];
    if (senders->order[i] / BB_SENDERS_EACH != BB_REASON_FULL || !is_late(since_ns(&c->look, s->last_ns))) continue;
    entries++;
    if (!is_among(names, count, s->name)) names[count++] = s->name;
  }
  if (count == 0) return false;
  const bool is_more = entries >= BB_SENDERS_EACH; /* the board has no room for more entries of one reason */
  const char *room = text_nodes(c->header->capacity), *shown = text_names(names, count);
  ADD(words, "; ", SAY_FULL(room, text_number(count), is_more, count == 1, shown));
  return true;
}

/* That the kernel has failed for a minute to join what comes in pieces by a link with nodes; false: it has not. */
static bool add_unjoined(struct words *words, const struct census *c, const struct link_table *l, int i) {
  const struct bb_link *link = &l->all[i].link;
  const uint64_t ago = since_ns(&c->look, link->unjoined_since_ns);
  if ((link->state & BB_LINK_STATE_IN_PIECES) == 0 || link->nodes == 0 || link->unjoined_since_ns == 0 ||
      ago < UNJOINED_NS)
    return false;
  const char *nodes = text_nodes(link->nodes), *moment = text_moment(&c->look, ago);
  ADD(words, "; ", SAY_UNJOINED(moment, nodes, text_link(l, i), link->nodes == 1, WHOLE_MTU));
  return true;
}

/* So many nodes get a sentence each; the rest share one. */
#define EACH_MOST 3

/* The asked nodes as which two machines report; false: there are none. */
static bool add_clones(struct words *words, const struct census *c) {
  /* Nearly always there has never been one. */
  if (c->stalled || c->header->clone_ns == 0 || c->board.header.memory_bytes < offsetof(struct bb_memory, digests))
    return false;
  uint8_t *is_cloned = (uint8_t *)keep(c->nodes + 1u, 1);
  struct cloned first[EACH_MOST], one;
  size_t count = 0;
  for (uint32_t i = 0; i < c->nodes; i++) {
    if ((c->is_asked != NULL && c->is_asked[i] == 0) || !find_clone(c, i, &one)) continue;
    is_cloned[i] = 1;
    if (count < EACH_MOST) first[count] = one;
    count++;
  }
  const struct node_list cloned = census_pick(c, is_cloned);
  for (size_t i = 0; i < count && i < EACH_MOST; i++) add_clone(words, c, cloned.names[i], &first[i]);
  if (count <= EACH_MOST) return count > 0;
  const size_t more = count - EACH_MOST;
  ADD(words, "; ", SAY_CLONES_MORE(text_number(more), text_names(cloned.names + EACH_MOST, more)));
  return true;
}

bool add_warnings(struct words *words, const struct census *c) {
  bool any = add_clones(words, c);
  any = add_reload(words, c) || any;
  any = add_full(words, c) || any;
  const struct link_table *l = links_of(c);
  for (int i = 0; i < l->count; i++) any = add_unjoined(words, c, l, i) || any;
  return any;
}

static bool has_refusals(const struct census *c) {
  for (size_t i = 0; i < BB_REASON_COUNT; i++)
    if (c->header->refused[i] > 0) return true;
  return false;
}

/* What was rejected in the names of those nodes. */
static void tell_refusals(const struct census *c, const struct node_list *list, struct writing *w) {
  const char **unheard = (const char **)keep(list->count + c->not_on_board_count + 1, sizeof *unheard);
  struct refused *refused = (struct refused *)keep(list->count + 1, sizeof *refused);
  size_t unheard_count = 0, count = 0;
  for (size_t i = 0; i < list->count; i++) {
    if ((UNHEARD >> c->states[list->numbers[i]] & 1) == 0) continue;
    unheard[unheard_count++] = list->names[i];
    if (find_refusal(c, list->numbers[i], list->names[i], &refused[count])) count++;
  }
  for (size_t i = 0; i < c->not_on_board_count; i++) unheard[unheard_count++] = c->not_on_board[i];
  for (struct refused *r = refused; r < refused + count; r++) {
    if (r->is_told) continue;
    const size_t begun = w->words.len;
    for (struct refused *other = r; other < refused + count; other++)
      other->is_told = other->is_told || (other->state == r->state && other->reason == r->reason);
    add_refused(&w->words, r, refused + count);
    end_sentence(w, begun);
  }
  if (unheard_count > 0) tell_claims(c, unheard, unheard_count, w);
}

struct remarks remarks_of(const struct census *c, const struct node_list *list, const char *other) {
  struct remarks remarks = {(const char **)keep(BB_SENDERS, sizeof *remarks.texts), 0};
  if (other[0] != 0) remarks.texts[remarks.count++] = other;
  struct writing w = {long_words(), &remarks};
  if (c->stalled) return remarks;
  tell_links(c, &w);
  if (has_refusals(c)) tell_refusals(c, list, &w);
  return remarks;
}

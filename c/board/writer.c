#include "writer.h"

#include <stdlib.h>

#include "../base/invariant.h"
#include "../format/validate.h"
#include "../rules/interval.h"
#include "../rules/keyring.h"
#include "../rules/order.h"
#include "column.h"
#include "file.h"
#include "hearing.h"
#include "memory.h"
#include "records.h"
#include "rejected.h"
#include "repair.h"
#include "seqlock.h"

/* What the rules keep of a record in memory of our own: nearly no board ever needs it, and after a restart or on
 * another board a report or three more are asked for. */
struct bb_kept {
  struct bb_return back;
  struct bb_turns turns;
  uint8_t other[16]; /* where the last report of another machine came from */
};

struct bb_writer {
  struct bb_mapped board;
  struct bb_place place;
  bool listed_only;
  bool editing;
  bool displaced; /* Another process holds the lock, and has its own board at the path. */
  struct bb_limits limits;
  struct bb_keyring *keys; /* NULL: signatures are not verified. */
  enum bb_auth_alg required;
  struct bb_kept *kept; /* By record; NULL: there was nothing to keep yet. Pages that are not written cost nothing. */
  struct bb_links links;
  struct bb_rejections rejections;
  struct {
    int64_t event_ns; /* The time of the last event. */
    uint64_t drops;   /* Datagrams dropped since then. */
  } overflow;
};

/* ---- another board in its place ---- */

/* Copies the ring: its numbers stay, and a record gets the number that it has on the new board, by `numbers`. */
static void copy_events(struct bb_mapped *to, const struct bb_mapped *from, const uint32_t *numbers) {
  const uint64_t last = from->header->event_last, room = from->header->events;
  for (uint64_t number = last > room ? last - room + 1 : 1; number <= last; number++) {
    const struct bb_event *e = event_at(from, number);
    if (e->head != 2 * number) continue; /* On a corrupt board that was taken over. */
    struct bb_event copy = *e;
    const bool of_record =
        (e->kind >= BB_EVENT_KIND_RESTART && e->kind <= BB_EVENT_KIND_REFUSAL) || e->kind == BB_EVENT_KIND_CLONE;
    if (of_record && e->subject != BB_NO_SUBJECT)
      copy.subject = e->subject < from->header->count ? numbers[e->subject] : BB_NO_SUBJECT;
    *event_at(to, number) = copy;
  }
}

/* Makes sure that these names have a record. There must be room for all. */
static void insert_listed(struct bb_mapped *b, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t found = bb_record_of(b, names[i], bb_hash_of(b, names[i]));
    bb_store(&record_at(b, found != NONE ? found : bb_new_record(b, names[i]))->flags, BB_RECORD_FLAGS_LISTED);
  }
}

/* Builds a board of this capacity from an old one, with the records that `keep` selects (all if it is NULL) and
 * those that are listed, puts it in the old one's place and retires that, unless another writer owns that place by
 * now. Readers that have mapped the old one follow by themselves. A kill at any point leaves one of the two boards
 * whole at the path. */
static bool rebuild(struct bb_writer *w, uint32_t capacity, const bool *keep, const char *const *listed,
                    size_t listed_count, char *why, size_t size) {
  if (bb_place_keep(&w->place, why, size) == BB_HELD_BY_ANOTHER) {
    w->displaced = true;
    return false;
  }
  struct bb_mapped new;
  struct bb_board_header header = *w->board.header;
  bb_file_plan(&header, capacity);
  header.count = 0;
  header.created_real_ns = (uint64_t)bb_clock_ns(CLOCK_REALTIME);
  const uint32_t count = (uint32_t)w->board.header->count;
  uint32_t *numbers = (uint32_t *)malloc((count > 0 ? count : 1) * sizeof *numbers);
  if (numbers == NULL) return bb_fail(why, size, "out of memory");
  if (!bb_file_create(&w->place, &new, &header, why, size)) {
    free(numbers);
    return false;
  }
  bb_file_use_huge_pages(&new, BB_BRIEFLY_NS);
  /* Links keep their numbers, which are in the copied slots and words, and rejections keep their times. */
  memcpy(link_at(&new, 0), link_at(&w->board, 0), (size_t)header.links * header.links_stride);
  memcpy(sender_at(&new, 0), sender_at(&w->board, 0), (size_t)header.senders * header.senders_stride);
  uint64_t forgotten = 0;
  for (uint32_t i = 0; i < count; i++) {
    numbers[i] = BB_NO_SUBJECT;
    if (keep != NULL && !keep[i]) {
      forgotten++;
      continue;
    }
    numbers[i] = bb_new_record(&new, record_at(&w->board, i)->name);
    bb_copy_record(&new, numbers[i], &w->board, i);
    *column_word(&new, numbers[i]) = bb_load(column_word(&w->board, i));
  }
  copy_events(&new, &w->board, numbers);
  free(numbers);
  insert_listed(&new, listed, listed_count);
  if (!bb_file_publish(&w->place, &new, why, size)) return false;
  bb_file_retire(&w->board);
  bb_file_unmap(&w->board);
  w->board = new;
  free(w->kept); /* records have other numbers now */
  w->kept = NULL;
  if (forgotten > 0) bb_add_event(&w->board, BB_EVENT_KIND_FORGET, BB_NO_SUBJECT, forgotten, NULL);
  if (w->keys != NULL) bb_keyring_renumber(w->keys, capacity);
  return true;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Which records stay with this node list, and how many are missing on the board. */
static bool *choose(const struct bb_writer *w, const struct bb_writer_options *o, uint32_t *kept, uint32_t *missing) {
  const uint32_t count = (uint32_t)w->board.header->count;
  bool *keep = (bool *)calloc(count > 0 ? count : 1, sizeof *keep);
  const char **sorted = (const char **)malloc((o->node_count > 0 ? o->node_count : 1) * sizeof *sorted);
  if (keep != NULL && sorted != NULL) {
    if (o->node_count > 0) {
      memcpy(sorted, o->nodes, o->node_count * sizeof *sorted);
      qsort(sorted, o->node_count, sizeof *sorted, compare_names);
    }
    *kept = 0;
    *missing = (uint32_t)o->node_count;
    for (uint32_t i = 0; i < count; i++) {
      const char *name = record_at(&w->board, i)->name;
      const bool listed =
          o->node_count > 0 && bsearch(&name, sorted, o->node_count, sizeof *sorted, compare_names) != NULL;
      /* Without a list, names that only an earlier list brought are removed. */
      keep[i] = o->node_count > 0 ? listed : newest_slot(&w->board, i) >= 0;
      *kept += keep[i];
      *missing -= listed;
    }
  } else {
    free(keep);
    keep = NULL;
  }
  free(sorted);
  return keep;
}

/* Makes the board contain the nodes of the options. */
static bool select_nodes(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  const uint32_t count = (uint32_t)w->board.header->count;
  uint32_t kept = 0, missing = 0;
  bool *keep = choose(w, o, &kept, &missing);
  if (keep == NULL) return bb_fail(why, size, "out of memory");
  bool ok = true;
  if ((uint64_t)kept + missing > o->capacity)
    ok = bb_fail(why, size, "%s: %u nodes do not fit; give --capacity %u", w->place.path, kept + missing,
                 kept + missing);
  else if (kept != count || w->board.header->capacity != o->capacity)
    ok = rebuild(w, o->capacity, keep, o->nodes, o->node_count, why, size);
  free(keep);
  if (!ok) return false;
  if (o->node_count > 0) insert_listed(&w->board, o->nodes, o->node_count);
  else
    for (uint32_t i = 0; i < w->board.header->count; i++) bb_store(&record_at(&w->board, i)->flags, 0);
  w->listed_only = o->node_count > 0;
  return true;
}

/* ---- opening ---- */

/* The keys of the options, for a board of their capacity. False: no memory. */
static bool make_keys(const struct bb_writer_options *o, struct bb_keyring **keys, char *why, size_t size) {
  *keys = o->key_count == 0 ? NULL : bb_keyring_new(o->keys, o->key_count, o->capacity);
  return o->key_count == 0 || *keys != NULL || bb_fail(why, size, "out of memory");
}

/* Puts these keys in place of the old ones. */
static void set_keys(struct bb_writer *w, const struct bb_writer_options *o, struct bb_keyring *keys) {
  bb_keyring_free(w->keys);
  w->keys = keys;
  w->rejections.has_keys = keys != NULL;
  w->required = keys == NULL ? BB_AUTH_ALG_NONE : o->required;
}

/* What is in force from now on. */
static void write_terms(struct bb_writer *w, const struct bb_writer_options *o) {
  struct bb_board_header *h = w->board.header;
  for (size_t i = 0; i < sizeof h->accepted_keys / sizeof *h->accepted_keys; i++)
    bb_store(&h->accepted_keys[i], i < o->key_count ? o->keys[i].id + UINT64_C(1) : 0);
  bb_store(&h->reload_failed_at, BB_RELOAD_PART_NONE);
  bb_store(&h->uncertain_after_ns, (uint64_t)o->uncertain_after_ns);
  bb_store(&h->silent_after_ns, (uint64_t)o->silent_after_ns);
  bb_store(&h->longest_interval_ms, o->longest_interval_ms);
  w->limits.longest_interval_ms = o->longest_interval_ms;
  w->limits.uncertain_after_ns = o->uncertain_after_ns;
  w->limits.silent_after_ns = o->silent_after_ns;
  w->limits.clock_window_ns = o->clock_window_ns;
}

/* Makes a fresh board. */
static bool make_fresh(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  struct bb_board_header h;
  bb_fresh_header(&h, &(struct bb_cluster){o->cluster_name, o->cluster_id}, o->capacity);
  if (!bb_file_create(&w->place, &w->board, &h, why, size)) return false;
  bb_file_use_huge_pages(&w->board, INT64_MAX);
  /* Before it is published: no reader may see a board without the names of the list. */
  insert_listed(&w->board, o->nodes, o->node_count);
  write_terms(w, o);
  bb_begin_instance(&w->board, w->board.header->instance + 1);
  return bb_file_publish(&w->place, &w->board, why, size);
}

/* Takes over a board: continues it with everything on it. Nothing else in C is called `take`: what is read, parsed,
 * accepted, copied, set, undone, removed, locked, received or allocated has that word in its name. */
static bool take_over(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  if (!select_nodes(w, o, why, size)) return false;
  write_terms(w, o);
  bb_begin_instance(&w->board, w->board.header->instance + 1);
  bb_add_event(&w->board, BB_EVENT_KIND_TAKEOVER, BB_NO_SUBJECT, w->board.header->instance, NULL);
  return true;
}

static void writer_dispose(struct bb_writer *w) {
  bb_file_unmap(&w->board);
  bb_keyring_free(w->keys);
  free(w->kept);
  bb_place_release(&w->place);
  free(w);
}

/* Names from outside must be valid before anything is done with them. */
static bool check_names(const char *const *names, size_t count, char *why, size_t size) {
  for (size_t i = 0; i < count; i++) {
    char name[64] = {0};
    memcpy(name, names[i], strnlen(names[i], sizeof name));
    if (!bb_is_name(name)) return bb_fail(why, size, "\"%.63s\" is not a node name", names[i]);
  }
  return true;
}

static bool check_options(const struct bb_writer_options *o, char *why, size_t size) {
  if (!check_names(o->nodes, o->node_count, why, size)) return false;
  return o->node_count <= o->capacity ||
         bb_fail(why, size, "%zu nodes do not fit; give --capacity %zu", o->node_count, o->node_count);
}

/* A writer that holds the lock of this path, and has no board yet. */
static struct bb_writer *writer_hold(const char *path, char *why, size_t size) {
  struct bb_writer *w = (struct bb_writer *)calloc(1, sizeof *w);
  if (w == NULL) return NULL;
  if (bb_place_hold(&w->place, path, why, size)) return w;
  writer_dispose(w);
  return NULL;
}

/* Until it has listened, what the board says of the hearing of the writer before is true of this one. */
static void begin_listening(struct bb_writer *w) {
  const struct bb_board_header *h = w->board.header;
  const int64_t now_ns = bb_clock_ns(CLOCK_BOOTTIME), ahead_ns = now_ns - bb_clock_ns(CLOCK_MONOTONIC);
  const struct bb_link_evidence own = {h->heartbeat_ns, h->listening_since_ns};
  bb_links_inherit(&w->links, &w->board, now_ns, ahead_ns);
  w->links.hearing[BB_LINK_UNKNOWN] = bb_hearing_inherited(own, now_ns, ahead_ns);
  w->rejections.board = &w->board;
  bb_writer_resumed(w, now_ns - ahead_ns);
}

struct bb_writer *bb_writer_open(const struct bb_writer_options *o, char *why, size_t size) {
  if (!check_options(o, why, size)) return NULL;
  struct bb_writer *w = writer_hold(o->path, why, size);
  if (w == NULL) return NULL;
  w->listed_only = o->node_count > 0;
  struct bb_mapped old = {0};
  struct bb_keyring *keys;
  enum bb_found found =
      make_keys(o, &keys, why, size)
          ? bb_file_examine(&w->place, BB_SIDE_RECEIVER, &(struct bb_cluster){o->cluster_name, o->cluster_id}, &old,
                            why, size)
          : BB_FOUND_FAULT;
  set_keys(w, o, keys);
  if (found == BB_FOUND_BOARD)
    found = bb_claim_board(&w->place, &w->board, &old, bb_clock_ns(CLOCK_MONOTONIC), why, size);
  bool ok = found != BB_FOUND_FAULT;
  if (found == BB_FOUND_BOARD) ok = take_over(w, o, why, size);
  else if (ok) {
    ok = make_fresh(w, o, why, size);
    if (ok && old.map != NULL) bb_file_retire(&old);
  }
  bb_file_unmap(&old);
  if (ok) {
    begin_listening(w);
    return w;
  }
  writer_dispose(w);
  return NULL;
}

struct bb_writer *bb_writer_edit(const char *path, char *why, size_t size) {
  struct bb_writer *w = writer_hold(path, why, size);
  if (w == NULL) return NULL;
  w->editing = true;
  struct bb_mapped old = {0};
  enum bb_found found = bb_file_examine(&w->place, BB_SIDE_RECEIVER, NULL, &old, why, size);
  if (found == BB_FOUND_BOARD)
    found = bb_claim_board(&w->place, &w->board, &old, bb_clock_ns(CLOCK_MONOTONIC), why, size);
  if (found == BB_FOUND_BOARD) {
    begin_listening(w);
    return w;
  }
  if (found == BB_FOUND_NOTHING)
    bb_fail(why, size, "%s: there is no board of this boot and version", path);
  bb_file_unmap(&old);
  writer_dispose(w);
  return NULL;
}

bool bb_writer_change(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  struct bb_keyring *keys;
  if (!check_options(o, why, size) || !make_keys(o, &keys, why, size)) return false;
  if (!select_nodes(w, o, why, size)) {
    bb_keyring_free(keys);
    return false;
  }
  set_keys(w, o, keys);
  write_terms(w, o);
  return true;
}

void bb_writer_reload_failed(struct bb_writer *w, enum bb_reload_part part) {
  struct bb_board_header *h = w->board.header;
  if (h->reload_failed_at == BB_RELOAD_PART_NONE)
    bb_store(&h->reload_failed_ns, (uint64_t)bb_clock_ns(CLOCK_MONOTONIC));
  bb_store(&h->reload_failed_at, part);
}

bool bb_writer_forget(struct bb_writer *w, const char *const *names, size_t count, bool *found, char *why,
                      size_t size) {
  if (!check_names(names, count, why, size)) return false;
  const uint32_t records = (uint32_t)w->board.header->count;
  bool *keep = (bool *)malloc(records > 0 ? records : 1);
  const char **listed = (const char **)malloc((count > 0 ? count : 1) * sizeof *listed);
  bool ok = keep != NULL && listed != NULL;
  if (!ok) bb_fail(why, size, "out of memory");
  size_t forgotten = 0, listed_count = 0;
  if (ok) memset(keep, true, records);
  for (size_t i = 0; ok && i < count; i++) {
    const uint32_t record = bb_record_of(&w->board, names[i], bb_hash_of(&w->board, names[i]));
    found[i] = record != NONE;
    if (record == NONE || !keep[record]) continue;
    keep[record] = false;
    forgotten++;
    if (record_at(&w->board, record)->flags & BB_RECORD_FLAGS_LISTED) listed[listed_count++] = names[i];
  }
  if (ok && forgotten > 0) ok = rebuild(w, w->board.header->capacity, keep, listed, listed_count, why, size);
  free(keep);
  free(listed);
  return ok;
}

bool bb_writer_clear(struct bb_writer *w, const char *const *names, size_t count, uint8_t *found, char *why,
                     size_t size) {
  if (!check_names(names, count, why, size)) return false;
  for (size_t i = 0; i < count; i++) {
    const uint32_t record = bb_record_of(&w->board, names[i], bb_hash_of(&w->board, names[i]));
    found[i] = BB_CLEAR_NOBODY;
    if (record == NONE) continue;
    uint32_t problems;
    found[i] = bb_memory_clear(&w->board, record, &problems) ? BB_CLEAR_DONE : BB_CLEAR_NOTHING;
    if (found[i] == BB_CLEAR_DONE) bb_add_event(&w->board, BB_EVENT_KIND_CLEAR, record, problems, NULL);
  }
  return true;
}

void bb_writer_close(struct bb_writer *w) {
  struct bb_board_header *h = w->board.header;
  if (w->displaced) bb_file_retire(&w->board);
  if (!w->editing) bb_store(&h->state, bb_load(&h->state) | BB_BOARD_STATE_CLOSED);
  writer_dispose(w);
}

/* ---- reports ---- */

/* What the record knows about its node's runs; `newest`: its newest slot. */
static void load_order(struct bb_order *o, const struct bb_writer *w, uint32_t record, int newest) {
  const struct bb_mapped *b = &w->board;
  memset(o, 0, sizeof *o);
  if (newest < 0) return;
  const struct bb_record *r = record_at(b, record);
  const struct bb_slot *slot = slot_at(b, record, (uint32_t)newest);
  o->heard = true;
  o->start_boot_ns = r->start_boot_ns;
  o->history_seq = r->history_seq;
  o->history = r->history;
  o->history_lost = r->history_lost;
  memcpy(o->known, r->known, sizeof o->known);
  o->proved = (enum bb_auth_alg)r->order_proved;
  o->stamp_ns = (int64_t)slot->stamp_ns;
  o->stamp_real_ns = (int64_t)slot->stamp_real_ns;
  o->seq = slot->report.seq;
  o->interval_ms = slot->report.interval_ms;
  o->t_boot_ns = slot->report.t_boot_ns;
  o->t_real_ns = slot->report.t_real_ns;
  o->goodbye = (slot->report.flags & BB_FLAGS_GOODBYE) != 0;
  o->interrupted = o->stamp_ns < w->links.resumed_ns[link_of(*column_word(b, record))];
  if (w->kept == NULL) return;
  o->back = w->kept[record].back;
  o->turns = w->kept[record].turns;
}

/* Keeps what is not on the board. */
static void keep_aside(struct bb_writer *w, uint32_t record, const struct bb_order *o,
                       const struct bb_arrival *of_another) {
  if (w->kept == NULL && o->back.stamp_ns == 0 && !o->turns.pending) return;
  if (w->kept == NULL) w->kept = (struct bb_kept *)calloc(w->board.header->capacity, sizeof *w->kept);
  if (w->kept == NULL) return;
  struct bb_kept *k = &w->kept[record];
  if (k->back.stamp_ns != o->back.stamp_ns) k->back = o->back;
  if (memcmp(&k->turns, &o->turns, sizeof k->turns) != 0) k->turns = o->turns;
  if (of_another != NULL) memcpy(k->other, of_another->address, sizeof k->other);
}

/* The word that holds the digest of a number, and where in it. */
static uint64_t *digest_word(const struct bb_mapped *b, uint32_t record, uint32_t seq) {
  return &memory_at(b, record)->digests[seq % 64 / 4];
}

static unsigned digest_shift(uint32_t seq) { return seq % 4 * 16; }

/* Stored before the history says that the number has come: whoever is killed between leaves a digest of no number, or a
 * record of which the order does not agree with its newest report, and which is repaired. */
static void store_digest(const struct bb_mapped *b, uint32_t record, const struct bb_report *report) {
  uint64_t *word = digest_word(b, record, report->seq);
  const unsigned shift = digest_shift(report->seq);
  bb_store(word, (*word & ~(UINT64_C(0xffff) << shift)) | (uint64_t)bb_order_digest(report) << shift);
}

/* Says on the board that two machines report as this node, and from where when that began: this report, and that of the
 * other machine before it. */
static void tell_clone(struct bb_writer *w, uint32_t record, const struct bb_report *report,
                       const struct bb_arrival *arrival) {
  struct bb_mapped *b = &w->board;
  struct bb_memory *m = memory_at(b, record);
  const uint64_t now_ns = (uint64_t)arrival->stamp_ns, sequence = m->clone_head + 2;
  const bool is_new = !bb_clone_lasts(m->clone_ns, now_ns, report->interval_ms, w->limits.longest_interval_ms);
  uint64_t address[2], other[2];
  memcpy(address, arrival->address, sizeof address);
  memcpy(other, w->kept[record].other, sizeof other);
  const bool is_lower = memcmp(address, other, sizeof address) <= 0;
  bb_write_begin(&m->clone_head, &m->clone_tail, sequence);
  bb_store(&m->clone_ns, now_ns);
  if (is_new) {
    bb_store(&m->clone_since_ns, now_ns);
    bb_copy_in(m->clone_address, is_lower ? address : other, sizeof address);
    bb_copy_in(m->clone_other, is_lower ? other : address, sizeof other);
  }
  bb_write_end(&m->clone_head, sequence);
  bb_store(&b->header->clone_ns, now_ns);
  if (is_new) bb_add_event(b, BB_EVENT_KIND_CLONE, record, 0, arrival);
}

uint64_t bb_writer_expect(const struct bb_writer *w, const uint8_t *datagram) {
  const struct bb_mapped *b = &w->board;
  char name[64];
  memcpy(name, datagram + offsetof(struct bb_report, hostname), sizeof name);
  name[sizeof name - 1] = 0;
  const uint64_t hash = bb_hash_of(b, name);
  __builtin_prefetch(index_entry(b, hash & (b->header->index_slots - 1)));
  return hash;
}

/* The record that a name most probably has: NONE for unlisted nodes, and for names whose place in the index is
 * another name's. */
static uint32_t guess(const struct bb_mapped *b, uint64_t hash) {
  const uint64_t entry = *index_entry(b, hash & (b->header->index_slots - 1));
  return entry >> 32 == hash >> 32 ? (uint32_t)entry - 1 : NONE;
}

void bb_writer_fetch(const struct bb_writer *w, uint64_t expected) {
  const struct bb_mapped *b = &w->board;
  const uint32_t record = guess(b, expected);
  if (record == NONE) return;
  const uint8_t *const r = (const uint8_t *)record_at(b, record);
  for (size_t at = 0; at < sizeof(struct bb_record); at += 64) __builtin_prefetch(r + at, 1);
  for (uint32_t i = 0; i < 2; i++) {
    const struct bb_slot *slot = slot_at(b, record, i);
    __builtin_prefetch(slot, 1);
    __builtin_prefetch(&slot->tail, 1);
  }
  /* For reading: few reports change what is remembered. */
  const struct bb_memory *m = memory_at(b, record);
  __builtin_prefetch(&m->recent);
  __builtin_prefetch(m->rising);
  __builtin_prefetch(column_word(b, record), 1);
}

void bb_writer_fetch_slot(const struct bb_writer *w, uint64_t expected) {
  const struct bb_mapped *b = &w->board;
  const uint32_t record = guess(b, expected);
  if (record == NONE) return;
  const uint32_t older = slot_at(b, record, 0)->head > slot_at(b, record, 1)->head;
  const uint8_t *const slot = (const uint8_t *)slot_at(b, record, older);
  for (size_t at = 64; at < sizeof(struct bb_slot); at += 64) __builtin_prefetch(slot + at, 1);
}

/* Whether a report of this name must be rejected because of its signature. */
static enum bb_reason prove(struct bb_writer *w, uint32_t record, const uint8_t *datagram, enum bb_auth_alg *proved) {
  *proved = BB_AUTH_ALG_NONE;
  if (w->keys == NULL) return BB_REASON_NONE;
  enum bb_auth_alg least = w->required;
  /* A name that has proved a key is not trusted with a weaker proof. */
  if (record != NONE && record_at(&w->board, record)->auth_proved > least)
    least = (enum bb_auth_alg)record_at(&w->board, record)->auth_proved;
  return bb_keyring_prove(w->keys, datagram, record, least, proved);
}

/* The event of an accepted report; NONE: none. */
static enum bb_event_kind writer_news_of(enum bb_verdict verdict, bool goodbye) {
  if (verdict == BB_RESTART) return BB_EVENT_KIND_RESTART;
  if (verdict == BB_REBOOT) return BB_EVENT_KIND_REBOOT;
  if (verdict == BB_RESET) return BB_EVENT_KIND_RESET;
  return goodbye ? BB_EVENT_KIND_GOODBYE : BB_EVENT_KIND_NONE;
}

/* Not below 0: a receiver that was killed between the order block and this counter may not have counted it. */
static void undo_count(uint64_t *counter) {
  if (*counter > 0) bb_store(counter, *counter - 1);
}

int bb_writer_deliver(struct bb_writer *w, const uint8_t *datagram, size_t length, struct bb_arrival *arrival) {
  struct bb_mapped *b = &w->board;
  bb_add(&b->header->received, 1);
  enum bb_reason invalid = bb_validate(datagram, length, b->header->cluster_id);
  /* Before this point the node of the datagram is unknown. */
  if (invalid != BB_REASON_NONE && invalid != BB_REASON_INTERVAL && invalid != BB_REASON_RANGE)
    return bb_reject(&w->rejections, invalid, datagram, length, arrival);
  const struct bb_report *report = (const struct bb_report *)datagram;
  const uint64_t hash = arrival->expected != 0 ? arrival->expected : bb_hash_of(b, report->hostname);
  uint32_t record = bb_record_of(b, report->hostname, hash);
  enum bb_auth_alg proved = BB_AUTH_ALG_NONE;
  if (invalid == BB_REASON_NONE) invalid = prove(w, record, datagram, &proved);
  const int newest = record == NONE ? -1 : newest_slot(b, record);
  struct bb_order order;
  load_order(&order, w, record, newest);
  if (invalid != BB_REASON_NONE)
    return record == NONE ? bb_reject(&w->rejections, invalid, datagram, length, arrival)
                          : bb_reject_report(&w->rejections, record, &order, report, invalid, arrival);
  if (record == NONE) {
    if (w->listed_only) return bb_reject(&w->rejections, BB_REASON_STRANGER, datagram, length, arrival);
    record = bb_new_record(b, report->hostname);
    if (record == NONE) return bb_reject(&w->rejections, BB_REASON_FULL, datagram, length, arrival);
    if (w->keys != NULL) bb_keyring_adopt(w->keys, record);
  }

  struct bb_record *r = record_at(b, record);
  const struct bb_stamp stamp = {arrival->stamp_ns, arrival->stamp_real_ns};
  static const uint8_t nowhere[sizeof r->address];
  order.same_address =
      memcmp(r->address, arrival->address, sizeof r->address) == 0 && memcmp(r->address, nowhere, sizeof nowhere) != 0;
  order.remembered = (uint16_t)(*digest_word(b, record, report->seq) >> digest_shift(report->seq));
  const struct bb_judgement judgement = bb_order_judge(&order, report, proved, stamp, &w->limits);
  keep_aside(w, record, &order, judgement.is_of_another ? arrival : NULL);
  if (judgement.verdict == BB_REFUSED) {
    if (judgement.is_of_number) store_digest(b, record, report);
    if (judgement.found_lost) undo_count(&r->lost);
    if (judgement.found_unheard) undo_count(&r->unheard);
    return bb_reject_report(&w->rejections, record, &order, report, judgement.reason, arrival);
  }
  if (judgement.verdict == BB_DUPLICATE) {
    bb_add(&r->duplicate, 1);
    bb_add(&b->header->duplicate, 1);
    return BB_OUTCOME_DUPLICATE;
  }
  /* Only an accepted report takes a link, so that a stray datagram or a message of the kernel costs no entry. */
  if (arrival->link == BB_LINK_UNKNOWN && arrival->interface != NULL)
    arrival->link =
        bb_links_add(&w->links, arrival->interface, arrival->in_pieces, arrival->interface_index, arrival->stamp_ns);
  const struct bb_after after = bb_memory_begin(b, record, newest, report, arrival->stamp_ns);
  /* This order survives a kill between any two steps: first the report, then what can be rebuilt from it, and last
   * the word that announces it to readers (release: whoever sees the word sees the report). */
  bb_store_report(b, record, newest, report, arrival);
  store_digest(b, record, report);
  bb_store_order(b, record, &order, NULL, arrival);
  /* Only from accepted reports: a rejected one may have been recorded long ago, when its name had another key. */
  if (proved > r->auth_proved) bb_store(&r->auth_proved, proved);
  bb_add(&r->accepted, 1);
  bb_add(&r->lost, judgement.lost);
  bb_add(&r->unheard, judgement.unheard);
  bb_add(&r->restarts, judgement.verdict == BB_RESTART);
  bb_add(&r->reboots, judgement.verdict == BB_REBOOT);
  bb_add(&r->resets, judgement.verdict == BB_RESET);
  bb_store((uint64_t *)&r->offset_us, (uint64_t)offset_us(report, arrival));
  bb_add(&b->header->accepted, 1);
  bb_add(&link_at(b, arrival->link)->accepted, 1);
  bb_store_release(column_word(b, record), BB_COLUMN((uint64_t)arrival->stamp_ns / NS_PER_MS, arrival->link,
                                                     report->interval_ms, order.goodbye));
  bb_memory_end(b, record, after, report, arrival->stamp_ns);
  BB_BOARD_INVARIANT(newest_slot(b, record) != newest && newest_slot(b, record) >= 0);
  BB_BOARD_INVARIANT(arrival->link < BB_LINKS);
  BB_BOARD_INVARIANT(arrival->link == BB_LINK_OTHERS || arrival->link <= b->header->links_used);
  BB_BOARD_INVARIANT((r->order_head & 1) == 0 && r->order_head == r->order_tail);
  const enum bb_event_kind news = writer_news_of(judgement.verdict, order.goodbye);
  if (news != BB_EVENT_KIND_NONE) bb_add_event(b, news, record, 0, arrival);
  if (judgement.is_clone && w->kept != NULL) tell_clone(w, record, report, arrival);
  return BB_OUTCOME_ACCEPTED;
}

/* ---- the receiver's own state ---- */

void bb_writer_listening_since(struct bb_writer *w, int64_t since_ns) {
  struct bb_board_header *h = w->board.header;
  bb_store(&h->listening_since_ns, (uint64_t)since_ns);
  bb_links_listening_since(&w->links, BB_LINK_OTHERS, since_ns);
  for (uint32_t i = 1; i <= h->links_used; i++) bb_links_listening_since(&w->links, i, since_ns);
}

void bb_writer_listen_anew(struct bb_writer *w, int64_t now_ns) {
  struct bb_board_header *h = w->board.header;
  const struct bb_link_evidence own = {h->heartbeat_ns, h->listening_since_ns};
  const int64_t boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  const int64_t deaf_ns = boot_ns - w->links.hearing[BB_LINK_UNKNOWN].heard_ns;
  if (deaf_ns > SECOND)
    bb_add_event(&w->board, BB_EVENT_KIND_DEAF, BB_NO_SUBJECT, (uint64_t)deaf_ns / NS_PER_MS, NULL);
  const int64_t doubt_ns =
      bb_hearing_anew(&w->links.hearing[BB_LINK_UNKNOWN], own, (int64_t)h->silent_after_ns, boot_ns);
  bb_store(&h->listening_since_ns, (uint64_t)(now_ns + doubt_ns));
  bb_links_listen_anew(&w->links, BB_LINK_OTHERS, now_ns);
  for (uint32_t i = 1; i <= h->links_used; i++) bb_links_listen_anew(&w->links, i, now_ns);
}

void bb_writer_resumed(struct bb_writer *w, int64_t resumed_ns) {
  for (uint32_t i = 0; i < BB_LINKS; i++) w->links.resumed_ns[i] = resumed_ns;
}

void bb_writer_heartbeat(struct bb_writer *w, int64_t heard_ns) {
  struct bb_board_header *h = w->board.header;
  BB_BOARD_INVARIANT(h->lock_inode == w->place.lock_inode);
  const int64_t heard_boot_ns = heard_ns + bb_clock_ns(CLOCK_BOOTTIME) - bb_clock_ns(CLOCK_MONOTONIC);
  bb_add(&h->drains, 1);
  w->links.hearing[BB_LINK_UNKNOWN].heard_ns = heard_boot_ns;
  bb_links_heartbeat(&w->links, heard_ns, heard_boot_ns);
  /* Release: whoever sees this heartbeat sees every word of the drain, and the listening-since stored before it. */
  bb_store_release(&h->heartbeat_ns, (uint64_t)heard_ns);
}

void bb_writer_overflowed(struct bb_writer *w, uint64_t drops) {
  bb_add(&w->board.header->kernel_drops, drops);
  bb_add(&w->board.header->overflows, 1);
  w->overflow.drops += drops;
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  /* One event per second, whatever is dropped: in a flood there are two hundred overflows in one. */
  if (now_ns - w->overflow.event_ns < SECOND) return;
  bb_add_event(&w->board, BB_EVENT_KIND_OVERFLOW, BB_NO_SUBJECT, w->overflow.drops, NULL);
  w->overflow.event_ns = now_ns;
  w->overflow.drops = 0;
}

void bb_writer_unfit(struct bb_writer *w, uint64_t drops) { bb_add(&w->board.header->unfit_drops, drops); }

void bb_writer_softnet(struct bb_writer *w, uint64_t drops) { bb_add(&w->board.header->softnet_drops, drops); }

void bb_writer_filtering(struct bb_writer *w, bool on) {
  uint64_t *state = &w->board.header->state;
  bb_store(state, on ? *state | BB_BOARD_STATE_FILTERING : *state & ~(uint64_t)BB_BOARD_STATE_FILTERING);
}

void bb_writer_receive_buffer(struct bb_writer *w, uint64_t bytes) {
  bb_store(&w->board.header->receive_buffer, bytes);
}

int bb_writer_check_path(struct bb_writer *w, char *why, size_t size) {
  const enum bb_keeping keeping = bb_place_keep(&w->place, why, size);
  w->displaced = w->displaced || keeping == BB_HELD_BY_ANOTHER;
  if (w->displaced) return BB_PATH_HELD;
  if (keeping != BB_KEPT) return -1;
  /* A lock that was made anew: until its inode is on the board, whoever takes the board over copies it. */
  bb_store(&w->board.header->lock_inode, w->place.lock_inode);
  if (bb_file_is_published(&w->place, &w->board)) return 0;
  return rebuild(w, w->board.header->capacity, NULL, NULL, 0, why, size) ? 1 : -1;
}

bool bb_writer_past(const struct bb_writer *w, int64_t *heartbeat_ns, int64_t *distance_ns) {
  const struct bb_mapped *b = &w->board;
  const struct bb_slot *newest = NULL;
  for (uint32_t i = 0; i < b->header->count; i++) {
    const int n = newest_slot(b, i);
    const struct bb_slot *slot = n < 0 ? NULL : slot_at(b, i, (uint32_t)n);
    if (slot != NULL && (newest == NULL || slot->stamp_ns > newest->stamp_ns)) newest = slot;
  }
  *heartbeat_ns = (int64_t)b->header->heartbeat_ns;
  if (newest == NULL || *heartbeat_ns == 0) return false;
  *distance_ns = (int64_t)newest->stamp_real_ns - (int64_t)newest->stamp_ns;
  return true;
}

void bb_writer_senders(const struct bb_writer *w, struct bb_sender *out) {
  for (uint32_t i = 0; i < BB_SENDERS; i++) {
    out[i] = *sender_at(&w->board, i);
    if ((out[i].head & 1) != 0) out[i].head = 0; /* Left half-written by a receiver that was killed. */
  }
}

void bb_writer_survey(struct bb_writer *w, int64_t now_ns) { bb_memory_survey(&w->board, now_ns); }

struct bb_links *bb_writer_links(struct bb_writer *w) { return &w->links; }

const struct bb_board_header *bb_writer_header(const struct bb_writer *w) { return w->board.header; }

#include "board_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "keyring.h"
#include "liveness.h"
#include "order.h"
#include "seqlock.h"
#include "validate.h"

#define NONE BB_NO_RECORD
/* Everybody may read it, and its owner alone write. */
#define BOARD_MODE 0644

/* A board mapped for writing, with the parts of it. */
struct mapped {
  uint8_t *map;
  size_t bytes;
  dev_t device;
  ino_t inode;
  struct bb_board_header *header;
};

struct bb_writer {
  struct mapped board;
  char *name;      /* of the file, within its directory */
  char *next_name; /* of a board that is being made */
  char *path;
  int directory, lock;
  bool listed_only;
  bool editing;
  struct bb_limits limits;
  struct bb_keyring *keys; /* NULL: every tag is as good as none */
  enum bb_auth_alg required;
  uint32_t up; /* bit n: link n is up, and its heartbeat moves */
  struct {
    int64_t since_ns; /* of the second under way */
    uint32_t count;
  } told; /* events that name no record */
  struct {
    int64_t told_ns; /* of the last event */
    uint64_t untold; /* datagrams dropped since */
  } overflow;
};

/* One line for people; always gives false, so that it can be returned. */
__attribute__((format(printf, 3, 4))) static bool fail(char *why, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why, size, format, args);
  va_end(args);
  return false;
}

static uint64_t *index_entry(const struct mapped *b, uint64_t i) {
  return (uint64_t *)(b->map + b->header->index_offset + i * b->header->index_stride);
}

static uint64_t *column_word(const struct mapped *b, uint32_t i) {
  return (uint64_t *)(b->map + b->header->column_offset + (uint64_t)i * b->header->column_stride);
}

static struct bb_record *record_at(const struct mapped *b, uint32_t i) {
  return (struct bb_record *)(b->map + b->header->records_offset + (uint64_t)i * b->header->record_stride);
}

static struct bb_slot *slot_at(const struct mapped *b, uint32_t i, uint32_t slot) {
  return (struct bb_slot *)((uint8_t *)record_at(b, i) + b->header->slots_offset + (uint64_t)slot * b->header->slot_stride);
}

/* No receiver counts that far, and from the highest number of all the next would be 0. */
#define MOST_SEQUENCE (UINT64_C(1) << 62)

static struct bb_link *link_at(const struct mapped *b, uint32_t i) {
  return (struct bb_link *)(b->map + b->header->links_offset + (uint64_t)i * b->header->links_stride);
}

static struct bb_sender *sender_at(const struct mapped *b, uint32_t i) {
  return (struct bb_sender *)(b->map + b->header->senders_offset + (uint64_t)i * b->header->senders_stride);
}

static struct bb_event *event_at(const struct mapped *b, uint64_t number) {
  return (struct bb_event *)(b->map + b->header->events_offset + number % b->header->events * b->header->events_stride);
}

static bool is_whole(const struct bb_slot *slot) {
  return slot->head != 0 && (slot->head & 1) == 0 && slot->head == slot->tail && slot->head < MOST_SEQUENCE;
}

/* The newest whole slot of a record, 0 or 1; -1 when it holds no report. */
static int newest_slot(const struct mapped *b, uint32_t record) {
  const struct bb_slot *a = slot_at(b, record, 0), *c = slot_at(b, record, 1);
  if (!is_whole(a) && !is_whole(c)) return -1;
  if (!is_whole(a)) return 1;
  if (!is_whole(c)) return 0;
  return a->head > c->head ? 0 : 1;
}

/* ---- events ---- */

/* Writes the next event. `arrival`: of the report that it is about; NULL: it is found out now. */
static void add_event(struct mapped *b, enum bb_event_kind kind, uint64_t subject, uint64_t detail, const struct bb_arrival *arrival) {
  const uint64_t number = b->header->event_last + 1;
  struct bb_event *e = event_at(b, number);
  bb_write_begin(&e->head, &e->tail, 2 * number);
  bb_store(&e->stamp_ns, (uint64_t)(arrival != NULL ? arrival->stamp_ns : bb_clock_ns(CLOCK_MONOTONIC)));
  bb_store(&e->stamp_real_ns, (uint64_t)(arrival != NULL ? arrival->stamp_real_ns : bb_clock_ns(CLOCK_REALTIME)));
  bb_store(&e->kind, kind);
  bb_store(&e->subject, subject);
  bb_store(&e->detail, detail);
  bb_write_end(&e->head, 2 * number);
  /* Release: who sees the number finds the event. */
  bb_store_release(&b->header->event_last, number);
}

/* ---- names ---- */

static uint64_t hash_of(const struct mapped *b, const char *name) { return bb_name_hash(name, b->header->index_seed); }

static uint32_t find(const struct mapped *b, const char *name, uint64_t hash) {
  const uint64_t mask = b->header->index_slots - 1;
  for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
    const uint64_t entry = *index_entry(b, i);
    if (entry == 0) return NONE;
    const uint32_t record = (uint32_t)entry - 1;
    if (entry >> 32 == hash >> 32 && strncmp(record_at(b, record)->name, name, 64) == 0) return record;
  }
}

/* A new record for a name that has none. NONE when the board is full. */
static uint32_t insert(struct mapped *b, const char *name) {
  const uint32_t record = (uint32_t)b->header->count;
  if (record >= b->header->capacity) return NONE;
  struct bb_record *r = record_at(b, record);
  /* All of it: on a board that was spoiled and taken over, something may stand where no record is. */
  memset(r, 0, b->header->record_stride);
  bb_store(column_word(b, record), 0);
  memcpy(r->name, name, strlen(name));
  const uint64_t hash = hash_of(b, name);
  const uint64_t mask = b->header->index_slots - 1;
  uint64_t i = hash & mask;
  while (*index_entry(b, i) != 0) i = (i + 1) & mask;
  /* Release: who finds the entry finds the name, and who sees the count finds the record. */
  bb_store_release(index_entry(b, i), (hash >> 32) << 32 | (record + 1));
  bb_store_release(&b->header->count, record + 1);
  return record;
}

/* ---- files ---- */

static uint64_t align64(uint64_t bytes) { return (bytes + 63) & ~UINT64_C(63); }

static void plan(struct bb_board_header *h, uint32_t capacity) {
  h->header_bytes = sizeof *h;
  h->capacity = capacity;
  h->index_slots = 1;
  while (h->index_slots < 2 * capacity) h->index_slots *= 2;
  h->index_stride = BB_INDEX_ENTRY_BYTES;
  h->column_stride = BB_COLUMN_ENTRY_BYTES;
  h->slots_offset = BB_RECORD_BYTES;
  h->slot_stride = BB_SLOT_BYTES;
  h->slots = 2;
  h->record_stride = BB_RECORD_BYTES + 2 * BB_SLOT_BYTES;
  h->report_offset = offsetof(struct bb_slot, report);
  h->report_bytes = BB_REPORT_BYTES;
  h->links = BB_LINKS;
  h->links_stride = BB_LINK_BYTES;
  h->senders = BB_SENDERS;
  h->senders_stride = BB_SENDER_BYTES;
  h->events = BB_EVENTS;
  h->events_stride = BB_EVENT_BYTES;
  h->links_offset = align64(h->header_bytes);
  h->senders_offset = align64(h->links_offset + (uint64_t)h->links * h->links_stride);
  h->events_offset = align64(h->senders_offset + (uint64_t)h->senders * h->senders_stride);
  h->index_offset = align64(h->events_offset + (uint64_t)h->events * h->events_stride);
  h->column_offset = align64(h->index_offset + (uint64_t)h->index_slots * h->index_stride);
  h->records_offset = align64(h->column_offset + (uint64_t)capacity * h->column_stride);
  h->file_bytes = h->records_offset + (uint64_t)capacity * h->record_stride;
}

static bool map_board(struct mapped *b, int fd, const struct stat *st) {
  void *map = mmap(NULL, (size_t)st->st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return false;
  *b = (struct mapped){(uint8_t *)map, (size_t)st->st_size, st->st_dev, st->st_ino, (struct bb_board_header *)map};
  return true;
}

static void unmap(struct mapped *b) {
  if (b->map != NULL) munmap(b->map, b->bytes);
  b->map = NULL;
}

/* Why what lies at the path cannot be a board of ours; NULL: it may be one. */
static const char *strange(const struct stat *st) {
  if (!S_ISREG(st->st_mode)) return "is not a board; choose another --board";
  if (st->st_nlink != 1) return "has other names, too (hard links); remove them or choose another --board";
  return NULL;
}

/* Removes what is left over from somebody who was killed while he made a board: it is empty, or begins as a board or with zeros. Anything
 * else of that name is not ours. */
static void remove_leftover(const struct bb_writer *w) {
  const int fd = openat(w->directory, w->next_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return;
  struct stat st;
  uint64_t magic = 0;
  if (fstat(fd, &st) == 0 && strange(&st) == NULL && st.st_uid == geteuid() &&
      (st.st_size == 0 || (pread(fd, &magic, sizeof magic, 0) == sizeof magic && (magic == 0 || magic == BB_BOARD_MAGIC))))
    unlinkat(w->directory, w->next_name, 0);
  close(fd);
}

/* Makes an empty board under its temporary name; it is finished by `publish`. */
static bool create(struct bb_writer *w, struct mapped *b, const struct bb_board_header *like, char *why, size_t size) {
  remove_leftover(w);
  const int fd = openat(w->directory, w->next_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return fail(why, size, "cannot make %s.new: %s; %schoose another --board", w->path, strerror(errno),
                errno == EEXIST ? "remove it or " : "");
  /* Reserved now: a full /dev/shm is one clear line here, not a SIGBUS at the first report of the last node. */
  int error = posix_fallocate(fd, 0, (off_t)like->file_bytes);
  struct stat st;
  if (error == 0 && (fchmod(fd, BOARD_MODE) != 0 || fstat(fd, &st) != 0 || !map_board(b, fd, &st))) error = errno;
  close(fd);
  if (error != 0) {
    unlinkat(w->directory, w->next_name, 0);
    return fail(why, size, "no room for %s: %llu MiB are needed (%s); make room there or lower --capacity", w->path,
                (unsigned long long)(like->file_bytes >> 20) + 1, strerror(error));
  }
  struct bb_board_header header = *like;
  header.version = 0;
  memcpy(b->header, &header, sizeof header);
  return true;
}

/* Gives a finished board its version and its name. */
static bool publish(struct bb_writer *w, struct mapped *b, char *why, size_t size) {
  /* Release: who sees the version sees all of the header. */
  __atomic_store_n(&b->header->version, BB_VERSION, __ATOMIC_RELEASE);
  if (renameat(w->directory, w->next_name, w->directory, w->name) == 0) return true;
  const int error = errno;
  unlinkat(w->directory, w->next_name, 0);
  unmap(b);
  return fail(why, size, "cannot put the board at %s: %s; remove what is there", w->path, strerror(error));
}

static void copy_record(struct mapped *to, const struct mapped *from, uint32_t old) {
  const uint32_t new = insert(to, record_at(from, old)->name);
  memcpy((uint8_t *)record_at(to, new) + 64, (const uint8_t *)record_at(from, old) + 64, BB_RECORD_BYTES - 64);
  for (uint32_t i = 0; i < 2; i++) memcpy(slot_at(to, new, i), slot_at(from, old, i), BB_SLOT_BYTES);
  *column_word(to, new) = *column_word(from, old);
}

/* Sees to it that these names have a record. There must be room for all. */
static void insert_listed(struct mapped *b, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t found = find(b, names[i], hash_of(b, names[i]));
    bb_store(&record_at(b, found != NONE ? found : insert(b, names[i]))->flags, BB_RECORD_FLAGS_LISTED);
  }
}

/* Builds a board of this capacity out of an old one, with the records that `keep` says (all when it is NULL) and those that are
 * listed, puts it into the old one's place and retires that. Readers that have the old one mapped follow by themselves. A kill
 * at any point leaves one of the two boards whole at the path. */
static bool rebuild(struct bb_writer *w, uint32_t capacity, const bool *keep, const char *const *listed, size_t listed_count,
                    char *why, size_t size) {
  struct mapped new;
  struct bb_board_header header = *w->board.header;
  plan(&header, capacity);
  header.count = 0;
  header.created_real_ns = (uint64_t)bb_clock_ns(CLOCK_REALTIME);
  if (!create(w, &new, &header, why, size)) return false;
  /* Links keep their numbers, which the copied slots and words tell, and the refused keep their time. Events do not: their records have
   * other numbers now. */
  memcpy(link_at(&new, 0), link_at(&w->board, 0), (size_t)header.links * header.links_stride);
  memcpy(sender_at(&new, 0), sender_at(&w->board, 0), (size_t)header.senders * header.senders_stride);
  uint64_t forgotten = 0;
  for (uint32_t i = 0; i < w->board.header->count; i++)
    if (keep == NULL || keep[i]) copy_record(&new, &w->board, i);
    else forgotten++;
  insert_listed(&new, listed, listed_count);
  if (!publish(w, &new, why, size)) return false;
  /* Release: who finds it retired finds its successor at the path. */
  bb_store_release(&w->board.header->state, w->board.header->state | BB_BOARD_STATE_RETIRED);
  unmap(&w->board);
  w->board = new;
  if (forgotten > 0) add_event(&w->board, BB_EVENT_KIND_FORGET, BB_NO_SUBJECT, forgotten, NULL);
  if (w->keys != NULL) bb_keyring_renumber(w->keys, capacity);
  return true;
}

/* ---- taking over ---- */

/* Sets a record right after a receiver was killed at any point of its work: order state and column are made to agree with the
 * newest whole report. A slot that was left half-written stays so until its next report comes: readers take the other one, and
 * count on it that no slot ever goes back, be it to 0. */
static void repair(struct mapped *b, uint32_t record) {
  struct bb_record *r = record_at(b, record);
  const int newest = newest_slot(b, record);
  for (uint32_t i = 0; i < 2; i++) {
    struct bb_slot *slot = slot_at(b, record, i);
    if ((slot->head & 1) != 0 || slot->head <= (newest < 0 ? 0 : slot_at(b, record, (uint32_t)newest)->head)) continue;
    /* Neither whole nor being written, and yet readers would prefer it: no kill leaves that, somebody spoiled the file. */
    bb_write_begin(&slot->head, &slot->tail, (slot->head | 1) + 1);
    for (uint64_t *word = &slot->stamp_ns; word < &slot->tail; word++) bb_store(word, 0);
    bb_store(&slot->tail, 0);
    bb_store(&slot->head, 0);
  }
  if ((r->order_head & 1) != 0 || r->order_head != r->order_tail) {
    /* Torn: nothing in it can be believed. */
    const uint64_t sequence = (r->order_head | 1) + 1;
    bb_write_begin(&r->order_head, &r->order_tail, sequence);
    for (uint64_t *word = &r->start_boot_ns; word < &r->order_tail; word++) bb_store(word, 0);
    bb_write_end(&r->order_head, sequence);
  }
  if (newest < 0) {
    bb_store(column_word(b, record), 0);
    return;
  }
  const struct bb_slot *slot = slot_at(b, record, (uint32_t)newest);
  const struct bb_report *report = &slot->report;
  const bool agrees = r->known[0].boot_id == report->boot_id && r->start_boot_ns == report->start_boot_ns &&
                      r->history_seq == report->seq;
  if (!agrees) {
    const uint64_t sequence = r->order_head + 2;
    bb_write_begin(&r->order_head, &r->order_tail, sequence);
    struct bb_known_boot known[BB_KNOWN_BOOTS];
    memcpy(known, r->known, sizeof known);
    bb_order_know(known, report->boot_id, report->t_boot_ns);
    bb_copy_in(r->known, known, sizeof known);
    bb_store(&r->start_boot_ns, report->start_boot_ns);
    bb_store(&r->history_seq, report->seq);
    bb_store(&r->history, ~UINT64_C(0)); /* what came is not known: rather a duplicate too many than a loss taken back */
    bb_store(&r->history_lost, 0);
    bb_store(&r->order_proved, BB_AUTH_ALG_NONE); /* nor what was proved: the first proof decides anew */
    bb_write_end(&r->order_head, sequence);
  }
  const uint64_t goodbye = (report->flags & BB_FLAGS_GOODBYE) != 0;
  /* Release: who sees the word sees the report, which the writer before us may have laid. */
  bb_store_release(column_word(b, record), BB_COLUMN(slot->stamp_ns / NS_PER_MS, slot->link, report->interval_ms, goodbye));
}

/* Numbers that only a spoiled file has are not believed. Every link listens anew with its receiver; see bb_writer_listening_since(). */
static void repair_links(struct mapped *b) {
  struct bb_board_header *h = b->header;
  if (h->links_used >= BB_LINK_OTHERS) bb_store(&h->links_used, 0);
  for (uint32_t i = 1; i <= h->links_used; i++)
    if (memchr(link_at(b, i)->name, 0, sizeof link_at(b, i)->name) == NULL) bb_store(&h->links_used, i - 1);
  if (h->event_last >= MOST_SEQUENCE / 2) bb_store(&h->event_last, 0);
}

/* Finishes what an insertion may have left undone: an entry in the index without its count, or a count of too few. */
static bool repair_index(struct mapped *b) {
  struct bb_board_header *h = b->header;
  uint64_t used = 0;
  if (h->count > h->capacity) return false;
  for (uint64_t i = 0; i < h->index_slots; i++) {
    const uint64_t entry = *index_entry(b, i);
    if (entry == 0) continue;
    const uint64_t record = (entry & UINT32_MAX) - 1;
    if (record >= h->capacity || !bb_is_name(record_at(b, (uint32_t)record)->name)) return false;
    /* Release, as in insert(). */
    if (record == h->count) bb_store_release(&h->count, h->count + 1);
    used++;
  }
  /* At most half of the entries are used, so that a search ends. */
  if (used != h->count) return false;
  for (uint32_t i = 0; i < h->count; i++)
    if (!bb_is_name(record_at(b, i)->name) || find(b, record_at(b, i)->name, hash_of(b, record_at(b, i)->name)) != i) return false;
  return true;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Which records stay with this node list, and how many are missing from the board. */
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
      /* Without a list, names that only an earlier list brought go. */
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

/* Makes the board hold the nodes that the options say. */
static bool select_nodes(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  const uint32_t count = (uint32_t)w->board.header->count;
  uint32_t kept = 0, missing = 0;
  bool *keep = choose(w, o, &kept, &missing);
  if (keep == NULL) return fail(why, size, "out of memory");
  bool ok = true;
  if ((uint64_t)kept + missing > o->capacity)
    ok = fail(why, size, "%s: %u nodes do not fit; give --capacity %u", w->path, kept + missing, kept + missing);
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

/* The keys of the options, for a board of their capacity. False: no memory. */
static bool make_keys(const struct bb_writer_options *o, struct bb_keyring **keys, char *why, size_t size) {
  *keys = o->key_count == 0 ? NULL : bb_keyring_new(o->keys, o->key_count, o->capacity);
  return o->key_count == 0 || *keys != NULL || fail(why, size, "out of memory");
}

/* Takes these keys in place of those before. */
static void take_keys(struct bb_writer *w, const struct bb_writer_options *o, struct bb_keyring *keys) {
  bb_keyring_free(w->keys);
  w->keys = keys;
  w->required = keys == NULL ? BB_AUTH_ALG_NONE : o->required;
}

static void write_limits(struct bb_writer *w, const struct bb_writer_options *o) {
  struct bb_board_header *h = w->board.header;
  bb_store(&h->uncertain_after_ns, (uint64_t)o->uncertain_after_ns);
  bb_store(&h->silent_after_ns, (uint64_t)o->silent_after_ns);
  w->limits.uncertain_after_ns = o->uncertain_after_ns;
  w->limits.silent_after_ns = o->silent_after_ns;
  w->limits.clock_window_ns = o->clock_window_ns;
}

/* A receiver begins. */
static void begin_instance(struct bb_writer *w) {
  struct bb_board_header *h = w->board.header;
  bb_store(&h->instance, h->instance + 1);
  bb_store(&h->pid, (uint64_t)getpid());
  bb_store(&h->started_ns, (uint64_t)bb_clock_ns(CLOCK_MONOTONIC));
  bb_store(&h->started_real_ns, (uint64_t)bb_clock_ns(CLOCK_REALTIME));
  bb_store(&h->state, 0);
  /* Of what has no interface of its own, none can go down. */
  bb_store(&link_at(&w->board, BB_LINK_OTHERS)->state, BB_LINK_STATE_UP);
}

/* Whether it is laid out just as we would, of this boot, and still in use. */
static bool is_ours(const struct bb_board_header *h, uint64_t file_bytes) {
  if (h->version != BB_VERSION || h->stat_hash != BB_HASH_STAT_V1 || h->board_hash != BB_HASH_BOARD_V2) return false;
  if (h->master_boot_id != bb_boot_id() || (h->state & BB_BOARD_STATE_RETIRED)) return false;
  if (bb_geometry_fault(h, file_bytes) != NULL) return false;
  struct bb_board_header planned = *h;
  plan(&planned, h->capacity);
  return memcmp(&planned, h, sizeof planned) == 0;
}

/* Looks at what lies at the path. 1: a board to take over, mapped; 0: nothing, or a board of ours that is to be replaced (then it is mapped
 * in `old` to be retired, if we know where its state lies); -1: something that we must not touch. NULL for the options of any board. */
static int examine(struct bb_writer *w, const struct bb_writer_options *o, struct mapped *old, char *why, size_t size) {
  const int fd = openat(w->directory, w->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    if (errno == ENOENT) return 0;
    fail(why, size, "%s: %s; remove it or choose another --board", w->path,
         errno == ELOOP ? "is a link, not a board" : errno == ENXIO ? "is a socket, not a board" : strerror(errno));
    return -1;
  }
  struct stat st;
  struct bb_board_header h = {0};
  int result = -1;
  if (fstat(fd, &st) != 0) fail(why, size, "%s: %s", w->path, strerror(errno));
  else if (strange(&st) != NULL) fail(why, size, "%s: %s", w->path, strange(&st));
  else if (st.st_uid != geteuid())
    fail(why, size, "%s: belongs to user %u; remove it or run as that user", w->path, (unsigned)st.st_uid);
  else if (st.st_size == 0) result = 0;
  else if (pread(fd, &h, sizeof h, 0) < 8 || h.magic != BB_BOARD_MAGIC)
    fail(why, size, "%s: is not a board; choose another --board", w->path);
  else if ((uint64_t)st.st_size < sizeof h) result = 0;
  /* Unfinished, of a layout that we do not know, or written by who knows whom. */
  else if (h.version >> 16 != BB_VERSION >> 16 || (st.st_mode & 022) != 0) result = 0;
  else if (!map_board(old, fd, &st)) fail(why, size, "cannot map %s: %s", w->path, strerror(errno));
  else if (!is_ours(&h, (uint64_t)st.st_size)) result = 0;
  else if (o != NULL && strncmp(h.cluster_name, o->cluster_name, sizeof h.cluster_name) != 0)
    fail(why, size, "%s: is the board of cluster \"%.63s\"; give --cluster \"%.63s\" or another --board", w->path,
         h.cluster_name, h.cluster_name);
  /* The number without the name: all reports would be refused. */
  else if (o != NULL && h.cluster_id != o->cluster_id) result = 0;
  else result = repair_index(old);
  close(fd);
  if (result < 0) unmap(old);
  return result;
}

/* Makes a fresh board. */
static bool make_fresh(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  struct bb_board_header h = {0};
  plan(&h, o->capacity);
  h.magic = BB_BOARD_MAGIC;
  h.stat_hash = BB_HASH_STAT_V1;
  h.board_hash = BB_HASH_BOARD_V2;
  h.master_boot_id = bb_boot_id();
  h.created_real_ns = (uint64_t)bb_clock_ns(CLOCK_REALTIME);
  h.cluster_id = o->cluster_id;
  memcpy(h.cluster_name, o->cluster_name, strnlen(o->cluster_name, sizeof h.cluster_name - 1));
  if (getrandom(&h.index_seed, sizeof h.index_seed, 0) != (ssize_t)sizeof h.index_seed)
    h.index_seed = (uint64_t)bb_clock_ns(CLOCK_REALTIME); /* a kernel without entropy yet: weaker, but no reason to stay down */
  if (!create(w, &w->board, &h, why, size)) return false;
  /* Before it is published: no reader may see a board without the names of the list. */
  insert_listed(&w->board, o->nodes, o->node_count);
  write_limits(w, o);
  begin_instance(w);
  return publish(w, &w->board, why, size);
}

/* Takes over the board that is mapped, with everything on it. */
static bool take_over(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  const uint32_t count = (uint32_t)w->board.header->count;
  for (uint32_t i = 0; i < count; i++) repair(&w->board, i);
  repair_links(&w->board);
  if (!select_nodes(w, o, why, size)) return false;
  write_limits(w, o);
  begin_instance(w);
  add_event(&w->board, BB_EVENT_KIND_TAKEOVER, BB_NO_SUBJECT, w->board.header->instance, NULL);
  return true;
}

/* Opens the directory of the board, which must be one in which nobody else can put things into our way. */
static bool open_directory(struct bb_writer *w, char *why, size_t size) {
  char *slash = strrchr(w->path, '/');
  free(w->name);
  free(w->next_name);
  if (w->directory >= 0) close(w->directory);
  char *directory = slash == NULL ? strdup(".") : slash == w->path ? strdup("/") : strndup(w->path, (size_t)(slash - w->path));
  w->name = strdup(slash == NULL ? w->path : slash + 1);
  w->next_name = (char *)malloc(strlen(w->path) + sizeof ".new");
  if (directory == NULL || w->name == NULL || w->next_name == NULL) {
    free(directory);
    return fail(why, size, "out of memory");
  }
  sprintf(w->next_name, "%s.new", w->name);
  bool ok = true;
  struct stat st;
  if (mkdir(directory, 0755) == 0) chmod(directory, 0755); /* whatever the umask: readers must get in */
  w->directory = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (w->name[0] == 0) ok = fail(why, size, "%s: is a directory; name a file in it", w->path);
  else if (w->directory < 0)
    ok = fail(why, size, "cannot use the directory %s: %s; choose another --board", directory,
              errno == ENOTDIR ? "it is a link, or no directory" : strerror(errno));
  else if (fstat(w->directory, &st) != 0) ok = fail(why, size, "%s: %s", directory, strerror(errno));
  else if (st.st_uid != 0 && st.st_uid != geteuid())
    ok = fail(why, size, "%s belongs to user %u, who could put another board there; choose another --board", directory,
              (unsigned)st.st_uid);
  else if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)
    ok = fail(why, size, "%s can be written by others: chmod 755 it or choose another --board", directory);
  free(directory);
  return ok;
}

/* The name of the lock file within the directory, in `out`. It lies beside the board, because any reader could lock the board itself. */
static const char *lock_name(const struct bb_writer *w, char out[NAME_MAX + 1]) {
  snprintf(out, NAME_MAX + 1, "%s.lock", w->name);
  return out;
}

/* How often a held lock is tried again, 20 ms apart: whoever edits a board or is just ending has it for a moment. */
#define LOCK_TRIES 50

static bool lock_file(int fd, int tries) {
  const struct timespec pause = {0, 20000000};
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (--tries <= 0) return false;
    nanosleep(&pause, NULL);
  }
  return true;
}

/* Takes the writer's lock; one that is held already is given up for it. */
static bool take_lock(struct bb_writer *w, int tries, char *why, size_t size) {
  char name[NAME_MAX + 1], pid[24] = {0};
  const int fd = openat(w->directory, lock_name(w, name), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  struct stat st;
  bool ok = true;
  if (fd < 0)
    return fail(why, size, "cannot lock %s.lock: %s; see to it or choose another --board", w->path,
                errno == ELOOP ? "it is a link" : strerror(errno));
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
    ok = fail(why, size, "%s.lock belongs to somebody else; remove it or choose another --board", w->path);
  else if (!lock_file(fd, tries)) {
    const ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
    ok = fail(why, size, "another receiver (pid %s) writes %s; stop it or choose another --board",
              got > 0 ? pid : "unknown", w->path);
  } else {
    const int length = snprintf(pid, sizeof pid, "%d", (int)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)length, 0) != length)
      ok = fail(why, size, "cannot write %s.lock: %s", w->path, strerror(errno));
  }
  if (!ok) {
    close(fd);
    return false;
  }
  if (w->lock >= 0) close(w->lock);
  w->lock = fd;
  return true;
}

/* Whether the directory that the path leads to is still the one in which we hold the lock. */
static bool holds_directory(const struct bb_writer *w) {
  struct stat there, ours;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s.lock", w->path);
  return lstat(path, &there) == 0 && fstat(w->lock, &ours) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

static void dispose(struct bb_writer *w) {
  unmap(&w->board);
  bb_keyring_free(w->keys);
  if (w->lock >= 0) close(w->lock);
  if (w->directory >= 0) close(w->directory);
  free(w->name);
  free(w->next_name);
  free(w->path);
  free(w);
}

/* Names from outside must be names before anything is done with them. */
static bool check_names(const char *const *names, size_t count, char *why, size_t size) {
  for (size_t i = 0; i < count; i++) {
    char name[64] = {0};
    memcpy(name, names[i], strnlen(names[i], sizeof name));
    if (!bb_is_name(name)) return fail(why, size, "\"%.63s\" is no node name", names[i]);
  }
  return true;
}

static bool check_options(const struct bb_writer_options *o, char *why, size_t size) {
  if (!check_names(o->nodes, o->node_count, why, size)) return false;
  return o->node_count <= o->capacity ||
         fail(why, size, "%zu nodes do not fit; give --capacity %zu", o->node_count, o->node_count);
}

/* A writer that holds the lock of this path, and no board yet. */
static struct bb_writer *hold(const char *path, char *why, size_t size) {
  struct bb_writer *w = (struct bb_writer *)calloc(1, sizeof *w);
  if (w == NULL) return NULL;
  w->directory = w->lock = -1;
  w->path = strdup(path);
  if (w->path != NULL && open_directory(w, why, size) && take_lock(w, LOCK_TRIES, why, size)) {
    remove_leftover(w);
    return w;
  }
  dispose(w);
  return NULL;
}

struct bb_writer *bb_writer_open(const struct bb_writer_options *o, char *why, size_t size) {
  if (!check_options(o, why, size)) return NULL;
  struct bb_writer *w = hold(o->path, why, size);
  if (w == NULL) return NULL;
  w->listed_only = o->node_count > 0;
  w->limits.resumed_ns = bb_clock_ns(CLOCK_MONOTONIC);
  struct mapped old = {0};
  struct bb_keyring *keys;
  const int found = make_keys(o, &keys, why, size) ? examine(w, o, &old, why, size) : -1;
  take_keys(w, o, keys);
  bool ok = found >= 0;
  if (found == 1) {
    w->board = old;
    ok = take_over(w, o, why, size);
  } else if (found == 0) {
    ok = make_fresh(w, o, why, size);
    /* Release, and after its successor stands at the path: who finds it retired finds that. */
    if (ok && old.map != NULL) bb_store_release(&old.header->state, bb_load(&old.header->state) | BB_BOARD_STATE_RETIRED);
    unmap(&old);
  }
  if (ok) return w;
  dispose(w);
  return NULL;
}

struct bb_writer *bb_writer_edit(const char *path, char *why, size_t size) {
  struct bb_writer *w = hold(path, why, size);
  if (w == NULL) return NULL;
  w->editing = true;
  struct mapped old = {0};
  const int found = examine(w, NULL, &old, why, size);
  if (found == 1) {
    w->board = old;
    for (uint32_t i = 0; i < old.header->count; i++) repair(&w->board, i);
    repair_links(&w->board);
    return w;
  }
  if (found == 0) fail(why, size, "%s: there is no board of this boot and version", path);
  unmap(&old);
  dispose(w);
  return NULL;
}

bool bb_writer_change(struct bb_writer *w, const struct bb_writer_options *o, char *why, size_t size) {
  struct bb_keyring *keys;
  if (!check_options(o, why, size) || !make_keys(o, &keys, why, size)) return false;
  if (!select_nodes(w, o, why, size)) {
    bb_keyring_free(keys);
    return false;
  }
  take_keys(w, o, keys);
  write_limits(w, o);
  return true;
}

bool bb_writer_forget(struct bb_writer *w, const char *const *names, size_t count, bool *found, char *why, size_t size) {
  if (!check_names(names, count, why, size)) return false;
  const uint32_t records = (uint32_t)w->board.header->count;
  bool *keep = (bool *)malloc(records > 0 ? records : 1);
  const char **listed = (const char **)malloc((count > 0 ? count : 1) * sizeof *listed);
  bool ok = keep != NULL && listed != NULL;
  if (!ok) fail(why, size, "out of memory");
  size_t forgotten = 0, listed_count = 0;
  if (ok) memset(keep, true, records);
  for (size_t i = 0; ok && i < count; i++) {
    const uint32_t record = find(&w->board, names[i], hash_of(&w->board, names[i]));
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

void bb_writer_close(struct bb_writer *w) {
  struct bb_board_header *h = w->board.header;
  if (!w->editing) bb_store(&h->state, bb_load(&h->state) | BB_BOARD_STATE_CLOSED);
  dispose(w);
}

/* ---- reports ---- */

/* What the record knows of its node's runs; `newest`: its newest slot. */
static void load_order(struct bb_order *o, const struct mapped *b, uint32_t record, int newest) {
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
}

/* A refusal as the order block keeps it. */
struct refusal {
  enum bb_reason reason;
  int64_t offset_us;
};

static void store_order(struct mapped *b, uint32_t record, const struct bb_order *o, const struct refusal *refusal,
                        const struct bb_arrival *arrival) {
  struct bb_record *r = record_at(b, record);
  const uint64_t sequence = r->order_head + 2;
  bb_write_begin(&r->order_head, &r->order_tail, sequence);
  bb_store(&r->start_boot_ns, o->start_boot_ns);
  bb_store(&r->history_seq, o->history_seq);
  bb_store(&r->history, o->history);
  bb_store(&r->history_lost, o->history_lost);
  bb_copy_in(r->known, o->known, sizeof r->known);
  if (refusal != NULL) {
    bb_store(&r->refusal_reason, refusal->reason);
    bb_store(&r->refusal_ns, (uint64_t)arrival->stamp_ns);
    bb_store(&r->refusal_real_ns, (uint64_t)arrival->stamp_real_ns);
    bb_store((uint64_t *)&r->refusal_offset_us, (uint64_t)refusal->offset_us);
  } else {
    uint64_t address[2];
    memcpy(address, arrival->address, sizeof address);
    bb_copy_in(r->address, address, sizeof address);
    bb_store(&r->port, arrival->port);
    bb_store(&r->order_proved, o->proved);
  }
  bb_write_end(&r->order_head, sequence);
}

/* Writes the older slot, so that the newer stays readable whatever happens meanwhile. */
static void store_report(struct mapped *b, uint32_t record, int newest, const struct bb_report *report,
                         const struct bb_arrival *arrival) {
  struct bb_slot *slot = slot_at(b, record, newest == 0 ? 1 : 0);
  const uint64_t sequence = newest < 0 ? 2 : slot_at(b, record, (uint32_t)newest)->head + 2;
  bb_write_begin(&slot->head, &slot->tail, sequence);
  bb_store(&slot->stamp_ns, (uint64_t)arrival->stamp_ns);
  bb_store(&slot->stamp_real_ns, (uint64_t)arrival->stamp_real_ns);
  bb_store(&slot->link, arrival->link);
  bb_copy_in(&slot->report, report, sizeof *report);
  bb_write_end(&slot->head, sequence);
}

/* The node's wall clock less the master's, in us. */
static int64_t offset_us(const struct bb_report *report, const struct bb_arrival *arrival) {
  return (int64_t)(report->t_real_ns / 1000) - arrival->stamp_real_ns / 1000;
}

/* ---- refusals ---- */

#define SECOND INT64_C(1000000000)
/* How long an entry of the table of refused senders is kept: one that came once, one that came again. */
#define KEPT_ONCE_NS (10 * SECOND)
#define KEPT_AGAIN_NS (60 * SECOND)
/* After so long a refusal of a kind that was told of is news again. */
#define NEWS_NS (60 * SECOND)
/* Events in a second that name no record: whoever can send could fill the ring with them. */
#define MOST_TOLD 10

/* A datagram that was refused. */
struct refused {
  enum bb_reason reason;
  char name[64]; /* as it claims; empty: it is none */
  const struct bb_arrival *arrival;
};

static bool is_of(const struct bb_sender *s, const struct refused *r) {
  return s->head != 0 && memcmp(s->address, r->arrival->address, sizeof s->address) == 0 && memcmp(s->name, r->name, sizeof s->name) == 0;
}

/* Whether an entry is kept; one that is empty or was left half-written is not, nor one that has a time to come, as a spoiled file may have. */
static bool is_kept(const struct bb_sender *s, int64_t now_ns) {
  if (s->head == 0 || (s->head & 1) != 0) return false;
  const int64_t age = from_to(s->last_ns, (uint64_t)now_ns);
  return age > -SECOND && age < (s->count > 1 ? KEPT_AGAIN_NS : KEPT_ONCE_NS);
}

/* The entry in which this refusal belongs: its sender's, or that which may be taken and was longest unheard; NULL when none may. */
static struct bb_sender *entry_for(const struct mapped *b, const struct refused *r) {
  struct bb_sender *stalest = NULL;
  for (uint32_t i = 0; i < BB_SENDERS_EACH; i++) {
    struct bb_sender *s = sender_at(b, (uint32_t)r->reason * BB_SENDERS_EACH + i);
    if (is_of(s, r)) return s;
    if (is_kept(s, r->arrival->stamp_ns)) continue;
    if (stalest == NULL || s->head == 0 || (stalest->head != 0 && s->last_ns < stalest->last_ns)) stalest = s;
  }
  return stalest;
}

/* Notes who was refused. Whether he is new there. The time of it does not grow with what came before. */
static bool note_sender(const struct mapped *b, const struct refused *r) {
  struct bb_sender *s = entry_for(b, r);
  if (s == NULL) return false;
  const bool is_new = !is_of(s, r) || (s->head & 1) != 0;
  const uint64_t sequence = (s->head + 1) / 2 * 2 + 2, count = is_new ? 0 : s->count;
  bb_write_begin(&s->head, &s->tail, sequence);
  if (is_new) {
    uint64_t words[sizeof s->name / 8];
    memcpy(words, r->arrival->address, sizeof s->address);
    bb_copy_in(s->address, words, sizeof s->address);
    memcpy(words, r->name, sizeof s->name);
    bb_copy_in(s->name, words, sizeof s->name);
    bb_store(&s->first_ns, (uint64_t)r->arrival->stamp_ns);
  }
  bb_store(&s->last_ns, (uint64_t)r->arrival->stamp_ns);
  bb_store(&s->last_real_ns, (uint64_t)r->arrival->stamp_real_ns);
  bb_store(&s->count, count + 1);
  bb_write_end(&s->head, sequence);
  return is_new;
}

/* Whether one more event may name no record in this second. */
static bool may_tell(struct bb_writer *w, int64_t now_ns) {
  /* A stamp that is a little older is of another socket, and of the same second. */
  if (now_ns - w->told.since_ns >= SECOND || w->told.since_ns - now_ns >= SECOND) {
    w->told.since_ns = now_ns;
    w->told.count = 0;
  }
  return w->told.count++ < MOST_TOLD;
}

/* Counts a refusal, and notes from where it came. `datagram` has its name where its length is a report's. */
static int count_refusal(struct bb_writer *w, enum bb_reason reason, const uint8_t *datagram, size_t length,
                         const struct bb_arrival *arrival) {
  struct mapped *b = &w->board;
  bb_add(&b->header->refused[reason], 1);
  struct refused r = {.reason = reason, .arrival = arrival};
  if (length == BB_REPORT_BYTES) {
    memcpy(r.name, datagram + offsetof(struct bb_report, hostname), sizeof r.name);
    if (!bb_is_name(r.name)) memset(r.name, 0, sizeof r.name);
  }
  if (note_sender(b, &r) && reason <= BB_REASON_TAG && may_tell(w, arrival->stamp_ns))
    add_event(b, BB_EVENT_KIND_REFUSAL, BB_NO_SUBJECT, reason, arrival);
  return (int)reason;
}

/* Whether the node itself made what was refused, as far as can be known: without keys a name is believed, with keys a tag is. Of a
 * report that was refused before its tag was looked at, or for that, nobody knows; it must not hide what the node's own are refused for. */
static bool is_own(const struct bb_writer *w, enum bb_reason reason) {
  return reason > BB_REASON_TAG || (w->keys == NULL && reason < BB_REASON_AUTH_MISSING);
}

/* Refuses a report of a node that has a record, and lets the record say so. */
static int refuse(struct bb_writer *w, uint32_t record, const struct bb_order *order, const struct bb_report *report,
                  enum bb_reason reason, const struct bb_arrival *arrival) {
  struct mapped *b = &w->board;
  struct bb_record *r = record_at(b, record);
  if (is_own(w, reason)) {
    const uint64_t kind = UINT64_C(1) << reason;
    const uint64_t kinds = from_to(r->refusal_ns, (uint64_t)arrival->stamp_ns) > NEWS_NS ? 0 : r->refused_kinds;
    const struct refusal refusal = {reason, offset_us(report, arrival)};
    store_order(b, record, order, &refusal, arrival);
    bb_store(&r->refused_kinds, kinds | kind);
    if ((kinds & kind) == 0 && reason > BB_REASON_TAG) add_event(b, BB_EVENT_KIND_REFUSAL, record, reason, arrival);
  }
  bb_add(&r->refused, 1);
  if (reason == BB_REASON_LATE) bb_add(&r->late, 1);
  return count_refusal(w, reason, (const uint8_t *)report, sizeof *report, arrival);
}

uint64_t bb_writer_expect(const struct bb_writer *w, const uint8_t *datagram) {
  const struct mapped *b = &w->board;
  char name[64];
  memcpy(name, datagram + offsetof(struct bb_report, hostname), sizeof name);
  name[sizeof name - 1] = 0;
  const uint64_t hash = hash_of(b, name);
  __builtin_prefetch(index_entry(b, hash & (b->header->index_slots - 1)));
  return hash;
}

/* The record that a name most probably has: NONE for strangers, and for names that have no place in the index but another's. */
static uint32_t guess(const struct mapped *b, uint64_t hash) {
  const uint64_t entry = *index_entry(b, hash & (b->header->index_slots - 1));
  return entry >> 32 == hash >> 32 ? (uint32_t)entry - 1 : NONE;
}

void bb_writer_fetch(const struct bb_writer *w, uint64_t expected) {
  const struct mapped *b = &w->board;
  const uint32_t record = guess(b, expected);
  if (record == NONE) return;
  const uint8_t *const r = (const uint8_t *)record_at(b, record);
  for (size_t at = 0; at < sizeof(struct bb_record); at += 64) __builtin_prefetch(r + at, 1);
  for (uint32_t i = 0; i < 2; i++) {
    const struct bb_slot *slot = slot_at(b, record, i);
    __builtin_prefetch(slot, 1);
    __builtin_prefetch(&slot->tail, 1);
  }
  __builtin_prefetch(column_word(b, record), 1);
}

void bb_writer_fetch_slot(const struct bb_writer *w, uint64_t expected) {
  const struct mapped *b = &w->board;
  const uint32_t record = guess(b, expected);
  if (record == NONE) return;
  const uint32_t older = slot_at(b, record, 0)->head > slot_at(b, record, 1)->head;
  const uint8_t *const slot = (const uint8_t *)slot_at(b, record, older);
  for (size_t at = 64; at < sizeof(struct bb_slot); at += 64) __builtin_prefetch(slot + at, 1);
}

/* Whether a report of this name has to be refused for its tag. */
static enum bb_reason prove(struct bb_writer *w, uint32_t record, const uint8_t *datagram, enum bb_auth_alg *proved) {
  *proved = BB_AUTH_ALG_NONE;
  if (w->keys == NULL) return BB_REASON_NONE;
  enum bb_auth_alg least = w->required;
  /* A name that has proved a key is not believed with a lesser one. */
  if (record != NONE && record_at(&w->board, record)->auth_proved > least)
    least = (enum bb_auth_alg)record_at(&w->board, record)->auth_proved;
  return bb_keyring_prove(w->keys, datagram, record, least, proved);
}

/* What an accepted report tells beside being one; NONE: nothing. */
static enum bb_event_kind news_of(enum bb_verdict verdict, bool goodbye) {
  if (verdict == BB_RESTART) return BB_EVENT_KIND_RESTART;
  if (verdict == BB_REBOOT) return BB_EVENT_KIND_REBOOT;
  if (verdict == BB_RESET) return BB_EVENT_KIND_RESET;
  return goodbye ? BB_EVENT_KIND_GOODBYE : BB_EVENT_KIND_NONE;
}

int bb_writer_deliver(struct bb_writer *w, const uint8_t *datagram, size_t length, struct bb_arrival *arrival) {
  struct mapped *b = &w->board;
  bb_add(&b->header->received, 1);
  enum bb_reason invalid = bb_validate(datagram, length, b->header->cluster_id);
  /* Up to here nothing tells which node it is from. */
  if (invalid != BB_REASON_NONE && invalid != BB_REASON_INTERVAL && invalid != BB_REASON_RANGE)
    return count_refusal(w, invalid, datagram, length, arrival);
  const struct bb_report *report = (const struct bb_report *)datagram;
  const uint64_t hash = arrival->expected != 0 ? arrival->expected : hash_of(b, report->hostname);
  uint32_t record = find(b, report->hostname, hash);
  enum bb_auth_alg proved = BB_AUTH_ALG_NONE;
  if (invalid == BB_REASON_NONE) invalid = prove(w, record, datagram, &proved);
  const int newest = record == NONE ? -1 : newest_slot(b, record);
  struct bb_order order;
  load_order(&order, b, record, newest);
  if (invalid != BB_REASON_NONE)
    return record == NONE ? count_refusal(w, invalid, datagram, length, arrival) : refuse(w, record, &order, report, invalid, arrival);
  if (record == NONE) {
    if (w->listed_only) return count_refusal(w, BB_REASON_STRANGER, datagram, length, arrival);
    record = insert(b, report->hostname);
    if (record == NONE) return count_refusal(w, BB_REASON_FULL, datagram, length, arrival);
    if (w->keys != NULL) bb_keyring_adopt(w->keys, record);
  }

  struct bb_record *r = record_at(b, record);
  const struct bb_stamp stamp = {arrival->stamp_ns, arrival->stamp_real_ns};
  const struct bb_judgement judgement = bb_order_judge(&order, report, proved, stamp, &w->limits);
  if (judgement.verdict == BB_REFUSED) {
    /* Not below 0: a receiver that was killed between the order block and this counter may not have counted it. */
    if (judgement.found && r->lost > 0) bb_store(&r->lost, r->lost - 1);
    return refuse(w, record, &order, report, judgement.reason, arrival);
  }
  if (judgement.verdict == BB_DUPLICATE) {
    bb_add(&r->duplicate, 1);
    bb_add(&b->header->duplicate, 1);
    return BB_OUTCOME_DUPLICATE;
  }
  /* Only what is accepted takes a link: a stray datagram or a message of the kernel's costs no entry. */
  if (arrival->link == BB_LINK_UNKNOWN && arrival->interface != NULL)
    arrival->link = bb_writer_take_link(w, arrival->interface, arrival->interface_index, arrival->stamp_ns);
  /* This order survives a kill between any two steps: the report first, then what can be rebuilt from it, and last the
   * word by which readers learn of it (release: who sees the word sees the report). */
  store_report(b, record, newest, report, arrival);
  store_order(b, record, &order, NULL, arrival);
  /* By what is accepted alone: what is refused may have been recorded long ago, when its name had another key. */
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
  bb_store_release(column_word(b, record),
                   BB_COLUMN((uint64_t)arrival->stamp_ns / NS_PER_MS, arrival->link, report->interval_ms, order.goodbye));
  const enum bb_event_kind news = news_of(judgement.verdict, order.goodbye);
  if (news != BB_EVENT_KIND_NONE) add_event(b, news, record, 0, arrival);
  return BB_OUTCOME_ACCEPTED;
}

/* ---- links ---- */

static bool is_entry(const struct bb_writer *w, uint32_t link) {
  return link == BB_LINK_OTHERS || (link != BB_LINK_UNKNOWN && link <= w->board.header->links_used);
}

uint32_t bb_writer_find_link(const struct bb_writer *w, const char *name) {
  for (uint32_t i = 1; i <= w->board.header->links_used; i++)
    if (strcmp(link_at(&w->board, i)->name, name) == 0) return i;
  return BB_LINK_UNKNOWN;
}

uint32_t bb_writer_take_link(struct bb_writer *w, const char *name, uint32_t index, int64_t since_ns) {
  struct mapped *b = &w->board;
  uint32_t link = bb_writer_find_link(w, name);
  if (link != BB_LINK_UNKNOWN) return link;
  link = (uint32_t)b->header->links_used + 1;
  if (link >= BB_LINK_OTHERS) return BB_LINK_OTHERS;
  struct bb_link *l = link_at(b, link);
  memset(l, 0, sizeof *l);
  snprintf(l->name, sizeof l->name, "%s", name);
  l->index = index;
  l->state = BB_LINK_STATE_UP;
  l->changed_ns = (uint64_t)since_ns;
  /* No heartbeat yet: whoever judges by this link before the next one calls nobody silent. */
  bb_store(&b->header->evidence[link].listening_since_ns, (uint64_t)since_ns);
  w->up |= UINT32_C(1) << link;
  /* Release: who sees the number finds the entry. */
  bb_store_release(&b->header->links_used, link);
  return link;
}

void bb_writer_link_since(struct bb_writer *w, uint32_t link, int64_t since_ns) {
  if (is_entry(w, link)) bb_store(&w->board.header->evidence[link].listening_since_ns, (uint64_t)since_ns);
}

void bb_writer_link_state(struct bb_writer *w, uint32_t link, uint32_t index, uint64_t state, bool was_down, int64_t now_ns) {
  if (!is_entry(w, link)) return;
  struct bb_link *l = link_at(&w->board, link);
  const bool up = (state & BB_LINK_STATE_UP) != 0, before = (l->state & BB_LINK_STATE_UP) != 0;
  bb_store(&l->index, index);
  bb_store(&l->state, state);
  if (up) w->up |= UINT32_C(1) << link;
  else w->up &= ~(UINT32_C(1) << link);
  if (up == before && !(up && was_down)) return;
  /* Before any heartbeat that follows: what was sent to it while it was down has not been heard. */
  bb_writer_link_since(w, link, now_ns);
  if (before) {
    bb_add(&l->downs, 1);
    add_event(&w->board, BB_EVENT_KIND_LINK_DOWN, link, 0, NULL);
  }
  if (up) add_event(&w->board, BB_EVENT_KIND_LINK_UP, link, 0, NULL);
  bb_store(&l->changed_ns, (uint64_t)now_ns);
}

void bb_writer_link_address(struct bb_writer *w, uint32_t link, const uint8_t address[16]) {
  if (!is_entry(w, link)) return;
  uint64_t words[2];
  memcpy(words, address, sizeof words);
  bb_copy_in(link_at(&w->board, link)->address, words, sizeof words);
}

void bb_writer_link_missed(struct bb_writer *w, uint32_t link, uint64_t packets) {
  if (is_entry(w, link)) bb_add(&link_at(&w->board, link)->missed, packets);
}

const struct bb_link *bb_writer_link(const struct bb_writer *w, uint32_t link) { return is_entry(w, link) ? link_at(&w->board, link) : NULL; }

/* What the column tells of a link: its nodes that did not leave, and when the last of them passed, or will pass, its first limit. */
struct roster {
  uint64_t nodes, newest_ns, dark_ns, fallen;
};

static void count_nodes(const struct mapped *b, struct roster rosters[BB_LINKS]) {
  const struct bb_board_header *h = b->header;
  for (uint32_t i = 0; i < h->count; i++) {
    const uint64_t word = *column_word(b, i);
    if (word == 0 || BB_COLUMN_GOODBYE(word) != 0) continue;
    struct roster *r = &rosters[link_of(word)];
    const uint64_t since = h->evidence[link_of(word)].listening_since_ns, stamp = stamp_of(word);
    const uint64_t passes = (stamp > since ? stamp : since) + (uint64_t)limit_for(h->uncertain_after_ns, interval_of(word));
    r->nodes++;
    if (stamp > r->newest_ns) r->newest_ns = stamp;
    if (passes > r->dark_ns) r->dark_ns = passes;
  }
}

/* How many nodes of each link had been heard within their second limit when it went dark. */
static void count_fallen(const struct mapped *b, struct roster rosters[BB_LINKS]) {
  const struct bb_board_header *h = b->header;
  for (uint32_t i = 0; i < h->count; i++) {
    const uint64_t word = *column_word(b, i);
    if (word == 0 || BB_COLUMN_GOODBYE(word) != 0) continue;
    struct roster *r = &rosters[link_of(word)];
    r->fallen += from_to(stamp_of(word), r->dark_ns) <= limit_for(h->silent_after_ns, interval_of(word));
  }
}

/* Whether every node of a link of two or more is past its first limit, and the receiver has heard everything by it until after that. */
static bool has_fallen(const struct bb_link_evidence *e, const struct roster *r) { return r->nodes >= 2 && e->heartbeat_ns > r->dark_ns; }

/* A dark link stays dark until a node of it is heard, though the receiver may begin anew meanwhile: by then it would know of no fall. */
static bool stays_dark(const struct bb_link *l, const struct roster *r) {
  return l->dark_since_ns != 0 && r->nodes >= 2 && r->newest_ns < l->dark_since_ns;
}

void bb_writer_survey(struct bb_writer *w) {
  struct mapped *b = &w->board;
  const struct bb_link_evidence *evidence = b->header->evidence;
  struct roster rosters[BB_LINKS] = {0};
  count_nodes(b, rosters);
  bool any = false;
  for (uint32_t i = 1; i < BB_LINKS; i++) any = any || (is_entry(w, i) && has_fallen(&evidence[i], &rosters[i]));
  if (any) count_fallen(b, rosters);
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    if (!is_entry(w, i)) continue;
    const struct roster *r = &rosters[i];
    struct bb_link *l = link_at(b, i);
    bb_store(&l->nodes, r->nodes);
    if (stays_dark(l, r)) continue;
    const bool dark = has_fallen(&evidence[i], r) && r->fallen >= 2, was_dark = l->dark_since_ns != 0;
    bb_store(&l->dark_nodes, dark ? r->fallen : 0);
    bb_store(&l->dark_since_ns, dark ? r->dark_ns : 0);
    if (dark) add_event(b, BB_EVENT_KIND_DARK, i, r->fallen, NULL);
    else if (was_dark) add_event(b, BB_EVENT_KIND_LIT, i, 0, NULL);
  }
}

/* ---- the receiver's own words ---- */

void bb_writer_listening_since(struct bb_writer *w, int64_t since_ns) {
  struct bb_board_header *h = w->board.header;
  bb_store(&h->listening_since_ns, (uint64_t)since_ns);
  bb_writer_link_since(w, BB_LINK_OTHERS, since_ns);
  for (uint32_t i = 1; i <= h->links_used; i++) bb_writer_link_since(w, i, since_ns);
}

void bb_writer_resumed(struct bb_writer *w, int64_t resumed_ns) { w->limits.resumed_ns = resumed_ns; }

void bb_writer_heartbeat(struct bb_writer *w, int64_t heard_ns) {
  struct bb_board_header *h = w->board.header;
  bb_add(&h->drains, 1);
  /* Release, of each: who sees this heartbeat sees every word of the drain, and the listening-since stored before it. A link that is
   * down has none: what is sent to it is not heard. */
  for (uint32_t i = 1; i <= h->links_used; i++)
    if ((w->up >> i & 1) != 0) bb_store_release(&h->evidence[i].heartbeat_ns, (uint64_t)heard_ns);
  bb_store_release(&h->evidence[BB_LINK_OTHERS].heartbeat_ns, (uint64_t)heard_ns);
  bb_store_release(&h->heartbeat_ns, (uint64_t)heard_ns);
}

void bb_writer_overflowed(struct bb_writer *w, uint64_t drops) {
  bb_add(&w->board.header->kernel_drops, drops);
  bb_add(&w->board.header->overflows, 1);
  w->overflow.untold += drops;
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  /* One event a second, whatever is dropped: a flood overflows two hundred times in one. */
  if (now_ns - w->overflow.told_ns < SECOND) return;
  add_event(&w->board, BB_EVENT_KIND_OVERFLOW, BB_NO_SUBJECT, w->overflow.untold, NULL);
  w->overflow.told_ns = now_ns;
  w->overflow.untold = 0;
}

void bb_writer_unfit(struct bb_writer *w, uint64_t drops) { bb_add(&w->board.header->unfit_drops, drops); }

void bb_writer_softnet(struct bb_writer *w, uint64_t drops) { bb_add(&w->board.header->softnet_drops, drops); }

void bb_writer_filtering(struct bb_writer *w, bool on) {
  uint64_t *state = &w->board.header->state;
  bb_store(state, on ? *state | BB_BOARD_STATE_FILTERING : *state & ~(uint64_t)BB_BOARD_STATE_FILTERING);
}

void bb_writer_receive_buffer(struct bb_writer *w, uint64_t bytes) { bb_store(&w->board.header->receive_buffer, bytes); }

/* Whether the path names our board as it was published. One that others could have written must not be believed any more, one that
 * nobody may read or that was cut is of no use: whatever was done to it, another file takes its place. */
static bool is_published(const struct bb_writer *w) {
  struct stat st;
  return lstat(w->path, &st) == 0 && st.st_dev == w->board.device && st.st_ino == w->board.inode &&
         (st.st_mode & 07777) == BOARD_MODE && (uint64_t)st.st_size >= w->board.bytes;
}

int bb_writer_check_path(struct bb_writer *w, char *why, size_t size) {
  /* The directory may have been moved or removed, or the lock, without which another receiver could take the board. The path is what
   * readers go by, so it is opened, or made, and locked anew. */
  if (!holds_directory(w) && (!open_directory(w, why, size) || !take_lock(w, 1, why, size))) return -1;
  if (is_published(w)) return 0;
  return rebuild(w, w->board.header->capacity, NULL, NULL, 0, why, size) ? 1 : -1;
}

bool bb_writer_past(const struct bb_writer *w, int64_t *heartbeat_ns, int64_t *distance_ns) {
  const struct mapped *b = &w->board;
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
    if ((out[i].head & 1) != 0) out[i].head = 0; /* left half-written by a receiver that was killed */
  }
}

const struct bb_board_header *bb_writer_header(const struct bb_writer *w) { return w->board.header; }

/* What the files of the board's writer share: the board as it is mapped for writing, where its parts are, where it lies, and the writer
 * himself. Nobody outside of them includes this but programs of c/test and c/proof.
 *
 *   board_writer.c    opens, changes and closes a board, and lays reports on it
 *   board_file.c      directory, lock and files: what lies at the path, and what takes its place
 *   board_repair.c    sets a board right that a killed writer left, or copies it
 *   board_links.c     links, and what is known of them
 *   board_refused.c   refusals, and who was refused
 *   board_mirror.c    the other writer: of a board that is a mirror of another one */
#ifndef BB_BOARD_INTERNAL_H
#define BB_BOARD_INTERNAL_H
#include <string.h>
#include <sys/stat.h>

#include "board_writer.h"
#include "order.h"

#define NONE BB_NO_RECORD
#define SECOND INT64_C(1000000000)

/* A board that is mapped for writing. */
struct bb_mapped {
  uint8_t *map;
  size_t bytes;
  dev_t device;
  ino_t inode;
  struct bb_board_header *header;
};

/* Where a board lies. */
struct bb_place {
  char *path;
  char *name;      /* of the file, within its directory */
  char *next_name; /* of a board that is being made */
  int directory;   /* -1: there is none now */
  int lock;        /* held, for as long as the writer lives; -1: not yet */
  uint64_t lock_inode;
};

struct bb_writer {
  struct bb_mapped board;
  struct bb_place place;
  bool listed_only;
  bool editing;
  bool displaced; /* another process holds the lock, and writes a board of its own at the path */
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

/* ---- parts of a board ---- */

static inline uint64_t *index_entry(const struct bb_mapped *b, uint64_t i) {
  return (uint64_t *)(b->map + b->header->index_offset + i * b->header->index_stride);
}

static inline uint64_t *column_word(const struct bb_mapped *b, uint32_t i) {
  return (uint64_t *)(b->map + b->header->column_offset + (uint64_t)i * b->header->column_stride);
}

static inline struct bb_record *record_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_record *)(b->map + b->header->records_offset + (uint64_t)i * b->header->record_stride);
}

static inline struct bb_slot *slot_at(const struct bb_mapped *b, uint32_t i, uint32_t slot) {
  return (struct bb_slot *)((uint8_t *)record_at(b, i) + b->header->slots_offset + (uint64_t)slot * b->header->slot_stride);
}

static inline struct bb_link *link_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_link *)(b->map + b->header->links_offset + (uint64_t)i * b->header->links_stride);
}

static inline struct bb_sender *sender_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_sender *)(b->map + b->header->senders_offset + (uint64_t)i * b->header->senders_stride);
}

static inline struct bb_event *event_at(const struct bb_mapped *b, uint64_t number) {
  return (struct bb_event *)(b->map + b->header->events_offset + number % b->header->events * b->header->events_stride);
}

/* No receiver counts that far, and from the highest number of all the next would be 0. */
#define MOST_SEQUENCE (UINT64_C(1) << 62)

static inline bool is_whole(const struct bb_slot *slot) {
  return slot->head != 0 && (slot->head & 1) == 0 && slot->head == slot->tail && slot->head < MOST_SEQUENCE;
}

/* The newest whole slot of a record, 0 or 1; -1 when it holds no report. */
static inline int newest_slot(const struct bb_mapped *b, uint32_t record) {
  const struct bb_slot *a = slot_at(b, record, 0), *c = slot_at(b, record, 1);
  if (!is_whole(a) && !is_whole(c)) return -1;
  if (!is_whole(a)) return 1;
  if (!is_whole(c)) return 0;
  return a->head > c->head ? 0 : 1;
}

/* ---- board_writer.c ---- */

/* Writes the next event. `arrival`: of the report that it is about; NULL: it is found out now. */
void bb_add_event(struct bb_mapped *b, enum bb_event_kind kind, uint64_t subject, uint64_t detail, const struct bb_arrival *arrival);

/* The record of a name of which the hash is known; NONE: it has none. */
uint32_t bb_record_of(const struct bb_mapped *b, const char *name, uint64_t hash);

/* The name's hash on this board. */
uint64_t bb_hash_of(const struct bb_mapped *b, const char *name);

/* A new record for a name that has none. NONE when the board is full. */
uint32_t bb_new_record(struct bb_mapped *b, const char *name);

/* A refusal as the order block keeps it. */
struct bb_refusal {
  enum bb_reason reason;
  int64_t offset_us;
};

/* Writes a record's order block; `refusal`: NULL for a report that was accepted. */
void bb_store_order(struct bb_mapped *b, uint32_t record, const struct bb_order *o, const struct bb_refusal *refusal,
                    const struct bb_arrival *arrival);

/* Writes a report into the older slot of a record, so that the newer stays readable whatever happens meanwhile. `newest`: the newer; -1: there
 * is none. */
void bb_store_report(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report, const struct bb_arrival *arrival);

/* The header of a fresh board: what it is, and its geometry. */
void bb_fresh_header(struct bb_board_header *h, const struct bb_writer_options *o);

/* Who writes this board, from now on. */
void bb_begin_instance(struct bb_mapped *b, uint64_t instance);

/* ---- board_file.c ---- */

/* One line for people; always gives false, so that it can be returned. */
__attribute__((format(printf, 3, 4))) bool bb_fail(char *why, size_t size, const char *format, ...);

/* Opens the directory of a board and takes the writer's lock, for which it may wait a second; refuses where another writer lives. */
bool bb_place_hold(struct bb_place *p, const char *path, char *why, size_t size);

/* What became of a lock that we held. */
enum bb_keeping {
  BB_KEPT,     /* it is ours: still, or again, since it was gone and could be made anew */
  BB_NOT_KEPT, /* it is gone, and cannot be made now */
  BB_TAKEN,    /* another process holds the lock of the path */
};

/* Looks whether the path still leads to the lock that we hold. A directory or a lock that is gone is made anew. */
enum bb_keeping bb_place_keep(struct bb_place *p, char *why, size_t size);

/* Gives up the lock and forgets the place. */
void bb_place_release(struct bb_place *p);

/* Lays out a board of this capacity: sets every offset, stride and count of the header. */
void bb_file_plan(struct bb_board_header *h, uint32_t capacity);

/* What lies at the path. */
enum bb_found {
  BB_FOUND_FAULT,    /* something that we must not touch */
  BB_FOUND_NOTHING,  /* nothing, or a board that is to be replaced; then it is mapped, to be retired, if we know where its state lies */
  BB_FOUND_BOARD,    /* a board to take over, mapped */
};

/* Whose boards there are: a receiver's, and a mirror's. Neither touches the other's. */
enum bb_side { BB_SIDE_RECEIVER, BB_SIDE_MIRROR };

/* Looks at what lies at the path. `o`: whose board it must be; NULL: any. */
enum bb_found bb_file_examine(const struct bb_place *p, enum bb_side side, const struct bb_writer_options *o, struct bb_mapped *old, char *why,
                              size_t size);

/* Makes an empty board under its temporary name; it is finished by bb_file_publish(). */
bool bb_file_create(const struct bb_place *p, struct bb_mapped *b, const struct bb_board_header *like, char *why, size_t size);

/* Gives a finished board its version and its name. One that cannot have it is removed, and unmapped. */
bool bb_file_publish(const struct bb_place *p, struct bb_mapped *b, char *why, size_t size);

/* Removes a board that was not published, and unmaps it. */
void bb_file_discard(const struct bb_place *p, struct bb_mapped *b);

/* Whether the path names this board as it was published. */
bool bb_file_is_published(const struct bb_place *p, const struct bb_mapped *b);

void bb_file_unmap(struct bb_mapped *b);

/* Tells readers of a board that another has taken its place. That must stand there already. */
void bb_file_retire(struct bb_mapped *b);

/* ---- board_repair.c ---- */

/* Finishes what an insertion may have left undone: an entry in the index without its count, or a count of too few. False: somebody spoiled
 * the file. */
bool bb_repair_index(struct bb_mapped *b);

/* Sets a record right after a receiver was killed at any point of its work. */
void bb_repair(struct bb_mapped *b, uint32_t record);

/* Numbers of links and events that only a spoiled file has are not trusted. */
void bb_repair_links(struct bb_mapped *b);

/* Copies what a board holds into an empty one of the same layout, while its writer may still be alive. Events are left out. */
void bb_copy_board(struct bb_mapped *to, const struct bb_mapped *from);

/* Copies the order block and the slots of a record, each whole or not at all. */
void bb_copy_record(struct bb_mapped *to, uint32_t new, const struct bb_mapped *from, uint32_t old);

/* ---- board_refused.c ---- */

/* Counts a refusal, and notes from where it came. `datagram` has its name where its length is a report's. */
int bb_count_refusal(struct bb_writer *w, enum bb_reason reason, const uint8_t *datagram, size_t length, const struct bb_arrival *arrival);

/* Refuses a report of a node that has a record, and lets the record say so. */
int bb_refuse(struct bb_writer *w, uint32_t record, const struct bb_order *order, const struct bb_report *report, enum bb_reason reason,
              const struct bb_arrival *arrival);

/* The node's wall clock less the master's, in us. */
static inline int64_t offset_us(const struct bb_report *report, const struct bb_arrival *arrival) {
  return (int64_t)(report->t_real_ns / 1000) - arrival->stamp_real_ns / 1000;
}

#endif

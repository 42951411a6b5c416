/* What the source files of the board's writer share: the board as it is mapped for writing, the places of its parts,
 * its path, and the writer itself. Nobody else includes this, except programs of c/test and c/test/proof.
 *
 *   board/writer.c    opens, changes and closes a board, and writes reports to it
 *   board/file.c      directory, lock and files: what is at the path, and what replaces it
 *   board/repair.c    repairs a board after a killed writer, or copies it
 *   board/linktable.c     links, and what is known about them
 *   board/rejected.c   rejections and their senders
 *   relay/mirror.c    the other writer: of a board that mirrors another one */
#ifndef BB_MAPPED_H
#define BB_MAPPED_H
#include <string.h>
#include <sys/stat.h>

#include "../rules/order.h"
#include "reader.h"
#include "writer.h"

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

/* The place of a board. */
struct bb_place {
  char *path;
  char *name;      /* The name of the file within its directory. */
  char *next_name; /* The name of a board that is being made. */
  int directory;   /* -1: there is none now. */
  int lock;        /* Held as long as the writer lives; -1: not yet. */
  uint64_t lock_inode;
};

/* What a writer knows of its own deafness: all of it, or on one link. By one clock. */
struct bb_hearing {
  int64_t heard_ns; /* the last heartbeat */
  int64_t began_ns; /* when the present listening began */
  int64_t deaf_ns;  /* when the deafness before that began */
};

/* What the rules keep of a record in memory of our own: nearly no board ever needs it, and after a restart or on another
 * board a report or three more are asked for. */
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
  uint32_t up; /* Bit n: link n is up, and its heartbeat moves. */
  struct bb_kept *kept; /* By record; NULL: there was nothing to keep yet. Pages that are not written cost nothing. */
  int64_t resumed_ns[BB_LINKS]; /* By link: the end of the last time in which it could not be heard. */
  /* Of the links; at BB_LINK_UNKNOWN the receiver's own. By CLOCK_BOOTTIME: nodes go on while the master sleeps. */
  struct bb_hearing hearing[BB_LINKS];
  struct {
    int64_t since_ns; /* In the present second. */
    uint32_t count;
  } told; /* Events without a record. */
  struct {
    int64_t told_ns; /* The time of the last event. */
    uint64_t untold; /* Datagrams dropped since then. */
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

/* On a board that we write: of another one it may be shorter, or missing. */
static inline struct bb_memory *memory_at(const struct bb_mapped *b, uint32_t i) {
  return (struct bb_memory *)((uint8_t *)record_at(b, i) + b->header->memory_offset);
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

/* No receiver can count that far, and after the highest number the next one would be 0. */
#define MOST_SEQUENCE (UINT64_C(1) << 62)

static inline bool is_whole(const struct bb_slot *slot) {
  return slot->head != 0 && (slot->head & 1) == 0 && slot->head == slot->tail && slot->head < MOST_SEQUENCE;
}

/* The newest whole slot of a record, 0 or 1; -1 if it has no report. */
static inline int newest_slot(const struct bb_mapped *b, uint32_t record) {
  const struct bb_slot *a = slot_at(b, record, 0), *c = slot_at(b, record, 1);
  if (!is_whole(a) && !is_whole(c)) return -1;
  if (!is_whole(a)) return 1;
  if (!is_whole(c)) return 0;
  return a->head > c->head ? 0 : 1;
}

/* ---- board/writer.c ---- */

/* Writes the next event. `arrival`: of its report; NULL: the event is detected now. */
void bb_add_event(struct bb_mapped *b, enum bb_event_kind kind, uint64_t subject, uint64_t detail, const struct bb_arrival *arrival);

/* The record of a name with a known hash; NONE: there is none. */
uint32_t bb_record_of(const struct bb_mapped *b, const char *name, uint64_t hash);

/* The name's hash on this board. */
uint64_t bb_hash_of(const struct bb_mapped *b, const char *name);

/* A new record for a name without one. NONE if the board is full. */
uint32_t bb_new_record(struct bb_mapped *b, const char *name);

/* A rejection in the form of the order block. */
struct bb_refusal {
  enum bb_reason reason;
  int64_t offset_us;
};

/* Writes a record's order block; `refusal`: NULL for an accepted report. */
void bb_store_order(struct bb_mapped *b, uint32_t record, const struct bb_order *o, const struct bb_refusal *refusal,
                    const struct bb_arrival *arrival);

/* Writes a report into the older slot of a record, so that the newer one stays readable whatever happens meanwhile.
 * `newest`: the newer slot; -1: there is none. */
void bb_store_report(struct bb_mapped *b, uint32_t record, int newest, const struct bb_report *report, const struct bb_arrival *arrival);

/* The header of a fresh board: its identity and its geometry. */
void bb_fresh_header(struct bb_board_header *h, const struct bb_writer_options *o);

/* Sets the writer of this board from now on. */
void bb_begin_instance(struct bb_mapped *b, uint64_t instance);

/* ---- board/linktable.c ---- */

/* Until a receiver has listened, what the board says of the hearing of the one before is true of it. */
void bb_inherit_hearing(struct bb_writer *w);

/* Listening begins anew at `now_ns` of the clock of `hearing`; returns for how long it proves nothing, see
 * docs/liveness.md. `e`: what the board says of the listening that ends. */
int64_t bb_doubt(struct bb_hearing *hearing, struct bb_link_evidence e, int64_t silent_after_ns, int64_t now_ns);

/* ---- board/file.c ---- */

/* Stores one line for people; always returns false, so that callers can return it. */
__attribute__((format(printf, 3, 4))) bool bb_fail(char *why, size_t size, const char *format, ...);

/* Opens the directory of a board and takes the writer's lock, for which it may wait a second; fails if another
 * writer is running. */
bool bb_place_hold(struct bb_place *p, const char *path, char *why, size_t size);

/* The state of a lock that we held. */
enum bb_keeping {
  BB_KEPT,     /* It is ours: still, or again after it was gone and was made anew. */
  BB_NOT_KEPT, /* It is gone, and cannot be made now. */
  BB_TAKEN,    /* another process holds the lock of the path */
};

/* Checks whether the path still leads to the lock that we hold. If the directory or the lock is gone, it is made
 * anew. */
enum bb_keeping bb_place_keep(struct bb_place *p, char *why, size_t size);

/* Releases the lock and forgets the place. */
void bb_place_release(struct bb_place *p);

/* Lays out a board of this capacity: sets every offset, stride and count of the header. */
void bb_file_plan(struct bb_board_header *h, uint32_t capacity);

/* What lies at the path. */
enum bb_found {
  BB_FOUND_FAULT,    /* Something that we must not touch. */
  BB_FOUND_NOTHING,  /* Nothing, or a board that has to be replaced. It is mapped so that it can be retired, if we know where its state is. */
  BB_FOUND_BOARD,    /* A board to take over, mapped. */
};

/* The owners of boards: a receiver or a mirror. Neither touches the other's board. */
enum bb_side { BB_SIDE_RECEIVER, BB_SIDE_MIRROR };

/* Checks what is at the path. `o`: whose board it must be; NULL: any. */
enum bb_found bb_file_examine(const struct bb_place *p, enum bb_side side, const struct bb_writer_options *o, struct bb_mapped *old, char *why,
                              size_t size);

/* Makes an empty board under its temporary name; bb_file_publish() completes it. */
bool bb_file_create(const struct bb_place *p, struct bb_mapped *b, const struct bb_board_header *like, char *why, size_t size);

/* Makes huge pages of it, before anybody else maps it: then a reader of 10,000 nodes has 15 page faults instead of
 * 7,000. Ends soon after so many ns, because a large board takes seconds. Only a request: where there are no huge pages,
 * or not enough, the others stay small. */
void bb_file_use_huge_pages(const struct bb_mapped *b, int64_t within_ns);

/* How long this may take while reports are waiting; nobody waits for a receiver's first board. */
#define BB_BRIEFLY_NS INT64_C(100000000)

/* Sets the version of a complete board, and gives it its name. If that fails, the board is removed and unmapped. */
bool bb_file_publish(const struct bb_place *p, struct bb_mapped *b, char *why, size_t size);

/* Removes a board that was not published, and unmaps it. */
void bb_file_discard(const struct bb_place *p, struct bb_mapped *b);

/* Whether the path leads to this board as it was published. */
bool bb_file_is_published(const struct bb_place *p, const struct bb_mapped *b);

void bb_file_unmap(struct bb_mapped *b);

/* Tells the readers of a board that another one has replaced it. The new board must be at the path already. */
void bb_file_retire(struct bb_mapped *b);

/* ---- board/repair.c ---- */

/* Completes an interrupted insertion: an entry in the index that was not counted, or a count that is too low. False:
 * the file is corrupt. */
bool bb_repair_index(struct bb_mapped *b);

/* Repairs a record after a receiver was killed at any point. */
void bb_repair(struct bb_mapped *b, uint32_t record);

/* Numbers of links and events that occur only in a corrupt file are not trusted. */
void bb_repair_links(struct bb_mapped *b);

/* Copies the contents of a board into an empty one of the same layout, but for the length of its memory, while its writer
 * may still be running. Events are left out. */
void bb_copy_board(struct bb_mapped *to, const struct bb_mapped *from);

/* Copies a record but its name: the blocks, each completely or not at all, and all else. */
void bb_copy_record(struct bb_mapped *to, uint32_t new, const struct bb_mapped *from, uint32_t old);

/* ---- board/rejected.c ---- */

/* Counts a rejection, and records its sender. The name in `datagram` is used if its length is that of a report. */
int bb_count_refusal(struct bb_writer *w, enum bb_reason reason, const uint8_t *datagram, size_t length, const struct bb_arrival *arrival);

/* Rejects a report of a node that has a record, and notes that in the record. */
int bb_refuse(struct bb_writer *w, uint32_t record, const struct bb_order *order, const struct bb_report *report, enum bb_reason reason,
              const struct bb_arrival *arrival);

/* The node's wall clock minus the master's, in us. */
static inline int64_t offset_us(const struct bb_report *report, const struct bb_arrival *arrival) {
  return (int64_t)(report->t_real_ns / 1000) - arrival->stamp_real_ns / 1000;
}

#endif

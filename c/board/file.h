/* The place of a board: its directory, the writer's lock beside it, and the file itself. Determines what is at the
 * path, makes its replacement, and publishes that under its name. Writes no report, and repairs nothing. */
#ifndef BB_FILE_H
#define BB_FILE_H
#include "mapped.h"

/* The place of a board. */
struct bb_place {
  char *path;
  char *name;      /* The name of the file within its directory. */
  char *next_name; /* The name of a board that is being made. */
  int directory;   /* -1: there is none now. */
  int lock;        /* Held as long as the writer lives; -1: not yet. */
  uint64_t lock_inode;
};

/* Stores one line for people; always returns false, so that callers can return it. */
__attribute__((format(printf, 3, 4))) bool bb_fail(char *why, size_t size, const char *format, ...);

/* Opens the directory of a board and takes the writer's lock, for which it may wait a second; fails if another
 * writer is running. */
bool bb_place_hold(struct bb_place *p, const char *path, char *why, size_t size);

/* The state of a lock that we held. */
enum bb_keeping {
  BB_KEPT,     /* It is ours: still, or again after it was gone and was made anew. */
  BB_NOT_KEPT, /* It is gone, and cannot be made now. */
  BB_HELD_BY_ANOTHER,    /* another process holds the lock of the path */
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
  /* Nothing, or a board that has to be replaced. It is mapped so that it can be retired, if we know where its state
   * is. */
  BB_FOUND_NOTHING,
  BB_FOUND_BOARD,    /* A board to take over, mapped. */
};

/* The owners of boards: a receiver or a mirror. Neither touches the other's board. */
enum bb_side { BB_SIDE_RECEIVER, BB_SIDE_MIRROR };

/* Checks what is at the path. `cluster`: whose board it must be; NULL: any. */
enum bb_found bb_file_examine(const struct bb_place *p, enum bb_side side, const struct bb_cluster *cluster,
                              struct bb_mapped *old, char *why, size_t size);

/* Makes an empty board under its temporary name; bb_file_publish() completes it. */
bool bb_file_create(const struct bb_place *p, struct bb_mapped *b, const struct bb_board_header *like, char *why,
                    size_t size);

/* Makes huge pages of it, before anybody else maps it: then a reader of 10,000 nodes maps 17 pages instead of
 * 8,600. Ends soon after so many ns, because a large board takes seconds. Only a request: where there are no huge
 * pages, or not enough, the others stay small. */
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

#endif

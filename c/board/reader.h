/* Reads a board: opens it, checks its geometry, copies it (names can be read in place). Never writes, never waits,
 * never trusts an offset. The layout is that of proto/board-v2.md. */
#ifndef BB_READER_H
#define BB_READER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/clock.h"
#include "../format/layout.gen.h"

#define BB_VERSION 0x00020001u
/* Links: the master's interfaces by which reports come. Number 0 means unknown; the last number stands for all links
 * without a number of their own. */
#define BB_LINKS 32
#define BB_LINK_UNKNOWN 0u
#define BB_LINK_OTHERS 31u
/* Entries of the table of rejected senders for each reason, and of the ring of events. */
#define BB_SENDERS_EACH 8
#define BB_SENDERS (32 * BB_SENDERS_EACH)
#define BB_EVENTS 4096
/* The subject of an event without one. */
#define BB_NO_SUBJECT UINT64_C(0xffffffff)
#define BB_STALLED_NS INT64_C(3000000000)
#define BB_AHEAD_NS INT64_C(1000000000)
/* How often to try to copy a block, and to copy the two slots of a record in turn. A writer comes back to the same
 * record only after an interval; these are limits for a broken writer, and not for tuning. */
#define BB_TRIES 8
#define BB_SLOT_ATTEMPTS 64

/* States of opening; only a board in the last one can be read. */
enum bb_state { BB_ABSENT, BB_STARTING, BB_FOREIGN, BB_TRUNCATED, BB_RETIRED, BB_READY };
extern const char *const bb_state_names[];

/* A mapped board with the geometry that was checked when it was opened: later changes of the file have no effect. */
struct bb_board {
  const uint8_t *map;
  size_t bytes;
  int fd;
  dev_t device;
  ino_t inode;
  struct bb_board_header header; /* As it was when the board was opened; only its geometry is used. */
};

struct bb_look {
  int64_t now_ns;  /* CLOCK_MONOTONIC, taken before anything was loaded. */
  int64_t real_ns; /* CLOCK_REALTIME, taken with it. */
  uint64_t nodes;
  uint64_t stalled; /* 1: the receiver gave no evidence then; set by the code that judges the copy. */
};

/* A copy of a link: its entry in the table of links, and its evidence. */
struct bb_link_copy {
  struct bb_link link;
  struct bb_link_evidence evidence;
};

/* The receiver's evidence for itself and its links, loaded in the order of the contract: whatever was stored before
 * a heartbeat is visible to all later loads. A number without an entry has no evidence. */
struct bb_said {
  uint64_t heartbeat, since, state;
  struct bb_link_evidence links[BB_LINKS];
};
void bb_board_said(const struct bb_board *board, struct bb_said *said);

/* Opens `path` read-only. `owner`: a user to trust besides root, the caller and `beoboard`; (uid_t)-1 for none.
 * Always returns a state; unless it is BB_READY, nothing is mapped, and `why` says in one line what is wrong. */
enum bb_state bb_board_open(struct bb_board *board, const char *path, uid_t owner, char *why, size_t why_size);
void bb_board_close(struct bb_board *board);

/* Whether the path still names the mapped file. */
bool bb_board_is_at(const struct bb_board *board, const char *path);

/* Copies the header, and the column words from number `first` on, as many as exist and as fit into `size` with `each`
 * more bytes a node: enough to determine the states of all. Returns where the words end, NULL if the file was cut
 * short. There the caller may have the records copied, each of which is looked at while it is in the caches. */
uint8_t *bb_board_begin(const struct bb_board *board, void *out, size_t size, uint64_t first, size_t each,
                        struct bb_look *look);
void bb_board_copy(const struct bb_board *board, uint64_t number, uint8_t *out);

/* The bytes that this needs for the present nodes of the board. */
size_t bb_board_bytes(const struct bb_board *board, size_t each);

#define BB_NAME_BYTES sizeof(((struct bb_record *)0)->name)

/* Records in use: never more than in the geometry that was checked. */
uint64_t bb_board_count(const struct bb_board *board);

/* Whether the file was cut short: then it must not be accessed. Only its owner can do that. */
bool bb_board_is_cut(const struct bb_board *board);

/* The names of the nodes of these numbers, BB_NAME_BYTES each; a name never changes while a board is mapped. 0; -1
 * if the file was cut short, or if there is no such node. */
int bb_board_names(const struct bb_board *board, const uint32_t *numbers, size_t n, char *names);

/* Memories of trouble that differ from `known`, in one of the words from `recent` to `last_words`: their numbers go to
 * `changed`, and copies of them, from `recent` on, to `fresh`. Both have an entry for each of `n` nodes, at most the
 * count of nodes. How many have changed; -1 if the file was cut short, -2 if this board has no such memories. */
int64_t bb_board_memories(const struct bb_board *board, const struct bb_memory *known, struct bb_memory *fresh,
                          uint32_t *changed, size_t n);

/* The name of one node, below the count of nodes, where it is: it may lack its NUL on a corrupt board, and must not be
 * accessed once the file was cut. */
static inline const char *bb_board_name(const struct bb_board *board, uint32_t number) {
  return (const char *)(board->map + board->header.records_offset + (uint64_t)number * board->header.record_stride);
}

/* The links with an entry, from number 1 on, and BB_LINK_OTHERS, in the order of their numbers; a number without an
 * entry is left out. Returns how many: at most BB_LINKS - 1; `numbers` gets their numbers. -1 if the file was cut
 * short. */
int bb_board_links(const struct bb_board *board, struct bb_link_copy *links, uint32_t *numbers);

/* The entries of the table of rejected senders in their places, BB_SENDERS of them; an entry that is empty, or of
 * which no whole copy could be made, is zero. 0; -1 as above. The entries of reason r begin at r * BB_SENDERS_EACH. */
int bb_board_senders(const struct bb_board *board, struct bb_sender *senders);

/* Events from number `*next` on, at most `most`, in order: returns how many, or -1 as above. `*next` is set to the
 * number after the last one. Overwritten events are left out: the numbers (half of `head`) show that. */
int bb_board_events(const struct bb_board *board, uint64_t *next, struct bb_event *events, int most);

/* The number of the record of that name, below the count of nodes; -1 if there is none. Valid as long as the board
 * is mapped. */
int64_t bb_board_find(const struct bb_board *board, const char *name);

/* The same without a check of the file's size, and without a system call. */
int64_t bb_find(const struct bb_board *board, const char *name);

/* The same for many names, with one check of the file's size. 0; -1 if it was cut short. */
int bb_board_find_all(const struct bb_board *board, const char *const *names, size_t n, int64_t *numbers);

/* The size of a huge page where pages have 4 KiB (with larger pages nothing is gained): a file of that size or more is
 * mapped at a multiple of it. */
#define BB_HUGE_PAGE_BYTES (UINT64_C(1) << 21)

/* Maps a file whole and shared, as mmap(2) with that protection: so that those parts of it which are huge pages are
 * mapped as such. Returns MAP_FAILED, and errno, if that fails. */
void *bb_map_file(int fd, size_t bytes, int protection);

/* Checks a header against the size of its file: NULL, or what is wrong with it. */
const char *bb_geometry_fault(const struct bb_board_header *header, uint64_t file_bytes);

/* The hash of a name, as used in the index. */
uint64_t bb_name_hash(const char *name, uint64_t seed);

/* The boot id of this machine as a number, as in a report: stamps of another boot are meaningless. 0 if it cannot be
 * read. */
uint64_t bb_boot_id(void);
#endif

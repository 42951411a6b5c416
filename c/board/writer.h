/* Writes a board: makes it or takes it over, stores reports, retires it. One writer per board, ensured by a lock
 * beside it. Knows nothing of sockets and has no clock of its own except for the header. Not thread-safe: one thread
 * owns a writer. */
#ifndef BB_WRITER_H
#define BB_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../format/layout.gen.h"
#include "../rules/keyring.h"
#include "arrival.h"
#include "linktable.h"

struct bb_writer_options {
  const char *path;
  const char *cluster_name; /* "" for none */
  uint32_t cluster_id;
  uint32_t capacity;
  int64_t uncertain_after_ns, silent_after_ns;
  uint64_t longest_interval_ms; /* 0: no limit */
  uint64_t clock_window_ns; /* BB_CLOCK_WINDOW_OFF: any wall clock; matters with keys only */
  /* Cluster keys with different ids, or none with count 0: then signatures are not verified. */
  const struct bb_key *keys;
  size_t key_count;
  enum bb_auth_alg required; /* the least proof that a report needs, with keys */
  /* The node list, or NULL with count 0: any node gets a place until the board is full. Names must be valid. */
  const char *const *nodes;
  size_t node_count;
};

/* The fate of a datagram: a bb_reason, or one of these. */
enum { BB_OUTCOME_ACCEPTED = BB_REASON_NONE, BB_OUTCOME_DUPLICATE = -1 };

struct bb_writer;

/* Makes the board or takes it over. NULL, and one line in `why`, if that fails. */
struct bb_writer *bb_writer_open(const struct bb_writer_options *options, char *why, size_t why_size);

/* Opens the board at the path, as it is, only for `bb_writer_forget` and `bb_writer_clear`, while no receiver
 * runs. NULL, and one line in `why`, if there is none or a receiver has it. */
struct bb_writer *bb_writer_edit(const char *path, char *why, size_t why_size);

/* Switches to another node list, capacity, keys and other limits (path and cluster stay). If nodes move or the
 * capacity changes, a new board replaces the old one, which is retired: readers follow by themselves. False, and one
 * line in `why`, if that fails; then nothing has changed. */
bool bb_writer_change(struct bb_writer *writer, const struct bb_writer_options *options, char *why, size_t why_size);

/* The options could not be read again: says on the board what, and since when, until a change or another start. */
void bb_writer_reload_failed(struct bb_writer *writer, enum bb_reload_part part);

/* Removes nodes, by a new board as above. `found` says for each name whether it had a record. A node of the node
 * list stays as one that never reported. */
bool bb_writer_forget(struct bb_writer *writer, const char *const *names, size_t count, bool *found, char *why,
                      size_t why_size);

enum bb_cleared { BB_CLEAR_NOBODY, BB_CLEAR_NOTHING, BB_CLEAR_DONE };

/* Clears what is remembered of these nodes and not measured, see bb_memory_clear(). `found`: of each an enum
 * bb_cleared. False, and one line in `why`: one is not a name; then nothing has changed. */
bool bb_writer_clear(struct bb_writer *writer, const char *const *names, size_t count, uint8_t *found, char *why,
                     size_t why_size);

/* Shuts down cleanly: the board stays readable, marked as closed (a board that was only edited stays as it was). */
void bb_writer_close(struct bb_writer *writer);

/* Prefetches for the delivery of several datagrams; each step is done for some datagrams before the next step, so
 * that the needed parts of the board are loaded from memory meanwhile. They change nothing and are optional. The
 * first one reads the name in a datagram, whatever its length: there must be room for a report. The last two fetch
 * the record, and then the slot that will be written. */
uint64_t bb_writer_expect(const struct bb_writer *writer, const uint8_t *datagram);
void bb_writer_fetch(const struct bb_writer *writer, uint64_t expected);
void bb_writer_fetch_slot(const struct bb_writer *writer, uint64_t expected);

/* Validates a datagram and stores it on the board, or counts the rejection. `datagram` is aligned like a report, to
 * 8. If it was accepted, `arrival->link` is then the number of its interface. */
int bb_writer_deliver(struct bb_writer *writer, const uint8_t *datagram, size_t length, struct bb_arrival *arrival);

/* ---- The receiver's own state ---- */

/* The links of the board; valid as long as the writer is. */
struct bb_links *bb_writer_links(struct bb_writer *writer);

/* The receiver begins to listen anew at `now_ns`, on every link; see bb_links_listen_anew(). */
void bb_writer_listen_anew(struct bb_writer *writer, int64_t now_ns);
/* The receiver has had no gap since `since_ns`, on every link. The receiver leaves that to bb_writer_listen_anew(). */
void bb_writer_listening_since(struct bb_writer *writer, int64_t since_ns);

/* The receiver was stopped or paused until this moment: gaps that began before it count as unheard, on every link. */
void bb_writer_resumed(struct bb_writer *writer, int64_t resumed_ns);

/* Everything that arrived before `heard_ns` has been delivered or counted as dropped, for every link that is up.
 * Later than the last time. */
void bb_writer_heartbeat(struct bb_writer *writer, int64_t heard_ns);

/* Notes which nodes are silent at `now_ns`, in the memory of their records. Once a second. */
void bb_writer_survey(struct bb_writer *writer, int64_t now_ns);

/* Datagrams that the kernel dropped since the last call: because a socket buffer was full; because their checksum
 * was wrong, or by our filter; and packets of any kind that the machine dropped before it processed them. */
void bb_writer_overflowed(struct bb_writer *writer, uint64_t drops);
void bb_writer_unfit(struct bb_writer *writer, uint64_t drops);
void bb_writer_softnet(struct bb_writer *writer, uint64_t drops);

/* Whether a flood of junk is being dropped by the kernel. */
void bb_writer_filtering(struct bb_writer *writer, bool on);

/* The size of the smallest socket buffer. */
void bb_writer_receive_buffer(struct bb_writer *writer, uint64_t bytes);

/* The result of bb_writer_check_path() if another process holds the lock of the path: the board is that process's,
 * and nobody reads what we write. The writer must be closed then. */
#define BB_PATH_HELD (-2)

/* If the path no longer leads to our board, or the file was cut or has another mode or owner than it was made with,
 * publishes it again; takes the lock again if it is gone. 0: it is there; 1: published; -1: failed, or
 * BB_PATH_HELD; see `why`. The part behind a cut is lost: SIGBUS. */
int bb_writer_check_path(struct bb_writer *writer, char *why, size_t why_size);

/* What is known about the last receiver, until our first heartbeat: its last heartbeat, and by how much
 * CLOCK_REALTIME was ahead of CLOCK_MONOTONIC when the newest report came. False if there was none, or no report. */
bool bb_writer_past(const struct bb_writer *writer, int64_t *heartbeat_ns, int64_t *distance_ns);

/* Copies the table of rejected senders: BB_SENDERS entries. */
void bb_writer_senders(const struct bb_writer *writer, struct bb_sender *out);

/* The header, which any thread may read with relaxed loads. */
const struct bb_board_header *bb_writer_header(const struct bb_writer *writer);
#endif

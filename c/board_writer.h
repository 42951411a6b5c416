/* Writes a board: makes it or takes it over, lays reports on it, retires it. One writer per board, held by a lock beside it.
 * Knows nothing of sockets and has no clock of its own but for the header. Not thread-safe: one thread owns a writer. */
#ifndef BB_BOARD_WRITER_H
#define BB_BOARD_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "keyring.h"
#include "layout.gen.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_writer_options {
  const char *path;
  const char *cluster_name; /* "" for none */
  uint32_t cluster_id;
  uint32_t capacity;
  int64_t uncertain_after_ns, silent_after_ns;
  uint64_t clock_window_ns; /* BB_CLOCK_WINDOW_OFF: any wall clock; matters with keys only */
  /* Cluster keys, with different ids, or none with count 0: then a tag is as good as none. */
  const struct bb_key *keys;
  size_t key_count;
  enum bb_auth_alg required; /* what a report must at least have proved, with keys */
  /* The node list, or NULL with count 0: first come, first served. Names must be valid. */
  const char *const *nodes;
  size_t node_count;
};

/* When and from where a datagram came. */
struct bb_arrival {
  int64_t stamp_ns;      /* CLOCK_MONOTONIC */
  int64_t stamp_real_ns; /* CLOCK_REALTIME */
  uint8_t address[16];   /* IPv6, or ::ffff:a.b.c.d */
  uint16_t port;
  uint64_t expected;     /* what bb_writer_expect() has told of the datagram; 0: it was not asked */
  uint32_t link;         /* the number of the link by which it came; BB_LINK_UNKNOWN: it has none yet, or it did not come from a network */
  const char *interface; /* then: of the master's interface, which takes a number if the report is accepted; NULL: none */
  uint32_t interface_index;
};

/* What became of a datagram: a bb_reason, or one of these. */
enum { BB_OUTCOME_ACCEPTED = BB_REASON_NONE, BB_OUTCOME_DUPLICATE = -1 };

struct bb_writer;

/* Makes or takes over the board. NULL, and one line in `why`, when it cannot be had. */
struct bb_writer *bb_writer_open(const struct bb_writer_options *options, char *why, size_t why_size);

/* Takes the board that lies at the path, as it is, for `bb_writer_forget` and nothing else: for when no receiver runs. NULL, and one
 * line in `why`, when there is none or a receiver has it. */
struct bb_writer *bb_writer_edit(const char *path, char *why, size_t why_size);

/* Goes over to another node list, capacity, keys and other limits (path and cluster stay). Where nodes go or the capacity is another, a
 * new board takes the old one's place, which is retired: readers follow by themselves. False, and one line in `why`, when that
 * cannot be; then nothing has changed. */
bool bb_writer_change(struct bb_writer *writer, const struct bb_writer_options *options, char *why, size_t why_size);

/* Forgets nodes: in a new board, as above. `found` says of each name whether it had a record. A node of the node list stays as one that
 * never reported. */
bool bb_writer_forget(struct bb_writer *writer, const char *const *names, size_t count, bool *found, char *why,
                      size_t why_size);

/* Shuts down cleanly: the board stays readable, flagged closed (but one that was only edited: that stays as it was). */
void bb_writer_close(struct bb_writer *writer);

/* Steps ahead of the delivery of several datagrams, each to be done for some of them before the next: what a delivery will need of the
 * board comes from memory meanwhile. None changes anything, and none is needed. The first reads the name in a datagram, whatever its
 * length: there must be room for a report. The last two fetch the record, then the slot that will be written. */
uint64_t bb_writer_expect(const struct bb_writer *writer, const uint8_t *datagram);
void bb_writer_fetch(const struct bb_writer *writer, uint64_t expected);
void bb_writer_fetch_slot(const struct bb_writer *writer, uint64_t expected);

/* Validates a datagram and lays it on the board, or counts why not. `datagram` is aligned as a report is, to 8. `arrival->link` is then the
 * number that its interface has, if it was accepted. */
int bb_writer_deliver(struct bb_writer *writer, const uint8_t *datagram, size_t length, struct bb_arrival *arrival);

/* ---- Links: see "Links" in proto/board-v2.md. A number that has no entry is passed over. ---- */

/* The number of the link of that interface; BB_LINK_UNKNOWN: it has none. */
uint32_t bb_writer_find_link(const struct bb_writer *writer, const char *name);

/* The same; one that has none gets one. It listens since its first report arrived, or since BB_LINK_OTHERS does if that is later: it was one of
 * them. BB_LINK_OTHERS when there is no number left. */
uint32_t bb_writer_take_link(struct bb_writer *writer, const char *name, uint32_t index, int64_t arrived_ns);

/* What a link is by now: `index` of its interface (0: gone), bits of link_state. A link that is not up has no heartbeat. A change, and a down that
 * is over (`was_down`), begin its listening anew at `now_ns`, which is later than whatever happened. */
void bb_writer_link_state(struct bb_writer *writer, uint32_t link, uint32_t index, uint64_t state, bool was_down, int64_t now_ns);

/* A link listens since then. Stored before any heartbeat that follows. */
void bb_writer_link_since(struct bb_writer *writer, uint32_t link, int64_t since_ns);

/* To where a link's reports are sent. */
struct bb_destination {
  uint8_t address[16]; /* zero: that is not known */
  uint16_t port;       /* 0: any */
  uint8_t source[4];   /* IPv4 address of a node that sends there; zero: of none */
};
void bb_writer_link_destination(struct bb_writer *writer, uint32_t link, const struct bb_destination *to);

/* Packets that its interface dropped since the last call. */
void bb_writer_link_missed(struct bb_writer *writer, uint32_t link, uint64_t packets);

/* The entry of a link, of which the writer alone changes anything; NULL: it has none. */
const struct bb_link *bb_writer_link(const struct bb_writer *writer, uint32_t link);

/* Counts the nodes of each link, and finds out which links are dark. Once a second. */
void bb_writer_survey(struct bb_writer *writer);

/* ---- The receiver's own words ---- */

/* The receiver has heard everything since `since_ns`, by every link. Stored before any heartbeat that follows. */
void bb_writer_listening_since(struct bb_writer *writer, int64_t since_ns);

/* Until this moment the receiver was stopped or paused: gaps that reach back before it count as unheard. */
void bb_writer_resumed(struct bb_writer *writer, int64_t resumed_ns);

/* Whatever arrived before `heard_ns` has been delivered, or counted as dropped: of every link that is up. Later than the last time. */
void bb_writer_heartbeat(struct bb_writer *writer, int64_t heard_ns);

/* Datagrams that the kernel dropped since the last call: because a socket buffer was full; because their checksum was wrong, or they were
 * filtered; and packets of any kind that the machine dropped before it looked at them. */
void bb_writer_overflowed(struct bb_writer *writer, uint64_t drops);
void bb_writer_unfit(struct bb_writer *writer, uint64_t drops);
void bb_writer_softnet(struct bb_writer *writer, uint64_t drops);

/* A flood of junk is being dropped by the kernel. */
void bb_writer_filtering(struct bb_writer *writer, bool on);

/* The smallest socket buffer. */
void bb_writer_receive_buffer(struct bb_writer *writer, uint64_t bytes);

/* What bb_writer_check_path() gives when another process holds the lock of the path: the board is that one's, and what we write nobody
 * reads. The writer must be closed then. */
#define BB_PATH_TAKEN (-2)

/* If the path no longer names our board, or that was cut or has another mode or owner than it was made with, publishes it again; takes a lock
 * that is gone. 0: it is there; 1: published; -1: cannot, or BB_PATH_TAKEN; see `why`. What lay behind a cut is gone: SIGBUS. */
int bb_writer_check_path(struct bb_writer *writer, char *why, size_t why_size);

/* What is known of the receiver before us, until the first heartbeat of ours: its last heartbeat, and by how much CLOCK_REALTIME was
 * ahead of CLOCK_MONOTONIC when the newest report came. False when there was none, or no report. */
bool bb_writer_past(const struct bb_writer *writer, int64_t *heartbeat_ns, int64_t *distance_ns);

/* Copies the table of rejected senders: BB_SENDERS entries. */
void bb_writer_senders(const struct bb_writer *writer, struct bb_sender *out);

/* The header, for looking at from any thread with relaxed loads. */
const struct bb_board_header *bb_writer_header(const struct bb_writer *writer);

#ifdef __cplusplus
}
#endif
#endif

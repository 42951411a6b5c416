/* beoboard.h: how are the nodes of a cluster? Reads the board that `beoboard receive` keeps in shared memory.
 * It never writes and never waits, and calls no node silent when only the receiver is down.
 *
 *     beoboard *b;
 *     int err = beoboard_open(&b, NULL, 0);
 *     if (err < 0) return complain(beoboard_strerror(err));
 *     if (beoboard_state(b, beoboard_index(b, "node017")) == BEOBOARD_LIVE) place_a_job();
 *     beoboard_close(b);
 *
 * Rules for every call:
 *
 * - A result >= 0 is success, < 0 is -errno. errno itself is never touched, nothing is printed, nothing aborts.
 * - Only beoboard_open() allocates, once. Only beoboard_open(), beoboard_refresh() and beoboard_close() make system
 *   calls. No other call locks, or waits for anything but a page of the board that was swapped out. Reads need no
 *   privilege: the file is mapped read-only.
 * - Calls that take a `const beoboard *` may run from any number of threads at once, and from a signal handler; they
 *   need less than 4 KiB of stack. beoboard_refresh() and beoboard_close() need the handle to themselves. A handle
 *   may be used after fork(); it holds no file descriptor.
 * - Output structs carry their size: pass `sizeof *out`. A program built against an older header gets as much as
 *   it knows; what an older library does not know is zero.
 * - A negative index comes back as the error that it is, so that calls can be nested as above; one beyond the last node
 *   is -EINVAL, and so is a NULL where there has to be something, or a size of 0.
 *
 * Time is the coarse monotonic clock, which the kernel keeps in the vDSO whatever the machine's clock source: reading
 * it is no system call, and ages are good to one tick of the kernel (1 to 10 ms). Only when the board seems to be more
 * than a second ahead of that clock it is read again precisely, which is a system call where the clock source is not in
 * the vDSO (hpet, acpi_pm). Without any vDSO (qemu-user, vdso=0) every reading of the clock is one; where that
 * is forbidden (seccomp), the answer is that of a stalled board.
 *
 * The file can only be cut short by the user that owns it, and a receiver never does that. Who reads a mapped file that
 * was cut short gets SIGBUS: a user whose boards you trust (see beoboard_open) can cause that. beoboard_refresh() looks
 * at the size first, and a board found cut short answers as a stalled one from then on. */
#ifndef BEOBOARD_H
#define BEOBOARD_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define BEOBOARD_API_VERSION   1       /* soname libbeoboard.so.1; symbols versioned BEOBOARD_1.0 */
#define BEOBOARD_VERSION_MAJOR 1       /* of this header; beoboard_version() tells that of the library */
#define BEOBOARD_VERSION_MINOR 1
#define BEOBOARD_VERSION_PATCH 0
#define BEOBOARD_PATH          "/dev/shm/beoboard/board"
#define BEOBOARD_NAME_MAX      64      /* bytes of a name with its final NUL */

typedef struct beoboard beoboard;

struct beoboard_report;                /* below, generated: what a node says of itself */
struct beoboard_rates;                 /* below, generated: its counters per second */

/* ---- Opening and closing ---- */

/* Opens the board at `path`, NULL for BEOBOARD_PATH. `flags` must be 0. `*out` is NULL when that fails:
 *
 *     -ENOENT    there is no board: the receiver has not been started yet
 *     -EAGAIN    the board is being made: look again
 *     -ESTALE    it is retired, and nothing has taken its place
 *     -EPERM     it belongs to a user who is not trusted, or users other than its owner can write it
 *     -ELOOP     the path is a link; a board is never a link
 *     -EBADMSG   it is not a board, or one of another major version, of other reports, or of another boot or machine
 *     -EUCLEAN   it is truncated, or its parts point beyond the file
 *     -EINVAL    flags are not 0, or BEOBOARD_OWNER names no user
 *     other      what open(2), mmap(2) or malloc(3) say, such as -EACCES or -ENOMEM
 *
 * /dev/shm can be written by everybody, so a board is trusted only by its owner: root, the calling process's effective
 * user, the user `beoboard`, and the user whom the environment variable BEOBOARD_OWNER names (by name or number; not
 * looked at by set-user-ID programs). The names are looked up only here: that may take as long, and allocate as
 * much, as the system's name service does. */
int beoboard_open(beoboard **out, const char *path, uint32_t flags);

/* The same, with the user named by the caller in place of BEOBOARD_OWNER; NULL for that. */
int beoboard_open_owner(beoboard **out, const char *path, const char *owner, uint32_t flags);

/* Follows the path: a receiver that forgets nodes, or gets another node list, puts a new board into the old one's
 * place. 0: it is the same as before; 1: another was mapped, and indexes from before mean nothing; -errno as from
 * beoboard_open(): there is no other, and the handle keeps the board that it has. Costs one lstat(2)
 * when nothing has changed. Call it now and then (once a second is plenty), and always after -ESTALE. */
int beoboard_refresh(beoboard *b);

/* NULL is fine. */
void beoboard_close(beoboard *b);

/* ---- The receiver ---- */

#define BEOBOARD_F_STALLED   0x1u      /* heartbeat too old: the states below mean nothing */
#define BEOBOARD_F_CLOSED    0x2u      /* the receiver shut down cleanly */
#define BEOBOARD_F_FILTERING 0x4u      /* a flood of junk is being dropped by the kernel, and counted in unfit_drops */
#define BEOBOARD_F_RETIRED   0x8u      /* another board has taken its place: call beoboard_refresh() */

struct beoboard_receiver {
    int64_t  heartbeat_age_ns;         /* since it had heard all; INT64_MAX: it never had; below 0: another clock */
    int64_t  started_age_ns;
    uint64_t instance;                 /* changes at each start of a receiver */
    int64_t  listened_ns;              /* for how long it has listened without a gap */
    int64_t  uncertain_after_ns, silent_after_ns; /* the limits in force */
    uint32_t nodes;
    uint32_t flags;                    /* BEOBOARD_F_* */
    uint64_t received, accepted;       /* datagrams; reports written to the board */
    uint64_t duplicate;                /* reports that had already come by another path */
    uint64_t kernel_drops;             /* datagrams lost only to a full socket buffer */
    uint64_t refused[32];              /* by enum beoboard_reason */
    uint32_t capacity;                 /* how many records there is room for */
    uint32_t pid;                      /* as of its last start */
    char     cluster[64];              /* for display; empty: none */
    uint64_t unfit_drops;              /* datagrams dropped by the kernel for a wrong checksum, or filtered as junk */
    uint64_t softnet_drops;            /* packets of any kind that the machine dropped before it looked at them */
};

/* Does the monitor itself work? Ask before blaming nodes. Works also when the board is stalled or retired. */
int beoboard_receiver(const beoboard *b, struct beoboard_receiver *out, size_t size);

/* ---- Links ---- */

#define BEOBOARD_LINK_UNKNOWN 0u       /* the number of no link: the report did not come from a network */
#define BEOBOARD_LINK_OTHERS  31u      /* the number of all interfaces without their own number */
#define BEOBOARD_LINKS_MAX    31       /* an array of this size is always large enough */

#define BEOBOARD_LINK_F_UP         0x1u  /* what is sent to it can be heard; else it is down */
#define BEOBOARD_LINK_F_GONE       0x2u  /* the master has no interface of that name */
#define BEOBOARD_LINK_F_NO_ADDRESS 0x4u  /* what is sent to where its reports were sent does not reach the receiver */
#define BEOBOARD_LINK_F_DARK       0x8u  /* all of its nodes, two or more, failed together: see dark_nodes */
#define BEOBOARD_LINK_F_OTHERS     0x10u /* number 31: not one interface, but all others */
#define BEOBOARD_LINK_F_STALE      0x20u /* the board is stalled or retired: this is the last known state */
#define BEOBOARD_LINK_F_IN_PIECES  0x40u /* reports that come by it in IP fragments; another link has the rest */

/* An interface of the master by which nodes report. */
struct beoboard_link {
    char     name[16];                 /* of the interface; of number 31 "all others" */
    uint32_t number;                   /* as in struct beoboard_node */
    uint32_t flags;                    /* BEOBOARD_LINK_F_* */
    int64_t  changed_age_ns;           /* since it is up, or down; -1: not known */
    int64_t  heartbeat_age_ns;         /* since all that came by it was heard; -1: not yet; below: another clock */
    int64_t  listened_ns;              /* for how long without a gap, up to its heartbeat */
    uint64_t nodes;                    /* whose last report came by it and was no goodbye; counted once a second */
    int64_t  dark_age_ns;              /* since it is dark; -1: it is not */
    uint64_t dark_nodes;               /* nodes that fell with it */
    uint64_t downs;                    /* times that it was found to be down, or to have been */
    uint64_t accepted;                 /* reports written to the board that came by it */
    uint64_t missed;                   /* packets of any kind that it dropped before they were looked at */
};

/* The links that there are, by their numbers, that of all others last, in an array of at most `max`, all by one look at
 * the clock; gives how many. `size` is that of one element. Like beoboard_receiver() it works also when the board
 * is stalled or retired, and says so: by BEOBOARD_LINK_F_STALE, of every link.
 *
 * A node is judged by its own link. While that is down, or has not listened for long enough, its nodes are uncertain at
 * most. But a failure beyond the master's own port, of a switch for example, does not count as down: then all nodes of
 * the link fall silent, correctly. Before a scheduler acts on silent nodes (drains them, starts their jobs elsewhere),
 * ask whether their link is dark or down. If so, the network or this master has more likely failed than all of
 * these nodes, and somebody should look first:
 *
 *     struct beoboard_link links[BEOBOARD_LINKS_MAX];
 *     const uint32_t both = BEOBOARD_LINK_F_UP | BEOBOARD_LINK_F_DARK;
 *     int n = beoboard_links(b, links, sizeof *links, BEOBOARD_LINKS_MAX);
 *     for (int i = 0; i < n; i++)
 *         if (links[i].number == node.link &&
 *             (links[i].flags & both) != BEOBOARD_LINK_F_UP)
 *             return wait_and_tell_somebody(links[i].name);
 *
 * Ask for the states first. A dark link is detected within a second after the last of its nodes has passed its
 * first limit: with the usual limits some seconds before the first of them is silent, if none of them has a much longer
 * interval than the others. */
int beoboard_links(const beoboard *b, struct beoboard_link *out, size_t size, int max);

/* ---- Names and indexes ---- */

/* How many nodes there are; their indexes are 0 to n - 1. Records are never moved or taken away: an index is good until
 * beoboard_refresh() returns 1. */
int beoboard_count(const beoboard *b);

/* The index of the node of that name, or -ENOENT. Its cost does not grow with the number of nodes. */
int beoboard_index(const beoboard *b, const char *name);

/* Writes the name with its final NUL; gives its length, or -ENOSPC. BEOBOARD_NAME_MAX bytes are always enough. */
int beoboard_name(const beoboard *b, int index, char *buf, size_t size);

/* ---- Liveness ---- */

/* >>>> generated from the documents in proto/: change these and run `npm run generate` */
enum beoboard_state {
    BEOBOARD_NEVER     = 0,            /* in the node list, no report yet */
    BEOBOARD_LIVE      = 1,            /* heard within uncertain_after */
    BEOBOARD_UNCERTAIN = 2,            /* place no new work, but do not drain */
    BEOBOARD_SILENT    = 3,            /* not heard for silent_after, while the receiver listened */
    BEOBOARD_LEFT      = 4,            /* said goodbye: shut down cleanly */
    BEOBOARD_UNKNOWN   = 5             /* the receiver is stalled: nothing is known about nodes */
};
#define BEOBOARD_NSTATES 6
/* <<<< generated */

/* What a scheduler acts on: an enum beoboard_state (never UNKNOWN), or -ESTALE when the board is stalled or retired. */
int beoboard_state(const beoboard *b, int index);

/* Time since the last report in ns. -ENODATA: there is none; -ESTALE as above (beoboard_read() tells an age even
 * then). */
int64_t beoboard_age(const beoboard *b, int index);

/* How many of `n` nodes are not live, all at one time; 0: all are. `states`, unless NULL, gets of each its
 * state, or -ENOENT where the board has no such node, which is not live either. -ESTALE as above; every state is
 * BEOBOARD_UNKNOWN then. */
int beoboard_check(const beoboard *b, const char *const *names, int n, int8_t *states);

/* How many nodes are in each state; gives how many there are in all. Of a stalled or retired board all are UNKNOWN. */
int beoboard_tally(const beoboard *b, int counts[BEOBOARD_NSTATES]);

/* "live", "uncertain" …; NULL for what is not a state. */
const char *beoboard_state_name(int state);

/* ---- One node ---- */

/* What was not measured is 0, of the floats NaN (which is in no order to any number): see BEOBOARD_HAS. */
struct beoboard_node {
    char     name[BEOBOARD_NAME_MAX];
    int64_t  age_ns;                   /* since the last accepted report; -1 never */
    int64_t  last_report_wall_ns;      /* UTC, for display only */
    uint64_t reports, lost;            /* accepted; missing by sequence number */
    uint64_t boot_id;                  /* changes when the node was booted */
    uint64_t valid;                    /* BEOBOARD_VALID_*: which sets of the report's fields were measured */
    uint64_t mem_total_kib, mem_avail_kib;
    uint32_t refused;                  /* enum beoboard_reason of a rejection newer than the last report, 0 none */
    int32_t  skew_ms;                  /* the node's wall clock less the master's, as last seen, even if rejected */
    uint32_t state;                    /* enum beoboard_state at the time of the copy */
    uint32_t cpus;
    float    load1, cpu_busy;          /* cpu_busy 0 to 1 */
    uint32_t interval_ms;              /* the node's own */
    uint32_t flags;                    /* BEOBOARD_FLAGS_* of the report, such as HELD */
    uint32_t health;                   /* enum beoboard_health: what the node's own health check says */
    uint32_t link;                     /* the number of the link by which it reported; see beoboard_links() */
};

/* Copies one node; what comes from its report comes from one report. 0, or -EAGAIN if the record was overwritten
 * without a pause while it was looked at, which no receiver does. */
int beoboard_read(const beoboard *b, int index, struct beoboard_node *out, size_t size);

/* Copies nodes number `first` and following into an array of at most `max`, all at one time; gives how many. `size`
 * is that of one element. One that could not be copied has its name, age -1 and the state UNKNOWN. */
int beoboard_read_all(const beoboard *b, struct beoboard_node *out, size_t size, int first, int max);

/* The name of an enum beoboard_reason, as in `beoboard status --json`; NULL for what is none. */
const char *beoboard_reason_name(int reason);

/* ---- The problems of a node ---- */

/* >>>> generated from the documents in proto/: change these and run `npm run generate` */
enum beoboard_problem {
    BEOBOARD_PROBLEM_HELD           = 0, /* put on hold by its administrator */
    BEOBOARD_PROBLEM_BAD_HEALTH     = 1, /* its health check failed */
    BEOBOARD_PROBLEM_ROOT_READONLY  = 2, /* its root file system is read-only */
    BEOBOARD_PROBLEM_MEMORY_ERRORS  = 3, /* memory errors that were not corrected */
    BEOBOARD_PROBLEM_GPU_LOST       = 4, /* a GPU has fallen off the bus */
    BEOBOARD_PROBLEM_GPU_ERRORS     = 5, /* GPU errors */
    BEOBOARD_PROBLEM_ROOT_FULL      = 6, /* its root file system is nearly full */
    BEOBOARD_PROBLEM_SCRATCH_FULL   = 7, /* its scratch is nearly full */
    BEOBOARD_PROBLEM_HEALTH_WARNING = 8, /* its health check warns */
    BEOBOARD_PROBLEM_OOM            = 9, /* programs were killed, memory ran out */
    BEOBOARD_PROBLEM_HUNG_TASKS     = 10, /* tasks were stuck for over two minutes */
    BEOBOARD_PROBLEM_THROTTLED      = 11, /* it is slowed down by heat or power supply */
    BEOBOARD_PROBLEM_ECC            = 12 /* memory errors that were corrected */
};
#define BEOBOARD_NPROBLEMS 13
/* <<<< generated */

/* The problems of a node by its newest report and the one before it, as a set of bits: bit n for number n of enum
 * beoboard_problem, 0: none that it reports. beoboard(5) has the limits of each. -ENODATA: there is no report; -EAGAIN
 * as above. Answers in every state of the node: if it is not heard, with what was last known. Schedulers need this in
 * addition to the state: a node that is drained or unhealthy reports like any other. */
int beoboard_problems(const beoboard *b, int index);

/* "held", "root_full" …: the name of an enum beoboard_problem; NULL for what is none. */
const char *beoboard_problem_name(int problem);

/* The same in words for people: "put on hold by its administrator". */
const char *beoboard_problem_text(int problem);

/* Earlier names of the above, for programs that were written with them. Write the newer ones. */
enum beoboard_ailment {
    BEOBOARD_AILS_HELD = BEOBOARD_PROBLEM_HELD,
    BEOBOARD_AILS_BAD_HEALTH = BEOBOARD_PROBLEM_BAD_HEALTH,
    BEOBOARD_AILS_ROOT_READONLY = BEOBOARD_PROBLEM_ROOT_READONLY,
    BEOBOARD_AILS_MEMORY_ERRORS = BEOBOARD_PROBLEM_MEMORY_ERRORS,
    BEOBOARD_AILS_GPU_LOST = BEOBOARD_PROBLEM_GPU_LOST,
    BEOBOARD_AILS_GPU_ERRORS = BEOBOARD_PROBLEM_GPU_ERRORS,
    BEOBOARD_AILS_ROOT_FULL = BEOBOARD_PROBLEM_ROOT_FULL,
    BEOBOARD_AILS_SCRATCH_FULL = BEOBOARD_PROBLEM_SCRATCH_FULL,
    BEOBOARD_AILS_HEALTH_WARNING = BEOBOARD_PROBLEM_HEALTH_WARNING,
    BEOBOARD_AILS_OOM = BEOBOARD_PROBLEM_OOM,
    BEOBOARD_AILS_HUNG_TASKS = BEOBOARD_PROBLEM_HUNG_TASKS,
    BEOBOARD_AILS_THROTTLED = BEOBOARD_PROBLEM_THROTTLED,
    BEOBOARD_AILS_ECC = BEOBOARD_PROBLEM_ECC
};
#define BEOBOARD_NAILMENTS BEOBOARD_NPROBLEMS

/* The earlier name of beoboard_problems. */
int beoboard_ailments(const beoboard *b, int index);

/* The earlier name of beoboard_problem_name. */
const char *beoboard_ailment_name(int ailment);

/* The earlier name of beoboard_problem_text. */
const char *beoboard_ailment_text(int ailment);

/* ---- What the board remembers of a node ---- */

/* >>>> generated from the documents in proto/: change these and run `npm run generate` */
enum beoboard_last_words {
    BEOBOARD_LAST_WORDS_MEMORY_ERRORS  = 0, /* memory errors that were not corrected */
    BEOBOARD_LAST_WORDS_KERNEL_FAULT   = 1, /* a fault of its kernel */
    BEOBOARD_LAST_WORDS_ROOT_READONLY  = 2, /* its root file system was read-only */
    BEOBOARD_LAST_WORDS_ROOT_FULL      = 3, /* its root file system was nearly full */
    BEOBOARD_LAST_WORDS_MEMORY_LOW     = 4, /* hardly any memory was available */
    BEOBOARD_LAST_WORDS_OOM            = 5, /* programs were killed, memory ran out */
    BEOBOARD_LAST_WORDS_MEMORY_STALLED = 6, /* all its programs waited for memory */
    BEOBOARD_LAST_WORDS_IO_STALLED     = 7, /* all its programs waited for disks */
    BEOBOARD_LAST_WORDS_NO_CARRIER     = 8, /* a network interface lost its carrier */
    BEOBOARD_LAST_WORDS_THROTTLED      = 9, /* it was slowed down by heat or power supply */
    BEOBOARD_LAST_WORDS_LATE           = 10 /* its sender was late */
};
#define BEOBOARD_NLAST_WORDS 11
/* <<<< generated */

#define BEOBOARD_PROBLEMS_MAX 16       /* no later version has more */

/* A time in which a node has had a problem again and again. */
struct beoboard_episode {
    int64_t  begin_age_ns;             /* since it began; -1: there was none, and so with all times here */
    int64_t  seen_age_ns;              /* since a report last showed it */
    uint64_t count;                    /* how many there were */
};

/* What was concluded from the reports that are no longer on the board. */
struct beoboard_memory {
    int64_t  remembers_age_ns;         /* since when: "none" and every count below are since then */
    int64_t  heard_age_ns;             /* since when it is heard without a gap of more than uncertain_after */
    int64_t  boot_age_ns;              /* since the first report of its boot */
    int64_t  silence_age_ns;           /* since the last silence began, with the last report before it */
    int64_t  silence_end_age_ns;       /* and ended, with the next; -1: it is not over, or there was none */
    uint64_t silences;                 /* how many there were */
    int64_t  last_words_age_ns;        /* since the last report before it fell silent or was booted */
    uint32_t last_words;               /* what that said: bit n for number n of enum beoboard_last_words */
    uint32_t recent;                   /* as beoboard_recent() */
    struct beoboard_episode episodes[BEOBOARD_PROBLEMS_MAX]; /* by enum beoboard_problem */
    uint32_t unmeasured;               /* problems of `recent` that its newest report does not measure */
    uint32_t unsettled;                /* of these, those that the last report to measure them showed */
    int64_t  measured_age_ns[BEOBOARD_PROBLEMS_MAX]; /* of these, since when they are not measured */
    int64_t  stood_still_ns;           /* for so long it or its sender stood still until the last silence ended; or 0 */
};

/* What is remembered of a node's trouble; beoboard(5) has the rules. Each time is true by itself. 0, or -ENODATA:
 * nothing is remembered, because there was no report, or the receiver is an older one. Answers also of a stalled or
 * retired board. */
int beoboard_memory(const beoboard *b, int index, struct beoboard_memory *out, size_t size);

/* The problems of a node that are not over, as a set of bits like that of beoboard_problems(), which says what it has
 * now: a program that was killed for memory is recent for ten minutes. Not for whoever places work. -ENODATA as above.
 * One load. */
int beoboard_recent(const beoboard *b, int index);

/* "oom", "late" …: the name of an enum beoboard_last_words; NULL for what is none. */
const char *beoboard_last_words_name(int row);

/* The same in words for people: "its sender was late". */
const char *beoboard_last_words_text(int row);

/* ---- Why a node is not heard ---- */

/* The last report of a node that was rejected. */
struct beoboard_refusal {
    int64_t  age_ns;
    int64_t  wall_ns;                  /* UTC, for display only */
    int64_t  skew_us;                  /* the node's wall clock in it less the master's */
    uint32_t reason;                   /* enum beoboard_reason */
    uint32_t is_newer;                 /* 1: no report was accepted since; 0: one was, or this one was only late */
};

/* Why the receiver last rejected a report of this node: it may explain a "silent" or "never", but does not prove that
 * the node lives, because somebody may be sending a recording again. A record has only rejections of what the node
 * itself sent, as far as the receiver can know (with keys: of what has a valid signature); beoboard_senders() has all
 * others, and names without a record. 0; -ENODATA: there
 * was none; -EAGAIN: it is being written, or was left half-written by a receiver that was killed. Answers also of a
 * stalled or retired board. */
int beoboard_last_refusal(const beoboard *b, int index, struct beoboard_refusal *out, size_t size);

#define BEOBOARD_SENDERS_MAX 256       /* an array of this size is always large enough */

/* From where datagrams came that were rejected for the same reason. */
struct beoboard_sender {
    uint8_t  address[16];              /* an IPv6 address, IPv4 as ::ffff:a.b.c.d; as they say: anybody can forge it */
    char     name[BEOBOARD_NAME_MAX];  /* that they claim; empty: none that is a name */
    int64_t  first_age_ns;             /* since the first of them */
    int64_t  last_age_ns;              /* and the last */
    int64_t  last_wall_ns;             /* UTC, for display only */
    uint64_t count;
    uint32_t reason;                   /* enum beoboard_reason */
    uint32_t reserved;                 /* zero */
};

/* Senders of rejected reports, in the order of reasons, in an array of at most `max`, all at one time; gives how many.
 * `size` is that of one element. The receiver keeps eight for each reason; one that comes again and again is kept, so
 * that a flood of invented addresses does not push it out; one that comes first during a flood may find no room.
 * Answers also of a stalled or retired board. */
int beoboard_senders(const beoboard *b, struct beoboard_sender *out, size_t size, int max);

/* ---- What has happened ---- */

#define BEOBOARD_NO_SUBJECT      (-1)
#define BEOBOARD_EVENTS_FROM_NOW UINT64_MAX

/* What the receiver wrote down. Changes of state are not among it: states are judged by readers. */
struct beoboard_event {
    uint64_t number;                   /* from 1 on, one after the other */
    int64_t  age_ns;
    int64_t  wall_ns;                  /* UTC, for display only */
    uint64_t detail;                   /* as the kind says */
    uint32_t kind;                     /* enum beoboard_event_kind */
    int32_t  subject;                  /* as the kind says: index of a node, number of a link; BEOBOARD_NO_SUBJECT */
};

/* Events from number `*next` on, the oldest first, in an array of at most `max`; gives how many, and sets `*next` to
 * the number to go on with. `size` is that of one element. Answers also of a stalled or retired board.
 *
 * - 0 or 1 begins with the oldest that is there: the board keeps 4,096. BEOBOARD_EVENTS_FROM_NOW gives none, and sets
 *   `*next` to the next that will happen.
 * - Numbers that are left out tell what was missed: it was overwritten, or was on a board whose place this one has
 *   taken. As many were missed as `*next` has gone up by more than were given.
 * - Numbers go on when beoboard_refresh() gives 1, and subjects are indexes of the new board. A `*next` that lies
 *   beyond what the board has is from another (of another boot, for example), and begins with the oldest. */
int beoboard_events(const beoboard *b, uint64_t *next, struct beoboard_event *out, size_t size, int max);

/* "reboot", "dark" …: the name of an enum beoboard_event_kind; NULL for what is none. */
const char *beoboard_event_name(int kind);

/* ---- The reports themselves, and rates ---- */

struct beoboard_slot;                  /* below, generated: a report, and when it came */

/* Copies the newest report of a node and the one before it, as they came. Gives how many there were: 2, 1 or 0. Either
 * of the two may be NULL; `size` is that of a slot. What is not there is zero. -EAGAIN as above. */
int beoboard_reports(const beoboard *b, int index, struct beoboard_slot *newest, struct beoboard_slot *before,
                     size_t size);

/* Counters per second and CPU shares in per cent, from the last two reports. -ENODATA when there are no two of the same
 * boot. What has no rate (not measured, a counter that went back) is NaN. */
int beoboard_rates(const beoboard *b, int index, struct beoboard_rates *out, size_t size);

/* The same between two reports that the caller kept, over as long a time as it likes. */
int beoboard_rates_between(const struct beoboard_report *before, const struct beoboard_report *after,
                           struct beoboard_rates *out, size_t size);

/* ---- About ---- */

/* What a negative result means, in one line; static text, from any thread. Takes errno values, too. */
const char *beoboard_strerror(int err);

/* Of the library: 0xMMmmpp. */
uint32_t beoboard_version(void);

/* >>>> generated from the documents in proto/: change these and run `npm run generate` */

/* ---- The report, as the datagram has it: see beoboard-stat(5), or `beoboard describe FIELD` ---- */

/* Whether a set of fields was measured: BEOBOARD_HAS(&report, MEMORY). A field whose set was not means nothing. */
#define BEOBOARD_HAS(report, SET) (((report)->valid & BEOBOARD_VALID_##SET) != 0)

#define BEOBOARD_VALID_CPUS            (UINT64_C(1) << 0)  /* fast */
#define BEOBOARD_VALID_TOPOLOGY        (UINT64_C(1) << 1)  /* fast */
#define BEOBOARD_VALID_LOAD            (UINT64_C(1) << 2)  /* fast */
#define BEOBOARD_VALID_STAT            (UINT64_C(1) << 3)  /* fast */
#define BEOBOARD_VALID_CPU_SHARE       (UINT64_C(1) << 4)  /* fast */
#define BEOBOARD_VALID_MEMORY          (UINT64_C(1) << 5)  /* fast */
#define BEOBOARD_VALID_VMSTAT          (UINT64_C(1) << 6)  /* fast */
#define BEOBOARD_VALID_PSI_CPU         (UINT64_C(1) << 7)  /* fast */
#define BEOBOARD_VALID_PSI_MEM         (UINT64_C(1) << 8)  /* fast */
#define BEOBOARD_VALID_PSI_IO          (UINT64_C(1) << 9)  /* fast */
#define BEOBOARD_VALID_PSI_IRQ         (UINT64_C(1) << 10) /* fast */
#define BEOBOARD_VALID_TCP             (UINT64_C(1) << 11) /* fast */
#define BEOBOARD_VALID_FILES           (UINT64_C(1) << 12) /* fast */
#define BEOBOARD_VALID_NET             (UINT64_C(1) << 13) /* fast */
#define BEOBOARD_VALID_DISK            (UINT64_C(1) << 14) /* fast */
#define BEOBOARD_VALID_DISK_SHARE      (UINT64_C(1) << 15) /* fast */
#define BEOBOARD_VALID_GROUPS          (UINT64_C(1) << 16) /* fast */
#define BEOBOARD_VALID_GROUP_SHARE     (UINT64_C(1) << 17) /* fast */
#define BEOBOARD_VALID_SYSTEM          (UINT64_C(1) << 18) /* fast */
#define BEOBOARD_VALID_CPU_MHZ         (UINT64_C(1) << 19) /* fast */
#define BEOBOARD_VALID_SENDER          (UINT64_C(1) << 20) /* fast */
#define BEOBOARD_VALID_CLOCK           (UINT64_C(1) << 21) /* fast */
#define BEOBOARD_VALID_TAINT           (UINT64_C(1) << 22) /* slow */
#define BEOBOARD_VALID_HUNG_TASKS      (UINT64_C(1) << 23) /* slow */
#define BEOBOARD_VALID_EDAC            (UINT64_C(1) << 24) /* slow */
#define BEOBOARD_VALID_THROTTLE        (UINT64_C(1) << 25) /* slow */
#define BEOBOARD_VALID_FABRIC          (UINT64_C(1) << 26) /* slow */
#define BEOBOARD_VALID_ENERGY_CPU      (UINT64_C(1) << 27) /* slow */
#define BEOBOARD_VALID_ENERGY_DRAM     (UINT64_C(1) << 28) /* slow */
#define BEOBOARD_VALID_POWER           (UINT64_C(1) << 29) /* slow */
#define BEOBOARD_VALID_TEMP_INLET      (UINT64_C(1) << 30) /* slow */
#define BEOBOARD_VALID_TEMP_HOTTEST    (UINT64_C(1) << 31) /* slow */
#define BEOBOARD_VALID_ROOT            (UINT64_C(1) << 32) /* slow */
#define BEOBOARD_VALID_SCRATCH         (UINT64_C(1) << 33) /* slow */
#define BEOBOARD_VALID_FILESYSTEMS     (UINT64_C(1) << 34) /* slow */
#define BEOBOARD_VALID_HEALTH          (UINT64_C(1) << 35) /* slow */
#define BEOBOARD_VALID_GPU             (UINT64_C(1) << 36) /* slow */
#define BEOBOARD_VALID_GPU_ERRORS      (UINT64_C(1) << 37) /* slow */
#define BEOBOARD_VALID_HW_HASH         (UINT64_C(1) << 38) /* slow */
#define BEOBOARD_VALID_SW_HASH         (UINT64_C(1) << 39) /* slow */

#define BEOBOARD_FLAGS_FIRST           (UINT64_C(1) << 0)  /* the first report since the sender started */
#define BEOBOARD_FLAGS_GOODBYE         (UINT64_C(1) << 1)  /* the last one: the sender was shut down cleanly */
#define BEOBOARD_FLAGS_CLOCK_UNSYNC    (UINT64_C(1) << 2)  /* the kernel calls its clock unsynchronised */
#define BEOBOARD_FLAGS_LATE            (UINT64_C(1) << 3)  /* the timer fired more than half an interval late */
#define BEOBOARD_FLAGS_SKIPPED         (UINT64_C(1) << 4)  /* at least one tick before this one brought no report */
#define BEOBOARD_FLAGS_ROOT_READONLY   (UINT64_C(1) << 5)  /* the root file system is mounted read-only */
#define BEOBOARD_FLAGS_HELD            (UINT64_C(1) << 6)  /* put on hold by the local admin (the hold file) */
#define BEOBOARD_FLAGS_CONTAINER       (UINT64_C(1) << 7)  /* the sender runs in a container */
#define BEOBOARD_FLAGS_SLOW_STALE      (UINT64_C(1) << 8)  /* a slow source did not answer in time */

#define BEOBOARD_NET_STATE_UP          (UINT64_C(1) << 0)  /* the interface is switched on */
#define BEOBOARD_NET_STATE_CARRIER     (UINT64_C(1) << 1)  /* it has a link */

#define BEOBOARD_GPU_FLAGS_PRESENT     (UINT64_C(1) << 0)  /* it is there */
#define BEOBOARD_GPU_FLAGS_IN_USE      (UINT64_C(1) << 1)  /* a program holds it, or it is busy */
#define BEOBOARD_GPU_FLAGS_ECC_ERROR   (UINT64_C(1) << 2)  /* it has memory errors that were not corrected */
#define BEOBOARD_GPU_FLAGS_THROTTLED   (UINT64_C(1) << 3)  /* it runs slower for its temperature or its power supply */
#define BEOBOARD_GPU_FLAGS_OFF_THE_BUS (UINT64_C(1) << 4)  /* it is lost to its driver, or wants a reset */
#define BEOBOARD_GPU_FLAGS_PARTITIONED (UINT64_C(1) << 5)  /* it is divided, as by MIG */

enum beoboard_health {
    BEOBOARD_HEALTH_UNKNOWN = 0,
    BEOBOARD_HEALTH_OK = 1,
    BEOBOARD_HEALTH_WARNING = 2,
    BEOBOARD_HEALTH_BAD = 3
};

enum beoboard_health_src {
    BEOBOARD_HEALTH_SRC_NONE = 0,
    BEOBOARD_HEALTH_SRC_ADMIN = 1,
    BEOBOARD_HEALTH_SRC_CHECK = 2      /* a node health check */
};

enum beoboard_arch {
    BEOBOARD_ARCH_OTHER = 0,
    BEOBOARD_ARCH_X86_64 = 1,
    BEOBOARD_ARCH_AARCH64 = 2,
    BEOBOARD_ARCH_PPC64LE = 3,
    BEOBOARD_ARCH_RISCV64 = 4,
    BEOBOARD_ARCH_S390X = 5
};

enum beoboard_virt {
    BEOBOARD_VIRT_METAL = 0,           /* or not known */
    BEOBOARD_VIRT_VM = 1,              /* a virtual machine */
    BEOBOARD_VIRT_CONTAINER = 2
};

enum beoboard_power_src {
    BEOBOARD_POWER_SRC_NONE = 0,
    BEOBOARD_POWER_SRC_HWMON = 1,
    BEOBOARD_POWER_SRC_BMC = 2         /* the BMC file */
};

enum beoboard_gpu_vendor {
    BEOBOARD_GPU_VENDOR_NONE = 0,
    BEOBOARD_GPU_VENDOR_NVIDIA = 1,
    BEOBOARD_GPU_VENDOR_AMD = 2,
    BEOBOARD_GPU_VENDOR_INTEL = 3
};

enum beoboard_auth_alg {
    BEOBOARD_AUTH_ALG_NONE = 0,        /* no tag */
    BEOBOARD_AUTH_ALG_CLUSTER = 1,     /* keyed with the cluster key */
    BEOBOARD_AUTH_ALG_NODE = 2         /* keyed with the node's own key, HMAC-SHA-256(cluster key, node name) */
};

enum beoboard_reason {
    BEOBOARD_REASON_NONE = 0,
    BEOBOARD_REASON_SIZE = 1,          /* not the size of a report */
    BEOBOARD_REASON_MAGIC = 2,         /* not one of ours */
    BEOBOARD_REASON_VERSION = 3,       /* another version of the report */
    BEOBOARD_REASON_LENGTH = 4,        /* its own length is wrong */
    BEOBOARD_REASON_CLUSTER = 5,       /* of another cluster */
    BEOBOARD_REASON_RESERVED = 6,      /* reserved bytes or unknown bits are set */
    BEOBOARD_REASON_NAME = 7,          /* not a name */
    BEOBOARD_REASON_INTERVAL = 8,      /* under 100 ms or over 600,000 ms */
    BEOBOARD_REASON_RANGE = 9,         /* a value that its table does not hold */
    BEOBOARD_REASON_AUTH_MISSING = 10, /* no tag, or a weaker one than this name has proved */
    BEOBOARD_REASON_KEY_ID = 11,       /* a key that the receiver does not have */
    BEOBOARD_REASON_TAG = 12,          /* a tag that does not match */
    BEOBOARD_REASON_STRANGER = 13,     /* not in the node list */
    BEOBOARD_REASON_CLOCK = 14,        /* a wall clock outside the window */
    BEOBOARD_REASON_RIVAL = 15,        /* another boot or run of a node that is still live */
    BEOBOARD_REASON_REPLAY = 16,       /* older than what was accepted before */
    BEOBOARD_REASON_LATE = 17,         /* after a newer report of the same run */
    BEOBOARD_REASON_FULL = 18          /* no record is free */
};

enum beoboard_event_kind {
    BEOBOARD_EVENT_KIND_NONE = 0,
    BEOBOARD_EVENT_KIND_RESTART = 1,   /* of a record: its sender was started anew */
    BEOBOARD_EVENT_KIND_REBOOT = 2,    /* of a record: the node was booted */
    BEOBOARD_EVENT_KIND_RESET = 3,     /* of a record: accepted because nothing else came for the reset limit */
    BEOBOARD_EVENT_KIND_GOODBYE = 4,   /* of a record: it was shut down cleanly */
    BEOBOARD_EVENT_KIND_REFUSAL = 5,   /* of a record, or of none: rejected; detail: the reason */
    BEOBOARD_EVENT_KIND_LINK_UP = 6,   /* of a link */
    BEOBOARD_EVENT_KIND_LINK_DOWN = 7, /* of a link; it may be up again by now */
    BEOBOARD_EVENT_KIND_DARK = 8,      /* of a link: all its nodes fell together; detail: how many */
    BEOBOARD_EVENT_KIND_LIT = 9,       /* of a link that was dark: a node of it is heard again */
    BEOBOARD_EVENT_KIND_OVERFLOW = 10, /* of none: a socket buffer was full; detail: how many datagrams were dropped */
    BEOBOARD_EVENT_KIND_TAKEOVER = 11, /* of none: a receiver began on this board; detail: its instance */
    BEOBOARD_EVENT_KIND_FORGET = 12,   /* of none: records were taken from the board; detail: how many */
    BEOBOARD_EVENT_KIND_FOLLOWED = 13, /* of none: a mirror began to follow a master; detail: which of mirror_names */
    BEOBOARD_EVENT_KIND_CLONE = 14,    /* of a record: two machines report as one */
    BEOBOARD_EVENT_KIND_DEAF = 15,     /* of none: the receiver could not hear until now; detail: for how many ms */
    BEOBOARD_EVENT_KIND_CLEAR = 16     /* of a record: problems that nothing measures were cleared; detail: which */
};

/* The CPUs of a socket. */
struct beoboard_cpu_group {
    uint16_t cpus;                     /* set groups */
    uint16_t busy_pm;                  /* 1/1000, set group_share */
    uint16_t user_pm;                  /* 1/1000, set group_share */
    uint16_t system_pm;                /* 1/1000, set group_share */
    uint16_t iowait_pm;                /* 1/1000, set group_share */
    uint16_t busiest_pm;               /* 1/1000, set group_share */
    uint16_t mhz;                      /* MHz, set groups */
    int16_t  temp_dc;                  /* 1/10 °C, set groups */
};
typedef char beoboard_cpu_group_has_16_bytes[sizeof(struct beoboard_cpu_group) == 16 ? 1 : -1];

/* A network interface, or several added together. */
struct beoboard_net_if {
    char     name[16];
    uint64_t rx_bytes;                 /* bytes */
    uint64_t tx_bytes;                 /* bytes */
    uint64_t rx_packets;               /* count */
    uint64_t tx_packets;               /* count */
    uint32_t errors;                   /* count */
    uint32_t drops;                    /* count */
    uint32_t mbps;                     /* Mbit/s */
    uint32_t state;                    /* BEOBOARD_NET_STATE_* */
};
typedef char beoboard_net_if_has_64_bytes[sizeof(struct beoboard_net_if) == 64 ? 1 : -1];

/* A GPU. */
struct beoboard_gpu_slot {
    uint8_t  util_pct;                 /* % */
    uint8_t  temp_degc;                /* °C */
    uint16_t power_w;                  /* W */
    uint32_t mem_used_mib;             /* MiB */
    uint32_t mem_total_mib;            /* MiB */
};
typedef char beoboard_gpu_slot_has_12_bytes[sizeof(struct beoboard_gpu_slot) == 12 ? 1 : -1];

/* What a node says of itself, once per interval. */
struct beoboard_report {
    uint32_t magic;                    /* id */
    uint16_t version;                  /* id */
    uint16_t length;                   /* bytes */
    uint32_t cluster_id;               /* id */
    uint32_t reserved7;                /* zero */
    uint64_t boot_id;                  /* id */
    uint32_t seq;                      /* id */
    uint32_t interval_ms;              /* ms */
    uint64_t t_real_ns;                /* ns */
    uint64_t t_boot_ns;                /* ns */
    uint64_t valid;                    /* BEOBOARD_VALID_* */
    uint32_t flags;                    /* BEOBOARD_FLAGS_* */
    uint16_t key_id;                   /* id */
    uint8_t  auth_alg;                 /* enum beoboard_auth_alg */
    uint8_t  reserved0;                /* zero */
    uint16_t cpus_online;              /* set cpus */
    uint16_t cpus_present;             /* set cpus */
    uint8_t  packages;                 /* set topology */
    uint8_t  groups;                   /* set topology */
    uint8_t  threads_per_core;         /* set topology */
    uint8_t  numa_nodes;               /* set topology */
    uint32_t load1_c;                  /* 1/100, set load */
    uint32_t load5_c;                  /* 1/100, set load */
    uint32_t load15_c;                 /* 1/100, set load */
    uint32_t runnable;                 /* set stat */
    uint32_t blocked;                  /* set stat */
    uint16_t cpu_busy_pm;              /* 1/1000, set cpu_share */
    uint16_t cpu_iowait_pm;            /* 1/1000, set cpu_share */
    uint32_t mem_total_mib;            /* MiB, set memory */
    uint32_t mem_avail_mib;            /* MiB, set memory */
    uint32_t swap_total_mib;           /* MiB, set memory */
    uint32_t swap_free_mib;            /* MiB, set memory */
    uint16_t psi_cpu_some10;           /* 1/100 %, set psi_cpu */
    uint16_t psi_mem_some10;           /* 1/100 %, set psi_mem */
    uint16_t psi_mem_full10;           /* 1/100 %, set psi_mem */
    uint16_t psi_io_some10;            /* 1/100 %, set psi_io */
    uint16_t psi_io_full10;            /* 1/100 %, set psi_io */
    uint8_t  gpu_count;                /* set gpu */
    uint8_t  gpu_busy;                 /* set gpu */
    uint32_t scratch_avail_mib;        /* MiB, set scratch */
    uint8_t  health;                   /* enum beoboard_health, set health */
    uint8_t  health_src;               /* enum beoboard_health_src, set health */
    uint16_t reserved1;                /* zero */
    uint32_t health_age_s;             /* s, set health */
    uint32_t taint;                    /* bits of the kernel, set taint */
    uint32_t oom_kills;                /* count, set vmstat */
    uint32_t hung_tasks;               /* count, set hung_tasks */
    uint32_t edac_ce;                  /* count, set edac */
    uint32_t edac_ue;                  /* count, set edac */
    uint32_t throttle_events;          /* count, set throttle */
    int32_t  clock_offset_us;          /* us, set clock */
    uint32_t clock_maxerr_us;          /* us, set clock */
    uint32_t late_us;                  /* us, set sender */
    uint32_t collect_us;               /* us, set sender */
    uint32_t agent_cpu_ms;             /* ms, set sender */
    uint32_t missed_ticks;             /* count, set sender */
    uint32_t hw_hash;                  /* id, set hw_hash */
    uint32_t sw_hash;                  /* id, set sw_hash */
    char     hostname[64];
    char     os_release[48];           /* set system */
    uint8_t  arch;                     /* enum beoboard_arch, set system */
    uint8_t  virt;                     /* enum beoboard_virt, set system */
    uint16_t page_kib;                 /* KiB, set system */
    uint32_t cpu_mhz_max;              /* MHz, set cpu_mhz */
    uint32_t agent_version;            /* id */
    uint32_t reserved2;                /* zero */
    uint64_t cpu_user_ms;              /* ms, set stat */
    uint64_t cpu_nice_ms;              /* ms, set stat */
    uint64_t cpu_system_ms;            /* ms, set stat */
    uint64_t cpu_idle_ms;              /* ms, set stat */
    uint64_t cpu_iowait_ms;            /* ms, set stat */
    uint64_t cpu_irq_ms;               /* ms, set stat */
    uint64_t cpu_softirq_ms;           /* ms, set stat */
    uint64_t cpu_steal_ms;             /* ms, set stat */
    struct beoboard_cpu_group group[4]; /* set groups */
    uint64_t ctxt;                     /* count, set stat */
    uint64_t intr;                     /* count, set stat */
    uint64_t forks;                    /* count, set stat */
    uint64_t majfaults;                /* count, set vmstat */
    uint64_t swapin_pages;             /* count, set vmstat */
    uint64_t swapout_pages;            /* count, set vmstat */
    uint64_t tcp_retrans;              /* count, set tcp */
    uint32_t threads;                  /* set load */
    uint32_t files_open;               /* set files */
    uint32_t mem_free_mib;             /* MiB, set memory */
    uint32_t mem_buffers_mib;          /* MiB, set memory */
    uint32_t mem_cached_mib;           /* MiB, set memory */
    uint32_t mem_shmem_mib;            /* MiB, set memory */
    uint32_t mem_sreclaimable_mib;     /* MiB, set memory */
    uint32_t mem_sunreclaim_mib;       /* MiB, set memory */
    uint32_t mem_anon_mib;             /* MiB, set memory */
    uint32_t mem_dirty_writeback_mib;  /* MiB, set memory */
    uint32_t mem_committed_mib;        /* MiB, set memory */
    uint32_t mem_commit_limit_mib;     /* MiB, set memory */
    uint32_t mem_huge_total_mib;       /* MiB, set memory */
    uint32_t mem_huge_free_mib;        /* MiB, set memory */
    uint32_t mem_unevictable_mib;      /* MiB, set memory */
    uint32_t mem_pagetables_mib;       /* MiB, set memory */
    uint32_t mem_corrupted_kib;        /* KiB, set memory */
    uint32_t reserved3;                /* zero */
    uint64_t psi_cpu_some_us;          /* us, set psi_cpu */
    uint64_t psi_mem_some_us;          /* us, set psi_mem */
    uint64_t psi_mem_full_us;          /* us, set psi_mem */
    uint64_t psi_io_some_us;           /* us, set psi_io */
    uint64_t psi_io_full_us;           /* us, set psi_io */
    uint64_t psi_irq_full_us;          /* us, set psi_irq */
    uint16_t psi_cpu_some60;           /* 1/100 %, set psi_cpu */
    uint16_t psi_mem_some60;           /* 1/100 %, set psi_mem */
    uint16_t psi_mem_full60;           /* 1/100 %, set psi_mem */
    uint16_t psi_io_some60;            /* 1/100 %, set psi_io */
    uint16_t psi_io_full60;            /* 1/100 %, set psi_io */
    uint16_t psi_irq_full10;           /* 1/100 %, set psi_irq */
    uint32_t reserved4;                /* zero */
    struct beoboard_net_if net[3];     /* set net */
    struct beoboard_net_if net_rest;   /* set net */
    struct beoboard_net_if fabric;     /* set fabric */
    uint64_t disk_read_bytes;          /* bytes, set disk */
    uint64_t disk_write_bytes;         /* bytes, set disk */
    uint64_t disk_reads;               /* count, set disk */
    uint64_t disk_writes;              /* count, set disk */
    uint64_t disk_busy_ms;             /* ms, set disk */
    uint64_t disk_weighted_ms;         /* ms, set disk */
    uint32_t disk_inflight;            /* set disk */
    uint16_t disks;                    /* set disk */
    uint16_t disk_busiest_pm;          /* 1/1000, set disk_share */
    uint32_t root_total_mib;           /* MiB, set root */
    uint32_t root_avail_mib;           /* MiB, set root */
    uint64_t energy_cpu_mj;            /* mJ, set energy_cpu */
    uint64_t energy_dram_mj;           /* mJ, set energy_dram */
    uint16_t power_node_w;             /* W, set power */
    uint8_t  power_src;                /* enum beoboard_power_src, set power */
    uint8_t  gpu_vendor;               /* enum beoboard_gpu_vendor, set gpu */
    int16_t  temp_inlet_dc;            /* 1/10 °C, set temp_inlet */
    int16_t  temp_hottest_dc;          /* 1/10 °C, set temp_hottest */
    uint32_t scratch_total_mib;        /* MiB, set scratch */
    uint16_t root_inodes_free_pm;      /* 1/1000, set root */
    uint16_t scratch_inodes_free_pm;   /* 1/1000, set scratch */
    uint32_t gpu_errors;               /* count, set gpu_errors */
    uint32_t gpu_ecc_ue;               /* count, set gpu_errors */
    uint8_t  gpu_flags[8];             /* BEOBOARD_GPU_FLAGS_*, set gpu */
    uint32_t fs_total_mib;             /* MiB, set filesystems */
    uint32_t fs_avail_mib;             /* MiB, set filesystems */
    uint16_t fs_fullest_pm;            /* 1/1000, set filesystems */
    uint8_t  reserved5[6];             /* zero */
    struct beoboard_gpu_slot gpu[8];   /* set gpu */
    uint64_t start_boot_ns;            /* ns */
    uint64_t slow_boot_ns;             /* ns */
    uint8_t  tag[16];
};
typedef char beoboard_report_has_1216_bytes[sizeof(struct beoboard_report) == 1216 ? 1 : -1];

/* Rates of one network entry, per second; NaN: none. */
struct beoboard_net_rates {
    char   name[16];                   /* empty: no entry */
    double rx_bytes;                   /* bytes */
    double tx_bytes;                   /* bytes */
    double rx_packets;                 /* count */
    double tx_packets;                 /* count */
    double errors;                     /* count */
    double drops;                      /* count */
};

/* Counters of a report per second, under their names: cpu_user_ms is ms of CPU time a second. NaN: none. */
struct beoboard_rates {
    double seconds;                    /* from one report to the other: the base of the fast sets */
    double slow_seconds;               /* from one slow round to the other: the base of the slow sets */
    double cpu_user_pct;               /* %, of the time of all CPUs */
    double cpu_nice_pct;               /* %, of the time of all CPUs */
    double cpu_system_pct;             /* %, of the time of all CPUs */
    double cpu_idle_pct;               /* %, of the time of all CPUs */
    double cpu_iowait_pct;             /* %, of the time of all CPUs */
    double cpu_irq_pct;                /* %, of the time of all CPUs */
    double cpu_softirq_pct;            /* %, of the time of all CPUs */
    double cpu_steal_pct;              /* %, of the time of all CPUs */
    double oom_kills;                  /* count, set vmstat */
    double agent_cpu_ms;               /* ms, set sender */
    double missed_ticks;               /* count, set sender */
    double cpu_user_ms;                /* ms, set stat */
    double cpu_nice_ms;                /* ms, set stat */
    double cpu_system_ms;              /* ms, set stat */
    double cpu_idle_ms;                /* ms, set stat */
    double cpu_iowait_ms;              /* ms, set stat */
    double cpu_irq_ms;                 /* ms, set stat */
    double cpu_softirq_ms;             /* ms, set stat */
    double cpu_steal_ms;               /* ms, set stat */
    double ctxt;                       /* count, set stat */
    double intr;                       /* count, set stat */
    double forks;                      /* count, set stat */
    double majfaults;                  /* count, set vmstat */
    double swapin_pages;               /* count, set vmstat */
    double swapout_pages;              /* count, set vmstat */
    double tcp_retrans;                /* count, set tcp */
    double psi_cpu_some_us;            /* us, set psi_cpu */
    double psi_mem_some_us;            /* us, set psi_mem */
    double psi_mem_full_us;            /* us, set psi_mem */
    double psi_io_some_us;             /* us, set psi_io */
    double psi_io_full_us;             /* us, set psi_io */
    double psi_irq_full_us;            /* us, set psi_irq */
    double disk_read_bytes;            /* bytes, set disk */
    double disk_write_bytes;           /* bytes, set disk */
    double disk_reads;                 /* count, set disk */
    double disk_writes;                /* count, set disk */
    double disk_busy_ms;               /* ms, set disk */
    double disk_weighted_ms;           /* ms, set disk */
    double energy_cpu_mj;              /* mJ, set energy_cpu, slow */
    double energy_dram_mj;             /* mJ, set energy_dram, slow */
    struct beoboard_net_rates net[3];  /* by name, up to an empty one; set net */
    struct beoboard_net_rates net_rest; /* set net */
    struct beoboard_net_rates fabric;  /* set fabric */
};
/* <<<< generated */

/* A report, and when it came. */
struct beoboard_slot {
    uint64_t number;                   /* this is the n-th report that the board took of this node */
    int64_t  age_ns;                   /* since it came */
    int64_t  stamp_ns;                 /* when it came: CLOCK_MONOTONIC of the master */
    int64_t  stamp_wall_ns;            /* the same, UTC, for display only */
    struct beoboard_report report;
};

#ifdef __cplusplus
}
#endif
#endif

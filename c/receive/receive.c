#include "receive.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../base/ipaddress.h"
#include "../board/seqlock.h"
#include "drops.h"
#include "links.h"
#include "sockets.h"
#include "stamps.h"

#define BATCH 64
/* Records and slots are prefetched so many datagrams ahead: only some two dozen lines can be on their way at once, and
 * the first-level cache is small for slots of 1,280 bytes. */
#define RECORDS_AHEAD 8
#define SLOTS_AHEAD 2
/* Larger than a report, so that a datagram that is too long is noticed; the kernel cuts the rest. */
#define ROOM (BB_REPORT_BYTES + 64)
#define SECOND INT64_C(1000000000)
#define HEARTBEAT_NS (SECOND / 10)
/* From so many reports in one drain on, the next tick comes without waiting for a report first. */
#define BUSY 4
/* If fewer reports come than one in so long, each is received on arrival and does not wait for the tick: 400 a second.
 * Up to AT_ONCE reports may be closer to each other. */
#define SELDOM_NS (SECOND / 400)
#define AT_ONCE 8
#define PAUSE_NS SECOND
/* For how long a drain receives. The rest is left to the next drain: a flood must not delay our heartbeat. */
#define MOST_DRAIN_NS (SECOND / 20)

/* What the kernel reports about a datagram: two cache lines. The size of its fragments comes only with one that was
 * joined from some. */
struct ancillary {
  _Alignas(64) uint8_t control[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct in6_pktinfo)) +
                               CMSG_SPACE(sizeof(int))];
  union {
    sa_family_t family;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } from;
};

struct bb_receiver {
  struct bb_writer *writer;
  struct sockets sockets;
  struct drops drops;
  struct links links;
  int64_t drain_ns;
  uint64_t asked; /* the request: to stop, or to run a job */
  int wake;       /* eventfd, which wakes a thread that waits for reports */
  bool started;
  pthread_t thread;
  void (*displaced)(void *);
  void *displaced_context;
  int64_t last_began_ns, last_end_boot_ns, last_heartbeat_boot_ns;
  uint64_t stood_still_ns;
  uint64_t heartbeat_ns; /* the last one, for code that watches the thread */
  bool again; /* the last drain wants another one at once */
  bool busy;  /* it received so much that there will be something at the next tick, too */
  int64_t spare_ns; /* SELDOM_NS for each report that may be received before its tick; below 0: too many came */
  uint64_t flood, junk; /* the junk per second above which to filter; what came since `junk_since_ns` */
  int64_t junk_since_ns;
  bool filtering;
  int64_t housekept_ns;
  pthread_mutex_t mutex; /* protects the following, up to the messages */
  pthread_cond_t done;
  struct bb_receiver_status status;
  bool stop;
  bool ended; /* the thread has ended its use of the writer, by itself */
  void (*job)(struct bb_writer *, void *);
  void *job_context;
  struct mmsghdr messages[BATCH];
  struct iovec vectors[BATCH];
  struct ancillary ancillary[BATCH];
  _Alignas(struct bb_report) uint8_t data[BATCH][ROOM];
};

struct bb_receiver *bb_receiver_new(int64_t drain_ns, uint64_t flood) {
  struct bb_receiver *r = (struct bb_receiver *)aligned_alloc(_Alignof(struct bb_receiver), sizeof *r);
  if (r == NULL) return NULL;
  memset(r, 0, sizeof *r);
  r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (r->wake < 0) {
    free(r);
    return NULL;
  }
  pthread_mutex_init(&r->mutex, NULL);
  pthread_cond_init(&r->done, NULL);
  drops_open(&r->drops);
  links_open(&r->links, &r->sockets, r->drops.kernel);
  r->drain_ns = drain_ns;
  r->flood = flood;
  r->sockets.buffer = UINT64_MAX;
  for (int i = 0; i < BATCH; i++) {
    r->vectors[i] = (struct iovec){r->data[i], ROOM};
    r->messages[i].msg_hdr.msg_iov = &r->vectors[i];
    r->messages[i].msg_hdr.msg_iovlen = 1;
  }
  return r;
}

int bb_receiver_listen(struct bb_receiver *r, const char *host, uint16_t port, char *why, size_t size) {
  return sockets_listen(&r->sockets, host, port, why, size);
}

int bb_receiver_adopt(struct bb_receiver *r, int fd, char host[INET6_ADDRSTRLEN], char *why, size_t size) {
  return sockets_adopt(&r->sockets, fd, host, why, size);
}

int bb_receiver_join(struct bb_receiver *r, const char *group, uint16_t port, const char *interface, char *why,
                     size_t size) {
  return sockets_join(&r->sockets, group, port, interface, why, size);
}

/* Of another list of local networks, for the receive thread. */
struct localising {
  struct bb_receiver *receiver;
  const struct bb_network *networks;
  size_t count;
  bool ok;
};

static void localise(struct bb_writer *writer, void *context) {
  (void)writer;
  struct localising *l = (struct localising *)context;
  l->ok = links_set_local(&l->receiver->links, l->networks, l->count);
}

bool bb_receiver_set_local(struct bb_receiver *r, const struct bb_network *networks, size_t count) {
  struct localising l = {r, networks, count, false};
  bb_receiver_run(r, localise, &l);
  return l.ok;
}

/* ---- floods ---- */

static void filter(struct bb_receiver *r, bool on) {
  r->filtering = sockets_filter(&r->sockets, on);
  bb_writer_filtering(r->writer, r->filtering);
}

/* Filters from the moment when more junk has come than the limit per second, until a whole second has brought less. */
static void mind_flood(struct bb_receiver *r, int64_t now_ns) {
  const int64_t elapsed_ns = now_ns - r->junk_since_ns;
  const uint64_t seconds = elapsed_ns < SECOND ? 1 : (uint64_t)(elapsed_ns / SECOND);
  const bool is_flood = r->junk > r->flood * seconds;
  if (is_flood && !r->filtering) filter(r, true);
  if (elapsed_ns < SECOND) return;
  if (!is_flood && r->filtering) filter(r, false);
  r->junk = 0;
  r->junk_since_ns = now_ns;
}

/* ---- the drain ---- */

/* What the kernel reports about a datagram's arrival. */
struct control {
  int64_t ns;        /* its receive time; 0: none */
  unsigned index;    /* the interface; 0: it came before that was enabled */
  uint8_t to[16];    /* its destination: an IPv6 address, IPv4 as ::ffff:a.b.c.d */
  bool in_pieces;    /* it was joined from IP fragments */
};

static struct control read_control(struct msghdr *message) {
  struct control control = {0};
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
      struct timespec t;
      memcpy(&t, CMSG_DATA(c), sizeof t);
      control.ns = (int64_t)t.tv_sec * SECOND + t.tv_nsec;
    } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
      struct in_pktinfo info;
      memcpy(&info, CMSG_DATA(c), sizeof info);
      control.index = (unsigned)info.ipi_ifindex;
      map_v4(control.to, &info.ipi_addr);
    } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
      struct in6_pktinfo info;
      memcpy(&info, CMSG_DATA(c), sizeof info);
      control.index = info.ipi6_ifindex;
      memcpy(control.to, &info.ipi6_addr, sizeof control.to);
    } else {
      control.in_pieces = control.in_pieces || (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVFRAGSIZE) ||
                       (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVFRAGSIZE);
    }
  }
  return control;
}

static void set_address(struct bb_arrival *arrival, const struct ancillary *from) {
  map_address(arrival->address, &from->from);
  arrival->port = ntohs(from->from.family == AF_INET6 ? from->from.v6.sin6_port : from->from.v4.sin_port);
}

/* Receives one batch from a socket; returns the number of datagrams. */
static int receive_batch(struct bb_receiver *r, struct listener *l) {
  for (int i = 0; i < BATCH; i++) {
    struct msghdr *m = &r->messages[i].msg_hdr;
    m->msg_name = &r->ancillary[i].from;
    m->msg_namelen = sizeof r->ancillary[i].from;
    m->msg_control = r->ancillary[i].control;
    m->msg_controllen = sizeof r->ancillary[i].control;
    m->msg_flags = 0;
  }
  int got = recvmmsg(l->fd, r->messages, BATCH, MSG_DONTWAIT, NULL);
  if (got < 0) {
    l->heard.empty = errno == EAGAIN || errno == EWOULDBLOCK;
    return 0;
  }
  const int64_t received_ns = bb_clock_ns(CLOCK_MONOTONIC);
  const int64_t distance = stamps_clock_distance();
  /* A board is larger than a cache. The memory for the next nodes of a batch is requested first, so that its latencies
   * overlap. */
  uint64_t expected[BATCH];
  for (int i = 0; i < got; i++) expected[i] = bb_writer_expect(r->writer, r->data[i]);
  for (int i = 0; i < got && i < RECORDS_AHEAD; i++) bb_writer_fetch(r->writer, expected[i]);
  for (int i = 0; i < got; i++) {
    if (i + RECORDS_AHEAD < got) bb_writer_fetch(r->writer, expected[i + RECORDS_AHEAD]);
    if (i + SLOTS_AHEAD < got) bb_writer_fetch_slot(r->writer, expected[i + SLOTS_AHEAD]);
    struct msghdr *m = &r->messages[i].msg_hdr;
    struct bb_arrival arrival = {.expected = expected[i]};
    const struct control control = read_control(m);
    arrival.stamp_ns = stamps_of(&l->heard, control.ns, distance, received_ns);
    if (arrival.stamp_ns == 0) continue;
    arrival.stamp_real_ns = arrival.stamp_ns + distance;
    set_address(&arrival, &r->ancillary[i]);
    arrival.in_pieces = control.in_pieces;
    links_find(&r->links, l, control.index, &arrival);
    const int outcome = bb_writer_deliver(r->writer, r->data[i], r->messages[i].msg_len, &arrival);
    if (outcome == BB_OUTCOME_ACCEPTED) links_note(&r->links, l, &arrival, control.index, control.to);
    r->junk += outcome == BB_REASON_SIZE || outcome == BB_REASON_MAGIC;
    l->heard.latest_ns = arrival.stamp_ns;
  }
  l->heard.empty = got < BATCH;
  return got;
}

/* A leaky bucket: time fills it, and each report takes some out, whether it was waited for or not; so does a drain
 * without a report, because a socket that only fails must not be read without pause. */
static void spend(struct bb_receiver *r, int64_t now_ns, uint64_t reports) {
  const int64_t most_ns = AT_ONCE * SELDOM_NS, had_ns = r->spare_ns + (now_ns - r->last_began_ns);
  const int64_t spent_ns = reports > 2 * AT_ONCE ? 2 * most_ns : (reports > 0 ? (int64_t)reports : 1) * SELDOM_NS;
  r->spare_ns = (had_ns < most_ns ? had_ns : most_ns) - spent_ns;
  if (r->spare_ns < -most_ns) r->spare_ns = -most_ns;
}

/* Up to when the heartbeat may go, for what the kernel dropped. */
static int64_t count_drops(struct bb_receiver *r, int64_t now_ns) {
  const int64_t until_ns = drops_count(&r->drops, &r->sockets, r->writer, (int64_t)r->heartbeat_ns, now_ns);
  if (r->filtering) r->junk += r->drops.latest;
  return until_ns;
}

static void drain(struct bb_receiver *r) {
  const int64_t began_ns = bb_clock_ns(CLOCK_MONOTONIC);
  const int64_t began_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  /* CLOCK_BOOTTIME, which continues while the machine is suspended. Stored before anything else: a reader that sees
   * a new heartbeat must see that the time before it was not listened to. */
  if (began_boot_ns - r->last_end_boot_ns > PAUSE_NS) {
    bb_writer_resumed(r->writer, began_ns);
    r->stood_still_ns += (uint64_t)(began_boot_ns - r->last_end_boot_ns);
  }
  if (began_boot_ns - r->last_heartbeat_boot_ns > PAUSE_NS) bb_writer_listen_anew(r->writer, began_ns);
  const int64_t allowed_ns = count_drops(r, began_ns);

  const int64_t distance = stamps_clock_distance();
  uint64_t total = 0;
  for (int i = 0; i < r->sockets.count; i++) r->sockets.listeners[i].heard.empty = false;
  bool more;
  /* One batch each in turn, so that a flood on one socket does not starve another. */
  do {
    more = false;
    for (int i = 0; i < r->sockets.count; i++) {
      struct listener *l = &r->sockets.listeners[i];
      if (l->heard.empty) continue;
      const int got = receive_batch(r, l);
      total += (uint64_t)got;
      if (!l->heard.empty && got > 0) more = true;
    }
  } while (more && bb_clock_ns(CLOCK_MONOTONIC) - began_ns <= MOST_DRAIN_NS);
  links_drain(&r->links);
  int64_t heard_ns = allowed_ns < began_ns ? allowed_ns : began_ns;
  for (int i = 0; i < r->sockets.count; i++) {
    struct listener *l = &r->sockets.listeners[i];
    stamps_drained(&l->heard, began_ns, distance);
    if (l->heard.heard_ns < heard_ns) heard_ns = l->heard.heard_ns;
  }
  spend(r, began_ns, total);
  r->last_began_ns = began_ns;
  r->last_end_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  if (heard_ns > (int64_t)r->heartbeat_ns) {
    bb_writer_heartbeat(r->writer, heard_ns);
    bb_store(&r->heartbeat_ns, (uint64_t)heard_ns);
    r->last_heartbeat_boot_ns = began_boot_ns - (began_ns - heard_ns);
  }
  mind_flood(r, began_ns);
  /* `more`: its time was over. A socket that only fails must not be read without pause. */
  r->again = more || total * BB_STAT_BUFFER_BYTES > r->sockets.buffer / 4;
  r->busy = total >= BUSY;
}

/* ---- the thread ---- */

/* Checks whether our board is still at its path; returns the result of bb_writer_check_path(). If the path is
 * another receiver's by now, that is reported, and the thread has to end. */
static int keep_path(struct bb_receiver *r, char *why, size_t size) {
  const int result = bb_writer_check_path(r->writer, why, size);
  if (result != BB_PATH_HELD) return result;
  pthread_mutex_lock(&r->mutex);
  r->status.displaced = true;
  snprintf(r->status.trouble, sizeof r->status.trouble, "%s", why);
  pthread_mutex_unlock(&r->mutex);
  return result;
}

/* Whether we have stood still for so long that another receiver may have claimed the board, and one has. Checked
 * before anything is written. */
static bool was_displaced(struct bb_receiver *r) {
  char why[sizeof r->status.trouble];
  return bb_clock_ns(CLOCK_BOOTTIME) - r->last_end_boot_ns > PAUSE_NS && keep_path(r, why, sizeof why) == BB_PATH_HELD;
}

/* Once a second: is our board still at its path, and are we still in our groups? And what JavaScript may ask for. */
static void keep_house(struct bb_receiver *r) {
  char trouble[sizeof r->status.trouble] = "";
  const int published = keep_path(r, trouble, sizeof trouble);
  if (published == BB_PATH_HELD) return;
  /* Before links are judged dark: what this machine dropped itself is no fault of theirs. */
  drops_count_softnet(&r->drops, r->writer);
  links_keep(&r->links, trouble, sizeof trouble);
  bb_writer_survey(r->writer, bb_clock_ns(CLOCK_MONOTONIC));
  const struct bb_board_header *h = bb_writer_header(r->writer);
  pthread_mutex_lock(&r->mutex);
  struct bb_receiver_status *s = &r->status;
  s->received = h->received;
  s->accepted = h->accepted;
  s->duplicate = h->duplicate;
  s->kernel_drops = h->kernel_drops;
  s->unfit_drops = h->unfit_drops;
  s->softnet_drops = h->softnet_drops;
  s->missed = links_missed(&r->links);
  s->nodes = h->count;
  /* The table is half of what is done here for a few nodes, and it changes with its counters only. */
  if (memcmp(s->refused, h->refused, sizeof s->refused) != 0) bb_writer_senders(r->writer, s->senders);
  memcpy(s->refused, h->refused, sizeof s->refused);
  s->receive_buffer = r->sockets.buffer;
  s->filtering = r->filtering;
  s->publications += published > 0;
  s->stood_still_ns = r->stood_still_ns;
  memcpy(s->trouble, trouble, sizeof trouble);
  pthread_mutex_unlock(&r->mutex);
}

static void wake(struct bb_receiver *r) {
  const uint64_t one = 1;
  bb_store(&r->asked, 1);
  while (write(r->wake, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

/* Does what is pending, with the mutex, and gives that back. */
static void do_job(struct bb_receiver *r) {
  if (r->job != NULL) r->job(r->writer, r->job_context);
  r->job = NULL;
  pthread_cond_signal(&r->done);
  pthread_mutex_unlock(&r->mutex);
}

/* Does what was requested from outside; returns whether that is to stop. */
static bool obey(struct bb_receiver *r) {
  if (bb_load(&r->asked) == 0) return false;
  /* Before we look: later requests set it again, and the mutex shows us earlier ones. */
  bb_store(&r->asked, 0);
  uint64_t times;
  while (read(r->wake, &times, sizeof times) < 0 && errno == EINTR) {
  }
  pthread_mutex_lock(&r->mutex);
  const bool stop = r->stop;
  do_job(r);
  return stop;
}

/* The thread ends by itself: pending requests are done here, and later ones by whoever makes them. */
static void leave(struct bb_receiver *r) {
  pthread_mutex_lock(&r->mutex);
  r->ended = true;
  do_job(r);
  if (r->displaced != NULL) r->displaced(r->displaced_context);
}

static void wait_for_tick(const struct bb_receiver *r) {
  const int64_t tick_ns = r->last_began_ns + r->drain_ns;
  const struct timespec tick = {tick_ns / SECOND, tick_ns % SECOND};
  if (tick_ns > bb_clock_ns(CLOCK_MONOTONIC)) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, NULL);
}

static void *run(void *argument) {
  struct bb_receiver *r = (struct bb_receiver *)argument;
  struct pollfd fds[2 + BB_MOST_SOCKETS] = {
    {.fd = r->wake, .events = POLLIN},
    {.fd = links_fd(&r->links), .events = POLLIN}, /* -1 is ignored */
  };
  for (int i = 0; i < r->sockets.count; i++)
    fds[2 + i] = (struct pollfd){.fd = r->sockets.listeners[i].fd, .events = POLLIN};
  const struct timespec heartbeat = {HEARTBEAT_NS / SECOND, HEARTBEAT_NS % SECOND};
  bool stop = false;
  while (!stop && !r->status.displaced) { /* only this thread sets it */
    if (!r->again) {
      /* Blocks for the first report, or news of an interface, and then until the tick unless reports are few; while
       * they keep coming, until the tick at once. Wake-ups are expensive, not copies; a sleep costs less than waiting
       * for requests, which have time until the tick. */
      if (!r->busy) ppoll(fds, 2 + (nfds_t)r->sockets.count, &heartbeat, NULL);
      if (r->busy || r->spare_ns < SELDOM_NS) wait_for_tick(r);
    }
    if (was_displaced(r)) break;
    /* Only requests from before a drain are done after it: what came before the request is on the board that it
     * concerns. */
    const bool is_asked = bb_load(&r->asked) != 0;
    drain(r);
    stop = is_asked && obey(r);
    if (r->last_began_ns - r->housekept_ns >= SECOND || stop) {
      keep_house(r);
      r->housekept_ns = r->last_began_ns;
    }
  }
  if (!stop) leave(r);
  return NULL;
}

int bb_receiver_start(struct bb_receiver *r, struct bb_writer *writer, void (*displaced)(void *), void *context) {
  const int64_t now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  r->writer = writer;
  r->displaced = displaced;
  r->displaced_context = context;
  int64_t heard_ns, distance;
  const bool known = bb_writer_past(writer, &heard_ns, &distance);
  sockets_look_back(&r->sockets, known, heard_ns, distance);
  bb_writer_receive_buffer(r->writer, r->sockets.buffer);
  r->last_began_ns = now_ns - r->drain_ns;
  /* Listening begins now, so this is stored before the first heartbeat. */
  bb_writer_listen_anew(r->writer, now_ns);
  bb_writer_resumed(r->writer, now_ns);
  r->last_end_boot_ns = r->last_heartbeat_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  links_begin(&r->links, bb_writer_links(writer));
  /* The first drain is here, before there is a thread: whoever is told that we are ready finds a board that is not
   * stalled. */
  drain(r);
  if (r->heartbeat_ns == 0) drain(r); /* it found drops that nothing explains yet */
  keep_house(r);
  sigset_t all, before;
  sigfillset(&all); /* JavaScript handles signals */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&r->thread, NULL, run, r);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  r->started = error == 0;
  return -error;
}

void bb_receiver_run(struct bb_receiver *r, void (*job)(struct bb_writer *, void *), void *context) {
  if (!r->started) {
    job(r->writer, context);
    return;
  }
  pthread_mutex_lock(&r->mutex);
  r->job = job;
  r->job_context = context;
  wake(r);
  /* A thread that has ended leaves the writer to us. */
  if (r->ended && r->job != NULL) {
    job(r->writer, context);
    r->job = NULL;
  }
  while (r->job != NULL) pthread_cond_wait(&r->done, &r->mutex);
  pthread_mutex_unlock(&r->mutex);
}

void bb_receiver_status(struct bb_receiver *r, struct bb_receiver_status *out) {
  pthread_mutex_lock(&r->mutex);
  *out = r->status;
  pthread_mutex_unlock(&r->mutex);
  out->heartbeat_ns = bb_load(&r->heartbeat_ns);
}

void bb_receiver_stop(struct bb_receiver *r) {
  if (r->started) {
    pthread_mutex_lock(&r->mutex);
    r->stop = true;
    pthread_mutex_unlock(&r->mutex);
    wake(r);
    pthread_join(r->thread, NULL);
    /* Drops of the last drain that were not explained yet are counted, too; they are known only now, by the second
     * look. */
    for (int i = 0; i < 2; i++) count_drops(r, bb_clock_ns(CLOCK_MONOTONIC));
  }
  for (int i = 0; i < r->sockets.count; i++) close(r->sockets.listeners[i].fd);
  close(r->wake);
  links_close(&r->links);
  drops_close(&r->drops);
  pthread_cond_destroy(&r->done);
  pthread_mutex_destroy(&r->mutex);
  if (r->writer != NULL) bb_writer_close(r->writer);
  free(r);
}

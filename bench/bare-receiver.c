/* The minimum for a receiver: drains a socket on every tick with recvmmsg, and copies each datagram into a slot. It
 * parses nothing.
 *   bare-receiver FILE SLOTS [tick=MS] [stamps | keeps]
 * Makes FILE, which holds the slots, and begins with a count of datagrams. Prints its port on 127.0.0.1. With a tick of
 * 0 it waits for each datagram. With `stamps` it also reads the kernel's receive times, the addresses and the packet
 * info. With `keeps` it also does the least that a board promises its readers, with the receiver's own prefetches: each
 * report in the older of two slots of its name, untorn and with its stamps and link, in its order and counted; the word
 * of the column after it; and a heartbeat after each drain. It has no digests, no keys, no memory of trouble, no events,
 * and no checks beyond the first bytes. A datagram that begins with the bytes "probe" always goes to slot 0, where nothing else goes: see latency.c. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../c/board/seqlock.h"
#include "../c/format/layout.gen.h"

#define BYTES 1216
#define STRIDE 3520 /* of records on the board: the slots are as far apart */
#define BATCH 64
#define BUFFER (64 << 20)
#define COUNTS 4096
#define CONTROL 64
_Static_assert(CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct in_pktinfo)) <= CONTROL, "room for what the kernel tells");

static void set(int fd, int level, int option, int value) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) perror("bare-receiver: setsockopt");
}

static int open_socket(bool stamps) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const int wanted = BUFFER;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) set(fd, SOL_SOCKET, SO_RCVBUF, wanted);
  if (stamps) {
    set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    set(fd, IPPROTO_IP, IP_PKTINFO, 1);
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) exit(1);
  getsockname(fd, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

/* ---- What a board promises ---- */

/* One node: as far apart as on a board. */
struct node {
  struct bb_record record;
  struct bb_slot slots[2];
  uint8_t rest[STRIDE - sizeof(struct bb_record) - 2 * sizeof(struct bb_slot)];
};

static struct {
  struct node *nodes;
  uint64_t *index, *column; /* a hash and a number each; a word for each node */
  uint64_t mask, known, received, by_link, heartbeat_ns;
} board;

static uint64_t hash_of(const struct bb_report *report) {
  uint64_t hash = 0;
  for (size_t at = 0, word; at < sizeof report->hostname; at += sizeof word) {
    memcpy(&word, report->hostname + at, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

/* The node of a name; as long as there is room, a new one. */
static uint64_t node_of(const struct bb_report *report, uint64_t hash, uint64_t most) {
  for (uint64_t i = hash & board.mask;; i = (i + 1) & board.mask) {
    const uint64_t entry = board.index[i], number = (uint32_t)entry;
    if (entry == 0) {
      if (board.known == most) return 0;
      memcpy(board.nodes[++board.known].record.name, report->hostname, sizeof report->hostname);
      bb_store_release(&board.index[i], hash >> 32 << 32 | board.known);
      return board.known;
    }
    if (entry >> 32 == hash >> 32 && strcmp(board.nodes[number].record.name, report->hostname) == 0) return number;
  }
}

static void fetch(uint64_t hash, bool is_near) {
  const uint64_t entry = board.index[hash & board.mask];
  const struct node *n = &board.nodes[(uint32_t)entry];
  if (entry >> 32 != hash >> 32) return;
  if (is_near) {
    const struct bb_slot *older = &n->slots[n->slots[0].head > n->slots[1].head];
    for (size_t at = 64; at < sizeof *older; at += 64) __builtin_prefetch((const uint8_t *)older + at, 1);
    return;
  }
  for (size_t at = 0; at < sizeof n->record; at += 64) __builtin_prefetch((const uint8_t *)&n->record + at, 1);
  __builtin_prefetch(&n->slots[0], 1);
  __builtin_prefetch(&n->slots[1], 1);
  __builtin_prefetch(&board.column[(uint32_t)entry], 1);
}

/* When it came and by which link, if it is a report at all and newer than the last one of its node's run. */
static void keep(const uint8_t *datagram, uint64_t hash, struct msghdr *message, int64_t distance_ns, uint64_t most) {
  const struct bb_report *report = (const struct bb_report *)(const void *)datagram;
  bb_add(&board.received, 1);
  if (report->magic != BB_STAT_MAGIC || report->version != BB_STAT_VERSION || report->length != BYTES) return;
  uint64_t real_ns = 0, link = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
    struct timespec t;
    struct in_pktinfo info;
    if (c->cmsg_level == SOL_SOCKET) {
      memcpy(&t, CMSG_DATA(c), sizeof t);
      real_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    } else {
      memcpy(&info, CMSG_DATA(c), sizeof info);
      link = (uint64_t)info.ipi_ifindex;
    }
  }
  const uint64_t number = node_of(report, hash, most), stamp_ns = real_ns - (uint64_t)distance_ns;
  struct node *n = &board.nodes[number];
  const bool is_second = n->slots[1].head > n->slots[0].head;
  const struct bb_slot *last = &n->slots[is_second];
  struct bb_record *r = &n->record;
  if (number == 0 || (last->report.boot_id == report->boot_id && r->start_boot_ns == report->start_boot_ns &&
                      last->report.seq >= report->seq))
    return;
  struct bb_slot *slot = &n->slots[!is_second];
  const uint64_t sequence = last->head + 2;
  bb_write_begin(&slot->head, &slot->tail, sequence);
  bb_store(&slot->stamp_ns, stamp_ns);
  bb_store(&slot->stamp_real_ns, real_ns);
  bb_store(&slot->link, link);
  bb_copy_in(&slot->report, report, BYTES);
  bb_write_end(&slot->head, sequence);
  bb_write_begin(&r->order_head, &r->order_tail, sequence);
  bb_store(&r->start_boot_ns, report->start_boot_ns);
  bb_store(&r->history, r->history << 1 | 1);
  bb_store(&r->history_seq, report->seq);
  bb_copy_in(r->address, (const uint8_t *)message->msg_name, sizeof r->address);
  bb_write_end(&r->order_head, sequence);
  bb_add(&r->accepted, 1);
  bb_add(&board.by_link, 1);
  bb_store_release(&board.column[number], BB_COLUMN(stamp_ns / 1000000, link, report->interval_ms, 0));
}

static void open_board(uint8_t *file, size_t slots, size_t size) {
  board.nodes = (struct node *)(void *)(file + COUNTS);
  madvise(file, size, MADV_HUGEPAGE);
  memset(file + COUNTS, 0, size - COUNTS);
  for (board.mask = 2; board.mask < 2 * slots; board.mask *= 2) {
  }
  board.index = (uint64_t *)calloc(board.mask--, sizeof *board.index);
  board.column = (uint64_t *)calloc(1 + slots, sizeof *board.column);
  if (board.index == NULL || board.column == NULL) exit(1);
}

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A batch, its memory requested ahead as the receiver does. */
static void keep_batch(struct mmsghdr *messages, int got, uint64_t most) {
  uint64_t hashes[BATCH];
  const int64_t distance_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < got; i++) {
    hashes[i] = hash_of((const struct bb_report *)messages[i].msg_hdr.msg_iov->iov_base);
    __builtin_prefetch(&board.index[hashes[i] & board.mask]);
  }
  for (int i = 0; i < got && i < 8; i++) fetch(hashes[i], false);
  for (int i = 0; i < got; i++) {
    if (i + 8 < got) fetch(hashes[i + 8], false);
    if (i + 2 < got) fetch(hashes[i + 2], true);
    struct msghdr *m = &messages[i].msg_hdr;
    if (messages[i].msg_len == BYTES) keep((const uint8_t *)m->msg_iov->iov_base, hashes[i], m, distance_ns, most);
  }
}

static void receive(int fd, uint8_t *file, size_t slots, long tick_ms, bool stamps, bool keeps) {
  static struct mmsghdr messages[BATCH];
  static struct iovec vectors[BATCH];
  static struct sockaddr_storage from[BATCH];
  static uint8_t control[BATCH][CONTROL];
  static _Alignas(64) uint8_t data[BATCH][BYTES + 64];
  for (size_t i = 0; i < BATCH; i++) {
    vectors[i] = (struct iovec){data[i], sizeof data[i]};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
  }
  uint64_t *count = (uint64_t *)(void *)file;
  uint8_t *copies = file + COUNTS;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (uint64_t k = 0;;) {
    if (tick_ms > 0) {
      next.tv_nsec += tick_ms * 1000000;
      next.tv_sec += next.tv_nsec / 1000000000;
      next.tv_nsec %= 1000000000;
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    for (int got = BATCH; got == BATCH;) {
      for (size_t i = 0; stamps && i < BATCH; i++) {
        struct msghdr *m = &messages[i].msg_hdr;
        m->msg_name = &from[i];
        m->msg_namelen = sizeof from[i];
        m->msg_control = control[i];
        m->msg_controllen = CONTROL;
      }
      got = recvmmsg(fd, messages, BATCH, tick_ms > 0 ? MSG_DONTWAIT : MSG_WAITFORONE, NULL);
      if (keeps) {
        keep_batch(messages, got, slots);
        k += got > 0 ? (uint64_t)got : 0;
      }
      for (int i = 0; !keeps && i < got; i++) {
        if (messages[i].msg_len < BYTES) continue;
        const bool probe = memcmp(data[i], "probe", 5) == 0;
        memcpy(copies + (probe ? 0 : 1 + k++ % slots) * STRIDE, data[i], BYTES);
      }
      __atomic_store_n(count, k, __ATOMIC_RELEASE);
    }
    if (keeps) bb_store_release(&board.heartbeat_ns, (uint64_t)clock_ns(CLOCK_MONOTONIC));
  }
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a benchmark that was killed leaves no process behind */
  if (argc < 3) return 2;
  const size_t slots = strtoul(argv[2], NULL, 10);
  long tick_ms = 5;
  bool stamps = false, keeps = false;
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "stamps") == 0) stamps = true;
    else if (strcmp(argv[i], "keeps") == 0) stamps = keeps = true;
    else if (strncmp(argv[i], "tick=", 5) == 0) tick_ms = atol(argv[i] + 5);
    else return 2;
  }
  if (slots == 0) return 2;
  const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const size_t size = COUNTS + (1 + slots) * STRIDE;
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) return 1;
  uint8_t *file = (uint8_t *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (file == MAP_FAILED) return 1;
  /* Its pages are allocated before it is measured. */
  if (keeps) open_board(file, slots, size);
  else memset(file + COUNTS, 1, size - COUNTS);
  receive(open_socket(stamps), file, slots, tick_ms, stamps, keeps);
}

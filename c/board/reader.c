#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"

const char *const bb_state_names[] = {"absent", "starting", "foreign", "truncated", "retired", "ready"};

uint64_t bb_name_hash(const char *name, uint64_t seed) {
  uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;
  for (; *name != 0; name++) h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
  return h ^ h >> 32;
}

/* Whether `count` things of `stride` bytes from `offset` lie within the file, computed without overflow. */
static bool within(uint64_t offset, uint64_t count, uint64_t stride, uint64_t file_bytes) {
  return offset % 8 == 0 && offset <= file_bytes && (count == 0 || stride <= (file_bytes - offset) / count);
}

/* A part of the file: entries of one size. */
struct part {
  uint64_t offset, count, stride;
  const char *fault; /* the message if it leads out of the file */
};

/* Whether two parts, each within the file, have no byte in common. */
static bool apart(const struct part *a, const struct part *b) {
  return a->offset + a->count * a->stride <= b->offset || b->offset + b->count * b->stride <= a->offset;
}

/* No part of a record or entry is larger, so that a trusted board costs its reader no more memory than its nodes
 * need. */
#define MOST_STRIDE (1u << 20)

static bool is_stride(uint32_t stride, uint32_t least) {
  return stride >= least && stride % 8 == 0 && stride <= MOST_STRIDE;
}

const char *bb_geometry_fault(const struct bb_board_header *h, uint64_t file_bytes) {
  if (h->header_bytes < BB_BOARD_HEADER_BYTES || h->header_bytes % 8 != 0 || h->header_bytes > MOST_STRIDE)
    return "header_bytes is wrong";
  if (h->file_bytes > file_bytes) return "the file is shorter than its header says";
  if (h->file_bytes < h->header_bytes) return "file_bytes is too small";
  if (h->capacity == 0 || h->capacity > 1u << 24) return "capacity is absurd";
  if (h->index_slots < 2 * h->capacity || (h->index_slots & (h->index_slots - 1)) != 0) return "index_slots is wrong";
  if (h->report_bytes != BB_REPORT_BYTES) return "report_bytes is wrong";
  if (h->slots != 2) return "slots is not 2";
  if (h->links != BB_LINKS) return "links is not 32";
  if (h->senders != BB_SENDERS) return "senders is not 256";
  if (h->events == 0 || h->events > 1u << 20) return "events is absurd";
  if (!is_stride(h->links_stride, BB_LINK_BYTES)) return "links_stride is wrong";
  if (!is_stride(h->senders_stride, BB_SENDER_BYTES)) return "senders_stride is wrong";
  if (!is_stride(h->events_stride, BB_EVENT_BYTES)) return "events_stride is wrong";
  if (!is_stride(h->index_stride, BB_INDEX_ENTRY_BYTES)) return "index_stride is wrong";
  if (!is_stride(h->column_stride, BB_COLUMN_ENTRY_BYTES)) return "column_stride is wrong";
  if (h->report_offset != offsetof(struct bb_slot, report)) return "report_offset is wrong";
  if (!is_stride(h->slot_stride, BB_SLOT_BYTES)) return "slot_stride is wrong";
  if (h->slots_offset < BB_RECORD_BYTES || h->slots_offset % 8 != 0 || h->slots_offset > MOST_STRIDE)
    return "slots_offset is wrong";
  if (h->record_stride % 8 != 0 || h->record_stride < h->slots_offset + 2 * h->slot_stride ||
      h->record_stride > 4 * MOST_STRIDE)
    return "record_stride is wrong";
  if (h->memory_bytes != 0 && (h->memory_bytes % 8 != 0 || h->memory_offset % 8 != 0 ||
                               h->memory_offset < h->slots_offset + 2 * h->slot_stride ||
                               (uint64_t)h->memory_offset + h->memory_bytes > h->record_stride))
    return "memory_offset is wrong";
  const struct part parts[] = {
      {h->links_offset, h->links, h->links_stride, "the table of links leads out of the file"},
      {h->senders_offset, h->senders, h->senders_stride, "the table of rejected senders leads out of the file"},
      {h->events_offset, h->events, h->events_stride, "the ring of events leads out of the file"},
      {h->index_offset, h->index_slots, h->index_stride, "the name index leads out of the file"},
      {h->column_offset, h->capacity, h->column_stride, "the liveness column leads out of the file"},
      {h->records_offset, h->capacity, h->record_stride, "the records lead out of the file"},
  };
  const size_t count = sizeof parts / sizeof parts[0];
  for (size_t i = 0; i < count; i++) {
    const struct part *p = &parts[i];
    if (p->offset < h->header_bytes || !within(p->offset, p->count, p->stride, h->file_bytes)) return p->fault;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      if (!apart(&parts[i], &parts[k])) return "its parts lie on each other";
  if (h->count > h->capacity) return "count is greater than capacity";
  if (h->uncertain_after_ns == 0 || h->silent_after_ns == 0) return "nodes are silent after no time at all";
  return NULL;
}

uint64_t bb_boot_id(void) {
  char text[64] = {0};
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) close(fd);
  uint64_t id = 0;
  int digits = 0;
  for (ssize_t i = 0; i < got && digits < 16; i++) {
    const char c = text[i];
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) continue;
    id = id << 4 | (uint64_t)value;
    digits++;
  }
  return id;
}

/* /dev/shm is writable for everybody, so only the owner decides whether a board is trusted. */
static bool is_trusted(uid_t uid, uid_t owner) {
  if (uid == 0 || uid == geteuid() || (owner != (uid_t)-1 && uid == owner)) return true;
  struct passwd entry, *user = NULL;
  char room[4096];
  return getpwnam_r("beoboard", &entry, room, sizeof room, &user) == 0 && user != NULL && user->pw_uid == uid;
}

__attribute__((format(printf, 5, 6))) static enum bb_state refuse(struct bb_board *board, enum bb_state state,
                                                                  char *why, size_t size, const char *format, ...) {
  bb_board_close(board);
  va_list args;
  va_start(args, format);
  vsnprintf(why, size, format, args);
  va_end(args);
  return state;
}

/* Why a path could not be opened. */
static const char *open_fault(int error) {
  if (error == ELOOP) return "is a link, not a board; name the file itself";
  if (error == ENXIO) return "is not a regular file; give the path of a board";
  if (error == EACCES) return "permission denied; run this as a user who may read it";
  if (error == ENAMETOOLONG) return "its name is too long; give the path of a board";
  return strerror(error);
}

/* The kernel itself aligns a mapping to huge pages only where it would make them unasked, which by default it does not
 * in shared memory. A place that is free is found, and then proposed: should another thread take it meanwhile, only the
 * alignment is lost. */
void *bb_map_file(int fd, size_t bytes, int protection) {
  void *place = NULL;
  if (bytes >= BB_HUGE_PAGE_BYTES) {
    const size_t room = bytes + BB_HUGE_PAGE_BYTES;
    void *found = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found != MAP_FAILED) {
      munmap(found, room);
      place = (uint8_t *)found + -(uintptr_t)found % BB_HUGE_PAGE_BYTES;
    }
  }
  return mmap(place, bytes, protection, MAP_SHARED, fd, 0);
}

enum bb_state bb_board_open(struct bb_board *b, const char *path, uid_t owner, char *why, size_t size) {
  memset(b, 0, sizeof *b);
  b->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  if (b->fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return refuse(b, BB_ABSENT, why, size, "there is no board");
    return refuse(b, BB_FOREIGN, why, size, "%s", open_fault(errno));
  }
  struct stat st;
  if (fstat(b->fd, &st) != 0) return refuse(b, BB_FOREIGN, why, size, "%s", strerror(errno));
  if (!S_ISREG(st.st_mode)) return refuse(b, BB_FOREIGN, why, size, "%s", open_fault(ENXIO));
  const unsigned uid = (unsigned)st.st_uid, mode = (unsigned)st.st_mode & 07777;
  if (!is_trusted(st.st_uid, owner))
    return refuse(b, BB_FOREIGN, why, size,
                  "belongs to user %u, who is not trusted; if that is right, give --owner %u", uid, uid);
  /* Whoever can write the file can put anything into it in its owner's name. */
  if (mode & 022)
    return refuse(b, BB_FOREIGN, why, size,
                  "can be written by others than its owner (mode %03o), who are not trusted; chmod 644 it", mode);
  if ((uint64_t)st.st_size < BB_BOARD_HEADER_BYTES)
    return refuse(b, BB_STARTING, why, size,
                  "is shorter than a header: not finished, or not a board; if that lasts, start beoboard receive");
  void *map = bb_map_file(b->fd, (size_t)st.st_size, PROT_READ);
  if (map == MAP_FAILED) return refuse(b, BB_FOREIGN, why, size, "%s", strerror(errno));
  b->map = (const uint8_t *)map;
  b->bytes = (size_t)st.st_size;
  b->device = st.st_dev;
  b->inode = st.st_ino;
  const struct bb_board_header *shared = (const struct bb_board_header *)map;
  /* The version is stored last (release) when a board is made: whoever sees it sees the whole header. */
  uint32_t version = bb_load32_acquire(&shared->version);
  bb_copy_out(&b->header, shared, sizeof b->header);
  if (version == 0) return refuse(b, BB_STARTING, why, size, "is not finished; if that lasts, start beoboard receive");
  if (b->header.magic != BB_BOARD_MAGIC)
    return refuse(b, BB_FOREIGN, why, size, "is not a board; give the path of one");
  if (version >> 16 != BB_VERSION >> 16)
    return refuse(b, BB_FOREIGN, why, size, "is of another major version; use the programs of one version");
  if (b->header.stat_hash != BB_HASH_STAT_V1)
    return refuse(b, BB_FOREIGN, why, size, "holds reports of another layout; use the programs of one version");
  const char *fault = bb_geometry_fault(&b->header, b->bytes);
  if (fault != NULL) return refuse(b, BB_TRUNCATED, why, size, "%s; restart beoboard receive: it makes another", fault);
  /* Acquire: it was marked after its successor was at the path, where the caller looks next. */
  if (bb_load_acquire(&shared->state) & BB_BOARD_STATE_RETIRED)
    return refuse(b, BB_RETIRED, why, size, "is retired, and nothing has taken its place; start beoboard receive");
  /* Its times are of a clock that no longer exists: sooner or later ours passes the same numbers, and all nodes
   * would look alive. */
  const uint64_t boot = bb_boot_id();
  if (boot != 0 && b->header.master_boot_id != boot)
    return refuse(b, BB_FOREIGN, why, size,
                  "is of another boot or machine, so that its times mean nothing; start beoboard receive");
  return BB_READY;
}

void bb_board_close(struct bb_board *b) {
  if (b->map != NULL) munmap((void *)b->map, b->bytes);
  if (b->fd >= 0) close(b->fd);
  b->map = NULL;
  b->fd = -1;
}

bool bb_board_is_at(const struct bb_board *b, const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode;
}

uint64_t bb_board_count(const struct bb_board *b) { return nodes_of(b); }

/* Only the owner can cut a mapped board short; checking its size before an access avoids SIGBUS. By lseek, which
 * takes half as long as fstat: that was a third of the time for copying one record. Nothing reads at this offset. */
bool bb_board_is_cut(const struct bb_board *b) {
  const off_t bytes = lseek(b->fd, 0, SEEK_END);
  return bytes < 0 || (uint64_t)bytes < b->header.file_bytes;
}

size_t bb_board_bytes(const struct bb_board *b, size_t each) {
  if (bb_board_is_cut(b)) return b->header.header_bytes; /* Large enough to detect that. */
  return b->header.header_bytes + bb_board_count(b) * (b->header.column_stride + each);
}

/* Copies both slots of a record, in turn, until two copies in a row tell which report is the newest:
 *   - both whole: a slot only ever gets newer, so the higher of the two is no older than what was newest when we began;
 *   - one is being written, and the other, copied after that was seen, is whole: the writer always writes the older, so
 *     the other is the newest. Copied before, it might have been overtaken twice, and we would go back in time;
 *   - the second is empty: there has been no report, or one at most when we looked at the first. No slot ever becomes
 *     empty again.
 * A slot that cannot be had is zeroed. */
static void copy_slots(const struct bb_board *b, uint8_t *out, const uint8_t *in) {
  bool had[2] = {false, false};
  for (int attempt = 0; attempt < BB_SLOT_ATTEMPTS; attempt++) {
    const int i = attempt & 1;
    const size_t at = b->header.slots_offset + (size_t)i * b->header.slot_stride;
    bool empty = false;
    had[i] = bb_read_block(out + at, in + at, BB_SLOT_BYTES, offsetof(struct bb_slot, tail), 1, &empty) != 0;
    if (!had[i]) memset(out + at, 0, BB_SLOT_BYTES);
    if (attempt > 0 && (had[i] || empty)) return;
  }
}

/* Copies what is remembered of trouble: single words. */
static void copy_trouble(struct bb_memory *copy, const struct bb_memory *shared) {
  const size_t words = offsetof(struct bb_memory, recent);
  /* Acquire, and before all else: an episode was stored before its bit, and last words before their silence. */
  const uint64_t recent = bb_load_acquire(&shared->recent), silence = bb_load_acquire(&shared->silence);
  bb_copy_out((uint8_t *)copy + words, (const uint8_t *)shared + words, sizeof *copy - words);
  /* Not as they may have become meanwhile. */
  copy->recent = recent;
  copy->silence = silence;
}

/* Copies what readers may know of a record's memory; of a shorter one what there is. A block that cannot be had whole
 * is zeroed. */
static void reader_copy_memory(const struct bb_board *b, uint8_t *out, const uint8_t *in) {
  const size_t bytes = offsetof(struct bb_memory, clone_tail) + sizeof(uint64_t), at = b->header.memory_offset;
  bool empty = false;
  if (b->header.memory_bytes < bytes) return;
  if (bb_read_block(out + at, in + at, bytes, offsetof(struct bb_memory, clone_tail), BB_TRIES, &empty) == 0)
    memset(out + at, 0, bytes);
  if (b->header.memory_bytes < sizeof(struct bb_memory)) return;
  copy_trouble((struct bb_memory *)(void *)(out + at), (const struct bb_memory *)(const void *)(in + at));
}

/* What is outside the blocks is single words; an order block that cannot be had whole is zeroed. */
void bb_board_copy(const struct bb_board *b, uint64_t number, uint8_t *out) {
  const uint8_t *const in = record_of(b, number);
  const size_t order = offsetof(struct bb_record, order_head);
  const size_t order_bytes = offsetof(struct bb_record, order_tail) + 8 - order;
  bool empty = false;
  memset(out, 0, b->header.slots_offset);
  bb_copy_out(out, in, order);
  if (bb_read_block(out + order, in + order, order_bytes, order_bytes - 8, BB_TRIES, &empty) == 0)
    memset(out + order, 0, order_bytes);
  copy_slots(b, out, in);
  reader_copy_memory(b, out, in);
}

void bb_board_said(const struct bb_board *b, struct bb_said *said) {
  const struct bb_board_header *shared = header_of(b);
  /* Acquire: what was stored before that heartbeat is visible to all loads below. */
  said->heartbeat = bb_load_acquire(&shared->heartbeat_ns);
  said->since = bb_load(&shared->listening_since_ns);
  load_links(b, said->links);
  /* Acquire: it was marked after its successor was at the path, where the caller looks next. */
  said->state = bb_load_acquire(&shared->state);
}

/* Reads the clock, then copies the header and the column words of as many nodes as fit with `node_bytes` for each.
 * Returns whether something is far ahead of that time. */
static bool look_once(const struct bb_board *b, uint8_t *to, size_t size, uint64_t first, size_t node_bytes,
                      struct bb_look *look) {
  look->now_ns = bb_clock_ns(CLOCK_MONOTONIC);
  look->real_ns = bb_clock_ns(CLOCK_REALTIME);
  struct bb_said said;
  bb_board_said(b, &said);
  const uint64_t count = bb_board_count(b);
  uint64_t nodes = first < count ? count - first : 0;
  if (nodes > (size - b->header.header_bytes) / node_bytes) nodes = (size - b->header.header_bytes) / node_bytes;
  look->nodes = nodes;

  bb_copy_out(to, b->map, b->header.header_bytes);
  struct bb_board_header *header = (struct bb_board_header *)to;
  /* The geometry with which we copied, and not what the file says by now. */
  header->header_bytes = b->header.header_bytes;
  header->column_stride = b->header.column_stride;
  header->record_stride = b->header.record_stride;
  header->slots_offset = b->header.slots_offset;
  header->slot_stride = b->header.slot_stride;
  header->report_offset = b->header.report_offset;
  header->slots = b->header.slots;
  header->memory_offset = b->header.memory_offset;
  header->memory_bytes = b->header.memory_bytes;
  header->heartbeat_ns = said.heartbeat;
  header->listening_since_ns = said.since;
  header->state = said.state;
  memcpy(header->evidence, said.links, sizeof header->evidence);
  to += b->header.header_bytes;

  /* Unsigned: a corrupt file may hold any number, and the difference of two must not overflow. */
  bool ahead = (int64_t)(said.heartbeat - (uint64_t)look->now_ns) > BB_AHEAD_NS;
  for (uint64_t i = 0; i < nodes; i++, to += b->header.column_stride) {
    memset(to, 0, b->header.column_stride);
    /* Acquire: the report was written before its word. */
    const uint64_t word = bb_load_acquire(column_of(b, first + i));
    memcpy(to, &word, sizeof word);
    if ((int64_t)BB_COLUMN_STAMP(word) - look->now_ns / 1000000 > BB_AHEAD_NS / 1000000) ahead = true;
  }
  return ahead;
}

/* now first, then the heartbeat: what the receiver had laid on the board by that heartbeat is seen below (acquire),
 * and no age is measured to a later moment than the one at which we began to look. If something is far ahead of now, we
 * may have been preempted between the clock and the loads: one more look, all of it, tells that from a clock that is
 * not ours. Where the column words end. */
static uint8_t *look_twice(const struct bb_board *b, uint8_t *to, size_t size, uint64_t first, size_t each,
                           struct bb_look *look) {
  for (int tries = 2; tries > 0; tries--)
    if (!look_once(b, to, size, first, b->header.column_stride + each, look)) break;
  return to + b->header.header_bytes + look->nodes * b->header.column_stride;
}

uint8_t *bb_board_begin(const struct bb_board *b, void *out, size_t size, uint64_t first, size_t each,
                        struct bb_look *look) {
  if (bb_board_is_cut(b) || size < b->header.header_bytes) return NULL;
  return look_twice(b, (uint8_t *)out, size, first, each, look);
}

int bb_board_names(const struct bb_board *b, const uint32_t *numbers, size_t n, char *names) {
  if (bb_board_is_cut(b)) return -1;
  const uint64_t count = bb_board_count(b);
  for (size_t i = 0; i < n; i++, names += BB_NAME_BYTES) {
    if (numbers[i] >= count) return -1;
    uint64_t name[BB_NAME_BYTES / 8];
    bb_copy_out(name, bb_board_name(b, numbers[i]), sizeof name);
    memcpy(names, name, sizeof name);
  }
  return 0;
}

int64_t bb_board_memories(const struct bb_board *b, const struct bb_memory *known, struct bb_memory *fresh,
                          uint32_t *changed, size_t n) {
  if (bb_board_is_cut(b)) return -1;
  if (b->header.memory_bytes < sizeof *known) return -2;
  const uint64_t count = bb_board_count(b);
  enum { FIRST = offsetof(struct bb_memory, recent), WATCHED = offsetof(struct bb_memory, rising) - FIRST };
  int64_t found = 0;
  for (size_t i = 0; i < n && i < count; i++) {
    const uint8_t *at = record_of(b, i) + b->header.memory_offset;
    uint64_t words[WATCHED / 8];
    bb_copy_out(words, at + FIRST, sizeof words);
    if (memcmp(words, &known[i].recent, sizeof words) == 0) continue;
    copy_trouble(&fresh[i], (const struct bb_memory *)(const void *)at);
    changed[found++] = (uint32_t)i;
  }
  return found;
}

int bb_board_links(const struct bb_board *b, struct bb_link_copy *links, uint32_t *numbers) {
  if (bb_board_is_cut(b)) return -1;
  const uint32_t used = links_of(b);
  int n = 0;
  for (uint32_t i = 1; i < BB_LINKS; i++) {
    if (!has_entry(i, used)) continue;
    links[n] = read_link(b, i);
    numbers[n++] = i;
  }
  return n;
}

int bb_board_senders(const struct bb_board *b, struct bb_sender *senders) {
  if (bb_board_is_cut(b)) return -1;
  for (uint32_t i = 0; i < BB_SENDERS; i++)
    if (!read_sender(b, i, &senders[i])) memset(&senders[i], 0, sizeof senders[i]);
  return 0;
}

int bb_board_events(const struct bb_board *b, uint64_t *next, struct bb_event *events, int most) {
  if (bb_board_is_cut(b)) return -1;
  const uint64_t last = newest_event(b);
  uint64_t n = first_event(b, *next, last);
  int given = 0;
  for (; n <= last && given < most; n++)
    if (read_event(b, n, &events[given])) given++;
  *next = n;
  return given;
}

int64_t bb_find(const struct bb_board *b, const char *name) {
  const uint64_t hash = bb_name_hash(name, b->header.index_seed);
  const uint64_t mask = b->header.index_slots - 1;
  /* Bounded: a corrupt index may have no end. An intact one has as many entries as there are nodes, and one that is
   * being made. */
  const uint64_t most = (uint64_t)nodes_of(b) + 1;
  for (uint64_t i = 0; i <= most; i++) {
    /* Acquire: the name was written before its entry. */
    const uint64_t entry = bb_load_acquire(index_entry_of(b, (hash + i) & mask));
    if (entry == 0) return -1;
    const uint64_t record = (entry & UINT32_MAX) - 1;
    if (entry >> 32 != hash >> 32 || record >= b->header.capacity) continue;
    uint64_t there[BB_NAME_BYTES / 8];
    bb_copy_out(there, record_of(b, record), sizeof there);
    if (strncmp((const char *)there, name, sizeof there) != 0) continue;
    /* The count is stored after the entry: if it is not visible yet, the record does not exist yet either. */
    return record < nodes_of(b) ? (int64_t)record : -1;
  }
  return -1;
}

int64_t bb_board_find(const struct bb_board *b, const char *name) {
  return bb_board_is_cut(b) ? -1 : bb_find(b, name);
}

int bb_board_find_all(const struct bb_board *b, const char *const *names, size_t n, int64_t *numbers) {
  if (bb_board_is_cut(b)) return -1;
  for (size_t i = 0; i < n; i++) numbers[i] = bb_find(b, names[i]);
  return 0;
}

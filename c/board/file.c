#include "file.h"

/* Two writers of one file would corrupt it. The lock excludes them, but a lock file can be removed: then another writer
 * can make and hold a new one while the first holds the old one. So the board contains the inode of the lock under
 * which it is written (`lock_inode`), and a writer with another lock never writes into it: it copies the board into a
 * new file. The first writer continues in a file that no path leads to, until it notices. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../base/ipaddress.h"
#include "../base/lockfile.h"
#include "reader.h"
#include "seqlock.h"

/* Everybody may read it, and only its owner may write it. */
#define BOARD_MODE 0644

bool bb_fail(char *why, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why, size, format, args);
  va_end(args);
  return false;
}

/* ---- the layout ---- */

static uint64_t align64(uint64_t bytes) { return (bytes + 63) & ~UINT64_C(63); }

/* The same with a memory of so many bytes for each record: other versions have less, or none. */
static void plan_with(struct bb_board_header *h, uint32_t capacity, uint32_t memory_bytes) {
  h->header_bytes = sizeof *h;
  h->capacity = capacity;
  h->index_slots = 1;
  while (h->index_slots < 2 * capacity) h->index_slots *= 2;
  h->index_stride = BB_INDEX_ENTRY_BYTES;
  h->column_stride = BB_COLUMN_ENTRY_BYTES;
  h->slots_offset = BB_RECORD_BYTES;
  h->slot_stride = BB_SLOT_BYTES;
  h->slots = 2;
  h->memory_bytes = memory_bytes;
  h->memory_offset = memory_bytes == 0 ? 0 : BB_RECORD_BYTES + 2 * BB_SLOT_BYTES;
  h->record_stride = BB_RECORD_BYTES + 2 * BB_SLOT_BYTES + memory_bytes;
  h->report_offset = offsetof(struct bb_slot, report);
  h->report_bytes = BB_REPORT_BYTES;
  h->links = BB_LINKS;
  h->links_stride = BB_LINK_BYTES;
  h->senders = BB_SENDERS;
  h->senders_stride = BB_SENDER_BYTES;
  h->events = BB_EVENTS;
  h->events_stride = BB_EVENT_BYTES;
  h->links_offset = align64(h->header_bytes);
  h->senders_offset = align64(h->links_offset + (uint64_t)h->links * h->links_stride);
  h->events_offset = align64(h->senders_offset + (uint64_t)h->senders * h->senders_stride);
  h->index_offset = align64(h->events_offset + (uint64_t)h->events * h->events_stride);
  h->column_offset = align64(h->index_offset + (uint64_t)h->index_slots * h->index_stride);
  h->records_offset = align64(h->column_offset + (uint64_t)capacity * h->column_stride);
  h->file_bytes = h->records_offset + (uint64_t)capacity * h->record_stride;
}

void bb_file_plan(struct bb_board_header *h, uint32_t capacity) { plan_with(h, capacity, BB_MEMORY_BYTES); }

/* Layouts whose boards a receiver takes over: fields that were defined since were reserved and zero. */
static const uint64_t TAKEN_OVER[] = {
  BB_HASH_BOARD_V2,
  UINT64_C(0x41b546ae8c5eb7d1), /* of 0.1.0, without mirrors */
  UINT64_C(0xba826339fdaf92da), /* without the longest interval, the accepted keys and the failed reload */
  UINT64_C(0x04ee0e215f6c265d), /* without links in pieces */
  UINT64_C(0xc2633808c94fe37f), /* without a memory */
  UINT64_C(0x6a1ff5d3f02fcb17), /* without a memory of trouble */
  UINT64_C(0xc3fab5257efb82e0), /* without the time since when a source is gone */
};

static bool is_known_layout(uint64_t hash) {
  for (size_t i = 0; i < sizeof TAKEN_OVER / sizeof *TAKEN_OVER; i++)
    if (hash == TAKEN_OVER[i]) return true;
  return false;
}

/* Whether a header is what we would write: this layout, or one that a receiver takes over, and this boot. */
static bool is_ours(const struct bb_board_header *h) {
  return h->magic == BB_BOARD_MAGIC && h->version >> 16 == BB_VERSION >> 16 && h->version <= BB_VERSION &&
         h->stat_hash == BB_HASH_STAT_V1 && is_known_layout(h->board_hash) && h->master_boot_id == bb_boot_id();
}

/* Whether it has exactly our layout, but for the length of its memory, and is still in use. */
static bool can_be_taken_over(const struct bb_board_header *h, uint64_t file_bytes) {
  if (!is_ours(h) || (h->state & BB_BOARD_STATE_RETIRED) != 0 || bb_geometry_fault(h, file_bytes) != NULL) return false;
  struct bb_board_header planned = *h;
  plan_with(&planned, h->capacity, h->memory_bytes);
  return h->memory_bytes <= BB_MEMORY_BYTES && memcmp(&planned, h, sizeof planned) == 0;
}

/* ---- the directory ---- */

/* Opens the directory of the board, in which nobody else may be able to create or rename files. An open one stays
 * open until there is another. */
static bool open_directory(struct bb_place *p, char *why, size_t size) {
  const char *slash = strrchr(p->path, '/');
  char *directory = slash == NULL      ? strdup(".")
                    : slash == p->path ? strdup("/")
                                       : strndup(p->path, (size_t)(slash - p->path));
  if (directory == NULL) return bb_fail(why, size, "out of memory");
  bool ok = true;
  struct stat st;
  if (mkdir(directory, 0755) == 0) chmod(directory, 0755); /* Whatever the umask is: readers must have access. */
  const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    ok = bb_fail(why, size, "cannot use the directory %s: %s; choose another --board", directory,
                 errno == ENOTDIR ? "it is a link, or no directory" : strerror(errno));
  else if (fstat(fd, &st) != 0) ok = bb_fail(why, size, "%s: %s", directory, strerror(errno));
  else if (st.st_uid != 0 && st.st_uid != geteuid())
    ok = bb_fail(why, size, "%s belongs to user %u, who could put another board there; choose another --board",
                 directory, (unsigned)st.st_uid);
  else if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)
    ok = bb_fail(why, size, "%s can be written by others: chmod 755 it or choose another --board", directory);
  free(directory);
  if (!ok) {
    if (fd >= 0) close(fd);
    return false;
  }
  if (p->directory >= 0) close(p->directory);
  p->directory = fd;
  return true;
}

/* ---- the lock ---- */

#define LOCK_SUFFIX ".lock"

/* The name of the lock file within the directory, in `out`. */
static const char *lock_name(const struct bb_place *p, char out[NAME_MAX + 1]) {
  snprintf(out, NAME_MAX + 1, "%s" LOCK_SUFFIX, p->name);
  return out;
}

/* How often a held lock is tried again, at intervals of 20 ms: a program that edits a board, or is just ending,
 * holds it for a moment. */
#define LOCK_TRIES 50
#define PAUSE_NS 20000000

static void pause_briefly(void) { nanosleep(&(struct timespec){0, PAUSE_NS}, NULL); }

static bool lock_file(int fd, int tries) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (--tries <= 0) return false;
    pause_briefly();
  }
  return true;
}

/* The inode of the lock at the path; 0: there is none. */
static uint64_t lock_inode_at(const struct bb_place *p) {
  char name[NAME_MAX + 1];
  struct stat st;
  return fstatat(p->directory, lock_name(p, name), &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Reads the header of the board at the path. */
static bool read_header(const struct bb_place *p, struct bb_board_header *h) {
  const int fd = openat(p->directory, p->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  const bool whole = pread(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h;
  close(fd);
  return whole;
}

/* How often a lock is made again that was removed between opening and locking. */
#define MOST_REMOVED 100

/* Locks the path; a lock that we hold already is released for it. BB_NOT_KEPT: it cannot be had. */
static enum bb_keeping lock_place(struct bb_place *p, int tries, char *why, size_t size) {
  char name[NAME_MAX + 1], pid[24] = {0};
  struct stat st;
  for (int i = 0; i < MOST_REMOVED; i++) {
    const int fd = bb_lockfile_open(p->directory, lock_name(p, name), &st);
    if (fd < 0 && errno == EPERM)
      bb_fail(why, size, "%s.lock belongs to somebody else; remove it or choose another --board", p->path);
    else if (fd < 0)
      bb_fail(why, size, "cannot lock %s.lock: %s; see to it or choose another --board", p->path,
              errno == ELOOP ? "it is a link" : strerror(errno));
    if (fd < 0) return BB_NOT_KEPT;
    enum bb_keeping result = BB_KEPT;
    if (!lock_file(fd, tries)) {
      const ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
      struct bb_board_header h;
      const bool is_mirror = read_header(p, &h) && is_ours(&h) && h.mirror_masters != 0;
      bb_fail(why, size, "%s (pid %s) writes %s; stop it or choose another --board",
              is_mirror ? "a mirror" : "another receiver", got > 0 ? pid : "unknown", p->path);
      result = BB_HELD_BY_ANOTHER;
    } else if (lock_inode_at(p) != (uint64_t)st.st_ino) { /* Our lock file has been removed by now. */
      close(fd);
      continue;
    } else {
      const int length = snprintf(pid, sizeof pid, "%d", (int)getpid());
      if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)length, 0) != length) {
        bb_fail(why, size, "cannot write %s.lock: %s", p->path, strerror(errno));
        result = BB_NOT_KEPT;
      }
    }
    if (result != BB_KEPT) {
      close(fd);
      return result;
    }
    if (p->lock >= 0) close(p->lock);
    p->lock = fd;
    p->lock_inode = (uint64_t)st.st_ino;
    return BB_KEPT;
  }
  bb_fail(why, size, "somebody removes %s.lock again and again; find out who does that", p->path);
  return BB_NOT_KEPT;
}

/* For how long a board whose writer may be running is watched: three of its heartbeats, and a little more. */
#define WATCH_NS 300000000

/* Whether somebody writes the board at the path without the lock that is there, if there is one. `pid`: the process
 * in the header. */
static bool has_living_writer(const struct bb_place *p, uint64_t lock_inode, uint64_t *pid) {
  struct bb_board_header h;
  if (!read_header(p, &h) || !is_ours(&h) || h.lock_inode == lock_inode) return false;
  if ((h.state & (BB_BOARD_STATE_CLOSED | BB_BOARD_STATE_RETIRED)) != 0) return false;
  const uint64_t heartbeat_ns = h.heartbeat_ns;
  for (int64_t waited_ns = 0; waited_ns < WATCH_NS; waited_ns += PAUSE_NS) {
    pause_briefly();
    *pid = h.pid;
    if (read_header(p, &h) && h.heartbeat_ns != heartbeat_ns) return true;
  }
  return false;
}

/* Why the file at the path cannot be a board of ours; NULL: it may be one. */
static const char *strange(const struct stat *st) {
  if (!S_ISREG(st->st_mode)) return "is not a board; choose another --board";
  if (st->st_nlink != 1) return "has other names, too (hard links); remove them or choose another --board";
  return NULL;
}

/* Removes the remains of a writer that was killed while it made a board: an empty file, or one that begins like a
 * board or with zeros. Any other file of that name is not ours. */
static void remove_leftover(const struct bb_place *p) {
  const int fd = openat(p->directory, p->next_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return;
  struct stat st;
  uint64_t magic = 0;
  if (fstat(fd, &st) == 0 && strange(&st) == NULL && st.st_uid == geteuid() &&
      (st.st_size == 0 ||
       (pread(fd, &magic, sizeof magic, 0) == sizeof magic && (magic == 0 || magic == BB_BOARD_MAGIC))))
    unlinkat(p->directory, p->next_name, 0);
  close(fd);
}

/* Whether the names of the files beside the board fit, too: cut short, they would be those of others. */
static bool fits(const char *path, const char *name) {
  return strlen(name) + strlen(LOCK_SUFFIX) <= NAME_MAX && strlen(path) + strlen(LOCK_SUFFIX) < PATH_MAX;
}

bool bb_place_hold(struct bb_place *p, const char *path, char *why, size_t size) {
  *p = (struct bb_place){.directory = -1, .lock = -1};
  p->path = strdup(path);
  const char *slash = strrchr(path, '/');
  p->name = strdup(slash == NULL ? path : slash + 1);
  p->next_name = (char *)malloc(strlen(path) + sizeof ".new");
  if (p->path == NULL || p->name == NULL || p->next_name == NULL) return bb_fail(why, size, "out of memory");
  sprintf(p->next_name, "%s.new", p->name);
  if (p->name[0] == 0) return bb_fail(why, size, "%s: is a directory; name a file in it", path);
  if (!fits(path, p->name))
    return bb_fail(why, size, "the board's name is too long; choose a --board of at most 250 characters");
  if (!open_directory(p, why, size)) return false;
  /* The writer of a board whose lock was removed makes it anew within a second. Until then its heartbeat shows that
   * it is running; this is checked before there is a lock of ours, from which it would conclude that it has lost the
   * board. */
  uint64_t watched, pid;
  do {
    if (p->lock >= 0) close(p->lock);
    p->lock = -1;
    watched = lock_inode_at(p);
    if (has_living_writer(p, watched, &pid))
      return bb_fail(
          why, size,
          "another receiver (pid %llu) writes %s, though its lock was removed; stop it or choose another --board",
          (unsigned long long)pid, path);
    if (lock_place(p, LOCK_TRIES, why, size) != BB_KEPT) return false;
    /* If there was no lock the board was watched, whatever we hold now. */
  } while (watched != 0 && watched != p->lock_inode);
  remove_leftover(p);
  return true;
}

enum bb_keeping bb_place_keep(struct bb_place *p, char *why, size_t size) {
  struct stat there, ours;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s" LOCK_SUFFIX, p->path);
  if (lstat(path, &there) == 0 && fstat(p->lock, &ours) == 0 && there.st_dev == ours.st_dev &&
      there.st_ino == ours.st_ino)
    return BB_KEPT;
  /* The directory or the lock may have been moved or removed. Readers use the path, so it is opened, or made, and
   * locked again. */
  return open_directory(p, why, size) ? lock_place(p, 1, why, size) : BB_NOT_KEPT;
}

void bb_place_release(struct bb_place *p) {
  if (p->lock >= 0) close(p->lock);
  if (p->directory >= 0) close(p->directory);
  free(p->name);
  free(p->next_name);
  free(p->path);
}

/* ---- the file ---- */

static bool map_board(struct bb_mapped *b, int fd, const struct stat *st) {
  void *map = bb_map_file(fd, (size_t)st->st_size, PROT_READ | PROT_WRITE);
  if (map == MAP_FAILED) return false;
  *b = (struct bb_mapped){(uint8_t *)map, (size_t)st->st_size, st->st_dev, st->st_ino, (struct bb_board_header *)map};
  return true;
}

void bb_file_unmap(struct bb_mapped *b) {
  if (b->map != NULL) munmap(b->map, b->bytes);
  b->map = NULL;
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

void bb_file_use_huge_pages(const struct bb_mapped *b, int64_t within_ns) {
  const int64_t until_ns = within_ns < INT64_MAX ? bb_clock_ns(CLOCK_MONOTONIC) + within_ns : INT64_MAX;
  for (size_t at = 0; b->bytes - at >= BB_HUGE_PAGE_BYTES; at += BB_HUGE_PAGE_BYTES) {
    /* EAGAIN concerns this one only. With any other error there are no more, or none at all. */
    if (madvise(b->map + at, BB_HUGE_PAGE_BYTES, MADV_COLLAPSE) != 0 && errno != EAGAIN) return;
    if (bb_clock_ns(CLOCK_MONOTONIC) > until_ns) return;
  }
}

void bb_file_retire(struct bb_mapped *b) {
  /* Release: whoever finds it retired finds its successor at the path. */
  bb_store_release(&b->header->state, bb_load(&b->header->state) | BB_BOARD_STATE_RETIRED);
}

bool bb_file_create(const struct bb_place *p, struct bb_mapped *b, const struct bb_board_header *like, char *why,
                    size_t size) {
  remove_leftover(p);
  const int fd = openat(p->directory, p->next_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return bb_fail(why, size, "cannot make %s.new: %s; %schoose another --board", p->path, strerror(errno),
                   errno == EEXIST ? "remove it or " : "");
  /* Allocated now: a full /dev/shm is one clear line here, and not a SIGBUS at the first report of the last node. */
  int error = posix_fallocate(fd, 0, (off_t)like->file_bytes);
  struct stat st;
  if (error == 0 && (fchmod(fd, BOARD_MODE) != 0 || fstat(fd, &st) != 0 || !map_board(b, fd, &st))) error = errno;
  close(fd);
  if (error != 0) {
    unlinkat(p->directory, p->next_name, 0);
    return bb_fail(why, size, "no room for %s: %llu MiB are needed (%s); make room there or lower --capacity", p->path,
                   (unsigned long long)(like->file_bytes >> 20) + 1, strerror(error));
  }
  struct bb_board_header header = *like;
  header.version = 0;
  header.lock_inode = p->lock_inode;
  memcpy(b->header, &header, sizeof header);
  return true;
}

bool bb_file_publish(const struct bb_place *p, struct bb_mapped *b, char *why, size_t size) {
  /* Release: who sees the version sees all of the header. */
  bb_store32_release(&b->header->version, BB_VERSION);
  if (renameat(p->directory, p->next_name, p->directory, p->name) == 0) return true;
  const int error = errno;
  unlinkat(p->directory, p->next_name, 0);
  bb_file_unmap(b);
  return bb_fail(why, size, "cannot put the board at %s: %s; remove what is there", p->path, strerror(error));
}

/* Reports whose board that is, if it belongs to the other kind of writer. False: it does not. */
static bool is_the_others(const struct bb_place *p, enum bb_side side, const struct bb_board_header *h, char *why,
                          size_t size) {
  const bool is_mirror = h->mirror_masters != 0;
  if (!is_ours(h) || (h->state & BB_BOARD_STATE_RETIRED) != 0 || is_mirror == (side == BB_SIDE_MIRROR)) return false;
  bb_fail(why, size,
          is_mirror ? "%s: is a mirror of cluster \"%.63s\", made by beoboard mirror; choose another --board, or "
                      "remove it once that has ended"
                    : "%s: is the board of a receiver of cluster \"%.63s\", and no mirror; choose another --board, or "
                      "remove it once that has ended",
          p->path, h->cluster_name);
  return true;
}

void bb_file_discard(const struct bb_place *p, struct bb_mapped *b) {
  unlinkat(p->directory, p->next_name, 0);
  bb_file_unmap(b);
}

/* Whether that is an address of this machine; IPv4 as ::ffff:a.b.c.d. */
static bool is_own_address(const struct ifaddrs *all, const uint8_t address[16]) {
  if (is_v4(address) && address[12] == 127) return true;
  for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
    if (a->ifa_addr == NULL) continue;
    const sa_family_t family = a->ifa_addr->sa_family;
    uint8_t own[16];
    if (family != AF_INET && family != AF_INET6) continue;
    map_address(own, a->ifa_addr);
    if (memcmp(own, address, sizeof own) == 0) return true;
  }
  return false;
}

/* Its first record that another machine has reported to; NULL: there is none. */
static const struct bb_record *foreign_record(const struct bb_mapped *b) {
  struct ifaddrs *own = NULL;
  if (getifaddrs(&own) != 0) own = NULL; /* Then only loopback is this machine's for certain. */
  const struct bb_record *found = NULL;
  for (uint32_t i = 0; found == NULL && i < b->header->count && i < b->header->capacity; i++)
    if (newest_slot(b, i) >= 0 && !is_own_address(own, record_at(b, i)->address)) found = record_at(b, i);
  freeifaddrs(own);
  return found;
}

/* Whether a board with another cluster's name gives way to a new one: what a receiver made before it was given a name,
 * and to which no other machine has reported. Otherwise it says what to do. */
static bool gives_way(const struct bb_place *p, const struct bb_mapped *b, char *why, size_t size) {
  const char *name = b->header->cluster_name;
  const struct bb_record *foreign = name[0] == 0 ? foreign_record(b) : NULL;
  if (name[0] != 0)
    return bb_fail(
        why, size,
        "%s: is the board of cluster \"%.63s\"; give --cluster \"%.63s\" or another --board, or remove that one: rm %s",
        p->path, name, name, p->path);
  return foreign == NULL || bb_fail(why, size,
                                    "%s: is the board of no cluster, to which %.63s has reported; leave out --cluster, "
                                    "or remove that board: rm %s",
                                    p->path, foreign->name, p->path);
}

enum bb_found bb_file_examine(const struct bb_place *p, enum bb_side side, const struct bb_cluster *cluster,
                              struct bb_mapped *old, char *why, size_t size) {
  const int fd = openat(p->directory, p->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    if (errno == ENOENT) return BB_FOUND_NOTHING;
    bb_fail(why, size, "%s: %s; remove it or choose another --board", p->path,
            errno == ELOOP    ? "is a link, not a board"
            : errno == ENXIO  ? "is a socket, not a board"
            : errno == EISDIR ? "is a directory, not a board"
                              : strerror(errno));
    return BB_FOUND_FAULT;
  }
  struct stat st;
  struct bb_board_header h = {0};
  enum bb_found found = BB_FOUND_FAULT;
  if (fstat(fd, &st) != 0) bb_fail(why, size, "%s: %s", p->path, strerror(errno));
  else if (strange(&st) != NULL) bb_fail(why, size, "%s: %s", p->path, strange(&st));
  else if (st.st_uid != geteuid())
    bb_fail(why, size, "%s: belongs to user %u; remove it or run as that user", p->path, (unsigned)st.st_uid);
  else if (st.st_size == 0) found = BB_FOUND_NOTHING;
  else if (pread(fd, &h, sizeof h, 0) < 8 || h.magic != BB_BOARD_MAGIC)
    bb_fail(why, size, "%s: is not a board; choose another --board", p->path);
  else if ((uint64_t)st.st_size < sizeof h) found = BB_FOUND_NOTHING;
  else if (is_the_others(p, side, &h, why, size)) found = BB_FOUND_FAULT;
  /* Unfinished, of an unknown layout, or of an unknown writer. */
  else if (h.version >> 16 != BB_VERSION >> 16 || (st.st_mode & 022) != 0) found = BB_FOUND_NOTHING;
  else if (!map_board(old, fd, &st)) bb_fail(why, size, "cannot map %s: %s", p->path, strerror(errno));
  else if (!can_be_taken_over(&h, (uint64_t)st.st_size)) found = BB_FOUND_NOTHING;
  else if (cluster != NULL && strncmp(h.cluster_name, cluster->name, sizeof h.cluster_name) != 0)
    found = gives_way(p, old, why, size) ? BB_FOUND_NOTHING : BB_FOUND_FAULT;
  /* The id without the name: all reports would be rejected. */
  else if (cluster != NULL && h.cluster_id != cluster->id) found = BB_FOUND_NOTHING;
  else found = BB_FOUND_BOARD;
  close(fd);
  if (found == BB_FOUND_FAULT) bb_file_unmap(old);
  return found;
}

/* A board that others could have written cannot be trusted any more; of one that belongs to somebody else we do not
 * know the writer; and one that nobody may read, or that was cut, is useless. In all these cases another file
 * replaces it. */
bool bb_file_is_published(const struct bb_place *p, const struct bb_mapped *b) {
  struct stat st;
  return lstat(p->path, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode &&
         (st.st_mode & 07777) == BOARD_MODE && st.st_uid == geteuid() && (uint64_t)st.st_size >= b->bytes;
}

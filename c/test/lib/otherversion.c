/* A libbeoboard of another version, for tests of who passes the sizes of its structures: two nodes, a and b.
 *   -DOLDER   its structures are shorter, and some functions are not there yet
 *   -DNEWER   they are longer, and there are states, problems and events that nobody knows of
 *   -DMAJOR=2 another interface
 * A size that is not that of beoboard.h or less is refused: a caller has to pass what it really has. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "../../beoboard.h"

#ifndef MAJOR
#define MAJOR 1
#endif
#define MORE 64 /* bytes that a newer library has behind each structure */

#ifdef OLDER
#define KNOWN(type, last) offsetof(type, last)
#define VERSION 0
#else
#define KNOWN(type, last) (sizeof(type) + MORE)
#define VERSION 0x0900
#endif

static int opened;

uint32_t beoboard_version(void) { return (uint32_t)MAJOR << 16 | VERSION; }

const char *beoboard_strerror(int err) { return err == EPROTO || err == -EPROTO ? "a wrong size" : "another error"; }

int beoboard_open_owner(beoboard **out, const char *path, const char *owner, uint32_t flags) {
  (void)path;
  (void)owner;
  (void)flags;
  *out = (beoboard *)&opened;
  return 0;
}

void beoboard_close(beoboard *b) { (void)b; }

int beoboard_refresh(beoboard *b) { return b == NULL; }

int beoboard_count(const beoboard *b) { return b == NULL ? 0 : 2; }

int beoboard_index(const beoboard *b, const char *name) {
  (void)b;
  return name[0] == 'a' ? 0 : name[0] == 'b' ? 1 : -ENOENT;
}

/* As the library does: no more than the caller knows, zeros behind what we know; -EPROTO for too large a size. */
static int give(void *out, size_t size, const void *from, size_t known, size_t real) {
  if (size > real) return -EPROTO;
  memset(out, 0, size);
  memcpy(out, from, size < known ? size : known);
  return 0;
}

/* A structure, and what only a newer library has behind it. */
#define ROOM(type) \
  struct { \
    type it; \
    uint8_t more[MORE]; \
  } room; \
  memset(&room, 0xA5, sizeof room); \
  memset(&room.it, 0, sizeof room.it)

int beoboard_read_all(const beoboard *b, struct beoboard_node *out, size_t size, int first, int max) {
  (void)b;
  for (int i = 0; i < max; i++) {
    ROOM(struct beoboard_node);
    room.it.name[0] = (char)('a' + first + i);
    room.it.state = i == 0 ? BEOBOARD_LIVE : MAJOR == 1 && VERSION > 0 ? BEOBOARD_NSTATES : BEOBOARD_SILENT;
    room.it.link = 7;
    room.it.valid = BEOBOARD_VALID_CPUS;
    room.it.cpus = 64;
    const int wrong = give((uint8_t *)out + (size_t)i * size, size, &room, KNOWN(struct beoboard_node, health),
                           sizeof room.it);
    if (wrong < 0) return wrong;
  }
  return max;
}

int beoboard_read(const beoboard *b, int index, struct beoboard_node *out, size_t size) {
  const int given = beoboard_read_all(b, out, size, index, 1);
  return given < 0 ? given : 0;
}

int beoboard_reports(const beoboard *b, int index, struct beoboard_slot *newest, struct beoboard_slot *before,
                     size_t size) {
  (void)b;
  ROOM(struct beoboard_slot);
  room.it.number = 2;
  room.it.report.valid = BEOBOARD_VALID_MEMORY | BEOBOARD_VALID_FILESYSTEMS;
  room.it.report.mem_avail_mib = 1000 + (uint32_t)index;
  room.it.report.fs_avail_mib = 5;
  if (before != NULL) memset(before, 0, size);
  if (newest == NULL) return 1;
  return give(newest, size, &room, KNOWN(struct beoboard_slot, report.fs_total_mib), sizeof room.it);
}

int beoboard_tally(const beoboard *b, int counts[BEOBOARD_NSTATES]) {
  (void)b;
  const int states = BEOBOARD_NSTATES + (VERSION > 0 ? 2 : 0); /* a newer one writes as many as it knows */
  for (int i = 0; i < states; i++) counts[i] = i == BEOBOARD_LIVE || i == states - 1;
  return 2;
}

int beoboard_receiver(const beoboard *b, struct beoboard_receiver *out, size_t size) {
  (void)b;
  ROOM(struct beoboard_receiver);
  room.it.nodes = 2;
  room.it.flags = BEOBOARD_F_FILTERING | 1u << 20;
  return give(out, size, &room, KNOWN(struct beoboard_receiver, unfit_drops), sizeof room.it);
}

#ifndef OLDER
int beoboard_problems(const beoboard *b, int index) {
  (void)b;
  return index == 0 ? 1 << BEOBOARD_PROBLEM_OOM | 1 << 20 : 0;
}

int beoboard_name(const beoboard *b, int index, char *buf, size_t size) {
  (void)b;
  if (size < 2) return -ENOSPC;
  buf[0] = (char)('a' + index);
  buf[1] = 0;
  return 1;
}

int beoboard_events(const beoboard *b, uint64_t *next, struct beoboard_event *out, size_t size, int max) {
  (void)b;
  if (max == 0 || *next > 1) return 0;
  ROOM(struct beoboard_event);
  room.it.number = *next = 1;
  room.it.kind = 99;
  room.it.subject = 1;
  ++*next;
  const int wrong = give(out, size, &room, KNOWN(struct beoboard_event, kind), sizeof room.it);
  return wrong < 0 ? wrong : 1;
}
#endif

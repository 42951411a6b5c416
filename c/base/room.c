#include "room.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "text.h"

/* What the tables of an ordinary machine have together, side by side: a mapping each would be a page more for each. */
#define POOL_BYTES (1u << 20)
#define ALIGNED 64u

static char pool[POOL_BYTES] LARGE;
static _Atomic size_t pool_used;

bool make_room(struct room *room, size_t bytes) {
  if (bytes <= room->bytes) return true;
  /* At least twice as much as before: what grows by little moves seldom. */
  const size_t least = bytes > 2 * room->bytes ? bytes : 2 * room->bytes;
  const size_t more = (least + ALIGNED - 1) / ALIGNED * ALIGNED;
  size_t from = POOL_BYTES;
  if (more <= POOL_BYTES / 4) from = atomic_fetch_add(&pool_used, more);
  void *at = pool + from;
  if (from > POOL_BYTES - more || from == POOL_BYTES) {
    at = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
  }
  if (room->bytes > 0) memcpy(at, room->at, room->bytes);
  if (room->bytes > 0 && (room->at < pool || room->at >= pool + POOL_BYTES)) munmap(room->at, room->bytes);
  *room = (struct room){at, more};
  return true;
}

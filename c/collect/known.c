#include "known.h"

#include "../base/kernelfile.h"
#include "../base/say.h"

static uint64_t name_at(const void *rows, size_t row_bytes, unsigned i) {
  uint64_t name;
  memcpy(&name, (const char *)rows + i * row_bytes, sizeof name);
  return name;
}

/* The slot of this name, or the free one for it. */
static uint32_t *slot_of(const struct name_index *index, uint64_t name) {
  uint32_t at = (uint32_t)(name ^ name >> 32) & index->mask;
  while (index->slots[at] != 0 && name_at(index->rows, index->row_bytes, index->slots[at] - 1) != name)
    at = (at + 1) & index->mask;
  return &index->slots[at];
}

/* Where the index is, behind so many bytes that are used otherwise. */
static void *scratch(size_t used) { return (void *)(((uintptr_t)file_place() + used + 7) & ~(uintptr_t)7); }

static struct name_index index_behind(size_t used, const void *rows, size_t row_bytes, unsigned count) {
  struct name_index index = {rows, scratch(used), row_bytes, 1, false};
  while (index.mask < 2 * count) index.mask = index.mask * 2 + 1;
  memset(index.slots, 0, (index.mask + 1) * sizeof index.slots[0]);
  for (unsigned i = 0; i < count; i++) {
    uint32_t *slot = slot_of(&index, name_at(rows, row_bytes, i));
    index.doubles |= *slot != 0;
    *slot = i + 1;
  }
  return index;
}

struct name_index index_names(const void *rows, size_t row_bytes, unsigned count) {
  return index_behind(0, rows, row_bytes, count);
}

int64_t place_of(const struct name_index *index, uint64_t name) { return (int64_t)*slot_of(index, name) - 1; }

/* Moves the rows to the places that their names have now. */
static void carry(struct known *known, const void *now, size_t now_bytes, unsigned count) {
  const size_t bytes = known->count * known->row_bytes;
  const char *old = memcpy(scratch(0), known->rows, bytes);
  const struct name_index before = index_behind(bytes + 8, old, known->row_bytes, known->count);
  for (unsigned i = 0; i < count; i++) {
    struct known_name *to = known_row(known, i);
    const uint64_t name = name_at(now, now_bytes, i);
    const int64_t from = place_of(&before, name);
    if (from >= 0) memcpy(to, old + (size_t)from * known->row_bytes, known->row_bytes);
    else memset(to, 0, known->row_bytes);
    to->name = name;
  }
  known->count = count;
  known->doubles = index_names(known->rows, known->row_bytes, count).doubles;
}

bool known_room(struct known *known, struct room *all, size_t row_bytes, struct span *text, const char *what) {
  unsigned lines = 1;
  for (struct span left = *text, line; next_line(&left, &line);) lines++;
  /* carry() has an index behind a copy of the rows: each slot has four bytes, and for a row there are at most four. */
  const size_t most = lines > known->count ? lines : known->count;
  const bool has_room = make_room(all, lines * row_bytes) && make_room(&known->memory, lines * known->row_bytes) &&
                        file_room(text, most * (known->row_bytes + 16) + 64);
  known->rows = known->memory.at;
  tell_once(&known->told_memory, has_room, "the kernel gives no memory for so many ", what, ": they are not measured");
  return has_room;
}

void known_meet(struct known *known, const void *now, size_t now_bytes, unsigned count, uint64_t names,
                unsigned ticks) {
  const bool changed = known->names != names || known->count != count;
  known->names = names;
  /* Of two rows with the same name the later one knows what was there before. */
  if (changed || known->doubles) carry(known, now, now_bytes, count);
  if (++known->tick == 0) known->tick = 1;
  known->room = known->is_fresh ? UINT32_MAX : MOST_LOOKS;
  known->again = MOST_AGAIN;
  known->is_fresh = false;
  if (changed) known->is_whole = false;
  if ((changed || known->left == 0) && known->at == UINT32_MAX) {
    known->at = 0;
    known->left = ticks;
  }
  if (known->left > 0) known->left--;
}

static bool known_add(struct known *known, unsigned i) {
  known->room--;
  known_row(known, i)->looked = known->tick;
  return true;
}

bool known_next(struct known *known, unsigned *at) {
  for (; !known->is_whole && *at < known->count; ++*at) {
    if (known_row(known, *at)->looked != 0) continue;
    return known->room > 0 && known_add(known, *at);
  }
  known->is_whole = true;
  for (; known->at < known->count && known->room > 0 && known->again > 0; known->at++) {
    if (known_row(known, *at = known->at)->looked == known->tick) continue;
    known->again--;
    return known_add(known, *at);
  }
  if (known->at >= known->count) known->at = UINT32_MAX;
  return false;
}

void known_renew(struct known *known) {
  for (unsigned i = 0; i < known->count; i++) known_row(known, i)->looked = 0;
  known->left = 0;
  known->at = UINT32_MAX;
  known->is_fresh = true;
  known->is_whole = false;
}

bool known_whole(struct known *known, const char *proc, const char *leaf) {
  tell_once(&known->told, known->is_whole, proc, leaf,
            " has more new names than can be looked at in one tick: its readings are left out until all were");
  return known->is_whole;
}

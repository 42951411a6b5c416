/* What was found out about the names in a kernel file, from tick to tick. A row is found again by its name. Looking at
 * a name costs system calls: in a tick, only names that are new are looked at, and a share of the others in turn. So
 * thousands of names, and names that come and go, do not delay a report. */
#ifndef BB_KNOWN_H
#define BB_KNOWN_H
#include "../base/room.h"
#include "../base/text.h"

/* Names that are looked at in one tick; all of them in the first one, before which there is no report. */
#define MOST_LOOKS 256u
/* So many of them are others than new ones. */
#define MOST_AGAIN 64u

/* The beginning of each row. */
struct known_name {
  uint64_t name;   /* its fingerprint */
  uint32_t looked; /* the tick; 0: never */
};

struct known {
  void *rows; /* in `memory` */
  struct room memory;
  size_t row_bytes;
  unsigned count;
  uint64_t names;      /* the fingerprint of all of them */
  unsigned left, at;   /* ticks to the next pass over all names; the place of this one, UINT32_MAX at its end */
  unsigned room, again; /* looks that are left in this tick; those at others than new names */
  uint32_t tick;
  bool doubles;        /* a name occurs twice */
  bool is_whole;       /* each name was looked at; set by known_next() */
  bool is_fresh, told, told_memory;
};

/* Makes room for a text of so many lines: for rows of `all`, in which each of them is parsed, for those here, and for
 * an index of both. The text may move. Says once if there is no memory for so many `what`. */
bool known_room(struct known *known, struct room *all, size_t row_bytes, struct span *text, const char *what);

/* Begins a tick. The names now are fingerprints at the beginning of other rows. A pass over all of them begins when
 * they have changed, and after so many ticks. */
void known_meet(struct known *known, const void *now, size_t now_bytes, unsigned count, uint64_t names, unsigned ticks);
/* The next row to look at in this tick. Begin with `at` 0. */
bool known_next(struct known *known, unsigned *at);
/* Forgets what was found out: the tree is another one. */
void known_renew(struct known *known);
/* Whether each name was looked at; says once if not. */
bool known_whole(struct known *known, const char *proc, const char *leaf);

/* Whether a row's counts, added up, moved by so much at once that they may be another member's. Keeps those now. */
static inline bool leaps(uint64_t *before, uint64_t now) {
  const uint64_t grown = now - *before, most = *before / 64 < 1u << 21 ? *before / 64 : 1u << 21;
  *before = now;
  return grown > most;
}

static inline struct known_name *known_row(const struct known *known, unsigned i) {
  return (struct known_name *)(void *)((char *)known->rows + i * known->row_bytes);
}

/* Finds rows by the fingerprints with which they begin, in a time that does not grow with their number. */
struct name_index {
  const char *rows;
  uint32_t *slots;
  size_t row_bytes;
  uint32_t mask;
  bool doubles;
};

/* There is one index at a time, where small files are read to: it lasts until then. Of several rows with the same name
 * the last one is found. */
struct name_index index_names(const void *rows, size_t row_bytes, unsigned count);
/* The place of the row, or -1. */
int64_t place_of(const struct name_index *index, uint64_t name);

#endif

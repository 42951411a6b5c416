#include "hostfold.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hostlist.h"
#include "text.h"

#define MOST_DIGITS 15   /* more than can be compared exactly */
#define MOST_RANGE 16384 /* pdsh takes at most so many in one range; Slurm takes four times as many */

/* ---- Natural order ---- */

static size_t digits_at(const char *text) {
  size_t count = 0;
  while (is_digit(text[count])) count++;
  return count;
}

/* A number with more digits than can be compared exactly: the nearest double. */
static double large_number(const char *digits, size_t count) {
  char text[NAME_LENGTH + 1];
  if (count >= sizeof text) count = sizeof text - 1; /* no name of a node has so many */
  memcpy(text, digits, count);
  text[count] = 0;
  return strtod(text, NULL);
}

static int compare_numbers(const char *a, size_t a_digits, const char *b, size_t b_digits) {
  if (a_digits > MOST_DIGITS || b_digits > MOST_DIGITS) {
    const double left = large_number(a, a_digits), right = large_number(b, b_digits);
    if (left != right) return left < right ? -1 : 1;
  } else {
    uint64_t left = 0, right = 0;
    for (size_t i = 0; i < a_digits; i++) left = left * 10 + (uint64_t)(a[i] - '0');
    for (size_t i = 0; i < b_digits; i++) right = right * 10 + (uint64_t)(b[i] - '0');
    if (left != right) return left < right ? -1 : 1;
  }
  return a_digits == b_digits ? 0 : a_digits < b_digits ? -1 : 1;
}

int compare_names(const char *a, const char *b) {
  /* Siblings have much in common: go to where they differ, and back to where that number begins. */
  size_t same = 0;
  while (a[same] != 0 && a[same] == b[same]) same++;
  while (same > 0 && is_digit(a[same - 1])) same--;
  a += same;
  b += same;
  while (*a != 0 && *b != 0) {
    if (!is_digit(*a) || !is_digit(*b)) {
      if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
      a++;
      b++;
      continue;
    }
    const size_t a_digits = digits_at(a), b_digits = digits_at(b);
    const int by = compare_numbers(a, a_digits, b, b_digits);
    if (by != 0) return by;
    a += a_digits;
    b += b_digits;
  }
  return *a == *b ? 0 : *a == 0 ? -1 : 1;
}

/* What is sorted: numbers, or names by their addresses. */
typedef uint64_t __attribute__((may_alias)) item;
_Static_assert(sizeof(const char *) == sizeof(item), "an address is an item");

/* Merges two adjacent sorted halves. */
static void merge(item *items, size_t half, size_t count, item *room, bool (*in_order)(item a, item b)) {
  /* usually: a board that was made from a list is in order */
  if (in_order(items[half - 1], items[half])) return;
  memcpy(room, items, half * sizeof *items);
  size_t i = 0, k = half, to = 0;
  while (i < half && k < count) items[to++] = in_order(room[i], items[k]) ? room[i++] : items[k++];
  memcpy(items + to, room + i, (half - i) * sizeof *items);
}

static void sort_items(item *items, size_t count, item *room, bool (*in_order)(item a, item b)) {
  for (size_t width = 1; width < count; width *= 2)
    for (size_t at = 0; at + width < count; at += 2 * width)
      merge(items + at, width, count - at < 2 * width ? count - at : 2 * width, room, in_order);
}

static bool names_in_order(item a, item b) {
  return compare_names((const char *)(uintptr_t)a, (const char *)(uintptr_t)b) <= 0;
}

bool sort_names(const char **names, size_t count) {
  item *room = (item *)malloc((count + 1) * sizeof *room);
  if (room == NULL) return false;
  sort_items((item *)names, count, room, names_in_order);
  free(room);
  return true;
}

/* ---- Numbers after one prefix ---- */

/* A number as one word for sorting: padded or not, the number of digits, and the number. */
#define NUMBER_BITS 50 /* 15 digits */
#define NUMBER(key) ((key) & ((UINT64_C(1) << NUMBER_BITS) - 1))
#define WIDTH(key) ((unsigned)((key) >> NUMBER_BITS))

static bool keys_in_order(item a, item b) { return a <= b; }

/* Consecutive numbers, written with that width; 0: without leading zeros. */
struct span_of_numbers {
  uint64_t first, last;
  unsigned width;
};

static int by_first(const void *a, const void *b) {
  const struct span_of_numbers *left = (const struct span_of_numbers *)a, *right = (const struct span_of_numbers *)b;
  if (left->first != right->first) return left->first < right->first ? -1 : 1;
  return left->width < right->width ? -1 : left->width > right->width;
}

/* A name during folding. */
struct piece {
  uint64_t number;
  uint32_t group;
  uint8_t digits;
  bool is_padded;
};

/* What a group of names has in common. For a single name, that is all of it. */
struct group {
  const char *beginning;
  size_t length, members;
  size_t at; /* the index of its first number among all */
  uint32_t padded; /* bit n: there are numbers of n digits with leading zeros */
  bool is_alone;
};

struct folding {
  struct piece *pieces;
  struct group *groups;
  uint32_t *slots; /* the hash table of groups: the group's number plus one; 0: free */
  size_t group_count, mask;
  uint64_t *keys, *room;
  struct span_of_numbers *ranges;
};

/* The position of the number at the end of a name; without a number the name's length. */
static size_t last_digits(const char *name, size_t length) {
  size_t at = length;
  while (at > 0 && length - at < MOST_DIGITS && is_digit(name[at - 1])) at--;
  return at;
}

static uint32_t fold_group(struct folding *f, const char *beginning, size_t length, bool is_alone) {
  size_t at = (size_t)fingerprint(is_alone ? ~FINGERPRINT : FINGERPRINT, (struct span){beginning, length});
  for (at ^= at >> 29;; at++) {
    uint32_t *slot = &f->slots[at & f->mask];
    if (*slot == 0) {
      f->groups[f->group_count++] = (struct group){.beginning = beginning, .length = length, .is_alone = is_alone};
      *slot = (uint32_t)f->group_count;
      return *slot - 1;
    }
    const struct group *g = &f->groups[*slot - 1];
    if (g->is_alone == is_alone && g->length == length && memcmp(g->beginning, beginning, length) == 0)
      return *slot - 1;
  }
}

/* Finds the group of each name, and its number after the prefix. */
static void split_names(struct folding *f, const char *const *names, size_t count) {
  const char *last = "";
  size_t last_at = 0;
  uint32_t last_group = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t length = strlen(names[i]), at = last_digits(names[i], length);
    const bool is_alone = at == 0 || at == length;
    /* Neighbours nearly always have the same prefix, so it is looked up once. */
    const bool is_same = !is_alone && last_at == at && memcmp(last, names[i], at) == 0;
    const uint32_t group = is_same ? last_group : fold_group(f, names[i], is_alone ? length : at, is_alone);
    struct piece *p = &f->pieces[i];
    *p = (struct piece){.group = group};
    f->groups[group].members++;
    if (is_alone) continue;
    last = names[i];
    last_at = at;
    last_group = group;
    for (size_t k = at; k < length; k++) p->number = p->number * 10 + (uint64_t)(names[i][k] - '0');
    p->digits = (uint8_t)(length - at);
    p->is_padded = p->digits > 1 && names[i][at] == '0';
    if (p->is_padded) f->groups[group].padded |= UINT32_C(1) << p->digits;
  }
}

/* Puts the numbers of each group next to each other. */
static void gather(struct folding *f, size_t count) {
  size_t at = 0;
  for (size_t i = 0; i < f->group_count; i++) {
    f->groups[i].at = at;
    at += f->groups[i].members;
    f->groups[i].members = 0;
  }
  for (size_t i = 0; i < count; i++) {
    const struct piece *p = &f->pieces[i];
    struct group *g = &f->groups[p->group];
    /* After 09, 10 belongs to the numbers of two digits; without such a number, 9 and 10 are in one range. */
    const bool has_width = (g->padded >> p->digits & 1) != 0;
    f->keys[g->at + g->members++] = (uint64_t)(has_width ? p->digits : 0) << NUMBER_BITS | p->number;
  }
}

/* The ranges of a group, in their order. */
static size_t find_ranges(struct folding *f, const struct group *g) {
  uint64_t *keys = f->keys + g->at;
  size_t found = 0;
  sort_items(keys, g->members, f->room, keys_in_order);
  for (size_t i = 0; i < g->members;) {
    const uint64_t first = keys[i];
    uint64_t last = first;
    for (; i < g->members && keys[i] <= last + 1 && keys[i] - first < MOST_RANGE; i++) last = keys[i];
    f->ranges[found++] = (struct span_of_numbers){NUMBER(first), NUMBER(last), WIDTH(first)};
  }
  if (g->padded != 0) qsort(f->ranges, found, sizeof *f->ranges, by_first);
  return found;
}

/* Writes a group; returns its end. */
static char *write_group(struct folding *f, const struct group *g, char *to) {
  memcpy(to, g->beginning, g->length);
  to += g->length;
  const size_t found = g->is_alone ? 0 : find_ranges(f, g);
  const bool is_single = found == 1 && f->ranges[0].first == f->ranges[0].last;
  for (size_t i = 0; i < found; i++) {
    const struct span_of_numbers *r = &f->ranges[i];
    if (!is_single) *to++ = i == 0 ? '[' : ',';
    to += write_number(to, r->first, r->width);
    if (r->first == r->last) continue;
    *to++ = '-';
    to += write_number(to, r->last, r->width);
  }
  if (found > 0 && !is_single) *to++ = ']';
  *to++ = 0;
  return to;
}

/* The order of the groups: single names first if they compare equal. By the first name of each, which is written
 * once for that. */
static bool order_groups(const struct folding *f, uint32_t *order) {
  size_t bytes = 0, n = 0;
  for (size_t i = 0; i < f->group_count; i++) bytes += f->groups[i].length + 1 + sizeof(uint32_t);
  char *texts = (char *)malloc(bytes + 1), *to = texts;
  const char **names = (const char **)malloc((f->group_count + 1) * sizeof *names);
  for (int alone = 1; texts != NULL && names != NULL && alone >= 0; alone--)
    for (uint32_t i = 0; i < f->group_count; i++) {
      const struct group *g = &f->groups[i];
      if (g->is_alone != (alone == 1)) continue;
      memcpy(to, &i, sizeof i); /* stored before the name, and leads back to the group */
      names[n++] = to += sizeof i;
      memcpy(to, g->beginning, g->length);
      to += g->length;
      *to++ = 0;
    }
  const bool done = texts != NULL && names != NULL && sort_names(names, n);
  for (size_t i = 0; done && i < n; i++) memcpy(&order[i], names[i] - sizeof *order, sizeof *order);
  free(names);
  free(texts);
  return done;
}

/* Two numbers of 15 digits, and the characters around them. */
#define MOST_WRITTEN (2 * MOST_DIGITS + 3)

static bool write_all(struct folding *f, struct folded *out, size_t count) {
  size_t bytes = 0;
  for (size_t i = 0; i < f->group_count; i++) bytes += f->groups[i].length + 3;
  out->texts = (char *)malloc(bytes + count * MOST_WRITTEN + 1);
  out->parts = (char **)malloc((f->group_count + 1) * sizeof *out->parts);
  uint32_t *order = (uint32_t *)malloc((f->group_count + 1) * sizeof *order);
  const bool done = out->texts != NULL && out->parts != NULL && order != NULL && order_groups(f, order);
  char *to = out->texts;
  for (size_t i = 0; done && i < f->group_count; i++) {
    out->parts[out->count++] = to;
    to = write_group(f, &f->groups[order[i]], to);
  }
  free(order);
  return done;
}

bool hostlist_fold(struct folded *out, const char *const *names, size_t count) {
  size_t slots = 4;
  while (slots < 2 * count) slots *= 2;
  struct folding f = {
    .pieces = (struct piece *)malloc((count + 1) * sizeof *f.pieces),
    .groups = (struct group *)malloc((count + 1) * sizeof *f.groups),
    .slots = (uint32_t *)calloc(slots, sizeof *f.slots),
    .mask = slots - 1,
    .keys = (uint64_t *)malloc((count + 1) * sizeof *f.keys),
    .room = (uint64_t *)malloc((count + 1) * sizeof *f.room),
    .ranges = (struct span_of_numbers *)malloc((count + 1) * sizeof *f.ranges),
  };
  *out = (struct folded){NULL, NULL, 0};
  bool done = f.pieces != NULL && f.groups != NULL && f.slots != NULL && f.keys != NULL && f.room != NULL &&
    f.ranges != NULL;
  if (done) {
    split_names(&f, names, count);
    gather(&f, count);
    done = write_all(&f, out, count);
  }
  free(f.pieces);
  free(f.groups);
  free(f.slots);
  free(f.keys);
  free(f.room);
  free(f.ranges);
  if (!done) folded_free(out);
  return done;
}

void folded_free(struct folded *folded) {
  free(folded->texts);
  free(folded->parts);
  *folded = (struct folded){NULL, NULL, 0};
}

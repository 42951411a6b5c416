/* Whether C11 allows an execution: the axioms of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential
 * Consistency in C/C++11, PLDI 2017), without seq_cst and read-modify-writes, of which the board has none. Knows
 * nothing of the board.
 *
 * An execution is a list of events. Those of a thread stand in their order (sb). No two stores to a word have the same
 * value, and later ones have higher values (mo); all words are 0 before. So the values tell who read from whom (rf),
 * and:
 *   rb   from a load to all stores that are later than what it gave
 *   eco  (rf | mo | rb)+: what is known of the order of the accesses to one word; as each load gives 0 or what a store
 *   gave,
 *        it is the order of their values, a store before the loads that give its value
 *   sw   from a release store, or a release fence before a store, to an acquire load, or an acquire fence after a load,
 *   that
 *        gives the value of this store or of one in the release sequence that it heads
 *   hb   (sb | sw)+
 * It is allowed when no event happens before itself, or before one that eco has before it (coherence), and when sb | rf
 * has no cycle (no value comes out of thin air: RC11 forbids what C11 failed to). */
#ifndef BB_RC11_H
#define BB_RC11_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define RC11_MOST 128
#define RC11_PLAIN (-1) /* an order beside the compiler's: no atomic */

struct rc11_event {
  int thread;
  enum { RC11_LOAD, RC11_STORE, RC11_FENCE } what;
  int order; /* __ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, or RC11_PLAIN */
  int word, value; /* not of fences */
};

/* In C11 a release sequence holds the later stores of the same thread to the same word; C++20 took them out. */
enum rc11_model { RC11_C11, RC11_C20 };

enum rc11_verdict {
  RC11_ALLOWED,
  RC11_FORBIDDEN,
  /* allowed, and undefined: a plain access and a store to the same word, neither of which happens before the other */
  RC11_RACE,
};

/* Relations: bit j of row i says that i is before j. */
__extension__ typedef unsigned __int128 rc11_set;
struct rc11_relation {
  rc11_set row[RC11_MOST];
};

static inline bool rc11_has(const struct rc11_relation *r, int i, int j) { return (r->row[i] >> j & 1) != 0; }
static inline void rc11_put(struct rc11_relation *r, int i, int j) { r->row[i] |= (rc11_set)1 << j; }

static inline int rc11_first(rc11_set set) {
  return (unsigned long long)set != 0 ? __builtin_ctzll((unsigned long long)set)
                                      : 64 + __builtin_ctzll((unsigned long long)(set >> 64));
}

/* The transitive closure. Mostly, events are in an order that agrees with the relation, and two passes suffice. */
static inline void rc11_close(struct rc11_relation *r, int count) {
  const struct rc11_relation direct = *r;
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = count - 1; i >= 0; i--) {
      rc11_set row = r->row[i];
      for (rc11_set left = direct.row[i]; left != 0; left &= left - 1) row |= r->row[rc11_first(left)];
      grew |= row != r->row[i];
      r->row[i] = row;
    }
  }
}

/* Puts into hb what synchronises by load `l`, which gives the value of store `s`. */
static inline void rc11_synchronise(struct rc11_relation *hb, const struct rc11_event *e, int count, int s, int l,
                                    enum rc11_model model) {
  rc11_set releases = 0;
  for (int i = 0; i <= s; i++) {
    if (e[i].thread != e[s].thread || e[i].order != __ATOMIC_RELEASE) continue;
    const bool is_head = e[i].what == RC11_STORE && e[i].word == e[s].word && (i == s || model == RC11_C11);
    if (is_head || e[i].what == RC11_FENCE) releases |= (rc11_set)1 << i;
  }
  for (int k = l; k < count; k++) {
    if (e[k].thread != e[l].thread || e[k].order != __ATOMIC_ACQUIRE || (k != l && e[k].what != RC11_FENCE)) continue;
    for (int i = 0; i < count; i++)
      if ((releases >> i & 1) != 0) rc11_put(hb, i, k);
  }
}

/* The place of an access in eco among those of its word: a store, the loads that give its value, the next store. */
static inline int rc11_place(const struct rc11_event *e) { return 2 * e->value + (e->what == RC11_LOAD); }

static inline bool rc11_same_word(const struct rc11_event *a, const struct rc11_event *b) {
  return a->word == b->word && a->what != RC11_FENCE && b->what != RC11_FENCE;
}

/* Whether a plain access and a store to the same word are in no order. */
static inline bool rc11_races(const struct rc11_relation *hb, const struct rc11_event *e, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      const bool is_plain = e[i].order == RC11_PLAIN || e[j].order == RC11_PLAIN;
      if (!is_plain || i == j || e[i].what != RC11_STORE || !rc11_same_word(&e[i], &e[j])) continue;
      if (!rc11_has(hb, i, j) && !rc11_has(hb, j, i)) return true;
    }
  return false;
}

static inline enum rc11_verdict rc11_judge(const struct rc11_event *e, int count, enum rc11_model model) {
  static struct rc11_relation hb, causes;
  bool has_plain = false;
  for (int i = count - 1; i >= 0; i--) {
    int next = i + 1;
    while (next < count && e[next].thread != e[i].thread) next++;
    causes.row[i] = next < count ? (rc11_set)1 << next : 0;
    has_plain |= e[i].order == RC11_PLAIN;
  }
  hb = causes;
  rc11_set earlier[RC11_MOST] = {0}; /* what eco has before each */
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      if (!rc11_same_word(&e[i], &e[j])) continue;
      if (rc11_place(&e[i]) < rc11_place(&e[j])) earlier[j] |= (rc11_set)1 << i;
      if (e[i].what != RC11_STORE || e[j].what != RC11_LOAD || e[i].value != e[j].value) continue;
      rc11_put(&causes, i, j);
      if (e[i].order != RC11_PLAIN && e[j].order != RC11_PLAIN) rc11_synchronise(&hb, e, count, i, j, model);
    }
  rc11_close(&hb, count);
  rc11_close(&causes, count);
  for (int i = 0; i < count; i++)
    if (rc11_has(&causes, i, i) || rc11_has(&hb, i, i) || (hb.row[i] & earlier[i]) != 0) return RC11_FORBIDDEN;
  return has_plain && rc11_races(&hb, e, count) ? RC11_RACE : RC11_ALLOWED;
}

#endif

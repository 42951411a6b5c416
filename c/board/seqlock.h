/* The board's memory ordering, all of it: single words, and blocks of words under a sequence. Threads of one process
 * (the receive thread and JavaScript's, the sender's slow sources) order what they share by mutexes and by C11's
 * atomics, where they share it. No locks, no waiting, no allocation.
 *
 *   writer (one)                                  reader (any number)
 *   ------------                                  -------------------
 *   head  = 2n-1         relaxed                  h = head                acquire
 *   tail  = 2n           relaxed                  h odd or 0: not whole
 *   fence                release    (A)           words                   relaxed
 *   words                relaxed                  fence                   acquire   (B)
 *   head  = 2n           release    (C)           t = tail                acquire
 *                                                 whole if t == h
 *
 * Why this suffices, by the C11 model alone (7.17.3 for orders, 7.17.4 for fences, 5.1.2.4 for coherence):
 *   - No word is older than the head. A reader that loads h = 2n from (C) synchronises with it, so what is sequenced
 *     before (C) happens before the loads of the words: each gives report n, or a later one.
 *   - No word is newer. If one is from a write m > n, its store is sequenced after fence (A) of m, and its load before
 *     fence (B): (A) synchronises with (B). So the store of tail = 2m, sequenced before (A), happens before the load of
 *     tail; by coherence that gives 2m or later, never 2n: torn is found.
 *   - The blocks are seen in the order in which they are written. A reader that finds one being written, be it by an
 *     odd head or by the tail of a later write, has loaded that with acquire, and so synchronises with fence (A) of the
 *     write before it, be that of another block. There it finds that write, or later ones, under way or whole, and
 *     nothing older. A record has two slots. When a reader finds one of them being written and then copies the other
 *     one whole, that copy is the newest report.
 *   - The words are atomic (relaxed): a plain copy that races would be undefined even if its result is thrown away.
 *   - The first two points do not need the odd head. It tells readers early that copying is in vain, and after a kill
 *     it marks the block as half-written.
 * A reader never waits for the writer: the writer is another process, which may be killed between two stores. Its
 * successor may write 2n - 1 and 2n once more, but (C) of n comes once. C11 knows no processes; that all a writer did
 * happens before what its successor does is the kernel's word: the lock beside the board is free when the process is
 * gone, and not before. How this was checked is told in docs/internals/tearing.md. */
#ifndef BB_SEQLOCK_H
#define BB_SEQLOCK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler's atomics on plain words rather than _Atomic types: the same memory is described by the generated
 * structs, which C++ and other programs read too. They have C11's meaning. */
static inline uint64_t bb_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline uint64_t bb_load_acquire(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline void bb_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline void bb_store_release(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline uint32_t bb_load32_acquire(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline void bb_store32_release(uint32_t *word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* One writer: a counter needs no read-modify-write, only a store that is whole. */
static inline void bb_add(uint64_t *word, uint64_t more) { bb_store(word, bb_load(word) + more); }

/* Whatever a word is part of. */
typedef uint64_t __attribute__((may_alias)) bb_word;

/* Copies words out of shared memory; both aligned to 8, `bytes` a multiple of 8. Four at a time: no compiler unrolls
 * what is atomic. */
static inline void bb_copy_out(void *to, const void *shared, size_t bytes) {
  bb_word *out = (bb_word *)to;
  const bb_word *in = (const bb_word *)shared;
  size_t words = bytes / 8;
  for (; words >= 4; words -= 4, in += 4, out += 4) {
    const uint64_t a = __atomic_load_n(&in[0], __ATOMIC_RELAXED), b = __atomic_load_n(&in[1], __ATOMIC_RELAXED);
    const uint64_t c = __atomic_load_n(&in[2], __ATOMIC_RELAXED), d = __atomic_load_n(&in[3], __ATOMIC_RELAXED);
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
  }
  for (size_t i = 0; i < words; i++) out[i] = __atomic_load_n(&in[i], __ATOMIC_RELAXED);
}

/* Copies words into shared memory; likewise. */
static inline void bb_copy_in(void *shared, const void *from, size_t bytes) {
  bb_word *out = (bb_word *)shared;
  const bb_word *in = (const bb_word *)from;
  size_t words = bytes / 8;
  for (; words >= 4; words -= 4, in += 4, out += 4) {
    const uint64_t a = in[0], b = in[1], c = in[2], d = in[3];
    __atomic_store_n(&out[0], a, __ATOMIC_RELAXED);
    __atomic_store_n(&out[1], b, __ATOMIC_RELAXED);
    __atomic_store_n(&out[2], c, __ATOMIC_RELAXED);
    __atomic_store_n(&out[3], d, __ATOMIC_RELAXED);
  }
  for (size_t i = 0; i < words; i++) __atomic_store_n(&out[i], in[i], __ATOMIC_RELAXED);
}

/* Opens a block for writing under sequence 2n. */
static inline void bb_write_begin(uint64_t *head, uint64_t *tail, uint64_t sequence) {
  bb_store(head, sequence - 1);
  bb_store(tail, sequence);
  /* (A) orders head and tail before the words, and before the next block's head and tail: whoever sees these sees
   * those, too. */
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void bb_write_end(uint64_t *head, uint64_t sequence) {
  /* (C) orders the words before head: whoever sees the new head sees all words. */
  bb_store_release(head, sequence);
}

/* A part of a block: so many bytes from there on, both multiples of 8. */
struct bb_part {
  size_t at, bytes;
};

/* Copies parts of a struct that begins with its head and holds its tail at `tail_offset`, each to its place, in at most
 * `tries` attempts. Gives the sequence, or 0 when no whole copy was to be had, which then means nothing; `empty`:
 * nothing was ever there. */
static inline uint64_t bb_read_parts(void *to, const void *shared, const struct bb_part *parts, size_t count,
                                     size_t tail_offset, int tries, bool *empty) {
  const uint64_t *head = (const uint64_t *)shared;
  const uint64_t *tail = (const uint64_t *)((const uint8_t *)shared + tail_offset);
  while (tries-- > 0) {
    const uint64_t sequence = bb_load_acquire(head);
    *empty = sequence == 0;
    if (*empty) return 0;
    /* Odd: being written. Looking again is worth it: a write takes a tenth of a microsecond. */
    if (sequence & 1) continue;
    for (size_t i = 0; i < count; i++)
      bb_copy_out((uint8_t *)to + parts[i].at, (const uint8_t *)shared + parts[i].at, parts[i].bytes);
    /* (B) orders the words before tail: whoever saw a newer word sees its tail. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    /* Acquire, as of head: whoever finds this copy torn must not find another block older than it was by then (A). */
    if (bb_load_acquire(tail) == sequence) return sequence;
  }
  return 0;
}

/* The same of all that stands in its first `bytes`. */
static inline uint64_t bb_read_block(void *to, const void *shared, size_t bytes, size_t tail_offset, int tries,
                                     bool *empty) {
  const struct bb_part all = {0, bytes};
  const uint64_t sequence = bb_read_parts(to, shared, &all, 1, tail_offset, tries, empty);
  if (sequence != 0) *(uint64_t *)to = sequence; /* head as it was when the copy began */
  return sequence;
}

#endif

/* The board's memory ordering, all of it: single words, and blocks of words under a sequence. Nothing else in the
 * project orders memory. No locks, no waiting, no allocation.
 *
 *   writer (one)                                  reader (any number)
 *   ------------                                  -------------------
 *   head  = 2n-1         relaxed                  h = head                acquire
 *   tail  = 2n           relaxed                  h odd or 0: not whole
 *   fence                release    (A)           words                   relaxed
 *   words                relaxed                  fence                   acquire   (B)
 *   head  = 2n           release    (C)           t = tail                relaxed
 *                                                 whole if t == h
 *
 * Why this suffices, by the C11 model alone:
 *   - A reader that loads h = 2n from (C) synchronises with it, so it sees every word of report n or a later one.
 *   - If any word it then loads is from a later write m > n, that store came after fence (A) of m, and the load comes
 *     before fence (B): fence (A) synchronises with fence (B) (C11 7.17.4), so the store of tail = 2m, which is
 *     sequenced before (A), happens before the load of tail. By coherence that load gives 2m or later, never 2n: torn is found.
 *   - The words are atomic (relaxed): a plain copy that races would be undefined even if its result is thrown away.
 *   - The store of head = 2n-1 is not needed for that argument. It tells readers early that copying is in vain, and
 *     after a kill it marks the block as half-written.
 * A reader never waits for the writer: the writer is another process, which may be killed between two stores. */
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

/* One writer: a counter needs no read-modify-write, only a store that is whole. */
static inline void bb_add(uint64_t *word, uint64_t more) { bb_store(word, bb_load(word) + more); }

/* Copies words out of shared memory; both aligned to 8, `bytes` a multiple of 8. */
static inline void bb_copy_out(void *to, const void *shared, size_t bytes) {
  uint64_t *out = (uint64_t *)to;
  const uint64_t *in = (const uint64_t *)shared;
  for (size_t i = 0; i < bytes / 8; i++) out[i] = bb_load(&in[i]);
}

/* Copies words into shared memory. */
static inline void bb_copy_in(void *shared, const void *from, size_t bytes) {
  uint64_t *out = (uint64_t *)shared;
  const uint64_t *in = (const uint64_t *)from;
  for (size_t i = 0; i < bytes / 8; i++) bb_store(&out[i], in[i]);
}

/* Opens a block for writing under sequence 2n. */
static inline void bb_write_begin(uint64_t *head, uint64_t *tail, uint64_t sequence) {
  bb_store(head, sequence - 1);
  bb_store(tail, sequence);
  /* (A) orders tail before the words: whoever sees a new word sees the new tail, too. */
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void bb_write_end(uint64_t *head, uint64_t sequence) {
  /* (C) orders the words before head: whoever sees the new head sees all words. */
  bb_store_release(head, sequence);
}

/* Copies a whole struct that begins with its head and holds its tail at `tail_offset`, in at most `tries` attempts.
 * Gives the sequence, or 0 when no whole copy was to be had, which then means nothing; `empty`: nothing was ever there. */
static inline uint64_t bb_read_block(void *to, const void *shared, size_t bytes, size_t tail_offset, int tries, bool *empty) {
  const uint64_t *head = (const uint64_t *)shared;
  const uint64_t *tail = (const uint64_t *)((const uint8_t *)shared + tail_offset);
  while (tries-- > 0) {
    const uint64_t sequence = bb_load_acquire(head);
    *empty = sequence == 0;
    if (*empty) return 0;
    /* Odd: being written. Looking again is worth it: a write takes a tenth of a microsecond. */
    if (sequence & 1) continue;
    bb_copy_out(to, shared, bytes);
    /* (B) orders the words before tail. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (bb_load(tail) == sequence) {
      *(uint64_t *)to = sequence; /* head as it was when the copy began */
      return sequence;
    }
  }
  return 0;
}

#endif

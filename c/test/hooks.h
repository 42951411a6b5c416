/* Given to the compiler in front of a source (-include): every access to shared memory by atomics, and every fence,
 * first calls bb_hook(), which may look on, do something in between, or not return. */
#ifndef BB_HOOKS_H
#define BB_HOOKS_H
#include <stdint.h>

enum bb_hook { BB_HOOK_LOAD, BB_HOOK_STORE, BB_HOOK_FENCE };

void bb_hook(enum bb_hook what, const volatile void *word, uint64_t value, int order);

/* Their arguments are evaluated once. Within, the names are the compiler's own. */
#define __atomic_load_n(word, order)        \
  __extension__({                           \
    const __typeof__(word) bb_at = (word);  \
    bb_hook(BB_HOOK_LOAD, bb_at, 0, order); \
    __atomic_load_n(bb_at, order);          \
  })
#define __atomic_store_n(word, value, order)        \
  __extension__({                                   \
    const __typeof__(word) bb_at = (word);          \
    const __typeof__(*bb_at) bb_value = (value);    \
    bb_hook(BB_HOOK_STORE, bb_at, bb_value, order); \
    __atomic_store_n(bb_at, bb_value, order);       \
  })
#define __atomic_thread_fence(order) (bb_hook(BB_HOOK_FENCE, 0, 0, (order)), __atomic_thread_fence(order))

#endif

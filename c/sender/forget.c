#include "forget.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

extern char at_start_begins[] __attribute__((weak)), at_start_ends[] __attribute__((weak));
extern char at_start_data_begins[] __attribute__((weak)), at_start_data_ends[] __attribute__((weak));
extern char seldom_begins[] __attribute__((weak)), seldom_ends[] __attribute__((weak));

static _Atomic bool was_used;

void release(void *table, size_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t from = ((uintptr_t)table + page - 1) & ~(page - 1), to = ((uintptr_t)table + bytes) & ~(page - 1);
  if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
}

/* The kernel still has the program's text, and gives it again when it is asked for. */
void forget_start(void) {
  used_seldom();
  if (at_start_data_begins != NULL) release(at_start_data_begins, (size_t)(at_start_data_ends - at_start_data_begins));
}

void used_seldom(void) { was_used = true; }

void forget_seldom(void) {
  if (!was_used) return;
  was_used = false;
  if (at_start_begins != NULL) release(at_start_begins, (size_t)(at_start_ends - at_start_begins));
  if (seldom_begins != NULL) release(seldom_begins, (size_t)(seldom_ends - seldom_begins));
}

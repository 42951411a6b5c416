/* What a report needs from the machine and no tree of files contains: clocks, the sender's own usage, the type of the
 * machine. All differences between two runs on the same trees come from here and from struct slow_world, so that a
 * report can be repeated. */
#ifndef BB_WORLD_H
#define BB_WORLD_H
#include <stdbool.h>
#include <stdint.h>
#include "../base/clock.h"

struct clocks {
  uint64_t real_ns, boot_ns;
};

struct clock_state {
  int64_t offset_us, max_error_us;
  bool unsynchronised;
};

/* Default paths. */
extern const char place_of_proc[], place_of_sys[], place_of_run[], place_of_etc[], place_of_passwd[],
  place_of_scratch[];

/* This machine, unless another one is pretended. */
extern const struct machine {
  /* CLOCK_REALTIME and CLOCK_BOOTTIME, taken together. */
  struct clocks (*clocks)(void);
  /* False if the kernel does not report it. */
  bool (*clock_state)(struct clock_state *state);
  /* CPU time of this process since its start. */
  uint64_t (*cpu_ms)(void);
  /* How long ago this was, of CLOCK_MONOTONIC. */
  uint64_t (*us_since)(uint64_t ns);
  /* `arch` of the contract, and the page size in KiB. */
  void (*type)(uint8_t *arch, uint32_t *page_kib);
} *machine;

#endif

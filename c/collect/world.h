/* What a report needs from the machine and no tree of files contains: clocks, the sender's own usage, the type of
 * the machine. All differences between two runs on the same trees come from here, so that a report can be repeated. */
#ifndef BB_WORLD_H
#define BB_WORLD_H
#include <stdbool.h>
#include <stdint.h>
#include "../base/clock.h"

struct clocks {
  uint64_t real_ns, boot_ns;
};

/* Default paths. */
extern const char place_of_proc[], place_of_sys[], place_of_run[], place_of_etc[], place_of_scratch[];

/* CLOCK_REALTIME and CLOCK_BOOTTIME, taken together. */
struct clocks world_clocks(void);

struct clock_state {
  int64_t offset_us, max_error_us;
  bool unsynchronised;
};

/* False if the kernel does not report it. */
bool world_adjtimex(struct clock_state *state);
/* CPU time of this process since its start. */
uint64_t world_cpu_ms(void);
/* `arch` of the contract, and the page size in KiB. */
void world_machine(uint8_t *arch, uint32_t *page_kib);

#endif

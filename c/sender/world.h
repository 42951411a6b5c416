/* What a report needs of the machine that no tree of files holds: clocks, what the sender itself used, the machine's kind.
 * Everything that differs between two runs on the same trees comes from here, so that a report can be repeated. */
#ifndef BB_SENDER_WORLD_H
#define BB_SENDER_WORLD_H
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clocks {
  uint64_t real_ns, boot_ns;
};

/* Where things are on this machine. */
extern const char place_of_proc[], place_of_sys[], place_of_run[], place_of_etc[], place_of_scratch[];

/* CLOCK_REALTIME and CLOCK_BOOTTIME, taken together. */
struct clocks world_clocks(void);
/* One clock of this machine, whatever is pretended. */
uint64_t clock_ns(clockid_t clock);

struct clock_state {
  int64_t offset_us, max_error_us;
  bool unsynchronised;
};

/* False where the kernel does not tell. */
bool world_adjtimex(struct clock_state *state);
/* CPU time of this process since it started. */
uint64_t world_cpu_ms(void);
/* `arch` of the contract, and the page size in KiB. */
void world_machine(uint8_t *arch, uint32_t *page_kib);

#endif

#include "world.h"

#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "parse.h"
#include "pretend.h"

const char place_of_proc[] = "/proc", place_of_sys[] = "/sys", place_of_run[] = "/run/beoboard", place_of_etc[] = "/etc",
           place_of_scratch[] = "/tmp";

struct clocks world_clocks(void) {
  if (pretence.on) return (struct clocks){pretence.t_real_ns, pretence.t_boot_ns};
  const uint64_t real_ns = bb_clock_ns(CLOCK_REALTIME);
  return (struct clocks){real_ns, bb_clock_ns(CLOCK_BOOTTIME)};
}

bool world_adjtimex(struct clock_state *state) {
  if (pretence.on) {
    *state = (struct clock_state){pretence.offset_us, pretence.maxerror_us, pretence.unsynchronised};
    return pretence.has_adjtimex;
  }
  struct timex clock = {.modes = 0}; /* it only reads */
  const int now = adjtimex(&clock);
  if (now < 0) return false;
  state->offset_us = (clock.status & STA_NANO) != 0 ? clock.offset / 1000 : clock.offset;
  state->max_error_us = clock.maxerror;
  state->unsynchronised = now == TIME_ERROR || (clock.status & STA_UNSYNC) != 0;
  return true;
}

uint64_t world_cpu_ms(void) {
  if (pretence.on) return pretence.agent_cpu_ms;
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  const uint64_t us = (uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec;
  return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 + us / 1000;
}

void world_machine(uint8_t *arch, uint32_t *page_kib) {
  if (pretence.on) {
    *arch = pretence.arch;
    *page_kib = pretence.page_kib;
    return;
  }
  struct utsname name;
  *arch = uname(&name) == 0 ? arch_of(span_of(name.machine)) : (uint8_t)BB_ARCH_OTHER;
  *page_kib = (uint32_t)(sysconf(_SC_PAGESIZE) / 1024);
}

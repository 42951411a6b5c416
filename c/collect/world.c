#include "world.h"

#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "parse.h"

const char place_of_proc[] = "/proc", place_of_sys[] = "/sys", place_of_run[] = "/run/beoboard";
const char place_of_etc[] = "/etc", place_of_passwd[] = "/etc/passwd", place_of_scratch[] = "/tmp";

static struct clocks clocks_here(void) {
  const uint64_t real_ns = bb_clock_ns(CLOCK_REALTIME);
  return (struct clocks){real_ns, bb_clock_ns(CLOCK_BOOTTIME)};
}

static bool clock_state_here(struct clock_state *state) {
  struct timex clock = {.modes = 0}; /* it only reads */
  const int now = adjtimex(&clock);
  if (now < 0) return false;
  state->offset_us = (clock.status & STA_NANO) != 0 ? clock.offset / 1000 : clock.offset;
  state->max_error_us = clock.maxerror;
  state->unsynchronised = now == TIME_ERROR || (clock.status & STA_UNSYNC) != 0;
  return true;
}

static uint64_t cpu_ms_here(void) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  const uint64_t us = (uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec;
  return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 + us / 1000;
}

static uint64_t us_since_here(uint64_t ns) { return (bb_clock_ns(CLOCK_MONOTONIC) - ns) / 1000; }

static void type_here(uint8_t *arch, uint32_t *page_kib) {
  struct utsname name;
  *arch = uname(&name) == 0 ? arch_of(span_of(name.machine)) : (uint8_t)BB_ARCH_OTHER;
  *page_kib = (uint32_t)(sysconf(_SC_PAGESIZE) / 1024);
}

static const struct machine here = {clocks_here, clock_state_here, cpu_ms_here, us_since_here, type_here};
const struct machine *machine = &here;

/* /proc/pressure/...: how long tasks waited. Does not report avg300; kernels without PSI (before 4.20, or psi=0)
 * have no such file. */
#include "parse.h"

struct pressure {
  bb_wide avg10, avg60; /* hundredths of a per cent */
  uint64_t total;       /* microseconds */
};

/* `NAME=` and a share of time: more than 100 % is none. */
static bool eat_share(struct span *left, struct span name, bb_wide *value) {
  return eat(left, name) && eat_hundredths(left, value) && *value <= 100 * 100;
}

static bool pressure_parse_line(struct span text, struct span who, struct pressure *pressure) {
  struct span left, total;
  bb_wide unused;
  return line_after(text, who, &left) && eat_share(&left, SPAN("avg10="), &pressure->avg10) &&
         eat_share(&left, SPAN(" avg60="), &pressure->avg60) && eat_share(&left, SPAN(" avg300="), &unused) &&
         eat(&left, SPAN(" total=")) && eat_digits(&left, 1, 20, &total) && left.len == 0 &&
         text_u64(total, &pressure->total);
}

/* Only `some` is required: `full` came to this file with 5.13 and has no meaning there. */
bool parse_cpu_pressure(struct span text, struct bb_report *report) {
  struct pressure some;
  if (!pressure_parse_line(text, SPAN("some "), &some)) return false;
  report->psi_cpu_some10 = saturated_16(some.avg10);
  report->psi_cpu_some60 = saturated_16(some.avg60);
  report->psi_cpu_some_us = some.total;
  return true;
}

bool parse_memory_pressure(struct span text, struct bb_report *report) {
  struct pressure some, full;
  if (!pressure_parse_line(text, SPAN("some "), &some) || !pressure_parse_line(text, SPAN("full "), &full))
    return false;
  report->psi_mem_some10 = saturated_16(some.avg10);
  report->psi_mem_some60 = saturated_16(some.avg60);
  report->psi_mem_some_us = some.total;
  report->psi_mem_full10 = saturated_16(full.avg10);
  report->psi_mem_full60 = saturated_16(full.avg60);
  report->psi_mem_full_us = full.total;
  return true;
}

bool parse_io_pressure(struct span text, struct bb_report *report) {
  struct pressure some, full;
  if (!pressure_parse_line(text, SPAN("some "), &some) || !pressure_parse_line(text, SPAN("full "), &full))
    return false;
  report->psi_io_some10 = saturated_16(some.avg10);
  report->psi_io_some60 = saturated_16(some.avg60);
  report->psi_io_some_us = some.total;
  report->psi_io_full10 = saturated_16(full.avg10);
  report->psi_io_full60 = saturated_16(full.avg60);
  report->psi_io_full_us = full.total;
  return true;
}

/* This file has only `full`. */
bool parse_irq_pressure(struct span text, struct bb_report *report) {
  struct pressure full;
  if (!pressure_parse_line(text, SPAN("full "), &full)) return false;
  report->psi_irq_full10 = saturated_16(full.avg10);
  report->psi_irq_full_us = full.total;
  return true;
}

/* /proc/loadavg: the load averages, and the number of threads. Accepts only the kernel's own form. */
#include "parse.h"

/* No kernel has more tasks, and so no higher load. */
#define MOST_TASKS (4u << 20)

bool parse_loadavg(struct span text, struct bb_report *report) {
  struct span left = text, threads_token;
  bb_wide load[3];
  uint64_t threads;
  for (unsigned i = 0; i < 3; i++)
    if (!eat_hundredths(&left, &load[i]) || load[i] > MOST_TASKS * 100 || !eat(&left, SPAN(" "))) return false;
  eat(&left, SPAN("-")); /* those that run, which are ignored: some kernels have less than none */
  if (!eat_digits(&left, 1, 20, NULL) || !eat(&left, SPAN("/"))) return false;
  if (!eat_digits(&left, 1, 20, &threads_token)) return false;
  if (!eat(&left, SPAN(" "))) return false;
  eat(&left, SPAN("-")); /* the newest pid, which is ignored */
  if (!eat_digits(&left, 1, 20, NULL) || !span_is(left, SPAN("\n")) || !text_u64(threads_token, &threads)) return false;
  if (threads == 0 || threads > MOST_TASKS) return false; /* one reads it */
  report->load1_c = saturated_32(load[0]);
  report->load5_c = saturated_32(load[1]);
  report->load15_c = saturated_32(load[2]);
  report->threads = saturated_32(threads);
  return true;
}

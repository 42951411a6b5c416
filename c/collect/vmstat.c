/* /proc/vmstat: major faults, swapping, out-of-memory kills. Ignores the other two hundred lines. */
#include "parse.h"

/* All are required; oom_kill came last, with Linux 4.13. */
enum { MAJFAULTS, SWAPIN, SWAPOUT, KILLS, WANTED };

static const struct span keys[WANTED] = {SPAN_TEXT("pgmajfault "), SPAN_TEXT("pswpin "), SPAN_TEXT("pswpout "),
                                         SPAN_TEXT("oom_kill ")};

/* The whole lines of the existing keys; the first line of each counts. Returns how many were found. */
static unsigned vmstat_find(struct span text, struct span *after) {
  unsigned found = 0;
  for (struct span left = text, line; found < WANTED && next_line(&left, &line);) {
    if (line.len == 0 || (line.at[0] != 'p' && line.at[0] != 'o')) continue;
    for (unsigned i = 0; i < WANTED; i++) {
      if (after[i].at != NULL || !begins(line, keys[i])) continue;
      after[i] = without(line, keys[i].len);
      found++;
      break;
    }
  }
  return found;
}

bool has_vmstat(struct span text) {
  struct span after[WANTED] = {{0}};
  return vmstat_find(text, after) == WANTED;
}

bool parse_vmstat(struct span text, struct bb_report *report) {
  struct span after[WANTED] = {{0}};
  uint64_t value[WANTED];
  if (vmstat_find(text, after) < WANTED) return false;
  for (unsigned i = 0; i < WANTED; i++)
    if (!text_u64(after[i], &value[i])) return false;
  report->majfaults = value[MAJFAULTS];
  report->swapin_pages = value[SWAPIN];
  report->swapout_pages = value[SWAPOUT];
  report->oom_kills = (uint32_t)value[KILLS]; /* counts modulo 2^32 */
  return true;
}

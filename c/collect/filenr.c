/* /proc/sys/fs/file-nr: open files of the whole node. Ignores the limit. */
#include "parse.h"

/* Allocated minus unused; 0 if a race makes that negative. All three numbers are required. From 2^63 on one is below
 * zero. */
bool parse_file_nr(struct span text, struct bb_report *report) {
  struct span left = text, first, second;
  uint64_t allocated, unused;
  if (!eat_digits(&left, 1, 20, &first) || !eat(&left, SPAN("\t")) || !eat_digits(&left, 1, 20, &second)) return false;
  if (!eat(&left, SPAN("\t")) || !eat_digits(&left, 1, 20, NULL) || !span_is(left, SPAN("\n"))) return false;
  if (!text_u64(first, &allocated) || !text_u64(second, &unused)) return false;
  if (allocated > INT64_MAX || unused > INT64_MAX) return false;
  report->files_open = saturated_32(allocated > unused ? allocated - unused : 0);
  return true;
}

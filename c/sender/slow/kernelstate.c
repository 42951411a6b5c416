/* Single numbers of the kernel: its taint flags, and the tasks that it found hung. Refuses numbers that do not fit
 * into their fields. */
#include "source.h"

/* The bits of each field: a larger number is not a reading. */
void slow_taint(struct reading *now) {
  struct span text;
  uint64_t taint;
  path_begin(now, now->world->proc, "/sys/kernel/tainted");
  if (!read_text(now, PARSE, &text)) return;
  if (!parse_count(text, &taint) || taint > UINT32_MAX) {
    not_understood(now, PARSE);
    return;
  }
  now->fields.taint = (uint32_t)taint;
  now->sets = BB_VALID_TAINT;
}

void slow_hung_tasks(struct reading *now) {
  uint64_t tasks;
  path_begin(now, now->world->proc, "/sys/kernel/hung_task_detect_count"); /* Linux 6.13 and later */
  if (!read_count(now, MAYBE, &tasks)) return;
  now->fields.hung_tasks = (uint32_t)tasks;
  now->sets = BB_VALID_HUNG_TASKS;
}

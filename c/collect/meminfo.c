/* /proc/meminfo: memory in MiB, rounded down. Refuses a text without a line that every kernel since 3.14 has. */
#include "parse.h"

/* Required are all lines but two groups, which a kernel leaves out when it has nothing of the kind, so that 0 is a
 * reading and no gap: HardwareCorrupted (no handling of memory failures: none taken out of use) and the HugePages lines
 * (no huge pages of the default size). Of the latter, all or none must be there. */
enum {
  MEM_TOTAL, MEM_AVAIL, MEM_FREE, BUFFERS, CACHED, SHMEM, SRECLAIMABLE, SUNRECLAIM, ANON, UNEVICTABLE, PAGE_TABLES,
  DIRTY, PARTS_END, WRITEBACK = PARTS_END, SWAP_TOTAL, SWAP_FREE, COMMITTED, COMMIT_LIMIT, REQUIRED,
  CORRUPTED = REQUIRED, HUGE_SIZE, HUGE_TOTAL, HUGE_FREE, LINES
};

static const struct span keys[LINES] = {
  [MEM_TOTAL] = SPAN_TEXT("MemTotal"), [MEM_AVAIL] = SPAN_TEXT("MemAvailable"), [SWAP_TOTAL] = SPAN_TEXT("SwapTotal"),
  [SWAP_FREE] = SPAN_TEXT("SwapFree"), [MEM_FREE] = SPAN_TEXT("MemFree"), [BUFFERS] = SPAN_TEXT("Buffers"),
  [CACHED] = SPAN_TEXT("Cached"), [SHMEM] = SPAN_TEXT("Shmem"), [SRECLAIMABLE] = SPAN_TEXT("SReclaimable"),
  [SUNRECLAIM] = SPAN_TEXT("SUnreclaim"), [ANON] = SPAN_TEXT("AnonPages"), [COMMITTED] = SPAN_TEXT("Committed_AS"),
  [COMMIT_LIMIT] = SPAN_TEXT("CommitLimit"), [UNEVICTABLE] = SPAN_TEXT("Unevictable"),
  [PAGE_TABLES] = SPAN_TEXT("PageTables"), [DIRTY] = SPAN_TEXT("Dirty"), [WRITEBACK] = SPAN_TEXT("Writeback"),
  [CORRUPTED] = SPAN_TEXT("HardwareCorrupted"), [HUGE_SIZE] = SPAN_TEXT("Hugepagesize"),
  [HUGE_TOTAL] = SPAN_TEXT("HugePages_Total"), [HUGE_FREE] = SPAN_TEXT("HugePages_Free"),
};

static int key_of(struct span name) {
  for (int i = 0; i < LINES; i++)
    if (keys[i].len == name.len && keys[i].at[0] == name.at[0] && span_is(keys[i], name)) return i;
  return -1;
}

/* Containers show 4 PiB of swap and more where they have no limit, or a number below zero. */
#define NO_SWAP_KIB (UINT64_C(1) << 42)

bool parse_meminfo(struct span text, struct bb_report *report) {
  /* A last line without its end was cut, and must not look like a line that this kernel does not have. */
  if (!ends(text, SPAN("\n"))) return false;
  uint64_t value[LINES] = {0};
  uint32_t found = 0;
  for (struct span left = text, line; next_line(&left, &line);) {
    const char *colon = find_char(line, ':');
    if (colon == NULL || colon == line.at) continue;
    const int key = key_of((struct span){line.at, (size_t)(colon - line.at)});
    if (key < 0 || (found & UINT32_C(1) << key) != 0) continue; /* the first line of a key counts */
    struct span number = without(line, (size_t)(colon - line.at) + 1);
    if (key < HUGE_TOTAL) {
      if (!ends(number, SPAN(" kB"))) return false;
      number.len -= 3;
    }
    while (number.len > 0 && number.at[0] == ' ') number = without(number, 1);
    if (!text_u64(number, &value[key])) return false;
    found |= UINT32_C(1) << key;
  }
  const uint32_t required = (UINT32_C(1) << REQUIRED) - 1;
  const uint32_t huge = UINT32_C(1) << HUGE_SIZE | UINT32_C(1) << HUGE_TOTAL | UINT32_C(1) << HUGE_FREE;
  if ((found & required) != required || ((found & huge) != 0 && (found & huge) != huge)) return false;
  if (value[MEM_TOTAL] == 0) return false;

  /* A part of something is at most all of it: some containers' files have more, or a number below zero. Of memory that
   * is taken out of use that would be an alarm. */
  value[DIRTY] = saturated_64((bb_wide)value[DIRTY] + value[WRITEBACK]);
  for (int i = MEM_TOTAL + 1; i < PARTS_END; i++) value[i] = least_64(value[i], value[MEM_TOTAL]);
  if (value[SWAP_TOTAL] >= NO_SWAP_KIB) value[SWAP_TOTAL] = 0;
  value[SWAP_FREE] = least_64(value[SWAP_FREE], value[SWAP_TOTAL]);
  value[HUGE_FREE] = least_64(value[HUGE_FREE], value[HUGE_TOTAL]);
  if (value[CORRUPTED] > value[MEM_TOTAL]) value[CORRUPTED] = 0;

  report->mem_total_mib = saturated_32(value[MEM_TOTAL] / 1024);
  report->mem_avail_mib = saturated_32(value[MEM_AVAIL] / 1024);
  report->swap_total_mib = saturated_32(value[SWAP_TOTAL] / 1024);
  report->swap_free_mib = saturated_32(value[SWAP_FREE] / 1024);
  report->mem_free_mib = saturated_32(value[MEM_FREE] / 1024);
  report->mem_buffers_mib = saturated_32(value[BUFFERS] / 1024);
  report->mem_cached_mib = saturated_32(value[CACHED] / 1024);
  report->mem_shmem_mib = saturated_32(value[SHMEM] / 1024);
  report->mem_sreclaimable_mib = saturated_32(value[SRECLAIMABLE] / 1024);
  report->mem_sunreclaim_mib = saturated_32(value[SUNRECLAIM] / 1024);
  report->mem_anon_mib = saturated_32(value[ANON] / 1024);
  report->mem_committed_mib = saturated_32(value[COMMITTED] / 1024);
  report->mem_commit_limit_mib = saturated_32(value[COMMIT_LIMIT] / 1024);
  report->mem_unevictable_mib = saturated_32(value[UNEVICTABLE] / 1024);
  report->mem_pagetables_mib = saturated_32(value[PAGE_TABLES] / 1024);
  report->mem_dirty_writeback_mib = saturated_32(value[DIRTY] / 1024);
  report->mem_corrupted_kib = saturated_32(value[CORRUPTED]);
  report->mem_huge_total_mib = saturated_32((bb_wide)value[HUGE_TOTAL] * value[HUGE_SIZE] / 1024);
  report->mem_huge_free_mib = saturated_32((bb_wide)value[HUGE_FREE] * value[HUGE_SIZE] / 1024);
  return true;
}

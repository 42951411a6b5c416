/* /proc/diskstats: the sum of the traffic of all whole disks, and how busy the busiest disk was. Leaves out lines that
 * are not understood: the report tells how many disks are in it. */
#include "parse.h"

/* Numbers behind the name: 11 since 2.6.25, more with discards since 4.18 and with flushes since 5.5. */
enum { READS, SECTORS_READ = 2, WRITES = 4, SECTORS_WRITTEN = 6, INFLIGHT = 8, BUSY, WEIGHTED, COLUMNS };

static bool diskstats_parse_line(struct span line, struct disk *disk) {
  struct span left = line, word;
  uint64_t number, value[COLUMNS] = {0};
  disk->number = FINGERPRINT;
  for (unsigned i = 0; i < 2; i++) {
    if (!next_word(&left, &word) || !text_u64(word, &number)) return false;
    disk->number = fingerprint_with(disk->number, number);
  }
  if (!next_word(&left, &disk->name)) return false;
  disk->name_print = fingerprint(FINGERPRINT, disk->name);
  for (unsigned i = 0; i < COLUMNS; i++) {
    if (!next_word(&left, &word)) return false;
    const bool wanted = i % 2 == 0 || i > INFLIGHT;
    bool is_negative; /* some kernels count requests down once too often */
    if (i == INFLIGHT ? !text_natural(word, INT32_MAX, &value[i], &is_negative) : wanted && !text_u64(word, &value[i]))
      return false;
  }
  disk->reads = value[READS];
  disk->sectors_read = value[SECTORS_READ];
  disk->writes = value[WRITES];
  disk->sectors_written = value[SECTORS_WRITTEN];
  disk->inflight = value[INFLIGHT];
  disk->busy_ms = value[BUSY];
  disk->weighted_ms = value[WEIGHTED];
  return true;
}

/* All block devices, with partitions. An empty text is a node without any, and not an error. */
enum parsed parse_diskstats(struct span text, struct disk *all, unsigned *count, uint64_t *names) {
  unsigned lines = 0;
  *count = 0;
  *names = FINGERPRINT;
  if (text.len > 0 && !ends(text, SPAN("\n"))) return REFUSED;
  for (struct span left = text, line; next_line(&left, &line); lines++)
    if (diskstats_parse_line(line, &all[*count]))
      *names = fingerprint_with(*names, all[(*count)++].name_print);
  return parsed_lines(lines, *count);
}

/* The kernel counts sectors of 512 bytes, whatever the sector size of the disk is. */
#define SECTOR 512u

static struct member members[BB_MOST_DEVICES] LARGE;
struct member_sum disk_sum = {.members = members, .room = BB_MOST_DEVICES, .counts = 6};

/* The kernel shows the times modulo 2^32 ms. */
static const uint64_t modulo[SUM_COUNTS] = {0, 0, 0, 0, UINT64_C(1) << 32, UINT64_C(1) << 32};

bool sum_disks(const struct disk *all, struct disk_row *rows, unsigned count, struct bb_report *report) {
  bb_wide inflight = 0;
  unsigned disks = 0;
  sum_begin(&disk_sum);
  for (unsigned i = 0; i < count; i++) {
    const struct disk *disk = &all[i];
    if (!rows[i].whole) rows[i].place = 0;
    if (!rows[i].whole) continue;
    const uint64_t id = fingerprint_with(fingerprint_with(disk->number, disk->name_print), rows[i].serial);
    const bb_wide now[] = {disk->sectors_read, disk->sectors_written, disk->reads,
                           disk->writes,       disk->busy_ms,         disk->weighted_ms};
    sum_read(&disk_sum, &rows[i].place, id, now, modulo);
    inflight += disk->inflight;
    disks++;
  }
  if (!sum_end(&disk_sum)) return false;
  disk_sum.has_begun = true; /* of no disks, too */
  report->disk_read_bytes = saturated_64(disk_sum.sum[0] * SECTOR);
  report->disk_write_bytes = saturated_64(disk_sum.sum[1] * SECTOR);
  report->disk_reads = saturated_64(disk_sum.sum[2]);
  report->disk_writes = saturated_64(disk_sum.sum[3]);
  report->disk_busy_ms = saturated_64(disk_sum.sum[4]);
  report->disk_weighted_ms = saturated_64(disk_sum.sum[5]);
  report->disk_inflight = saturated_32(inflight);
  report->disks = saturated_16(disks);
  return true;
}

static int64_t boot_ns_before;
static bool is_before; /* there was a tick */

void disks_forget(void) { is_before = false; }

/* The kernel shows this time modulo 2^32 ms. If it grew by half of that or more, another disk has the old name. */
static uint64_t grown(uint64_t from, uint64_t to) {
  const uint64_t by = to >= from ? to - from : from - to <= UINT32_MAX ? to + (UINT64_C(1) << 32) - from : UINT64_MAX;
  return by < UINT64_C(1) << 31 ? by : 0;
}

bool busiest_disk(const struct disk *all, struct disk_row *rows, unsigned count, int64_t now_boot_ns,
                  struct bb_report *report) {
  const bool passed = is_before && now_boot_ns > boot_ns_before;
  bool found = false;
  uint64_t busiest = 0;
  for (unsigned i = 0; i < count; i++) {
    struct disk_row *row = &rows[i];
    if (passed && row->whole && row->was_whole) {
      found = true;
      const uint64_t by = grown(row->busy_ms, all[i].busy_ms);
      if (by > busiest) busiest = by;
    }
    row->was_whole = row->whole;
    row->busy_ms = all[i].busy_ms;
  }
  if (found) report->disk_busiest_pm = thousandths((bb_wide)busiest * 1000000, (bb_wide)(now_boot_ns - boot_ns_before));
  boot_ns_before = now_boot_ns;
  is_before = true;
  return found;
}

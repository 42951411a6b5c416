/* /sys/block: which block devices are whole disks. Leaves out partitions, devices on top of other disks, in memory or
 * on a network, drives with removable media, and flash with firmware: these would count twice or for nothing. */
#include <sys/stat.h>

#include "../base/folder.h"
#include "../base/kernelfile.h"
#include "../base/say.h"
#include "parse.h"

/* These letters, a number, and anything after it. */
static bool numbered(struct span name, struct span prefix) {
  return eat(&name, prefix) && eat_digits(&name, 1, SIZE_MAX, NULL);
}

/* What has a `device` and is no disk: optical and floppy drives (which have a size without a medium), flash without a
 * controller or with firmware, disks of Ceph. */
static bool is_no_disk(struct span name) {
  static const struct span numbered_ones[] = {
    SPAN_TEXT("sr"), SPAN_TEXT("fd"), SPAN_TEXT("mtdblock"), SPAN_TEXT("ubiblock"), SPAN_TEXT("rbd"),
  };
  for (size_t i = 0; i < sizeof numbered_ones / sizeof numbered_ones[0]; i++)
    if (numbered(name, numbered_ones[i])) return true;
  struct span left = name;
  return eat(&left, SPAN("mmcblk")) && eat_digits(&left, 1, SIZE_MAX, NULL) &&
         (begins(left, SPAN("boot")) || begins(left, SPAN("rpmb")));
}

/* nvmeNcKnM, a path to nvmeNnM: `controller` and `rest` are the common parts. */
static bool is_path(struct span name, struct span *controller, struct span *rest) {
  struct span left = name;
  if (!eat(&left, SPAN("nvme")) || !eat_digits(&left, 1, SIZE_MAX, NULL)) return false;
  *controller = (struct span){name.at, name.len - left.len};
  if (!eat(&left, SPAN("c")) || !eat_digits(&left, 1, SIZE_MAX, NULL)) return false;
  *rest = left;
  return eat(&left, SPAN("n")) && eat_digits(&left, 1, SIZE_MAX, NULL) && left.len == 0;
}

static bool is_number(struct span left) { return eat_digits(&left, 1, SIZE_MAX, NULL) && left.len == 0; }

/* The names that kernels give to whole disks. Nobody can give such a name to a device on top of them. */
static bool looks_whole(struct span name) {
  static const struct span lettered[] = {SPAN_TEXT("sd"), SPAN_TEXT("hd"), SPAN_TEXT("vd"), SPAN_TEXT("xvd"),
                                         SPAN_TEXT("dasd")};
  for (size_t i = 0; i < sizeof lettered / sizeof lettered[0]; i++) {
    struct span left = name;
    if (!eat(&left, lettered[i]) || left.len == 0) continue;
    size_t letters = 0;
    while (letters < left.len && left.at[letters] >= 'a' && left.at[letters] <= 'z') letters++;
    if (letters == left.len && letters <= 4) return true;
  }
  static const struct span arrays[] = {SPAN_TEXT("cciss/c"), SPAN_TEXT("ida/c"), SPAN_TEXT("rd/c")};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    struct span left = name;
    if (eat(&left, arrays[i]) && eat_digits(&left, 1, SIZE_MAX, NULL) && eat(&left, SPAN("d")) && is_number(left))
      return true;
  }
  struct span left = name, controller, rest;
  if (is_path(name, &controller, &rest)) return true;
  if (eat(&left, SPAN("nvme"))) return eat_digits(&left, 1, SIZE_MAX, NULL) && eat(&left, SPAN("n")) && is_number(left);
  return (eat(&left, SPAN("mmcblk")) || eat(&left, SPAN("pmem"))) && is_number(left);
}

/* A place below the folder of a block device. A slash cannot be in a file's name: cciss/c0d0 is cciss!c0d0 there. */
static const char *path_of(char *path, size_t room, const char *sys, struct span name, const char *leaf) {
  struct words words = {path, room, 0};
  add_text(&words, sys);
  add_text(&words, "/block/");
  const size_t at = words.len;
  add_span(&words, name);
  for (size_t i = at; i < words.len; i++)
    if (path[i] == '/') path[i] = '!';
  add_text(&words, leaf);
  return text_of(&words);
}

/* What tells a disk from another one of its name: its number in the order of all that came (since Linux 5.15), else the
 * serial number of NVMe, else the name that SCSI knows. None of them asks the disk. */
static uint64_t serial_of(const char *sys, struct span name, char *buffer) {
  static const char *const leaves[] = {"/diskseq", "/device/serial", "/device/wwid"};
  char path[1024];
  struct span text;
  for (unsigned i = 0; i < sizeof leaves / sizeof leaves[0]; i++)
    if (read_once(path_of(path, sizeof path, sys, name, leaves[i]), 0, 0, buffer, SMALL_BYTES, &text) == 0)
      return fingerprint(FINGERPRINT, text);
  return 0;
}

static bool has_size(const char *path, char *buffer) {
  struct span text;
  uint64_t sectors;
  return read_once(path, 0, 0, buffer, SMALL_BYTES, &text) == 0 && text_u64(trimmed(text), &sectors) && sectors > 0;
}

/* Whether a folder can be read; and whether anything is in it. */
static bool look_into(const char *path, bool *has_any) {
  _Alignas(8) char entries[512];
  struct folder folder;
  struct span name;
  *has_any = false;
  if (folder_open(&folder, path, entries, sizeof entries) != 0) return false;
  *has_any = folder_next(&folder, &name);
  folder_close(&folder);
  return true;
}

/* Of hardware the kernel knows the device. Loop, RAM and md devices, volumes of LVM and ZFS, pseudo devices of
 * multipathing, and most disks on a network have none. */
static bool is_disk(const char *sys, struct span name, char *buffer) {
  char path[1024];
  struct stat stats;
  if (find_char(name, '\0') != NULL || is_no_disk(name) ||
      !has_size(path_of(path, sizeof path, sys, name, "/size"), buffer))
    return false;
  bool is_made_of_others;
  look_into(path_of(path, sizeof path, sys, name, "/slaves"), &is_made_of_others);
  if (is_made_of_others) return false;
  return lstat(path_of(path, sizeof path, sys, name, "/device"), &stats) == 0 || looks_whole(name);
}

struct known known_disks = {.row_bytes = sizeof(struct disk_row), .at = UINT32_MAX, .is_fresh = true};

/* NVMe multipath shows one disk as itself (nvme0n1) and once per path (nvme0c1n1). The paths count on every kernel, the
 * disk itself only since 6.4, so where there are paths the disk is left out. */
static void leave_out_heads(const struct disk *all, struct disk_row *row, unsigned count) {
  struct span controller, rest;
  struct name_index index = {0};
  for (unsigned i = 0; i < count; i++) row[i].whole = row[i].real;
  for (unsigned i = 0; i < count; i++) {
    if (!row[i].real || !is_path(all[i].name, &controller, &rest)) continue;
    if (index.rows == NULL) index = index_names(row, sizeof *row, count);
    const int64_t head = place_of(&index, fingerprint(fingerprint(FINGERPRINT, controller), rest));
    if (head >= 0) row[head].whole = false;
  }
}

bool find_whole_disks(const char *sys, const struct disk *all, unsigned count, char *buffer) {
  static bool had_block = true;
  char path[1024];
  struct disk_row *row = known_disks.rows;
  bool looked = false, any;
  for (unsigned i = 0; known_next(&known_disks, &i); looked = true) {
    if (!looked) had_block = look_into(path_of(path, sizeof path, sys, SPAN(""), ""), &any);
    row[i].real = had_block ? is_disk(sys, all[i].name, buffer) : looks_whole(all[i].name);
  }
  if (looked) leave_out_heads(all, row, count);
  for (unsigned i = 0; i < count; i++) {
    const uint64_t serial = row[i].serial;
    const bool may_differ = leaps(&row[i].counts, all[i].reads + all[i].sectors_read + all[i].writes +
                                                      all[i].sectors_written + all[i].busy_ms + all[i].weighted_ms);
    if (!row[i].real || (!may_differ && row[i].known.looked != known_disks.tick)) continue;
    row[i].serial = serial_of(sys, all[i].name, buffer);
    row[i].was_whole &= row[i].serial == serial;
  }
  return had_block;
}

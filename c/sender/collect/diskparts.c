/* /sys/block: which block devices are whole disks. Leaves out partitions, devices on top of other disks or in
 * memory, drives with removable media, and flash with firmware: these would count twice or for nothing. */
#include "../folder.h"
#include "../kernelfile.h"
#include "../say.h"
#include "parse.h"

/* These letters, a number, and anything after it. */
static bool numbered(struct span name, struct span prefix) { return eat(&name, prefix) && eat_digits(&name, 1, SIZE_MAX, NULL); }

/* Devices in memory, on top of other disks, optical and floppy drives (which have a size without a medium), flash
 * with firmware. */
static bool is_no_disk(struct span name) {
  static const struct span numbered_ones[] = {
    SPAN_TEXT("loop"), SPAN_TEXT("ram"), SPAN_TEXT("zram"), SPAN_TEXT("md"), SPAN_TEXT("bcache"),
    SPAN_TEXT("drbd"), SPAN_TEXT("sr"),  SPAN_TEXT("fd"),   SPAN_TEXT("mtdblock"),
  };
  for (size_t i = 0; i < sizeof numbered_ones / sizeof numbered_ones[0]; i++)
    if (numbered(name, numbered_ones[i])) return true;
  if (begins(name, SPAN("dm-"))) return true;
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

/* Used only when /sys/block cannot be read: the names that kernels give to whole disks. */
static bool looks_whole(struct span name) {
  static const struct span lettered[] = {SPAN_TEXT("sd"), SPAN_TEXT("hd"), SPAN_TEXT("vd"), SPAN_TEXT("xvd"), SPAN_TEXT("dasd")};
  for (size_t i = 0; i < sizeof lettered / sizeof lettered[0]; i++) {
    struct span left = name;
    if (!eat(&left, lettered[i]) || left.len == 0) continue;
    size_t letters = 0;
    while (letters < left.len && left.at[letters] >= 'a' && left.at[letters] <= 'z') letters++;
    if (letters == left.len) return true;
  }
  struct span left = name, controller, rest;
  if (is_path(name, &controller, &rest)) return true;
  if (eat(&left, SPAN("nvme")))
    return eat_digits(&left, 1, SIZE_MAX, NULL) && eat(&left, SPAN("n")) && eat_digits(&left, 1, SIZE_MAX, NULL) && left.len == 0;
  return (eat(&left, SPAN("mmcblk")) || eat(&left, SPAN("pmem"))) && eat_digits(&left, 1, SIZE_MAX, NULL) && left.len == 0;
}

static bool has_size(const char *sys, struct span name, char *buffer) {
  char path[1024];
  struct words words = WORDS(path);
  add_text(&words, sys);
  add_text(&words, "/block/");
  add_span(&words, name);
  add_text(&words, "/size");
  struct span text;
  uint64_t sectors;
  return read_once(text_of(&words), 0, 0, buffer, SMALL_BYTES, &text) == 0 && text_u64(trimmed(text), &sectors) && sectors > 0;
}

/* Whether a name of /sys/block is this one: a slash cannot be in a file's name, cciss/c0d0 is cciss!c0d0 there. */
static bool same(struct span block, struct span name) {
  if (block.len != name.len) return false;
  for (size_t i = 0; i < name.len; i++)
    if ((block.at[i] == '!' ? '/' : block.at[i]) != name.at[i]) return false;
  return true;
}

/* NVMe multipath shows one disk as itself (nvme0n1) and once per path (nvme0c1n1). The paths count on every kernel, the disk
 * itself only since 6.4, so where there are paths the disk is left out. */
static void unmark_head(struct disk_row *all, unsigned count, struct span controller, struct span rest) {
  for (unsigned i = 0; i < count; i++) {
    const struct span name = all[i].now.name;
    if (name.len == controller.len + rest.len && begins(name, controller) && ends(name, rest)) all[i].now.whole = false;
  }
}

static void guess(struct disk_row *all, unsigned count) {
  struct span controller, rest;
  for (unsigned i = 0; i < count; i++) all[i].now.whole = looks_whole(all[i].now.name);
  for (unsigned i = 0; i < count; i++)
    if (all[i].now.whole && is_path(all[i].now.name, &controller, &rest)) unmark_head(all, count, controller, rest);
}

bool mark_whole_disks(const char *sys, struct disk_row *all, unsigned count, char *buffer) {
  static _Alignas(8) char entries[4096];
  char path[1024];
  struct words words = WORDS(path);
  add_text(&words, sys);
  add_text(&words, "/block");
  struct folder folder;
  if (folder_open(&folder, text_of(&words), entries, sizeof entries) != 0) {
    guess(all, count);
    return false;
  }
  struct span name, controller, rest;
  bool paths = false;
  for (unsigned i = 0; i < count; i++) all[i].now.whole = false;
  while (folder_next(&folder, &name)) {
    if (is_no_disk(name) || !has_size(sys, name, buffer)) continue;
    paths |= is_path(name, &controller, &rest);
    for (unsigned i = 0; i < count; i++) all[i].now.whole |= same(name, all[i].now.name);
  }
  if (paths) folder_rewind(&folder);
  while (paths && folder_next(&folder, &name))
    if (is_path(name, &controller, &rest) && has_size(sys, name, buffer)) unmark_head(all, count, controller, rest);
  folder_close(&folder);
  return true;
}

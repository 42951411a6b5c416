#include "mounts.h"

#include <errno.h>
#include <stdatomic.h>

struct line {
  struct mount mount;
  struct span id, parent;
};

/* The next byte of a field without the kernel's escapes. */
static char next_byte(struct span *left) {
  const char *at = left->at;
  const bool octal = at[0] == '\\' && left->len > 3 && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' && at[2] <= '7' &&
                     at[3] >= '0' && at[3] <= '7';
  *left = without(*left, octal ? 4 : 1);
  return octal ? (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')) : at[0];
}

static bool plain_begins(struct span field, struct span with) {
  for (; with.len > 0; with = without(with, 1))
    if (field.len == 0 || next_byte(&field) != with.at[0]) return false;
  return true;
}

static bool plain_is(struct span field, struct span text) {
  size_t length = 0;
  for (struct span left = field; left.len > 0; length++) next_byte(&left);
  return length == text.len && plain_begins(field, text);
}

static bool is_number(struct span field, size_t most) {
  return eat_digits(&field, 1, most, NULL) && field.len == 0;
}

static bool has_option(struct span options, struct span one, struct span other) {
  struct span option;
  while (next_part(&options, ',', &option))
    if (span_is(option, one) || span_is(option, other)) return true;
  return false;
}

/* id parent major:minor root point options tags… - type source options */
static bool mounts_parse_line(struct span text, struct line *line) {
  struct span left = text, field[6], part;
  for (unsigned i = 0; i < 6; i++)
    if (!next_part(&left, ' ', &field[i])) return false;
  do
    if (!next_part(&left, ' ', &part)) return false;
  while (!span_is(part, SPAN("-")));
  struct mount *mount = &line->mount;
  if (!next_part(&left, ' ', &mount->type) || !next_part(&left, ' ', &mount->source)) return false;
  if (!next_part(&left, ' ', &mount->options) || mount->type.len == 0) return false;
  line->id = field[0];
  line->parent = field[1];
  mount->device = field[2];
  mount->point = field[4];
  struct span device = mount->device;
  if (!is_number(line->id, 10) || !is_number(line->parent, 10)) return false;
  if (!eat_digits(&device, 1, 7, NULL) || !eat(&device, SPAN(":")) || !is_number(device, 7)) return false;
  if (!begins(mount->point, SPAN("/"))) return false;
  mount->read_only = has_option(field[5], SPAN("ro"), SPAN("emergency_ro")) ||
                     has_option(mount->options, SPAN("ro"), SPAN("emergency_ro"));
  return true;
}

/* Identifies a mount by its mount point: `id` is its own, or its parent's. */
static uint64_t key_of(struct span id, struct span point) {
  uint64_t key = fingerprint(fingerprint(FINGERPRINT, id), SPAN(" "));
  while (point.len > 0) {
    const char byte = next_byte(&point);
    key = fingerprint(key, (struct span){&byte, 1});
  }
  return key;
}

static void sift(uint64_t *heap, size_t root, size_t count) {
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && heap[child + 1] > heap[child]) child++;
    if (heap[root] >= heap[child]) return;
    const uint64_t swapped = heap[root];
    heap[root] = heap[child];
    heap[child] = swapped;
  }
}

/* Heapsort: in place, and never slow, whatever is mounted. */
static void sort(uint64_t *numbers, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift(numbers, i, count);
  for (size_t end = count; end-- > 1;) {
    const uint64_t swapped = numbers[0];
    numbers[0] = numbers[end];
    numbers[end] = swapped;
    sift(numbers, 0, end);
  }
}

static bool is_covered(const struct mounts *mounts, uint64_t key) {
  size_t low = 0, high = mounts->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (mounts->covered[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low < mounts->count && mounts->covered[low] == key;
}

/* The sources that read mounts. Each may hang while it has a table, and then another one serves the others. */
#define MOUNTS_SOURCES 4u

static struct mounts *free_table(void) {
  static struct mounts tables[MOUNTS_SOURCES];
  for (unsigned i = 0; i < MOUNTS_SOURCES; i++)
    if (!atomic_exchange(&tables[i].in_use, true)) return &tables[i];
  return NULL;
}

void close_mounts(struct mounts *mounts) {
  if (mounts != NULL) mounts->in_use = false;
}

static bool read_mounts(struct reading *now, enum how how, struct mounts *mounts) {
  struct stat stats;
  int error = 0;
  size_t lines = 0;
  path_begin(now, now->world->proc, now->world->process);
  path_text(now, "/mountinfo");
  struct kernel_file file = {.fd = open_regular(now->path, &stats, &error), .flags = FILE_IN_LINES};
  if (error == 0) error = read_growing(&file, &mounts->memory, 0, &mounts->text);
  file_close(&file);
  for (struct span left = mounts->text, one; error == 0 && next_line(&left, &one);) lines++;
  const size_t used = (mounts->text.len + 7) / 8 * 8;
  if (error == 0 && !make_room(&mounts->memory, used + lines * sizeof *mounts->covered)) error = ENOMEM;
  const struct span text = mounts->text = (struct span){mounts->memory.at, mounts->text.len};
  mounts->count = 0;
  mounts->covered = (uint64_t *)(void *)(mounts->memory.at + used);
  if (error != 0) {
    if (how == MAYBE && means_absent(now->path, error)) return false;
    return cannot_read(now, error, MOST_BYTES);
  }
  if (!ends(text, SPAN("\n"))) return not_understood(now, how);
  struct line line;
  for (struct span left = text, one; next_line(&left, &one);) {
    if (!mounts_parse_line(one, &line)) return not_understood(now, how);
    if (!span_is(line.id, line.parent)) mounts->covered[mounts->count++] = key_of(line.parent, line.mount.point);
  }
  sort(mounts->covered, mounts->count);
  return true;
}

struct mounts *open_mounts(struct reading *now, enum how how) {
  struct mounts *mounts = free_table();
  if (mounts != NULL && read_mounts(now, how, mounts)) return mounts;
  close_mounts(mounts);
  return NULL;
}

bool next_mount(const struct mounts *mounts, size_t *at, struct mount *mount) {
  struct span left = without(mounts->text, *at), one;
  struct line line;
  while (next_line(&left, &one)) {
    /* The order does not help: a root that was moved into place comes after the mounts on it. */
    if (!mounts_parse_line(one, &line) || is_covered(mounts, key_of(line.id, line.mount.point))) continue;
    *mount = line.mount;
    *at = mounts->text.len - left.len;
    return true;
  }
  return false;
}

bool plain_point(const struct mount *mount, char into[REAL_PATH]) {
  size_t length = 0;
  for (struct span left = mount->point; left.len > 0;) {
    if (length == REAL_PATH - 1) return false;
    if ((into[length++] = next_byte(&left)) == 0) return false;
  }
  into[length] = 0;
  return true;
}

bool mount_of(const struct mounts *mounts, struct span path, struct mount *found) {
  size_t longest = 0;
  struct mount mount;
  for (size_t at = 0; next_mount(mounts, &at, &mount);) {
    size_t length = 0;
    char last = 0;
    struct span left = mount.point, rest = path;
    for (; left.len > 0 && rest.len > 0; length++, rest = without(rest, 1)) {
      struct span before = left;
      last = next_byte(&left);
      if (last == rest.at[0]) continue;
      left = before;
      break;
    }
    const bool below = left.len == 0 && (rest.len == 0 || last == '/' || rest.at[0] == '/');
    if (!below || length <= longest) continue;
    longest = length;
    *found = mount;
  }
  return longest > 0;
}

static bool is_one_of(struct span type, const char *const *types) {
  for (; *types != NULL; types++)
    if (span_is(type, span_of(*types))) return true;
  return false;
}

static bool on_block_device(const struct mount *mount) {
  /* On block devices that other machines write too, or served by a program that may hang. */
  static const char *const shared[] = {"gfs2", "ocfs2", "gpfs", "mmfs", "acfs", NULL};
  /* On several block devices, so that the kernel gives them a number of their own. */
  static const char *const pooled[] = {"btrfs", "bcachefs", NULL};
  if (begins(mount->type, SPAN("fuse")) || is_one_of(mount->type, shared)) return false;
  return !begins(mount->device, SPAN("0:")) || is_one_of(mount->type, pooled);
}

bool is_local(const struct mount *mount) {
  /* Without a block device, and still local. */
  static const char *const internal[] = {"tmpfs", "ramfs", "rootfs", "overlay", "zfs", NULL};
  return on_block_device(mount) || is_one_of(mount->type, internal);
}

bool has_disk(const struct mount *mount) {
  /* Always full, and nothing can run out of space there. */
  static const char *const images[] = {"squashfs", "iso9660", "udf", "erofs", "cramfs", "romfs", NULL};
  /* In memory (1: ram), or in a file of another file system (7: loop). */
  if (begins(mount->device, SPAN("1:")) || begins(mount->device, SPAN("7:"))) return false;
  return on_block_device(mount) && !plain_begins(mount->source, SPAN("/dev/zram")) && !is_one_of(mount->type, images);
}

bool is_mounted_at(const struct mount *mount, struct span path) { return plain_is(mount->point, path); }

/* Space and inodes by statvfs: of the root, the scratch, and all local file systems. Each is its own source, because
 * each can hang alone. Leaves out network file systems before asking them anything, and impossible sizes. */
#include "mounts.h"

static uint32_t mib(bb_wide bytes) { return saturated_32(bytes >> 20); }

/* Thousandths of the inodes that are free: all of them if the file system makes them on demand. */
static uint16_t inodes_free(const struct file_system *fs) {
  return fs->inodes == 0 ? 1000 : thousandths(fs->inodes_free, fs->inodes);
}

void slow_root(struct reading *now) {
  struct mount mount;
  struct file_system fs;
  struct mounts *mounts = open_mounts(now, PARSE);
  for (size_t at = 0; mounts != NULL && next_mount(mounts, &at, &mount);) {
    if (!is_mounted_at(&mount, SPAN("/"))) continue;
    if (mount.read_only) now->flags |= (uint32_t)BB_FLAGS_ROOT_READONLY;
    break;
  }
  close_mounts(mounts);
  if (!ask_file_system(now, "/", &fs)) return;
  now->fields.root_total_mib = mib(fs.total);
  now->fields.root_avail_mib = mib(fs.available);
  now->fields.root_inodes_free_pm = inodes_free(&fs);
  now->sets = BB_VALID_ROOT;
}

static bool is_on_local(struct reading *now, const struct mounts *mounts, const char *path) {
  struct mount mount;
  if (!mount_of(mounts, span_of(path), &mount)) return false;
  if (is_local(&mount)) return true;
  char type[64];
  struct words words = WORDS(type);
  add_span(&words, mount.type);
  complain(now, "the scratch ", now->world->scratch, " is on ", text_of(&words),
           ", which may not be local: it is left out", (char *)NULL);
  return false;
}

static void complain_of_scratch(struct reading *now) {
  complain(now, "the scratch ", now->world->scratch, " does not exist or cannot be measured: it is left out",
           (char *)NULL);
}

/* Removes the root from before a path; false if a link led out of it, to something of the container. */
static bool cut_root(char *path, const char *root) {
  const size_t length = strlen(root);
  if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != 0)) return false;
  if (path[length] == 0) strcpy(path, "/");
  else memmove(path, path + length, strlen(path + length) + 1);
  return true;
}

static bool is_seen(struct reading *now, const struct mounts *mounts, const char *path) {
  struct mount mount;
  char *point = now->text; /* nothing is read here */
  return mount_of(mounts, span_of(path), &mount) && plain_point(&mount, point) &&
         sees_mount(now->world, point, mount.device);
}

/* The scratch with links resolved, if it is on a local file system. */
static bool find_scratch(struct reading *now, const struct mounts *mounts, char path[REAL_PATH]) {
  const struct slow_world *world = now->world;
  /* This comes before resolving links: even that could ask the network. */
  if (!is_on_local(now, mounts, world->scratch)) return false;
  path_begin(now, world->root, world->scratch);
  if (world->real_path(world, now->path, path) && cut_root(path, world->root) && is_seen(now, mounts, path))
    return is_on_local(now, mounts, path);
  complain_of_scratch(now);
  return false;
}

void slow_scratch(struct reading *now) {
  char *path = allocate_memory(now, REAL_PATH);
  struct file_system fs;
  struct mounts *mounts = open_mounts(now, PARSE);
  const bool found = mounts != NULL && find_scratch(now, mounts, path);
  close_mounts(mounts);
  if (!found) return;
  if (!ask_file_system(now, path, &fs)) {
    complain_of_scratch(now);
    return;
  }
  now->fields.scratch_total_mib = mib(fs.total);
  now->fields.scratch_avail_mib = mib(fs.available);
  now->fields.scratch_inodes_free_pm = inodes_free(&fs);
  now->sets = BB_VALID_SCRATCH;
}

static bool is_known(const uint64_t *devices, unsigned count, uint64_t device) {
  for (unsigned i = 0; i < count; i++)
    if (devices[i] == device) return true;
  return false;
}

static bb_wide plus(bb_wide a, bb_wide b) {
  const bb_wide sum = a + b;
  return sum < a ? ~(bb_wide)0 : sum;
}

/* Every device once, by the first of its mounts that answers. One that we may not ask is left out. */
static void add_file_systems(struct reading *now, const struct mounts *mounts) {
  uint64_t *devices = allocate_memory(now, BB_MOST_FILE_SYSTEMS * sizeof *devices); /* those that answered */
  char *path = now->text; /* nothing is read here */
  unsigned count = 0;
  bb_wide total = 0, available = 0;
  uint16_t fullest = 0;
  struct mount mount;
  struct file_system fs;
  for (size_t at = 0; next_mount(mounts, &at, &mount);) {
    const uint64_t device = fingerprint(FINGERPRINT, mount.device);
    if (!has_disk(&mount) || is_known(devices, count, device)) continue;
    if (!plain_point(&mount, path) || !sees_mount(now->world, path, mount.device)) continue;
    if (!ask_file_system(now, path, &fs)) continue;
    if (count == BB_MOST_FILE_SYSTEMS) {
      too_many(now, BB_MOST_FILE_SYSTEMS, "file systems with a disk");
      return;
    }
    devices[count++] = device;
    total = plus(total, fs.total);
    available = plus(available, fs.available);
    const uint16_t full = thousandths(fs.total - fs.available, fs.total);
    if (full > fullest) fullest = full;
  }
  if (count == 0) return;
  now->fields.fs_total_mib = mib(total);
  now->fields.fs_avail_mib = mib(available);
  now->fields.fs_fullest_pm = fullest;
  now->sets = BB_VALID_FILESYSTEMS;
}

void slow_filesystems(struct reading *now) {
  struct mounts *mounts = open_mounts(now, PARSE);
  if (mounts != NULL) add_file_systems(now, mounts);
  close_mounts(mounts);
}

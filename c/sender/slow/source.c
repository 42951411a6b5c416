#include "source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../base/folder.h"

void reading_begin(struct reading *now, const struct slow_world *world) {
  now->world = world;
  now->fields = (struct bb_report){0};
  now->sets = 0;
  now->flags = 0;
  now->partial = now->busy = now->rests = false;
  now->speeds = (struct speeds){0};
  now->mhz_groups = now->temp_groups = 0;
  now->complaint = now->used = 0;
}

void *allocate_memory(struct reading *now, size_t bytes) {
  const size_t at = (now->used + 7) & ~(size_t)7;
  if (at > sizeof now->memory || sizeof now->memory - at < bytes) return NULL;
  now->used = at + bytes;
  return now->memory + at;
}

void complain(struct reading *now, const char *first, ...) {
  if (now->complaint > 0) return;
  struct words words = WORDS(now->trouble);
  va_list rest;
  va_start(rest, first);
  for (const char *next = first; next != NULL; next = va_arg(rest, const char *)) add_text(&words, next);
  va_end(rest);
  text_of(&words);
  now->complaint = words.len;
}

bool too_many(struct reading *now, unsigned most, const char *what) {
  char digits[24];
  struct words words = WORDS(digits);
  add_number(&words, most);
  complain(now, "there are more than ", text_of(&words), " ", what, ": they are left out", (char *)NULL);
  return false;
}

uint64_t now_ms(void) { return machine->clocks().boot_ns / 1000000; }

bool end_members(struct reading *now, struct member_sum *sum, const char *what) {
  const bool is_known = sum_end(sum);
  if (sum->is_full) too_many(now, sum->room, what);
  return is_known;
}

size_t path_add(struct reading *now, struct span leaf) {
  const size_t before = now->path_len;
  struct words words = {now->path, sizeof now->path, before};
  add_span(&words, leaf);
  text_of(&words);
  now->path_len = words.len;
  return before;
}

size_t path_text(struct reading *now, const char *leaf) { return path_add(now, span_of(leaf)); }

size_t path_number(struct reading *now, uint64_t number) {
  char digits[24];
  struct words words = WORDS(digits);
  add_number(&words, number);
  return path_add(now, (struct span){digits, words.len});
}

void path_begin(struct reading *now, const char *root, const char *leaf) {
  path_cut(now, 0);
  path_text(now, root);
  path_text(now, leaf);
}

bool path_exists(struct reading *now) { return access(now->path, F_OK) == 0; }

bool cannot_read(struct reading *now, int error, size_t most) {
  char why[1024];
  struct words words = WORDS(why);
  add_unreadable(&words, now->path, error, most);
  complain(now, text_of(&words), (char *)NULL);
  return false;
}

static bool source_read(struct reading *now, enum how how, int flags, size_t most, struct span *text) {
  const int error = read_once(now->path, flags, most, now->text, SMALL_BYTES, text);
  if (error == 0) return true;
  if (how == PARSE || (how == MAYBE && !means_absent(now->path, error))) cannot_read(now, error, SMALL_BYTES);
  return false;
}

bool read_text(struct reading *now, enum how how, struct span *text) { return source_read(now, how, 0, 0, text); }

bool not_understood(struct reading *now, enum how how) {
  if (how != QUIETLY) complain(now, now->path, " has unexpected content: its readings are left out", (char *)NULL);
  return false;
}

bool parse_count(struct span text, uint64_t *count) {
  return ends(text, SPAN("\n")) && text_u64((struct span){text.at, text.len - 1}, count);
}

bool parse_integer(struct span text, int64_t *integer) {
  struct span left = text, digits;
  uint64_t value;
  const bool negative = eat(&left, SPAN("-"));
  if (!eat_digits(&left, 1, 15, &digits) || !span_is(left, SPAN("\n")) || !text_u64(digits, &value)) return false;
  *integer = negative ? -(int64_t)value : (int64_t)value;
  return true;
}

bool read_count(struct reading *now, enum how how, uint64_t *count) {
  struct span text;
  return read_text(now, how, &text) && (parse_count(text, count) || not_understood(now, how));
}

bool leaf_text(struct reading *now, const char *leaf, enum how how, struct span *text) {
  const size_t dir = path_text(now, leaf);
  const bool good = read_text(now, how, text);
  path_cut(now, dir);
  return good;
}

bool leaf_count(struct reading *now, const char *leaf, enum how how, uint64_t *count) {
  const size_t dir = path_text(now, leaf);
  const bool good = read_count(now, how, count);
  path_cut(now, dir);
  return good;
}

/* Names are read in pieces: folders with thousands of them are rare, and memory that was used once stays used. */
#define FOLDER_BYTES 4096u

/* The layout of a name in memory: its length, its bytes, a NUL. */
static struct span name_in(const char *memory, uint32_t at) {
  uint16_t length;
  memcpy(&length, memory + at, sizeof length);
  return (struct span){memory + at + sizeof length, length};
}

/* By length first: card2 before card10. */
static bool comes_before(struct span a, struct span b) {
  return a.len != b.len ? a.len < b.len : memcmp(a.at, b.at, a.len) < 0;
}

/* Shell's sort: folders have up to some thousands of names, mostly sorted. */
static void sort(const char *memory, uint32_t *places, unsigned count) {
  unsigned gap = 1;
  while (gap < count / 3) gap = gap * 3 + 1;
  for (; gap > 0; gap /= 3)
    for (unsigned i = gap; i < count; i++) {
      const uint32_t moved = places[i];
      unsigned k = i;
      for (; k >= gap && comes_before(name_in(memory, moved), name_in(memory, places[k - gap])); k -= gap)
        places[k] = places[k - gap];
      places[k] = moved;
    }
}

static bool has_leaf(struct reading *now, struct span name, const char *leaf) {
  const size_t dir = path_text(now, "/");
  path_add(now, name);
  path_text(now, leaf);
  const bool has = path_exists(now);
  path_cut(now, dir);
  return has;
}

struct names list_names(struct reading *now, name_filter *filter) { return list_names_with(now, filter, NULL); }

struct names list_names_with(struct reading *now, name_filter *filter, const char *leaf) {
  struct names names = {.memory = now->memory, .before = now->used};
  struct folder folder;
  if (folder_open(&folder, now->path, now->text, FOLDER_BYTES) != 0) return names;
  bool full = false;
  for (struct span name; !full && folder_next(&folder, &name);) {
    if (!filter(name) || (leaf != NULL && !has_leaf(now, name, leaf))) continue;
    const uint16_t length = (uint16_t)name.len;
    /* Their addresses come after them, when their number is known. */
    full = sizeof now->memory - now->used < name.len + 3 + (names.count + 3) * sizeof(uint32_t);
    if (full) break;
    char *to = now->memory + now->used;
    memcpy(to, &length, sizeof length);
    memcpy(to + sizeof length, name.at, name.len + 1);
    now->used += name.len + 3;
    names.count++;
  }
  folder_close(&folder);
  now->partial |= full;
  if (full) complain(now, "there are too many names in ", now->path, ": they are left out", (char *)NULL);
  uint32_t *places = allocate_memory(now, names.count * sizeof *places);
  uint32_t at = (uint32_t)names.before;
  for (unsigned i = 0; i < names.count; i++) {
    places[i] = at;
    at += (uint32_t)name_in(now->memory, at).len + 3;
  }
  sort(now->memory, places, names.count);
  names.places = places;
  return names;
}

struct span name_at(const struct names *names, unsigned i) { return name_in(names->memory, names->places[i]); }

void drop_names(struct reading *now, const struct names *names) { now->used = names->before; }

unsigned count_names(struct reading *now, name_filter *filter) {
  struct folder folder;
  unsigned count = 0;
  if (folder_open(&folder, now->path, now->text, FOLDER_BYTES) != 0) return 0;
  for (struct span name; folder_next(&folder, &name);) count += filter(name);
  folder_close(&folder);
  return count;
}

bool is_numbered(struct span name, struct span prefix, struct span suffix) {
  return eat(&name, prefix) && eat_digits(&name, 1, SIZE_MAX, NULL) && span_is(name, suffix);
}

/* The kernel knows the target of an open path; this asks the file systems less than following each link ourselves. */
bool real_path_here(const struct slow_world *world, const char *path, char into[REAL_PATH]) {
  (void)world;
  const int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
  if (fd == -1) return false;
  char link[40];
  struct words words = WORDS(link);
  add_text(&words, "/proc/self/fd/");
  add_number(&words, (unsigned)fd);
  const ssize_t length = readlink(text_of(&words), into, REAL_PATH - 1);
  close(fd);
  if (length <= 0) return false;
  into[length] = 0;
  return true;
}

bool file_system_here(const struct slow_world *world, const char *path, struct file_system *fs) {
  struct statvfs stats;
  char at[MOST_ROOT + REAL_PATH];
  struct words words = WORDS(at);
  add_text(&words, world->root);
  add_text(&words, path);
  if (statvfs(text_of(&words), &stats) != 0) return false;
  const bb_wide unit = stats.f_frsize;
  *fs = (struct file_system){stats.f_blocks * unit, stats.f_bavail * unit, stats.f_files, stats.f_ffree};
  return true;
}

bool sees_mount(const struct slow_world *world, const char *point, struct span device) {
  struct stat there, above;
  char number[24];
  struct words own = WORDS(number);
  char at[MOST_ROOT + REAL_PATH + 4];
  struct words words = WORDS(at);
  add_text(&words, world->root);
  add_text(&words, point);
  if (world->root[0] == 0 || strcmp(point, "/") == 0 || stat(text_of(&words), &there) != 0) return true;
  add_number(&own, major(there.st_dev));
  add_text(&own, ":");
  add_number(&own, minor(there.st_dev));
  if (span_is(device, span_of(text_of(&own)))) return true;
  add_text(&words, "/..");
  return stat(text_of(&words), &above) != 0 || there.st_dev != above.st_dev;
}

bool ask_file_system(struct reading *now, const char *path, struct file_system *fs) {
  if (!now->world->file_system(now->world, path, fs)) return false;
  /* Impossible values: no size, or more free than there is. */
  if (fs->total > 0 && fs->available <= fs->total && fs->inodes_free <= fs->inodes) return true;
  complain(now, "the file system at ", path, " reports an impossible size", (char *)NULL);
  return false;
}

/* Kept from one reading to the next. */
static pthread_mutex_t packages_lock = PTHREAD_MUTEX_INITIALIZER;
static struct topology packages;
static uint64_t packages_key; /* for the online CPUs, and the tree */
static bool packages_known;

const struct topology *lock_packages(struct reading *now, enum how how) {
  struct span text;
  unsigned count;
  path_begin(now, now->world->sys, "/devices/system/cpu/online");
  if (!read_text(now, how, &text)) return NULL;
  if (!parse_cpu_list(text, NULL, NULL, &count)) {
    not_understood(now, how);
    return NULL;
  }
  const uint64_t key = fingerprint(fingerprint(FINGERPRINT, span_of(now->world->sys)), text);
  now->busy = pthread_mutex_trylock(&packages_lock) != 0; /* another may hang with them: nobody waits */
  if (now->busy) return NULL;
  if (!packages_known || packages_key != key) {
    packages_key = key;
    packages_known = list_cpus(text, &packages) && read_topology(now->world->sys, &packages, now->text);
  }
  if (packages_known) return &packages;
  unlock_packages();
  return NULL;
}

void unlock_packages(void) { pthread_mutex_unlock(&packages_lock); }

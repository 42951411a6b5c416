/* The file is written beside its place and renamed, so that readers see the old or the new one. Nothing is synced to
 * a disk: /run has none, and what a crash leaves is outdated. The file also stays at the end: its age shows that
 * nobody writes it, and a sender without the file would take the processor's own graphics for the node's GPUs. */
#include "gpufile_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/fault.h"
#include "../base/lockfile.h"
#include "../base/say.h"
#include "../format/layout.gen.h"

static const uint64_t limits[GPU_WORDS] =
  {100, 150, 65534, UINT32_MAX, UINT32_MAX, BB_GPU_FLAGS_KNOWN, UINT32_MAX, UINT32_MAX};

static char place[MOST_PATH + 1], beside[MOST_PATH + 8], lock[MOST_PATH + 8], folder[MOST_PATH + 1];
static int lock_fd = -1;
static struct stat locked;

const char *gpufile_failed(const char *what, const char *path) {
  return fault("cannot %s %s: %s", what, path, strerror(errno));
}

static const char *gpufile_lock(void) {
  if (mkdir(folder, 0755) != 0 && errno != EEXIST) return gpufile_failed("make", folder);
  if (lock_fd != -1) close(lock_fd);
  lock_fd = bb_lockfile_open(AT_FDCWD, lock, &locked);
  if (lock_fd == -1)
    return errno == EPERM ? fault("%s belongs to somebody else; remove it, or write another --file", lock)
      : gpufile_failed("open", lock);
  if (flock(lock_fd, LOCK_EX | LOCK_NB) == 0) {
    /* For --release, which wakes this process. */
    if (ftruncate(lock_fd, 0) != 0 || dprintf(lock_fd, "%d\n", (int)getpid()) < 0) return gpufile_failed("write", lock);
    return NULL;
  }
  return errno == EWOULDBLOCK ? fault("another %s writes %s; end it first", program, place)
    : gpufile_failed("lock", lock);
}

/* Whether the lock file is still there: otherwise another process could make and lock a new one. */
static bool holds_lock(void) {
  struct stat there;
  return stat(lock, &there) == 0 && there.st_dev == locked.st_dev && there.st_ino == locked.st_ino;
}

/* A mistyped path must not replace another file. */
static const char *object_to(const char *path) {
  struct stat stats;
  char begun[4];
  if (lstat(path, &stats) != 0) return errno == ENOENT ? NULL : gpufile_failed("look at", path);
  if (S_ISREG(stats.st_mode) && stats.st_size == 0) return NULL;
  bool ours = false;
  const int fd = S_ISREG(stats.st_mode) ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
  if (fd != -1) {
    ours = read(fd, begun, sizeof begun) == sizeof begun && memcmp(begun, "gpu ", sizeof begun) == 0;
    close(fd);
  }
  return ours ? NULL : fault("%s is not a GPU file; remove it, or write another --file", path);
}

const char *gpufile_open(const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(place, sizeof place, "%s", path);
  snprintf(beside, sizeof beside, "%s.new", path);
  snprintf(lock, sizeof lock, "%s.lock", path);
  if (slash == NULL) snprintf(folder, sizeof folder, ".");
  else snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  const char *why = object_to(place);
  if (why == NULL) why = gpufile_lock();
  if (why == NULL) gpufile_abandon();
  return why;
}

void gpufile_abandon(void) { unlink(beside); }

static size_t gpufile_print(char *text, size_t room, const char *vendor, const struct gpu_line *lines,
                            unsigned count) {
  size_t length = (size_t)snprintf(text, room, "gpu 1 %s %u\n", vendor, count);
  for (unsigned i = 0; i < count; i++)
    for (unsigned word = 0; word < GPU_WORDS; word++) {
      const uint64_t value = lines[i].word[word];
      const char *end = word + 1 < GPU_WORDS ? " " : "\n";
      if (value > limits[word]) length += (size_t)snprintf(text + length, room - length, "-%s", end);
      else length += (size_t)snprintf(text + length, room - length, "%llu%s", (unsigned long long)value, end);
    }
  return length;
}

const char *gpufile_replace(const char *path, const char *text, size_t length, bool sync) {
  char next[MOST_PATH + 16];
  snprintf(next, sizeof next, "%s.new", path);
  unlink(next);
  const int fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  const char *why = NULL;
  errno = fd == -1 ? errno : ENOSPC; /* unless write() says otherwise: less was written than given */
  if (fd == -1) why = gpufile_failed("make", next);
  else if (write(fd, text, length) != (ssize_t)length || (sync && fsync(fd) != 0)) why = gpufile_failed("write", next);
  if (fd != -1) close(fd);
  if (why == NULL && rename(next, path) != 0) why = gpufile_failed("replace", path);
  if (why != NULL) unlink(next);
  return why;
}

const char *gpufile_write(const char *vendor, const struct gpu_line *lines, unsigned count) {
  static char text[32 + MOST_GPUS * 64];
  const size_t length = gpufile_print(text, sizeof text, vendor, lines, count);
  /* Somebody may have removed the folder, and our lock with it. */
  const char *why = holds_lock() ? NULL : gpufile_lock();
  return why != NULL ? why : gpufile_replace(place, text, length, false);
}

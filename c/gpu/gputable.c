#include "gputable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../base/lockfile.h"
#include "../base/say.h"
#include "../format/layout.gen.h"
#include "gpus_nvml.h"

struct gpu gpus[MOST_GPUS];
unsigned gpu_count;

/* The head: `gpus 1 BOOT UNTIL CLOSED GPUS`; then a line for each GPU: `ID PLACE WELL XIDS`. */
#define HEAD "gpus 1 "
#define MOST_TEXT (128u + MOST_GPUS * (ID_ROOM + PLACE_ROOM + 24u))

static char last[MOST_TEXT]; /* the file as it was read or written last */
static int64_t released_until_ms;
static bool released, moved;

static const char *failed(const char *what, const char *path) {
  return fault("cannot %s %s: %s", what, path, strerror(errno));
}

struct gpu *gpu_with(const char *id) {
  for (unsigned i = 0; i < gpu_count; i++)
    if (strcmp(gpus[i].id, id) == 0) return &gpus[i];
  return NULL;
}

struct gpu *gpu_at(const char *place) {
  for (unsigned i = 0; i < gpu_count && *place != 0; i++)
    if (strcmp(gpus[i].place, place) == 0) return &gpus[i];
  return NULL;
}

static struct gpu *fill(struct gpu *gpu, const char *id, const char *place) {
  *gpu = (struct gpu){.line.word[FLAGS] = BB_GPU_FLAGS_PRESENT};
  snprintf(gpu->id, sizeof gpu->id, "%s", id);
  snprintf(gpu->place, sizeof gpu->place, "%s", place);
  for (unsigned word = 0; word < GPU_WORDS; word++)
    if (word != FLAGS) gpu->line.word[word] = UNKNOWN;
  return gpu;
}

bool gpu_is_expected(const struct gpu *gpu) { return strncmp(gpu->id, "expected-", 9) == 0; }

struct gpu *gpu_append(const char *id, const char *place) {
  return gpu_count == MOST_GPUS ? NULL : fill(&gpus[gpu_count++], id, place);
}

/* `unread-N` stands for one whose line in the file is damaged. */
struct gpu *gpu_add(const char *id, const char *place) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++)
    if (gpu_is_expected(gpu) || strncmp(gpu->id, "unread-", 7) == 0) return fill(gpu, id, place);
  return gpu_append(id, place);
}

static const char *this_boot(void) {
  static char boot[40];
  const int fd = *boot != 0 ? -1 : open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd != -1) {
    const ssize_t length = read(fd, boot, 36);
    boot[length > 0 ? length : 0] = 0;
    close(fd);
  }
  return *boot != 0 ? boot : "-";
}

/* Without the GPUs that were only expected: they are known from the option. */
static void print(char *text) {
  unsigned count = 0;
  for (unsigned i = 0; i < gpu_count; i++) count += !gpu_is_expected(&gpus[i]);
  size_t length =
    (size_t)sprintf(text, HEAD "%s %lld %d %u\n", this_boot(), (long long)released_until_ms, released, count);
  for (const struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++)
    if (!gpu_is_expected(gpu))
      length += (size_t)sprintf(text + length, "%s %s %s %u\n", gpu->id, *gpu->place == 0 ? "-" : gpu->place,
                                gpu->lost ? "lost" : "well", gpu->xids);
}

/* Takes over what the file says; a GPU that it had before and has no more was forgotten. */
static void parse(const char *text) {
  char boot[40], id[ID_ROOM], place[PLACE_ROOM], well[8];
  long long until;
  int closed;
  unsigned xids, count = 0, found = 0;
  bool kept[MOST_GPUS] = {false};
  if (sscanf(text, HEAD "%39s %lld %d %u", boot, &until, &closed, &count) != 4) {
    if (*text != 0) say(SAY_ERROR, "the table of GPUs was damaged; a GPU that is gone is not missed", (char *)NULL);
    return;
  }
  const bool same = strcmp(boot, this_boot()) == 0;
  released_until_ms = same ? until : 0;
  released = same && closed;
  for (const char *line = strchr(text, '\n'); line != NULL && line[1] != 0; line = strchr(line + 1, '\n')) {
    if (sscanf(line + 1, "%95s %15s %7s %u", id, place, well, &xids) != 4) continue;
    struct gpu *gpu = gpu_with(id);
    if (gpu == NULL) {
      gpu = gpu_add(id, strcmp(place, "-") == 0 ? "" : place);
      if (gpu == NULL) continue;
      gpu->lost = strcmp(well, "lost") == 0;
      gpu->xids = same ? xids : 0;
    }
    gpu->stored = kept[gpu - gpus] = true;
    found++;
  }
  const bool damaged = found < count;
  if (damaged)
    say(SAY_ERROR, fault("the table of GPUs was damaged: %u of its %u lines can be read", found, count), (char *)NULL);
  while (damaged && gpu_count < count && gpu_count < MOST_GPUS) {
    snprintf(id, sizeof id, "unread-%u", gpu_count);
    gpu_append(id, "");
  }
  unsigned left = 0;
  for (unsigned i = 0; i < gpu_count; i++)
    if (kept[i] || !gpus[i].stored || damaged) gpus[left++] = gpus[i];
    else say(SAY_INFO, fault("GPU %u (%s) is forgotten", i, gpus[i].id), (char *)NULL);
  moved |= left < gpu_count;
  gpu_count = left;
}

bool gputable_has_moved(void) {
  const bool has = moved;
  moved = false;
  return has;
}

/* The text of the file, "" if there is none. */
static const char *load(const char *path, char *text) {
  *text = 0;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd == -1) return errno == ENOENT ? NULL : failed("open", path);
  const ssize_t length = read(fd, text, MOST_TEXT - 1);
  text[length > 0 ? length : 0] = 0;
  close(fd);
  if (length < 0) return failed("read", path);
  if (length == 0) strcpy(text, "\n"); /* a damaged one, too */
  if (length == 0 || strncmp(text, HEAD, strlen(HEAD)) == 0) return NULL;
  return fault("%s is no table of GPUs; remove it", path);
}

/* Whole, and on the disk: it is to be there after a crash. */
static const char *store(const char *path, const char *text) {
  char beside[MOST_PATH + 16];
  snprintf(beside, sizeof beside, "%s.new", path);
  unlink(beside);
  const int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd == -1) return failed("make", beside);
  const size_t length = strlen(text);
  errno = ENOSPC;
  const bool good = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
  close(fd);
  if (good && rename(beside, path) == 0) return NULL;
  const char *why = failed("write", path);
  unlink(beside);
  return why;
}

/* Held while the file is read and written, never while the library is asked. The helper does not wait for it. */
static int lock(const char *path, int waiting) {
  char name[MOST_PATH + 16];
  struct stat stats;
  snprintf(name, sizeof name, "%s", path);
  char *slash = strrchr(name, '/');
  if (slash != NULL && slash != name) {
    *slash = 0;
    mkdir(name, 0755);
  }
  snprintf(name, sizeof name, "%s.lock", path);
  const int fd = bb_lockfile_open(AT_FDCWD, name, &stats);
  if (fd == -1 || flock(fd, LOCK_EX | waiting) == 0) return fd;
  close(fd);
  errno = EWOULDBLOCK;
  return -1;
}

static bool told_of_reading, told_of_writing;

void gputable_read(const char *path) {
  static char text[MOST_TEXT];
  gpus_step_out();
  const char *why = load(path, text);
  gpus_step_in();
  tell_once(&told_of_reading, why == NULL, why, "; a GPU that does not come back is not missed", "");
  if (why != NULL || strcmp(text, last) == 0) return;
  memcpy(last, text, sizeof last);
  parse(text);
}

void gputable_write(const char *path) {
  static char text[MOST_TEXT];
  print(text);
  if (strcmp(text, last) == 0) return;
  static unsigned busy;
  gpus_step_out();
  const int held = lock(path, LOCK_NB);
  gpus_step_in();
  /* Whoever changes the file has it for a moment. */
  if (held == -1 && errno == EWOULDBLOCK && ++busy < 10) return;
  const char *why = held == -1 ? failed("lock", path) : NULL;
  if (why == NULL) {
    busy = 0;
    gputable_read(path);
    print(text);
    gpus_step_out();
    why = told_of_reading ? NULL : store(path, text);
    close(held);
    gpus_step_in();
  }
  tell_once(&told_of_writing, why == NULL, why, "; a GPU that does not come back is not missed", "");
  if (why != NULL) return;
  memcpy(last, text, sizeof last);
  for (unsigned i = 0; i < gpu_count; i++) gpus[i].stored = !gpu_is_expected(&gpus[i]);
}

/* Reads the file into the table of this process, which is another than the helper, and writes what `change` made. */
static const char *change_file(const char *path, const char *(*change)(const void *), const void *how) {
  static char text[MOST_TEXT];
  const int held = lock(path, 0);
  if (held == -1) return failed("lock", path);
  const char *why = load(path, text);
  if (why == NULL) parse(text);
  if (why == NULL) why = change(how);
  if (why == NULL) {
    print(text);
    why = store(path, text);
  }
  close(held);
  return why;
}

static const char *take_out(const void *id) {
  struct gpu *gpu = gpu_with(id);
  if (gpu == NULL) return fault("there is no GPU '%s' in the table", (const char *)id);
  memmove(gpu, gpu + 1, (size_t)(gpus + gpu_count - gpu - 1) * sizeof *gpu);
  gpu_count--;
  return NULL;
}

const char *gputable_forget(const char *path, const char *id) { return change_file(path, take_out, id); }

static const char *set_until(const void *until_ms) {
  released_until_ms = *(const int64_t *)until_ms;
  released = false;
  return NULL;
}

const char *gputable_release(const char *path, int64_t until_ms) { return change_file(path, set_until, &until_ms); }

int64_t gputable_released_until(void) {
  if (released_until_ms != 0 && bb_clock_ms(CLOCK_BOOTTIME) >= released_until_ms) released_until_ms = 0;
  if (released_until_ms == 0) released = false;
  return released_until_ms;
}

void gputable_set_released(bool is) { released = is; }
bool gputable_is_released(void) { return released; }

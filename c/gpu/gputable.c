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

/* The head: `gpus 1 BOOT UNTIL CLOSED GPUS`; a line for each GPU: `ID PLACE WELL XIDS`, and ` amd` where it is AMD's;
 * `end`. */
#define HEAD "gpus 1 "
static const char *const wells[2][2] = {{"new", "well"}, {"mute", "lost"}}; /* lost; and seen */
#define MOST_TEXT (128u + MOST_GPUS * (ID_ROOM + PLACE_ROOM + 24u))

static char last[MOST_TEXT]; /* the file as it was read or written last */
static int64_t released_until_ms;
bool gputable_is_released, gputable_has_moved;

struct gpu *gpu_with(const char *id) {
  for (unsigned i = 0; i < gpu_count; i++)
    if (strcmp(gpus[i].id, id) == 0) return &gpus[i];
  return NULL;
}

struct gpu *gpu_at(const char *place, bool amd) {
  for (unsigned i = 0; i < gpu_count && *place != 0; i++)
    if (gpus[i].amd == amd && strcmp(gpus[i].place, place) == 0) return &gpus[i];
  return NULL;
}

struct gpu *gpu_add(const char *id, const char *place) {
  char number[20] = "number-0";
  for (unsigned i = gpu_count; id == NULL && gpu_with(number) != NULL; i++) sprintf(number, "number-%u", i);
  if (gpu_count == MOST_GPUS) return NULL;
  struct gpu *gpu = &gpus[gpu_count++];
  *gpu = (struct gpu){0};
  snprintf(gpu->id, sizeof gpu->id, "%s", id != NULL ? id : number);
  snprintf(gpu->place, sizeof gpu->place, "%s", place);
  for (unsigned i = 0; i < GPU_WORDS; i++) gpu->line.word[i] = i == FLAGS ? BB_GPU_FLAGS_PRESENT : UNKNOWN;
  return gpu;
}

bool gpu_is_nameless(const struct gpu *gpu) { return strncmp(gpu->id, "number-", 7) == 0; }

void gpu_remove(struct gpu *gpu) {
  memmove(gpu, gpu + 1, (size_t)(gpus + gpu_count - gpu - 1) * sizeof *gpu);
  gpu_count--;
}

static const char *this_boot(void) {
  static char boot[64];
  if (*boot == 0 && leaf_read("/proc/sys/kernel/random", "boot_id", boot) != 0) return "-";
  boot[strcspn(boot, "\n")] = 0;
  return boot;
}

/* Without the GPUs that were only expected: they are known from the option. */
static void print(char *text) {
  unsigned count = 0;
  for (unsigned i = 0; i < gpu_count; i++) count += !gpus[i].expected;
  size_t length = (size_t)sprintf(text, HEAD "%s %lld %d %u\n", this_boot(), (long long)released_until_ms,
                                  gputable_is_released, count);
  for (const struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++)
    if (!gpu->expected)
      length += (size_t)sprintf(text + length, "%s %s %s %u%s\n", gpu->id, *gpu->place == 0 ? "-" : gpu->place,
                                wells[gpu->lost][gpu->seen], gpu->xids, gpu->amd ? " amd" : "");
  strcpy(text + length, "end\n");
}

/* What a line says of a GPU, and which one it is. */
static bool parse_line(const char *line, struct gpu *gpu) {
  char well[5], amd[5] = "";
  *gpu = (struct gpu){0};
  const int words = sscanf(line, "%95s %15s %4s %u%4[ amd]", gpu->id, gpu->place, well, &gpu->xids, amd);
  gpu->amd = *amd != 0;
  if (words < 4 || (strchr(gpu->place, ':') == NULL && strcmp(gpu->place, "-") != 0)) return false;
  for (int i = 0; i < 4; i++)
    if (gpu->lost = i / 2, gpu->seen = i % 2, strcmp(well, wells[i / 2][i % 2]) == 0) return true;
  return false;
}

/* Takes over what the file says; a GPU that it had before and has no more was forgotten. */
static void parse(const char *text) {
  char boot[40];
  long long until = 0;
  int closed = 0;
  unsigned count = 0, found = 0, lines = 0;
  bool kept[MOST_GPUS] = {false}, ends = false;
  const bool has_head = sscanf(text, HEAD "%39s %lld %d %u", boot, &until, &closed, &count) == 4;
  const bool same = has_head && strcmp(boot, this_boot()) == 0;
  /* None is asked for that is longer than a day. */
  released_until_ms = same && until <= bb_clock_ms(CLOCK_BOOTTIME) + 86400000 ? until : 0;
  gputable_is_released = closed;
  for (const char *line = strchr(text, '\n'); line != NULL && line[1] != 0 && !ends; line = strchr(line + 1, '\n')) {
    struct gpu read;
    ends = strcmp(line, "\nend\n") == 0;
    lines += !ends && strchr(line + 1, '\n') != NULL;
    if (ends || !parse_line(line + 1, &read)) continue;
    struct gpu *gpu = gpu_with(read.id);
    if (gpu == NULL) {
      if ((gpu = gpu_add(read.id, *read.place == '-' ? "" : read.place)) == NULL) continue;
      gpu->lost = read.lost, gpu->seen = read.seen, gpu->amd = read.amd;
      gpu->xids = same ? read.xids : 0;
    }
    gpu->stored = kept[gpu - gpus] = true;
    found++;
  }
  if (!has_head || (ends && lines < count)) count = lines;
  const bool damaged = !has_head || found < count;
  if (damaged && count > 0)
    say(SAY_ERROR, fault("the table of GPUs was damaged: %u of its %u lines can be read", found, count), (char *)NULL);
  else if (damaged && *text != 0)
    say(SAY_ERROR, "the table of GPUs was damaged; a GPU that is gone is not missed", (char *)NULL);
  while (damaged && gpu_count < count && gpu_add(NULL, "") != NULL) {}
  unsigned left = 0;
  for (unsigned i = 0; i < gpu_count; i++)
    if (kept[i] || !gpus[i].stored || damaged) gpus[left++] = gpus[i];
    else say(SAY_INFO, fault("GPU %u (%s) is forgotten", i, gpus[i].id), (char *)NULL);
  gputable_has_moved |= left < gpu_count;
  gpu_count = left;
}

/* The text of the file, "" if there is none. */
static const char *load(const char *path, char *text) {
  *text = 0;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd == -1) return errno == ENOENT ? NULL : gpufile_failed("open", path);
  const ssize_t length = read(fd, text, MOST_TEXT - 1);
  text[length > 0 ? length : 0] = 0;
  close(fd);
  if (length < 0) return gpufile_failed("read", path);
  /* After a crash it may be empty, or all zeros. */
  const bool is_blank = length == 0 || (*text == 0 && memcmp(text, text + 1, (size_t)length - 1) == 0);
  if (is_blank) strcpy(text, "\n"); /* a damaged one, too */
  bool is_ours = is_blank || strncmp(text, HEAD, strlen(HEAD)) == 0;
  struct gpu gpu;
  /* The head may be damaged, or of another version. */
  for (const char *line = text; !is_ours && strncmp(text, "gpus ", 5) != 0 && (line = strchr(line, '\n')) != NULL;)
    is_ours = parse_line(++line, &gpu);
  return is_ours ? NULL : fault("%s is no table of GPUs; remove it", path);
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
  return bb_lockfile_take(AT_FDCWD, name, waiting, &stats);
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
  const char *why = held == -1 ? gpufile_failed("lock", path) : NULL;
  if (why == NULL) {
    busy = 0;
    gputable_read(path);
    print(text);
    gpus_step_out();
    why = told_of_reading ? NULL : gpufile_replace(path, text, strlen(text), true);
    close(held);
    gpus_step_in();
  }
  tell_once(&told_of_writing, why == NULL, why, "; a GPU that does not come back is not missed", "");
  if (why != NULL) return;
  memcpy(last, text, sizeof last);
  for (unsigned i = 0; i < gpu_count; i++) gpus[i].stored = !gpus[i].expected;
}

const char *gputable_change(const char *path, const char *forget, int64_t until_ms) {
  static char text[MOST_TEXT];
  const int held = lock(path, 0);
  if (held == -1) return gpufile_failed("lock", path);
  const char *why = load(path, text);
  if (why == NULL) parse(text);
  struct gpu *gpu = forget == NULL ? NULL : gpu_with(forget);
  if (why == NULL && forget != NULL && gpu == NULL) why = fault("there is no GPU '%s' in the table", forget);
  if (gpu != NULL) gpu_remove(gpu);
  else released_until_ms = until_ms, gputable_is_released = false;
  if (why == NULL) {
    print(text);
    why = gpufile_replace(path, text, strlen(text), true);
  }
  close(held);
  return why;
}

int64_t gputable_released_until(void) {
  if (released_until_ms != 0 && bb_clock_ms(CLOCK_BOOTTIME) >= released_until_ms) released_until_ms = 0;
  if (released_until_ms == 0) gputable_is_released = false;
  return released_until_ms;
}


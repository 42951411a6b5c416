/* AMD's GPUs from the files of their driver, as "AMD's GPUs" in proto/stat-v1.md has it. A file may hang. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../format/layout.gen.h"
#include "gputable.h"

static char folder[600]; /* of the device */
static int read_leaf(const char *leaf, char text[64]) { return leaf_read(folder, leaf, text); }

/* A number from `least` to `most`, in whole units; else UNKNOWN. */
static uint64_t number_in(const char *text, long long unit, long long least, long long most) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  const bool is_good = errno == 0 && end != text && *end == '\n' && value >= least && value <= most;
  return is_good ? (uint64_t)(value / unit) : UNKNOWN;
}

/* A reading for which the GPU itself is asked. One that it does not have is no failure. */
static uint64_t ask(struct gpu *to, const char *leaf, long long unit, long long least, long long most) {
  char text[64];
  const int status = read_leaf(leaf, text);
  to->answers += status == 0;
  if (status == 0) return number_in(text, unit, least, most);
  if (status != ENOENT && status != EOPNOTSUPP && status != EINVAL && status != EACCES && status != ENODATA)
    to->failures++, to->status = status;
  return UNKNOWN;
}

/* The errors of all blocks, and the uncorrected ones of the memory: kept by the driver, so they prove nothing. */
static void read_ras(uint64_t *word) {
  char path[640], text[64];
  uint64_t all = 0, memory = UNKNOWN;
  unsigned long long ue, ce;
  snprintf(path, sizeof path, "%s/ras", folder);
  DIR *const dir = opendir(path);
  for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
    const size_t length = strlen(entry->d_name);
    if (length < 11 || strcmp(entry->d_name + length - 10, "_err_count") != 0) continue;
    snprintf(path, sizeof path, "ras/%s", entry->d_name);
    if (read_leaf(path, text) != 0 || sscanf(text, "ue: %llu\nce: %llu", &ue, &ce) != 2) all = UNKNOWN;
    else if (all != UNKNOWN) all += ue + ce;
    if (all != UNKNOWN && strcmp(entry->d_name, "umc_err_count") == 0) memory = ue;
  }
  if (dir != NULL) closedir(dir);
  if (all == UNKNOWN || memory == UNKNOWN) return;
  word[ERRORS] = all;
  word[ECC_UE] = memory;
  if (memory > 0) word[FLAGS] |= BB_GPU_FLAGS_ECC_ERROR;
}

static int is_hwmon(const struct dirent *entry) { return strncmp(entry->d_name, "hwmon", 5) == 0; }

void amd_read(const char *sys, struct gpu *to) {
  char leaf[64] = "", path[300];
  struct dirent **hwmons;
  uint64_t *const word = to->line.word;
  for (unsigned i = 0; i < GPU_WORDS; i++) word[i] = i == FLAGS ? BB_GPU_FLAGS_PRESENT : UNKNOWN;
  snprintf(folder, sizeof folder, "%s/bus/pci/devices/%s/hwmon", sys, to->place);
  const int chips = scandir(folder, &hwmons, is_hwmon, versionsort);
  *strrchr(folder, '/') = 0;
  const bool sleeps = read_leaf("power/runtime_status", leaf) == 0 && strncmp(leaf, "suspended", 9) == 0;
  if (!sleeps) word[UTIL_PCT] = ask(to, "gpu_busy_percent", 1, 0, 100);
  /* The first that is known of each, of the first chip. */
  static const char *const sensors[] = {"temp1_input", "temp2_input", "power1_average", "power1_input"};
  for (unsigned i = 0; i < 4 && chips > 0 && !sleeps; i++) {
    snprintf(path, sizeof path, "hwmon/%s/%s", hwmons[0]->d_name, sensors[i]);
    if (i < 2 && word[TEMP_C] == UNKNOWN) word[TEMP_C] = ask(to, path, 1000, 0, 150000);
    if (i >= 2 && word[POWER_W] == UNKNOWN) word[POWER_W] = ask(to, path, 1000000, 1000000, 65534999999);
  }
  for (int i = 0; i < chips; i++) free(hwmons[i]);
  if (chips >= 0) free(hwmons);
  const uint64_t total = read_leaf("mem_info_vram_total", leaf) == 0 ? number_in(leaf, 1, 1, INT64_MAX) : UNKNOWN;
  /* The driver has taken all of its files away, and is still bound. */
  if (!sleeps && *leaf == 0 && chips <= 0 && to->answers + to->failures == 0) to->failures++, to->status = ENODEV;
  const uint64_t used = read_leaf("mem_info_vram_used", leaf) == 0 ? number_in(leaf, 1, 0, INT64_MAX) : UNKNOWN;
  if (total != UNKNOWN && used <= total) word[MEM_USED_MIB] = used >> 20, word[MEM_TOTAL_MIB] = total >> 20;
  if (word[UTIL_PCT] != UNKNOWN && word[UTIL_PCT] > 0) word[FLAGS] |= BB_GPU_FLAGS_IN_USE;
  read_leaf("current_compute_partition", leaf);
  if (*leaf != 0 && strchr("DTQC", *leaf) != NULL && strncmp(leaf + 1, "PX", 2) == 0)
    word[FLAGS] |= BB_GPU_FLAGS_PARTITIONED;
  if (!sleeps) read_ras(word);
}

#include "gpus_amd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../format/layout.gen.h"

/* The first bytes of a file below the device; an errno if there are none. */
static int read_leaf(int device, const char *leaf, char text[64]) {
  const int fd = openat(device, leaf, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return errno;
  const ssize_t length = read(fd, text, 63);
  const int status = length > 0 ? 0 : length == 0 ? EIO : errno;
  close(fd);
  text[length > 0 ? length : 0] = 0;
  return status;
}

static bool is_none(int status) {
  return status == ENOENT || status == EOPNOTSUPP || status == EINVAL || status == EACCES || status == ENODATA;
}

/* A number from `least` to `most`, in whole units; else UNKNOWN. */
static uint64_t number_in(const char *text, int64_t unit, int64_t least, int64_t most) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\n' || value < least || value > most) return UNKNOWN;
  return (uint64_t)(value / unit);
}

/* A reading for which the GPU is asked. */
static uint64_t ask(struct amd_reading *to, int device, const char *leaf, int64_t unit, int64_t least, int64_t most) {
  char text[64];
  const int status = read_leaf(device, leaf, text);
  to->answers += status == 0;
  if (status == 0) return number_in(text, unit, least, most);
  if (is_none(status)) return UNKNOWN;
  to->failures++;
  to->status = status;
  return UNKNOWN;
}

/* The first hwmon of the device by number; "": there is none. */
static void find_hwmon(int device, char name[64]) {
  const int fd = openat(device, "hwmon", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const dir = fd == -1 ? NULL : fdopendir(fd);
  long first = -1;
  for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
    char *end;
    const long number = strncmp(entry->d_name, "hwmon", 5) == 0 ? strtol(entry->d_name + 5, &end, 10) : -1;
    if (number >= 0 && *end == 0 && (first < 0 || number < first)) first = number;
  }
  if (dir != NULL) closedir(dir);
  else if (fd != -1) close(fd);
  *name = 0;
  if (first >= 0) snprintf(name, 64, "hwmon/hwmon%ld/", first);
}

static uint64_t ask_sensor(struct amd_reading *to, int device, const char *hwmon, const char *leaves[2], int64_t unit,
                           int64_t least, int64_t most) {
  uint64_t value = UNKNOWN;
  char path[96];
  for (int i = 0; i < 2 && value == UNKNOWN && *hwmon != 0; i++) {
    snprintf(path, sizeof path, "%s%s", hwmon, leaves[i]);
    value = ask(to, device, path, unit, least, most);
  }
  return value;
}

/* The errors of all blocks, and the uncorrected ones of the memory. They are kept by the driver, and prove nothing. */
static void read_ras(int device, struct gpu_line *line) {
  const int fd = openat(device, "ras", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const dir = fd == -1 ? NULL : fdopendir(fd);
  uint64_t all = 0, memory = UNKNOWN;
  bool whole = dir != NULL;
  for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
    const size_t length = strlen(entry->d_name);
    char text[64];
    unsigned long long ue, ce;
    if (length < 11 || strcmp(entry->d_name + length - 10, "_err_count") != 0) continue;
    if (read_leaf(fd, entry->d_name, text) != 0 || sscanf(text, "ue: %llu\nce: %llu", &ue, &ce) != 2) whole = false;
    else {
      all += ue + ce;
      if (strcmp(entry->d_name, "umc_err_count") == 0) memory = ue;
    }
  }
  if (dir != NULL) closedir(dir);
  else if (fd != -1) close(fd);
  if (!whole || memory == UNKNOWN) return;
  line->word[ERRORS] = all;
  line->word[ECC_UE] = memory;
  if (memory > 0) line->word[FLAGS] |= BB_GPU_FLAGS_ECC_ERROR;
}

void amd_read(const char *sys, const char *place, struct amd_reading *to) {
  static const char *temperatures[2] = {"temp1_input", "temp2_input"};
  static const char *powers[2] = {"power1_average", "power1_input"};
  char text[600], leaf[64], hwmon[64];
  *to = (struct amd_reading){.line.word[FLAGS] = BB_GPU_FLAGS_PRESENT};
  uint64_t *const word = to->line.word;
  for (unsigned i = 0; i < GPU_WORDS; i++)
    if (i != FLAGS) word[i] = UNKNOWN;
  snprintf(text, sizeof text, "%s/bus/pci/devices/%s", sys, place);
  const int device = open(text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (device == -1) {
    to->failures = 1;
    to->status = errno;
    return;
  }
  const bool sleeps = read_leaf(device, "power/runtime_status", leaf) == 0 && strncmp(leaf, "suspended", 9) == 0;
  if (!sleeps) {
    find_hwmon(device, hwmon);
    word[UTIL_PCT] = ask(to, device, "gpu_busy_percent", 1, 0, 100);
    word[TEMP_C] = ask_sensor(to, device, hwmon, temperatures, 1000, 0, 150000);
    word[POWER_W] = ask_sensor(to, device, hwmon, powers, 1000000, 1000000, 65534999999);
  }
  const bool has_total = read_leaf(device, "mem_info_vram_total", leaf) == 0;
  const uint64_t total = has_total ? number_in(leaf, 1, 1, INT64_MAX) : UNKNOWN;
  /* The driver has taken all of its files away, and is still bound. */
  if (!sleeps && !has_total && *hwmon == 0 && to->answers + to->failures == 0) {
    to->failures = 1;
    to->status = ENODEV;
  }
  const uint64_t used =
    read_leaf(device, "mem_info_vram_used", leaf) == 0 ? number_in(leaf, 1, 0, INT64_MAX) : UNKNOWN;
  if (total != UNKNOWN && used != UNKNOWN && used <= total) {
    word[MEM_USED_MIB] = used >> 20;
    word[MEM_TOTAL_MIB] = total >> 20;
  }
  if (word[UTIL_PCT] != UNKNOWN && word[UTIL_PCT] > 0) word[FLAGS] |= BB_GPU_FLAGS_IN_USE;
  const char *const mode = read_leaf(device, "current_compute_partition", leaf) == 0 ? leaf : "";
  if (*mode != 0 && strchr("DTQC", *mode) != NULL && strncmp(mode + 1, "PX", 2) == 0)
    word[FLAGS] |= BB_GPU_FLAGS_PARTITIONED;
  if (!sleeps) read_ras(device, &to->line);
  close(device);
}

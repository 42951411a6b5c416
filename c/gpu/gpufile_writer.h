/* The GPU file: its text, and how it comes into its place, whole or not at all. See "Files of others" in proto/stat-v1.md. */
#ifndef BB_GPU_GPUFILE_H
#define BB_GPU_GPUFILE_H
#include <stdint.h>

#define MOST_GPUS 255u
#define MOST_PATH 512u

/* The words of a GPU's line. */
enum { UTIL_PCT, TEMP_C, POWER_W, MEM_USED_MIB, MEM_TOTAL_MIB, FLAGS, ERRORS, ECC_UE, WORDS };

/* Beyond the limit of any word. What is beyond its limit is written as not known. */
#define UNKNOWN UINT64_MAX

struct line {
  uint64_t word[WORDS];
};

/* Takes the folder of the file, which is made where it is missing, for this process alone, and removes what a helper before
 * us may have left half done. NULL, or why not. */
const char *gpufile_open(const char *path);
/* NULL, or why not; then the file is as it was. */
const char *gpufile_write(const struct line *lines, unsigned count);
/* Removes what is half done. Any signal handler may call it. */
void gpufile_abandon(void);

#endif

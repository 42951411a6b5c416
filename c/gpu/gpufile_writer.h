/* The GPU file: its text, and how it is replaced atomically. See "Files of others" in proto/stat-v1.md. */
#ifndef BB_GPUFILE_WRITER_H
#define BB_GPUFILE_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_GPUS 255u
#define MOST_PATH 512u

/* The words of a GPU's line. */
enum { UTIL_PCT, TEMP_C, POWER_W, MEM_USED_MIB, MEM_TOTAL_MIB, FLAGS, ERRORS, ECC_UE, GPU_WORDS };

/* Beyond the limit of any word. A value beyond its limit is written as unknown. */
#define UNKNOWN UINT64_MAX

struct gpu_line {
  uint64_t word[GPU_WORDS];
};

/* Locks the folder of the file for this process alone, makes it if it is missing, and removes what an earlier helper
 * may have left half done. NULL, or the error. */
const char *gpufile_open(const char *path);
/* NULL, or the error; then the file is unchanged. */
const char *gpufile_write(const char *vendor, const struct gpu_line *lines, unsigned count);
/* Replaces a file by that text, as a whole; with `sync` it is there after a crash. NULL, or the error. */
const char *gpufile_replace(const char *path, const char *text, size_t length, bool sync);
/* "cannot WHAT PATH: " and errno's words. */
const char *gpufile_failed(const char *what, const char *path);
/* Removes a half-written file. May be called from a signal handler. */
void gpufile_abandon(void);

#endif

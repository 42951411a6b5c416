/* The GPUs as NVML tells of them. Any call may hang: then this process stands still, and nothing else. */
#ifndef BB_GPU_GPUS_H
#define BB_GPU_GPUS_H
#include <stdbool.h>

#include "gpufile_writer.h"

/* Loads the library and finds the GPUs. NULL, or why not; then nothing is open. What was counted before goes on. */
const char *gpus_open(const char *library);
void gpus_close(void);
/* Reads them all. NULL, or why the library is of no use any more and wants to be opened anew. */
const char *gpus_read(const struct line **lines, unsigned *count);
/* Whether one of them can only come back when the library is opened anew. */
bool gpus_are_lost(void);

#endif

/* The GPUs as NVML reports them. Any call may hang: then only this process stands still. */
#ifndef BB_GPUS_NVML_H
#define BB_GPUS_NVML_H
#include <stdbool.h>

#include "gpufile_writer.h"

/* Loads the library and finds the GPUs. NULL, or the error; then nothing is open. Counters continue from earlier
 * values. */
const char *gpus_open(const char *library);
void gpus_close(void);
/* Reads all GPUs. NULL, or why the library is not usable any more and has to be opened again. */
const char *gpus_read(const struct gpu_line **lines, unsigned *count);
/* Whether one of them can only come back when the library is opened again. */
bool gpus_are_lost(void);

#endif

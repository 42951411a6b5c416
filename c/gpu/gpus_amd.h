/* AMD's GPUs from the files of their driver, as "AMD's GPUs" in proto/stat-v1.md has it. A file may hang. */
#ifndef BB_GPUS_AMD_H
#define BB_GPUS_AMD_H
#include "gpufile_writer.h"

struct amd_reading {
  struct gpu_line line;
  unsigned answers;  /* readings that the GPU itself gave */
  unsigned failures; /* those that failed otherwise than because it has none */
  int status;        /* of the last one, an errno */
};

/* Reads the GPU at that place on the PCI bus. A GPU that sleeps is not woken: it gives no reading, and fails none. */
void amd_read(const char *sys, const char *place, struct amd_reading *to);

#endif

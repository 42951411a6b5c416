/* The source of the GPU sets: the GPU file if it exists, otherwise AMD's cards. Never mixes the two, and loads no
 * vendor library: those hang. */
#include "gpu.h"

#define TOO_OLD_S 10

void slow_gpu(struct reading *now) {
  static struct gpu_file file;
  /* An existing file decides alone, even if it is invalid or too old: a node whose helper died must not seem to have
   * another number of GPUs because its processor contains a small one. */
  const enum external there = read_external_file(now, "/gpu", parse_gpu_file, &file, TOO_OLD_S);
  if (there == EXTERNAL_BAD) return;
  if (there == EXTERNAL_ABSENT) {
    file.vendor = BB_GPU_VENDOR_AMD;
    gpus_begin(&file.gpus);
    read_amd_gpus(now, &file.gpus);
    if (file.gpus.count == 0) return;
  }
  gpus_end(&file.gpus, file.vendor, now);
}

/* The source of the GPU sets: the GPU file where there is one, else AMD's cards. Refuses to mix the two, and to load any
 * vendor's library: those hang. */
#include "gpu.h"

#define TOO_OLD_S 10

void slow_gpu(struct reading *now) {
  static struct gpu_file file;
  /* A file that is there decides alone, though it be broken or too old: a node whose helper died must not turn into one with
   * another number of GPUs, because a processor brings a small one of its own. */
  const enum others there = read_others(now, "/gpu", parse_gpu_file, &file, TOO_OLD_S, NULL);
  if (there == OTHERS_BAD) return;
  if (there == OTHERS_ABSENT) {
    file.vendor = BB_GPU_VENDOR_AMD;
    gpus_begin(&file.gpus);
    take_amd(now, &file.gpus);
    if (file.gpus.count == 0) return;
  }
  gpus_end(&file.gpus, file.vendor, now);
}

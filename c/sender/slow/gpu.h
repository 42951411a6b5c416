/* The GPUs in the report: their number, up to eight entries, their errors. Reads nothing; gpufile and gpuamd do. */
#ifndef BB_GPU_H
#define BB_GPU_H
#include "source.h"

#define GPU_SLOTS 8u
/* `gpu_count` cannot hold more. */
#define MOST_GPUS 255u

/* A GPU as its source reports it; an unknown value has a flag. */
enum {
  GPU_UTIL = 1, GPU_TEMP = 2, GPU_POWER = 4, GPU_MEM_USED = 8, GPU_MEM_TOTAL = 16, GPU_ERRORS = 32, GPU_ECC = 64
};

struct gpu {
  unsigned known;
  uint64_t util_pct, temp_c;
  bb_wide power_w, mem_used_mib, mem_total_mib, errors, ecc_ue;
  uint8_t flags; /* bits of gpu_flags */
};

/* The GPUs so far. The eighth entry includes the ninth and all later ones. */
struct gpus {
  unsigned count, busy;
  struct gpu slot[GPU_SLOTS];
  unsigned utils;        /* the number of known values in the last entry, for the mean */
  bool errors_known;     /* of every GPU */
  uint32_t errors, ecc_ue; /* modulo 2^32 */
};

void gpus_begin(struct gpus *gpus);
void gpus_add(struct gpus *gpus, const struct gpu *gpu);
/* Writes the sets `gpu` and `gpu_errors`. */
void gpus_end(struct gpus *gpus, uint8_t vendor, struct reading *now);

/* Parses the GPU file; false if its format is wrong. */
struct gpu_file {
  uint8_t vendor;
  struct gpus gpus;
};
bool parse_gpu_file(struct span text, void *gpu_file);

/* AMD's cards, in the order of their numbers. */
void read_amd_gpus(struct reading *now, struct gpus *gpus);

#endif

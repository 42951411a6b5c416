/* The GPUs in the report: how many of them, up to eight entries, their errors. Refuses to read any of it; see gpufile and
 * gpuamd for where it comes from. */
#ifndef BB_SENDER_GPU_H
#define BB_SENDER_GPU_H
#include "source.h"

#define GPU_SLOTS 8u
/* `gpu_count` cannot hold more. */
#define MOST_GPUS 255u

/* A GPU as its source tells; what is not known is flagged so. */
enum {
  GPU_UTIL = 1, GPU_TEMP = 2, GPU_POWER = 4, GPU_MEM_USED = 8, GPU_MEM_TOTAL = 16, GPU_ERRORS = 32, GPU_ECC = 64
};

struct gpu {
  unsigned known;
  uint64_t util_pct, temp_c;
  bb_wide power_w, mem_used_mib, mem_total_mib, errors, ecc_ue;
  uint8_t flags; /* bits of gpu_flags */
};

/* Those taken so far. The eighth entry holds the ninth and all later ones too. */
struct gpus {
  unsigned count, busy;
  struct gpu slot[GPU_SLOTS];
  unsigned utils;        /* known in the last slot, to average them */
  bool errors_known;     /* of every GPU */
  uint32_t errors, ecc_ue; /* modulo 2^32 */
};

void gpus_begin(struct gpus *gpus);
void gpus_add(struct gpus *gpus, const struct gpu *gpu);
/* Writes the sets `gpu` and `gpu_errors`. */
void gpus_end(struct gpus *gpus, uint8_t vendor, struct reading *now);

/* The GPU file; false when its format is wrong. */
struct gpu_file {
  uint8_t vendor;
  struct gpus gpus;
};
bool parse_gpu_file(struct span text, void *gpu_file);

/* AMD's cards, in the order of their numbers. */
void take_amd(struct reading *now, struct gpus *gpus);

#endif

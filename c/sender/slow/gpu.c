#include "gpu.h"

/* Sentinels of the contract, and the largest valid readings. */
#define UNKNOWN_BYTE 255u
#define UNKNOWN_WATTS 65535u

void gpus_begin(struct gpus *gpus) { *gpus = (struct gpus){.errors_known = true}; }

/* Adds a GPU into the last slot: memory and power summed, utilisation to be averaged, the highest temperature, flags
 * or-ed. */
static void merge(struct gpus *gpus, const struct gpu *gpu) {
  struct gpu *last = &gpus->slot[GPU_SLOTS - 1];
  const unsigned known_of_any = GPU_UTIL | GPU_TEMP;
  last->util_pct += gpu->util_pct;
  if ((gpu->known & GPU_TEMP) != 0 && ((last->known & GPU_TEMP) == 0 || gpu->temp_c > last->temp_c))
    last->temp_c = gpu->temp_c;
  last->power_w += gpu->power_w;
  last->mem_used_mib += gpu->mem_used_mib;
  last->mem_total_mib += gpu->mem_total_mib;
  last->flags |= gpu->flags;
  last->known = ((last->known | gpu->known) & known_of_any) | (last->known & gpu->known & ~known_of_any);
}

void gpus_add(struct gpus *gpus, const struct gpu *gpu) {
  if (gpus->count < GPU_SLOTS) gpus->slot[gpus->count] = *gpu;
  else merge(gpus, gpu);
  gpus->count++;
  if (gpus->count >= GPU_SLOTS && (gpu->known & GPU_UTIL) != 0) gpus->utils++;
  if ((gpu->flags & BB_GPU_FLAGS_IN_USE) != 0) gpus->busy++;
  gpus->errors_known &= (gpu->known & GPU_ERRORS) != 0 && (gpu->known & GPU_ECC) != 0;
  gpus->errors += (uint32_t)gpu->errors;
  gpus->ecc_ue += (uint32_t)gpu->ecc_ue;
}

static void put_slot(struct bb_gpu_slot *slot, const struct gpu *gpu) {
  slot->util_pct = (gpu->known & GPU_UTIL) != 0 ? saturated_8(gpu->util_pct) : UNKNOWN_BYTE;
  slot->temp_degc = (gpu->known & GPU_TEMP) != 0 ? saturated_8(gpu->temp_c) : UNKNOWN_BYTE;
  slot->power_w = UNKNOWN_WATTS;
  if ((gpu->known & GPU_POWER) != 0)
    slot->power_w = gpu->power_w < UNKNOWN_WATTS ? (uint16_t)gpu->power_w : UNKNOWN_WATTS - 1;
  /* Memory has no sentinel except a total of 0; half of the pair would look like a reading. */
  if ((gpu->known & GPU_MEM_USED) == 0 || (gpu->known & GPU_MEM_TOTAL) == 0) return;
  slot->mem_used_mib = saturated_32(gpu->mem_used_mib);
  slot->mem_total_mib = saturated_32(gpu->mem_total_mib);
}

void gpus_end(struct gpus *gpus, uint8_t vendor, struct reading *now) {
  struct bb_report *fields = &now->fields;
  if (gpus->utils > 1) gpus->slot[GPU_SLOTS - 1].util_pct /= gpus->utils;
  fields->gpu_count = saturated_8(gpus->count);
  fields->gpu_busy = saturated_8(gpus->busy);
  fields->gpu_vendor = vendor;
  for (unsigned i = 0; i < GPU_SLOTS && i < gpus->count; i++) {
    fields->gpu_flags[i] = gpus->slot[i].flags;
    put_slot(&fields->gpu[i], &gpus->slot[i]);
  }
  now->sets |= BB_VALID_GPU;
  if (!gpus->errors_known) return;
  fields->gpu_errors = gpus->errors;
  fields->gpu_ecc_ue = gpus->ecc_ue;
  now->sets |= BB_VALID_GPU_ERRORS;
}

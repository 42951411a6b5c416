/* The GPU file, which a helper writes for GPUs that are not in /sys; see "Files of others" in proto/stat-v1.md. One
 * invalid word makes the whole file invalid: no helper of this version wrote it. */
#include "gpu.h"

enum { UTIL, TEMP, POWER, MEM_USED, MEM_TOTAL, FLAGS, ERRORS, ECC_UE, WORDS_OF_LINE };

static const uint32_t limits[WORDS_OF_LINE] = {
  100, 150, 65534, UINT32_MAX, UINT32_MAX, (uint32_t)BB_GPU_FLAGS_KNOWN, UINT32_MAX, UINT32_MAX,
};

static bool gpufile_parse_line(struct span line, struct gpu *gpu) {
  static const unsigned known[WORDS_OF_LINE] = {GPU_UTIL, GPU_TEMP, GPU_POWER, GPU_MEM_USED, GPU_MEM_TOTAL, 0,
                                                GPU_ERRORS, GPU_ECC};
  uint64_t value[WORDS_OF_LINE] = {0};
  struct span left = line, word;
  *gpu = (struct gpu){0};
  for (unsigned i = 0; i < WORDS_OF_LINE; i++) {
    if (!next_part(&left, ' ', &word)) return false;
    if (span_is(word, SPAN("-")) && i != FLAGS) continue;
    if (!text_u64(word, &value[i]) || value[i] > limits[i]) return false;
    gpu->known |= known[i];
  }
  if (left.at != NULL) return false;
  const unsigned memory = GPU_MEM_USED | GPU_MEM_TOTAL;
  if ((gpu->known & memory) == memory && value[MEM_USED] > value[MEM_TOTAL]) return false;
  gpu->util_pct = value[UTIL];
  gpu->temp_c = value[TEMP];
  gpu->power_w = value[POWER];
  gpu->mem_used_mib = value[MEM_USED];
  gpu->mem_total_mib = value[MEM_TOTAL];
  gpu->flags = (uint8_t)value[FLAGS];
  gpu->errors = value[ERRORS];
  gpu->ecc_ue = value[ECC_UE];
  return true;
}

/* A line `gpu 1 VENDOR COUNT`, then COUNT lines, each with its line end. */
bool parse_gpu_file(struct span text, void *into) {
  struct gpu_file *file = into;
  struct span left = text, head, digits, line;
  uint64_t count;
  gpus_begin(&file->gpus);
  if (!ends(text, SPAN("\n")) || !next_line(&left, &head) || !eat(&head, SPAN("gpu 1 "))) return false;
  for (file->vendor = BB_GPU_VENDOR_NONE + 1; file->vendor < BB_GPU_VENDOR_COUNT; file->vendor++)
    if (eat(&head, span_of(bb_gpu_vendor_names[file->vendor]))) break;
  if (file->vendor == BB_GPU_VENDOR_COUNT || !eat(&head, SPAN(" ")) || !eat_digits(&head, 1, 3, &digits)) return false;
  if (head.len > 0 || !text_u64(digits, &count) || count > MOST_GPUS) return false;
  for (; next_line(&left, &line); count--) {
    struct gpu gpu;
    if (count == 0 || !gpufile_parse_line(line, &gpu)) return false;
    gpus_add(&file->gpus, &gpu);
  }
  return count == 0;
}

/* AMD's GPUs from /sys/class/drm, where their driver has all values for the report. Ignores other vendors' cards,
 * and guesses no value: one that cannot be read, or is impossible, is unknown. */
#include "gpu.h"

/* Per cent; none beyond 100. */
static bool parse_busy(struct span text, uint64_t *percent) { return parse_count(text, percent) && *percent <= 100; }

/* Whole degrees from thousandths, rounded down; none beyond 0 to 150 °C. */
static bool parse_celsius(struct span text, uint64_t *degrees) {
  int64_t milli;
  if (!parse_integer(text, &milli) || milli < 0 || milli > 150000) return false;
  *degrees = (uint64_t)milli / 1000;
  return true;
}

static bool leaf_value(struct reading *now, const char *leaf, bool (*parse)(struct span, uint64_t *), uint64_t *value) {
  struct span text;
  const size_t dir = path_text(now, leaf);
  const bool good = read_text(now, MAYBE, &text) && (parse(text, value) || not_understood(now, MAYBE));
  path_cut(now, dir);
  return good;
}

/* The RAS counters of one block: `ue: N`, `ce: N`, and more on new kernels. */
static bool parse_ras(struct span text, bb_wide *ue, bb_wide *ce) {
  struct span left = text, first, second;
  uint64_t uncorrected, corrected;
  if (!eat(&left, SPAN("ue: ")) || !eat_digits(&left, 1, 19, &first) || !eat(&left, SPAN("\nce: "))) return false;
  if (!eat_digits(&left, 1, 19, &second) || !eat(&left, SPAN("\n"))) return false;
  if (!text_u64(first, &uncorrected) || !text_u64(second, &corrected)) return false;
  *ue = uncorrected;
  *ce = corrected;
  return true;
}

static bool is_block(struct span name) {
  if (!ends(name, SPAN("_err_count"))) return false;
  const size_t length = name.len - 10;
  for (size_t i = 0; i < length; i++) {
    const char c = name.at[i];
    if (!is_digit(c) && (c < 'a' || c > 'z') && c != '_') return false;
  }
  return length >= 1 && length <= 32;
}

/* Errors of all blocks, including corrected ones, and the uncorrected ones of the memory; unknown if RAS does not
 * answer. */
static void read_ras(struct reading *now, struct gpu *gpu) {
  bool whole = true, memory = false;
  path_text(now, "/ras");
  const struct names blocks = list_names(now, is_block);
  path_text(now, "/");
  for (unsigned i = 0; i < blocks.count; i++) {
    struct span text;
    bb_wide ue = 0, ce = 0;
    const size_t dir = path_add(now, name_at(&blocks, i));
    whole &= read_text(now, PARSE, &text) && (parse_ras(text, &ue, &ce) || not_understood(now, PARSE));
    path_cut(now, dir);
    gpu->errors += ue + ce;
    if (!span_is(name_at(&blocks, i), SPAN("umc_err_count"))) continue;
    memory = true;
    gpu->ecc_ue = ue;
  }
  drop_names(now, &blocks);
  if (whole && memory) {
    gpu->known |= GPU_ERRORS | GPU_ECC;
  } else {
    gpu->errors = gpu->ecc_ue = 0;
  }
}

static void read_card_sensors(struct reading *now, struct gpu *gpu) {
  uint64_t value;
  const size_t device = path_text(now, "/hwmon");
  const struct names chips = list_names(now, is_hwmon);
  if (chips.count > 0) {
    path_text(now, "/");
    path_add(now, name_at(&chips, 0));
    /* The edge sensor; the large models have only the junction sensor. */
    if (leaf_value(now, "/temp1_input", parse_celsius, &value) ||
        leaf_value(now, "/temp2_input", parse_celsius, &value)) {
      gpu->known |= GPU_TEMP;
      gpu->temp_c = value;
    }
    if (leaf_value(now, "/power1_average", parse_power, &value) ||
        leaf_value(now, "/power1_input", parse_power, &value)) {
      gpu->known |= GPU_POWER;
      gpu->power_w = value;
    }
  }
  drop_names(now, &chips);
  path_cut(now, device);
}

/* SPX is the whole GPU as one. */
static bool is_partitioned(struct reading *now) {
  struct span text;
  if (!leaf_text(now, "/current_compute_partition", MAYBE, &text)) return false;
  const struct span word = trimmed(text);
  return word.len == 3 && memchr("DTQC", word.at[0], 4) != NULL && ends(word, SPAN("PX"));
}

static void read_card(struct reading *now, struct gpu *gpu) {
  uint64_t used, total;
  *gpu = (struct gpu){.flags = (uint8_t)BB_GPU_FLAGS_PRESENT};
  const size_t device = now->path_len;
  if (leaf_value(now, "/gpu_busy_percent", parse_busy, &gpu->util_pct)) gpu->known |= GPU_UTIL;
  else gpu->util_pct = 0;
  if (is_partitioned(now)) gpu->flags |= (uint8_t)BB_GPU_FLAGS_PARTITIONED;
  const size_t dir = path_text(now, "/ras");
  const bool has_ras = path_exists(now);
  path_cut(now, dir);
  if (has_ras) read_ras(now, gpu);
  path_cut(now, device);
  read_card_sensors(now, gpu);
  const bool has_used = leaf_count(now, "/mem_info_vram_used", MAYBE, &used);
  const bool has_total = leaf_count(now, "/mem_info_vram_total", MAYBE, &total);
  /* Both or neither; more used than there is, or a total of 0, is invalid. */
  if (has_used && has_total && total > 0 && used <= total) {
    gpu->known |= GPU_MEM_USED | GPU_MEM_TOTAL;
    gpu->mem_used_mib = used >> 20;
    gpu->mem_total_mib = total >> 20;
  }
  if (gpu->util_pct > 0) gpu->flags |= (uint8_t)BB_GPU_FLAGS_IN_USE;
  if (gpu->ecc_ue > 0) gpu->flags |= (uint8_t)BB_GPU_FLAGS_ECC_ERROR;
}

/* Without connectors like card0-DP-1, and without entries that have no vendor: the parts of a partitioned GPU. */
static bool is_card(struct span name) { return is_numbered(name, SPAN("card"), SPAN("")); }

void read_amd_gpus(struct reading *now, struct gpus *gpus) {
  path_begin(now, now->world->sys, "/class/drm");
  const struct names cards = list_names(now, is_card);
  path_text(now, "/");
  for (unsigned i = 0; i < cards.count; i++) {
    struct span vendor;
    const size_t root = path_add(now, name_at(&cards, i));
    path_text(now, "/device");
    if (leaf_text(now, "/vendor", QUIETLY, &vendor) && span_is(vendor, SPAN("0x1002\n"))) {
      struct gpu gpu;
      read_card(now, &gpu);
      gpus_add(gpus, &gpu);
    }
    path_cut(now, root);
  }
  drop_names(now, &cards);
}

#include "schedule.h"

#include <string.h>

#include "../base/sha256.h"

static uint64_t hash_of(const char *name) {
  uint8_t digest[BB_SHA256_BYTES];
  struct bb_sha256 sha;
  bb_sha256_begin(&sha);
  bb_sha256_add(&sha, name, strlen(name));
  bb_sha256_end(&sha, digest);
  uint64_t hash = 0;
  for (unsigned i = 8; i-- > 0;) hash = hash << 8 | digest[i];
  return hash;
}

uint64_t phase_of(const char *name, uint64_t interval_ns) { return hash_of(name) % interval_ns; }

uint64_t next_tick(uint64_t now_ns, uint64_t interval_ns, uint64_t phase_ns) {
  return now_ns < phase_ns ? phase_ns : phase_ns + ((now_ns - phase_ns) / interval_ns + 1) * interval_ns;
}

uint32_t cluster_id_of(const char *name) { return name[0] == 0 ? 0 : (uint32_t)hash_of(name); }

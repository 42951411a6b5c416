/* What the fuzz targets share: an input that is read piece by piece, what must hold, a place for files, and a count. A
 * target has one LLVMFuzzerTestOneInput, for libFuzzer and for standalone.c. */
#ifndef BB_FUZZ_H
#define BB_FUZZ_H
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the target makes of an input, in one line that TypeScript's can be held against. Not every target has it. */
__attribute__((weak)) void fuzz_tell(const uint8_t *data, size_t size, FILE *out);

/* What is counted beside inputs; "datagrams" and the like. */
extern const char fuzz_unit[];
extern uint64_t fuzz_units;

/* What does not hold is a finding: it ends the process as a sanitizer does. */
#define MUST(holds, ...)                                       \
  do {                                                         \
    if (!(holds)) {                                            \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #holds); \
      fprintf(stderr, __VA_ARGS__);                            \
      fprintf(stderr, "\n");                                   \
      abort();                                                 \
    }                                                          \
  } while (0)

/* What is left of an input; beyond its end are zeros. */
struct input {
  const uint8_t *at;
  size_t left;
};

static inline uint64_t draw(struct input *in, size_t bytes) {
  uint64_t value = 0;
  const size_t n = bytes < in->left ? bytes : in->left;
  memcpy(&value, in->at, n); /* little-endian */
  in->at += n;
  in->left -= n;
  return value;
}

/* A path in a folder of this process' own, in shared memory, that is removed when it ends cleanly. */
static inline const char *fuzz_path(const char *name) {
  static char folder[64], path[128];
  if (folder[0] == 0) {
    strcpy(folder, "/dev/shm/beoboard-fuzz.XXXXXX");
    MUST(mkdtemp(folder) != NULL, "cannot make a folder in /dev/shm");
  }
  snprintf(path, sizeof path, "%s%s%s", folder, name[0] == 0 ? "" : "/", name);
  return path;
}

#endif

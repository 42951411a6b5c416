/* Runs a fuzz target without libFuzzer: every file of a corpus, then mutations of these from a seed.
 *   TARGET [--runs N] [--seconds N] [--seed N] [--last FILE] FOLDER…
 *   TARGET --tell < INPUTS     reads inputs, each behind its length in four bytes (little-endian), and tells what
 *   becomes of each
 * FILE keeps the input under way, behind its length in eight bytes: after a crash it is the finding. The last line
 * tells what was run. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "fuzz.h"

#define MOST_BYTES 65536u
#define MOST_INPUTS 4096u

static struct {
  uint8_t *bytes;
  size_t size;
} corpus[MOST_INPUTS];
static size_t inputs;

struct last {
  uint64_t size;
  uint8_t bytes[MOST_BYTES];
  uint64_t units; /* so far */
};
static struct last *last;

static uint64_t state;
static uint64_t next(void) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}
static size_t below(size_t n) { return n == 0 ? 0 : (size_t)(next() % n); }

static void run(const uint8_t *bytes, size_t size) {
  last->size = size;
  last->units = fuzz_units;
  memmove(last->bytes, bytes, size);
  /* A copy of exactly this length: the sanitizer finds a read beyond its end. */
  uint8_t *exact = (uint8_t *)malloc(size > 0 ? size : 1);
  MUST(exact != NULL, "out of memory");
  memcpy(exact, bytes, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}

static void load(const char *folder) {
  struct dirent **names;
  const int count = scandir(folder, &names, NULL, alphasort); /* the same order everywhere: a seed repeats a run */
  MUST(count >= 0, "cannot read the folder %s", folder);
  for (int i = 0; i < count; i++) {
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
    free(names[i]);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
      if (fd >= 0) close(fd);
      continue;
    }
    MUST(inputs < MOST_INPUTS && st.st_size <= (off_t)MOST_BYTES, "%s: too many inputs, or too large", path);
    const size_t size = (size_t)st.st_size;
    corpus[inputs].bytes = (uint8_t *)malloc(size > 0 ? size : 1);
    corpus[inputs].size = size;
    MUST(read(fd, corpus[inputs].bytes, size) == (ssize_t)size, "cannot read %s", path);
    inputs++;
    close(fd);
  }
  free(names);
}

/* Something of another input, or of this one, in a place of this one. */
static size_t graft(uint8_t *to, size_t size) {
  const size_t from = below(inputs), length = below(corpus[from].size + 1), at = below(size + 1);
  const uint8_t *piece = corpus[from].bytes + below(corpus[from].size - length + 1);
  if (size + length > MOST_BYTES) return size;
  if (next() % 2 == 0) { /* over what is there */
    const size_t n = at + length > size ? size - at : length;
    memcpy(to + at, piece, n);
    return size;
  }
  memmove(to + at + length, to + at, size - at);
  memcpy(to + at, piece, length);
  return size + length;
}

static size_t mutate(uint8_t *to, size_t size) {
  static const uint64_t telling[] = {0,     1,     8,     127,       128,        255,       256,       1216,
                                     32767, 65535, 65536, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
  const size_t at = below(size), width = (size_t)1 << below(4);
  switch (next() % 8) {
    case 0:
      if (size > 0) to[at] ^= (uint8_t)(1u << below(8));
      return size;
    case 1:
      if (size > 0) to[at] = (uint8_t)next();
      return size;
    case 2:
      if (at + width <= size) memcpy(to + at, &telling[below(sizeof telling / sizeof telling[0])], width);
      return size;
    case 3: /* a little more or less */
      if (size > 0) to[at] = (uint8_t)(to[at] + below(33) - 16);
      return size;
    case 4: return at; /* cut */
    case 5: {
      const size_t length = below(size - at + 1);
      memmove(to + at, to + at + length, size - at - length);
      return size - length;
    }
    default: return graft(to, size);
  }
}

static void *keep_last(const char *path) {
  const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (path != NULL) MUST(fd >= 0 && ftruncate(fd, sizeof(struct last)) == 0, "cannot write %s", path);
  void *map = mmap(NULL, sizeof(struct last), PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
  MUST(map != MAP_FAILED, "no memory");
  if (fd >= 0) close(fd);
  return map;
}

static int tell_all(void) {
  static uint8_t bytes[MOST_BYTES];
  uint32_t size;
  if (fuzz_tell == NULL) return 2;
  while (fread(&size, sizeof size, 1, stdin) == 1) {
    MUST(size <= sizeof bytes && fread(bytes, 1, size, stdin) == size, "an input is too long, or cut");
    fuzz_tell(bytes, size, stdout);
    putchar('\n');
    fflush(stdout);
  }
  return 0;
}

static double seconds_since(const struct timespec *from) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

int main(int argc, char **argv) {
  uint64_t runs = 0, seed = 1, done = 0;
  double seconds = 0;
  const char *last_path = NULL;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--tell") == 0) return tell_all();
    if (argv[i][0] != '-') {
      load(argv[i]);
      continue;
    }
    if (strcmp(argv[i], "--runs") == 0) runs = strtoull(value, NULL, 10);
    else if (strcmp(argv[i], "--seconds") == 0) seconds = strtod(value, NULL);
    else if (strcmp(argv[i], "--seed") == 0) seed = strtoull(value, NULL, 10);
    else if (strcmp(argv[i], "--last") == 0) last_path = value;
    else return 2;
    i++;
  }
  if (inputs == 0) return 2;
  last = (struct last *)keep_last(last_path);
  state = seed * 2 + 1;
  for (int i = 0; i < 20; i++) next();
  for (size_t i = 0; i < inputs; i++) run(corpus[i].bytes, corpus[i].size);
  static uint8_t bytes[MOST_BYTES];
  struct timespec began;
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (; done < runs || (seconds > 0 && (done % 64 != 0 || seconds_since(&began) < seconds)); done++) {
    const size_t which = below(inputs);
    size_t size = corpus[which].size;
    memcpy(bytes, corpus[which].bytes, size);
    for (size_t k = below(6) + 1; k > 0; k--) size = mutate(bytes, size);
    run(bytes, size);
  }
  for (size_t i = 0; i < inputs; i++) free(corpus[i].bytes);
  printf("%zu inputs, %" PRIu64 " mutations of seed %" PRIu64 ", %" PRIu64 " %s\n", inputs, done, seed, fuzz_units,
         fuzz_unit);
  return 0;
}

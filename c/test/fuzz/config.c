/* Fuzzes what is read of files that people write, by the sender in C: TOML, its options, pretences, key files. An input
 * is the kind of a file, and the file.
 *
 * What must hold: a fault is one line, without a control character in it, and says where; what is taken keeps to the
 * limits of its header files. That TOML means the same to TypeScript, and a key file the same key,
 * test/fuzz/fuzz.test.ts asks by fuzz_tell(). */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../../base/toml.h"
#include "../../sender/options.h"
#include "../../sender/pretend.h"
#include "../../sender/signingkey.h"
#include "fuzz.h"

const char fuzz_unit[] = "files";
uint64_t fuzz_units;

enum { TOML, KEYS, OPTIONS, PRETENCE, KINDS };

static char path[64];

/* The bytes as a file that only we can read. */
static void put(const uint8_t *data, size_t size) {
  static int fd = -1;
  if (fd < 0) {
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && fchmod(fd, 0600) == 0, "no memory for a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  MUST(ftruncate(fd, (off_t)size) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "cannot write a file");
}

static void check_fault(const struct words *fault) {
  MUST(fault->len > 0, "no fault is told");
  for (size_t i = 0; i < fault->len; i++)
    MUST((uint8_t)fault->text[i] >= 0x20 && fault->text[i] != 0x7f,
         "a fault of several lines, or with a control character: %.*s", (int)fault->len, fault->text);
}

static void hex(FILE *out, struct span text) {
  for (; text.len > 0; text = without(text, 1)) fprintf(out, "%02x", (uint8_t)text.at[0]);
}

struct toml_dump {
  FILE *out;
  struct span table; /* its name; none at the top */
  const char *entry; /* of the table; NULL: it has none */
};

/* Tells a value: its path, its kind and its texts. */
static bool keep(void *context, struct span key, const struct toml_value *value, struct words *why) {
  struct toml_dump *told = context;
  (void)why;
  MUST(value->count <= TOML_ITEMS && value->line >= 1, "beyond the limits");
  if (value->kind == TOML_TABLE) {
    told->table = key;
    told->entry = value->texts[0];
    return true;
  }
  fputc(' ', told->out);
  if (told->table.len > 0) {
    hex(told->out, told->table);
    fputc('.', told->out);
  }
  if (told->entry != NULL) {
    hex(told->out, span_of(told->entry));
    fputc('.', told->out);
  }
  hex(told->out, key);
  static const char *const kinds[] = {"text", "number", "truth", "array"};
  fprintf(told->out, "=%s", kinds[value->kind]);
  for (unsigned i = 0; i < value->count; i++) {
    fputc(':', told->out);
    hex(told->out, span_of(value->kind == TOML_TRUTH && !value->truth ? "false" : value->texts[i]));
  }
  return true;
}

static void tell_toml(FILE *out) {
  static struct toml toml;
  char reason[2048];
  struct words fault = WORDS(reason);
  if (toml_read(&toml, path, keep, &(struct toml_dump){.out = out}, &fault)) return;
  check_fault(&fault);
  fputs(" NO", out);
}

static void tell_keys(FILE *out) {
  char reason[2048];
  struct words fault = WORDS(reason);
  struct key key;
  uint8_t tag[BB_SHA256_BYTES];
  if (read_signing_key(path, "node1", (uid_t)-1, &key, &fault)) {
    MUST(key.alg == BB_AUTH_ALG_CLUSTER || key.alg == BB_AUTH_ALG_NODE, "a key of kind %u", key.alg);
    bb_hmac(&key.hmac, "fuzz", 4, tag);
    fprintf(out, "%u %u ", key.alg, key.id);
    for (size_t i = 0; i < sizeof tag; i++) fprintf(out, "%02x", tag[i]);
    return;
  }
  check_fault(&fault);
  fputs("NO", out);
}

static void check_options(void) {
  static struct options options;
  char reason[2048], program[] = "beoboard-send", config[] = "--config";
  struct words fault = WORDS(reason);
  char *argv[] = {program, config, path, NULL};
  const enum outcome outcome = send_options_read(3, argv, &options, &fault);
  if (outcome == OPTIONS_BAD) {
    check_fault(&fault);
    return;
  }
  MUST(outcome == OPTIONS_GOOD, "outcome %d", (int)outcome);
  MUST(options.to_count <= MOST_TO && options.trees >= 1 && options.trees <= 2, "beyond the limits");
  MUST(options.interval_ms >= 100 && options.interval_ms <= 600000, "beyond the limits");
  MUST(strlen(options.name) > 0 && strlen(options.name) < 64, "beyond the limits");
}

static void check_pretence(void) {
  char reason[2048];
  struct words fault = WORDS(reason);
  const struct pretend_values *pretend_values = pretend(path, &fault);
  if (pretend_values == NULL) {
    check_fault(&fault);
    return;
  }
  MUST(pretend_values->ages <= PRETEND_MOST && pretend_values->links <= PRETEND_MOST, "beyond the limits");
  MUST(pretend_values->file_systems <= PRETEND_MOST && pretend_values->arch < BB_ARCH_COUNT, "beyond the limits");
  MUST(machine->clocks().boot_ns <= INT64_MAX, "beyond the limits");
  struct slow_world world;
  pretend_slow_world(&world);
  for (unsigned i = 0; i < pretend_values->file_systems; i++) {
    struct file_system fs;
    MUST(world.file_system(&world, pretend_values->file_system[i].path, &fs), "a file system that is not there");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  if (size == 0) return 0;
  put(data + 1, size - 1);
  fuzz_units++;
  switch (data[0] % KINDS) {
    case TOML: tell_toml(nowhere); break;
    case KEYS: tell_keys(nowhere); break;
    case OPTIONS: check_options(); break;
    default: check_pretence();
  }
  return 0;
}

void fuzz_tell(const uint8_t *data, size_t size, FILE *out) {
  if (size == 0) return;
  put(data + 1, size - 1);
  if (data[0] % KINDS == KEYS) tell_keys(out);
  else tell_toml(out);
}

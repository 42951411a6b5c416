/* Reads trees one after another, as one run of the sender does, and writes a report of each in hexadecimal: a tick and
 * a round of the slow sources, so many ms apart. The files of one that is called +TREE are laid over those of the tree
 * before, which is read again.
 *     sums MS TREE... */
#include <stdio.h>
#include <stdlib.h>

#include "../collect/collect.h"
#include "../collect/world.h"
#include "../sender/slow/rounds.h"

const char program[] = "sums";

static uint64_t boot_ns = UINT64_C(1000000000000);

static struct clocks clocks(void) { return (struct clocks){boot_ns, boot_ns}; }
static bool clock_state(struct clock_state *state) {
  (void)state;
  return false;
}
static uint64_t cpu_ms(void) { return 0; }
static uint64_t us_since(uint64_t ns) {
  (void)ns;
  return 0;
}
static void type(uint8_t *arch, uint32_t *page_kib) {
  *arch = BB_ARCH_X86_64;
  *page_kib = 4;
}
static const struct machine standing = {clocks, clock_state, cpu_ms, us_since, type};

static const char *below(const char *tree, const char *leaf) {
  const size_t room = strlen(tree) + strlen(leaf) + 1;
  char *path = malloc(room);
  if (path == NULL) abort();
  snprintf(path, room, "%s%s", tree, leaf);
  return path;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const uint64_t step_ns = strtoull(argv[1], NULL, 10) * 1000000;
  machine = &standing;
  const char *proc = NULL, *sys = NULL, *none = "/dev/null", *tree = "";
  for (int i = 2; i < argc; i++, boot_ns += step_ns) {
    /* The same tree again is the same place. */
    if (argv[i][0] == '+') {
      char command[2048];
      snprintf(command, sizeof command, "cp -r '%s/.' '%s'", argv[i] + 1, tree);
      if (system(command) != 0) return 1;
    } else if (strcmp(argv[i], tree) != 0) {
      tree = argv[i];
      proc = below(tree, "/proc");
      sys = below(tree, "/sys");
      collect_from(proc, sys, false);
    }
    const struct slow_world world = {.proc = proc, .sys = sys, .process = "/self", .root = "", .run = none, .etc = none,
                                     .scratch = "/", .file_system = file_system_here, .age_s = age_here,
                                     .real_path = real_path_here};
    struct bb_report report = {0};
    struct details details = {0};
    rounds_pretend(&world, 1, boot_ns);
    rounds_fill(&report, &details);
    collect(&report, (int64_t)boot_ns, &details);
    for (size_t at = 0; at < sizeof report; at++) printf("%02x", ((const unsigned char *)&report)[at]);
    printf("\n");
  }
  return 0;
}

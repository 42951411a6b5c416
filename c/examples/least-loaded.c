/* The least loaded node that is live, not on hold, and has the memory asked for.
 *   least-loaded [-b BOARD] [MEMORY_MIB]     prints its name; exits with 1 when there is none, 4 when nobody knows */
#include <beoboard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  const char *path = NULL;
  int at = 1;
  if (at + 1 < argc && strcmp(argv[at], "-b") == 0) {
    path = argv[at + 1];
    at += 2;
  }
  const uint64_t memory_kib = at < argc ? strtoull(argv[at], NULL, 10) * 1024 : 0;

  beoboard *b;
  int err = beoboard_open(&b, path, 0);
  if (err < 0) {
    fprintf(stderr, "least-loaded: %s\n", beoboard_strerror(err));
    return 4;
  }
  struct beoboard_receiver receiver;
  beoboard_receiver(b, &receiver, sizeof receiver);
  if ((receiver.flags & BEOBOARD_F_STALLED) != 0) {
    fprintf(stderr, "least-loaded: the receiver is stalled: nothing is known about any node\n");
    beoboard_close(b);
    return 4;
  }

  /* A copy of each in turn: a scheduler would keep the array of beoboard_read_all() and sort it. */
  struct beoboard_node node, best;
  double least = 0;
  int found = 0;
  const int n = beoboard_count(b);
  for (int i = 0; i < n; i++) {
    if (beoboard_read(b, i, &node, sizeof node) < 0) continue;
    if (node.state != BEOBOARD_LIVE || (node.flags & BEOBOARD_FLAGS_HELD) != 0) continue;
    if (node.health == BEOBOARD_HEALTH_BAD || node.mem_avail_kib < memory_kib) continue;
    /* Per CPU, so that a small node is not thought idle. What was not measured is NaN or 0: such a node is never the
     * best. */
    const double load = node.cpus > 0 ? (double)node.load1 / node.cpus : (double)node.load1;
    if (load != load || (found && load >= least)) continue;
    least = load;
    best = node;
    found = 1;
  }
  if (found)
    printf("%s %.2f of %u CPUs, %llu MiB free\n", best.name, (double)best.load1, (unsigned)best.cpus,
           (unsigned long long)best.mem_avail_kib / 1024);
  else fprintf(stderr, "least-loaded: no node is live and has that much memory\n");
  beoboard_close(b);
  return found ? 0 : 1;
}

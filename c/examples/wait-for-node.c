/* Waits until a node is live (again), for example after it was asked to boot.
 *   wait-for-node [-b BOARD] NODE [SECONDS]
 * Says how it is whenever that changes; exits with 0 once it is live, 1 when the time is over
 * Nothing here ends because the monitor does: the board may be absent, stalled, or replaced by another meanwhile. */
#include <beoboard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
  const char *path = NULL;
  int at = 1;
  if (at + 1 < argc && strcmp(argv[at], "-b") == 0) {
    path = argv[at + 1];
    at += 2;
  }
  if (at >= argc) {
    fprintf(stderr, "usage: wait-for-node [-b BOARD] NODE [SECONDS]\n");
    return 2;
  }
  const char *name = argv[at];
  const double seconds = at + 1 < argc ? atof(argv[at + 1]) : 3600;
  const struct timespec pause = {0, 100000000};

  beoboard *b = NULL;
  uint64_t boot = 0; /* of the last report that we saw */
  const char *told = "";
  struct timespec began, now;
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (;;) {
    const char *is;
    const int err = b == NULL ? beoboard_open(&b, path, 0) : beoboard_refresh(b);
    if (b == NULL) is = beoboard_strerror(err);
    else {
      /* Indexes are void once refresh has said 1, so the name is looked up each time: 20 ns. */
      const int index = beoboard_index(b, name);
      const int state = beoboard_state(b, index);
      is = index < 0 ? "not on the board" : state < 0 ? beoboard_strerror(state) : beoboard_state_name(state);
      struct beoboard_node node;
      if (state == BEOBOARD_LIVE && beoboard_read(b, index, &node, sizeof node) == 0) {
        printf("%s: live%s\n", name, boot != 0 && boot != node.boot_id ? ", booted in between" : "");
        beoboard_close(b);
        return 0;
      }
      if (index >= 0 && beoboard_read(b, index, &node, sizeof node) == 0 && node.boot_id != 0) boot = node.boot_id;
    }
    if (is != told) {
      printf("%s: %s\n", name, is);
      fflush(stdout);
      told = is;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9 >= seconds) break;
    nanosleep(&pause, NULL);
  }
  beoboard_close(b);
  return 1;
}

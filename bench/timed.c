/* The time of a whole process, from before it is made until it has ended, in ns: to stdout. Its own output goes to
 * /dev/null. For short programs: Node.js takes several ms to start one, and to notice its end.
 *   timed PROGRAM [ARGUMENT…]
 * Ends with 1 if the program does not end with 0. */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
  posix_spawn_file_actions_t actions;
  if (argc < 2 || posix_spawn_file_actions_init(&actions) != 0) return 2;
  if (posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) != 0) return 2;
  pid_t pid;
  int status;
  const int64_t began_ns = now_ns();
  if (posix_spawn(&pid, argv[1], &actions, NULL, argv + 1, environ) != 0) return 2;
  if (waitpid(pid, &status, 0) != pid) return 2;
  const int64_t took_ns = now_ns() - began_ns;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
  printf("%" PRId64 "\n", took_ns);
  return 0;
}

/* Preloaded into a sender: at each statvfs it tries what a sender never does, and writes the results to stderr. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void tell(const char *what, long result) {
  char line[100];
  const int length =
      snprintf(line, sizeof line, "tried %s: %s\n", what, result == -1 ? strerrorname_np(errno) : "done");
  if (length > 0 && write(2, line, (size_t)length) == -1) return;
}

int statvfs(const char *path, struct statvfs *into) {
  const char *file = getenv("FORBIDDEN_FILE");
  (void)path;
  (void)into;
  if (file != NULL) {
    tell("to make a file", open(file, O_WRONLY | O_CREAT, 0644));
    tell("to change a file", open("/dev/null", O_RDWR));
    tell("to read a file", open("/dev/null", O_RDONLY));
  }
  tell("to make a folder", mkdir("/dev/shm/forbidden", 0755));
  tell("to run a program", execl("/bin/true", "true", (char *)NULL));
  tell("to make a process", fork());
  tell("to look for a process", kill(1, 0));
  tell("to look for a process of its own user", kill(getppid(), 0));
  tell("to listen", listen(0, 1));
  tell("to become root", setuid(0));
  errno = ENOSYS;
  return -1;
}

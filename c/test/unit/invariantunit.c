/* What an invariant does that does not hold: one sentence on stderr, and the end of the process. */
#include "../../base/invariant.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "check.h"

/* How a process ends in which a number is checked, and what it writes on stderr. */
static int end_of(int number, char *text, size_t size) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    dup2(ends[1], STDERR_FILENO);
    BB_INVARIANT(number == 1);
    _exit(7);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t more; (more = read(ends[0], text + length, size - 1 - length)) > 0;) length += (size_t)more;
  text[length] = 0;
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int main(void) {
  char text[500];
  int status = end_of(1, text, sizeof text);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "one that holds: %x", (unsigned)status);
  CHECK_TEXT(text, "");
  status = end_of(2, text, sizeof text);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "one that does not: %x", (unsigned)status);
  CHECK_TEXT(text, "beoboard has a bug: at test/unit/invariantunit.c:17 this does not hold: number == 1; "
                   "please report it\n");
  unsigned evaluated = 0;
  BB_INVARIANT(evaluated++ == 0);
  CHECK(evaluated == 1, "evaluated once: %u", evaluated);
  return checked();
}

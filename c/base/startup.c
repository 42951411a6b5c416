#include "startup.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "say.h"

int refuse_start(struct words *fault, int code) {
  char line[1200];
  struct words words = WORDS(line);
  add_text(&words, program);
  add_text(&words, ": ");
  add_span(&words, (struct span){fault->text, fault->len});
  add_text(&words, "\n");
  const ssize_t written = write(STDERR_FILENO, words.text, words.len);
  (void)written;
  return code;
}

int show(const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t written = write(STDOUT_FILENO, text, left);
    if (written < 0) return errno == EPIPE ? DONE : WRITE_FAILED;
    text += written;
    left -= (size_t)written;
  }
  return DONE;
}

/* Our parent may have closed stdin, stdout or stderr: a file that we open must not get one of these descriptors, and
 * be written to. */
void hold_standard_places(void) {
  while (true) {
    const int fd = openat(AT_FDCWD, "/dev/null", O_RDWR);
    if (fd > STDERR_FILENO) close(fd);
    if (fd == -1 || fd > STDERR_FILENO) return;
  }
}

#include "startup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <syslog.h>
#include <unistd.h>

#include "say.h"

#ifndef BEOBOARD_VERSION
#define BEOBOARD_VERSION "0.0.0"
#endif
const char version_text[] = BEOBOARD_VERSION "\n";

/* Another process that shares the descriptor may have set it to non-blocking. */
static void wait_for(int fd) {
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  poll(&ready, 1, -1);
}

/* `waits`: for a reader of what cannot take more now. */
static int write_on(int fd, struct span text, bool waits) {
  while (text.len > 0) {
    const ssize_t written = write(fd, text.at, text.len);
    if (written >= 0) text = without(text, (size_t)written);
    else if (errno == EAGAIN && waits) wait_for(fd);
    else if (errno != EINTR) return errno;
  }
  return 0;
}

int write_all(int fd, struct span text) { return write_on(fd, text, true); }

int refuse_start(struct words *fault, int code) {
  char line[1200];
  struct words words = WORDS(line);
  add_text(&words, program);
  add_text(&words, ": ");
  add_span(&words, (struct span){fault->text, fault->len});
  add_text(&words, "\n");
  /* Once: who does not read must not keep us. */
  const ssize_t written = write(STDERR_FILENO, words.text, words.len);
  (void)written;
  return code;
}

int show(const char *text) {
  const int error = write_on(STDOUT_FILENO, span_of(text), false);
  return error == 0 || error == EPIPE ? DONE : WRITE_FAILED;
}

void announce(enum level level, const char *line) {
  char text[1500];
  struct words words = WORDS(text);
  say(level, line, (char *)NULL);
  add_one_line(&words, span_of(line));
  openlog(program, LOG_PID, LOG_DAEMON);
  syslog(level == SAY_WARN ? LOG_WARNING : LOG_NOTICE, "%s", text_of(&words));
}

void set_signals(sigset_t *ends) {
  static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  sigemptyset(ends);
  for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
    signal(ending[i], SIG_DFL);
    sigaddset(ends, ending[i]);
  }
  signal(SIGPIPE, SIG_IGN);
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

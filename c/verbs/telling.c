#include "telling.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"

/* All allocated memory, so that it stays reachable. A thread of Node.js has its own. */
static _Thread_local struct allocation {
  struct allocation *before;
  uint64_t bytes[];
} *allocations;

void *keep(size_t count, size_t bytes) {
  struct allocation *more = NULL;
  size_t wanted;
  if (!__builtin_mul_overflow(count, bytes, &wanted) && wanted < SIZE_MAX - sizeof *more)
    more = (struct allocation *)calloc(1, sizeof *more + wanted);
  if (more == NULL) give_up_memory();
  more->before = allocations;
  allocations = more;
  return more->bytes;
}

void let_go(void) {
  while (allocations != NULL) {
    struct allocation *last = allocations;
    allocations = last->before;
    free(last);
  }
}

struct words long_words(void) { return (struct words){(char *)keep(MOST_WORDS_TOLD, 1), MOST_WORDS_TOLD, 0}; }

static const char *board_path;

/* The signal comes from our own access, which only copies or folds names, and not within a call that must not be
 * interrupted; a signal that another process sends is not ours. */
static void end_cut_short(int number, siginfo_t *info, void *context) {
  (void)context;
  signal(number, SIG_DFL);
  if (info->si_code <= 0) raise(number);
  else give_up(fault("%s: was cut while it was read; restart beoboard receive: it makes another", board_path),
               NO_BOARD);
}

void prepare(const char *path) {
  hold_standard_places();
  board_path = path;
  signal(SIGPIPE, SIG_IGN);
  const struct sigaction cut = {.sa_sigaction = end_cut_short, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &cut, NULL);
}

noreturn void end_with(int fd, const char *line, int code) {
  (void)write_all(fd, span_of(line));
  _exit(code);
}

void complain_whole(const struct words *line) {
  (void)write_all(STDERR_FILENO, (struct span){line->text, line->len}); /* nobody can be told any more */
}

void complain(const char *line) {
  struct words words = long_words();
  add_text(&words, program);
  add_text(&words, ": ");
  add_one_line(&words, span_of(line));
  add_text(&words, "\n");
  complain_whole(&words);
}

void print(struct span text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return;
  /* The reader of our output may end early (head, less); this is not an error. A terminal that was hung up returns
   * EIO. */
  if (error == EPIPE || (error == EIO && isatty(STDOUT_FILENO))) exit(DONE);
  complain(fault("cannot write to stdout: %s: %s, write", error_name(error), error_text(error)));
  exit(WRITE_FAILED);
}

const char *error_text(int error) {
  static const struct {
    int error;
    const char *text;
  } texts[] = {
    {ENOENT, "no such file or directory"}, {EACCES, "permission denied"},      {EPERM, "operation not permitted"},
    {EIO, "i/o error"},                    {ENOTDIR, "not a directory"},
    {ELOOP, "too many symbolic links encountered"},
    {EINVAL, "invalid argument"},          {ENODEV, "no such device"},         {ENXIO, "no such device or address"},
    {EMFILE, "too many open files"},       {ENFILE, "file table overflow"},    {ENOMEM, "not enough memory"},
    {ENOSPC, "no space left on device"},   {EFBIG, "file too large"},          {EBADF, "bad file descriptor"},
    {EROFS, "read-only file system"},      {ENAMETOOLONG, "name too long"},    {EBUSY, "resource busy or locked"},
    {ETIMEDOUT, "connection timed out"},   {EISDIR, "illegal operation on a directory"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (texts[i].error == error) return texts[i].text;
  return strerror(error);
}

/* Unit tests: a program says with CHECK what must hold, and ends with `return checked();`. Each failure is a line on
 * stderr, and the last line on stdout says how many checks held. Needs nothing but the C library. */
#ifndef BB_CHECK_H
#define BB_CHECK_H
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned checks_passed, checks_failed;

/* Whether it holds; what follows says in which row or case, like printf(). */
#define CHECK(holds, ...) check_one((holds), __FILE__, __LINE__, #holds, __VA_ARGS__)

/* Two texts that must be equal; NULL is none. */
#define CHECK_TEXT(got, wanted) check_text((got), (wanted), __FILE__, __LINE__, #got)

__attribute__((format(printf, 5, 6))) static inline bool check_one(bool holds, const char *file, int line,
                                                                   const char *what, const char *format, ...) {
  if (holds) {
    checks_passed++;
    return true;
  }
  va_list more;
  va_start(more, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, more);
  fprintf(stderr, ": does not hold: %s\n", what);
  va_end(more);
  checks_failed++;
  return false;
}

static inline void check_text(const char *got, const char *wanted, const char *file, int line, const char *what) {
  const bool same = got == NULL || wanted == NULL ? got == wanted : strcmp(got, wanted) == 0;
  check_one(same, file, line, what, "got \"%s\", wanted \"%s\"", got == NULL ? "(none)" : got,
            wanted == NULL ? "(none)" : wanted);
}

/* The exit status of a program whose checks are done. */
static inline int checked(void) {
  printf("%s: %u passed, %u failed\n", program_invocation_short_name, checks_passed, checks_failed);
  return checks_failed == 0 ? 0 : 1;
}

#endif

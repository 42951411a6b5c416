/* Checks that only a bug of ours can violate. They are enabled in builds for tests and fuzzers (-DBB_INVARIANTS),
 * where a violation ends the process; input from outside is never asserted on. */
#ifndef BB_INVARIANT_H
#define BB_INVARIANT_H

#ifdef BB_INVARIANTS
#include <stdio.h>
#include <stdlib.h>
#define BB_INVARIANT(holds)                                                                \
  do {                                                                                     \
    if (!(holds)) {                                                                        \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);           \
      abort();                                                                             \
    }                                                                                      \
  } while (0)
#else
/* Compiled, so that it stays correct, and never executed. */
#define BB_INVARIANT(holds) ((void)sizeof(holds))
#endif

#endif

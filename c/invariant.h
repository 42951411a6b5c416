/* What a bug of ours alone can break. It is looked at in builds of tests and fuzzers (-DBB_INVARIANTS), where it ends the process; what
 * comes from outside is never asserted on. */
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
/* Compiled, so that it stays right, and never done. */
#define BB_INVARIANT(holds) ((void)sizeof(holds))
#endif

#endif

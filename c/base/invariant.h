/* What only a bug of ours can violate: a violation ends the process with one sentence on stderr, which needs neither
 * memory nor stdio. Nothing from outside may: of a datagram, a board or a file the code says what is wrong with it. */
#ifndef BB_INVARIANT_H
#define BB_INVARIANT_H
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of what is the process's own: always. Costs a comparison. */
#define BB_INVARIANT(holds) \
  ((holds) ? (void)0 : bb_invariant_failed(BB_BUG_AT(__FILE__, __LINE__) " this does not hold: " #holds BB_REPORT_IT))
#define BB_BUG_AT(file, line) "beoboard has a bug: at " file ":" BB_TEXT_OF(line)
#define BB_REPORT_IT "; please report it\n"
#define BB_TEXT_OF(number) BB_TEXT(number)
#define BB_TEXT(number) #number

/* Of what stands on a board, into which its owner may write anything at any time: only where nobody does, in tests and
 * fuzzers (-DBB_INVARIANTS). Otherwise compiled, so that it stays correct, and never executed. */
#ifdef BB_INVARIANTS
#define BB_BOARD_INVARIANT BB_INVARIANT
#else
#define BB_BOARD_INVARIANT(holds) ((void)sizeof(holds))
#endif

__attribute__((cold, noinline, noreturn, unused)) static void bb_invariant_failed(const char *sentence) {
  /* Whether it could be written or not. */
  if (write(STDERR_FILENO, sentence, strlen(sentence)) >= 0) abort();
  abort();
}

#endif

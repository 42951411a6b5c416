/* What execd writes: a line asks for values, the line `quit` ends. Of any bytes, in any pieces. Pure. */
#ifndef BB_INPUT_H
#define BB_INPUT_H
#include "../base/text.h"

/* Lines that wait for an answer; what comes beyond is not answered. */
#define MOST_ASKED 1000u

/* All zero: nothing came so far. */
struct requests {
  unsigned asked; /* lines that were not answered yet */
  bool is_over;   /* nothing more will be asked */
  size_t column;  /* bytes of the line that has begun; stays at the most that matters */
  bool may_quit;  /* it is the beginning of `quit` */
};

void input_parse(struct requests *input, struct span bytes);

#endif

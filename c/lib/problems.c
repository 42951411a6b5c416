/* The problems of a node: see ../judge/problems.h. In its own file, because it needs stack for two reports. */
#include "internal.h"

/* After the one above, which marks the functions that the library exports. */
#include "../judge/problems.h"

int beoboard_problems(const beoboard *b, int index) {
  const int fault = index_fault(b, index);
  if (fault < 0) return fault;
  struct bb_slot pair[2];
  int which;
  const int n = bb_pair(b, (uint64_t)index, pair, &which);
  if (n <= 0) return n < 0 ? n : -ENODATA;
  return (int)bb_problems(&pair[which].report, n > 1 ? &pair[1 - which].report : NULL);
}

int beoboard_ailments(const beoboard *b, int index) {
  return beoboard_problems(b, index);
}

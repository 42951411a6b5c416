/* Reads a file that somebody else writes, whole. Refuses what is not a file, what others than its owner can write, and what is larger than
 * any of its kind. */
#ifndef BB_GATE_SMALLFILE_H
#define BB_GATE_SMALLFILE_H
#include <stddef.h>
#include <time.h>

#define MOST_FILE (8u << 20)

/* NULL: `*text` is the caller's, and to be freed. Else what is wrong. `age`: s since it was written, by the wall clock; may be NULL. */
const char *smallfile_read(const char *path, char **text, size_t *length, double *age);

#endif

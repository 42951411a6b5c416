/* Reads a whole file that somebody else writes. Refuses what is not a regular file, what others than its owner can
 * write, and what is larger than any valid file. */
#ifndef BB_SMALLFILE_H
#define BB_SMALLFILE_H
#include <stddef.h>
#include <time.h>

#define MOST_FILE (8u << 20)

/* NULL: `*text` belongs to the caller, who has to free it. Otherwise the error. `age`: seconds since it was written,
 * by the wall clock. */
const char *smallfile_read(const char *path, char **text, size_t *length, double *age);

#endif

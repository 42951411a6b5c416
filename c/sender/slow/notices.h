/* Notices of changes in the folder of others' files (inotify): where nothing changes without one, nothing has to be
 * read in each round. */
#ifndef BB_NOTICES_H
#define BB_NOTICES_H
#include <stdbool.h>

/* The descriptor that is readable when something has changed; -1: this machine gives none. */
int notices_open(void);
/* Reads all notices away, and never waits. */
void notices_drain(void);
/* Whether each change of a regular file in this folder will be noticed from now on, or that the folder is made. May
 * hang, as everything that looks up a path. */
bool notices_watch(const char *folder);

#endif

/* Requests to an enforcing bridge: a job was refused because of this node, so it is to be drained without the usual
 * waiting time, or the next job gets the same node. A hint only: the bridge judges the node itself. */
#ifndef BB_REQUESTS_H
#define BB_REQUESTS_H
#include <stddef.h>

/* Where a bridge with the usual folder of its journal looks. */
#define REQUESTS_PATH "/var/lib/beoboard-bridge/requests"

/* Leaves an empty file for each NodeName. Does nothing where there is no such folder, or where others than root and
 * this user can write it. */
void requests_leave(const char *folder, const char *const nodes[], size_t count);

#endif

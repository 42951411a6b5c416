/* Another interval for a time, out of a file that whoever is root on the node writes. Believes no file that anybody else could
 * have written, and takes no order from the network. */
#ifndef BB_SENDER_PACE_H
#define BB_SENDER_PACE_H
#include "options.h"
#include "world.h"

/* Takes other options; a file that is judged by others than before is read again. */
void pace_change(const struct options *options);
/* The interval that holds now, where the node's own is `own_ms`. Asked before each report. */
uint32_t pace_look(struct clocks now, uint32_t own_ms);

#endif

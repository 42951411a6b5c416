/* A temporary interval from a file that root writes on the node. Trusts no file that anybody else could have
 * written, and takes no order from the network. */
#ifndef BB_PACEFILE_H
#define BB_PACEFILE_H
#include "../collect/world.h"
#include "options.h"

/* Sets other options; if they change how the file is judged, it is read again. */
void pace_change(const struct options *options);
/* The interval in force if the node's own is `own_ms`. Called before each report. */
uint32_t pace_look(struct clocks now, uint32_t own_ms);

#endif

/* Gives memory back that is not needed any more. */
#ifndef BB_SENDER_FORGET_H
#define BB_SENDER_FORGET_H
#include <stddef.h>

/* That of a large table, all of whose bytes are then zero: for what is needed seldom. */
void release(void *table, size_t bytes);
/* That of what is needed at the start alone; see layout.ld. To be called from elsewhere. */
void forget_start(void);

/* That of what is needed every few seconds, if it was since the last time. Likewise. */
void forget_seldom(void);
/* It was needed. */
void used_seldom(void);

#endif

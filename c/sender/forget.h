/* Gives memory back that is not needed any more. */
#ifndef BB_SENDER_FORGET_H
#define BB_SENDER_FORGET_H
#include <stddef.h>

/* That of a large table, all of whose bytes are then zero: for what is needed seldom. */
void release(void *table, size_t bytes);
/* That of what is needed to start, or to read options again; see layout.ld. To be called from elsewhere, by whoever started. */
void forget_start(void);

/* That of the text of what is needed every few seconds or to start, if it was needed since the last time. Any thread may. */
void forget_seldom(void);
/* It was needed. */
void used_seldom(void);

#endif

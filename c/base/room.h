/* Tables that grow with what is in them, so that a program claims no more memory than its machine is large. */
#ifndef BB_ROOM_H
#define BB_ROOM_H
#include <stdbool.h>
#include <stddef.h>

struct room {
  char *at; /* aligned to 64 bytes; NULL before the first */
  size_t bytes;
};

/* Makes room for so many bytes: what was there stays, though perhaps at another place, and what is new is zero. False
 * if the kernel gives no more memory: then all is as before. Each table is of one thread at a time. */
bool make_room(struct room *room, size_t bytes);

#endif

/* What comes back about datagrams of a connected UDP socket: the kernel keeps it in the socket's error queue, and this
 * says it in words, for both senders. */
#ifndef BB_REFUSALS_H
#define BB_REFUSALS_H
#include <sys/socket.h>

#include "words.h"

/* Lets the kernel keep it. Where it cannot, as in gVisor, only ECONNREFUSED is learnt. */
void refusals_keep(int fd, int family);
/* Empties the queue; to be called after each error of the socket, or a program that polls it never waits again. Returns
 * how many datagrams were refused, and adds the cause of the last one, with a NUL behind it. */
unsigned refusals_take(int fd, struct words *cause);
/* The largest packet that the way takes, if datagrams of `bytes` travel in pieces, which is added; 0: they do not. */
unsigned refusals_pieces(int fd, unsigned bytes, struct words *what);
/* An address without its port. */
void add_host(struct words *words, const struct sockaddr_storage *at);
#endif

/* Sends many reports with few system calls (UDP_SEGMENT if the kernel has it), for the load generator. Makes no
 * reports and does not schedule. */
#ifndef BB_BULK_SEND_H
#define BB_BULK_SEND_H
#include <stddef.h>
#include <stdint.h>

/* A connected UDP socket to a numeric address: a descriptor, or -errno. */
int bb_bulk_open(const char *host, uint16_t port);

/* Sends `count` datagrams of `bytes` each that are one after another. Returns how many were sent, or -errno. A
 * master that is not there (ECONNREFUSED) is not an error: its datagrams count as sent, as they would on a wire. */
long bb_bulk_send(int fd, const void *datagrams, size_t bytes, size_t count);
#endif

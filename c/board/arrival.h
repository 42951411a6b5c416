/* When, from where and by which link a datagram came. */
#ifndef BB_ARRIVAL_H
#define BB_ARRIVAL_H
#include <stdbool.h>
#include <stdint.h>

/* When and from where a datagram came. */
struct bb_arrival {
  int64_t stamp_ns;      /* CLOCK_MONOTONIC */
  int64_t stamp_real_ns; /* CLOCK_REALTIME */
  uint8_t address[16];   /* IPv6, or ::ffff:a.b.c.d */
  uint16_t port;
  uint64_t expected;     /* The result of bb_writer_expect() for the datagram; 0: it was not called. */
  /* The number of the link by which it came; BB_LINK_UNKNOWN: it has none yet, or it did not come from a network. */
  uint32_t link;
  /* In that case: the master's interface, which gets a number if the report is accepted; NULL: none. */
  const char *interface;
  bool in_pieces;        /* it was joined from IP fragments */
  uint32_t interface_index;
};

#endif

/* ADDR[:PORT], as in options. Does not resolve names: a name stays a name. */
#ifndef BB_ADDRESS_H
#define BB_ADDRESS_H
#include "say.h"

/* A name, an IPv4 address, or an IPv6 address without brackets. */
struct address {
  char host[256];
  uint16_t port;
  uint8_t family; /* AF_INET, AF_INET6; AF_UNSPEC: a name */
};

/* ADDR[:PORT], with that port where none is given; false with the reason in `why`. */
bool parse_address(struct span text, uint16_t default_port, struct address *address, struct words *why);
void add_address(struct words *words, const struct address *address);

#endif

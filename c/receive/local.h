/* The addresses of this machine itself, and networks of what runs on it: a report from one of these has crossed no
 * network of the master's. Pure; knows nothing of where they come from. */
#ifndef BB_LOCAL_H
#define BB_LOCAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses have 16 bytes, IPv4 as ::ffff:a.b.c.d. All zero: there are none. */
struct bb_addresses {
  struct bb_address *all; /* in order */
  size_t count, room;
};

/* An interface has it. `dump`: the last dump that has it. False: no memory. */
bool bb_addresses_add(struct bb_addresses *addresses, const uint8_t address[16], unsigned index, uint32_t dump);
void bb_addresses_remove(struct bb_addresses *addresses, const uint8_t address[16], unsigned index);

/* Removes what this dump, and changes since it began, did not have. */
void bb_addresses_keep(struct bb_addresses *addresses, uint32_t dump);

/* Whether any interface has it; of link scope, whether that interface has it. 127.0.0.0/8 and ::1 always are. */
bool bb_addresses_have(const struct bb_addresses *addresses, const uint8_t address[16], unsigned index);

/* A network: the first so many bits of the 128, so that an IPv4 network of 24 bits has 120. */
struct bb_network {
  uint8_t address[16];
  unsigned bits;
};

/* All zero: there are none. */
struct bb_networks {
  struct bb_range *ranges; /* in order, and apart from each other */
  size_t count;
};

/* Puts these networks in place of the old ones. False: no memory, and nothing has changed. */
bool bb_networks_set(struct bb_networks *networks, const struct bb_network *all, size_t count);

bool bb_networks_hold(const struct bb_networks *networks, const uint8_t address[16]);
#endif

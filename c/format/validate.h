/* Checks a datagram against the contract, as far as no state is needed. Pure: bytes in, a reason out. */
#ifndef BB_VALIDATE_H
#define BB_VALIDATE_H
#include <stddef.h>
#include <stdint.h>

#include "layout.gen.h"

/* The first reason in the contract's order for which `datagram` is rejected, or BB_REASON_NONE. `length` is its
 * number of bytes. */
enum bb_reason bb_validate(const uint8_t *datagram, size_t length, uint32_t cluster_id);

/* Whether the 64 bytes are a node's name: 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit, then zeros. */
int bb_is_name(const char name[64]);

#endif

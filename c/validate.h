/* Checks a datagram against the contract, as far as that needs no state. Pure: bytes in, a reason out. */
#ifndef BB_VALIDATE_H
#define BB_VALIDATE_H
#include <stddef.h>
#include <stdint.h>

#include "layout.gen.h"

/* The first reason in the ladder for which `datagram` is refused, or BB_REASON_NONE. `length` is what arrived. */
enum bb_reason bb_validate(const uint8_t *datagram, size_t length, uint32_t cluster_id);

/* Whether the 64 bytes are a node's name: 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit, then zeros. */
int bb_is_name(const char name[64]);

#endif

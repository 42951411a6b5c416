/* HMAC-SHA-256 with a prepared key: by the OpenSSL inside Node, which uses the processor's instructions for it, or
 * by our own file if there is none. Does not know what is signed, or with whose key. */
#ifndef BB_MAC_H
#define BB_MAC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BB_SECRET_BYTES 32
#define BB_MAC_BYTES 32

struct bb_mac;

/* A prepared key; about 1 KiB. NULL: no memory. For one thread at a time. */
struct bb_mac *bb_mac_new(const uint8_t secret[BB_SECRET_BYTES]);

/* The same with our own code in any case. */
struct bb_mac *bb_mac_new_own(const uint8_t secret[BB_SECRET_BYTES]);

/* False: no memory; then `out` is undefined. */
bool bb_mac_make(struct bb_mac *mac, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]);

/* Erases the key. NULL does nothing. */
void bb_mac_free(struct bb_mac *mac);

/* Whether OpenSSL is used. */
bool bb_mac_is_openssl(const struct bb_mac *mac);
#endif

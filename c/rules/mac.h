/* HMAC-SHA-256 with a prepared key (bb_hmac_key): by the OpenSSL inside Node, which uses the processor's instructions
 * for it, or by our own file if there is none. Does not know what is signed, or with whose key. */
#ifndef BB_MAC_H
#define BB_MAC_H
#include <stdbool.h>

#include "../base/sha256.h"

#define BB_SECRET_BYTES 32
#define BB_MAC_BYTES BB_SHA256_BYTES

void bb_mac(const struct bb_hmac *key, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]);

/* Whether OpenSSL is used. */
bool bb_mac_is_openssl(void);
#endif

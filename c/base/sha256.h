/* SHA-256 after FIPS 180-4 and HMAC-SHA-256 after RFC 2104. Pure: no I/O, no allocation, no table that is built.
 * Refuses to be general: messages whole or in pieces, tags of 32 bytes. */
#ifndef BB_SHA256_H
#define BB_SHA256_H
#include <stddef.h>
#include <stdint.h>

#define BB_SHA256_BYTES 32

struct bb_sha256 {
  uint32_t state[8];
  uint64_t length; /* bytes taken so far */
  uint8_t block[64];
};

void bb_sha256_begin(struct bb_sha256 *sha);
void bb_sha256_add(struct bb_sha256 *sha, const void *data, size_t length);
void bb_sha256_end(struct bb_sha256 *sha, uint8_t digest[BB_SHA256_BYTES]);

/* A key made ready: the states after its two blocks, which are hashed once, not for each message. */
struct bb_hmac {
  uint32_t inner[8], outer[8];
};

void bb_hmac_key(struct bb_hmac *hmac, const void *key, size_t length);
void bb_hmac(const struct bb_hmac *hmac, const void *data, size_t length, uint8_t tag[BB_SHA256_BYTES]);

#endif

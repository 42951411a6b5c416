/* HMAC-SHA-256 with a key that is made ready once: by the OpenSSL that Node brings along, whose code uses what the processor has for
 * it, or by our own file where there is none. Refuses to know what is signed, and with whose key. */
#ifndef BB_MAC_H
#define BB_MAC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BB_SECRET_BYTES 32
#define BB_MAC_BYTES 32

struct bb_mac;

/* A key made ready; about 1 KiB. NULL: no memory. Of one thread at a time. */
struct bb_mac *bb_mac_new(const uint8_t secret[BB_SECRET_BYTES]);

/* The same in our own code, whatever else there is. */
struct bb_mac *bb_mac_new_own(const uint8_t secret[BB_SECRET_BYTES]);

/* False: no memory; then `out` says nothing. */
bool bb_mac_make(struct bb_mac *mac, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]);

/* Forgets the key. NULL is nothing. */
void bb_mac_free(struct bb_mac *mac);

/* Whether it is OpenSSL that computes. */
bool bb_mac_is_openssl(const struct bb_mac *mac);

#ifdef __cplusplus
}
#endif
#endif

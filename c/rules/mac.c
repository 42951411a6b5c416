/* Why the symbols of another program's library are safe to call:
 *   - node is linked with OpenSSL and exports its functions for addons; OpenSSL 3 deprecates those that are called
 *     here, which hash on from a state, but promises that they stay as they are as long as its major version does. Node
 *     20 to 26 have 3.x (`npm run test:long -- nodes` shows it on each).
 *   - Another major version is not used: OPENSSL_version_major() is asked first. Nor is a library in which one of them
 *     is missing, as with BoringSSL: they are weak, and then NULL.
 *   - Before the first use they have to make one tag just as our own code does. If they do not, our own code makes them
 *     all. */
#include "mac.h"

#include <pthread.h>
#include <string.h>

/* What we use of OpenSSL 3, which node exports. Declared here, as its headers come with some installations of Node
 * only; and weak, since a Node may be built on another library, and programs of ours have none. */
typedef struct SHA256state_st {
  uint32_t h[8], bits_low, bits_high, data[16];
  unsigned int num, md_len;
} SHA256_CTX;
#define WEAK __attribute__((weak))
WEAK unsigned int OPENSSL_version_major(void);
WEAK int SHA256_Update(SHA256_CTX *context, const void *data, size_t length);
WEAK int SHA256_Final(unsigned char *out, SHA256_CTX *context);

#define KNOWN_MAJOR 3
#define BLOCK_BITS 512

static bool is_openssl;

static void hash_by_openssl(const uint32_t state[8], const void *data, size_t length, uint8_t out[BB_MAC_BYTES]) {
  SHA256_CTX context = {.bits_low = BLOCK_BITS, .md_len = BB_SHA256_BYTES};
  memcpy(context.h, state, sizeof context.h);
  SHA256_Update(&context, data, length);
  SHA256_Final(out, &context);
}

static void make_by_openssl(const struct bb_hmac *key, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]) {
  hash_by_openssl(key->inner, data, length, out);
  hash_by_openssl(key->outer, out, BB_MAC_BYTES, out);
}

static void find(void) {
  if (OPENSSL_version_major == NULL || SHA256_Update == NULL || SHA256_Final == NULL) return;
  if (OPENSSL_version_major() != KNOWN_MAJOR) return;
  static const uint8_t secret[BB_SECRET_BYTES] = {1, 2, 3}, message[1200] = {4, 5, 6};
  uint8_t theirs[BB_MAC_BYTES], ours[BB_MAC_BYTES];
  struct bb_hmac key;
  bb_hmac_key(&key, secret, sizeof secret);
  bb_hmac(&key, message, sizeof message, ours);
  make_by_openssl(&key, message, sizeof message, theirs);
  is_openssl = memcmp(theirs, ours, sizeof ours) == 0;
}

bool bb_mac_is_openssl(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find);
  return is_openssl;
}

void bb_mac(const struct bb_hmac *key, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]) {
  (bb_mac_is_openssl() ? make_by_openssl : bb_hmac)(key, data, length, out);
}

/* Why the symbols of another program's library are safe to call:
 *   - node is linked with OpenSSL and exports its functions for addons; all that are called here came with OpenSSL 3.0,
 *     which promises that they stay as they are as long as its major version does. Node 20 to 26 have 3.x (`npm run
 *     test:long -- nodes` shows it on each).
 *   - Another major version is not used: OPENSSL_version_major() is asked first. Nor is a library in which one of them
 *     is missing, as BoringSSL is: they are weak, and then NULL.
 *   - Before the first use it has to make one tag just as our own code does. If it does not, our own code makes them
 *     all. */
#include "mac.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sha256.h"

/* What we use of OpenSSL 3, which node exports. Declared here, as its headers come with some installations of Node
 * only; and weak, since a Node may be built on another library, and programs of ours have none. */
typedef struct evp_mac_st EVP_MAC;
typedef struct evp_mac_ctx_st EVP_MAC_CTX;
struct ossl_param_st {
  const char *key;
  unsigned int data_type;
  void *data;
  size_t data_size, return_size;
};
#define OSSL_PARAM_UTF8_STRING 4
#define OSSL_PARAM_UNMODIFIED SIZE_MAX
#define WEAK __attribute__((weak))
WEAK unsigned int OPENSSL_version_major(void);
WEAK EVP_MAC *EVP_MAC_fetch(void *library, const char *algorithm, const char *properties);
WEAK EVP_MAC_CTX *EVP_MAC_CTX_new(EVP_MAC *mac);
WEAK void EVP_MAC_CTX_free(EVP_MAC_CTX *context);
WEAK int EVP_MAC_init(EVP_MAC_CTX *context, const unsigned char *key, size_t length,
                      const struct ossl_param_st parameters[]);
WEAK int EVP_MAC_update(EVP_MAC_CTX *context, const unsigned char *data, size_t length);
WEAK int EVP_MAC_final(EVP_MAC_CTX *context, unsigned char *out, size_t *length, size_t size);

struct bb_mac {
  EVP_MAC_CTX *context; /* NULL: `own` computes */
  struct bb_hmac own[]; /* no separate object besides a context */
};

#define KNOWN_MAJOR 3

static EVP_MAC *hmac; /* kept as long as the process lives; NULL: there is none that may be used */

/* An OpenSSL context with this key. NULL: it refuses (a policy of the machine, no memory). */
static EVP_MAC_CTX *make_context(const uint8_t secret[BB_SECRET_BYTES]) {
  EVP_MAC_CTX *context = hmac == NULL ? NULL : EVP_MAC_CTX_new(hmac);
  if (context == NULL) return NULL;
  static char digest[] = "SHA256";
  const struct ossl_param_st parameters[] = {
    {"digest", OSSL_PARAM_UTF8_STRING, digest, sizeof digest - 1, OSSL_PARAM_UNMODIFIED},
    {NULL, 0, NULL, 0, 0},
  };
  if (EVP_MAC_init(context, secret, BB_SECRET_BYTES, parameters) == 1) return context;
  EVP_MAC_CTX_free(context);
  return NULL;
}

static bool make_tag(EVP_MAC_CTX *context, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]) {
  size_t made = 0;
  /* Without a key: starts again with the one that it has. */
  return EVP_MAC_init(context, NULL, 0, NULL) == 1 &&
         EVP_MAC_update(context, (const unsigned char *)data, length) == 1 &&
         EVP_MAC_final(context, out, &made, BB_MAC_BYTES) == 1 && made == BB_MAC_BYTES;
}

/* Whether it makes the tags that our own code makes. */
static bool agrees(void) {
  static const uint8_t secret[BB_SECRET_BYTES] = {1, 2, 3}, message[1200] = {4, 5, 6};
  uint8_t theirs[BB_MAC_BYTES], ours[BB_MAC_BYTES];
  struct bb_hmac own;
  bb_hmac_key(&own, secret, sizeof secret);
  bb_hmac(&own, message, sizeof message, ours);
  EVP_MAC_CTX *context = make_context(secret);
  const bool made = context != NULL && make_tag(context, message, sizeof message, theirs);
  if (context != NULL) EVP_MAC_CTX_free(context);
  return made && memcmp(theirs, ours, sizeof ours) == 0;
}

static void fetch(void) {
  const bool has_all = OPENSSL_version_major != NULL && EVP_MAC_fetch != NULL && EVP_MAC_CTX_new != NULL &&
                       EVP_MAC_CTX_free != NULL && EVP_MAC_init != NULL && EVP_MAC_update != NULL &&
                       EVP_MAC_final != NULL;
  if (has_all && OPENSSL_version_major() == KNOWN_MAJOR) hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  if (hmac != NULL && !agrees()) hmac = NULL;
}

/* OpenSSL's, with this key. NULL: there is none that may be used, or it refuses. */
static EVP_MAC_CTX *new_context(const uint8_t secret[BB_SECRET_BYTES]) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fetch);
  return make_context(secret);
}

static size_t size_of(const EVP_MAC_CTX *context) {
  return sizeof(struct bb_mac) + (context == NULL ? sizeof(struct bb_hmac) : 0);
}

static struct bb_mac *new_mac(EVP_MAC_CTX *context, const uint8_t secret[BB_SECRET_BYTES]) {
  struct bb_mac *mac = (struct bb_mac *)malloc(size_of(context));
  if (mac == NULL) {
    if (context != NULL) EVP_MAC_CTX_free(context);
    return NULL;
  }
  mac->context = context;
  if (context == NULL) bb_hmac_key(mac->own, secret, BB_SECRET_BYTES);
  return mac;
}

struct bb_mac *bb_mac_new(const uint8_t secret[BB_SECRET_BYTES]) { return new_mac(new_context(secret), secret); }

struct bb_mac *bb_mac_new_own(const uint8_t secret[BB_SECRET_BYTES]) { return new_mac(NULL, secret); }

bool bb_mac_make(struct bb_mac *mac, const void *data, size_t length, uint8_t out[BB_MAC_BYTES]) {
  if (mac->context == NULL) {
    bb_hmac(mac->own, data, length, out);
    return true;
  }
  return make_tag(mac->context, data, length, out);
}

void bb_mac_free(struct bb_mac *mac) {
  if (mac == NULL) return;
  if (mac->context != NULL) EVP_MAC_CTX_free(mac->context);
  explicit_bzero(mac, size_of(mac->context));
  free(mac);
}

bool bb_mac_is_openssl(const struct bb_mac *mac) { return mac->context != NULL; }

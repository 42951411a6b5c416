/* The key that signs reports. Refuses files that others can read. No message ever shows a key. */
#ifndef BB_SIGNINGKEY_H
#define BB_SIGNINGKEY_H
#include <sys/types.h>

#include "../base/say.h"
#include "../base/sha256.h"
#include "../format/layout.gen.h"

struct key {
  uint16_t id;
  uint8_t alg; /* BB_AUTH_ALG_NONE: there is none */
  struct bb_hmac hmac;
};

/* The key with which the node of this name signs, from a file of ours, of root, or of the user to become. False with
 * the reason in `fault`. */
bool read_signing_key(const char *path, const char *name, uid_t other, struct key *key, struct words *fault);

#endif

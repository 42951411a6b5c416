/* The receiver's keys, and what a report's signature proves. Derives the nodes' keys, and keeps each with the number
 * of its record: in private memory, never on the board. Changes nothing about reports. For one thread. */
#ifndef BB_KEYRING_H
#define BB_KEYRING_H
#include <stddef.h>
#include <stdint.h>

#include "../format/layout.gen.h"
#include "mac.h"

/* Both are valid while a key is being changed. */
#define BB_MOST_KEYS 2
#define BB_NO_RECORD UINT32_MAX

/* A cluster key. */
struct bb_key {
  uint16_t id;
  uint8_t secret[BB_SECRET_BYTES];
};

struct bb_keyring;

/* For one or two keys with different ids, for a board of so many records. NULL: no memory. */
struct bb_keyring *bb_keyring_new(const struct bb_key *keys, size_t count, uint32_t capacity);

/* Erases all keys. NULL does nothing. */
void bb_keyring_free(struct bb_keyring *ring);

/* What the signature of a valid datagram proves, in `proved`; otherwise the reason for rejecting it: auth_missing if
 * it claims less than `least`, key_id, or tag. A datagram without a signature proves nothing, and is rejected only
 * for that. `record` is that of its name; BB_NO_RECORD: it has none, and its node's key is derived for this call. */
enum bb_reason bb_keyring_prove(struct bb_keyring *ring, const uint8_t *datagram, uint32_t record,
                                enum bb_auth_alg least, enum bb_auth_alg *proved);

/* The name of the last datagram got this record: the derived key is kept for it. */
void bb_keyring_adopt(struct bb_keyring *ring, uint32_t record);

/* Records have other numbers now: each node's key will be derived once more. False: no memory; then only cluster
 * keys and names that are new can be proved. */
bool bb_keyring_renumber(struct bb_keyring *ring, uint32_t capacity);
#endif

/* The receiver's keys, and what a report's tag proves. Derives the nodes' keys, and keeps each beside the number of its record: in private
 * memory, never on the board. Changes nothing that a report is about. Of one thread. */
#ifndef BB_KEYRING_H
#define BB_KEYRING_H
#include <stddef.h>
#include <stdint.h>

#include "layout.gen.h"
#include "mac.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Valid at once, while a key is changed. */
#define BB_MOST_KEYS 2
#define BB_NO_RECORD UINT32_MAX

/* A cluster key. */
struct bb_key {
  uint16_t id;
  uint8_t secret[BB_SECRET_BYTES];
};

struct bb_keyring;

/* Of one or two keys with different ids, for a board of so many records. NULL: no memory. */
struct bb_keyring *bb_keyring_new(const struct bb_key *keys, size_t count, uint32_t capacity);

/* Forgets all keys. NULL is nothing. */
void bb_keyring_free(struct bb_keyring *ring);

/* What the tag of a valid datagram proves, in `proved`; else the reason for which it is refused: auth_missing when it claims less than
 * `least`, key_id, or tag. A datagram without a tag proves nothing, and is refused for nothing but that. `record` is that of its name;
 * BB_NO_RECORD: it has none, and its node's key is derived for this once. */
enum bb_reason bb_keyring_prove(struct bb_keyring *ring, const uint8_t *datagram, uint32_t record, enum bb_auth_alg least,
                                enum bb_auth_alg *proved);

/* The name of the last datagram has become this record: the key that was derived for it stays. */
void bb_keyring_adopt(struct bb_keyring *ring, uint32_t record);

/* Records have other numbers now: each node's key will be derived once more. False: no memory, and only cluster keys and names that are
 * new can be proved. */
bool bb_keyring_renumber(struct bb_keyring *ring, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif

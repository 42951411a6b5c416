#include "keyring.h"

#include <stdlib.h>
#include <string.h>

#define TAG_OFFSET offsetof(struct bb_report, tag)
#define TAG_BYTES (BB_REPORT_BYTES - TAG_OFFSET)
_Static_assert(TAG_BYTES <= BB_MAC_BYTES, "the tag is cut from the whole");

struct cluster_key {
  uint16_t id;
  struct bb_mac *mac;
  struct bb_mac **nodes; /* by number of record, NULL where none was derived yet */
};

struct bb_keyring {
  size_t count;
  uint32_t capacity;
  struct cluster_key keys[BB_MOST_KEYS];
  /* Derived for a name without a record. */
  struct bb_mac *stray;
  size_t stray_key;
};

static void drop_nodes(struct bb_keyring *ring) {
  for (size_t k = 0; k < ring->count; k++) {
    struct cluster_key *key = &ring->keys[k];
    for (uint32_t i = 0; key->nodes != NULL && i < ring->capacity; i++) bb_mac_free(key->nodes[i]);
    free(key->nodes);
    key->nodes = NULL;
  }
  ring->capacity = 0;
  bb_mac_free(ring->stray);
  ring->stray = NULL;
}

bool bb_keyring_renumber(struct bb_keyring *ring, uint32_t capacity) {
  drop_nodes(ring);
  for (size_t k = 0; k < ring->count; k++) {
    ring->keys[k].nodes = (struct bb_mac **)calloc(capacity, sizeof(struct bb_mac *));
    if (ring->keys[k].nodes == NULL) {
      drop_nodes(ring);
      return false;
    }
  }
  ring->capacity = capacity;
  return true;
}

struct bb_keyring *bb_keyring_new(const struct bb_key *keys, size_t count, uint32_t capacity) {
  struct bb_keyring *ring = (struct bb_keyring *)calloc(1, sizeof *ring);
  if (ring == NULL) return NULL;
  for (; ring->count < count; ring->count++) {
    struct cluster_key *key = &ring->keys[ring->count];
    key->id = keys[ring->count].id;
    key->mac = bb_mac_new(keys[ring->count].secret);
    if (key->mac == NULL) break;
  }
  if (ring->count == count && bb_keyring_renumber(ring, capacity)) return ring;
  bb_keyring_free(ring);
  return NULL;
}

void bb_keyring_free(struct bb_keyring *ring) {
  if (ring == NULL) return;
  drop_nodes(ring);
  for (size_t k = 0; k < ring->count; k++) bb_mac_free(ring->keys[k].mac);
  free(ring);
}

/* The key of the node of this name. NULL: no memory. */
static struct bb_mac *derive(const struct cluster_key *key, const char *name) {
  uint8_t secret[BB_SECRET_BYTES];
  _Static_assert(BB_SECRET_BYTES == BB_MAC_BYTES, "a node's key is a whole HMAC");
  struct bb_mac *mac = bb_mac_make(key->mac, name, strnlen(name, 64), secret) ? bb_mac_new(secret) : NULL;
  explicit_bzero(secret, sizeof secret);
  return mac;
}

/* The key with which the node of this name signs, derived on first use. NULL: no memory. */
static struct bb_mac *node_key(struct bb_keyring *ring, size_t k, uint32_t record, const char *name) {
  struct cluster_key *key = &ring->keys[k];
  if (record < ring->capacity) {
    if (key->nodes[record] == NULL) key->nodes[record] = derive(key, name);
    return key->nodes[record];
  }
  bb_mac_free(ring->stray);
  ring->stray = derive(key, name);
  ring->stray_key = k;
  return ring->stray;
}

void bb_keyring_adopt(struct bb_keyring *ring, uint32_t record) {
  if (ring->stray == NULL || record >= ring->capacity) return;
  struct bb_mac **node = &ring->keys[ring->stray_key].nodes[record];
  bb_mac_free(*node);
  *node = ring->stray;
  ring->stray = NULL;
}

/* In constant time, wherever they differ. */
static bool equal(const uint8_t *a, const uint8_t *b, size_t length) {
  volatile uint8_t differ = 0;
  for (size_t i = 0; i < length; i++) differ |= a[i] ^ b[i];
  return differ == 0;
}

enum bb_reason bb_keyring_prove(struct bb_keyring *ring, const uint8_t *datagram, uint32_t record,
                                enum bb_auth_alg least, enum bb_auth_alg *proved) {
  const uint8_t alg = datagram[offsetof(struct bb_report, auth_alg)];
  uint16_t id;
  memcpy(&id, datagram + offsetof(struct bb_report, key_id), sizeof id);
  *proved = BB_AUTH_ALG_NONE;
  /* A key that was derived for an earlier name is not this one's. */
  bb_mac_free(ring->stray);
  ring->stray = NULL;
  if (alg < least) return BB_REASON_AUTH_MISSING;
  if (alg == BB_AUTH_ALG_NONE) return BB_REASON_NONE;
  size_t k = 0;
  while (k < ring->count && ring->keys[k].id != id) k++;
  if (k == ring->count) return BB_REASON_KEY_ID;
  struct bb_mac *mac = alg == BB_AUTH_ALG_NODE
                         ? node_key(ring, k, record, (const char *)datagram + offsetof(struct bb_report, hostname))
                         : ring->keys[k].mac;
  uint8_t made[BB_MAC_BYTES];
  if (mac == NULL || !bb_mac_make(mac, datagram, TAG_OFFSET, made) || !equal(made, datagram + TAG_OFFSET, TAG_BYTES))
    return BB_REASON_TAG;
  *proved = (enum bb_auth_alg)alg;
  return BB_REASON_NONE;
}

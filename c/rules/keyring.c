#include "keyring.h"

#include <stdlib.h>
#include <string.h>

#define TAG_OFFSET offsetof(struct bb_report, tag)
#define TAG_BYTES (BB_REPORT_BYTES - TAG_OFFSET)
_Static_assert(TAG_BYTES <= BB_MAC_BYTES, "the tag is cut from the whole");
_Static_assert(TAG_BYTES % 8 == 0, "and is compared by words");

struct cluster_key {
  uint16_t id;
  struct bb_hmac hmac;
  struct bb_hmac *nodes; /* by number of record, 0 where none was derived yet: such pages cost nothing */
};

struct bb_keyring {
  size_t count;
  uint32_t capacity;
  struct cluster_key keys[BB_MOST_KEYS];
  /* Derived for a name without a record. */
  struct bb_hmac stray;
  size_t stray_key;
};

/* No key's first states are 0, but for a chance of 2 to the -256; and such a key would be derived each time. */
static bool is_derived(const struct bb_hmac *key) {
  static const struct bb_hmac none;
  return memcmp(key, &none, sizeof none) != 0;
}

static void drop_stray(struct bb_keyring *ring) { explicit_bzero(&ring->stray, sizeof ring->stray); }

static void drop_nodes(struct bb_keyring *ring) {
  for (size_t k = 0; k < ring->count; k++) {
    struct cluster_key *key = &ring->keys[k];
    for (uint32_t i = 0; key->nodes != NULL && i < ring->capacity; i++)
      if (is_derived(&key->nodes[i])) explicit_bzero(&key->nodes[i], sizeof key->nodes[i]);
    free(key->nodes);
    key->nodes = NULL;
  }
  ring->capacity = 0;
  drop_stray(ring);
}

bool bb_keyring_renumber(struct bb_keyring *ring, uint32_t capacity) {
  drop_nodes(ring);
  for (size_t k = 0; k < ring->count; k++) {
    ring->keys[k].nodes = (struct bb_hmac *)calloc(capacity, sizeof *ring->keys[k].nodes);
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
    bb_hmac_key(&key->hmac, keys[ring->count].secret, BB_SECRET_BYTES);
  }
  if (bb_keyring_renumber(ring, capacity)) return ring;
  bb_keyring_free(ring);
  return NULL;
}

void bb_keyring_free(struct bb_keyring *ring) {
  if (ring == NULL) return;
  drop_nodes(ring);
  explicit_bzero(ring, sizeof *ring);
  free(ring);
}

/* The key of the node of this name. */
static void derive(const struct cluster_key *key, const char *name, struct bb_hmac *node) {
  uint8_t secret[BB_SECRET_BYTES];
  _Static_assert(BB_SECRET_BYTES == BB_MAC_BYTES, "a node's key is a whole HMAC");
  bb_mac(&key->hmac, name, strnlen(name, 64), secret);
  bb_hmac_key(node, secret, sizeof secret);
  explicit_bzero(secret, sizeof secret);
}

/* The key with which the node of this name signs, derived on first use. */
static const struct bb_hmac *node_key(struct bb_keyring *ring, size_t k, uint32_t record, const char *name) {
  const bool has_record = record < ring->capacity;
  struct bb_hmac *node = has_record ? &ring->keys[k].nodes[record] : &ring->stray;
  if (!has_record) ring->stray_key = k;
  if (!is_derived(node)) derive(&ring->keys[k], name, node);
  return node;
}

void bb_keyring_adopt(struct bb_keyring *ring, uint32_t record) {
  if (!is_derived(&ring->stray) || record >= ring->capacity) return;
  ring->keys[ring->stray_key].nodes[record] = ring->stray;
  drop_stray(ring);
}

/* In constant time, wherever they differ. */
static bool equal(const uint8_t a[TAG_BYTES], const uint8_t b[TAG_BYTES]) {
  uint64_t words[2][TAG_BYTES / 8];
  memcpy(words[0], a, TAG_BYTES);
  memcpy(words[1], b, TAG_BYTES);
  volatile uint64_t differ = 0;
  for (size_t i = 0; i < TAG_BYTES / 8; i++) differ |= words[0][i] ^ words[1][i];
  return differ == 0;
}

enum bb_reason bb_keyring_prove(struct bb_keyring *ring, const uint8_t *datagram, uint32_t record,
                                enum bb_auth_alg least, enum bb_auth_alg *proved) {
  const uint8_t alg = datagram[offsetof(struct bb_report, auth_alg)];
  uint16_t id;
  memcpy(&id, datagram + offsetof(struct bb_report, key_id), sizeof id);
  *proved = BB_AUTH_ALG_NONE;
  /* A key that was derived for an earlier name is not this one's. */
  drop_stray(ring);
  if (alg < least) return BB_REASON_AUTH_MISSING;
  if (alg == BB_AUTH_ALG_NONE) return BB_REASON_NONE;
  size_t k = 0;
  while (k < ring->count && ring->keys[k].id != id) k++;
  if (k == ring->count) return BB_REASON_KEY_ID;
  const struct bb_hmac *key =
    alg == BB_AUTH_ALG_NODE ? node_key(ring, k, record, (const char *)datagram + offsetof(struct bb_report, hostname))
                            : &ring->keys[k].hmac;
  uint8_t made[BB_MAC_BYTES];
  bb_mac(key, datagram, TAG_OFFSET, made);
  if (!equal(made, datagram + TAG_OFFSET)) return BB_REASON_TAG;
  *proved = (enum bb_auth_alg)alg;
  return BB_REASON_NONE;
}

/* SHA-256 and HMAC by the vectors of FIPS 180-4, NIST and RFC 4231; what a keyring makes of signatures. */
#include <stdlib.h>

#include "../../base/sha256.h"
#include "../../rules/keyring.h"
#include "check.h"

static const char *hex(const uint8_t *bytes, size_t count) {
  static char text[2 * 64 + 1];
  for (size_t i = 0; i < count; i++) sprintf(text + 2 * i, "%02x", bytes[i]);
  return text;
}

static const struct {
  const char *message, *digest;
} digests[] = {
  {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
  {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
  {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
  {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
   "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void check_digests(void) {
  uint8_t digest[BB_SHA256_BYTES];
  struct bb_sha256 sha;
  for (size_t i = 0; i < sizeof digests / sizeof digests[0]; i++) {
    const size_t length = strlen(digests[i].message);
    for (size_t split = 0; split <= length; split++) {
      bb_sha256_begin(&sha);
      bb_sha256_add(&sha, digests[i].message, split);
      bb_sha256_add(&sha, digests[i].message + split, length - split);
      bb_sha256_end(&sha, digest);
      CHECK_TEXT(hex(digest, sizeof digest), digests[i].digest);
    }
  }
  static char thousand[1000];
  memset(thousand, 'a', sizeof thousand);
  bb_sha256_begin(&sha);
  for (int i = 0; i < 1000; i++) bb_sha256_add(&sha, thousand, sizeof thousand);
  bb_sha256_end(&sha, digest);
  CHECK_TEXT(hex(digest, sizeof digest), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 4231, and keys about the length of a block; `times`: that byte so often. */
static const struct {
  const char *key;
  size_t key_times;
  const char *data;
  size_t data_times;
  const char *tag;
} tags[] = {
  {"\x0b", 20, "Hi There", 1, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
  {"Jefe", 1, "what do ya want for nothing?", 1, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
  {"\xaa", 20, "\xdd", 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
  {"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19", 1,
   "\xcd", 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
  {"\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First", 1,
   "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  {"\xaa", 131,
   "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed "
   "before being used by the HMAC algorithm.",
   1, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  {"\x0b", 64, "Hi There", 1, "21cd586aeca0579d99a1c938127c92525a371f807bc5ba6eb78bc825bd4f2be3"}, /* a block */
  {"\x0b", 65, "Hi There", 1, "727b82fba264393c5d67fd6d6ad783e9019a1fa6a857fccb70f5852f04be5d5d"}, /* and longer */
};

static size_t repeat(uint8_t *to, const char *text, size_t times) {
  const size_t length = strlen(text);
  for (size_t i = 0; i < times; i++) memcpy(to + i * length, text, length);
  return times * length;
}

static void check_tags(void) {
  for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
    uint8_t key[200], data[200], tag[BB_SHA256_BYTES];
    const size_t key_bytes = repeat(key, tags[i].key, tags[i].key_times);
    const size_t bytes = repeat(data, tags[i].data, tags[i].data_times);
    struct bb_hmac hmac;
    bb_hmac_key(&hmac, key, key_bytes);
    for (int twice = 0; twice < 2; twice++) {
      bb_hmac(&hmac, data, bytes, tag);
      CHECK_TEXT(hex(tag, sizeof tag), tags[i].tag);
    }
  }
}

static const struct bb_key keys[] = {{1, {1}}, {2, {2}}};

/* A report that says that it is signed with that key of that id. */
static struct bb_report signed_report(const char *name, enum bb_auth_alg alg, uint16_t id, const uint8_t *secret) {
  struct bb_report r = {.auth_alg = (uint8_t)alg, .key_id = id};
  memcpy(r.hostname, name, strlen(name));
  uint8_t node_key[BB_MAC_BYTES], tag[BB_MAC_BYTES];
  struct bb_hmac hmac;
  bb_hmac_key(&hmac, secret, BB_SECRET_BYTES);
  if (alg == BB_AUTH_ALG_NODE) {
    bb_hmac(&hmac, name, strlen(name), node_key);
    bb_hmac_key(&hmac, node_key, sizeof node_key);
  }
  bb_hmac(&hmac, &r, offsetof(struct bb_report, tag), tag);
  if (alg != BB_AUTH_ALG_NONE) memcpy(r.tag, tag, sizeof r.tag);
  return r;
}

static const struct {
  const char *what;
  enum bb_auth_alg alg, least;
  uint16_t id;
  uint8_t secret;
  enum bb_reason reason;
  enum bb_auth_alg proved;
} proofs[] = {
  {"a node's key", BB_AUTH_ALG_NODE, BB_AUTH_ALG_NODE, 1, 1, BB_REASON_NONE, BB_AUTH_ALG_NODE},
  {"that of the second key", BB_AUTH_ALG_NODE, BB_AUTH_ALG_NODE, 2, 2, BB_REASON_NONE, BB_AUTH_ALG_NODE},
  {"the cluster's key", BB_AUTH_ALG_CLUSTER, BB_AUTH_ALG_CLUSTER, 1, 1, BB_REASON_NONE, BB_AUTH_ALG_CLUSTER},
  {"no key", BB_AUTH_ALG_NONE, BB_AUTH_ALG_NONE, 0, 0, BB_REASON_NONE, BB_AUTH_ALG_NONE},
  {"no key where one is asked for", BB_AUTH_ALG_NONE, BB_AUTH_ALG_CLUSTER, 0, 0, BB_REASON_AUTH_MISSING,
   BB_AUTH_ALG_NONE},
  {"the cluster's where the node's is", BB_AUTH_ALG_CLUSTER, BB_AUTH_ALG_NODE, 1, 1, BB_REASON_AUTH_MISSING,
   BB_AUTH_ALG_NONE},
  {"an id that is not known", BB_AUTH_ALG_NODE, BB_AUTH_ALG_NONE, 3, 1, BB_REASON_KEY_ID, BB_AUTH_ALG_NONE},
  {"another key than the id's", BB_AUTH_ALG_NODE, BB_AUTH_ALG_NONE, 1, 2, BB_REASON_TAG, BB_AUTH_ALG_NONE},
  {"another cluster's key", BB_AUTH_ALG_CLUSTER, BB_AUTH_ALG_NONE, 2, 9, BB_REASON_TAG, BB_AUTH_ALG_NONE},
};

static void check_keyring(void) {
  struct bb_keyring *ring = bb_keyring_new(keys, 2, 4);
  for (uint32_t i = 0; i < 3 * sizeof proofs / sizeof proofs[0]; i++) {
    const size_t at = i / 3;
    /* Twice with a record, for which the key is kept, and once without. */
    const uint32_t record = i % 3 == 2 ? BB_NO_RECORD : 1;
    const uint8_t secret[BB_SECRET_BYTES] = {proofs[at].secret};
    struct bb_report r = signed_report("node1", proofs[at].alg, proofs[at].id, secret);
    enum bb_auth_alg proved = BB_AUTH_ALG_NODE;
    const enum bb_reason reason = bb_keyring_prove(ring, (const uint8_t *)&r, record, proofs[at].least, &proved);
    CHECK(reason == proofs[at].reason && proved == proofs[at].proved, "%s: reason %d, proved %d", proofs[at].what,
          (int)reason, (int)proved);
    if (proofs[at].reason != BB_REASON_NONE || proofs[at].alg == BB_AUTH_ALG_NONE) continue;
    /* Each bit is under the signature, or is it. */
    for (size_t bit = 0; bit < 8 * sizeof r; bit += 37) {
      ((uint8_t *)&r)[bit / 8] ^= (uint8_t)(1 << bit % 8);
      CHECK(bb_keyring_prove(ring, (const uint8_t *)&r, BB_NO_RECORD, BB_AUTH_ALG_CLUSTER, &proved) != BB_REASON_NONE,
            "%s: bit %zu", proofs[at].what, bit);
      ((uint8_t *)&r)[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
  }
  bb_keyring_free(ring);
}

/* The key of a record is that of its name, also when records are numbered anew. */
static void check_records(void) {
  struct bb_keyring *ring = bb_keyring_new(keys, 1, 2);
  enum bb_auth_alg proved;
  const struct bb_report a = signed_report("a", BB_AUTH_ALG_NODE, 1, keys[0].secret);
  const struct bb_report b = signed_report("b", BB_AUTH_ALG_NODE, 1, keys[0].secret);
  const uint8_t *const of_a = (const uint8_t *)&a, *const of_b = (const uint8_t *)&b;
  CHECK(bb_keyring_prove(ring, of_a, BB_NO_RECORD, BB_AUTH_ALG_NODE, &proved) == BB_REASON_NONE,
        "a name without a record");
  bb_keyring_adopt(ring, 0);
  CHECK(bb_keyring_prove(ring, of_a, 0, BB_AUTH_ALG_NODE, &proved) == BB_REASON_NONE, "it gets record 0");
  CHECK(bb_keyring_prove(ring, of_b, 0, BB_AUTH_ALG_NODE, &proved) == BB_REASON_TAG, "whose key is not another name's");
  bb_keyring_adopt(ring, 1); /* nothing was derived for it */
  CHECK(bb_keyring_prove(ring, of_b, 1, BB_AUTH_ALG_NODE, &proved) == BB_REASON_NONE, "record 1");
  CHECK(bb_keyring_renumber(ring, 1), "renumbered");
  CHECK(bb_keyring_prove(ring, of_b, 0, BB_AUTH_ALG_NODE, &proved) == BB_REASON_NONE, "record 0 is another name's now");
  CHECK(bb_keyring_prove(ring, of_a, 1, BB_AUTH_ALG_NODE, &proved) == BB_REASON_NONE, "beyond the records there are");
  bb_keyring_free(ring);
  bb_keyring_free(NULL);
}

static void check_mac(void) {
  struct bb_hmac key;
  uint8_t own[BB_MAC_BYTES], other[BB_MAC_BYTES];
  bb_hmac_key(&key, keys[0].secret, sizeof keys[0].secret);
  bb_hmac(&key, "x", 1, own);
  bb_mac(&key, "x", 1, other);
  CHECK(memcmp(own, other, sizeof own) == 0, "whoever makes it");
  CHECK(!bb_mac_is_openssl(), "no OpenSSL in a program that does not link it");
}

int main(void) {
  check_digests();
  check_tags();
  check_keyring();
  check_records();
  check_mac();
  return checked();
}

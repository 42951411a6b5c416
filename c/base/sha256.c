#include "sha256.h"

#include <string.h>

#define BLOCK 64u

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t word, unsigned bits) { return word >> bits | word << (32 - bits); }

static uint32_t big_endian(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_big_endian(uint8_t *at, uint32_t word) {
  for (unsigned i = 0; i < 4; i++) at[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* FIPS 180-4, 6.2.2. The schedule is kept as a ring of 16 words, because a word depends only on the 16 before it. */
static void sha256_compress(uint32_t state[8], const uint8_t *block) {
  uint32_t schedule[16];
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (unsigned t = 0; t < 64; t++) {
    if (t < 16) {
      schedule[t] = big_endian(block + (size_t)t * 4);
    } else {
      const uint32_t w2 = schedule[(t - 2) % 16], w15 = schedule[(t - 15) % 16];
      schedule[t % 16] += (rotated(w2, 17) ^ rotated(w2, 19) ^ w2 >> 10) + schedule[(t - 7) % 16] +
                          (rotated(w15, 7) ^ rotated(w15, 18) ^ w15 >> 3);
    }
    const uint32_t t1 = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] +
                        schedule[t % 16];
    const uint32_t t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (unsigned i = 0; i < 8; i++) state[i] += sums[i];
}

void bb_sha256_begin(struct bb_sha256 *sha) {
  *sha = (struct bb_sha256){
    .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
  };
}

void bb_sha256_add(struct bb_sha256 *sha, const void *data, size_t length) {
  const uint8_t *at = data;
  while (length > 0) {
    const size_t used = sha->length % BLOCK;
    if (used == 0 && length >= BLOCK) { /* whole blocks need no copy */
      sha256_compress(sha->state, at);
      sha->length += BLOCK;
      at += BLOCK;
      length -= BLOCK;
      continue;
    }
    const size_t taken = length < BLOCK - used ? length : BLOCK - used;
    memcpy(sha->block + used, at, taken);
    sha->length += taken;
    at += taken;
    length -= taken;
    if (used + taken == BLOCK) sha256_compress(sha->state, sha->block);
  }
}

void bb_sha256_end(struct bb_sha256 *sha, uint8_t digest[BB_SHA256_BYTES]) {
  const uint64_t bits = sha->length * 8;
  size_t used = sha->length % BLOCK;
  sha->block[used++] = 0x80;
  if (used > BLOCK - 8) { /* no room for the length: it gets its own block */
    memset(sha->block + used, 0, BLOCK - used);
    sha256_compress(sha->state, sha->block);
    used = 0;
  }
  memset(sha->block + used, 0, BLOCK - 8 - used);
  put_big_endian(sha->block + BLOCK - 8, (uint32_t)(bits >> 32));
  put_big_endian(sha->block + BLOCK - 4, (uint32_t)bits);
  sha256_compress(sha->state, sha->block);
  for (unsigned i = 0; i < 8; i++) put_big_endian(digest + (size_t)i * 4, sha->state[i]);
}

/* The state after one block of a key, of which each byte is changed by `pad` first. */
static void hash_pad(uint32_t state[8], const uint8_t key[BLOCK], uint8_t pad) {
  struct bb_sha256 sha;
  uint8_t block[BLOCK];
  for (unsigned i = 0; i < BLOCK; i++) block[i] = key[i] ^ pad;
  bb_sha256_begin(&sha);
  bb_sha256_add(&sha, block, BLOCK);
  memcpy(state, sha.state, sizeof sha.state);
  explicit_bzero(block, sizeof block); /* the key is in it */
}

void bb_hmac_key(struct bb_hmac *hmac, const void *key, size_t length) {
  uint8_t block[BLOCK] = {0};
  if (length > BLOCK) {
    struct bb_sha256 sha;
    bb_sha256_begin(&sha);
    bb_sha256_add(&sha, key, length);
    bb_sha256_end(&sha, block);
  } else if (length > 0) {
    memcpy(block, key, length);
  }
  hash_pad(hmac->inner, block, 0x36);
  hash_pad(hmac->outer, block, 0x5c);
  explicit_bzero(block, sizeof block);
}

/* Hashes on from such a state. */
static void hash_on(const uint32_t state[8], const void *data, size_t length, uint8_t digest[BB_SHA256_BYTES]) {
  struct bb_sha256 sha = {.length = BLOCK};
  memcpy(sha.state, state, sizeof sha.state);
  bb_sha256_add(&sha, data, length);
  bb_sha256_end(&sha, digest);
}

void bb_hmac(const struct bb_hmac *hmac, const void *data, size_t length, uint8_t tag[BB_SHA256_BYTES]) {
  hash_on(hmac->inner, data, length, tag);
  hash_on(hmac->outer, tag, BB_SHA256_BYTES, tag);
}

/* Prints the HMAC-SHA-256 for lines `KEY MESSAGE` on stdin, each in hexadecimal digits or `-` for an empty one.
 * Refuses keys and messages that are longer than a test needs. */
#include <stdio.h>
#include <string.h>

#include "../../base/sha256.h"

#define MOST 4096u

/* The bytes of a word; gives how many. */
static size_t bytes_of(const char *word, unsigned char *into) {
  size_t length = 0;
  unsigned byte;
  for (; sscanf(word + 2 * length, "%2x", &byte) == 1 && length < MOST; length++) into[length] = (unsigned char)byte;
  return length;
}

int main(void) {
  static char words[2][2 * MOST + 2];
  static unsigned char key[MOST], message[MOST];
  while (scanf("%8193s %8193s", words[0], words[1]) == 2) {
    struct bb_hmac hmac;
    unsigned char tag[BB_SHA256_BYTES];
    const size_t key_bytes = bytes_of(words[0], key), bytes = bytes_of(words[1], message);
    bb_hmac_key(&hmac, key, key_bytes);
    bb_hmac(&hmac, message, bytes, tag);
    for (size_t i = 0; i < sizeof tag; i++) printf("%02x", tag[i]);
    printf("\n");
  }
  return 0;
}

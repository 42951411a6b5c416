/* CRC-32 as in zip and Ethernet, without a table: it is computed over some hundred bytes a minute. It does not
 * protect against attackers. */
#include "source.h"

uint32_t crc32(uint32_t so_far, struct span text) {
  uint32_t crc = ~so_far;
  for (size_t i = 0; i < text.len; i++) {
    crc ^= (unsigned char)text.at[i];
    for (unsigned bit = 0; bit < 8; bit++) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

/* The remainder modulo x^32 + x^28 + x^27 + x^26 + x^25 + x^23 + x^22 + x^20 + x^19 + x^18 +
 * x^14 + x^13 + x^11 + x^10 + x^9 + x^8 + x^6 + 1, bits in reflected order, started with ones
 * and inverted at the end.  Eight bytes are processed at a time: table[k][b] is the remainder
 * of byte b followed by k zero bytes. */
#include "base/checksum.h"

#define CHECKSUM_POLYNOMIAL UINT32_C(0x82F63B78) /* reflected */

void pc_checksum_start(pc_checksum *checksum) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; bit++)
      remainder = (remainder >> 1) ^ ((remainder & 1) * CHECKSUM_POLYNOMIAL);
    checksum->table[0][byte] = remainder;
  }
  for (int k = 1; k < 8; k++)
    for (uint32_t byte = 0; byte < 256; byte++) {
      const uint32_t before = checksum->table[k - 1][byte];
      checksum->table[k][byte] = (before >> 8) ^ checksum->table[0][before & 0xFF];
    }
  checksum->remainder = UINT32_MAX;
}

static uint32_t checksum_word(const unsigned char *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

void pc_checksum_add(pc_checksum *checksum, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint32_t remainder = checksum->remainder;
  const uint32_t(*table)[256] = (const uint32_t(*)[256])checksum->table;
  for (; count >= 8; count -= 8, at += 8) {
    const uint32_t low = checksum_word(at) ^ remainder, high = checksum_word(at + 4);
    remainder = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^
                table[4][low >> 24] ^ table[3][high & 0xFF] ^ table[2][high >> 8 & 0xFF] ^
                table[1][high >> 16 & 0xFF] ^ table[0][high >> 24];
  }
  for (; count > 0; count--, at++)
    remainder = (remainder >> 8) ^ table[0][(remainder ^ *at) & 0xFF];
  checksum->remainder = remainder;
}

uint32_t pc_checksum_value(const pc_checksum *checksum) {
  return ~checksum->remainder;
}

/* CRC-32C (Castagnoli), the checksum of iSCSI: RFC 3720, appendix B.4.  It detects every error
 * burst of up to 32 bits, so every single flipped bit. */
#ifndef PC_CHECKSUM_H
#define PC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct pc_checksum {
  uint32_t table[8][256];
  uint32_t remainder;
} pc_checksum;

void pc_checksum_start(pc_checksum *checksum);
void pc_checksum_add(pc_checksum *checksum, const void *bytes, size_t count);
/* The checksum of all bytes added so far; more may be added later. */
uint32_t pc_checksum_value(const pc_checksum *checksum);

#endif

/* Natural numbers below 2^4096, for exact conversion between decimal and binary.  Nothing is
 * allocated; callers bound their numbers so that none overflows. */
#ifndef PC_BIGINT_H
#define PC_BIGINT_H

#include <stdint.h>

#define PC_BIG_LIMBS 128

typedef struct pc_big {
  int count; /* limbs in use; the last is not 0, and zero has none */
  uint32_t limb[PC_BIG_LIMBS];
} pc_big;

void pc_big_set(pc_big *big, uint64_t value);
int pc_big_bits(const pc_big *big); /* number of bits; 0 for zero */
void pc_big_multiply_add(pc_big *big, uint32_t factor, uint32_t addend);
void pc_big_shift(pc_big *big, int bits); /* times 2^bits, bits >= 0 */
void pc_big_power_of_five(pc_big *big,
                          int power); /* times 5^power; a negative power does nothing */

/* -1, 0 or 1: compares a with b, and a + b with c. */
int pc_big_compare(const pc_big *a, const pc_big *b);
int pc_big_compare_sum(const pc_big *a, const pc_big *b, const pc_big *c);

/* Bits to shift a divisor by so that pc_big_divide accepts it. */
int pc_big_divisor_shift(const pc_big *divisor);

/* Returns big / divisor, which must be below 16, and leaves the remainder in big.  The highest
 * limb of the divisor must lie in [2^27, 2^28). */
uint32_t pc_big_divide(pc_big *big, const pc_big *divisor);

#endif

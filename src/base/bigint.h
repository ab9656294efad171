/* Natural numbers of a fixed greatest size, for exact conversion between decimal and binary.
 * Nothing is allocated; the callers' bounds keep every number below 2^4096. */
#ifndef PC_BIGINT_H
#define PC_BIGINT_H

#include <stdint.h>

#define PC_BIG_LIMBS 128

typedef struct pc_big {
  int count; /* limbs in use, the last of them not 0; zero has none */
  uint32_t limb[PC_BIG_LIMBS];
} pc_big;

void pc_big_set(pc_big *big, uint64_t value);
int pc_big_bits(const pc_big *big); /* position of the highest bit, counted from 1 */
void pc_big_multiply_add(pc_big *big, uint32_t factor, uint32_t addend);
void pc_big_shift(pc_big *big, int bits);          /* times 2^bits, bits >= 0 */
void pc_big_power_of_five(pc_big *big, int power); /* times 5^power; below 0 as 0 */

/* -1, 0, 1: the order of a and b, and of a + b and c. */
int pc_big_compare(const pc_big *a, const pc_big *b);
int pc_big_compare_sum(const pc_big *a, const pc_big *b, const pc_big *c);

/* The shift that gives a divisor the form that pc_big_divide asks for. */
int pc_big_divisor_shift(const pc_big *divisor);

/* Leaves big mod divisor in big and returns the quotient, which must be below 16.  The
 * divisor's highest limb lies in [2^27, 2^28). */
uint32_t pc_big_divide(pc_big *big, const pc_big *divisor);

#endif

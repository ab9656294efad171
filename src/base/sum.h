/* Sums whose bits do not depend on the order of additions and merges, because both types are
 * integers.
 *
 *   pc_sum   exact sum of any doubles: fixed point over the whole exponent range, 32 bits to a
 *            limb. Its value is the true sum, rounded once.
 *   pc_fixed 128-bit fixed point in units of 2^-61 for values in (-4, 4), such as probabilities
 *            and Brier scores of rows.  Each value is truncated towards 0 to a unit; sums are
 *            exact up to 2^66. */
#ifndef PC_SUM_H
#define PC_SUM_H

#include "base/float_bits.h"

#define PC_SUM_LIMBS 70

typedef struct pc_sum {
  int64_t limb[PC_SUM_LIMBS]; /* carries are pending until a merge or pc_sum_value */
  uint32_t pending;           /* additions since the last normalisation */
} pc_sum;

void pc_sum_clear(pc_sum *sum);
void pc_sum_add(pc_sum *sum, double value); /* finite */
/* Adds weight * value, both finite, without rounding the product.  Bits below 2^-1074 are
 * dropped; products of 2^-968 or more have no such bits.  A product of 2^1024 or more counts as
 * 2^1164 and makes the sum infinite. */
void pc_sum_add_product(pc_sum *sum, double weight, double value);
/* Adds units * 2^exponent, -1074 <= exponent <= 900. */
void pc_sum_add_units(pc_sum *sum, int64_t units, int exponent);
void pc_sum_merge(pc_sum *into, const pc_sum *from);
double pc_sum_value(const pc_sum *sum); /* correctly rounded to nearest even */
/* True if two sums can be merged without overflow.  Sums of rows always can; sums from a file
 * may not. */
int pc_sum_addable(const pc_sum *a, const pc_sum *b);
int pc_sum_equal(const pc_sum *a, const pc_sum *b); /* exactly */

typedef struct pc_fixed {
  pc_int128 units;
} pc_fixed;

#define PC_FIXED_ONE 0x1p61

static inline int64_t pc_fixed_units(double value) {
  return (int64_t)(value * PC_FIXED_ONE);
}

static inline void pc_fixed_add(pc_fixed *sum, double value) {
  sum->units += pc_fixed_units(value);
}

/* Adds `weight` copies of value, 0 <= weight < 2^63.  A whole weight gives the bits of that
 * many additions; the part of a fractional weight is truncated to a unit separately. */
static inline void pc_fixed_add_weighted(pc_fixed *sum, double weight, double value) {
  const int64_t units = pc_fixed_units(value);
  const int64_t whole = (int64_t)weight;
  const double rest = weight - (double)whole;
  sum->units += (pc_int128)whole * units + (int64_t)(rest * (double)units);
}

/* The sum, correctly rounded.  Below 2^24 both halves of the units are exact doubles, and only
 * their sum is rounded; pc_fixed_large_value serves any size. */
double pc_fixed_large_value(const pc_fixed *sum);
static inline double pc_fixed_value(const pc_fixed *sum) {
  const pc_int128 high = sum->units >> 32, limit = (pc_int128)1 << 53;
  if (high < -limit || high > limit)
    return pc_fixed_large_value(sum);
  return ((double)(int64_t)high * 0x1p32 + (double)(uint32_t)sum->units) / PC_FIXED_ONE;
}

/* As pc_sum_addable. */
static inline int pc_fixed_addable(const pc_fixed *a, const pc_fixed *b) {
  const pc_int128 most = (pc_int128)1 << 125;
  return a->units >= -most && a->units <= most && b->units >= -most && b->units <= most;
}

#endif

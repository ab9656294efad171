/* Exact sums.
 *
 * Limb i counts units of 2^(32 i - 1074), so that bit 0 is the smallest subnormal.  An addition
 * adds a number below 2^32 in absolute value to each limb that the mantissa touches; limbs have
 * 31 spare bits, so carries can wait for 2^30 additions.
 *
 * Edge cases:
 *  1. a sum that is exactly 0 is +0.
 *  2. a sum beyond the largest double is infinite; intermediate sums may exceed it.
 *  3. 2^64 additions of the largest double fit. */
#include "base/sum.h"

#define SUM_LOW UINT32_MAX
#define SUM_PENDING_MAX 1000
#define SUM_TOP_MAX ((int64_t)1 << 61)

/* Carries, so that all limbs but the last are in [0, 2^32). */
static void sum_carry(int64_t *limb, int count) {
  int64_t carry = 0;
  for (int i = 0; i < count - 1; i++) {
    const int64_t whole = limb[i] + carry;
    const int64_t low = whole & SUM_LOW;
    carry = (whole - low) / ((int64_t)1 << 32);
    limb[i] = low;
  }
  limb[count - 1] += carry;
}

static void sum_normalise(pc_sum *sum) {
  sum_carry(sum->limb, PC_SUM_LIMBS);
  sum->pending = 1;
}

static void sum_count(pc_sum *sum) {
  if (++sum->pending >= SUM_PENDING_MAX)
    sum_normalise(sum);
}

/* |value| = mantissa * 2^(position - 1074); returns the mantissa. */
static uint64_t sum_split(uint64_t bits, unsigned *position) {
  const unsigned field = (unsigned)(bits >> 52) & 0x7ff;
  const unsigned normal = field != 0;
  *position = field - normal;
  return (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)normal << 52;
}

void pc_sum_clear(pc_sum *sum) {
  memset(sum, 0, sizeof *sum);
}

void pc_sum_add(pc_sum *sum, double value) {
  const uint64_t bits = pc_double_bits(value);
  unsigned position;
  const uint64_t mantissa = sum_split(bits, &position);
  const int64_t sign = -(int64_t)(bits >> 63);
  const int64_t with_sign = ((int64_t)mantissa ^ sign) - sign;
  const unsigned shift = position % 32;
  int64_t *limb = sum->limb + position / 32;
  limb[0] += (int64_t)(((uint64_t)with_sign << shift) & SUM_LOW);
  limb[1] += with_sign >> (32 - shift);
  sum_count(sum);
}

/* Adds sign * product * 2^(position - 1074), product < 2^106. */
static void sum_add_wide(pc_sum *sum, int64_t sign, pc_uint128 product, unsigned position) {
  const unsigned shift = position % 32;
  int64_t *limb = sum->limb + position / 32;
  uint64_t carry = 0;
  for (int i = 0; i < 4; i++, product >>= 32) {
    carry += ((uint64_t)product & SUM_LOW) << shift;
    limb[i] += sign * (int64_t)(carry & SUM_LOW);
    carry >>= 32;
  }
  limb[4] += sign * (int64_t)carry;
  sum_count(sum);
}

void pc_sum_add_product(pc_sum *sum, double weight, double value) {
  const uint64_t sign_bit = (pc_double_bits(weight) ^ pc_double_bits(value)) >> 63;
  const int64_t sign = 1 - 2 * (int64_t)sign_bit;
  unsigned weight_position, value_position;
  const uint64_t weight_mantissa = sum_split(pc_double_bits(weight), &weight_position);
  const uint64_t value_mantissa = sum_split(pc_double_bits(value), &value_position);
  pc_uint128 product = (pc_uint128)weight_mantissa * value_mantissa;
  int position = (int)(weight_position + value_position) - 1074;
  if (product == 0)
    return;
  if (position < 0) {
    product = position > -128 ? product >> -position : 0;
    position = 0;
  }
  if (position >= 2098 || (position > 1970 && product >> (2098 - position) != 0)) {
    sum->limb[PC_SUM_LIMBS - 1] += sign * ((int64_t)1 << 30);
    sum_count(sum);
    return;
  }
  sum_add_wide(sum, sign, product, (unsigned)position);
}

void pc_sum_add_units(pc_sum *sum, int64_t units, int exponent) {
  const uint64_t size = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
  sum_add_wide(sum, units < 0 ? -1 : 1, size, (unsigned)(exponent + 1074));
}

void pc_sum_merge(pc_sum *into, const pc_sum *from) {
  pc_sum other = *from;
  sum_normalise(&other);
  sum_normalise(into);
  for (int i = 0; i < PC_SUM_LIMBS; i++)
    into->limb[i] += other.limb[i];
  into->pending = 2;
}

static int sum_far_from_full(const pc_sum *sum) {
  const int64_t top = sum->limb[PC_SUM_LIMBS - 1];
  return top >= -SUM_TOP_MAX && top <= SUM_TOP_MAX;
}

int pc_sum_addable(const pc_sum *a, const pc_sum *b) {
  return sum_far_from_full(a) && sum_far_from_full(b);
}

int pc_sum_equal(const pc_sum *a, const pc_sum *b) {
  pc_sum left = *a, right = *b;
  sum_normalise(&left);
  sum_normalise(&right);
  return memcmp(left.limb, right.limb, sizeof left.limb) == 0;
}

/* Copies the limbs in use, with one more for their carry; returns their number, and the index
 * of the lowest. */
static int sum_used(const pc_sum *sum, int64_t *limb, int *lowest) {
  int low = 0, end = PC_SUM_LIMBS;
  while (end > 1 && sum->limb[end - 1] == 0)
    end--;
  while (low < end - 1 && sum->limb[low] == 0)
    low++;
  end += end < PC_SUM_LIMBS;
  for (int i = low; i < end; i++)
    limb[i - low] = sum->limb[i];
  *lowest = low;
  return end - low;
}

double pc_sum_value(const pc_sum *sum) {
  int64_t limb[PC_SUM_LIMBS];
  int lowest;
  const int count = sum_used(sum, limb, &lowest);
  sum_carry(limb, count);
  const int negative = limb[count - 1] < 0;
  if (negative) {
    for (int i = 0; i < count; i++)
      limb[i] = -limb[i];
    sum_carry(limb, count);
  }
  int top = count - 1;
  while (top > 0 && limb[top] == 0)
    top--;
  /* The highest three limbs, and whether any lower limb is not 0. */
  pc_uint128 head = 0;
  for (int i = top; i > top - 3; i--)
    head = head << 32 | (uint64_t)(i >= 0 ? limb[i] : 0);
  if (head == 0)
    return 0.0;
  int exponent = 32 * (lowest + top - 2) - 1074, sticky = 0;
  for (int i = 0; i < top - 2; i++)
    sticky |= limb[i] != 0;
  const uint64_t high = (uint64_t)(head >> 64);
  const int drop = high == 0 ? 0 : 64 - pc_leading_zeros(high);
  sticky |= (head & (((pc_uint128)1 << drop) - 1)) != 0;
  head >>= drop;
  exponent += drop;
  const double size = pc_round_binary((uint64_t)head, exponent, sticky);
  return negative ? -size : size;
}

/* Below the upper 64 bits it only matters whether any bit is set, which decides the
 * rounding. */
double pc_fixed_large_value(const pc_fixed *sum) {
  const pc_uint128 size = sum->units < 0 ? -(pc_uint128)sum->units : (pc_uint128)sum->units;
  const uint64_t high = (uint64_t)(size >> 64);
  double value = (double)(uint64_t)size / PC_FIXED_ONE;
  if (high != 0) {
    const int drop = 64 - __builtin_clzll(high);
    const uint64_t kept = (uint64_t)(size >> drop);
    const uint64_t lost = (uint64_t)size << (64 - drop);
    value =
        (double)(kept | (lost != 0)) * ((double)((uint64_t)1 << (drop - 1)) * 2 / PC_FIXED_ONE);
  }
  return sum->units < 0 ? -value : value;
}

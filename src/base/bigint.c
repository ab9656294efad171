#include "base/bigint.h"

#include <string.h>

#include "base/assert.h"

#define BIGINT_TOP_BITS 28

static void bigint_trim(pc_big *big) {
  while (big->count > 0 && big->limb[big->count - 1] == 0)
    big->count--;
}

static int bigint_limb_bits(uint32_t limb) {
  int bits = 0;
  for (; limb != 0; limb >>= 1)
    bits++;
  return bits;
}

void pc_big_set(pc_big *big, uint64_t value) {
  big->limb[0] = (uint32_t)value;
  big->limb[1] = (uint32_t)(value >> 32);
  big->count = 2;
  bigint_trim(big);
}

int pc_big_bits(const pc_big *big) {
  if (big->count == 0)
    return 0;
  return 32 * (big->count - 1) + bigint_limb_bits(big->limb[big->count - 1]);
}

void pc_big_multiply_add(pc_big *big, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int i = 0; i < big->count; i++) {
    carry += (uint64_t)big->limb[i] * factor;
    big->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0)
    big->limb[big->count++] = (uint32_t)carry;
}

void pc_big_shift(pc_big *big, int bits) {
  const int limbs = bits / 32, rest = bits % 32;
  if (big->count == 0)
    return;
  if (limbs > 0) {
    memmove(big->limb + limbs, big->limb, (size_t)big->count * sizeof big->limb[0]);
    memset(big->limb, 0, (size_t)limbs * sizeof big->limb[0]);
    big->count += limbs;
  }
  if (rest > 0)
    pc_big_multiply_add(big, UINT32_C(1) << rest, 0);
}

void pc_big_power_of_five(pc_big *big, int power) {
  const uint32_t five_to_13 = 1220703125;
  uint32_t last = 1;
  for (; power >= 13; power -= 13)
    pc_big_multiply_add(big, five_to_13, 0);
  for (; power > 0; power--)
    last *= 5;
  if (last > 1)
    pc_big_multiply_add(big, last, 0);
}

int pc_big_compare(const pc_big *a, const pc_big *b) {
  if (a->count != b->count)
    return a->count < b->count ? -1 : 1;
  for (int i = a->count - 1; i >= 0; i--) {
    if (a->limb[i] != b->limb[i])
      return a->limb[i] < b->limb[i] ? -1 : 1;
  }
  return 0;
}

static uint32_t bigint_limb(const pc_big *big, int i) {
  return i < big->count ? big->limb[i] : 0;
}

int pc_big_compare_sum(const pc_big *a, const pc_big *b, const pc_big *c) {
  const int longest = a->count > b->count ? a->count : b->count;
  if (longest > c->count)
    return 1;
  if (longest + 1 < c->count)
    return -1;
  /* Computes c - a - b from the highest limb.  If rest < 0, a + b is larger, and if rest > 1, c
   * is, whatever the lower limbs are. */
  int64_t rest = 0;
  for (int i = c->count - 1; i >= 0; i--) {
    rest = rest * ((int64_t)1 << 32) + bigint_limb(c, i);
    rest -= (int64_t)bigint_limb(a, i) + bigint_limb(b, i);
    if (rest < 0)
      return 1;
    if (rest > 1)
      return -1;
  }
  return rest == 0 ? 0 : -1;
}

int pc_big_divisor_shift(const pc_big *divisor) {
  const int top = bigint_limb_bits(divisor->limb[divisor->count - 1]);
  return (BIGINT_TOP_BITS - top + 32) % 32;
}

/* big -= quotient * divisor; the product must not exceed big. */
static void bigint_subtract(pc_big *big, uint32_t quotient, const pc_big *divisor) {
  uint64_t carry = 0, borrow = 0;
  for (int i = 0; i < big->count; i++) {
    carry += (uint64_t)quotient * bigint_limb(divisor, i);
    const uint64_t difference = (uint64_t)big->limb[i] - (uint32_t)carry - borrow;
    carry >>= 32;
    borrow = difference >> 63;
    big->limb[i] = (uint32_t)difference;
  }
  bigint_trim(big);
}

uint32_t pc_big_divide(pc_big *big, const pc_big *divisor) {
  const int top = divisor->count - 1;
  uint32_t quotient = 0;
  if (big->count == divisor->count)
    quotient = big->limb[top] / (divisor->limb[top] + 1);
  if (quotient > 0)
    bigint_subtract(big, quotient, divisor);
  for (; pc_big_compare(big, divisor) >= 0; quotient++)
    bigint_subtract(big, 1, divisor);
  pc_assert(quotient < 16);
  return quotient;
}

#include "base/float_bits.h"

#include <math.h>

double pc_round_binary(uint64_t mantissa, int exponent, int sticky) {
  const int lift = pc_leading_zeros(mantissa);
  mantissa <<= lift;
  const int top = exponent - lift + 63;
  if (top > 1023)
    return INFINITY;
  const int subnormal = top < -1022;
  const int drop = subnormal ? 11 - 1022 - top : 11;
  if (drop > 64)
    return 0.0;
  const uint64_t kept = drop < 64 ? mantissa >> drop : 0;
  const uint64_t half = UINT64_C(1) << (drop - 1);
  const uint64_t rest = mantissa & (half | (half - 1));
  const int up = rest > half || (rest == half && (sticky || (kept & 1)));
  /* The leading bit of a normal mantissa adds 1 to the exponent field, and so does a carry. */
  const uint64_t field = subnormal ? 0 : (uint64_t)(top + 1022);
  return pc_double_from_bits((field << 52) + kept + (uint64_t)up);
}

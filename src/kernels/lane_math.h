/* exp, log and log1p without branches, so that compilers vectorise loops over lanes.  No
 * operation is fused: every instruction set gives the same bits.
 *
 * exp(x)   = 2^k (1 + r + r^2 q(r)),  k = round(x / ln 2),  r = x - k ln 2 in two pieces;
 *            q: degree 9 fitted to (exp(r) - 1 - r) / r^2 at Chebyshev points, 1.3e-17 off.
 * log(x)   = k ln 2 + 2 atanh(s),  s = (m - 1) / (m + 1),  x = 2^k m,  m in [1/sqrt 2, sqrt 2];
 *            atanh by its series to s^21.
 * log1p(x) = log(y) + (x - (y - 1)) / y,  y = 1 + x rounded.
 * near:     exp(x) = exp(x / 8)^8 on [-1.5, 0], exp(x / 8) of degree 8 in x + 3/4, fitted at
 *            Chebyshev points, 5e-17 off.
 * log_gamma(x) = Stirling's series at x + 12 - log(x (x + 1) ... (x + 11)).
 * Error: below 1.5 ulp for exp on [-708, 709], 2 ulp for log on normal numbers, 3 ulp for log1p
 * on [0, 1e300], relative 2.5e-15 for near; for log_gamma on [1, 1e12] 4e-14 up to x = 20,
 * and relative 1e-15 beyond.  exp is 0 where k would be -1023, below -1022.5 ln 2 = -708.74:
 * the bits of 2^k are then those of 0. */
#ifndef PC_LANE_MATH_H
#define PC_LANE_MATH_H

#include "base/float_bits.h"

/* exp in two steps: exp(x) = finish(reduce(x, &scale), scale) for -709 <= x <= 709.  Two loops
 * are faster than one, whose chain of dependent operations exceeds what processors can look
 * ahead. */
static inline double pc_lane_exp_reduce(double x, double *scale) {
  const double shift = 0x1.8p52 + 1023.0, inverse_ln2 = 0x1.71547652b82fep+0;
  const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  const double shifted = x * inverse_ln2 + shift;
  const double k = shifted - shift;
  *scale = pc_double_from_bits(pc_double_bits(shifted) << 52);
  return (x - k * ln2_high) - k * ln2_low;
}

static inline double pc_lane_exp_finish(double r, double scale) {
  const double r2 = r * r, r4 = r2 * r2;
  const double q01 = 0x1.0000000000001p-1 + r * 0x1.5555555555556p-3;
  const double q23 = 0x1.5555555553d63p-5 + r * 0x1.11111111109b3p-7;
  const double q45 = 0x1.6c16c1788bd90p-10 + r * 0x1.a01a01a7c41d5p-13;
  const double q67 = 0x1.a019b90d2ae7ap-16 + r * 0x1.71de0dae63bb3p-19;
  const double q89 = 0x1.289185613a3d6p-22 + r * 0x1.af38a9b0ec855p-26;
  const double q = (q01 + r2 * q23) + r4 * ((q45 + r2 * q67) + r4 * q89);
  return (1.0 + (r + r2 * q)) * scale;
}

/* The lowest argument of these steps, -709.  `any` is a finite number that hides the constant
 * from the compiler, which would otherwise generate two selections for one clamp. */
static inline double pc_lane_exp_lowest(double any) {
  return (any - any) - 709.0;
}

/* x <= 709; NaN stays NaN. */
static inline double pc_lane_exp(double x) {
  double scale;
  const double r = pc_lane_exp_reduce(x < -709.0 ? -709.0 : x, &scale);
  return pc_lane_exp_finish(r, scale);
}

/* -1.5 <= x <= 0: half the work.  For doubles, and for vectors of them. */
#define PC_LANE_EXP_NEAR(type, name)                                                          \
  static inline type name(type x) {                                                           \
    const type t = x + 0.75, t2 = t * t;                                                      \
    const type even = t2 * 0x1.7af2b42a43cd8p-40 + 0x1.4b81b6e8baed6p-28;                     \
    const type odd = t2 * 0x1.7af80859d2957p-34 + 0x1.f14291cd377a3p-23;                      \
    const type high = ((even * t2 + 0x1.36c99c0112a4dp-17) * t2 + 0x1.d22e6a0197c02p-8) * t2; \
    const type low = (odd * t2 + 0x1.36c99c0116dbep-12) * t2 + 0x1.d22e6a0197bfep-4;          \
    const type eighth = (high + 0x1.d22e6a0197c03p-1) + t * low, quarter = eighth * eighth;   \
    const type half = quarter * quarter;                                                      \
    return half * half;                                                                       \
  }
PC_LANE_EXP_NEAR(double, pc_lane_exp_near)

/* 2^y for -1023 <= y <= 1023: 2^k q(f)^8 with k = round(y), f = y - k, and q = 2^(f/8) of
 * degree 6 with q(0) = 1, fitted for the least relative error; 0 below -1022.5.  Relative error
 * below 1e-14.  A caller whose exponent is a product can multiply PC_LANE_LOG2_E into one of
 * the factors. */
#define PC_LANE_LOG2_E 0x1.71547652b82fep+0

static inline double pc_lane_exp2(double y) {
  const double shift = 0x1.8p52 + 1023.0, shifted = y + shift;
  const double f = y - (shifted - shift), f2 = f * f;
  const double q01 = 1.0 + f * 0x1.62e42fefa3d8dp-4;
  const double q23 = 0x1.ebfbdff82ce53p-9 + f * 0x1.c6b08d53aed26p-14;
  const double q45 = 0x1.3b2ab6ca15822p-19 + f * 0x1.5d8f1160cecbep-25;
  const double eighth = q01 + f2 * (q23 + f2 * (q45 + f2 * 0x1.4317c840b1f8dp-31));
  const double quarter = eighth * eighth, half = quarter * quarter;
  return half * half * pc_double_from_bits(pc_double_bits(shifted) << 52);
}

static inline double pc_lane_exp2_lowest(double any) {
  return (any - any) - 1023.0;
}

/* x positive and normal. */
static inline double pc_lane_log(double x) {
  const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
  const uint64_t bits = pc_double_bits(x);
  const uint64_t above = bits - root_half;
  const uint64_t mantissa = (above & UINT64_C(0x000fffffffffffff)) + root_half;
  /* (above >> 52) as a signed number, through the mantissa of 2^52 + 2^51 + 2^11. */
  const double k = pc_double_from_bits(((above >> 52) ^ 2048) | UINT64_C(0x4338000000000000)) -
                   (0x1.8p52 + 2048.0);
  const double f = pc_double_from_bits(mantissa) - 1.0;
  const double s = f / (2.0 + f), s2 = s * s, s4 = s2 * s2, s8 = s4 * s4;
  const double low = (1.0 / 3 + s2 * (1.0 / 5)) + s4 * (1.0 / 7 + s2 * (1.0 / 9));
  const double high = (1.0 / 11 + s2 * (1.0 / 13)) + s4 * (1.0 / 15 + s2 * (1.0 / 17));
  const double tail = low + s8 * (high + s8 * (1.0 / 19 + s2 * (1.0 / 21)));
  /* log(1 + f) = f - f^2/2 + s (f^2/2 + 2 s^2 tail / s ...) written to keep f's low bits. */
  const double half_square = 0.5 * f * f;
  return k * ln2_high +
         (f - (half_square - (s * (half_square + 2.0 * s2 * tail) + k * ln2_low)));
}

/* x >= 0. */
static inline double pc_lane_log1p(double x) {
  const double y = 1.0 + x;
  return pc_lane_log(y) + (x - (y - 1.0)) / y;
}

/* 1 <= x <= 1e12. */
static inline double pc_lane_log_gamma(double x) {
  const double y = x + 12.0, inverse = 1.0 / y, i2 = inverse * inverse, i4 = i2 * i2;
  const double low = 1.0 / 12 - i2 * (1.0 / 360), middle = 1.0 / 1260 - i2 * (1.0 / 1680);
  const double series = inverse * (low + i4 * (middle + i4 * (1.0 / 1188)));
  const double ends = x * (x + 11.0); /* (x + k) (x + 11 - k) = ends + k (11 - k) */
  const double product = (ends * (ends + 10.0)) * ((ends + 18.0) * (ends + 24.0)) *
                         ((ends + 28.0) * (ends + 30.0));
  const double half_log_2pi = 0x1.d67f1c864beb5p-1;
  return (((y - 0.5) * pc_lane_log(y) - y) + (half_log_2pi + series)) - pc_lane_log(product);
}

/* exp in float, for the fast precision, pc_lane_expf_lowest() <= x <= 0: exp(x) = 2^k p(f),
 * k = round(y), f = y - k, y = x log2 e, p of degree 5 with p(0) = 1, fitted with the rounding
 * errors taken into account; k is added to the exponent of p.  The result times
 * PC_LANE_EXPF_UNIT is exp(x) with a relative error below 1.5e-7 + 8e-8 |x|.  The unit keeps
 * the squares of terms above 2^-126, since subnormal floats are slow. */
#define PC_LANE_EXPF_UNIT 0x1p-52

#define PC_LANE_EXPF_LOG2_E 0x1.715476p+0f
#define PC_LANE_EXPF_SHIFT (0x1.8p23f + 52.0f)
#define PC_LANE_EXPF_1 0x1.62e426p-1f
#define PC_LANE_EXPF_2 0x1.ebf990p-3f
#define PC_LANE_EXPF_3 0x1.c6b966p-5f
#define PC_LANE_EXPF_4 0x1.3cf5e0p-7f
#define PC_LANE_EXPF_5 0x1.5b0d4ep-10f

static inline float pc_lane_expf(float x) {
  const float shift = PC_LANE_EXPF_SHIFT, log2_e = PC_LANE_EXPF_LOG2_E;
  const float shifted = x * log2_e + shift, f = x * log2_e - (shifted - shift);
  const float high = (PC_LANE_EXPF_5 * f + PC_LANE_EXPF_4) * f + PC_LANE_EXPF_3;
  const float p = ((high * f + PC_LANE_EXPF_2) * f + PC_LANE_EXPF_1) * f + 1.0f;
  return pc_float_from_bits(pc_float_bits(p) + (pc_float_bits(shifted) << 23));
}

static inline float pc_lane_expf_lowest(void) {
  return -122.0f;
}

/* log1p in float, 0 <= x <= 1e30: as pc_lane_log1p, but log(1 + f) is f times a polynomial of
 * degree 8, fitted for the least relative error; relative error below 3e-7.  *inverse is set to
 * 1 / (1 + x), rounded twice. */
static inline float pc_lane_log1pf(float x, float *inverse) {
  const uint32_t root_half = UINT32_C(0x3f3504f3);
  const float y = 1.0f + x;
  const uint32_t above = pc_float_bits(y) - root_half;
  const float k = (float)((int32_t)above >> 23);
  const float f = pc_float_from_bits((above & UINT32_C(0x007fffff)) + root_half) - 1.0f;
  const float high =
      ((0x1.65c544p-4f * f - 0x1.250428p-3f) * f + 0x1.318554p-3f) * f - 0x1.535d42p-3f;
  const float low = ((high * f + 0x1.98d2bep-3f) * f - 0x1.00049ap-2f) * f + 0x1.5556f4p-2f;
  const float p = (low * f - 0x1.fffffap-2f) * f + 1.0f;
  *inverse = 1.0f / y;
  return (k * 0x1.62e430p-1f + f * p) + (x - (y - 1.0f)) * *inverse;
}

#endif

/* Doubles and floats as bits, and back. */
#ifndef PC_FLOAT_BITS_H
#define PC_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 pc_int128;
__extension__ typedef unsigned __int128 pc_uint128;

static inline uint64_t pc_double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double pc_double_from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t pc_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float pc_float_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Number of leading zero bits; value != 0. */
static inline int pc_leading_zeros(uint64_t value) {
  return __builtin_clzll(value);
}

/* Returns the double nearest to mantissa * 2^exponent, ties to even; infinity on overflow.
 * sticky: the true value exceeds mantissa * 2^exponent, by less than one unit of the mantissa.
 * mantissa != 0, and at least 2^54 if sticky. */
double pc_round_binary(uint64_t mantissa, int exponent, int sticky);

#endif

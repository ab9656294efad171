/* Tables of powers of ten and five. */
#ifndef PC_POWERS_H
#define PC_POWERS_H

#include <stdint.h>

extern const double pc_ten_power[23];    /* 10^0 .. 10^22, exact */
extern const uint64_t pc_five_power[27]; /* 5^0 .. 5^26, exact */

/* mantissa * 2^exponent, rounded to nearest; the mantissa is in [2^63, 2^64). */
typedef struct pc_wide {
  uint64_t mantissa;
  int exponent;
} pc_wide;

/* pc_five_wide[i] = 5^(27 i - 351), from 5^-351 to 5^324 */
#define PC_FIVE_STEP 27
#define PC_FIVE_FIRST (-351)
extern const pc_wide pc_five_wide[26];

#endif

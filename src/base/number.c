/* Numbers to text.
 *
 * Method (Steele & White 1990, Dragon4): the value is r / s * 10^point with natural numbers r
 * and s; m_low and m_high are half the distances to the neighbouring doubles in the same unit.
 * Digits are taken from r / s until the remainder is within half that distance.
 *
 * Edge cases:
 *  1. for a power of two the lower neighbour is only half as far away as the upper one.
 *  2. the rounding interval of an even mantissa includes both ends, because parsing rounds ties
 *     to even.
 *  3. the last digit is the nearer one, ties to even.
 *  4. rounding may carry into a new digit: 9.99 to two digits is 10. */
#include "base/number.h"

#include "base/bigint.h"
#include "base/float_bits.h"
#include "base/powers.h"

#include <math.h>
#include <string.h>

#define NUMBER_DIGITS 32

/* 0.d1 d2 d3 ... * 10^point */
typedef struct number_digits {
  int count, point;
  char digit[NUMBER_DIGITS];
} number_digits;

/* mantissa * 2^exponent */
typedef struct number_parts {
  uint64_t mantissa;
  int exponent;
  int narrow_below; /* edge case 1 */
} number_parts;

static number_parts number_split(double value) {
  const uint64_t bits = pc_double_bits(value) & (UINT64_MAX >> 1);
  const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  const int field = (int)(bits >> 52);
  if (field == 0)
    return (number_parts){fraction, -1074, 0};
  return (number_parts){fraction | UINT64_C(1) << 52, field - 1075, fraction == 0 && field > 1};
}

static number_parts number_split_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t fraction = bits & 0x7fffff;
  const int field = (int)(bits >> 23 & 0xff);
  if (field == 0)
    return (number_parts){fraction, -149, 0};
  return (number_parts){fraction | 0x800000, field - 150, fraction == 0 && field > 1};
}

/* ---- Digits --------------------------------------------------------------- */

/* The exponent of the least power of ten above mantissa * 2^exponent, or one less. */
static int number_estimate_point(number_parts parts) {
  const int top = 63 - pc_leading_zeros(parts.mantissa) + parts.exponent;
  return (int)ceil(top * 0.30102999566398120 - 1e-9);
}

/* big = value * 5^fives * 2^twos; a negative `fives` counts as 0. */
static void number_scale(pc_big *big, uint64_t value, int fives, int twos) {
  pc_big_set(big, value);
  pc_big_power_of_five(big, fives);
  pc_big_shift(big, twos);
}

typedef struct number_ratio {
  pc_big r, s, m_low, m_high;
  int point;
} number_ratio;

/* Sets r / s = value / 10^(point - 1) in [1, 10), and the margins in the same unit.  `reach`:
 * the upper end of the rounding interval decides the point instead of the value. */
static void number_ratio_set(number_ratio *ratio, number_parts parts, int reach) {
  const int narrow = parts.narrow_below;
  int point = number_estimate_point(parts);
  const int twos = parts.exponent - point;
  const int above = twos > 0 ? twos : 0, below = above - twos;
  number_scale(&ratio->r, parts.mantissa, -point, above + 1 + narrow);
  number_scale(&ratio->m_low, 1, -point, above);
  number_scale(&ratio->m_high, 1, -point, above + narrow);
  number_scale(&ratio->s, 1, point, below + 1 + narrow);

  const int order = reach ? pc_big_compare_sum(&ratio->r, &ratio->m_high, &ratio->s)
                          : pc_big_compare(&ratio->r, &ratio->s);
  const int owns_end = !reach || (parts.mantissa & 1) == 0;
  if (order > 0 || (order == 0 && owns_end)) {
    point++;
  } else {
    pc_big_multiply_add(&ratio->r, 10, 0);
    pc_big_multiply_add(&ratio->m_low, 10, 0);
    pc_big_multiply_add(&ratio->m_high, 10, 0);
  }
  ratio->point = point;
  const int shift = pc_big_divisor_shift(&ratio->s);
  pc_big_shift(&ratio->r, shift);
  pc_big_shift(&ratio->s, shift);
  pc_big_shift(&ratio->m_low, shift);
  pc_big_shift(&ratio->m_high, shift);
}

/* True if the last digit must be rounded up: 2 r against s, ties to even. */
static int number_round_up(const number_ratio *ratio, uint32_t digit) {
  const int order = pc_big_compare_sum(&ratio->r, &ratio->r, &ratio->s);
  return order > 0 || (order == 0 && (digit & 1));
}

static void number_shortest(number_parts parts, number_digits *out) {
  number_ratio ratio;
  number_ratio_set(&ratio, parts, 1);
  const int even = (parts.mantissa & 1) == 0;
  out->point = ratio.point;
  out->count = 0;
  for (;;) {
    uint32_t digit = pc_big_divide(&ratio.r, &ratio.s);
    const int low = pc_big_compare(&ratio.r, &ratio.m_low) < even;
    const int high = pc_big_compare_sum(&ratio.r, &ratio.m_high, &ratio.s) > -even;
    if (high && (!low || number_round_up(&ratio, digit)))
      digit++;
    out->digit[out->count++] = (char)('0' + digit);
    if (low || high)
      return;
    pc_big_multiply_add(&ratio.r, 10, 0);
    pc_big_multiply_add(&ratio.m_low, 10, 0);
    pc_big_multiply_add(&ratio.m_high, 10, 0);
  }
}

/* Adds one in the last place; the number of digits stays the same (4). */
static void number_increment(number_digits *digits) {
  int i = digits->count - 1;
  for (; i >= 0 && digits->digit[i] == '9'; i--)
    digits->digit[i] = '0';
  if (i >= 0) {
    digits->digit[i]++;
    return;
  }
  digits->digit[0] = '1';
  digits->point++;
}

/* The first `count` >= 1 digits of r / s, rounded. */
static void number_take(number_ratio *ratio, int count, number_digits *out) {
  uint32_t digit = 0;
  out->point = ratio->point;
  out->count = count;
  for (int i = 0; i < count; i++) {
    if (i > 0)
      pc_big_multiply_add(&ratio->r, 10, 0);
    digit = pc_big_divide(&ratio->r, &ratio->s);
    out->digit[i] = (char)('0' + digit);
  }
  if (number_round_up(ratio, digit))
    number_increment(out);
}

/* The fast path for decimals of at most 15 digits, as people write them.  At most one such
 * decimal reads back as the value, and the product below finds it: its error is less than 10^15
 * * 2^-52 < 1/4.  Returns 0 if there is none. */
static int number_shortest_quickly(double value, number_digits *out) {
  if (!(value >= 1e-7 && value < 1e15))
    return 0;
  int point = -6;
  while (value >= (point < 0 ? 1 / pc_ten_power[-point] : pc_ten_power[point]))
    point++;
  const double scale = pc_ten_power[15 - point];
  const double whole = floor(value * scale + 0.5);
  if (whole / scale != value)
    return 0;
  uint64_t rest = (uint64_t)whole;
  out->point = point;
  for (int i = 14; i >= 0; i--, rest /= 10)
    out->digit[i] = (char)('0' + rest % 10);
  out->count = 15;
  while (out->count > 1 && out->digit[out->count - 1] == '0')
    out->count--;
  return 1;
}

/* ---- Layout --------------------------------------------------------------- */

static char *number_put(char *at, const char *bytes, int count) {
  memcpy(at, bytes, (size_t)count);
  return at + count;
}

static char *number_put_zeros(char *at, int count) {
  memset(at, '0', (size_t)count);
  return at + count;
}

static char *number_put_positional(char *at, const number_digits *digits) {
  const int count = digits->count, point = digits->point;
  if (point <= 0) {
    at = number_put_zeros(number_put(at, "0.", 2), -point);
    return number_put(at, digits->digit, count);
  }
  if (point >= count)
    return number_put_zeros(number_put(at, digits->digit, count), point - count);
  at = number_put(number_put(at, digits->digit, point), ".", 1);
  return number_put(at, digits->digit + point, count - point);
}

static char *number_put_scientific(char *at, const number_digits *digits) {
  int power = digits->point - 1;
  at = number_put(at, digits->digit, 1);
  if (digits->count > 1)
    at = number_put(number_put(at, ".", 1), digits->digit + 1, digits->count - 1);
  *at++ = 'e';
  *at++ = power < 0 ? '-' : '+';
  power = power < 0 ? -power : power;
  if (power >= 100)
    *at++ = (char)('0' + power / 100);
  *at++ = (char)('0' + power / 10 % 10);
  *at++ = (char)('0' + power % 10);
  return at;
}

static size_t number_finish(char *out, char *at) {
  *at = '\0';
  return (size_t)(at - out);
}

static size_t number_lay_out(int negative, const number_digits *digits, char *out) {
  char *at = out;
  if (negative)
    *at++ = '-';
  const int positional = digits->point > -4 && digits->point <= 16;
  at = positional ? number_put_positional(at, digits) : number_put_scientific(at, digits);
  return number_finish(out, at);
}

static void number_set_zero(number_digits *digits, int count) {
  digits->count = count;
  digits->point = 1;
  memset(digits->digit, '0', (size_t)count);
}

static size_t number_lay_out_special(double value, char *out) {
  if (isnan(value))
    return number_finish(out, number_put(out, "nan", 3));
  if (value < 0)
    return number_finish(out, number_put(out, "-inf", 4));
  return number_finish(out, number_put(out, "inf", 3));
}

/* ---- Interface ------------------------------------------------------------ */

size_t pc_number_format(double value, char out[PC_NUMBER_MAX]) {
  number_digits digits;
  if (!isfinite(value))
    return number_lay_out_special(value, out);
  if (value == 0)
    number_set_zero(&digits, 1);
  else if (!number_shortest_quickly(fabs(value), &digits))
    number_shortest(number_split(value), &digits);
  return number_lay_out(signbit(value) != 0, &digits, out);
}

size_t pc_number_format_float(float value, char out[PC_NUMBER_MAX]) {
  number_digits digits;
  if (!isfinite(value))
    return number_lay_out_special((double)value, out);
  if (value == 0)
    number_set_zero(&digits, 1);
  else
    number_shortest(number_split_float(value), &digits);
  return number_lay_out(signbit(value) != 0, &digits, out);
}

size_t pc_number_round(double value, int digits, char out[PC_NUMBER_MAX]) {
  number_digits rounded;
  if (!isfinite(value))
    return number_lay_out_special(value, out);
  digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
  if (value == 0) {
    number_set_zero(&rounded, digits);
  } else {
    number_ratio ratio;
    number_ratio_set(&ratio, number_split(value), 0);
    number_take(&ratio, digits, &rounded);
  }
  return number_lay_out(signbit(value) != 0, &rounded, out);
}

/* All digits of |value| down to 10^-decimals. */
static void number_take_fixed(double value, int decimals, number_digits *out) {
  number_ratio ratio;
  number_ratio_set(&ratio, number_split(value), 0);
  const int count = ratio.point + decimals;
  if (count > 0) {
    number_take(&ratio, count, out);
    if (out->point > ratio.point)
      out->digit[out->count++] = '0';
    return;
  }
  number_set_zero(out, 1);
  out->point = 1 - decimals;
  if (count < 0)
    return;
  /* value = r / s * 10^(point - 1) is more than half of 10^point if r > 5 s. */
  pc_big_multiply_add(&ratio.s, 5, 0);
  if (pc_big_compare(&ratio.r, &ratio.s) > 0)
    out->digit[0] = '1';
}

size_t pc_number_fixed(double value, int decimals, char out[PC_NUMBER_MAX]) {
  const double size = fabs(value);
  if (!isfinite(value) || size >= 1e15)
    return pc_number_round(value, 6, out);
  int whole = 1;
  while (size >= pc_ten_power[whole])
    whole++;
  const int most = 28 - whole < 17 ? 28 - whole : 17;
  decimals = decimals < 0 ? 0 : decimals > most ? most : decimals;
  number_digits digits;
  if (value == 0) {
    number_set_zero(&digits, 1);
    digits.point = 1 - decimals;
  } else {
    number_take_fixed(value, decimals, &digits);
  }
  if (digits.point < 1) {
    const int zeros = 1 - digits.point;
    memmove(digits.digit + zeros, digits.digit, (size_t)digits.count);
    memset(digits.digit, '0', (size_t)zeros);
    digits.count += zeros;
    digits.point = 1;
  }
  char *at = out;
  if (signbit(value))
    *at++ = '-';
  return number_finish(out, number_put_positional(at, &digits));
}

const char *pc_show(double value, char buffer[PC_NUMBER_MAX]) {
  pc_number_format(value, buffer);
  return buffer;
}

/* Text to numbers, correctly rounded.
 *
 * Three methods, each used when the previous one is not certain of the last bit:
 *   1. mantissa below 2^53 and |exponent| <= 22: one product or quotient of exact doubles, so
 *      one rounding (Clinger 1990).
 *   2. the first 19 digits times a power of ten with 64-bit mantissas, unless the accumulated
 *      error could reach the midpoint between two doubles.
 *   3. exact integers.
 *
 * Edge cases:
 *  1. after the 800th digit it only matters whether all further digits are 0, since no midpoint
 *     between doubles has more than 767 digits.
 *  2. exponents of any length saturate.
 *  3. overflow gives infinity and underflow 0, both with the sign.
 *  4. an exponent without digits is not part of the number: "1e+" uses one byte. */
#include "base/bigint.h"
#include "base/float_bits.h"
#include "base/number.h"
#include "base/powers.h"

#include <math.h>

#define NUMBER_PARSE_WORD_DIGITS 19
#define NUMBER_PARSE_EXACT_DIGITS 800
#define NUMBER_PARSE_FAR (INT64_C(1) << 60)

/* mantissa * 10^exponent, the first 19 significant digits. */
typedef struct number_parse_decimal {
  const char *first, *last; /* all digits, with the point */
  uint64_t mantissa;
  int64_t exponent;
  int digits;    /* in the mantissa */
  int truncated; /* further digits are not all 0 */
} number_parse_decimal;

/* ---- Grammar -------------------------------------------------------------- */

static int number_parse_is_digit(const char *at, const char *end) {
  return at < end && *at >= '0' && *at <= '9';
}

static const char *number_parse_digits(const char *at, const char *end, int fraction,
                                       number_parse_decimal *out) {
  for (; number_parse_is_digit(at, end); at++) {
    const unsigned digit = (unsigned)(*at - '0');
    if (out->digits < NUMBER_PARSE_WORD_DIGITS) {
      out->mantissa = out->mantissa * 10 + digit;
      out->digits += out->mantissa != 0;
      out->exponent -= fraction;
    } else {
      out->truncated |= digit != 0;
      out->exponent += !fraction;
    }
  }
  return at;
}

/* Parses an exponent such as "e-12" at `at`, if there is one; returns the end. */
static const char *number_parse_exponent(const char *at, const char *end, int64_t *exponent) {
  const char *next = at;
  if (next == end || (*next != 'e' && *next != 'E'))
    return at;
  next++;
  const int negative = next < end && *next == '-';
  if (next < end && (*next == '-' || *next == '+'))
    next++;
  if (!number_parse_is_digit(next, end))
    return at;
  int64_t power = 0;
  for (; number_parse_is_digit(next, end); next++) {
    if (power < NUMBER_PARSE_FAR / 16)
      power = power * 10 + (*next - '0');
  }
  *exponent += negative ? -power : power;
  return next;
}

/* The end of a decimal number that starts at `at`, or NULL. */
static const char *number_parse_decimal_at(const char *at, const char *end,
                                           number_parse_decimal *out) {
  *out = (number_parse_decimal){.first = at};
  const char *next = number_parse_digits(at, end, 0, out);
  int any = next > at;
  if (next < end && *next == '.') {
    const char *fraction = next + 1;
    const char *after = number_parse_digits(fraction, end, 1, out);
    if (!any && after == fraction)
      return NULL;
    any = 1;
    next = after;
  }
  out->last = next;
  return any ? number_parse_exponent(next, end, &out->exponent) : NULL;
}

static size_t number_parse_word(const char *at, const char *end, const char *word) {
  size_t length = 0;
  for (; word[length] != '\0'; length++) {
    if (at + length == end || (at[length] | 0x20) != word[length])
      return 0;
  }
  return length;
}

static size_t number_parse_special(const char *at, const char *end, double *value) {
  size_t length = number_parse_word(at, end, "nan");
  if (length > 0) {
    *value = NAN;
    return length;
  }
  length = number_parse_word(at, end, "infinity");
  if (length == 0)
    length = number_parse_word(at, end, "inf");
  if (length > 0)
    *value = INFINITY;
  return length;
}

/* ---- Value ---------------------------------------------------------------- */

/* Method 1. */
static int number_parse_small(const number_parse_decimal *decimal, double *value) {
  const double mantissa = (double)decimal->mantissa;
  if (decimal->truncated || decimal->mantissa > UINT64_C(1) << 53)
    return 0;
  if (decimal->exponent < -22 || decimal->exponent > 22)
    return 0;
  if (decimal->exponent < 0)
    *value = mantissa / pc_ten_power[-decimal->exponent];
  else
    *value = mantissa * pc_ten_power[decimal->exponent];
  return 1;
}

/* The upper 64 bits of the product, normalised to [2^63, 2^64). */
static pc_wide number_parse_multiply(pc_wide a, pc_wide b) {
  const pc_uint128 product = (pc_uint128)a.mantissa * b.mantissa;
  const int lift = (product >> 127) == 0;
  return (pc_wide){(uint64_t)(product >> (64 - lift)), a.exponent + b.exponent + 64 - lift};
}

static pc_wide number_parse_widen(uint64_t value) {
  const int lift = pc_leading_zeros(value);
  return (pc_wide){value << lift, -lift};
}

/* Method 2.  Errors in units of the last bit: truncating the first product loses less than 1,
 * the power of ten is off by at most 1/2, normalising the second product may double both, and
 * truncating it loses less than 1: the total error is below 4.  Digits cut off after the 19th
 * add at most 2^64 / 10^18 < 19. */
static int number_parse_wide(const number_parse_decimal *decimal, double *value) {
  const int power = (int)decimal->exponent;
  const int index = (power - PC_FIVE_FIRST) / PC_FIVE_STEP;
  const int rest = power - PC_FIVE_FIRST - index * PC_FIVE_STEP;
  pc_wide wide = number_parse_widen(decimal->mantissa);
  wide = number_parse_multiply(wide, number_parse_widen(pc_five_power[rest]));
  wide = number_parse_multiply(wide, pc_five_wide[index]);
  const int exponent = wide.exponent + power;
  const int error = decimal->truncated ? 4 + 19 : 4;
  const int low = (int)(wide.mantissa & 0x7ff) - 0x400;
  if ((low >= -error && low <= error) || exponent < -1080 || exponent > 950)
    return 0;
  *value = pc_round_binary(wide.mantissa, exponent, 1);
  return 1;
}

/* The first 800 digits as a natural number; returns its exponent of ten. */
static int number_parse_collect(const number_parse_decimal *decimal, pc_big *big, int *sticky) {
  int kept = 0;
  pc_big_set(big, 0);
  *sticky = 0;
  for (const char *at = decimal->first; at < decimal->last; at++) {
    if (*at == '.' || (*at == '0' && kept == 0))
      continue;
    if (kept == NUMBER_PARSE_EXACT_DIGITS) {
      *sticky |= *at != '0';
      continue;
    }
    pc_big_multiply_add(big, 10, (uint32_t)(*at - '0'));
    kept++;
  }
  return (int)decimal->exponent - (kept - decimal->digits);
}

/* Method 3: value = n / d * 2^power; the quotient is taken three bits at a time. */
static double number_parse_exact(const number_parse_decimal *decimal) {
  pc_big n, d;
  int sticky;
  const int power = number_parse_collect(decimal, &n, &sticky);
  pc_big_power_of_five(&n, power);
  pc_big_set(&d, 1);
  pc_big_power_of_five(&d, -power);
  int exponent = power;
  const int gap = pc_big_bits(&n) - pc_big_bits(&d);
  pc_big_shift(gap > 0 ? &d : &n, gap > 0 ? gap : -gap);
  exponent += gap;
  const int shift = pc_big_divisor_shift(&d);
  pc_big_shift(&n, shift);
  pc_big_shift(&d, shift);
  uint64_t quotient = pc_big_divide(&n, &d);
  for (int i = 0; i < 20; i++) {
    pc_big_shift(&n, 3);
    quotient = quotient << 3 | pc_big_divide(&n, &d);
    exponent -= 3;
  }
  return pc_round_binary(quotient, exponent, sticky || n.count > 0);
}

static double number_parse_value(const number_parse_decimal *decimal) {
  double value;
  if (decimal->mantissa == 0)
    return 0.0;
  if (number_parse_small(decimal, &value))
    return value;
  if (decimal->exponent + decimal->digits > 310)
    return INFINITY;
  if (decimal->exponent + decimal->digits < -330)
    return 0.0;
  if (number_parse_wide(decimal, &value))
    return value;
  return number_parse_exact(decimal);
}

/* ---- Interface ------------------------------------------------------------ */

size_t pc_number_parse(const char *begin, const char *end, double *value) {
  const char *at = begin;
  const int negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  number_parse_decimal decimal;
  double size;
  const char *next = number_parse_decimal_at(at, end, &decimal);
  if (next != NULL) {
    size = number_parse_value(&decimal);
  } else {
    const size_t length = number_parse_special(at, end, &size);
    if (length == 0)
      return 0;
    next = at + length;
  }
  *value = negative ? -size : size;
  return (size_t)(next - begin);
}

int pc_integer_parse(const char *begin, const char *end, int64_t low, int64_t high,
                     int64_t *value) {
  const char *at = begin;
  const int negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  if (at == end)
    return 0;
  const uint64_t most = negative ? UINT64_C(1) << 63 : INT64_MAX;
  uint64_t size = 0;
  for (; at < end; at++) {
    const unsigned digit = (unsigned)(*at - '0');
    if (digit > 9 || size > (most - digit) / 10)
      return 0;
    size = size * 10 + digit;
  }
  const int64_t read = negative && size > 0 ? -(int64_t)(size - 1) - 1 : (int64_t)size;
  if (read < low || read > high)
    return 0;
  *value = read;
  return 1;
}

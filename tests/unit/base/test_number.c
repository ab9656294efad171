#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_bits.h"
#include "base/number.h"
#include "emulated.h"

/* Expected values come from the C library in the C locale. */

static uint64_t next_random(uint64_t *seed) {
  *seed += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *seed;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double next_unit(uint64_t *seed) {
  return (double)(next_random(seed) >> 11) * 0x1p-53;
}

/* Bit patterns of all kinds: any finite double, unit interval, short decimals, integers. */
static double next_value(uint64_t *seed) {
  const uint64_t kind = next_random(seed) % 5;
  if (kind == 0)
    return next_unit(seed);
  if (kind == 1)
    return (double)(next_random(seed) % 1000000) / 1e6;
  if (kind == 2)
    return (double)(int64_t)next_random(seed) * 0x1p-5;
  for (;;) {
    const double value = pc_double_from_bits(next_random(seed));
    if (isfinite(value))
      return value;
  }
}

static size_t parse(const char *text, double *value) {
  return pc_number_parse(text, text + strlen(text), value);
}

static void check_parse(const char *text) {
  double value = -77;
  assert_int_equal(parse(text, &value), strlen(text));
  const double expected = strtod(text, NULL);
  if (pc_double_bits(value) != pc_double_bits(expected))
    fail_msg("%s read as %a, not %a", text, value, expected);
}

static void check_format(double value, const char *expected) {
  char out[PC_NUMBER_MAX];
  assert_int_equal(pc_number_format(value, out), strlen(expected));
  assert_string_equal(out, expected);
}

TEST(test_format_style) {
  check_format(0.1, "0.1");
  check_format(12, "12");
  check_format(1e-7, "1e-07");
  check_format(0.0001, "0.0001");
  check_format(0.00001, "1e-05");
  check_format(0.00012345, "0.00012345");
  check_format(1e15, "1000000000000000");
  check_format(1e16, "1e+16");
  check_format(1234567890123456, "1234567890123456");
  check_format(12345678901234568, "1.2345678901234568e+16");
  check_format(-2.5e-10, "-2.5e-10");
  check_format(1.5e300, "1.5e+300");
  check_format(100, "100");
  check_format(0, "0");
  check_format(-0.0, "-0");
  check_format(INFINITY, "inf");
  check_format(-INFINITY, "-inf");
  check_format(NAN, "nan");
  check_format(-NAN, "nan");
}

TEST(test_format_hard_values) {
  check_format(0x1p-1074, "5e-324");
  check_format(DBL_MIN, "2.2250738585072014e-308");
  check_format(DBL_MIN - 0x1p-1074, "2.225073858507201e-308");
  check_format(DBL_MAX, "1.7976931348623157e+308");
  check_format(-DBL_MAX, "-1.7976931348623157e+308");
  check_format(0x1p-44, "5.684341886080802e-14");
  check_format(0x1p53, "9007199254740992");
  check_format(1e23, "1e+23");
  check_format(9.5367431640625e-07, "9.5367431640625e-07");
  check_format(0.1 + 0.2, "0.30000000000000004");
  check_format(2.0 / 3, "0.6666666666666666");
  check_format(123456789012345.6, "123456789012345.6");
  check_format(5e-324 * 3, "1.5e-323");
}

/* Digits of a text such as "-1.25e-07": 3. */
static int digits_in(const char *text) {
  int count = 0, zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (*text == '0' && count + zeros == 0))
      continue;
    zeros = *text == '0' ? zeros + 1 : 0;
    count++;
  }
  return count - zeros;
}

/* The text reads back, no shorter text does, and it is the nearest of its length. */
static void check_shortest(double value) {
  char out[PC_NUMBER_MAX], other[64];
  pc_number_format(value, out);
  double back = -77;
  assert_int_equal(parse(out, &back), strlen(out));
  if (pc_double_bits(back) != pc_double_bits(value) || strtod(out, NULL) != value)
    fail_msg("%s does not read back as %a", out, value);
  const int power_of_two = (pc_double_bits(value) << 12) == 0;
  const int digits = digits_in(out);
  if (value == 0 || power_of_two)
    return;
  snprintf(other, sizeof other, "%.*e", digits - 1, value);
  if (strtod(other, NULL) != strtod(out, NULL) || digits_in(other) != digits)
    fail_msg("%s is not the nearest: %s", out, other);
  snprintf(other, sizeof other, "%.*e", digits > 1 ? digits - 2 : 0, value);
  if (digits > 1 && strtod(other, NULL) == value)
    fail_msg("%s is not the shortest: %s", out, other);
}

TEST(test_format_random) {
  uint64_t seed = 1;
  for (int i = 0; i < (int)fewer_if_emulated(300000, 3000); i++)
    check_shortest(next_value(&seed));
  for (int e = -1074; e <= 1023; e += emulated() ? 11 : 1) {
    check_shortest(ldexp(1.0, e));
    check_shortest(nextafter(ldexp(1.0, e), 0.0));
  }
}

static void check_float(float value) {
  char out[PC_NUMBER_MAX], other[64];
  pc_number_format_float(value, out);
  if (strtof(out, NULL) != value)
    fail_msg("%s does not read back as %a", out, (double)value);
  const int digits = digits_in(out);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (digits < 2 || bits << 9 == 0)
    return;
  snprintf(other, sizeof other, "%.*e", digits - 2, (double)value);
  if (strtof(other, NULL) == value)
    fail_msg("%s is not the shortest: %s", out, other);
}

TEST(test_format_float) {
  char out[PC_NUMBER_MAX];
  pc_number_format_float(0.1f, out);
  assert_string_equal(out, "0.1");
  pc_number_format_float(FLT_MAX, out);
  assert_string_equal(out, "3.4028235e+38");
  pc_number_format_float(0x1p-149f, out);
  assert_string_equal(out, "1e-45");
  pc_number_format_float(16777216.0f, out);
  assert_string_equal(out, "16777216");
  pc_number_format_float(-INFINITY, out);
  assert_string_equal(out, "-inf");
  uint64_t seed = 2;
  for (int i = 0; i < (int)fewer_if_emulated(100000, 1000); i++) {
    const uint32_t bits = (uint32_t)next_random(&seed);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
      check_float(value);
  }
}

static void check_round(double value, int digits, const char *expected) {
  char out[PC_NUMBER_MAX];
  assert_int_equal(pc_number_round(value, digits, out), strlen(expected));
  assert_string_equal(out, expected);
}

TEST(test_round) {
  check_round(0.0475, 3, "0.0475");
  check_round(12, 3, "12.0");
  check_round(1.2e-9, 3, "1.20e-09");
  check_round(1234.5, 3, "1230");
  check_round(1234.5, 4, "1234");
  check_round(9.996, 3, "10.0");
  check_round(99999, 2, "100000");
  check_round(0.00009996, 3, "0.000100");
  check_round(9.996e15, 3, "1.00e+16");
  check_round(2.5, 1, "2");
  check_round(3.5, 1, "4");
  check_round(0, 3, "0.00");
  check_round(-0.0, 1, "-0");
  check_round(0.1, 17, "0.10000000000000001");
  check_round(-DBL_MAX, 17, "-1.7976931348623157e+308");
  check_round(NAN, 3, "nan");
  uint64_t seed = 3;
  for (int i = 0; i < (int)fewer_if_emulated(100000, 1000); i++) {
    char out[PC_NUMBER_MAX], other[64];
    const double value = next_value(&seed);
    const int digits = 1 + (int)(next_random(&seed) % 17);
    pc_number_round(value, digits, out);
    snprintf(other, sizeof other, "%.*e", digits - 1, value);
    if (strtod(out, NULL) != strtod(other, NULL))
      fail_msg("%a to %d digits is %s, not %s", value, digits, out, other);
  }
}

static void check_fixed(double value, int decimals, const char *expected) {
  char out[PC_NUMBER_MAX];
  assert_int_equal(pc_number_fixed(value, decimals, out), strlen(expected));
  assert_string_equal(out, expected);
}

TEST(test_fixed) {
  check_fixed(0.5, 0, "0");
  check_fixed(1.5, 0, "2");
  check_fixed(0.06, 1, "0.1");
  check_fixed(0.04, 1, "0.0");
  check_fixed(0.96, 1, "1.0");
  check_fixed(9.96, 1, "10.0");
  check_fixed(-0.001, 2, "-0.00");
  check_fixed(0, 2, "0.00");
  check_fixed(0, 0, "0");
  check_fixed(0x1p-1074, 17, "0.00000000000000000");
  check_fixed(1e15, 2, "1000000000000000");
  check_fixed(1e300, 2, "1.00000e+300");
  check_fixed(-INFINITY, 2, "-inf");
  check_fixed(-999999999999999.9, 17, "-999999999999999.8750000000000");
  uint64_t seed = 4;
  for (int i = 0; i < (int)fewer_if_emulated(100000, 1000); i++) {
    const double value = next_unit(&seed) * pow(10, (int)(next_random(&seed) % 24) - 12);
    const int decimals = (int)(next_random(&seed) % 18);
    char other[64];
    snprintf(other, sizeof other, "%.*f", value < 1e10 ? decimals : decimals % 10, value);
    check_fixed(value, value < 1e10 ? decimals : decimals % 10, other);
  }
}

TEST(test_parse_random) {
  uint64_t seed = 5;
  char text[128];
  for (int i = 0; i < (int)fewer_if_emulated(300000, 3000); i++) {
    const double value = next_value(&seed);
    snprintf(text, sizeof text, "%.*e", (int)(next_random(&seed) % 30), value);
    check_parse(text);
    snprintf(text, sizeof text, "%.17g", value);
    check_parse(text);
    const uint64_t whole = next_random(&seed) >> (next_random(&seed) % 64);
    const uint64_t rest = next_random(&seed) >> (next_random(&seed) % 64);
    snprintf(text, sizeof text, "%s%llu.%llue%d", i % 2 ? "-" : "+", (unsigned long long)whole,
             (unsigned long long)rest, (int)(next_random(&seed) % 700) - 350);
    check_parse(text);
  }
}

TEST(test_parse_hard_values) {
  static const char *const texts[] = {
      "9007199254740993",
      "9007199254740992.999999999999999999",
      "9007199254740993.00000000000000000000000000000001",
      "2.2250738585072011e-308",
      "2.2250738585072014e-308",
      "4.9406564584124654e-324",
      "2.4703282292062327208e-324",
      "2.4703282292062328e-324",
      "1.7976931348623157e308",
      "1.7976931348623158079e308",
      "1.797693134862315808e308",
      "1e309",
      "1e-400",
      "-1e-400",
      "-1e400",
      "1e23",
      "8.5e-323",
      "6929495644600919.5",
      "3.518437208883201171875e13",
      "0.500000000000000166533453693773481063544750213623046875",
      "1090544144181609348835077142190",
      "0000000000000000000000000000000000012.50",
      "0.000000000000000000000000000000000000000000125e42",
      "123456789012345678901234567890e-10",
      ".5",
      "5.",
      "0",
      "-0",
      "0e999999999999",
      "-0.000e-5",
      "1E5",
      "1e+5"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    check_parse(texts[i]);
}

/* The decimal digits of number * 5^power. */
static void write_times_five(uint64_t number, int power, char *out) {
  char reversed[2000];
  size_t count = 0;
  for (; number > 0; number /= 10)
    reversed[count++] = (char)(number % 10);
  for (; power > 0; power--) {
    int carry = 0;
    for (size_t i = 0; i < count; i++) {
      carry += reversed[i] * 5;
      reversed[i] = (char)(carry % 10);
      carry /= 10;
    }
    if (carry > 0)
      reversed[count++] = (char)carry;
  }
  for (size_t i = 0; i < count; i++)
    out[i] = (char)('0' + reversed[count - 1 - i]);
  out[count] = '\0';
}

/* (mantissa + 1/2) * 2^exponent as text, then with 1000 zeros, then with a 1 behind them. */
static void check_midpoint(uint64_t mantissa, int exponent) {
  char text[4000], tail[32];
  const int power = 1 - exponent;
  const double low = ldexp((double)mantissa, exponent);
  const double high = ldexp((double)(mantissa + 1), exponent);
  const double even = mantissa % 2 == 0 ? low : high;
  double value = -77;
  write_times_five(2 * mantissa + 1, power, text);
  const size_t length = strlen(text);
  snprintf(text + length, sizeof text - length, "e-%d", power);
  parse(text, &value);
  assert_true(value == even);
  text[length] = '.';
  memset(text + length + 1, '0', 1000);
  snprintf(tail, sizeof tail, "e-%d", power);
  strcpy(text + length + 1001, tail);
  parse(text, &value);
  assert_true(value == even);
  text[length + 1000] = '1';
  parse(text, &value);
  assert_true(value == high);
}

TEST(test_parse_midpoints) {
  uint64_t seed = 6;
  const uint64_t top = UINT64_C(1) << 52;
  for (int i = 0; i < 1500; i++)
    check_midpoint(top + next_random(&seed) % top, -(int)(next_random(&seed) % 300));
  for (int i = 0; i < 50; i++)
    check_midpoint(top + next_random(&seed) % top, -1000 - (int)(next_random(&seed) % 75));
  check_midpoint(0, -1074);
  check_midpoint(1, -1074);
  check_midpoint(top - 1, -1074);
  check_midpoint(2 * top - 1, -1074);
}

TEST(test_parse_long_texts) {
  const size_t size = 2000000;
  char *text = malloc(size + 64);
  assert_non_null(text);
  double value = 0;
  memset(text, '9', size);
  strcpy(text + size, "e-2000000");
  assert_int_equal(parse(text, &value), size + 9);
  assert_true(value == 1.0);
  memset(text, '0', size);
  text[1] = '.';
  strcpy(text + size, "125e2000001");
  assert_int_equal(parse(text, &value), size + 11);
  assert_true(value == 125.0);
  strcpy(text, "1e");
  memset(text + 2, '9', 1000);
  text[1002] = '\0';
  assert_int_equal(parse(text, &value), 1002);
  assert_true(value == INFINITY);
  memmove(text + 3, text + 2, 1001);
  text[2] = '-';
  assert_int_equal(parse(text, &value), 1003);
  assert_true(value == 0);
  free(text);
}

static void check_used(const char *text, size_t used) {
  double value = -77;
  assert_int_equal(parse(text, &value), used);
  assert_true((value == -77) == (used == 0));
}

TEST(test_parse_grammar) {
  check_used("", 0);
  check_used("-", 0);
  check_used("+", 0);
  check_used(".", 0);
  check_used("-.e5", 0);
  check_used("e5", 0);
  check_used(" 1", 0);
  check_used("+-1", 0);
  check_used("--1", 0);
  check_used("na", 0);
  check_used("in", 0);
  check_used("1e", 1);
  check_used("1e+", 1);
  check_used("1.e+x", 2);
  check_used("1.2.3", 3);
  check_used("0x10", 1);
  check_used("1,5", 1);
  check_used("12abc", 2);
  check_used("infinit", 3);
  check_used("-INFINITY", 9);
  check_used("nan(7)", 3);
  double value;
  assert_int_equal(parse("+Inf", &value), 4);
  assert_true(value == INFINITY);
  assert_int_equal(parse("-inf", &value), 4);
  assert_true(value == -INFINITY);
  assert_int_equal(parse("NaN", &value), 3);
  assert_true(isnan(value));
  const char digits[] = {'1', '2', '3'};
  assert_int_equal(pc_number_parse(digits, digits + 2, &value), 2);
  assert_true(value == 12);
}

static int integer(const char *text, int64_t low, int64_t high, int64_t *value) {
  return pc_integer_parse(text, text + strlen(text), low, high, value);
}

TEST(test_integer) {
  int64_t value = 5;
  assert_true(integer("0", 0, 9, &value) && value == 0);
  assert_true(integer("-0", 0, 9, &value) && value == 0);
  assert_true(integer("+007", 0, 9, &value) && value == 7);
  assert_true(integer("-12", -12, 9, &value) && value == -12);
  assert_true(integer("9223372036854775807", INT64_MIN, INT64_MAX, &value) &&
              value == INT64_MAX);
  assert_true(integer("-9223372036854775808", INT64_MIN, INT64_MAX, &value) &&
              value == INT64_MIN);
  value = 5;
  static const char *const wrong[] = {"",
                                      "-",
                                      "+",
                                      "1.0",
                                      "1e3",
                                      " 1",
                                      "1 ",
                                      "a",
                                      "10",
                                      "-1",
                                      "--1",
                                      "0x1",
                                      "1-",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_false(integer(wrong[i], 0, 9, &value));
  assert_false(integer("9223372036854775808", INT64_MIN, INT64_MAX, &value));
  assert_false(integer("-9223372036854775809", INT64_MIN, INT64_MAX, &value));
  assert_true(value == 5);
}

TEST(test_show) {
  assert_string_equal(pc_show(0.25, (char[PC_NUMBER_MAX]){0}), "0.25");
}

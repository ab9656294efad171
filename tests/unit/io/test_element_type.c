#include "io/formats/element_type.h"

#include <math.h>

#include "io_help.h"

static double type_half(uint16_t bits) {
  const pc_element_type type = {PC_ELEMENT_FLOAT, 2, 0};
  const pc_element_run run = {(const unsigned char *)&bits, 0, 1};
  double out;
  pc_elements_to_double(&type, &run, &out, 1);
  return out;
}

/* IEEE 754 binary16, from the definition. */
static double type_half_expected(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = (bits & 1023) / 1024.0;
  const double size = exponent == 0    ? ldexp(fraction, -14)
                      : exponent == 31 ? INFINITY
                                       : ldexp(1 + fraction, exponent - 15);
  return bits & 0x8000 ? -size : size;
}

TEST(reads_every_half) {
  for (unsigned bits = 0; bits < 65536; bits++) {
    const double got = type_half((uint16_t)bits);
    if ((bits & 0x7C00) == 0x7C00 && (bits & 1023) != 0) {
      assert_true(isnan(got));
      continue;
    }
    const double expected = type_half_expected((uint16_t)bits);
    if (memcmp(&got, &expected, sizeof got) != 0)
      fail_msg("half %04x is %a, not %a", bits, got, expected);
  }
}

/* Both byte orders of one element give the same number. */
static void expect_number(pc_element_kind kind, size_t size, const void *bytes,
                          double expected) {
  unsigned char reversed[8], straight[8];
  memcpy(straight, bytes, size);
  for (size_t i = 0; i < size; i++)
    reversed[i] = straight[size - 1 - i];
  for (int swapped = 0; swapped <= 1; swapped++) {
    const pc_element_type type = {kind, size, swapped};
    const pc_element_run run = {swapped ? reversed : straight, 0, 1};
    double out = 0;
    pc_elements_to_double(&type, &run, &out, 1);
    assert_memory_equal(&out, &expected, sizeof out);
  }
}

/* Neighbouring halves take a way of their own to floats: the same numbers, bit for bit. */
TEST(reads_every_half_as_float) {
  enum { HALVES = 1 << 16 };
  static uint16_t halves[HALVES];
  static float near[HALVES], apart[2 * HALVES];
  const pc_element_type type = {PC_ELEMENT_FLOAT, 2, 0};
  for (uint32_t bits = 0; bits < HALVES; bits++)
    halves[bits] = (uint16_t)bits;
  const pc_element_run run = {(const unsigned char *)halves, 2, HALVES};
  pc_elements_to_float(&type, &run, near, 1);
  pc_elements_to_float(&type, &run, apart, 2);
  for (size_t i = 0; i < HALVES; i++)
    assert_memory_equal(&near[i], &apart[2 * i], sizeof *near);
}

TEST(reads_every_type_in_both_orders) {
  expect_number(PC_ELEMENT_SIGNED, 1, &(int8_t){-128}, -128);
  expect_number(PC_ELEMENT_SIGNED, 2, &(int16_t){-300}, -300);
  expect_number(PC_ELEMENT_SIGNED, 4, &(int32_t){INT32_MIN}, -2147483648.0);
  expect_number(PC_ELEMENT_SIGNED, 8, &(int64_t){-5000000000}, -5e9);
  expect_number(PC_ELEMENT_SIGNED, 8, &(int64_t){INT64_MIN}, -0x1p63);
  expect_number(PC_ELEMENT_UNSIGNED, 1, &(uint8_t){255}, 255);
  expect_number(PC_ELEMENT_UNSIGNED, 2, &(uint16_t){65535}, 65535);
  expect_number(PC_ELEMENT_UNSIGNED, 4, &(uint32_t){4294967295u}, 4294967295.0);
  expect_number(PC_ELEMENT_UNSIGNED, 8, &(uint64_t){UINT64_MAX}, 0x1p64);
  expect_number(PC_ELEMENT_FLOAT, 2, &(uint16_t){0x3555}, 0x1.554p-2);
  expect_number(PC_ELEMENT_FLOAT, 4, &(float){0.1f}, (double)0.1f);
  expect_number(PC_ELEMENT_FLOAT, 8, &(double){-0.1}, -0.1);
  expect_number(PC_ELEMENT_BOOL, 1, &(uint8_t){0}, 0);
  expect_number(PC_ELEMENT_BOOL, 1, &(uint8_t){1}, 1);
  expect_number(PC_ELEMENT_BOOL, 1, &(uint8_t){7}, 1);
}

/* Longer than a block, with strides on both sides and no alignment. */
TEST(converts_long_strided_runs) {
  enum { COUNT = 1000, STRIDE = 7 };
  unsigned char *bytes = calloc(COUNT * STRIDE + 8, 1);
  double *wide = calloc(COUNT * 3, sizeof *wide);
  float *narrow = calloc(COUNT * 2, sizeof *narrow);
  for (int i = 0; i < COUNT; i++) {
    const float value = (float)i / 3.0f;
    memcpy(bytes + 1 + i * STRIDE, &value, sizeof value);
  }
  const pc_element_type type = {PC_ELEMENT_FLOAT, 4, 0};
  const pc_element_run run = {bytes + 1, STRIDE, COUNT};
  pc_elements_to_double(&type, &run, wide, 3);
  pc_elements_to_float(&type, &run, narrow, 2);
  for (int i = 0; i < COUNT; i++) {
    assert_true(wide[3 * i] == (double)((float)i / 3.0f));
    assert_true(narrow[2 * i] == (float)i / 3.0f);
    assert_true(wide[3 * i + 1] == 0 && narrow[2 * i + 1] == 0);
  }
  free(bytes);
  free(wide);
  free(narrow);
}

static void expect_text(pc_element_kind kind, size_t size, const void *bytes,
                        const char *expected) {
  char out[PC_ELEMENT_TEXT_MAX];
  const pc_element_type type = {kind, size, 0};
  const size_t length = pc_element_to_text(&type, bytes, out);
  assert_int_equal(length, strlen(expected));
  assert_memory_equal(out, expected, length);
}

TEST(writes_whole_numbers_exactly) {
  expect_text(PC_ELEMENT_SIGNED, 8, &(int64_t){INT64_MIN}, "-9223372036854775808");
  expect_text(PC_ELEMENT_SIGNED, 8, &(int64_t){9007199254740993}, "9007199254740993");
  expect_text(PC_ELEMENT_SIGNED, 1, &(int8_t){-1}, "-1");
  expect_text(PC_ELEMENT_UNSIGNED, 8, &(uint64_t){UINT64_MAX}, "18446744073709551615");
  expect_text(PC_ELEMENT_FLOAT, 8, &(double){2.0}, "2");
  expect_text(PC_ELEMENT_FLOAT, 8, &(double){0.5}, "0.5");
  expect_text(PC_ELEMENT_BOOL, 1, &(uint8_t){1}, "1");
}

TEST(names_types) {
  char out[48];
  pc_element_type_text(&(pc_element_type){PC_ELEMENT_FLOAT, 4, 0}, out, sizeof out);
  assert_string_equal(out, "float32");
  pc_element_type_text(&(pc_element_type){PC_ELEMENT_UNSIGNED, 2, 1}, out, sizeof out);
  assert_string_equal(out, pc_little_endian() ? "uint16, big-endian" : "uint16, little-endian");
  pc_element_type_text(&(pc_element_type){PC_ELEMENT_SIGNED, 8, 0}, out, sizeof out);
  assert_string_equal(out, "int64");
  pc_element_type_text(&(pc_element_type){PC_ELEMENT_BOOL, 1, 0}, out, sizeof out);
  assert_string_equal(out, "bool");
}

/* Conversion in blocks: the bits of the elements are first loaded into 64-bit words in
 * native byte order, then converted to numbers. */
#include "io/formats/element_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/float_bits.h"
#include "base/number.h"

#define ELEMENT_TYPE_BLOCK 128

int pc_little_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 1;
}

void pc_element_type_text(const pc_element_type *type, char *out, size_t size) {
  static const char *const words[] = {"", "float", "int", "uint", "bool"};
  const char *order = pc_little_endian() ? ", big-endian" : ", little-endian";
  if (type->kind == PC_ELEMENT_BOOL)
    snprintf(out, size, "bool");
  else
    snprintf(out, size, "%s%zu%s", words[type->kind], type->size * 8,
             type->swapped ? order : "");
}

static void element_type_bits_1(const pc_element_run *run, uint64_t *out) {
  for (size_t i = 0; i < run->count; i++)
    out[i] = run->first[(ptrdiff_t)i * run->stride];
}

static void element_type_bits_2(const pc_element_run *run, int swapped, uint64_t *out) {
  for (size_t i = 0; i < run->count; i++) {
    uint16_t bits;
    memcpy(&bits, run->first + (ptrdiff_t)i * run->stride, sizeof bits);
    out[i] = swapped ? (uint16_t)(bits << 8 | bits >> 8) : bits;
  }
}

static uint32_t element_type_swap_32(uint32_t bits) {
  return bits << 24 | (bits & 0xFF00u) << 8 | (bits >> 8 & 0xFF00u) | bits >> 24;
}

static void element_type_bits_4(const pc_element_run *run, int swapped, uint64_t *out) {
  for (size_t i = 0; i < run->count; i++) {
    uint32_t bits;
    memcpy(&bits, run->first + (ptrdiff_t)i * run->stride, sizeof bits);
    out[i] = swapped ? element_type_swap_32(bits) : bits;
  }
}

static void element_type_bits_8(const pc_element_run *run, int swapped, uint64_t *out) {
  for (size_t i = 0; i < run->count; i++) {
    uint64_t bits;
    memcpy(&bits, run->first + (ptrdiff_t)i * run->stride, sizeof bits);
    out[i] = swapped ? (uint64_t)element_type_swap_32((uint32_t)bits) << 32 |
                           element_type_swap_32((uint32_t)(bits >> 32))
                     : bits;
  }
}

static void element_type_bits(const pc_element_type *type, const pc_element_run *run,
                              uint64_t *out) {
  switch (type->size) {
  case 1:
    element_type_bits_1(run, out);
    break;
  case 2:
    element_type_bits_2(run, type->swapped, out);
    break;
  case 4:
    element_type_bits_4(run, type->swapped, out);
    break;
  default:
    element_type_bits_8(run, type->swapped, out);
    break;
  }
}

/* Binary16: sign, 5 bits of exponent with bias 15, 10 bits of fraction.  A subnormal is
 * fraction * 2^-24; other numbers only change bias (15 to 1023) and width (10 to 52). */
static double element_type_half(uint64_t half) {
  const uint64_t sign = (half & 0x8000u) << 48;
  const uint64_t exponent = half >> 10 & 0x1Fu, fraction = half & 0x3FFu;
  double value;
  uint64_t bits;
  if (exponent == 0) {
    value = (double)fraction * 0x1p-24;
    memcpy(&bits, &value, sizeof bits);
    bits |= sign;
  } else {
    const uint64_t wide = exponent == 31 ? 2047 : exponent - 15 + 1023;
    bits = sign | wide << 52 | fraction << 42;
  }
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double element_type_float(uint64_t word) {
  const uint32_t bits = (uint32_t)word;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static double element_type_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Two's complement of `size` bytes. */
static int64_t element_type_signed(uint64_t bits, size_t size) {
  const uint64_t top = UINT64_C(1) << (size * 8 - 1);
  const uint64_t wide = (bits ^ top) - top;
  int64_t value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static void element_type_floats(size_t size, const uint64_t *bits, size_t count, double *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = size == 2   ? element_type_half(bits[i])
             : size == 4 ? element_type_float(bits[i])
                         : element_type_double(bits[i]);
}

static void element_type_numbers(const pc_element_type *type, const uint64_t *bits,
                                 size_t count, double *out) {
  switch (type->kind) {
  case PC_ELEMENT_FLOAT:
    element_type_floats(type->size, bits, count, out);
    break;
  case PC_ELEMENT_SIGNED:
    for (size_t i = 0; i < count; i++)
      out[i] = (double)element_type_signed(bits[i], type->size);
    break;
  case PC_ELEMENT_UNSIGNED:
    for (size_t i = 0; i < count; i++)
      out[i] = (double)bits[i];
    break;
  case PC_ELEMENT_BOOL:
    for (size_t i = 0; i < count; i++)
      out[i] = bits[i] != 0 ? 1.0 : 0.0;
    break;
  }
}

/* Converts elements [begin, begin + count) of a run; count <= ELEMENT_TYPE_BLOCK. */
static void element_type_block(const pc_element_type *type, const pc_element_run *run,
                               size_t begin, size_t count, double out[ELEMENT_TYPE_BLOCK]) {
  uint64_t bits[ELEMENT_TYPE_BLOCK];
  const pc_element_run part = {run->first + (ptrdiff_t)begin * run->stride, run->stride, count};
  element_type_bits(type, &part, bits);
  element_type_numbers(type, bits, count, out);
}

static size_t element_type_block_size(size_t left) {
  return left < ELEMENT_TYPE_BLOCK ? left : ELEMENT_TYPE_BLOCK;
}

void pc_elements_to_double(const pc_element_type *type, const pc_element_run *run, double *out,
                           size_t out_step) {
  double block[ELEMENT_TYPE_BLOCK];
  for (size_t begin = 0; begin < run->count; begin += ELEMENT_TYPE_BLOCK) {
    const size_t count = element_type_block_size(run->count - begin);
    element_type_block(type, run, begin, count, block);
    for (size_t i = 0; i < count; i++)
      out[(begin + i) * out_step] = block[i];
  }
}

/* Binary16 as float: shifted by 13 bits, the exponent is 112 too low.  Infinity and NaN, whose
 * exponent is 31, keep their fraction; a NaN becomes quiet. */
static float element_type_half_to_float(uint32_t half) {
  const uint32_t size = (half & 0x7FFFu) << 13, fraction = half & 0x3FFu;
  const uint32_t number = pc_float_bits(pc_float_from_bits(size) * 0x1p112f);
  const uint32_t special = size | 0x7F800000u | (fraction != 0 ? 0x400000u : 0u);
  return pc_float_from_bits((half & 0x8000u) << 16 |
                            ((half & 0x7C00u) == 0x7C00u ? special : number));
}

/* Neighbours in native byte order; a loop that compilers vectorise. */
static void element_type_halves(const pc_element_run *run, float *out) {
  for (size_t i = 0; i < run->count; i++) {
    uint16_t half;
    memcpy(&half, run->first + i * sizeof half, sizeof half);
    out[i] = element_type_half_to_float(half);
  }
}

void pc_elements_to_float(const pc_element_type *type, const pc_element_run *run, float *out,
                          size_t out_step) {
  double block[ELEMENT_TYPE_BLOCK];
  if (type->size == 2 && !type->swapped && run->stride == 2 && out_step == 1) {
    element_type_halves(run, out);
    return;
  }
  for (size_t begin = 0; begin < run->count; begin += ELEMENT_TYPE_BLOCK) {
    const size_t count = element_type_block_size(run->count - begin);
    element_type_block(type, run, begin, count, block);
    for (size_t i = 0; i < count; i++)
      out[(begin + i) * out_step] = (float)block[i];
  }
}

size_t pc_element_to_text(const pc_element_type *type, const unsigned char *element,
                          char out[PC_ELEMENT_TEXT_MAX]) {
  uint64_t bits;
  double number = 0.0;
  const pc_element_run one = {element, 0, 1};
  element_type_bits(type, &one, &bits);
  if (type->kind == PC_ELEMENT_SIGNED)
    return (size_t)snprintf(out, PC_ELEMENT_TEXT_MAX, "%" PRId64,
                            element_type_signed(bits, type->size));
  if (type->kind == PC_ELEMENT_UNSIGNED)
    return (size_t)snprintf(out, PC_ELEMENT_TEXT_MAX, "%" PRIu64, bits);
  element_type_numbers(type, &bits, 1, &number);
  return pc_number_format(number, out);
}

/* Choices that build inputs: taken from the fuzzer's bytes while there are some, so that it can
 * learn which of them matter, and from a generator of pseudo-random numbers behind them. */
#ifndef FUZZ_CHOICE_H
#define FUZZ_CHOICE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_choice {
  const uint8_t *at, *end;
  uint64_t state;
} fuzz_choice;

static inline fuzz_choice fuzz_choice_of_seed(uint64_t seed) {
  return (fuzz_choice){NULL, NULL, seed};
}

static inline fuzz_choice fuzz_choice_of_bytes(const uint8_t *data, size_t size) {
  fuzz_choice choice = {data, data + size, size};
  for (size_t i = 0; i < size && i < 8; i++)
    choice.state = choice.state * 257 + data[i];
  return choice;
}

static inline uint64_t fuzz_any(fuzz_choice *choice) {
  choice->state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = choice->state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  z ^= z >> 31;
  if (choice->at == choice->end)
    return z;
  const uint8_t first = *choice->at++;
  const uint8_t second = choice->at < choice->end ? *choice->at++ : 0;
  return (uint64_t)first + 256 * (uint64_t)second;
}

/* 0 .. count-1; count >= 1 */
static inline size_t fuzz_below(fuzz_choice *choice, size_t count) {
  return (size_t)(fuzz_any(choice) % count);
}

static inline int fuzz_chance(fuzz_choice *choice, size_t in) {
  return fuzz_below(choice, in) == 0;
}

#define FUZZ_PICK(choice, array) \
  ((array)[fuzz_below((choice), sizeof(array) / sizeof *(array))])

/* Uniform in [0, 1), in steps of 1/65536. */
static inline double fuzz_unit(fuzz_choice *choice) {
  return (double)(fuzz_any(choice) & 0xFFFF) / 65536.0;
}

/* ---- output ---- */

typedef struct fuzz_out {
  uint8_t *bytes;
  size_t length, capacity; /* what does not fit is left out */
} fuzz_out;

static inline void fuzz_put(fuzz_out *out, const void *bytes, size_t count) {
  const size_t room = out->capacity - out->length;
  const size_t taken = count < room ? count : room;
  if (taken > 0)
    memcpy(out->bytes + out->length, bytes, taken);
  out->length += taken;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void
fuzz_putf(fuzz_out *out, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  const int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length > 0)
    fuzz_put(out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Little-endian. */
static inline void fuzz_put_number(fuzz_out *out, uint64_t number, size_t bytes) {
  for (size_t b = 0; b < bytes; b++) {
    const uint8_t byte = b < 8 ? (uint8_t)(number >> (8 * b)) : 0;
    fuzz_put(out, &byte, 1);
  }
}

#endif

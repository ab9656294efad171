#include "row_writer.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROW_WRITER_ARRAYS 8

struct row_writer {
  row_writer_array arrays[ROW_WRITER_ARRAYS];
  size_t count;
  uint64_t state;
  unsigned rarity;
  atomic_int stop;
  pthread_t thread;
};

uint64_t row_writer_draw(uint64_t *state) {
  uint64_t x = *state; /* xorshift64 */
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

static double row_writer_number(uint64_t *state) {
  static const double numbers[] = {NAN,   INFINITY, -INFINITY, -1.0,  2.0,   1e30,    -1e30,
                                   1e300, -1e300,   5e-324,    1e-40, 0.0,   -0.0,    1.0,
                                   0.5,   1e15,     -1e15,     1e8,   1.001, 0.99999, -1e-9};
  const uint64_t draw = row_writer_draw(state);
  if (draw % 4 != 0)
    return numbers[(draw >> 8) % (sizeof numbers / sizeof *numbers)];
  const uint64_t bits = row_writer_draw(state);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static float row_writer_float(uint64_t *state) {
  const double number = row_writer_number(state);
  return (float)(fabs(number) < 3e38 || isnan(number) ? number : copysign(INFINITY, number));
}

static int32_t row_writer_label(uint64_t *state) {
  static const int32_t labels[] = {INT32_MAX, INT32_MIN, -1,    0,       1,
                                   2,         3,         10,    1 << 20, -12345,
                                   255,       256,       65536, 1000000, INT32_MIN + 1};
  const uint64_t draw = row_writer_draw(state);
  return draw % 4 != 0 ? labels[(draw >> 8) % (sizeof labels / sizeof *labels)]
                       : (int32_t)(draw >> 32);
}

/* Hostile weights, or the weight that is there with one of its bits changed, such as the sign. */
static double row_writer_weight(double there, uint64_t *state) {
  static const double weights[] = {NAN,    INFINITY, -1.0,   0.0,     0.25,         3.0,
                                   7.0,    1e300,    -0.0,   0x1p31,  0x1p32 + 1.0, 0x1p40,
                                   0x1p53, -0x1p31,  5e-324, 0x1p-30, 0x1p53 + 2.0, 0x1p62,
                                   0x1p63, 0x1p64,   -1e300, 1e-300,  0x1p52 + 0.5};
  const uint64_t draw = row_writer_draw(state);
  if (draw % 4 != 0)
    return weights[(draw >> 8) % (sizeof weights / sizeof *weights)];
  uint64_t bits;
  memcpy(&bits, &there, sizeof bits);
  bits ^= UINT64_C(1) << (draw / 4 % 3 == 0 ? 63 : (draw >> 8) % 64);
  memcpy(&there, &bits, sizeof there);
  return there;
}

static uint32_t row_writer_group(uint64_t *state) {
  static const uint32_t groups[] = {
      0, 1, 2, 3, 4, 5, 63, 100, 1000, UINT32_MAX, INT32_MAX, 1u << 31, 1 << 20, 1u << 24};
  const uint64_t draw = row_writer_draw(state);
  return draw % 8 != 0 ? groups[(draw >> 8) % (sizeof groups / sizeof *groups)]
                       : (uint32_t)(draw >> 32);
}

/* Small numbers meet those of other rows. */
static uint64_t row_writer_id(uint64_t *state) {
  const uint64_t draw = row_writer_draw(state);
  return draw % 3 == 0 ? draw / 3 % 4 : draw % 3 == 1 ? UINT64_MAX - draw / 3 % 2 : draw;
}

void row_writer_put(const row_writer_array *array, size_t at, uint64_t *state) {
  volatile double *numbers = array->cells;
  switch (array->type) {
  case ROW_WRITER_F32:
    ((volatile float *)array->cells)[at] = row_writer_float(state);
    break;
  case ROW_WRITER_F64:
    numbers[at] = row_writer_number(state);
    break;
  case ROW_WRITER_LABELS:
    ((volatile int32_t *)array->cells)[at] = row_writer_label(state);
    break;
  case ROW_WRITER_WEIGHTS:
    numbers[at] = row_writer_weight(numbers[at], state);
    break;
  case ROW_WRITER_GROUPS:
    ((volatile uint32_t *)array->cells)[at] = row_writer_group(state);
    break;
  case ROW_WRITER_IDS:
    ((volatile uint64_t *)array->cells)[at] = row_writer_id(state);
    break;
  }
}

size_t row_writer_width(row_writer_cells type) {
  return type == ROW_WRITER_F32 || type == ROW_WRITER_LABELS || type == ROW_WRITER_GROUPS ? 4
                                                                                          : 8;
}

static void row_writer_pause(row_writer *writer, unsigned length) {
  for (unsigned i = 0; i < length && !atomic_load_explicit(&writer->stop, memory_order_relaxed);
       i++)
    atomic_signal_fence(memory_order_seq_cst);
}

/* Changes a cell for a moment. */
static void row_writer_change(row_writer *writer, unsigned moment) {
  const uint64_t draw = row_writer_draw(&writer->state);
  const row_writer_array *array = &writer->arrays[draw % 2 == 0 ? 0 : draw / 2 % writer->count];
  const size_t at = (size_t)(row_writer_draw(&writer->state) % array->count);
  const size_t width = row_writer_width(array->type);
  char kept[sizeof(double)];
  memcpy(kept, (char *)array->cells + at * width, width);
  row_writer_put(array, at, &writer->state);
  row_writer_pause(writer, moment);
  memcpy((char *)array->cells + at * width, kept, width);
}

static void *row_writer_main(void *user) {
  row_writer *writer = user;
  while (!atomic_load_explicit(&writer->stop, memory_order_relaxed)) {
    const unsigned moment = 16u << row_writer_draw(&writer->state) % 10;
    row_writer_change(writer, moment);
    row_writer_pause(writer, moment * (writer->rarity - 1));
  }
  return NULL;
}

row_writer *row_writer_start(const row_writer_array *arrays, size_t count, uint64_t seed,
                             unsigned rarity) {
  row_writer *writer = calloc(1, sizeof *writer);
  for (size_t i = 0; i < count && i < ROW_WRITER_ARRAYS; i++)
    if (arrays[i].cells != NULL && arrays[i].count > 0)
      writer->arrays[writer->count++] = arrays[i];
  writer->state = seed * 0x9E3779B97F4A7C15u + 1;
  writer->rarity = rarity;
  atomic_init(&writer->stop, 0);
  if (pthread_create(&writer->thread, NULL, row_writer_main, writer) != 0)
    abort();
  return writer;
}

void row_writer_stop(row_writer *writer) {
  atomic_store(&writer->stop, 1);
  pthread_join(writer->thread, NULL);
  free(writer);
}

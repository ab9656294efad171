#include "row_writer.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROW_WRITER_ARRAYS 6

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

/* Large frequencies are about cost, which is not the matter here. */
static double row_writer_weight(uint64_t *state) {
  static const double weights[] = {NAN, INFINITY, -1.0, 0.0, 0.25, 3.0, 7.0, 1e300, -0.0};
  return weights[(row_writer_draw(state) >> 8) % (sizeof weights / sizeof *weights)];
}

void row_writer_put(const row_writer_array *array, size_t at, uint64_t *state) {
  if (array->type == ROW_WRITER_F32)
    ((volatile float *)array->cells)[at] = row_writer_float(state);
  else if (array->type == ROW_WRITER_F64)
    ((volatile double *)array->cells)[at] = row_writer_number(state);
  else if (array->type == ROW_WRITER_LABELS)
    ((volatile int32_t *)array->cells)[at] = row_writer_label(state);
  else
    ((volatile double *)array->cells)[at] = row_writer_weight(state);
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
  const size_t width =
      array->type == ROW_WRITER_F32 || array->type == ROW_WRITER_LABELS ? 4 : 8;
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

/* Sums have SIMPLEX_LANES partial sums in double and a fixed order; the largest and the
 * smallest are exact in any order.  All numbers are finite when their sum is, unless it
 * overflows, and z - z is 0 where z is finite and NaN elsewhere. */
#include "kernels/prob_row.h"

#include <math.h>
#include <string.h>

#include "kernels/variant.h"

#define SIMPLEX_LANES 16

#define SIMPLEX_LARGER(a, b) ((b) > (a) ? (b) : (a))
#define SIMPLEX_SMALLER(a, b) ((b) < (a) ? (b) : (a))

/* Lanes 8 apart, then 4, 2, 1. */
static double simplex_fold(double lanes[SIMPLEX_LANES]) {
  for (size_t l = 0; l < 8; l++)
    lanes[l] += lanes[l + 8];
  for (size_t l = 0; l < 4; l++)
    lanes[l] += lanes[l + 4];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* The lowest index of the largest, which is the largest of some lanes; 0 when the row has
 * changed and no longer holds it. */
#define SIMPLEX_FIND(name, type)                                                    \
  static size_t name(const type *p, size_t count, const type *high, type largest) { \
    size_t lowest = count;                                                          \
    for (size_t l = 0; l < SIMPLEX_LANES; l++) {                                    \
      size_t j = l;                                                                 \
      if (high[l] != largest)                                                       \
        continue;                                                                   \
      while (j < lowest && p[j] != largest)                                         \
        j += SIMPLEX_LANES;                                                         \
      lowest = SIMPLEX_SMALLER(lowest, j);                                          \
    }                                                                               \
    return lowest < count ? lowest : 0;                                             \
  }

SIMPLEX_FIND(simplex_find_f32, float)
SIMPLEX_FIND(simplex_find_f64, double)

/* Adds the squares of p[begin .. end - 1] to the lanes. */
#define SIMPLEX_SQUARES(name, type)                                                        \
  static void name(const type *p, size_t begin, size_t end, double lanes[SIMPLEX_LANES]) { \
    size_t j = begin;                                                                      \
    for (; j + SIMPLEX_LANES <= end; j += SIMPLEX_LANES)                                   \
      for (size_t l = 0; l < SIMPLEX_LANES; l++)                                           \
        lanes[l] += (double)p[j + l] * (double)p[j + l];                                   \
    for (size_t l = 0; j + l < end; l++)                                                   \
      lanes[l] += (double)p[j + l] * (double)p[j + l];                                     \
  }

SIMPLEX_SQUARES(simplex_squares_f32, float)
SIMPLEX_SQUARES(simplex_squares_f64, double)

#define SIMPLEX_ROW(name, find, add_squares, type)                                         \
  static void name(const type *p, size_t count, int squares, pc_prob_row_facts *facts) {   \
    double sum[SIMPLEX_LANES] = {0.0}, square[SIMPLEX_LANES] = {0.0}, odd = 0.0;           \
    type low[SIMPLEX_LANES], high[SIMPLEX_LANES];                                          \
    for (size_t l = 0; l < SIMPLEX_LANES; l++) {                                           \
      low[l] = (type)INFINITY;                                                             \
      high[l] = (type)-INFINITY;                                                           \
    }                                                                                      \
    size_t j = 0;                                                                          \
    for (; j + SIMPLEX_LANES <= count; j += SIMPLEX_LANES)                                 \
      for (size_t l = 0; l < SIMPLEX_LANES; l++) {                                         \
        low[l] = SIMPLEX_SMALLER(low[l], p[j + l]);                                        \
        high[l] = SIMPLEX_LARGER(high[l], p[j + l]);                                       \
        sum[l] += (double)p[j + l];                                                        \
      }                                                                                    \
    for (size_t l = 0; j + l < count; l++) {                                               \
      low[l] = SIMPLEX_SMALLER(low[l], p[j + l]);                                          \
      high[l] = SIMPLEX_LARGER(high[l], p[j + l]);                                         \
      sum[l] += (double)p[j + l];                                                          \
    }                                                                                      \
    type least = low[0], most = high[0];                                                   \
    for (size_t l = 1; l < SIMPLEX_LANES; l++) {                                           \
      least = SIMPLEX_SMALLER(least, low[l]);                                              \
      most = SIMPLEX_LARGER(most, high[l]);                                                \
    }                                                                                      \
    *facts = (pc_prob_row_facts){simplex_fold(sum), (double)least, (double)most, 0, 0, 0}; \
    if (facts->sum - facts->sum != 0)                                                      \
      for (size_t i = 0; i < count; i++)                                                   \
        odd += (double)(p[i] - p[i]);                                                      \
    facts->finite = odd == 0;                                                              \
    if (!facts->finite)                                                                    \
      return;                                                                              \
    facts->top = find(p, count, high, most);                                               \
    if (!squares)                                                                          \
      return;                                                                              \
    add_squares(p, 0, facts->top, square);                                                 \
    add_squares(p, facts->top + 1, count, square);                                         \
    facts->rest_square = simplex_fold(square);                                             \
  }

SIMPLEX_ROW(simplex_f32, simplex_find_f32, simplex_squares_f32, float)
SIMPLEX_ROW(simplex_f64, simplex_find_f64, simplex_squares_f64, double)

/* Lanes side by side down to one: 16, 8, 4, 2, 1 apart. */
#define SIMPLEX_HALVE(half)                              \
  for (size_t l = 0; l < (half); l++) {                  \
    low[l] = SIMPLEX_SMALLER(low[l], low[l + (half)]);   \
    high[l] = SIMPLEX_LARGER(high[l], high[l + (half)]); \
    sum[l] += sum[l + (half)];                           \
  }

static void simplex_glance(const float *p, size_t count, pc_prob_row_facts *facts) {
  float sum[2 * SIMPLEX_LANES], low[2 * SIMPLEX_LANES], high[2 * SIMPLEX_LANES];
  float lanes[SIMPLEX_LANES];
  for (size_t l = 0; l < 2 * SIMPLEX_LANES; l++) {
    sum[l] = 0.0f;
    low[l] = INFINITY;
    high[l] = -INFINITY;
  }
  const size_t whole = count / (2 * SIMPLEX_LANES) * (2 * SIMPLEX_LANES);
  for (size_t j = 0; j < whole; j += 2 * SIMPLEX_LANES)
    for (size_t l = 0; l < 2 * SIMPLEX_LANES; l++) {
      low[l] = SIMPLEX_SMALLER(low[l], p[j + l]);
      high[l] = SIMPLEX_LARGER(high[l], p[j + l]);
      sum[l] += p[j + l];
    }
  for (size_t j = whole; j < count; j++) {
    low[j - whole] = SIMPLEX_SMALLER(low[j - whole], p[j]);
    high[j - whole] = SIMPLEX_LARGER(high[j - whole], p[j]);
    sum[j - whole] += p[j];
  }
  SIMPLEX_HALVE(16)
  memcpy(lanes, high, sizeof lanes);
  SIMPLEX_HALVE(8)
  SIMPLEX_HALVE(4)
  SIMPLEX_HALVE(2)
  SIMPLEX_HALVE(1)
  const float all = sum[0], most = high[0];
  *facts =
      (pc_prob_row_facts){(double)all, (double)low[0], (double)most, 0.0, 0, all - all == 0};
  if (facts->finite)
    facts->top = simplex_find_f32(p, count, lanes, most);
}

const pc_prob_row_kernels PC_VARIANT_TABLE(pc_prob_row_kernels) = {
    .name = PC_VARIANT_NAME,
    .f32 = simplex_f32,
    .f64 = simplex_f64,
    .glance = simplex_glance,
};

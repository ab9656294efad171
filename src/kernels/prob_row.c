/* Sums are PROB_ROW_LANES partial sums in double with a fixed order; maximum and minimum are
 * exact in any order.  If the sum is not finite, z - z tests each number: it is 0 for finite z,
 * else NaN. */
#include "kernels/prob_row.h"

#include <math.h>
#include <string.h>

#include "kernels/variant.h"

#define PROB_ROW_LANES 16

#define PROB_ROW_LARGER(a, b) ((b) > (a) ? (b) : (a))
#define PROB_ROW_SMALLER(a, b) ((b) < (a) ? (b) : (a))

/* Lanes 8 apart, then 4, 2, 1. */
static double prob_row_fold(double lanes[PROB_ROW_LANES]) {
  for (size_t l = 0; l < 8; l++)
    lanes[l] += lanes[l + 8];
  for (size_t l = 0; l < 4; l++)
    lanes[l] += lanes[l + 4];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "kernels/prob_row_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "kernels/prob_row_template.h"
#undef NAMED
#undef NUMBER

/* Combines lanes that are `half` apart. */
#define PROB_ROW_HALVE(half)                              \
  for (size_t l = 0; l < (half); l++) {                   \
    low[l] = PROB_ROW_SMALLER(low[l], low[l + (half)]);   \
    high[l] = PROB_ROW_LARGER(high[l], high[l + (half)]); \
    sum[l] += sum[l + (half)];                            \
  }

static void prob_row_glance(const float *p, size_t count, pc_prob_row_facts *facts) {
  float sum[2 * PROB_ROW_LANES], low[2 * PROB_ROW_LANES], high[2 * PROB_ROW_LANES];
  float lanes[PROB_ROW_LANES];
  for (size_t l = 0; l < 2 * PROB_ROW_LANES; l++) {
    sum[l] = 0.0f;
    low[l] = INFINITY;
    high[l] = -INFINITY;
  }
  const size_t whole = count / (2 * PROB_ROW_LANES) * (2 * PROB_ROW_LANES);
  for (size_t j = 0; j < whole; j += 2 * PROB_ROW_LANES)
    for (size_t l = 0; l < 2 * PROB_ROW_LANES; l++) {
      low[l] = PROB_ROW_SMALLER(low[l], p[j + l]);
      high[l] = PROB_ROW_LARGER(high[l], p[j + l]);
      sum[l] += p[j + l];
    }
  for (size_t j = whole; j < count; j++) {
    low[j - whole] = PROB_ROW_SMALLER(low[j - whole], p[j]);
    high[j - whole] = PROB_ROW_LARGER(high[j - whole], p[j]);
    sum[j - whole] += p[j];
  }
  PROB_ROW_HALVE(16)
  memcpy(lanes, high, sizeof lanes);
  PROB_ROW_HALVE(8)
  PROB_ROW_HALVE(4)
  PROB_ROW_HALVE(2)
  PROB_ROW_HALVE(1)
  const float all = sum[0], most = high[0];
  *facts =
      (pc_prob_row_facts){(double)all, (double)low[0], (double)most, 0.0, 0, all - all == 0};
  if (facts->finite)
    facts->top = prob_row_find_f32(p, count, lanes, most);
}

const pc_prob_row_kernels PC_VARIANT_TABLE(pc_prob_row_kernels) = {
    .f32 = prob_row_f32,
    .f64 = prob_row_f64,
    .glance = prob_row_glance,
};

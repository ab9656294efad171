#include "machines/grid_logs.h"

#include <float.h>
#include <math.h>

#include "base/elementary.h"
#include "kernels/lane_math.h"

#define GRID_LOGS_SCALE 256.0 /* logarithms of doubles have absolute values below 1024 */

/* x > 0 */
static double grid_logs_of(double x) {
  return x >= DBL_MIN ? pc_lane_log(x) : pc_log(x);
}

/* log(1 - p), p < 1 */
static double grid_logs_rest(double p) {
  const double rest = 1.0 - p;
  return grid_logs_of(rest) + (-p - (rest - 1.0)) / rest;
}

static void grid_logs_put(pc_grid_logs *cell, unsigned index, int finite, double value,
                          double weight) {
  if (finite)
    pc_fixed_add_weighted(&cell->sum[index], weight, value / GRID_LOGS_SCALE);
  else
    cell->infinite |= 1u << index;
}

void pc_grid_logs_add(pc_grid_logs *cell, double score, int hit, double weight) {
  const int above = score > 0, below = score < 1;
  grid_logs_put(cell, hit ? PC_LOG_HIT : PC_LOG_MISS, above, above ? grid_logs_of(score) : 0.0,
                weight);
  grid_logs_put(cell, hit ? PC_LOG_REST_HIT : PC_LOG_REST_MISS, below,
                below ? grid_logs_rest(score) : 0.0, weight);
}

void pc_grid_logs_join(pc_grid_logs *into, const pc_grid_logs *from) {
  for (size_t i = 0; i < PC_BIN_LOGS; i++)
    into->sum[i].units += from->sum[i].units;
  into->infinite |= from->infinite;
}

int pc_grid_logs_addable(const pc_grid_logs *a, const pc_grid_logs *b) {
  int addable = 1;
  for (size_t i = 0; i < PC_BIN_LOGS; i++)
    addable &= pc_fixed_addable(&a->sum[i], &b->sum[i]);
  return addable;
}

pc_bin_logs pc_grid_logs_value(const pc_grid_logs *cell) {
  pc_bin_logs out = {.infinite = cell->infinite};
  for (unsigned i = 0; i < PC_BIN_LOGS; i++) {
    const int cancels = i == PC_LOG_MISS || i == PC_LOG_REST_HIT;
    out.sum[i] = !cancels && (cell->infinite >> i & 1) != 0
                     ? -INFINITY
                     : pc_fixed_value(&cell->sum[i]) * GRID_LOGS_SCALE;
  }
  return out;
}

void pc_grid_logs_save(const pc_grid_logs *cell, pc_encoder *out) {
  for (size_t i = 0; i < PC_BIN_LOGS; i++)
    pc_encode_fixed(out, &cell->sum[i]);
  pc_encode_u8(out, (uint8_t)cell->infinite);
}

void pc_grid_logs_load(pc_grid_logs *cell, pc_decoder *in) {
  for (size_t i = 0; i < PC_BIN_LOGS; i++)
    pc_decode_fixed(in, &cell->sum[i]);
  cell->infinite = pc_decode_u8(in);
  pc_decoder_expect(in, cell->infinite < 1u << PC_BIN_LOGS);
}

/* The monotonic sweep over numbers of equal-mass bins (curve_bins.h). */
#include <math.h>

#include "curve/curve_bins.h"

/* Cumulative weights and hits: [i] is the sum over the first i entries. */
typedef struct sweep_curve {
  const pc_curve_table *table;
  double *weight, *hits;
} sweep_curve;

static pcal_status sweep_curve_new(const pcal_env *env, const pc_curve_table *table,
                                   sweep_curve *out, pcal_error *err) {
  const size_t n = table->count;
  *out = (sweep_curve){table, NULL, NULL};
  out->weight = pc_alloc(env, n + 1, sizeof *out->weight);
  out->hits = pc_alloc(env, n + 1, sizeof *out->hits);
  if (out->weight == NULL || out->hits == NULL) {
    pc_free(env, out->weight);
    pc_free(env, out->hits);
    return pc_fail_memory(err, "choosing the number of bins");
  }
  for (size_t i = 0; i < n; i++) {
    out->weight[i + 1] = out->weight[i] + table->weight[i];
    out->hits[i + 1] = out->hits[i] + table->hits[i];
  }
  return PCAL_OK;
}

/* The number of entries that hold the first `position` rows; at least `low`. */
static size_t sweep_find(const sweep_curve *curve, size_t low, double position) {
  size_t high = curve->table->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (curve->weight[middle] < position)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The number of entries below the edge that pc_bins_by_mass places at `position`. */
static size_t sweep_end(const sweep_curve *curve, size_t from, double position) {
  const pc_curve_table *table = curve->table;
  const size_t at = sweep_find(curve, from, position);
  if (at == 0 || at >= table->count)
    return at;
  const int between = curve->weight[at] == position;
  const double lower = table->score[at - 1], upper = between ? table->score[at] : lower;
  const double edge = (lower + upper) / 2.0;
  if (edge >= 1.0)
    return table->count;
  return at + (edge >= table->score[at]);
}

static int sweep_rises(const sweep_curve *curve, size_t bins) {
  const pc_curve_table *table = curve->table;
  double before = -1.0;
  size_t begin = 0;
  for (size_t r = 1; r <= bins && begin < table->count; r++) {
    const double position = pc_bins_end_position(table, bins, r);
    if (r < bins && (position <= 0 || position >= table->total))
      continue;
    const size_t end = r == bins ? table->count : sweep_end(curve, begin, position);
    if (end <= begin)
      continue;
    const double weight = curve->weight[end] - curve->weight[begin];
    const double share = (curve->hits[end] - curve->hits[begin]) / weight;
    if (share < before)
      return 0;
    before = share;
    begin = end;
  }
  return 1;
}

/* True if the share of hits never falls from entry to entry; then it cannot fall from bin to
 * bin either. */
static int sweep_entries_rise(const pc_curve_table *table) {
  for (size_t i = 1; i < table->count; i++)
    if (table->hits[i] / table->weight[i] < table->hits[i - 1] / table->weight[i - 1])
      return 0;
  return 1;
}

pcal_status pc_bins_sweep(const pcal_env *env, const pc_curve_table *table, size_t most,
                          size_t *out, pcal_error *err) {
  const size_t rows = table->total >= (double)most ? most : (size_t)fmax(table->total, 1.0);
  sweep_curve curve;
  *out = rows;
  if (sweep_entries_rise(table))
    return PCAL_OK;
  PC_TRY(sweep_curve_new(env, table, &curve, err));
  size_t bins = 1;
  while (bins < rows && sweep_rises(&curve, bins + 1))
    bins++;
  *out = bins;
  pc_free(env, curve.weight);
  pc_free(env, curve.hits);
  return PCAL_OK;
}

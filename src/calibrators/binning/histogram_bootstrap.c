/* Tables averaged over bootstrap resamples.
 *
 * In a resample each row occurs Poisson(1) times, so w equal rows, or one row of weight w,
 * occur Poisson(w) times: the order of rows does not matter.  A draw is numbered by the table,
 * the resample and the place among the sorted scores (or the bin), misses before hits.  A bin
 * without rows in a resample has its midpoint as value there. */
#include <math.h>

#include "base/rng.h"
#include "calibrators/binning/histogram.h"

#define HISTOGRAM_BOOTSTRAP_STREAM \
  (UINT64_C(0x626f6f74) << 32)        /* plus the index of the table */
#define HISTOGRAM_BOOTSTRAP_LARGE 1e6 /* above it the normal approximation */

static pc_rng histogram_bootstrap_rng(const pc_histogram_fit *fit, size_t table) {
  return (pc_rng){fit->task->env->seed, HISTOGRAM_BOOTSTRAP_STREAM + table};
}

static double histogram_bootstrap_draw(const pc_rng *rng, uint64_t index, double mean) {
  if (mean <= HISTOGRAM_BOOTSTRAP_LARGE)
    return (double)pc_rng_poisson(rng, index, mean);
  return floor(fmax(mean + sqrt(mean) * pc_rng_normal(rng, index), 0.0) + 0.5);
}

double pc_histogram_bin_value(const pc_histogram_fit *fit, size_t table, size_t bin,
                              double weight, double hits) {
  const pc_rng rng = histogram_bootstrap_rng(fit, table);
  const double middle = pc_bin_map_middle(&fit->tables->maps[table], bin);
  double sum = 0.0;
  if (weight <= 0.0 || fit->resamples == 0)
    return weight <= 0.0 ? middle : hits / weight;
  for (size_t r = 0; r < fit->resamples; r++) {
    const uint64_t index = 2 * ((uint64_t)r * fit->bins + bin);
    const double missed = histogram_bootstrap_draw(&rng, index, weight - hits);
    const double hit = histogram_bootstrap_draw(&rng, index + 1, hits);
    sum += missed + hit > 0.0 ? hit / (missed + hit) : middle;
  }
  return fmin(sum / (double)fit->resamples, 1.0);
}

/* ---- Equal mass ---- */

/* Draws a resample of the rows into `out`, which has room for as many entries. */
static void histogram_bootstrap_resample(const pc_rng *rng, size_t resample,
                                         const pc_curve_table *rows, pc_curve_table *out) {
  out->count = 0;
  out->total = 0.0;
  for (size_t i = 0; i < rows->count; i++) {
    const uint64_t index = 2 * ((uint64_t)resample * rows->count + i);
    const double missed =
        histogram_bootstrap_draw(rng, index, fmax(rows->weight[i] - rows->hits[i], 0.0));
    const double hit = histogram_bootstrap_draw(rng, index + 1, rows->hits[i]);
    if (missed + hit <= 0.0)
      continue;
    out->score[out->count] = rows->score[i];
    out->weight[out->count] = missed + hit;
    out->hits[out->count++] = hit;
    out->total += missed + hit;
  }
}

/* Fits a table to each resample. */
static pcal_status histogram_bootstrap_parts(const pc_histogram_fit *fit,
                                             const pcal_env *scratch, size_t table,
                                             const pc_curve_table *rows, pc_curve_table *drawn,
                                             pc_bin_map *parts, pcal_error *err) {
  const pc_rng rng = histogram_bootstrap_rng(fit, table);
  uint64_t ignored = 0;
  for (size_t r = 0; r < fit->resamples; r++) {
    pc_bin_maps one = {1, &parts[r]};
    const pc_histogram_fit here = {
        .task = fit->task, .bins = fit->bins, .tables = &one, .empty = &ignored};
    histogram_bootstrap_resample(&rng, r, rows, drawn);
    PC_TRY(pc_histogram_fit_table(&here, scratch, scratch, 0, drawn, err));
  }
  return PCAL_OK;
}

pcal_status pc_histogram_fit_resamples(const pc_histogram_fit *fit, const pcal_env *scratch,
                                       const pcal_env *memory, size_t table,
                                       const pc_curve_table *rows, pcal_error *err) {
  const size_t n = rows->count;
  double *columns = pc_alloc_raw(scratch, n, 3 * sizeof *columns);
  double *weights = pc_alloc_raw(scratch, fit->resamples, sizeof *weights);
  pc_bin_map *parts = pc_alloc(scratch, fit->resamples, sizeof *parts);
  if (columns == NULL || weights == NULL || parts == NULL)
    return pc_fail_memory(err, "drawing resamples");
  pc_curve_table drawn = {.score = columns, .weight = columns + n, .hits = columns + 2 * n};
  PC_TRY(histogram_bootstrap_parts(fit, scratch, table, rows, &drawn, parts, err));
  for (size_t r = 0; r < fit->resamples; r++)
    weights[r] = 1.0;
  return pc_bin_map_average(memory, parts, NULL, weights, fit->resamples,
                            &fit->tables->maps[table], err);
}

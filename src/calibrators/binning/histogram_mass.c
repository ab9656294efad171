/* Tables of equal mass. */
#include "calibrators/binning/histogram.h"
#include "calibrators/score_columns.h"
#include "curve/curve_bins.h"

static pcal_status histogram_mass_use(void *user, const pcal_env *scratch, size_t table,
                                      const pc_sorted_column *misses,
                                      const pc_sorted_column *hits, pcal_error *err) {
  const pc_histogram_fit *fit = user;
  const pcal_env *memory = &fit->task->calibrator->env;
  pc_curve_table rows;
  PC_TRY(pc_curve_table_join(scratch, misses, hits, &rows, err));
  return (fit->resamples == 0 ? pc_histogram_fit_table : pc_histogram_fit_resamples)(
      fit, scratch, memory, table, &rows, err);
}

pcal_status pc_histogram_fit_table(const pc_histogram_fit *fit, const pcal_env *scratch,
                                   const pcal_env *memory, size_t table,
                                   const pc_curve_table *rows, pcal_error *err) {
  pc_bin_map *out = &fit->tables->maps[table];
  pc_bin *bins = pc_alloc(scratch, fit->bins, sizeof *bins);
  if (bins == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  const size_t count = pc_bins_by_mass(rows, fit->bins, bins);
  PC_TRY(pc_bin_map_alloc(memory, count, out, err));
  for (size_t b = 0; b + 1 < count; b++)
    out->edges[b] = bins[b].high;
  for (size_t b = 0; b < count; b++) {
    const int empty = bins[b].weight <= 0.0;
    out->values[b] = empty ? pc_bin_map_middle(out, b) : bins[b].hits / bins[b].weight;
    fit->empty[table] += (uint64_t)empty;
  }
  pc_free(scratch, bins);
  return PCAL_OK;
}

static pcal_status histogram_mass_wants(void *user, const pcal_env *env,
                                        const pc_curve_table *table, const uint8_t *settled,
                                        uint8_t *marks, pcal_error *err) {
  const pc_histogram_fit *fit = user;
  (void)env;
  (void)settled;
  (void)err;
  pc_bins_by_mass_wants(table, fit->bins, marks);
  return PCAL_OK;
}

static pcal_status histogram_mass_use_ranges(void *user, const pcal_env *scratch, size_t table,
                                             const pc_curve_table *rows, pcal_error *err) {
  const pc_histogram_fit *fit = user;
  return pc_histogram_fit_table(fit, scratch, &fit->task->calibrator->env, table, rows, err);
}

pcal_status pc_histogram_fit_mass(pc_histogram_fit *fit, pcal_error *err) {
  pc_score_columns_request request =
      pc_score_columns_of_classes(&fit->task->calibrator->layout);
  request.pooled = fit->tables->count == 1;
  request.remedy = "use binning=width";
  request.user = fit;
  request.use = histogram_mass_use;
  if (fit->resamples == 0) {
    request.wants = histogram_mass_wants;
    request.use_ranges = histogram_mass_use_ranges;
  }
  return pc_score_columns_run(fit->task, &request, err);
}

#include "calibrators/binning/histogram.h"
#include "calibrators/score_columns.h"
#include "curve/curve_bins.h"

static pcal_status histogram_mass_use(void *user, size_t table, const pc_sorted_column *misses,
                                      const pc_sorted_column *hits, pcal_error *err) {
  const pc_histogram_fit *fit = user;
  const pcal_env *env = fit->task->env;
  pc_curve_table rows;
  PC_TRY(pc_curve_table_join(env, misses, hits, &rows, err));
  const pcal_status status =
      (fit->resamples == 0 ? pc_histogram_fit_table : pc_histogram_fit_resamples)(fit, table,
                                                                                  &rows, err);
  pc_curve_table_free(env, &rows);
  return status;
}

pcal_status pc_histogram_fit_table(const pc_histogram_fit *fit, size_t table,
                                   const pc_curve_table *rows, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  pc_bin_map *out = &fit->tables->tables[table];
  pc_bin *bins = pc_alloc(env, fit->bins, sizeof *bins);
  if (bins == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  const size_t count = pc_bins_by_mass(rows, fit->bins, bins);
  const pcal_status status = pc_bin_map_alloc(env, count, out, err);
  for (size_t b = 0; status == PCAL_OK && b + 1 < count; b++)
    out->edges[b] = bins[b].high;
  for (size_t b = 0; status == PCAL_OK && b < count; b++) {
    const int empty = bins[b].weight <= 0.0;
    out->values[b] = empty ? pc_bin_map_middle(out, b) : bins[b].hits / bins[b].weight;
    fit->empty[table] += (uint64_t)empty;
  }
  pc_free(env, bins);
  return status;
}

pcal_status pc_histogram_fit_mass(pc_histogram_fit *fit, pcal_error *err) {
  pc_score_columns_request request =
      pc_score_columns_of_classes(&fit->task->calibrator->layout);
  request.pooled = fit->tables->count == 1;
  request.remedy = "use binning=width";
  request.user = fit;
  request.use = histogram_mass_use;
  return pc_score_columns_run(fit->task, &request, err);
}

#include "measure/judged_bins.h"

#include <string.h>

#include "measure/measure_plan.h"

static pcal_status judged_bins_new(const pcal_env *env, size_t count, pcal_results *results,
                                   pcal_error *err) {
  results->bins = pc_alloc(env, count, sizeof *results->bins);
  results->public_bins = pc_alloc(env, count, sizeof *results->public_bins);
  if (results->bins == NULL || results->public_bins == NULL)
    return pc_fail_memory(err, "collecting results");
  results->bin_count = count;
  return PCAL_OK;
}

/* The reliability bins of samples (15 bins of PIT values) and of quantiles (between levels). */
static pcal_status judged_bins_forecast(const pcal_env *env, const pc_evidence *evidence,
                                        pcal_results *results, pcal_error *err) {
  const pc_layout *layout = evidence->layout;
  const pc_curve_table *table = &evidence->curve.parts[0];
  const int samples = layout->form == PC_FORM_SAMPLES;
  const pc_target_ranks *places = &results->forecast.places;
  const size_t count = samples ? PC_RELIABILITY_BINS : layout->columns + 1;
  PC_TRY(pc_pit_summary_new(env, layout, table, &results->forecast, err));
  PC_TRY(judged_bins_new(env, count, results, err));
  double low = 0.0, below = 0.0;
  for (size_t b = 0; b < count; b++) {
    const double high = b + 1 == count ? 1.0
                        : samples      ? (double)(b + 1) / (double)count
                                       : layout->levels[b];
    const double upto = b + 1 == count ? 1.0
                        : samples      ? pc_target_ranks_share(places, high)
                                       : places->upto[b];
    pc_bin *bin = &results->bins[b];
    *bin = (pc_bin){.low = low, .high = high, .weight = (upto - below) * table->total};
    bin->score = bin->weight * 0.5 * (low + high);
    results->public_bins[b] = (pcal_bin){low, high, bin->weight, 0.5 * (low + high), 0.0};
    low = high;
    below = upto;
  }
  return PCAL_OK;
}

pcal_status pc_judged_bins(const pcal_env *env, const pc_evidence *evidence,
                           pcal_results *results, pcal_error *err) {
  const size_t count = evidence->grid.bin_count;
  if (evidence->machine == PC_CURVE)
    return judged_bins_forecast(env, evidence, results, err);
  PC_TRY(judged_bins_new(env, count, results, err));
  for (size_t b = 0; b < count; b++) {
    const pc_bin *bin = &evidence->grid.bins[b];
    results->bins[b] = *bin;
    results->public_bins[b] = (pcal_bin){bin->low, bin->high, bin->weight,
                                         bin->weight > 0 ? pc_bin_confidence(bin) : (double)NAN,
                                         bin->weight > 0 ? pc_bin_frequency(bin) : (double)NAN};
  }
  return PCAL_OK;
}

/* The bins of one class; in *room for a sparse grid. */
static const pc_bin *judged_bins_of_class(const pc_evidence *evidence, size_t class_index,
                                          pc_bin *room) {
  if (evidence->grid.bins != NULL)
    return evidence->grid.bins + class_index * evidence->grid.bin_count;
  evidence->grid.read(evidence->grid.state, class_index, room);
  return room;
}

pcal_status pc_judged_classes(const pcal_env *env, const pc_evidence *evidence,
                              pcal_results *results, pcal_error *err) {
  const size_t classes = results->layout.classes, count = evidence->grid.bin_count;
  pc_bin room[PC_RELIABILITY_BINS];
  if (classes == 2) {
    results->class_1_bins = pc_alloc(env, count, sizeof *results->class_1_bins);
    if (results->class_1_bins == NULL)
      return pc_fail_memory(err, "collecting results");
    memcpy(results->class_1_bins,
           judged_bins_of_class(evidence, evidence->grid.part_count - 1, room),
           count * sizeof *results->class_1_bins);
    return PCAL_OK;
  }
  for (size_t k = 0; k < classes; k++)
    pc_class_means_add(judged_bins_of_class(evidence, k, room), count, classes,
                       &results->class_means);
  return PCAL_OK;
}

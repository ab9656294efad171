#include "compare/held_out.h"

#include <string.h>

#include "calibrators/fit.h"
#include "measure/measure_source.h"

static pcal_status held_out_run(const pc_held_out *held_out, pcal_source *source,
                                const char *method, pcal_calibrator **out, pcal_error *err) {
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = method,
                                  .normalize = held_out->normalize,
                                  .skip_missing = held_out->skip_missing};
  return pc_fit_run(source, &config, held_out->env, out, err);
}

static pcal_status held_out_fold(const pc_held_out *held_out, size_t fold, const char *method,
                                 pcal_calibrator **out, pcal_error *err) {
  pc_fold_source training;
  pcal_status status = pc_fold_source_open(held_out->source, &held_out->folds, fold,
                                           held_out->env, &training, err);
  if (status == PCAL_OK)
    status = held_out_run(held_out, training.source, method, out, err);
  pc_fold_source_close(&training);
  return status;
}

pcal_status pc_held_out_fit(const pc_held_out *held_out, const char *method,
                            pcal_calibrator **out, pcal_error *err) {
  if (held_out->fitting != NULL)
    return held_out_run(held_out, held_out->fitting, method, &out[0], err);
  for (size_t fold = 0; fold < held_out->folds.count; fold++)
    PC_TRY(held_out_fold(held_out, fold, method, &out[fold], err));
  return PCAL_OK;
}

pcal_status pc_held_out_open(const pc_held_out *held_out, pcal_calibrator *const *calibrators,
                             pc_recalibrated_source *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  PC_TRY(pc_source_rewind(held_out->source, err));
  return pc_recalibrated_source_open(held_out->source, &held_out->folds, calibrators,
                                     held_out->skip_missing, held_out->env, out, err);
}

pcal_status pc_held_out_measure(const pc_held_out *held_out,
                                pcal_calibrator *const *calibrators,
                                const pcal_measure_config *config, pcal_results **out,
                                pcal_error *err) {
  pc_recalibrated_source mapped;
  pcal_status status = pc_held_out_open(held_out, calibrators, &mapped, err);
  if (status == PCAL_OK)
    status = pc_measure_whole(mapped.source, config, held_out->env, out, err);
  pc_recalibrated_source_close(&mapped);
  return status;
}

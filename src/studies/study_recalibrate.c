#include "studies/study_recalibrate.h"

#include <string.h>

#include "compare/held_out.h"

pcal_status pc_study_recalibrate(const pc_study_job *job, pcal_source *val, pcal_source *source,
                                 const char *method, pc_study_probs *out, pcal_error *err) {
  const pc_held_out held_out = {.env = job->env,
                                .source = source,
                                .val = val,
                                .folds = {job->env->seed, 1, 0},
                                .normalize = job->config->normalize,
                                .skip_missing = job->config->skip_missing};
  pcal_calibrator *calibrator = NULL;
  pc_recalibrated_source mapped;
  memset(out, 0, sizeof *out);
  PC_TRY(pc_source_rewind(val, err));
  PC_TRY(pc_held_out_fit(&held_out, method, &calibrator, err));
  pcal_status status = pc_held_out_open(&held_out, &calibrator, &mapped, err);
  if (status == PCAL_OK)
    status = pc_study_probs_read(job, mapped.source, out, err);
  if (status == PCAL_OK)
    pc_study_probs_widen(out);
  pc_recalibrated_source_close(&mapped);
  pc_calibrator_free(calibrator);
  return status;
}

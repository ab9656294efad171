#include "studies/study_recalibrate.h"

#include <string.h>

#include "calibrators/fit.h"
#include "compare/recalibrated_source.h"

pcal_status pc_study_recalibrate(const pc_study_job *job, pcal_source *fitting,
                                 pcal_source *source, const char *method, pc_study_probs *out,
                                 pcal_error *err) {
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = method,
                                  .normalize = job->config->normalize,
                                  .skip_missing = job->config->skip_missing};
  const pc_folds folds = {job->env->seed, 1};
  pcal_calibrator *calibrator = NULL;
  pc_recalibrated_source mapped;
  memset(out, 0, sizeof *out);
  memset(&mapped, 0, sizeof mapped);
  PC_TRY(pc_source_rewind(fitting, err));
  PC_TRY(pc_fit_run(fitting, &config, job->env, &calibrator, err));
  pcal_status status = pc_source_rewind(source, err);
  if (status == PCAL_OK)
    status = pc_recalibrated_source_open(source, &folds, &calibrator, config.skip_missing,
                                         job->env, &mapped, err);
  if (status == PCAL_OK)
    status = pc_study_probs_read(job, mapped.source, out, err);
  if (status == PCAL_OK)
    pc_study_probs_widen(out);
  pc_recalibrated_source_close(&mapped);
  pc_calibrator_free(calibrator);
  return status;
}

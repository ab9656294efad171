/* A study: an experiment that ends in tables. */
#ifndef PC_STUDY_H
#define PC_STUDY_H

#include "base/options.h"
#include "studies/findings.h"

/* What one run of a study works with; everything is borrowed. */
typedef struct pc_study_job {
  const pcal_study_config *config; /* full */
  const pc_options *options;       /* of the study's row */
  const pcal_env *env;
} pc_study_job;

typedef struct pc_study {
  pcal_registry_row row;
  /* The findings start empty; the caller frees them also after a failure. */
  pcal_status (*run)(const pc_study_job *job, pc_findings *findings, pcal_error *err);
} pc_study;

/* A study that has run. */
struct pcal_study {
  pcal_env env;
  pc_findings findings;
};

const pcal_registry_row *pc_study_row_at(size_t index);

/* Runs the study of a spec, such as "test-size:space=squared", into empty findings that have
 * their environment; an unknown name is refused with the nearest one. */
PC_CHECKED pcal_status pc_study_run(const char *spec, const pcal_study_config *config,
                                    pc_findings *findings, pcal_error *err);

/* Refuses a study of predictions where there are none. */
PC_CHECKED pcal_status pc_study_require_models(const pc_study_job *job, pcal_error *err);

/* Refuses what is not scores of classes, and weights: a study draws rows, and takes each once.
 */
PC_CHECKED pcal_status pc_study_check_source(const pc_study_job *job, const pcal_source *source,
                                             pcal_error *err);

/* The environment of a task that runs beside others: one thread, nothing shown. */
pcal_env pc_study_task_env(const pcal_env *env);

/* The simulation that was asked for; what was left open is as in `own`. */
pcal_simulation pc_study_simulation(const pcal_study_config *config,
                                    const pcal_simulation *own);

/* The only model of a study that takes one, with a sentence when it is another number. */
PC_CHECKED pcal_status pc_study_single_model(const pc_study_job *job, const pcal_model **out,
                                             pcal_error *err);

#endif

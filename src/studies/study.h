/* Studies: experiments whose findings are tables. */
#ifndef PC_STUDY_H
#define PC_STUDY_H

#include "base/options.h"
#include "studies/findings.h"

/* Inputs of one run of a study; everything is borrowed. */
typedef struct pc_study_job {
  const pcal_study_config *config; /* all fields set */
  const pc_options *options;       /* of the study's row */
  const pcal_env *env;
  const pcal_env
      *memory; /* env, but everything allocated from it is freed when the study ends */
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

/* Runs the study of a spec, such as "test-size:space=squared", into findings that are initialised.
 * The error for an unknown name suggests the nearest one. */
PC_CHECKED pcal_status pc_study_run(const char *spec, const pcal_study_config *config,
                                    pc_findings *findings, pcal_error *err);

/* Fails where no predictions are given. */
PC_CHECKED pcal_status pc_study_require_models(const pc_study_job *job, pcal_error *err);

/* Fails for predictions of a number, for weights (a study draws rows, each at most once) and for
 * rows without labels. */
PC_CHECKED pcal_status pc_study_check_source(const pc_study_job *job, const pcal_source *source,
                                             pcal_error *err);

/* The environment of a task that runs in parallel to others: one thread, no progress shown. */
pcal_env pc_study_task_env(const pcal_env *env);

/* The simulation of the configuration; fields that are 0 come from `own`. */
pcal_simulation pc_study_simulation(const pcal_study_config *config,
                                    const pcal_simulation *own);

/* The model of a study that takes exactly one; fails for any other number. */
PC_CHECKED pcal_status pc_study_single_model(const pc_study_job *job, const pcal_model **out,
                                             pcal_error *err);

#endif

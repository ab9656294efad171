/* Calibrators or models on the same rows, ranked by a metric, with paired intervals. */
#ifndef PC_COMPARISON_H
#define PC_COMPARISON_H

#include <stdatomic.h>

#include "base/text.h"
#include "calibrators/calibrator.h"
#include "measure/results.h"

/* A gain of one contestant over another; positive: better. */
typedef struct pc_gain {
  int known; /* value is set */
  int sure;  /* low and high are set */
  double value, low, high;
} pc_gain;

/* Why a contestant was not judged. */
typedef enum pc_omission {
  PC_OMITTED_UNSUITED, /* it does not suit the data, would take hours, or repeats another one */
  PC_OMITTED_HOPELESS, /* given up after the first fold */
  PC_OMITTED_LATE      /* the time was used up */
} pc_omission;

/* One method on one model.  The first record of its results, and the first gain, are those of
 * the ranking metric. */
typedef struct pc_contestant {
  size_t model;
  char spec[PC_SPEC_MAX], label[PC_SPEC_MAX]; /* of the method: full and short spec */
  int slow;                                   /* its method takes long */
  const char *status;                         /* of its fits; NULL: it could not be judged */
  pc_omission omission;                       /* the reason in that case, */
  char why[256];                              /* and in words */
  unsigned traits;
  pcal_results *results;
  pcal_results *ranked; /* the ranking metric with replicas; NULL: `results` has them */
  pc_gain *gains;       /* over the first contestant, one for each metric */
  pc_gain behind;       /* gain of the best over this one, by the ranking metric */
  size_t rank;          /* from 1; 0: not judged */
} pc_contestant;

/* How far a comparison is, in place of how far each of its fits is. */
typedef struct pc_comparison_progress {
  pcal_env given;
  atomic_uint_least64_t done; /* steps of contestants (judging.h), which tasks may count */
  uint64_t total;
} pc_comparison_progress;

struct pcal_comparison {
  pcal_env env;
  pc_comparison_progress progress; /* env.user of what it calls */
  pc_contestant *contestants;      /* contestant 0 is the first model without a method */
  size_t count, capacity;
  char **model_names; /* NULL if there is one model */
  size_t model_count;
  size_t folds;    /* of the cross-validation; 0: fitted to a second set */
  size_t clusters; /* of the rows to measure on; 0: not by cluster */
  double level;
  size_t best;    /* index of the contestant of rank 1 */
  size_t chosen;  /* index of the contestant to choose */
  char name[640]; /* name of the chosen contestant */
  pcal_calibrator *calibrator;
};

/* As pcal_compare_run for checked arguments.  by_cluster: groups of rows are clusters of dependent
 * rows, which are in one fold and exchanged together; else they are ignored. */
PC_CHECKED pcal_status pc_compare(const pcal_model *models, size_t model_count,
                                  const pcal_compare_config *config, int by_cluster,
                                  const pcal_env *env, pcal_comparison **out, pcal_error *err);
void pc_comparison_free(pcal_comparison *comparison);

/* Writes the name of a contestant: "temperature", "NAME" or "NAME + temperature". */
void pc_contestant_name(const pcal_comparison *comparison, const pc_contestant *contestant,
                        char *out, size_t size);

#endif

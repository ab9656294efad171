/* Several calibrators or models on the same rows, ranked by a score, with paired intervals. */
#ifndef PC_COMPARISON_H
#define PC_COMPARISON_H

#include "base/text.h"
#include "calibrators/calibrator.h"
#include "measure/results.h"

/* Positive where the second is better. */
typedef struct pc_gain {
  int known, sure; /* there is a value; there are low and high */
  double value, low, high;
} pc_gain;

/* One method on one model. */
typedef struct pc_contestant {
  size_t model;
  char spec[PC_SPEC_MAX], label[PC_SPEC_MAX]; /* of the method: full, and short */
  const char *status;                         /* of its fits; NULL: it could not be judged, */
  char why[256];                              /* because ... */
  unsigned traits;
  pcal_results *results;
  pc_gain *gains; /* over the first contestant, for each metric */
  pc_gain behind; /* the best over this one, by the ranking metric */
  size_t rank;    /* from 1; 0: not judged */
} pc_contestant;

struct pcal_comparison {
  pcal_env env;
  pc_contestant *contestants; /* the first: the first model as it is */
  size_t count, capacity;
  char **model_names; /* or NULL where there is one model */
  size_t model_count;
  size_t folds; /* of the cross-validation, or 0: judged on a second set */
  double level;
  size_t by;      /* the record that ranks */
  size_t best;    /* contestant of rank 1 */
  size_t chosen;  /* contestant */
  char name[640]; /* of the chosen */
  pcal_calibrator *calibrator;
};

/* As pcal_compare_run for checked arguments. */
PC_CHECKED pcal_status pc_compare(const pcal_model *models, size_t model_count,
                                  const pcal_compare_config *config, const pcal_env *env,
                                  pcal_comparison **out, pcal_error *err);
void pc_comparison_free(pcal_comparison *comparison);

/* The name of a contestant for people: "temperature", "NAME", "NAME + temperature". */
void pc_contestant_name(const pcal_comparison *comparison, const pc_contestant *contestant,
                        char *out, size_t size);

#endif

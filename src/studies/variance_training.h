/* A network that predicts mean and variance, trained on the Dawid-Sebastiani score and judged after
 * a step, before and after variance-platt. */
#ifndef PC_VARIANCE_TRAINING_H
#define PC_VARIANCE_TRAINING_H

#include "calibrators/regression/variance_platt.h"
#include "metrics/skce_gaussian.h"
#include "optim/adam.h"
#include "optim/dense_net.h"

/* Rows of inputs and their targets. */
typedef struct pc_variance_rows {
  size_t count;
  const double *inputs, *targets;
} pc_variance_rows;

enum { PC_VARIANCE_TRAIN, PC_VARIANCE_VAL, PC_VARIANCE_TEST, PC_VARIANCE_SETS };

typedef struct pc_variance_plan {
  pc_variance_rows sets[PC_VARIANCE_SETS];
  pc_dense_net net; /* with two outputs: the mean, and the raw variance */
  int absolute;     /* the variance is |output|, not exp(output) */
  double rate;      /* of Adam */
  double length;
  uint64_t seed, stream; /* of the first weights */
} pc_variance_plan;

/* Measurements on the test rows: [0] as predicted, [1] after variance-platt, fitted to the
 * validation rows. */
typedef struct pc_variance_point {
  double mse;
  double dss[2], skce[2], variance[2]; /* means */
  double ratio[2], deviation[2];       /* of squared errors to variances; with n - 1 */
  pc_variance_map map;
} pc_variance_point;

typedef struct pc_variance_training {
  const pcal_env *env;
  pc_variance_plan plan; /* its rows are borrowed */
  pc_adam adam;
  double *parameters, *gradient, *lanes, *room, *slopes;
  double *columns[PC_VARIANCE_SETS]; /* inputs as dense_net.h wants them */
  pc_forecast_table table;           /* of validation rows */
  pc_gaussian_row *rows;             /* of test rows */
} pc_variance_training;

/* Free out even after a failure; a zeroed one is allowed. */
PC_CHECKED pcal_status pc_variance_training_new(const pcal_env *env,
                                                const pc_variance_plan *plan,
                                                pc_variance_training *out, pcal_error *err);
void pc_variance_training_free(pc_variance_training *training);

/* Takes one step of Adam on all training rows, then judges the test rows into out; out may be NULL,
 * which does not change later steps. */
void pc_variance_training_step(pc_variance_training *training, pc_variance_point *out);

#endif

/* A logistic regression for each class against all others, rescaled to sum to one: shared by
 * platt and beta. */
#ifndef PC_LOGISTIC_H
#define PC_LOGISTIC_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"

/* q_k ~ sigmoid(sum_i slope[i][k] x_i[k] + shift[k]). */
typedef struct pc_logistic {
  pc_feature feature;
  size_t columns; /* regressions: one for each column of scores */
  size_t slopes;  /* features of each: 1 or 2 */
  double *slope[2], *shift;
  double *middle; /* the probability that becomes 1/2; for beta only */
} pc_logistic;

/* The variant of the regression. */
typedef struct pc_logistic_settings {
  pc_feature feature;
  size_t slopes;
  int smooth;  /* Platt's targets instead of 0 and 1 */
  int bounded; /* slopes are not negative */
} pc_logistic_settings;

/* Allocates a model with all coefficients 0 and stores it as calibrator->parameters. */
PC_CHECKED pcal_status pc_logistic_new(pcal_calibrator *calibrator,
                                       const pc_logistic_settings *settings, pc_logistic **out,
                                       pcal_error *err);

PC_CHECKED pcal_status pc_logistic_fit(const pc_fit_task *task,
                                       const pc_logistic_settings *settings, pcal_error *err);

/* As in pc_calibrator_method. */
size_t pc_logistic_space(const pcal_calibrator *calibrator);
void pc_logistic_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                       double *out);
const char *pc_logistic_recipe(const pcal_calibrator *calibrator, pc_recipe *out);
const char *pc_logistic_objective(const pcal_calibrator *calibrator); /* "log-ovr" */
unsigned pc_logistic_traits(const pcal_calibrator *calibrator);

/* names: JSON keys of slope[0], slope[1], shift and middle, in this order without gaps; unused
 * trailing entries are NULL. */
void pc_logistic_write(const pcal_calibrator *calibrator, const char *const names[4],
                       pc_json *json);
PC_CHECKED pcal_status pc_logistic_read(pcal_calibrator *calibrator,
                                        const pc_logistic_settings *settings,
                                        const char *const names[4],
                                        const pc_json_node *parameters, const char *file,
                                        pcal_error *err);
void pc_logistic_describe(const pcal_calibrator *calibrator, const char *const names[4],
                          pc_text *out);

#endif

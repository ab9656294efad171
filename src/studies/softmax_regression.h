/* Softmax regression: a linear classifier of features. */
#ifndef PC_SOFTMAX_REGRESSION_H
#define PC_SOFTMAX_REGRESSION_H

#include "base/memory.h"

/* Rows to learn from, or to predict; borrowed. */
typedef struct pc_labelled_rows {
  const double *features; /* rows x feature_count */
  const int32_t *labels;
  size_t rows, feature_count, classes;
} pc_labelled_rows;

/* Numbers of a model: for each class its weights, then its intercept. */
size_t pc_softmax_regression_size(const pc_labelled_rows *rows);

/* Minimises the mean of -log q_y plus l2 times the sum of squared weights, starting from `model`,
 * which may be all 0.  l2 > 0, so that the minimum is unique. */
PC_CHECKED pcal_status pc_softmax_regression_fit(const pc_labelled_rows *rows, double l2,
                                                 const pcal_env *env, double *model,
                                                 pcal_error *err);

/* Writes rows x classes probabilities. */
void pc_softmax_regression_apply(const pc_labelled_rows *rows, const double *model,
                                 double *probs);

#endif

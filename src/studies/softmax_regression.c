/* Formula:  q = softmax(W x + b);  W and b minimise the mean of -log q_y + l2 |W|^2.
 * Edge cases:
 *   (1) adding one number to all intercepts changes nothing; the search starts with a mean of 0
 *       and keeps it;
 *   (2) matrix scaling (calibrators/linear/matrix.c) is the same for as many features as classes,
 *       without a penalty.
 * Accuracy: gradient 1e-6 for features of about 1.
 * Cost:     some dozens of passes. */
#include "studies/softmax_regression.h"

#include <math.h>
#include <string.h>

#include "kernels/softmax.h"
#include "optim/dot.h"
#include "optim/lbfgs.h"

#define SOFTMAX_REGRESSION_EVALUATIONS 2000

size_t pc_softmax_regression_size(const pc_labelled_rows *rows) {
  return rows->classes * (rows->feature_count + 1);
}

/* Scores of one row. */
static void softmax_regression_scores(const pc_labelled_rows *rows, size_t row,
                                      const double *model, double *out) {
  const size_t d = rows->feature_count;
  const double *x = rows->features + row * d;
  for (size_t k = 0; k < rows->classes; k++)
    out[k] = pc_dot(model + k * (d + 1), x, d) + model[k * (d + 1) + d];
}

void pc_softmax_regression_apply(const pc_labelled_rows *rows, const double *model,
                                 double *probs) {
  for (size_t i = 0; i < rows->rows; i++) {
    double *out = probs + i * rows->classes;
    softmax_regression_scores(rows, i, model, out);
    pc_softmax_row(out, rows->classes, out);
  }
}

/* Adds the gradient of one row: (q_k - 1[k = y]) x. */
static void softmax_regression_pull(const pc_labelled_rows *rows, size_t row, const double *q,
                                    double *gradient) {
  const size_t d = rows->feature_count;
  const double *x = rows->features + row * d;
  for (size_t k = 0; k < rows->classes; k++) {
    double *to = gradient + k * (d + 1);
    const double pull = q[k] - (rows->labels[row] == (int32_t)k ? 1.0 : 0.0);
    for (size_t j = 0; j < d; j++)
      to[j] += pull * x[j];
    to[d] += pull;
  }
}

/* The objective and its gradient; q: scratch space for a row. */
static double softmax_regression_look(const pc_labelled_rows *rows, double l2,
                                      const double *model, double *gradient, double *q) {
  const size_t d = rows->feature_count, size = pc_softmax_regression_size(rows);
  const double n = (double)rows->rows;
  double loss = 0, squares = 0;
  memset(gradient, 0, size * sizeof *gradient);
  for (size_t i = 0; i < rows->rows; i++) {
    softmax_regression_scores(rows, i, model, q);
    const double own = q[rows->labels[i]];
    loss += pc_softmax_row(q, rows->classes, q) - own;
    softmax_regression_pull(rows, i, q, gradient);
  }
  for (size_t i = 0; i < size; i++) {
    const int weight = i % (d + 1) < d;
    squares += weight ? model[i] * model[i] : 0.0;
    gradient[i] = gradient[i] / n + (weight ? 2 * l2 * model[i] : 0.0);
  }
  return loss / n + l2 * squares;
}

pcal_status pc_softmax_regression_fit(const pc_labelled_rows *rows, double l2,
                                      const pcal_env *env, double *model, pcal_error *err) {
  static const pc_optim_limits limits = {1e-6, 1e-5, SOFTMAX_REGRESSION_EVALUATIONS, 0};
  const size_t size = pc_softmax_regression_size(rows);
  pc_lbfgs search;
  double *gradient = pc_alloc(env, size, sizeof *gradient);
  double *q = pc_alloc(env, rows->classes, sizeof *q);
  memset(&search, 0, sizeof search);
  pcal_status status = gradient == NULL || q == NULL
                           ? pc_fail_memory(err, "fitting a softmax regression")
                           : pc_lbfgs_new(env, size, model, &limits, &search, err);
  while (status == PCAL_OK && search.end == PC_OPTIM_RUNNING) {
    const double value = softmax_regression_look(rows, l2, search.at, gradient, q);
    pc_lbfgs_update(&search, value, gradient);
  }
  if (status == PCAL_OK)
    memcpy(model, search.best, size * sizeof *model);
  pc_lbfgs_free(&search);
  pc_free(env, gradient);
  pc_free(env, q);
  return status;
}

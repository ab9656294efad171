/* Formula:  for an event i, V(i) is the share of non-events with a lower score; for a non-event j,
 *   V(j) is the share of events with a higher one; ties count one half.
 *   d = V of the first model - V of the second, row by row; their mean over the events, and over
 *   the non-events, is D, the difference of the areas.
 *   var D = sum_events (d - D)^2 / (M - 1) / M + sum_others (d - D)^2 / (N - 1) / N
 *   p = 2 (1 - Phi(|D| / se)), interval D -+ z se, within [-1, 1]
 * Edge cases:
 *   (1) a row of weight w counts as w / unit rows;
 *   (2) fewer than two events or two non-events, or var D = 0: not found;
 *   (3) models that order all rows alike have var D = 0 and are not judged here.
 * Source: DeLong, DeLong & Clarke-Pearson, Biometrics 1988; Sun & Xu, IEEE Signal Processing
 *   Letters 2014, for the computation from ranks.
 * Cost: one sort for each model. */
#include "measure/replicas/paired_delong.h"

#include <math.h>
#include <stdlib.h>

#include "base/normal.h"
#include "stats/interval.h"

typedef struct delong_row {
  double score;
  size_t row;
} delong_row;

/* Equal scores by the number of the row, so that the order is unique. */
static int delong_order(const void *a, const void *b) {
  const delong_row *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* The probability of class 1. */
static double delong_score(const pc_kept_rows *rows, size_t row) {
  if (rows->probs != NULL)
    return rows->probs[row * rows->classes + 1];
  if (rows->top_label == NULL)
    return rows->score[row];
  return rows->top_label[row] == 1 ? rows->score[row] : 1.0 - rows->score[row];
}

static void delong_totals(const pc_kept_rows *rows, double unit, double total[2]) {
  total[0] = total[1] = 0.0;
  for (size_t i = 0; i < rows->count; i++)
    total[rows->labels[i] == 1] += pc_kept_weight(rows, i) / unit;
}

/* Adds sign * V to d, row by row. */
static void delong_add(const pc_kept_rows *rows, double unit, const double total[2],
                       double sign, delong_row *sorted, double *d) {
  double below[2] = {0.0, 0.0};
  for (size_t i = 0; i < rows->count; i++)
    sorted[i] = (delong_row){delong_score(rows, i), i};
  qsort(sorted, rows->count, sizeof *sorted, delong_order);
  for (size_t begin = 0, end; begin < rows->count; begin = end) {
    double tied[2] = {0.0, 0.0};
    for (end = begin; end < rows->count && sorted[end].score == sorted[begin].score; end++)
      tied[rows->labels[sorted[end].row] == 1] += pc_kept_weight(rows, sorted[end].row) / unit;
    const double lower = (below[0] + 0.5 * tied[0]) / total[0];
    const double higher = (total[1] - below[1] - 0.5 * tied[1]) / total[1];
    for (size_t i = begin; i < end; i++)
      d[sorted[i].row] += sign * (rows->labels[sorted[i].row] == 1 ? lower : higher);
    below[0] += tied[0];
    below[1] += tied[1];
  }
}

static double delong_variance(const pc_kept_rows *rows, double unit, const double total[2],
                              const double *d, double difference) {
  double squares[2] = {0.0, 0.0};
  for (size_t i = 0; i < rows->count; i++) {
    const double off = d[i] - difference;
    squares[rows->labels[i] == 1] += pc_kept_weight(rows, i) / unit * off * off;
  }
  return squares[0] / (total[0] - 1.0) / total[0] + squares[1] / (total[1] - 1.0) / total[1];
}

pcal_status pc_paired_delong(const pcal_env *env, const pc_kept_rows *rows[2], double unit,
                             double difference, double level, int *found,
                             pc_paired_finding *out, pcal_error *err) {
  double total[2];
  *found = 0;
  delong_totals(rows[0], unit, total);
  if (!(total[0] > 1.0) || !(total[1] > 1.0))
    return PCAL_OK;
  delong_row *sorted = pc_alloc_raw(env, rows[0]->count, sizeof *sorted);
  double *d = pc_alloc(env, rows[0]->count, sizeof *d);
  if (sorted == NULL || d == NULL) {
    pc_free(env, sorted);
    pc_free(env, d);
    return pc_fail_memory(err, "comparing two models");
  }
  delong_add(rows[0], unit, total, 1.0, sorted, d);
  delong_add(rows[1], unit, total, -1.0, sorted, d);
  const double variance = delong_variance(rows[0], unit, total, d, difference);
  pc_free(env, sorted);
  pc_free(env, d);
  if (!(variance > 0.0))
    return PCAL_OK;
  const double se = sqrt(variance), reach = pc_normal_quantile(0.5 + 0.5 * level) * se;
  *out = (pc_paired_finding){.low = fmax(difference - reach, -1.0),
                             .high = fmin(difference + reach, 1.0),
                             .p_value = 2.0 * pc_normal_cdf(-fabs(difference) / se),
                             .se = se,
                             .method = PCAL_DIFFERENCE_DELONG};
  *found = 1;
  return PCAL_OK;
}

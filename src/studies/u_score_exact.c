/* Formula:  S(P, P', y, y') = (P - e_y)' k(P, P') (P' - e_{y'})
 *           s(P, P', Q, Q') = sum over y, y' of Q_y Q'_{y'} S(P, P', y, y')
 *           g(Q, Q') = s(Q, Q', Q, Q'),  d(P, P', Q, Q') = s(P, P', Q, Q') - g(Q, Q')
 *           Each is computed as its sum over y and y', so that s, g and d follow the definitions,
 *           not closed forms; only u_ce is (P - Q)' k (P' - Q').
 * Source:   Gruber & Buettner 2022, version 3, appendix F, equations 52, 55, 56 and 61.
 * Accuracy: sums run in the order of the keys: the same for any number of threads.
 * Cost:     (values times classes)^2. */
#include "studies/u_score_exact.h"

#include <math.h>

#include "kernels/lane_math.h"
#include "studies/distinct_predictions.h"

/* Cells of equal predictions, with the prediction of each. */
typedef struct u_score_exact_work {
  const pc_skce_kernel *kernel;
  pc_distinct_predictions cells;
  double *predictions; /* cell by cell */
} u_score_exact_work;

static double u_score_exact_kernel(const pc_skce_kernel *kernel, const double *p,
                                   const double *q, size_t classes) {
  double square = 0, variation = 0;
  for (size_t k = 0; k < classes; k++) {
    square += (p[k] - q[k]) * (p[k] - q[k]);
    variation += 0.5 * fabs(p[k] - q[k]);
  }
  const double d = (kernel->tv ? variation : sqrt(square)) / kernel->scale;
  return pc_lane_exp(kernel->gaussian ? -0.5 * d * d : -d);
}

/* s(P, P', Q, Q'), outcome by outcome. */
static double u_score_exact_expected(const u_score_exact_work *work, const double *p,
                                     const double *other, const double *q,
                                     const double *other_q) {
  const size_t classes = work->cells.width;
  double inner = 0, sum = 0;
  for (size_t k = 0; k < classes; k++)
    inner += p[k] * other[k];
  for (size_t y = 0; y < classes; y++)
    for (size_t z = 0; z < classes; z++)
      sum += q[y] * other_q[z] * (inner - p[z] - other[y] + (y == z ? 1.0 : 0.0));
  return u_score_exact_kernel(work->kernel, p, other, classes) * sum;
}

/* (P - Q)' k(P, P') (P' - Q'). */
static double u_score_exact_gaps(const u_score_exact_work *work, size_t a, size_t b) {
  const size_t classes = work->cells.width;
  const double *p = work->predictions + a * classes, *q = work->cells.rates + a * classes;
  const double *other = work->predictions + b * classes,
               *other_q = work->cells.rates + b * classes;
  double inner = 0;
  for (size_t k = 0; k < classes; k++)
    inner += (p[k] - q[k]) * (other[k] - other_q[k]);
  return u_score_exact_kernel(work->kernel, p, other, classes) * inner;
}

static void u_score_exact_pairs(const u_score_exact_work *work, pc_u_score_terms *out) {
  const pc_distinct_predictions *cells = &work->cells;
  const size_t classes = cells->width;
  const double *all = cells->shares;
  for (size_t a = 0; a < cells->count; a++)
    for (size_t b = 0; b < cells->count; b++) {
      const double weight = cells->weights[a] * cells->weights[b];
      const double *p = work->predictions + a * classes, *q = cells->rates + a * classes;
      const double *other = work->predictions + b * classes,
                   *other_q = cells->rates + b * classes;
      out->u_score += weight * u_score_exact_expected(work, p, other, q, other_q);
      out->u_ce += weight * u_score_exact_gaps(work, a, b);
      out->u_sharpness += weight * (u_score_exact_expected(work, all, all, q, other_q) -
                                    u_score_exact_expected(work, q, other_q, q, other_q));
    }
  out->u_entropy = u_score_exact_expected(work, all, all, all, all);
}

static void u_score_exact_brier(const u_score_exact_work *work, pc_u_score_terms *out) {
  const pc_distinct_predictions *cells = &work->cells;
  const size_t classes = cells->width;
  for (size_t c = 0; c < cells->count; c++)
    for (size_t k = 0; k < classes; k++) {
      const double p = work->predictions[c * classes + k], q = cells->rates[c * classes + k];
      out->brier += cells->weights[c] * (p * p - 2 * p * q + q);
      out->ce += cells->weights[c] * (p - q) * (p - q);
    }
  out->u_self = out->brier;
  out->sharpness = pc_distinct_predictions_base_entropy(cells, PC_ENTROPY_BRIER) -
                   pc_distinct_predictions_entropy(cells, PC_ENTROPY_BRIER);
}

static pcal_status u_score_exact_cells(const pc_finite_distribution *distribution,
                                       const pcal_env *env, u_score_exact_work *work,
                                       pcal_error *err) {
  const pc_row_outcomes outcomes = {.rows = distribution->points,
                                    .width = distribution->classes,
                                    .expected = distribution->truth};
  PC_TRY(pc_distinct_predictions_new(distribution->predictions, distribution->classes,
                                     &outcomes, env, &work->cells, err));
  work->predictions =
      pc_alloc_raw(env, work->cells.count * distribution->classes, sizeof *work->predictions);
  if (work->predictions == NULL)
    return pc_fail_memory(err, "finding equal predictions");
  for (size_t i = 0; i < distribution->points; i++)
    for (size_t k = 0; k < distribution->classes; k++)
      work->predictions[work->cells.of_row[i] * distribution->classes + k] =
          distribution->predictions[i * distribution->classes + k];
  return PCAL_OK;
}

pcal_status pc_u_score_exact(const pc_finite_distribution *distribution,
                             const pc_skce_kernel *kernel, const pcal_env *env,
                             pc_u_score_terms *out, pcal_error *err) {
  u_score_exact_work work = {.kernel = kernel};
  *out = (pc_u_score_terms){0};
  const pcal_status status = u_score_exact_cells(distribution, env, &work, err);
  if (status == PCAL_OK) {
    out->values = work.cells.count;
    u_score_exact_brier(&work, out);
    u_score_exact_pairs(&work, out);
  }
  pc_free(env, work.predictions);
  pc_distinct_predictions_free(&work.cells);
  return status;
}

#include "../unit.h"

#include "base/memory.h"
#include "studies/u_score_exact.h"

#define POINTS 6
#define CLASSES 3

/* Points 1 and 4 have the same prediction. */
static const double u_law_predictions[] = {0.2,  0.3, 0.5,  0.6, 0.3, 0.1, 0.1, 0.1, 0.8,
                                           0.25, 0.5, 0.25, 0.6, 0.3, 0.1, 1,   0,   0};
static const double u_law_truth[] = {0.1, 0.1, 0.8, 0.9, 0.1, 0,   0.2, 0.1, 0.7,
                                     0.3, 0.3, 0.4, 0.5, 0.1, 0.4, 0.7, 0.2, 0.1};

/* P(Y | f) at a point: points 1 and 4 share theirs. */
static long double u_law_q(size_t i, size_t k) {
  const long double own = u_law_truth[3 * i + k];
  return i == 1 || i == 4 ? ((long double)u_law_truth[3 + k] + u_law_truth[12 + k]) / 2 : own;
}

static long double u_law_k(const pc_skce_kernel *kernel, size_t i, size_t j) {
  long double square = 0, variation = 0;
  for (size_t k = 0; k < CLASSES; k++) {
    const long double gap =
        (long double)u_law_predictions[3 * i + k] - u_law_predictions[3 * j + k];
    square += gap * gap;
    variation += fabsl(gap) / 2;
  }
  const long double d = (kernel->tv ? variation : sqrtl(square)) / kernel->scale;
  return expl(kernel->gaussian ? -d * d / 2 : -d);
}

static double u_law_error(const pc_skce_kernel *kernel) {
  long double sum = 0;
  for (size_t i = 0; i < POINTS; i++)
    for (size_t j = 0; j < POINTS; j++)
      for (size_t k = 0; k < CLASSES; k++)
        sum += u_law_k(kernel, i, j) * (u_law_predictions[3 * i + k] - u_law_q(i, k)) *
               (u_law_predictions[3 * j + k] - u_law_q(j, k));
  return (double)(sum / POINTS / POINTS);
}

static pc_u_score_terms u_law_of(const pc_finite_distribution *law,
                                 const pc_skce_kernel *kernel) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_u_score_terms found;
  assert_int_equal(pc_u_score_exact(law, kernel, &env, &found, NULL), PCAL_OK);
  return found;
}

/* The terms by their definitions add up, and are what sums over points give. */
TEST(test_every_term) {
  static const pc_skce_kernel kernels[] = {{0, 0, 1}, {0, 1, 0.5}, {1, 0, 0.3}};
  const pc_finite_distribution law = {POINTS, CLASSES, u_law_predictions, u_law_truth};
  double brier = 0, ce = 0;
  for (size_t i = 0; i < POINTS; i++)
    for (size_t k = 0; k < CLASSES; k++) {
      const double p = u_law_predictions[3 * i + k], q = (double)u_law_q(i, k);
      brier += (q * (1 - p) * (1 - p) + (1 - q) * p * p) / POINTS;
      ce += (p - q) * (p - q) / POINTS;
    }
  for (size_t i = 0; i < UNIT_COUNT(kernels); i++) {
    const pc_u_score_terms found = u_law_of(&law, &kernels[i]);
    assert_int_equal(found.values, 5);
    assert_near(found.brier, brier, 1e-14);
    assert_near(found.ce, ce, 1e-14);
    assert_near(found.u_self, brier, 1e-14);
    assert_near(found.u_ce, u_law_error(&kernels[i]), 1e-13);
    assert_near(found.u_score, found.u_ce, 1e-12);
    assert_true(fabs(found.u_entropy) < 1e-16 && fabs(found.u_sharpness) < 1e-16);
    assert_true(found.u_ce > 1e-3 && found.u_ce < found.ce);
  }
}

TEST(test_a_calibrated_law) {
  const pc_skce_kernel kernel = {0, 0, 1};
  const pc_finite_distribution law = {POINTS, CLASSES, u_law_truth, u_law_truth};
  const pc_u_score_terms found = u_law_of(&law, &kernel);
  assert_same(found.u_ce, 0.0);
  assert_true(fabs(found.u_score) < 1e-16);
  assert_true(found.sharpness > 0.1);
}

/* Proposition 3.2: |r|^2 (1 - exp(-d)) / K with |r| = CE_2 and d the distance of predictions.
 */
TEST(test_closed_form) {
  enum { K = 5 };
  const pc_skce_kernel kernel = {0, 0, 1};
  const double alpha = 0.51, beta = (1 - alpha) / (K - 1);
  double predictions[K * K], truth[K * K];
  for (size_t i = 0; i < K; i++)
    for (size_t k = 0; k < K; k++) {
      predictions[i * K + k] = k == i ? alpha : beta;
      truth[i * K + k] = k == i ? alpha : k == (i + K - 1) % K ? 1 - alpha : 0;
    }
  const pc_finite_distribution law = {K, K, predictions, truth};
  const pc_u_score_terms found = u_law_of(&law, &kernel);
  const double ce = (1 - 1.0 / (K - 1)) * (1 - alpha) * (1 - alpha);
  assert_near(found.ce, ce, 1e-14);
  assert_near(found.u_ce, ce * (1 - exp(-sqrt(2) * (alpha - beta))) / K, 1e-12);
}

TEST(test_no_memory) {
  const pc_skce_kernel kernel = {0, 0, 1};
  const pc_finite_distribution law = {POINTS, CLASSES, u_law_predictions, u_law_truth};
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n++) {
    unit_memory memory = {0};
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    pc_u_score_terms found;
    status = pc_u_score_exact(&law, &kernel, &env, &found, NULL);
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_int_equal(status, atomic_load(&memory.calls) < n ? PCAL_OK : PCAL_MEMORY);
  }
}

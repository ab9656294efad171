/* Moments of the drawn sums: with centred counts of variance 1, the mean is close to minus the
 * mean of h times half the rows, and the variance to the sum of the squares of h. */
#include "../kernels/pair_help.h"

#include "stats/pair_bootstrap.h"

#define BOOTSTRAP_ROWS 60
#define BOOTSTRAP_REPLICAS 6000

static void bootstrap_of(const pc_pair_rows *rows, unsigned threads, double *out) {
  pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  env.threads = threads;
  const pc_pair_form form = pc_pair_form_make(0, 0, 1.0, rows);
  if (pc_pair_bootstrap(&env, &form, rows, BOOTSTRAP_REPLICAS, out, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

TEST(test_moments) {
  static double values[BOOTSTRAP_REPLICAS], again[BOOTSTRAP_REPLICAS];
  pair_sample sample = pair_sample_make(BOOTSTRAP_ROWS, 3, 1.0, 30, 0);
  double sum = 0, squares = 0, mean = 0, spread = 0;
  for (size_t i = 0; i < BOOTSTRAP_ROWS; i++)
    for (size_t j = i + 1; j < BOOTSTRAP_ROWS; j++) {
      const double h = (double)pair_h(&sample, i, j, 0, 0, 1.0);
      sum += h;
      squares += h * h;
    }
  bootstrap_of(&sample.rows, 1, values);
  for (size_t b = 0; b < BOOTSTRAP_REPLICAS; b++)
    mean += values[b] / BOOTSTRAP_REPLICAS;
  for (size_t b = 0; b < BOOTSTRAP_REPLICAS; b++)
    spread += (values[b] - mean) * (values[b] - mean) / BOOTSTRAP_REPLICAS;
  assert_true(fabs(mean + sum / BOOTSTRAP_ROWS) < 4 * sqrt(squares / BOOTSTRAP_REPLICAS));
  assert_true(fabs(spread / squares - 1) < 0.25);
  bootstrap_of(&sample.rows, 3, again);
  assert_memory_equal(values, again, sizeof values);
  pair_sample_free(&sample);
}

/* A row of weight w pairs its copies with each other: h of a copy is |e_y - p|^2.  The w
 * centred counts sum to 0, so pairs sum to minus half their squares: (w - 1) / 2 times a
 * variance of 1. */
TEST(test_copies) {
  static double values[BOOTSTRAP_REPLICAS];
  const double weights[] = {5, 64, 65, 10000, 3e6};
  for (size_t c = 0; c < sizeof weights / sizeof *weights; c++) {
    pair_sample sample = pair_sample_make(1, 2, 1.0, 1, 0);
    sample.weights[0] = weights[c];
    pair_sample_lay(&sample);
    bootstrap_of(&sample.rows, 1, values);
    const double gap = 1 - sample.probs[sample.labels[0]], self = 2 * gap * gap;
    const double expected = -0.5 * (weights[c] - 1) * self;
    double mean = 0, spread = 0;
    for (size_t b = 0; b < BOOTSTRAP_REPLICAS; b++)
      mean += values[b] / BOOTSTRAP_REPLICAS;
    for (size_t b = 0; b < BOOTSTRAP_REPLICAS; b++)
      spread += (values[b] - mean) * (values[b] - mean) / BOOTSTRAP_REPLICAS;
    /* squares of Poisson counts about their mean: 3 w, of which 1/4 */
    assert_true(fabs(mean / expected - 1) < 0.1);
    assert_true(fabs(spread / (self * self * 0.25 * 3 * weights[c]) - 1) < 0.5);
    pair_sample_free(&sample);
  }
}

#include "stats/dirichlet_kde.h"

#include "../kernels/pair_help.h"

/* log k_ij in long double; -inf where a kernel is shut out. */
static const pc_device_queue no_queue = {NULL, NULL};

static long double density_log_kernel(const pair_sample *s, size_t i, size_t j, double h) {
  const double *p = s->probs + i * s->classes, *q = s->probs + j * s->classes;
  long double sum = 0, value = 0;
  for (size_t c = 0; c < s->classes; c++) {
    const long double a = q[c] / (long double)h;
    value += (q[c] > 0 ? a * logl(p[c]) : 0) - lgammal(a + 1);
    sum += a + 1;
  }
  return value + lgammal(sum);
}

/* Copies of row j that row i meets. */
static double density_copies(const pair_sample *s, size_t i, size_t j) {
  return i == j ? s->weights[j] - 1 : s->weights[j];
}

static long double density_peak(const pair_sample *s, size_t i, double h) {
  long double peak = -INFINITY;
  for (size_t j = 0; j < s->count; j++)
    if (density_copies(s, i, j) > 0)
      peak = fmaxl(peak, density_log_kernel(s, i, j, h));
  return peak;
}

/* What all copies of row j that row i meets add, relative to the peak. */
static long double density_kernel(const pair_sample *s, size_t i, size_t j, double h,
                                  long double peak) {
  const double copies = density_copies(s, i, j);
  return copies > 0 ? copies * expl(density_log_kernel(s, i, j, h) - peak) : 0;
}

/* The estimators as in their definition. */
static double density_error(const pair_sample *s, double h, double power) {
  long double sum = 0, total = 0;
  for (size_t i = 0; i < s->count; i++) {
    const long double peak = density_peak(s, i, h);
    long double norm = 0, error = 0;
    long double *r = calloc(s->classes, sizeof *r);
    for (size_t j = 0; j < s->count; j++) {
      const long double k = density_kernel(s, i, j, h, peak);
      r[s->labels[j]] += k;
      norm += k;
    }
    for (size_t c = 0; c < s->classes; c++)
      error += powl(fabsl(r[c] / norm - s->probs[i * s->classes + c]), power);
    free(r);
    sum += s->weights[i] * error;
    total += s->weights[i];
  }
  return (double)(sum / total);
}

static double density_likelihood(const pair_sample *s, double h) {
  long double sum = 0, total = 0;
  for (size_t i = 0; i < s->count; i++)
    total += s->weights[i];
  for (size_t i = 0; i < s->count; i++) {
    const long double peak = density_peak(s, i, h);
    long double norm = 0;
    for (size_t j = 0; j < s->count; j++)
      norm += density_kernel(s, i, j, h, peak);
    sum += s->weights[i] * (peak + logl(norm / (total - 1)));
  }
  return (double)(sum / total);
}

static double density_total(const pair_sample *s) {
  double total = 0.0;
  for (size_t i = 0; i < s->count; i++)
    total += s->weights[i];
  return total;
}

static double error_of(const pair_sample *s, double h, double power, unsigned threads) {
  pcal_env env = pc_env_resolve(NULL);
  pc_dirichlet_kde dirichlet;
  double error = 0.0;
  env.threads = threads;
  assert_int_equal(
      pc_dirichlet_kde_new(&env, &s->rows, density_total(s), &no_queue, &dirichlet, NULL),
      PCAL_OK);
  assert_int_equal(pc_dirichlet_kde_error(&dirichlet, h, power, &error, NULL), PCAL_OK);
  pc_dirichlet_kde_free(&dirichlet);
  return error;
}

static void likelihood_of(const pair_sample *s, const double *h, size_t count, unsigned threads,
                          double *out) {
  pcal_env env = pc_env_resolve(NULL);
  pc_dirichlet_kde dirichlet;
  env.threads = threads;
  assert_int_equal(
      pc_dirichlet_kde_new(&env, &s->rows, density_total(s), &no_queue, &dirichlet, NULL),
      PCAL_OK);
  assert_int_equal(pc_dirichlet_kde_likelihood(&dirichlet, h, count, out, NULL), PCAL_OK);
  pc_dirichlet_kde_free(&dirichlet);
}

static const double density_bandwidths[] = {1e-5, 1e-3, 0.02, 0.3, 1.0, 50.0};

/* From kernels so narrow that a row sees only its nearest neighbour to nearly flat ones; packs
 * of one label and mixed ones, one row and several tasks. */
TEST(agrees_with_the_definition) {
  static const size_t shapes[][3] = {{2, 2, 1},  {3, 4, 3},      {16, 3, 2}, {17, 3, 17},
                                     {90, 5, 5}, {130, 40, 130}, {150, 2, 2}};
  for (size_t n = 0; n < UNIT_COUNT(shapes); n++)
    for (int weighted = 0; weighted <= 1; weighted++) {
      pair_sample s = pair_sample_make(shapes[n][0], shapes[n][1], 2.0, shapes[n][2], weighted);
      double found[UNIT_COUNT(density_bandwidths)];
      likelihood_of(&s, density_bandwidths, UNIT_COUNT(density_bandwidths), 1, found);
      for (size_t b = 0; b < UNIT_COUNT(density_bandwidths); b++) {
        const double h = density_bandwidths[b], bound = h < 1e-4 ? 1e-7 : 1e-10;
        assert_near(found[b], density_likelihood(&s, h), bound);
        assert_near(error_of(&s, h, 1, 1), density_error(&s, h, 1), bound);
        assert_near(error_of(&s, h, 2, 1), density_error(&s, h, 2), bound);
        assert_near(error_of(&s, h, 1.5, 1), density_error(&s, h, 1.5), bound);
      }
      pair_sample_free(&s);
    }
}

/* Rows on a line, kernels of e^-60 and less of the nearest one's: whether the nearest rows are
 * met first, last or between, what is left out does not show. */
TEST(what_is_left_out_does_not_count) {
  enum { LINE = 113 };
  for (size_t step = 1; step < LINE; step += 37) {
    pair_sample s = pair_sample_make(LINE, 2, 1.0, 2, 0);
    for (size_t i = 0; i < LINE; i++) {
      s.probs[2 * i] = (0.5 + (double)(i * step % LINE)) / LINE;
      s.probs[2 * i + 1] = 1 - s.probs[2 * i];
      s.weights[i] = i % 30 == 0 ? 1e12 : 1;
    }
    pair_sample_lay(&s);
    for (double h = 1e-3; h < 0.02; h *= 2) {
      double found;
      likelihood_of(&s, &h, 1, 1, &found);
      assert_near(found, density_likelihood(&s, h), 1e-11);
      assert_near(error_of(&s, h, 1, 1), density_error(&s, h, 1), 1e-11);
    }
    pair_sample_free(&s);
  }
}

/* Zeros under zeros are no obstacle, and p -> 0 is no jump. */
TEST(zeros) {
  pair_sample s = pair_sample_make(40, 3, 1.0, 3, 1);
  for (size_t i = 0; i < s.count; i++) {
    const double u = (double)(1 + i % 7) / 8;
    memcpy(s.probs + 3 * i,
           i % 2 == 0 ? (const double[]){0, u, 1 - u} : (const double[]){u / 2, 1 - u, u / 2},
           3 * sizeof(double));
  }
  pair_sample_lay(&s);
  assert_near(error_of(&s, 0.05, 1, 1), density_error(&s, 0.05, 1), 1e-12);
  double found;
  likelihood_of(&s, &density_bandwidths[2], 1, 1, &found);
  assert_near(found, density_likelihood(&s, density_bandwidths[2]), 1e-12);
  const double with_zeros = error_of(&s, 0.05, 1, 1);
  for (size_t i = 0; i < s.count; i += 2)
    s.probs[3 * i] = 1e-310;
  pair_sample_lay(&s);
  assert_true(isfinite(error_of(&s, 0.05, 1, 1)));
  assert_near(error_of(&s, 0.05, 1, 1), with_zeros, 1e-9);
  pair_sample_free(&s);
}

/* A zero shuts out kernels whose own probability is not 0, however small that is. */
TEST(zeros_beside_tiny_numbers) {
  static const double tiny[] = {5e-324, 1e-310, 1e-304, 1e-290, 1e-100, 1e-30};
  for (size_t t = 0; t < UNIT_COUNT(tiny); t++) {
    pair_sample s = pair_sample_make(40, 3, 1.0, 3, 1);
    for (size_t i = 0; i < s.count; i++) {
      const double u = (double)(1 + i % 7) / 8;
      memcpy(s.probs + 3 * i, (const double[]){i % 3 == 0 ? 0.0 : tiny[t], u, 1 - u},
             3 * sizeof(double));
    }
    pair_sample_lay(&s);
    assert_near(error_of(&s, 0.05, 1, 1), density_error(&s, 0.05, 1), 1e-12);
    double found;
    likelihood_of(&s, &density_bandwidths[2], 1, 1, &found);
    assert_near(found, density_likelihood(&s, density_bandwidths[2]), 1e-12);
    for (size_t i = 1; i < s.count; i++)
      s.probs[3 * i] = tiny[t];
    s.weights[0] = 1;
    pair_sample_lay(&s);
    assert_same(error_of(&s, 0.05, 1, 1), -1.0);
    pair_sample_free(&s);
  }
}

/* A zero where all others have more shuts a row out, unless it has a copy. */
TEST(a_row_that_is_near_no_other) {
  pair_sample s = pair_sample_make(40, 3, 1.0, 3, 0);
  double found[2];
  memcpy(s.probs + 3 * 7, (const double[]){0, 0.5, 0.5}, 3 * sizeof(double));
  pair_sample_lay(&s);
  assert_same(error_of(&s, 0.1, 1, 1), -1.0);
  likelihood_of(&s, density_bandwidths, 2, 1, found);
  assert_true(found[0] == -INFINITY && found[1] == -INFINITY);
  s.weights[7] = 2;
  pair_sample_lay(&s);
  assert_near(error_of(&s, 0.1, 1, 1), density_error(&s, 0.1, 1), 1e-12);
  likelihood_of(&s, density_bandwidths + 3, 2, 1, found);
  assert_near(found[0], density_likelihood(&s, density_bandwidths[3]), 1e-12);
  pair_sample_free(&s);
}

/* Two rows: each sees the other's label only. */
TEST(closed_form) {
  pair_sample s = pair_sample_make(2, 2, 1.0, 2, 0);
  memcpy(s.probs, (const double[]){0.75, 0.25, 0.5, 0.5}, 4 * sizeof(double));
  s.labels[0] = 0;
  s.labels[1] = 1;
  pair_sample_lay(&s);
  assert_near(error_of(&s, 0.1, 1, 1), (2 * 0.75 + 2 * 0.5) / 2, 1e-15);
  assert_near(error_of(&s, 0.1, 2, 1), (2 * 0.5625 + 2 * 0.25) / 2, 1e-15);
  double found;
  const double h = 0.5; /* Beta(2.5, 1.5) at 0.5, Beta(2, 2) at 0.75 */
  likelihood_of(&s, &h, 1, 1, &found);
  const double at_half = log(0.5) * 2 + lgamma(4) - lgamma(2.5) - lgamma(1.5);
  const double at_three_quarters = log(0.75 * 0.25 * 6);
  assert_near(found, (at_half + at_three_quarters) / 2, 1e-13);
  pair_sample_free(&s);
}

TEST(threads_do_not_show) {
  pair_sample s = pair_sample_make(1500, 4, 2.0, 4, 1);
  double one[3], many[3];
  likelihood_of(&s, density_bandwidths + 1, 3, 1, one);
  likelihood_of(&s, density_bandwidths + 1, 3, 5, many);
  assert_memory_equal(one, many, sizeof one);
  assert_same(error_of(&s, 0.02, 1, 5), error_of(&s, 0.02, 1, 1));
  pair_sample_free(&s);
}

static pcal_status density_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pair_sample *s = user;
  pcal_env resolved = pc_env_resolve(env);
  pc_dirichlet_kde dirichlet;
  double found[2];
  resolved.threads = 1;
  PC_TRY(
      pc_dirichlet_kde_new(&resolved, &s->rows, density_total(s), &no_queue, &dirichlet, err));
  pcal_status status =
      pc_dirichlet_kde_likelihood(&dirichlet, density_bandwidths, 2, found, err);
  if (status == PCAL_OK)
    status = pc_dirichlet_kde_error(&dirichlet, 0.1, 1, found, err);
  pc_dirichlet_kde_free(&dirichlet);
  return status;
}

TEST(runs_out_of_memory) {
  pair_sample s = pair_sample_make(30, 3, 1.0, 3, 0);
  unit_fail_each_allocation(density_scenario, &s);
  pair_sample_free(&s);
}

#include "../measure/measure_help.h"

#include "base/rng.h"
#include "emulated.h"

#define CE_KDE_MOST 150
#define CE_KDE_ROWS fewer_if_emulated(CE_KDE_MOST, 50)
#define CE_KDE_CLASSES 3

static double ce_kde_scores[CE_KDE_CLASSES * CE_KDE_MOST];
static int32_t ce_kde_labels[CE_KDE_MOST];

static given_data ce_kde_many(void) {
  const pc_rng rng = {7, 8};
  for (size_t i = 0; i < CE_KDE_ROWS; i++) {
    double sum = 0, *p = ce_kde_scores + CE_KDE_CLASSES * i;
    for (size_t c = 0; c < CE_KDE_CLASSES; c++)
      sum += p[c] = exp(2 * pc_rng_normal(&rng, CE_KDE_CLASSES * i + c));
    for (size_t c = 0; c < CE_KDE_CLASSES; c++)
      p[c] /= sum;
    ce_kde_labels[i] = (int32_t)(pc_rng_bits(&rng, 10000 + i) % CE_KDE_CLASSES);
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = CE_KDE_ROWS,
                      .columns = CE_KDE_CLASSES,
                      .scores = ce_kde_scores,
                      .labels = ce_kde_labels};
}

/* Per row: the scores' logarithms, and what of the kernel at that row depends on no other row. */
static long double ce_kde_logs[CE_KDE_MOST][CE_KDE_CLASSES], ce_kde_norms[CE_KDE_MOST];

static void ce_kde_prepare(long double h) {
  for (size_t j = 0; j < CE_KDE_ROWS; j++) {
    long double sum = 0;
    ce_kde_norms[j] = 0;
    for (size_t c = 0; c < CE_KDE_CLASSES; c++) {
      const long double score = ce_kde_scores[CE_KDE_CLASSES * j + c], a = score / h;
      ce_kde_logs[j][c] = logl(score);
      ce_kde_norms[j] -= lgammal(a + 1);
      sum += a + 1;
    }
    ce_kde_norms[j] += lgammal(sum);
  }
}

static long double ce_kde_log_kernel(size_t i, size_t j, long double h) {
  long double value = ce_kde_norms[j];
  for (size_t c = 0; c < CE_KDE_CLASSES; c++)
    value += ce_kde_scores[CE_KDE_CLASSES * j + c] / h * ce_kde_logs[i][c];
  return value;
}

/* Mean of sum_c |r - p|^power, and the likelihood. */
static double ce_kde_direct(double h, double power, double *likelihood) {
  long double sum = 0, logs = 0;
  ce_kde_prepare(h);
  for (size_t i = 0; i < CE_KDE_ROWS; i++) {
    long double peak = -INFINITY, norm = 0, r[CE_KDE_CLASSES] = {0}, kernel[CE_KDE_MOST];
    for (size_t j = 0; j < CE_KDE_ROWS; j++) {
      kernel[j] = i == j ? -INFINITY : ce_kde_log_kernel(i, j, h);
      peak = fmaxl(peak, kernel[j]);
    }
    for (size_t j = 0; j < CE_KDE_ROWS; j++) {
      const long double k = expl(kernel[j] - peak);
      r[ce_kde_labels[j]] += k;
      norm += k;
    }
    for (size_t c = 0; c < CE_KDE_CLASSES; c++)
      sum += powl(fabsl(r[c] / norm - ce_kde_scores[CE_KDE_CLASSES * i + c]), power);
    logs += peak + logl(norm / (long double)(CE_KDE_ROWS - 1));
  }
  *likelihood = (double)logs;
  return (double)(sum / (long double)CE_KDE_ROWS);
}

TEST(test_agrees_with_a_double_loop) {
  static const double bandwidths[] = {0.001, 0.01, 0.1, 1};
  const given_data data = ce_kde_many();
  for (size_t b = 0; b < UNIT_COUNT(bandwidths); b++)
    for (int p = 1; p <= 3; p++) {
      char spec[64];
      double ignored;
      const double want = ce_kde_direct(bandwidths[b], p, &ignored);
      snprintf(spec, sizeof spec, "ce-kde:p=%d,bandwidth=%g,root=no", p, bandwidths[b]);
      assert_near(given_value(&data, spec), want, 1e-10);
      snprintf(spec, sizeof spec, "ce-kde:p=%d,bandwidth=%g", p, bandwidths[b]);
      assert_near(given_value(&data, spec), pow(want, 1.0 / p), 1e-10);
    }
}

/* The candidate with the largest likelihood. */
static double ce_kde_best(void) {
  double best = -INFINITY, chosen = 0, likelihood;
  for (int m = 0; m < 20; m++) {
    const double h = m < 15 ? pow(10, -5 + 4.0 * m / 14) : 0.2 * (m - 14);
    ce_kde_direct(h, 1, &likelihood);
    chosen = likelihood > best ? h : chosen;
    best = fmax(best, likelihood);
  }
  return chosen;
}

/* Draws the rows nearer to their mean by a factor, which changes the best bandwidth. */
static void ce_kde_draw_together(double factor) {
  for (size_t i = 0; i < CE_KDE_ROWS * CE_KDE_CLASSES; i++)
    ce_kde_scores[i] = factor * ce_kde_scores[i] + (1.0 - factor) / CE_KDE_CLASSES;
}

/* Scores that are spread evenly: the likelihood rises again towards the largest bandwidth. */
static void ce_kde_spread(uint64_t seed) {
  const pc_rng rng = {seed, 9};
  for (size_t i = 0; i < CE_KDE_ROWS; i++) {
    double sum = 0, *p = ce_kde_scores + CE_KDE_CLASSES * i;
    for (size_t c = 0; c < CE_KDE_CLASSES; c++)
      sum += p[c] = -log(pc_rng_uniform(&rng, CE_KDE_CLASSES * i + c));
    for (size_t c = 0; c < CE_KDE_CLASSES; c++)
      p[c] /= sum;
  }
}

static void ce_kde_check_bandwidth(const given_data *data, double chosen) {
  pcal_results *results = given_results(data, "ce-kde");
  const pcal_result result = given_result(results, "ce-kde");
  assert_near(given_part(&result, "bandwidth"), chosen, 1e-14);
  pcal_results_free(results);
}

TEST(test_bandwidths_with_two_peaks) {
  size_t ends = 0;
  for (uint64_t seed = 0; seed < 8; seed++) {
    const given_data data = ce_kde_many();
    ce_kde_spread(seed);
    const double chosen = ce_kde_best();
    ce_kde_check_bandwidth(&data, chosen);
    ends += chosen == 1.0;
  }
  assert_true(ends > 0);
}

/* The search finds the best of all, the first included. */
TEST(test_bandwidths_from_end_to_end) {
  double smallest = 1.0, largest = 0.0;
  for (double factor = 1.0; factor > 1e-3; factor /= 1.7) {
    const given_data data = ce_kde_many();
    ce_kde_draw_together(factor);
    const double chosen = ce_kde_best();
    ce_kde_check_bandwidth(&data, chosen);
    smallest = fmin(smallest, chosen);
    largest = fmax(largest, chosen);
  }
  assert_true(smallest < 2e-5 && largest > 2e-3);
}

/* The value at the best bandwidth. */
TEST(test_automatic_bandwidth) {
  const given_data data = ce_kde_many();
  double ignored;
  const double chosen = ce_kde_best();
  pcal_results *results = given_results(&data, "ce-kde");
  const pcal_result result = given_result(results, "ce-kde");
  assert_near(given_part(&result, "bandwidth"), chosen, 1e-14);
  assert_near(result.value, ce_kde_direct(chosen, 1, &ignored), 1e-10);
  assert_string_equal(result.spec, "ce-kde:p=1,bandwidth=auto,root=yes");
  assert_true(chosen > 1e-5 && chosen < 1);
  pcal_results_free(results);
}

/* Two rows far apart: each sees the other's label. */
static const given_data ce_kde_two = {
    .kind = PCAL_PROBABILITY,
    .rows = 2,
    .columns = 2,
    .scores = (const double[]){0.75, 0.25, 0.5, 0.5},
    .labels = (const int32_t[]){0, 1},
};

TEST(test_1_root) {
  assert_near(given_value(&ce_kde_two, "ce-kde:bandwidth=0.1"), 1.25, 1e-15);
  assert_near(given_value(&ce_kde_two, "ce-kde:p=2,bandwidth=0.1,root=no"), 0.8125, 1e-15);
  assert_near(given_value(&ce_kde_two, "ce-kde:p=2,bandwidth=0.1"), sqrt(0.8125), 1e-15);
}

/* Three copies of the first row see two of themselves and one of the other. */
TEST(test_2_weights_are_copies) {
  given_data data = ce_kde_two;
  data.weights = (const double[]){3, 1};
  given_data copies = ce_kde_two;
  copies.rows = 4;
  copies.scores = (const double[]){0.75, 0.25, 0.75, 0.25, 0.5, 0.5, 0.75, 0.25};
  copies.labels = (const int32_t[]){0, 0, 1, 0};
  for (int automatic = 0; automatic <= 1; automatic++) {
    const char *spec = automatic ? "ce-kde" : "ce-kde:bandwidth=0.1";
    assert_same(given_value(&data, spec), given_value(&copies, spec));
  }
  data.weights = (const double[]){3, 1.5};
  given_refused(&data, "ce-kde", PCAL_DATA,
                "weights, row 1: ce-kde counts pairs of copies of a row, so weights must be "
                "whole numbers; leave the metric or the weights out");
}

static void ce_kde_undefined(const given_data *data, const char *spec, const char *why) {
  pcal_results *results = given_results(data, spec);
  const pcal_result result = given_result(results, spec);
  assert_false(result.defined);
  assert_string_equal(result.why, why);
  pcal_results_free(results);
}

TEST(test_3_fewer_than_two_rows) {
  given_data data = ce_kde_two;
  data.rows = 1;
  ce_kde_undefined(&data, "ce-kde", "at least two rows are needed");
  data.weights = (const double[]){2};
  assert_near(given_value(&data, "ce-kde:bandwidth=0.1"), 0.5, 1e-15);
}

/* A zero shuts out every kernel that is not 0 there too. */
TEST(test_4_zeros) {
  given_data data = ce_kde_two;
  data.scores = (const double[]){1, 0, 0.5, 0.5};
  ce_kde_undefined(&data, "ce-kde:bandwidth=0.1",
                   "a row has a probability of exactly 0 where all others are positive, so "
                   "it has no neighbours");
  ce_kde_undefined(&data, "ce-kde",
                   "no bandwidth has a finite likelihood: a row has a probability of "
                   "exactly 0 where all others are positive");
  data.scores = (const double[]){1, 0, 1, 0};
  assert_near(given_value(&data, "ce-kde:bandwidth=0.1"), (2 + 0) / 2.0, 1e-15);
}

TEST(test_5_probabilities_below_zero) {
  given_data data = ce_kde_two;
  data.scores = (const double[]){1.000001, -0.000001, 1, 0};
  assert_near(given_value(&data, "ce-kde:bandwidth=0.1"), (1.000001 + 1.000001 + 0) / 2, 1e-12);
}

TEST(test_6_binary_scores) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.25, 0.5},
                           .labels = (const int32_t[]){0, 1}};
  assert_near(given_value(&data, "ce-kde:bandwidth=0.1"), 1.25, 1e-15);
}

/* Proposition 3.2 (Gruber & Buettner, D.3): the canonical error is sqrt(1 - 1/(n-1)) (1 - a),
 * while the error of the top label is 0. */
TEST(test_a_model_that_only_the_whole_vector_betrays) {
  for (size_t n = 3; n <= 10; n++) {
    double scores[2 * 10 * 10], weights[2 * 10];
    int32_t labels[2 * 10];
    for (size_t i = 0; i < 2 * n; i++) {
      for (size_t c = 0; c < n; c++)
        scores[i * n + c] = c == i / 2 ? 0.51 : 0.49 / (double)(n - 1);
      labels[i] = (int32_t)(i % 2 == 0 ? i / 2 : (i / 2 + n - 1) % n);
      weights[i] = i % 2 == 0 ? 51e6 : 49e6;
    }
    const given_data data = {.kind = PCAL_PROBABILITY,
                             .rows = 2 * n,
                             .columns = n,
                             .scores = scores,
                             .labels = labels,
                             .weights = weights};
    const double want = sqrt(1 - 1 / (double)(n - 1)) * 0.49;
    assert_near(given_value(&data, "ce-kde:p=2,bandwidth=0.001"), want, 1e-7);
    assert_true(fabs(given_value(&data, "ece")) < 1e-15);
    assert_true(fabs(given_value(&data, "ks")) < 1e-15);
  }
}

TEST(test_what_is_refused) {
  given_refused(&ce_kde_two, "ce-kde:bandwidth=0", PCAL_USAGE,
                "ce-kde: option bandwidth must be between");
  given_refused(&ce_kde_two, "ce-kde:bandwidth=best", PCAL_USAGE, "it takes a number or auto");
  given_refused(&ce_kde_two, "ce-kde:p=0.5", PCAL_USAGE, "ce-kde: option p must be between");
  const given_data confidences = {.kind = PCAL_CONFIDENCE,
                                  .rows = 1,
                                  .columns = 1,
                                  .scores = (const double[]){0.5},
                                  .labels = (const int32_t[]){0}};
  given_refused(&confidences, "ce-kde", PCAL_USAGE,
                "ce-kde needs the probabilities of all classes");
}

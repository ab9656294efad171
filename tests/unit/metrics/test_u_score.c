#include "../measure/measure_help.h"

#include "base/rng.h"

#define U_ROWS 240
#define U_CLASSES 3

static double u_scores[U_CLASSES * U_ROWS];
static int32_t u_labels[U_ROWS];

/* 20 predictions, each of about 12 rows, and labels that they do not explain. */
static given_data u_many(void) {
  const pc_rng rng = {8, 9};
  for (size_t i = 0; i < U_ROWS; i++) {
    const size_t cell = i * 7 % 20;
    const double u = pc_rng_uniform(&rng, 2 * cell), v = pc_rng_uniform(&rng, 2 * cell + 1);
    u_scores[3 * i] = u * v;
    u_scores[3 * i + 1] = u * (1 - v);
    u_scores[3 * i + 2] = 1 - u_scores[3 * i] - u_scores[3 * i + 1];
    u_labels[i] = (int32_t)(pc_rng_bits(&rng, 5000 + i) % 3);
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = U_ROWS,
                      .columns = U_CLASSES,
                      .scores = u_scores,
                      .labels = u_labels};
}

typedef struct u_kernel {
  int tv, gaussian;
  double scale;
} u_kernel;

static long double u_k(const u_kernel *kernel, const double *p, const double *q,
                       size_t classes) {
  long double square = 0, variation = 0;
  for (size_t c = 0; c < classes; c++) {
    square += ((long double)p[c] - q[c]) * ((long double)p[c] - q[c]);
    variation += fabsl((long double)p[c] - q[c]) / 2;
  }
  const long double d = (kernel->tv ? variation : sqrtl(square)) / kernel->scale;
  return expl(kernel->gaussian ? -d * d / 2 : -d);
}

/* Equation 58. */
static long double u_score(const u_kernel *kernel, const double *p, const double *q, int32_t y,
                           int32_t z, size_t classes) {
  long double inner = 0;
  for (size_t c = 0; c < classes; c++)
    inner += ((long double)p[c] - (y == (int32_t)c)) * ((long double)q[c] - (z == (int32_t)c));
  return u_k(kernel, p, q, classes) * inner;
}

static double u_mean_score(const u_kernel *kernel) {
  long double sum = 0;
  for (size_t i = 0; i < U_ROWS; i++)
    for (size_t j = 0; j < i; j++)
      sum += u_score(kernel, u_scores + 3 * i, u_scores + 3 * j, u_labels[i], u_labels[j], 3);
  return (double)(sum / (U_ROWS * (U_ROWS - 1) / 2));
}

/* p_i minus the class frequencies of the rows that have the prediction p_i. */
static void u_gap(size_t i, long double *gap) {
  long double count = 0, found[3] = {0, 0, 0};
  for (size_t j = 0; j < U_ROWS; j++)
    if (memcmp(u_scores + 3 * i, u_scores + 3 * j, 3 * sizeof(double)) == 0) {
      count += 1;
      found[u_labels[j]] += 1;
    }
  assert_true(count >= 12);
  for (size_t c = 0; c < 3; c++)
    gap[c] = u_scores[3 * i + c] - found[c] / count;
}

/* Equation 60, over all pairs of rows. */
static double u_mean_divergence(const u_kernel *kernel) {
  static long double gaps[3 * U_ROWS];
  long double sum = 0;
  for (size_t i = 0; i < U_ROWS; i++)
    u_gap(i, gaps + 3 * i);
  for (size_t i = 0; i < U_ROWS; i++)
    for (size_t j = 0; j < U_ROWS; j++) {
      long double inner = 0;
      for (size_t c = 0; c < 3; c++)
        inner += gaps[3 * i + c] * gaps[3 * j + c];
      sum += inner * u_k(kernel, u_scores + 3 * i, u_scores + 3 * j, 3);
    }
  return (double)(sum / U_ROWS / U_ROWS);
}

/* ---- the definitions, pair by pair ---- */

TEST(test_every_kernel) {
  static const double scales[] = {1, 0.25, 3};
  const given_data data = u_many();
  for (int kind = 0; kind < 9; kind++) {
    const u_kernel kernel = {kind / 3 == 1, kind / 3 == 2, scales[kind % 3]};
    const double score = u_mean_score(&kernel);
    char options[64], spec[128];
    snprintf(options, sizeof options, "kernel=%s,distance=%s,scale=%g",
             kernel.gaussian ? "gaussian" : "exponential", kernel.tv ? "tv" : "euclidean",
             kernel.scale);
    snprintf(spec, sizeof spec, "u-score:%s", options);
    assert_near(given_value(&data, spec), score, 1e-11);
    snprintf(spec, sizeof spec, "u-divergence:%s", options);
    assert_near(given_value(&data, spec), u_mean_divergence(&kernel), 1e-11);
    snprintf(spec, sizeof spec, "u-ce:%s", options);
    assert_near(given_value(&data, spec), score, 1e-11);
    snprintf(spec, sizeof spec, "u-ce:root=yes,%s", options);
    assert_near(given_value(&data, spec), sqrt(score), 1e-11);
    assert_true(score > 1e-3);
  }
}

TEST(test_1_and_3_estimators_of_skce) {
  const given_data data = u_many();
  static const char *const same[][2] = {
      {"u-score", "skce"},
      {"u-score:distance=tv,scale=median", "skce:distance=tv,scale=median"},
      {"u-divergence", "skce:estimator=biased"},
      {"u-divergence:kernel=gaussian,scale=0.3",
       "skce:estimator=biased,kernel=gaussian,scale=0.3"},
      {"u-ce:root=yes", "kce:estimator=unbiased"}};
  for (size_t i = 0; i < UNIT_COUNT(same); i++)
    assert_same(given_value(&data, same[i][0]), given_value(&data, same[i][1]));
}

/* ---- every sample of a law ---- */

#define U_LAW_ROWS 4

/* Two predictions of two classes, equally likely; class 1 comes true with these probabilities.
 */
static const double u_law_scores[2] = {0.3, 0.8};

/* Sums of the three metrics over all samples of U_LAW_ROWS rows, each with its probability. */
static void u_law_means(const double *truth, double *means) {
  static const char *const specs[] = {"u-score", "u-divergence", "u-ce"};
  memset(means, 0, 3 * sizeof *means);
  for (unsigned sample = 0; sample < 1u << (2 * U_LAW_ROWS); sample++) {
    double scores[U_LAW_ROWS], probability = 1;
    int32_t labels[U_LAW_ROWS];
    for (size_t i = 0; i < U_LAW_ROWS; i++) {
      const unsigned bits = sample >> (2 * i) & 3u;
      scores[i] = u_law_scores[bits & 1u];
      labels[i] = (int32_t)(bits >> 1);
      probability *= 0.5 * (labels[i] ? truth[bits & 1u] : 1 - truth[bits & 1u]);
    }
    const given_data data = {.kind = PCAL_PROBABILITY,
                             .rows = U_LAW_ROWS,
                             .columns = 1,
                             .scores = scores,
                             .labels = labels};
    for (size_t m = 0; m < 3 && probability > 0; m++)
      means[m] += probability * given_value(&data, specs[m]);
  }
}

/* CE_S, and the mean of |e_Y - f|^2. */
static double u_law_error(const double *truth, double *spread) {
  const double *f = u_law_scores, near = exp(-sqrt(2) * (f[1] - f[0]));
  const double gap[2] = {f[0] - truth[0], f[1] - truth[1]};
  *spread = 0;
  for (size_t i = 0; i < 2; i++)
    *spread += 0.5 * 2 * (truth[i] * (1 - f[i]) * (1 - f[i]) + (1 - truth[i]) * f[i] * f[i]);
  return 2 * (gap[0] * gap[0] + gap[1] * gap[1] + 2 * near * gap[0] * gap[1]) / 4;
}

TEST(test_1_to_3_means_over_all_samples) {
  static const double truths[][2] = {{0.3, 0.8}, {0.5, 0.6}, {0.1, 0.95}, {0.8, 0.3}};
  for (size_t t = 0; t < UNIT_COUNT(truths); t++) {
    double means[3], spread;
    const double error = u_law_error(truths[t], &spread);
    u_law_means(truths[t], means);
    assert_true(fabs(means[0] - error) < 1e-15);
    assert_near(means[1], error + (spread - error) / U_LAW_ROWS, 1e-14);
    assert_true(means[2] > means[0]);
    assert_true((error == 0) == (t == 0));
  }
}

/* ---- edge cases ---- */

static const given_data u_two = {
    .kind = PCAL_PROBABILITY,
    .rows = 2,
    .columns = 2,
    .scores = (const double[]){1, 0, 0, 1},
    .labels = (const int32_t[]){1, 0},
};

TEST(test_2_an_error_is_never_negative) {
  assert_near(given_value(&u_two, "u-score"), -2 * exp(-sqrt(2)), 1e-15);
  assert_same(given_value(&u_two, "u-ce"), 0.0);
  assert_same(given_value(&u_two, "u-ce:root=yes"), 0.0);
  assert_near(given_value(&u_two, "u-divergence"), 1 - exp(-sqrt(2)), 1e-15);
}

TEST(test_4_weights) {
  given_data data = u_two;
  data.weights = (const double[]){2, 1};
  assert_near(given_value(&data, "u-score"), (2 - 4 * exp(-sqrt(2))) / 3, 1e-15);
  data.weights = (const double[]){2.5, 0.5};
  const double want = (2.5 * 2.5 * 2 + 0.25 * 2 - 4 * 1.25 * exp(-sqrt(2))) / 9;
  assert_near(given_value(&data, "u-divergence"), want, 1e-15);
  given_refused(&data, "u-divergence:scale=median", PCAL_DATA, "whole numbers");
  given_refused(&data, "u-score", PCAL_DATA, "whole numbers");
  given_refused(&data, "u-ce", PCAL_DATA, "whole numbers");
}

TEST(test_5_and_6_undefined) {
  static const char few[] = "at least two rows are needed";
  static const char flat[] = "the median distance between rows is 0; give a number for scale";
  static const char *const specs[] = {"u-score:scale=median", "u-divergence:scale=median",
                                      "u-ce:scale=median"};
  given_data data = u_two;
  for (size_t i = 0; i < 2 * UNIT_COUNT(specs); i++) {
    data.rows = i < 3 ? 1 : 2;
    data.weights = i < 3 ? NULL : (const double[]){9, 1};
    pcal_results *results = given_results(&data, specs[i % 3]);
    const pcal_result result = given_result(results, specs[i % 3]);
    assert_false(result.defined);
    assert_string_equal(result.why, i < 3 ? few : flat);
    pcal_results_free(results);
  }
  data.rows = 1;
  data.weights = NULL;
  assert_near(given_value(&data, "u-divergence"), 2.0, 1e-15);
}

TEST(test_7_kernels_that_are_not_positive_definite) {
  const given_data data = u_many();
  static const char *const names[] = {"u-score", "u-divergence", "u-ce"};
  for (size_t i = 0; i < UNIT_COUNT(names); i++) {
    char spec[64], sentence[256];
    snprintf(spec, sizeof spec, "%s:kernel=gaussian,distance=tv", names[i]);
    snprintf(sentence, sizeof sentence,
             "%s: kernel=gaussian with distance=tv is not positive definite for more than "
             "two classes, so its score is not proper; change one of them",
             names[i]);
    given_refused(&data, spec, PCAL_USAGE, sentence);
  }
  assert_near(given_value(&u_two, "u-score:kernel=gaussian,distance=tv"), -2 * exp(-0.5),
              1e-15);
}

TEST(test_8_one_column) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.75, 0.25},
                           .labels = (const int32_t[]){0, 0}};
  assert_near(given_value(&data, "u-score"), exp(-sqrt(0.5)) * 2 * 0.75 * 0.25, 1e-15);
}

#include "../measure/measure_help.h"
#include "base/rng.h"

#define PREDICTIONS 6
#define CLASSES 3
#define ROWS 300

/* A few distinct predictions, each made many times: the sample is a distribution in which
 * P(Y | prediction) is known, and the theorem holds exactly. */
typedef struct finite_sample {
  double prediction[PREDICTIONS][CLASSES];
  double count[PREDICTIONS][CLASSES];
  double scores[ROWS * CLASSES];
  int32_t labels[ROWS];
} finite_sample;

static void finite_make(finite_sample *sample, uint64_t seed) {
  const pc_rng rng = {seed, 1};
  *sample = (finite_sample){.labels = {0}};
  for (size_t p = 0; p < PREDICTIONS; p++) {
    double sum = 0;
    for (size_t c = 0; c < CLASSES; c++)
      sum += sample->prediction[p][c] = 0.01 + pc_rng_uniform(&rng, p * CLASSES + c);
    for (size_t c = 0; c < CLASSES; c++)
      sample->prediction[p][c] /= sum;
  }
  for (size_t i = 0; i < ROWS; i++) {
    const size_t p = pc_rng_bits(&rng, 1000 + i) % PREDICTIONS;
    const double draw = pc_rng_uniform(&rng, 2000 + i);
    const int32_t label = draw < 0.7 ? (int32_t)(p % CLASSES) : draw < 0.9 ? 1 : 2;
    sample->labels[i] = label;
    sample->count[p][label]++;
    for (size_t c = 0; c < CLASSES; c++)
      sample->scores[i * CLASSES + c] = sample->prediction[p][c];
  }
}

static given_data finite_data(const finite_sample *sample) {
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = ROWS,
                      .columns = CLASSES,
                      .scores = sample->scores,
                      .labels = sample->labels};
}

/* The mean score of prediction f for outcomes from q. */
typedef double (*finite_score)(const double *f, const double *q);

static double finite_brier(const double *f, const double *q) {
  double sum = 1;
  for (size_t c = 0; c < CLASSES; c++)
    sum += f[c] * f[c] - 2 * f[c] * q[c];
  return sum;
}

static double finite_log(const double *f, const double *q) {
  double sum = 0;
  for (size_t c = 0; c < CLASSES; c++)
    sum -= q[c] > 0 ? q[c] * log(f[c]) : 0;
  return sum;
}

static double finite_spherical(const double *f, const double *q) {
  double product = 0, square = 0;
  for (size_t c = 0; c < CLASSES; c++) {
    product += f[c] * q[c];
    square += f[c] * f[c];
  }
  return -product / sqrt(square);
}

/* E d(f, P(Y|f)) and E g(P(Y|f)). */
static void finite_truth(const finite_sample *sample, finite_score score, double *calibration,
                         double *entropy) {
  *calibration = *entropy = 0;
  for (size_t p = 0; p < PREDICTIONS; p++) {
    double q[CLASSES], n = 0;
    for (size_t c = 0; c < CLASSES; c++)
      n += sample->count[p][c];
    for (size_t c = 0; c < CLASSES; c++)
      q[c] = sample->count[p][c] / n;
    *entropy += n / ROWS * score(q, q);
    *calibration += n / ROWS * (score(sample->prediction[p], q) - score(q, q));
  }
}

/* U_S = calibration error + (entropy given the prediction - its infimum) >= calibration error.
 */
TEST(test_bounds_the_calibration_error) {
  static const struct {
    const char *spec;
    finite_score score;
    double infimum;
  } cases[] = {{"upper-bound", finite_brier, 0},
               {"upper-bound:score=log", finite_log, 0},
               {"upper-bound:score=spherical", finite_spherical, -1}};
  for (uint64_t seed = 0; seed < 20; seed++) {
    finite_sample sample;
    finite_make(&sample, seed);
    const given_data data = finite_data(&sample);
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
      double calibration, entropy;
      finite_truth(&sample, cases[i].score, &calibration, &entropy);
      const double bound = given_value(&data, cases[i].spec);
      assert_near(bound, calibration + entropy - cases[i].infimum, 1e-13);
      assert_true(bound >= calibration && calibration > 0);
    }
  }
}

/* The bound is reached: labels that the prediction determines, but does not know. */
TEST(test_bound_is_reached) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 2,
                           .scores = (const double[]){0.75, 0.25, 0.75, 0.25},
                           .labels = (const int32_t[]){1, 1}};
  assert_same(given_value(&data, "upper-bound"), 2 * 0.75 * 0.75);
  assert_near(given_value(&data, "upper-bound:score=log"), log(4.0), 1e-15);
  assert_near(given_value(&data, "upper-bound:score=spherical"), 1 - 0.25 / sqrt(0.625), 1e-15);
}

TEST(test_1_is_the_score) {
  finite_sample sample;
  finite_make(&sample, 77);
  const given_data data = finite_data(&sample);
  assert_same(given_value(&data, "upper-bound:score=brier"), given_value(&data, "brier"));
  assert_same(given_value(&data, "upper-bound:score=log"), given_value(&data, "log"));
  assert_near(given_value(&data, "upper-bound:score=spherical"),
              1 + given_value(&data, "spherical"), 1e-15);
  /* the root bounds every error of the hierarchy that a sample has */
  assert_same(sqrt(given_value(&data, "upper-bound")), given_value(&data, "rbs"));
  assert_true(given_value(&data, "rbs") >= given_value(&data, "ece:norm=l2,bins=1000"));
}

TEST(test_2_infinite_log) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 3,
                           .columns = 2,
                           .scores = (const double[]){0.5, 0.5, 1, 0, 1, 0},
                           .labels = (const int32_t[]){0, 0, 1}};
  pcal_results *results = given_results(&data, "upper-bound:score=log");
  const pcal_result result = given_result(results, "upper-bound:score=log");
  assert_true(isinf(result.value));
  assert_contains(result.why, "row 2 gives its true class probability 0");
  pcal_results_free(results);
}

TEST(test_what_it_says_of_itself) {
  finite_sample sample;
  finite_make(&sample, 1);
  const given_data data = finite_data(&sample);
  pcal_results *results = given_results(&data, "upper-bound");
  const pcal_result result = given_result(results, "upper-bound");
  assert_string_equal(result.spec, "upper-bound:score=brier");
  assert_int_equal(result.notion, PCAL_NOTION_PROPER);
  assert_int_equal(result.bound, PCAL_BOUND_UPPER);
  pcal_results_free(results);
  given_refused(&data, "upper-bound:score=dss", PCAL_USAGE,
                "score is one of brier|log|spherical");
}

/* Intervals of errors near zero and far from it. */
#include "measure_help.h"

#include <math.h>

#include "base/rng.h"
#include "emulated.h"
#include "measure/replicas/replicas.h"
#include "measure/results.h"
#include "metrics/metric.h"

#define INVERSION_ROWS 200
#define INVERSION_CLASSES 4
#define INVERSION_SETS 30

typedef struct inversion_case {
  double probs[INVERSION_ROWS * INVERSION_CLASSES];
  int32_t labels[INVERSION_ROWS];
} inversion_case;

static int32_t inversion_label(const double *truth, double uniform) {
  int32_t k = 0;
  for (double sum = truth[0]; k < INVERSION_CLASSES - 1 && uniform >= sum; sum += truth[k])
    k++;
  return k;
}

/* Labels from the softmax of the logits; predictions from `factor` times the logits. */
static given_data inversion_data(inversion_case *at, uint64_t set, double factor) {
  const pc_rng normals = {set, 1}, uniforms = {set, 2};
  for (size_t i = 0; i < INVERSION_ROWS; i++) {
    double *p = at->probs + i * INVERSION_CLASSES, truth[INVERSION_CLASSES];
    double sum = 0.0, total = 0.0;
    for (size_t k = 0; k < INVERSION_CLASSES; k++) {
      const double z = 2.0 * pc_rng_normal(&normals, i * INVERSION_CLASSES + k);
      sum += p[k] = exp(factor * z);
      total += truth[k] = exp(z);
    }
    for (size_t k = 0; k < INVERSION_CLASSES; k++) {
      p[k] /= sum;
      truth[k] /= total;
    }
    at->labels[i] = inversion_label(truth, pc_rng_uniform(&uniforms, i));
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = INVERSION_ROWS,
                      .columns = INVERSION_CLASSES,
                      .scores = at->probs,
                      .labels = at->labels,
                      .normalize = 1};
}

static const char *const inversion_specs[] = {"ece",
                                              "mce",
                                              "ks",
                                              "smece",
                                              "sce",
                                              "cwce",
                                              "ace",
                                              "rmsce",
                                              "tce:binning=mass",
                                              "tce:binning=mass,debias=yes",
                                              "cwce:debias=yes",
                                              "tace"};

static pcal_results *inversion_measure_specs(const given_data *data, const char *const *specs,
                                             size_t count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const pcal_batch batch = given_batch(data);
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = specs;
  config.spec_count = count;
  config.interval = 0.95;
  config.replicas = 200;
  config.normalize = data->normalize;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

static pcal_results *inversion_measure(const given_data *data) {
  return inversion_measure_specs(data, inversion_specs, UNIT_COUNT(inversion_specs));
}

/* How many of the sets have intervals that reach 0, metric by metric; each interval holds its
 * own estimate, lies in the metric's range and comes without a remark. */
static void inversion_count(double factor, size_t *zeros) {
  static inversion_case at;
  for (size_t m = 0; m < UNIT_COUNT(inversion_specs); m++)
    zeros[m] = 0;
  for (uint64_t set = 0; set < INVERSION_SETS; set++) {
    const given_data data = inversion_data(&at, set, factor);
    pcal_results *results = inversion_measure(&data);
    for (size_t m = 0; m < UNIT_COUNT(inversion_specs); m++) {
      const pc_result_record *record = &results->records[m];
      const pc_interval_result *interval_result = &record->interval_result;
      assert_true(interval_result->has_interval);
      assert_string_equal(interval_result->why, "");
      assert_true(interval_result->low <= record->outcome.value &&
                  record->outcome.value <= interval_result->high);
      assert_true(interval_result->low >= 0.0 && interval_result->high <= sqrt(2.0));
      zeros[m] += interval_result->low == 0.0;
    }
    pcal_results_free(results);
  }
}

/* A calibrated model has the error 0: 95 % of 30 intervals hold it, and at least 25 in all but
 * one of a thousand such tests. */
TEST(test_calibrated) {
  skip_if_emulated();
  size_t zeros[UNIT_COUNT(inversion_specs)];
  inversion_count(1.0, zeros);
  for (size_t m = 0; m < UNIT_COUNT(inversion_specs); m++)
    if (zeros[m] < 25)
      fail_msg("%s: %zu of %d", inversion_specs[m], zeros[m], INVERSION_SETS);
}

/* Edge case 3: a calibrated model that is wrong in about 18 of 4,000 rows.  By replicas alone smece
 * excludes 0 too often. */
TEST(test_calibrated_with_few_wrong_rows) {
  skip_if_emulated();
  enum { ROWS = 4000, SETS = 40 };
  static const char *const specs[] = {"smece", "ece", "ks"};
  static double scores[ROWS];
  static int32_t hits[ROWS];
  size_t zeros[UNIT_COUNT(specs)] = {0};
  for (uint64_t set = 0; set < SETS; set++) {
    const pc_rng normals = {set, 5}, uniforms = {set, 6};
    for (size_t i = 0; i < ROWS; i++) {
      scores[i] = 1.0 / (1.0 + exp(-120.0 * fabs(pc_rng_normal(&normals, i))));
      hits[i] = pc_rng_uniform(&uniforms, i) < scores[i];
    }
    const given_data data = {
        .kind = PCAL_CONFIDENCE, .rows = ROWS, .columns = 1, .scores = scores, .labels = hits};
    pcal_results *results = inversion_measure_specs(&data, specs, UNIT_COUNT(specs));
    for (size_t m = 0; m < UNIT_COUNT(specs); m++)
      zeros[m] += results->records[m].interval_result.low == 0.0;
    pcal_results_free(results);
  }
  for (size_t m = 0; m < UNIT_COUNT(specs); m++)
    if (zeros[m] < 36)
      fail_msg("%s: %zu of %d", specs[m], zeros[m], SETS);
}

/* An error far above chance is seen. */
TEST(test_over_confident) {
  skip_if_emulated();
  size_t zeros[UNIT_COUNT(inversion_specs)];
  inversion_count(4.0, zeros);
  assert_true(zeros[0] < 4);
  assert_true(zeros[2] < 4);
  assert_true(zeros[3] < 4);
}

/* Top scores of 200 rows in one bin: p = 0.9, 150 hits.  The square of the gap is 0.0225, less
 * chance 0.75 * 0.25 / 199; the variance of an outcome is that of 150.5 / 201, that of the square
 * 2 v^2 / (200 * 199) + 1.1 * 4 v / 200 times the square. */
TEST(test_root_mean_square) {
  static double probs[INVERSION_ROWS * 2];
  static int32_t labels[INVERSION_ROWS];
  for (size_t i = 0; i < INVERSION_ROWS; i++) {
    probs[2 * i] = 0.1;
    probs[2 * i + 1] = 0.9;
    labels[i] = i % 4 != 0;
  }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = INVERSION_ROWS,
                           .columns = 2,
                           .scores = probs,
                           .labels = labels};
  pcal_results *results = inversion_measure(&data);
  const pc_interval_result *found = &results->records[8].interval_result; /* tce:binning=mass */
  const double z = 1.959963984540054, square = 0.0225 - 0.75 * 0.25 / 199;
  const double f = 150.5 / 201, v = f * (1 - f), noise = 2 * v * v / (200.0 * 199);
  const double middle = square + 0.5 * z * z * 1.1 * 4 * v / 200;
  const double along = middle * middle - square * square;
  assert_near(found->high, sqrt(middle + sqrt(along + z * z * noise)), 1e-9);
  /* the mean of signed gaps is at least 0.15 - z se, the larger low end */
  assert_true(found->low >= sqrt(middle - sqrt(along + 2.25 * z * z * noise)) - 1e-9);
  assert_true(found->low < 0.15);
  pcal_results_free(results);
}

/* ---- many classes, some rows in each bin ---- */

#define MANY_CLASSES 100
#define MANY_ROWS 1000
#define MANY_POPULATION 20000
#define MANY_SETS 4
#define MANY_BINS 15

#define MANY_UNDER 0.4 /* logits of the prediction, as a multiple of those of the truth */

/* Predictions and truth of row i. */
static void many_row(uint64_t seed, size_t i, double factor, double *probs, double *truth) {
  const pc_rng normals = {seed, 3};
  double sum = 0.0, total = 0.0;
  for (size_t k = 0; k < MANY_CLASSES; k++) {
    const double z = 12.0 * pc_rng_normal(&normals, i * MANY_CLASSES + k);
    sum += probs[k] = exp(factor * z);
    total += truth[k] = exp(z);
  }
  for (size_t k = 0; k < MANY_CLASSES; k++) {
    probs[k] /= sum;
    truth[k] /= total;
  }
}

/* The sce of the population: gaps of scores and true probabilities, bin by bin. */
static double many_truth(void) {
  static double gap[MANY_CLASSES][MANY_BINS];
  double probs[MANY_CLASSES], truth[MANY_CLASSES], error = 0.0;
  for (size_t i = 0; i < MANY_POPULATION; i++) {
    many_row(99, i, MANY_UNDER, probs, truth);
    for (size_t k = 0; k < MANY_CLASSES; k++)
      gap[k][(size_t)fmin(probs[k] * MANY_BINS, MANY_BINS - 1)] += probs[k] - truth[k];
  }
  for (size_t c = 0; c < MANY_CLASSES * MANY_BINS; c++)
    error += fabs(gap[c / MANY_BINS][c % MANY_BINS]);
  return error / MANY_CLASSES / MANY_POPULATION;
}

static pcal_results *many_measure(uint64_t set, double factor) {
  static double probs[MANY_ROWS * MANY_CLASSES];
  static int32_t labels[MANY_ROWS];
  const pc_rng uniforms = {set, 4};
  for (size_t i = 0; i < MANY_ROWS; i++) {
    double truth[MANY_CLASSES], left = pc_rng_uniform(&uniforms, i);
    many_row(set, i, factor, probs + i * MANY_CLASSES, truth);
    labels[i] = 0;
    while (labels[i] < MANY_CLASSES - 1 && left >= truth[labels[i]])
      left -= truth[labels[i]++];
  }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = MANY_ROWS,
                           .columns = MANY_CLASSES,
                           .scores = probs,
                           .labels = labels,
                           .normalize = 1};
  return inversion_measure(&data);
}

/* Chance makes the error of an under-confident model half as large again.  Gaps and chance
 * are in different bins, so that their squares do not add up. */
TEST(test_many_classes) {
  skip_if_emulated();
  const double truth = many_truth();
  size_t holds = 0;
  for (uint64_t set = 0; set < MANY_SETS; set++) {
    pcal_results *results = many_measure(set, MANY_UNDER);
    const pcal_result sce = given_result(results, "sce");
    assert_true(sce.value > 1.2 * truth);
    holds += sce.low <= truth && truth <= sce.high;
    pcal_results_free(results);
  }
  assert_true(holds >= MANY_SETS - 1);
}

/* Edge case 9: outcomes of an over-confident model vary more than it claims.  That is its error, not
 * chance: the low ends of both estimates of the same error agree. */
TEST(test_over_confident_classes) {
  pcal_results *results = many_measure(0, 5.0);
  const pcal_result plain = given_result(results, "cwce");
  const pcal_result debiased = given_result(results, "cwce:debias=yes");
  assert_true(debiased.low > 0.05);
  assert_true(plain.low > 0.9 * debiased.low);
  pcal_results_free(results);
}

/* Gap points without noise have the errors that they are made for. */
static void inversion_points(const char *spec, const double *expected) {
  static inversion_case at;
  static const pc_gap_point points[] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {0, 0, 0.03}};
  const given_data data = inversion_data(&at, 1, 2.0);
  const pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {
      .form = PC_FORM_CLASSES, .kind = PCAL_CONFIDENCE, .columns = 1, .classes = 2};
  const pc_interval_request intervals = {.level = 0.95, .replicas = 20};
  static uint64_t ids[INVERSION_ROWS];
  static int32_t hits[INVERSION_ROWS];
  static double weights[INVERSION_ROWS], copies[INVERSION_ROWS], score[INVERSION_ROWS];
  const uint8_t chosen[] = {1};
  double values[UNIT_COUNT(points)];
  pc_measure_plan plan;
  pcal_error err;
  for (size_t i = 0; i < INVERSION_ROWS; i++) {
    ids[i] = i;
    weights[i] = 1.0;
    copies[i] = 1.0 + (double)(i % 3);
    score[i] = data.scores[i * INVERSION_CLASSES];
    hits[i] = data.labels[i] == 0;
  }
  const pc_kept_rows rows = {.count = INVERSION_ROWS,
                             .classes = 2,
                             .ids = ids,
                             .labels = hits,
                             .weights = weights,
                             .copies = copies,
                             .score = score};
  assert_int_equal(pc_measure_plan_new(&env, &layout, &intervals, &spec, 1, &plan, &err),
                   PCAL_OK);
  const pc_replica_request request = {.plan = &plan,
                                      .entries = chosen,
                                      .rows = &rows,
                                      .kind = PC_REPLICA_WEIGHTS,
                                      .count = 1,
                                      .points = points,
                                      .point_count = UNIT_COUNT(points)};
  assert_true(pc_replica_has_points(&plan, 0, &rows));
  assert_int_equal(pc_replicas_measure(&env, &request, values, &err), PCAL_OK);
  assert_near(values[0], 0.0, 1e-12);
  assert_near(values[2], 0.5 * values[1], 1e-12);
  assert_near(values[3], 0.03, 1e-12);
  assert_near(values[1], expected[0], 1e-12);
  pc_measure_plan_free(&env, &plan);
}

/* The norms of the same rows, computed here. */
TEST(test_points) {
  static inversion_case at;
  double gap[15] = {0.0}, ece = 0.0, ks = 0.0, total = 0.0;
  size_t order[INVERSION_ROWS];
  inversion_data(&at, 1, 2.0);
  for (size_t i = 0; i < INVERSION_ROWS; i++) {
    size_t place = i;
    for (; place > 0 &&
           at.probs[order[place - 1] * INVERSION_CLASSES] > at.probs[i * INVERSION_CLASSES];
         place--)
      order[place] = order[place - 1];
    order[place] = i;
  }
  double sum = 0.0;
  for (size_t r = 0; r < INVERSION_ROWS; r++) {
    const size_t i = order[r];
    const double p = at.probs[i * INVERSION_CLASSES], w = 1.0 + (double)(i % 3);
    const double g = w * (p - (at.labels[i] == 0 ? 1.0 : 0.0));
    const double bin = ceil(p * 15.0) - 1.0;
    gap[bin < 0 ? 0 : (size_t)bin] += g;
    total += w;
    sum += g;
    ks = fmax(ks, fabs(sum));
  }
  for (size_t b = 0; b < 15; b++)
    ece += fabs(gap[b]);
  inversion_points("ece", (const double[]){ece / total});
  inversion_points("ks", (const double[]){ks / total});
}

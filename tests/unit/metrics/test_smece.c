#include "../measure/measure_help.h"

#include "base/rng.h"
#include "emulated.h"
#include "io/source.h"
#include "measure/refine_curves.h"

static given_data smece_confidences(size_t rows, const double *scores, const int32_t *labels) {
  return (given_data){
      .kind = PCAL_CONFIDENCE, .rows = rows, .columns = 1, .scores = scores, .labels = labels};
}

/* ---- closed forms ---- */

TEST(test_2_one_row) {
  static const double scores[] = {0.3, 0.0, 1.0, 0.5, 1 - 1e-12};
  for (size_t i = 0; i < UNIT_COUNT(scores); i++)
    for (int32_t hit = 0; hit < 2; hit++) {
      const given_data data = smece_confidences(1, &scores[i], &hit);
      assert_near(given_value(&data, "smece") + 1, fabs(scores[i] - hit) + 1, 1e-15);
    }
}

TEST(test_2_one_sign) {
  const given_data data =
      smece_confidences(4, (const double[]){0.1, 0.2, 0.2, 0.9}, (const int32_t[]){0, 0, 0, 0});
  pcal_results *results = given_results(&data, "smece");
  const pcal_result result = given_result(results, "smece");
  assert_near(result.value, 0.35, 1e-15);
  assert_same(given_part(&result, "sigma"), result.value);
  assert_near(given_part(&result, "signed"), 0.35, 1e-15);
  assert_int_equal(result.notion, PCAL_NOTION_TOP_LABEL);
  assert_int_equal(result.bound, PCAL_BOUND_LOWER);
  pcal_results_free(results);
}

TEST(test_1_nothing_left_over) {
  const given_data ties =
      smece_confidences(6, (const double[]){0.5, 0.5, 0.25, 0.25, 0.25, 0.25},
                        (const int32_t[]){0, 1, 0, 0, 0, 1});
  assert_same(given_value(&ties, "smece"), 0.0);
  const given_data sure =
      smece_confidences(2, (const double[]){0.0, 1.0}, (const int32_t[]){0, 1});
  assert_same(given_value(&sure, "smece"), 0.0);
}

/* Two rows at 1/2 - d and 1/2 + d with residuals -r and r: f is odd about 1/2, and its integral
 * over the upper half is r times what the two kernels leave there. */
static double smece_two(double d, double r, double sigma) {
  double kept = 0.0;
  for (int k = -20; k <= 20; k++) {
    const double at[] = {0.5 + d + 2 * k, -(0.5 + d) + 2 * k};
    const double other[] = {0.5 - d + 2 * k, -(0.5 - d) + 2 * k};
    for (int i = 0; i < 2; i++) {
      const double scale = sigma * sqrt(2);
      kept += erf((1 - at[i]) / scale) - erf((0.5 - at[i]) / scale);
      kept -= erf((1 - other[i]) / scale) - erf((0.5 - other[i]) / scale);
    }
  }
  return r * kept / 2;
}

TEST(test_two_rows) {
  static const double away[] = {0.01, 0.05, 0.125, 0.25, 0.45, 0.5};
  for (size_t i = 0; i < UNIT_COUNT(away); i++) {
    const double d = away[i], scores[] = {0.5 - d, 0.5 + d};
    const int32_t hits[] = {1, 0};
    const given_data data = smece_confidences(2, scores, hits);
    double low = 0.0, high = 1.0;
    for (int step = 0; step < 100; step++) {
      const double middle = (low + high) / 2;
      if (smece_two(d, 0.5 + d, middle) > middle)
        low = middle;
      else
        high = middle;
    }
    const double value = given_value(&data, "smece");
    if (fabs(value - low) > 3e-7)
      fail_msg("at %g: %.12g, not %.12g", d, value, low);
  }
}

/* ---- against the slow way ---- */

/* |f| by the midpoint rule with all mirror images. */
static double smece_slow(size_t rows, const double *scores, const int32_t *hits, double sigma,
                         size_t points) {
  double sum = 0.0;
  for (size_t p = 0; p < points; p++) {
    const double t = ((double)p + 0.5) / (double)points;
    double f = 0.0;
    for (size_t i = 0; i < rows; i++)
      for (int k = -1; k <= 1; k++) {
        const double near = (t - scores[i] + 2 * k) / sigma,
                     far = (t + scores[i] + 2 * k) / sigma;
        f += (scores[i] - hits[i]) * (exp(-near * near / 2) + exp(-far * far / 2));
      }
    sum += fabs(f);
  }
  return sum / (double)points / (double)rows / (sigma * sqrt(2 * acos(-1.0)));
}

/* smECE is the one s at which smECE_s = s: at the value found the two agree. */
TEST(test_is_a_fixed_point) {
  enum { ROWS = 60 };
  for (uint64_t stream = 0; stream < 8; stream += emulated() ? 7 : 1) {
    const pc_rng rng = {8, stream};
    double scores[ROWS];
    int32_t hits[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
      const double u = pc_rng_uniform(&rng, i);
      scores[i] = stream % 4 == 3 ? floor(u * 5) / 4 : stream % 2 == 1 ? u * u : u;
      hits[i] = pc_rng_uniform(&rng, ROWS + i) < (stream < 4 ? scores[i] : 0.5);
    }
    const given_data data = smece_confidences(ROWS, scores, hits);
    const double value = given_value(&data, "smece");
    const double slow = smece_slow(ROWS, scores, hits, value, 40000);
    if (fabs(slow - value) > 4e-7)
      fail_msg("stream %d: smECE_s is %.12g at s = %.12g", (int)stream, slow, value);
  }
}

/* ---- small values ---- */

/* Residuals of 2^-19 and -2^-19 far apart do not see each other: the value is their mean size.
 */
TEST(test_tiny_values) {
  const double r = 0x1p-19;
  const given_data data =
      smece_confidences(4, (const double[]){r, 1 - r, 0.5, 0.5}, (const int32_t[]){0, 1, 0, 1});
  assert_near(given_value(&data, "smece"), r / 2, 1e-6);
}

/* Signs that alternate more finely than 2^-20: the value lies below, and says at least where.
 */
TEST(test_4_below_the_least_width) {
  enum { ROWS = 64 };
  double scores[ROWS];
  int32_t hits[ROWS];
  for (size_t i = 0; i < ROWS; i++) {
    scores[i] = 0.5 + 0x1p-52 * (double)i;
    hits[i] = (int32_t)(i % 2);
  }
  const given_data data = smece_confidences(ROWS, scores, hits);
  const double value = given_value(&data, "smece");
  assert_true(value >= 0 && value <= 0x1p-20);
}

/* ---- many rows ---- */

#define MANY fewer_if_emulated(200000, 70000)
#define MOST 200000

/* From 2^16 rows on scores are joined; the same rows fewer times are not, and the value does
 * not change when every row is there twice.  A calibrated model needs finer cells than a wrong
 * one. */
TEST(test_joined_scores_change_little) {
  static double scores[MOST], weights[MOST];
  static int32_t hits[MOST];
  const pc_rng rng = {9, 9};
  for (int wrong = emulated() ? 1 : 0; wrong < 2; wrong++) {
    for (size_t i = 0; i < MANY; i++) {
      scores[i] = pc_rng_uniform(&rng, i);
      hits[i] = pc_rng_uniform(&rng, MANY + i) < (wrong ? scores[i] * scores[i] : scores[i]);
      weights[i] = 1.0 / 1024;
    }
    given_data data = smece_confidences(MANY, scores, hits);
    const double joined = given_value(&data, "smece");
    data.weights = weights; /* the total is below 2^16 */
    assert_true(fabs(given_value(&data, "smece") - joined) < 1e-6);
    for (size_t i = 0; i < MANY; i++)
      weights[i] = 2.0;
    assert_near(given_value(&data, "smece"), joined, 1e-12);
  }
}

#define READ_AGAIN 100000

/* The value of a source that is read again where it must be, without keeping scores. */
static double smece_read_again(const given_data *data) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_batch batch = given_batch(data);
  pcal_measure *measure = NULL;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  assert_int_equal(given_new(data, "smece", &env, &measure, NULL), PCAL_OK);
  pc_measure_plan_use_buckets(&measure->plan, 1, 1, 1, 1);
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pc_measure_refine_curves(measure, source, 30000, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  const double value = given_result(results, "smece").value;
  pcal_results_free(results);
  pcal_source_free(source);
  pcal_measure_free(measure);
  return value;
}

/* The same bits as with all scores kept: too wrong for more than one reading, calibrated, a few
 * scores only, all of it in a few cells, and without error. */
TEST(test_reading_again_gives_the_same) {
  static double scores[READ_AGAIN];
  static int32_t hits[READ_AGAIN];
  const pc_rng rng = {10, 10};
  for (int kind = 0; kind < 5; kind += emulated() ? 3 : 1) {
    for (size_t i = 0; i < READ_AGAIN; i++) {
      const double u = pc_rng_uniform(&rng, i), v = pc_rng_uniform(&rng, READ_AGAIN + i);
      scores[i] = kind == 2   ? floor(u * 21) / 20
                  : kind == 3 ? 0.9 + 1e-4 * u
                  : kind == 4 ? 0.5
                              : u;
      hits[i] = kind == 4 ? (int32_t)(i % 2) : v < (kind == 0 ? u * u : scores[i]);
    }
    const given_data data = smece_confidences(READ_AGAIN, scores, hits);
    assert_same(smece_read_again(&data), given_value(&data, "smece"));
  }
}

/* ---- views, weights, memory ---- */

TEST(test_views) {
  const given_data binary = {.kind = PCAL_PROBABILITY,
                             .rows = 2,
                             .columns = 1,
                             .scores = (const double[]){0.25, 0.25},
                             .labels = (const int32_t[]){0, 0}};
  assert_near(given_value(&binary, "smece"), 0.25, 1e-15);
  assert_near(given_value(&binary, "smece:view=top"), 0.25, 1e-15);
  pcal_results *results = given_results(&binary, "smece smece:view=top");
  assert_string_equal(given_result(results, "smece").spec, "smece:view=positive");
  const pcal_result top = given_result(results, "smece:view=top");
  assert_near(given_part(&top, "signed"), -0.25, 1e-15);
  pcal_results_free(results);
  const given_data three = {.kind = PCAL_PROBABILITY,
                            .rows = 1,
                            .columns = 3,
                            .scores = (const double[]){0.2, 0.5, 0.3},
                            .labels = (const int32_t[]){0}};
  assert_near(given_value(&three, "smece"), 0.5, 1e-15);
  given_refused(&three, "smece:view=positive", PCAL_USAGE, "view=positive needs two classes");
}

static pcal_status smece_run(const pcal_env *env, void *user, pcal_error *err) {
  const given_data *data = user;
  const pcal_batch batch = given_batch(data);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_status status = given_new(data, "smece", env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

TEST(test_memory_may_run_out) {
  given_data data =
      smece_confidences(3, (const double[]){0.1, 0.5, 0.9}, (const int32_t[]){1, 0, 0});
  data.weights = (const double[]){1e6, 1e6, 1e6}; /* joined, at several levels */
  unit_fail_each_allocation(smece_run, &data);
}

#include "../measure/measure_help.h"

#include "base/rng.h"
#include "emulated.h"

#define MMCE_ROWS 500

static given_data mmce_confidences(size_t rows, const double *scores, const int32_t *labels) {
  return (given_data){
      .kind = PCAL_CONFIDENCE, .rows = rows, .columns = 1, .scores = scores, .labels = labels};
}

static double mmce_squared(const given_data *data, const char *spec) {
  pcal_results *results = given_results(data, spec);
  const pcal_result result = given_result(results, spec);
  const double squared = given_part(&result, "squared");
  assert_near(result.value, sqrt(fmax(squared, 0.0)), 1e-15);
  pcal_results_free(results);
  return squared;
}

/* ---- closed forms ---- */

TEST(test_3_one_row) {
  const given_data data = mmce_confidences(1, (const double[]){0.3}, (const int32_t[]){1});
  assert_near(given_value(&data, "mmce"), 0.7, 1e-15);
  pcal_results *results = given_results(&data, "mmce:estimator=u");
  const pcal_result result = given_result(results, "mmce:estimator=u");
  assert_false(result.defined);
  assert_string_equal(result.why, "at least two rows are needed");
  pcal_results_free(results);
}

TEST(test_two_rows) {
  const given_data data =
      mmce_confidences(2, (const double[]){0.2, 0.6}, (const int32_t[]){1, 0});
  const double k = exp(-1.0), a = -0.8, b = 0.6;
  assert_near(mmce_squared(&data, "mmce"), (a * a + b * b + 2 * a * b * k) / 4, 1e-14);
  assert_near(mmce_squared(&data, "mmce:width=0.1"),
              (a * a + b * b + 2 * a * b * exp(-4.0)) / 4, 1e-14);
  assert_near(mmce_squared(&data, "mmce:estimator=u"), a * b * k, 1e-14);
  assert_same(given_value(&data, "mmce:estimator=u"), 0.0); /* 1: the root of nothing less */
}

/* 1: a sum that is 0 but for rounding is not NaN. */
TEST(test_1_residuals_that_cancel) {
  const given_data data = mmce_confidences(6, (const double[]){0.1, 0.1, 0.3, 0.3, 0.7, 0.7},
                                           (const int32_t[]){0, 0, 1, 0, 1, 1});
  given_data weighted = data;
  weighted.weights = (const double[]){9, 0, 3, 7, 7, 0};
  const double value = given_value(&weighted, "mmce");
  assert_true(value >= 0 && value < 1);
  const given_data exact =
      mmce_confidences(2, (const double[]){0.5, 0.5}, (const int32_t[]){0, 1});
  assert_same(given_value(&exact, "mmce"), 0.0);
}

/* ---- against the double loop ---- */

typedef struct mmce_rows {
  double scores[MMCE_ROWS], weights[MMCE_ROWS];
  int32_t hits[MMCE_ROWS];
} mmce_rows;

static void mmce_draw(mmce_rows *rows, uint64_t stream, double spread) {
  const pc_rng rng = {21, stream};
  for (size_t i = 0; i < MMCE_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    rows->scores[i] = i % 5 == 0 ? floor(8 * u) / 8 : 1 - spread * (1 - u);
    rows->hits[i] = pc_rng_uniform(&rng, MMCE_ROWS + i) < rows->scores[i];
    rows->weights[i] = (double)(pc_rng_bits(&rng, 2 * MMCE_ROWS + i) % 4);
  }
}

/* The square by all pairs, in extended precision, and the sum of sizes that it is judged by. */
static long double mmce_loop(const mmce_rows *rows, double width, int unbiased,
                             long double *scale) {
  long double sum = 0, size = 0, n = 0;
  for (size_t i = 0; i < MMCE_ROWS; i++) {
    const long double ri = (long double)rows->scores[i] - rows->hits[i], wi = rows->weights[i];
    n += wi;
    for (size_t j = 0; j < MMCE_ROWS; j++) {
      const long double rj = (long double)rows->scores[j] - rows->hits[j];
      const long double pairs = wi * (rows->weights[j] - (unbiased && i == j ? 1 : 0));
      const long double apart = fabsl((long double)rows->scores[i] - rows->scores[j]);
      const long double term = pairs * ri * rj * expl(-apart / (long double)width);
      sum += term;
      size += fabsl(term);
    }
  }
  const long double count = unbiased ? n * (n - 1) : n * n;
  *scale = size / count;
  return sum / count;
}

TEST(test_agrees_with_the_double_loop) {
  static const double widths[] = {0.4, 0.02, 0.0005, 1e-6, 50};
  static mmce_rows rows;
  for (uint64_t stream = 0; stream < 2; stream++) {
    mmce_draw(&rows, stream, stream == 0 ? 1.0 : 1e-3);
    given_data data = mmce_confidences(MMCE_ROWS, rows.scores, rows.hits);
    data.weights = rows.weights;
    for (size_t w = 0; w < UNIT_COUNT(widths); w += emulated() ? 2 : 1)
      for (int unbiased = 0; unbiased < 2; unbiased++) {
        char spec[64], digits[PC_NUMBER_MAX];
        snprintf(spec, sizeof spec, "mmce:estimator=%s,width=%s", unbiased ? "u" : "v",
                 pc_show(widths[w], digits));
        long double scale;
        const long double loop = mmce_loop(&rows, widths[w], unbiased, &scale);
        const double found = mmce_squared(&data, spec);
        if (fabsl(found - loop) > 1e-14L * scale || fabsl(found - loop) > 1e-12L * fabsl(loop))
          fail_msg("%s: %.17g, not %.17Lg", spec, found, loop);
      }
  }
}

/* Edge case 4: the same rows 1,000 times, on cells; the square of estimator=v depends on shares only. */
TEST(test_4_cells_of_many_rows) {
  static const double widths[] = {0.4, 0.02}, cells[] = {0x1p-14, 0x1p-17};
  static mmce_rows rows;
  static double many[MMCE_ROWS];
  double apart = 0.0;
  for (uint64_t stream = 0; stream < 2; stream++) {
    mmce_draw(&rows, stream, stream == 0 ? 1.0 : 1e-3); /* 1e-3: many pairs in one cell */
    for (size_t i = 0; i < MMCE_ROWS; i++)
      many[i] = 1000 * rows.weights[i];
    given_data data = mmce_confidences(MMCE_ROWS, rows.scores, rows.hits);
    data.weights = many;
    for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
      char spec[64], digits[PC_NUMBER_MAX];
      snprintf(spec, sizeof spec, "mmce:width=%s", pc_show(widths[w], digits));
      long double scale;
      const double loop = (double)mmce_loop(&rows, widths[w], 0, &scale);
      const double step = cells[w] / widths[w], found = mmce_squared(&data, spec);
      apart += fabs(found - loop);
      assert_near(found, loop, (stream == 0 ? 0.01 : 0.2) * step + step * step);
    }
  }
  assert_true(apart > 1e-13); /* and they were cells */
}

/* ---- weights ---- */

TEST(test_2_whole_weights_for_u_only) {
  given_data data = mmce_confidences(2, (const double[]){0.2, 0.6}, (const int32_t[]){1, 0});
  data.weights = (const double[]){2, 1.5};
  assert_true(given_value(&data, "mmce") > 0);
  given_refused(
      &data, "mmce:estimator=u", PCAL_DATA,
      "weights, row 1: mmce counts pairs of copies of a row, so weights must be whole "
      "numbers; use mmce:estimator=v, or leave the metric or the weights out");
  data.weights = (const double[]){3, 0};
  assert_near(given_value(&data, "mmce:estimator=u"), 0.8, 1e-15);
}

TEST(test_views_and_options) {
  const given_data binary = {.kind = PCAL_PROBABILITY,
                             .rows = 1,
                             .columns = 1,
                             .scores = (const double[]){0.25},
                             .labels = (const int32_t[]){1}};
  assert_near(given_value(&binary, "mmce"), 0.75, 1e-15);
  assert_near(given_value(&binary, "mmce:view=top"), 0.75, 1e-15);
  pcal_results *results = given_results(&binary, "mmce");
  assert_string_equal(given_result(results, "mmce").spec,
                      "mmce:estimator=v,width=0.4,view=positive");
  pcal_results_free(results);
  given_refused(&binary, "mmce:width=0", PCAL_USAGE, "width must be between");
  given_refused(&binary, "mmce:estimator=w", PCAL_USAGE, "estimator");
}

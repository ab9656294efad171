#include "../measure/measure_help.h"

#include "base/rng.h"

#define KDE_ROWS 200
#define KDE_POINTS 16384

static given_data kde_confidences(size_t rows, const double *scores, const int32_t *labels) {
  return (given_data){
      .kind = PCAL_CONFIDENCE, .rows = rows, .columns = 1, .scores = scores, .labels = labels};
}

static double kde_bandwidth(const given_data *data) {
  pcal_results *results = given_results(data, "tce-kde");
  const pcal_result result = given_result(results, "tce-kde");
  const double bandwidth = given_part(&result, "bandwidth");
  pcal_results_free(results);
  return bandwidth;
}

/* ---- bandwidth ---- */

/* Correct rows at 0.5 and 0.9: spread 0.2; of the wrong row only the count matters. */
TEST(test_bandwidth) {
  given_data data =
      kde_confidences(3, (const double[]){0.5, 0.9, 0.6}, (const int32_t[]){1, 1, 0});
  assert_near(kde_bandwidth(&data), 0.2 * pow(6.0, -0.2), 1e-14);
  data.weights = (const double[]){3, 1, 0};
  assert_near(kde_bandwidth(&data), sqrt(0.03) * pow(8.0, -0.2), 1e-14);
}

static void kde_check_why(const given_data *data, const char *why) {
  pcal_results *results = given_results(data, "tce-kde");
  const pcal_result result = given_result(results, "tce-kde");
  assert_false(result.defined);
  assert_string_equal(result.why, why);
  pcal_results_free(results);
}

TEST(test_5_no_bandwidth) {
  const given_data wrong =
      kde_confidences(2, (const double[]){0.5, 0.9}, (const int32_t[]){0, 0});
  kde_check_why(&wrong, "no row is correct, and the bandwidth is computed from correct "
                        "rows");
  const given_data alike =
      kde_confidences(3, (const double[]){0.7, 0.7, 0.9}, (const int32_t[]){1, 1, 0});
  kde_check_why(&alike, "the correct rows all have the same confidence, and the bandwidth is "
                        "computed from their deviation");
  const given_data one = kde_confidences(1, (const double[]){0.7}, (const int32_t[]){1});
  kde_check_why(&one, "the correct rows all have the same confidence, and the bandwidth is "
                      "computed from their deviation");
}

/* ---- against densities summed row by row ---- */

/* The kernel between grid points, as the shared halves of each row see it. */
static double kde_kernel(double distance, double bandwidth) {
  const double u = distance / (3 * bandwidth);
  return fabs(u) < 1 ? pow(1 - u * u, 3) : 0.0;
}

static double kde_row(double x, double score, double bandwidth) {
  const double step = 2.2 / (KDE_POINTS - 1), place = (score + 0.6) / step;
  const double left = floor(place), right = place - left;
  return (1 - right) * kde_kernel(x - (-0.6 + left * step), bandwidth) +
         right * kde_kernel(x - (-0.6 + (left + 1) * step), bandwidth);
}

static double kde_slow(const double *scores, const int32_t *hits, double p, double bandwidth) {
  const double step = 2.2 / (KDE_POINTS - 1);
  double error = 0, total = 0, last_error = 0, last_total = 0;
  int inside = 0;
  for (size_t j = 0; j < KDE_POINTS; j++) {
    const double x = -0.6 + (double)j * step;
    if (x <= 0 || x >= 1)
      continue;
    double all = 0, correct = 0;
    for (size_t i = 0; i < KDE_ROWS; i++) {
      const double mirror = scores[i] < 0.5 ? -scores[i] : 2 - scores[i];
      const double k = kde_row(x, scores[i], bandwidth) + kde_row(x, mirror, bandwidth);
      all += k;
      correct += hits[i] * k;
    }
    const double here = all > 0 ? pow(fabs(x - fmin(correct / all, 1)), p) * all : 0;
    error += inside ? (here + last_error) / 2 : 0; /* trapezoids */
    total += inside ? (all + last_total) / 2 : 0;
    last_error = here;
    last_total = all;
    inside = 1;
  }
  return error / total;
}

TEST(test_agrees_with_the_plain_sums) {
  static const struct {
    const char *power, *root;
    double p;
  } cases[] = {{"tce-kde:p=1,root=no", "tce-kde:p=1", 1},
               {"tce-kde:root=no", "tce-kde", 2},
               {"tce-kde:p=3.5,root=no", "tce-kde:p=3.5", 3.5}};
  for (uint64_t stream = 0; stream < 2; stream++) {
    const pc_rng rng = {31, stream};
    double scores[KDE_ROWS];
    int32_t hits[KDE_ROWS];
    for (size_t i = 0; i < KDE_ROWS; i++) {
      const double u = pc_rng_uniform(&rng, i);
      scores[i] = stream == 0 ? u : i % 9 == 0 ? 1.0 : 1 - 0.2 * u * u;
      hits[i] = pc_rng_uniform(&rng, KDE_ROWS + i) < scores[i] * scores[i];
    }
    const given_data data = kde_confidences(KDE_ROWS, scores, hits);
    const double bandwidth = kde_bandwidth(&data);
    for (size_t c = 0; c < UNIT_COUNT(cases); c++) {
      const double slow = kde_slow(scores, hits, cases[c].p, bandwidth);
      assert_near(given_value(&data, cases[c].power), slow, 1e-9);
      assert_near(given_value(&data, cases[c].root), pow(slow, 1 / cases[c].p), 1e-9);
    }
  }
}

/* Edge case 6: the same rows 400 times, on cells. */
TEST(test_6_cells_of_many_rows) {
  double apart = 0.0;
  for (uint64_t stream = 0; stream < 2; stream++) {
    const pc_rng rng = {32, stream};
    double scores[KDE_ROWS], weights[KDE_ROWS];
    int32_t hits[KDE_ROWS];
    for (size_t i = 0; i < KDE_ROWS; i++) {
      const double u = pc_rng_uniform(&rng, i);
      scores[i] = stream == 0 ? u : 1 - 0.02 * u * u;
      hits[i] = pc_rng_uniform(&rng, KDE_ROWS + i) < scores[i] * scores[i];
      weights[i] = 400;
    }
    given_data data = kde_confidences(KDE_ROWS, scores, hits);
    data.weights = weights;
    const double slow = kde_slow(scores, hits, 2, kde_bandwidth(&data));
    const double found = given_value(&data, "tce-kde:root=no");
    assert_true(fabs(found - slow) < 1e-6);
    apart += fabs(found - slow);
  }
  assert_true(apart > 1e-14);
}

/* A wide model that is right half of the time at 1/2 and always at 1: far from 0 at 1/2 only.
 */
TEST(test_1_two_classes_use_the_top_label) {
  static const double one[] = {0.8, 0.3, 0.1, 0.95};
  static const int32_t labels[] = {1, 0, 1, 1}, hits[] = {1, 1, 0, 1};
  static const double top[] = {0.8, 0.7, 0.9, 0.95};
  const given_data binary = {
      .kind = PCAL_PROBABILITY, .rows = 4, .columns = 1, .scores = one, .labels = labels};
  const given_data confident = kde_confidences(4, top, hits);
  assert_near(given_value(&binary, "tce-kde"), given_value(&confident, "tce-kde"), 1e-12);
  pcal_results *results = given_results(&binary, "tce-kde");
  assert_int_equal(given_result(results, "tce-kde").notion, PCAL_NOTION_TOP_LABEL);
  assert_string_equal(given_result(results, "tce-kde").spec, "tce-kde:p=2,root=yes");
  pcal_results_free(results);
}

TEST(test_scores_at_the_ends) {
  const given_data data =
      kde_confidences(4, (const double[]){0, 1, 1 + 1e-6, 0.5}, (const int32_t[]){1, 1, 1, 0});
  const double value = given_value(&data, "tce-kde");
  assert_true(value > 0 && value < 1);
}

/* One tiny and one huge bandwidth. */
TEST(test_bandwidth_beyond_the_grid) {
  given_data data =
      kde_confidences(3, (const double[]){0.7, 0.7 + 1e-9, 0.2}, (const int32_t[]){1, 1, 0});
  assert_near(given_value(&data, "tce-kde:p=1"), (0.3 + 0.3 + 0.2) / 3, 1e-3);
  data.scores = (const double[]){0.0, 1.0, 0.5};
  data.weights = (const double[]){1e-9, 1e-9, 1e-9};
  assert_true(given_value(&data, "tce-kde") < 1);
}

#include "../measure/measure_help.h"

#include "base/rng.h"
#include "curve/kde_grid.h"
#include "curve/point_masses.h"
#include "emulated.h"

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
  for (uint64_t stream = emulated() ? 1 : 0; stream < 2; stream++) {
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

/* ---- many rows ---- */

#define KDE_MANY 70000 /* more than 2^16: scores are joined in cells */

typedef struct kde_grid {
  double mass[2][KDE_POINTS]; /* all rows, and correct ones */
  double error[2], total;
} kde_grid;

/* The deviation of correct rows, from every score. */
static double kde_direct_bandwidth(const double *scores, const int32_t *hits) {
  double sum = 0, square = 0, count = 0;
  for (size_t i = 0; i < KDE_MANY; i++) {
    sum += hits[i] * (scores[i] - 0.7);
    count += hits[i];
  }
  const double mean = 0.7 + sum / count;
  for (size_t i = 0; i < KDE_MANY; i++)
    square += hits[i] * (scores[i] - mean) * (scores[i] - mean);
  return sqrt(square / count) * pow(2.0 * KDE_MANY, -0.2);
}

/* Distributes each row and its image to its two neighbouring points. */
static void kde_direct_mass(const double *scores, const int32_t *hits, kde_grid *grid) {
  const double step = 2.2 / (KDE_POINTS - 1);
  for (size_t i = 0; i < 2 * KDE_MANY; i++) {
    const size_t row = i / 2;
    const double c = scores[row], at = i % 2 == 0 ? c : c < 0.5 ? -c : 2 - c;
    const double place = (at + 0.6) / step, left = floor(place);
    for (int correct = 0; correct <= hits[row]; correct++) {
      grid->mass[correct][(size_t)left] += 1 - (place - left);
      grid->mass[correct][(size_t)left + 1] += place - left;
    }
  }
}

/* Integrals by the trapezoid rule over the points in [0, 1]. */
static void kde_direct_integrals(double bandwidth, kde_grid *grid) {
  const double step = 2.2 / (KDE_POINTS - 1);
  const size_t reach = (size_t)ceil(3 * bandwidth / step);
  const size_t first = (size_t)ceil(0.6 / step), last = (size_t)floor(1.6 / step);
  for (size_t j = first; j <= last; j++) {
    double all = 0, correct = 0;
    for (size_t k = j > reach ? j - reach : 0; k <= j + reach && k < KDE_POINTS; k++) {
      const double kernel = kde_kernel(((double)j - (double)k) * step, bandwidth);
      all += grid->mass[0][k] * kernel;
      correct += grid->mass[1][k] * kernel;
    }
    const double part = j == first || j == last ? 0.5 : 1.0;
    const double gap = all > 0 ? fabs(-0.6 + (double)j * step - fmin(correct / all, 1)) : 0;
    grid->error[0] += part * all * gap;
    grid->error[1] += part * all * gap * gap;
    grid->total += part * all;
  }
}

/* Confidences near 1, close together, and of a usual model. */
static double kde_many_score(int set, double u) {
  return set == 0 ? 1 - pow(10, -8 + 6 * u) : set == 1 ? 0.7 + 1e-3 * u : sqrt(u);
}

/* The metric sees sums of cells only; here every row is distributed. */
static void kde_many_check(const double *scores, const int32_t *hits) {
  const given_data data = kde_confidences(KDE_MANY, scores, hits);
  const double bandwidth = kde_direct_bandwidth(scores, hits);
  assert_near(kde_bandwidth(&data), bandwidth, 1e-9);
  kde_grid *grid = calloc(1, sizeof *grid);
  kde_direct_mass(scores, hits, grid);
  kde_direct_integrals(bandwidth, grid);
  const double powers[] = {grid->error[0] / grid->total, grid->error[1] / grid->total};
  assert_true(fabs(given_value(&data, "tce-kde:p=1") - powers[0]) < 1e-12);
  assert_true(fabs(given_value(&data, "tce-kde:root=no") - powers[1]) < 1e-12);
  assert_true(fabs(given_value(&data, "tce-kde") - sqrt(powers[1])) < 1e-12);
  free(grid);
}

static void kde_many_draw(int set, double *scores, int32_t *hits) {
  const pc_rng rng = {32, (uint64_t)set};
  for (size_t i = 0; i < KDE_MANY; i++) {
    scores[i] = kde_many_score(set, pc_rng_uniform(&rng, i));
    hits[i] = pc_rng_uniform(&rng, KDE_MANY + i) < 0.999 * scores[i];
  }
}

TEST(test_6_many_rows) {
  double *scores = calloc(KDE_MANY, sizeof *scores);
  int32_t *hits = calloc(KDE_MANY, sizeof *hits);
  for (int set = emulated() ? 2 : 0; set < 3; set++) {
    kde_many_draw(set, scores, hits);
    kde_many_check(scores, hits);
  }
  for (size_t i = 0; i < KDE_MANY; i++)
    scores[i] = hits[i] ? 0.70005 : 0.3 + 1e-6 * (double)i;
  const given_data alike = kde_confidences(KDE_MANY, scores, hits);
  kde_check_why(&alike, "the correct rows all have the same confidence, and the bandwidth is "
                        "computed from their deviation");
  free(scores);
  free(hits);
}

/* Every border divides scores whose shares go to other points, and nothing else does. */
TEST(test_6_cells_are_those_of_the_grid) {
  int64_t before = -1;
  for (size_t i = 0; i <= 200000; i++) {
    const double score = (double)i / 200000;
    const int64_t cell = pc_point_cell(score, PC_KDE_GRID_CELLS);
    assert_true(cell >= before && cell < PC_KDE_CELLS);
    before = cell;
  }
  assert_int_equal(before, PC_KDE_CELLS - 1);
  assert_int_equal(pc_point_cell(0.0, PC_KDE_GRID_CELLS), 0);
  assert_int_equal(pc_point_cell(0.5, PC_KDE_GRID_CELLS),
                   pc_point_cell(nextafter(0.5, 0.0), PC_KDE_GRID_CELLS) + 1);
  for (size_t j = 4469; j < 11914; j++) { /* points inside (0, 1) */
    const double point = -0.6 + (double)j * (2.2 / (KDE_POINTS - 1));
    assert_int_equal(pc_point_cell(point + 1e-12, PC_KDE_GRID_CELLS),
                     pc_point_cell(point - 1e-12, PC_KDE_GRID_CELLS) + 1);
  }
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

/* The smooth reliability diagram against a direct sum over all rows and images. */
#include "../measure/measure_help.h"

#include "base/rng.h"
#include "metrics/smooth_diagram.h"

#define DIAGRAM_IMAGES 8

/* K(t, x) by its definition. */
static double diagram_kernel(double t, double x, double sigma) {
  double sum = 0.0;
  for (int k = -DIAGRAM_IMAGES; k <= DIAGRAM_IMAGES; k++) {
    const double near = (t - x + 2 * k) / sigma, far = (t + x + 2 * k) / sigma;
    sum += exp(-0.5 * near * near) + exp(-0.5 * far * far);
  }
  return sum / (sigma * sqrt(8 * atan(1)));
}

typedef struct diagram_rows {
  size_t count;
  const double *scores, *weights; /* weights NULL: 1 */
  const int32_t *labels;
} diagram_rows;

/* density, frequency, low, high */
static void diagram_expected(const diagram_rows *rows, double t, double sigma, double out[4]) {
  const double z = 1.959963984540054;
  double total = 0.0, sum = 0.0, hits = 0.0, squares = 0.0;
  for (size_t i = 0; i < rows->count; i++) {
    const double w = rows->weights == NULL ? 1.0 : rows->weights[i];
    const double kernel = diagram_kernel(t, rows->scores[i], sigma);
    total += w;
    sum += w * kernel;
    hits += w * kernel * rows->labels[i];
    squares += w * kernel * kernel;
  }
  const double p = hits / sum, n = sum * sum / squares, s = z * z / n;
  const double half = z * sqrt(p * (1 - p) / n + s / n / 4);
  out[0] = sum / total;
  out[1] = p;
  out[2] = (p + s / 2 - half) / (1 + s);
  out[3] = (p + s / 2 + half) / (1 + s);
}

static void diagram_check(const diagram_rows *rows, size_t points, double least_sigma,
                          double tolerance) {
  static const char *const names[] = {"density", "frequency", "low", "high"};
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = rows->count,
                           .columns = 1,
                           .scores = rows->scores,
                           .labels = rows->labels,
                           .weights = rows->weights};
  pcal_results *results = given_results_with_curves(&data, "smece");
  const double sigma = fmax(given_result(results, "smece").value, least_sigma);
  const double *score = given_column(results, 0, "score", points);
  const size_t step = rows->count > 1000 ? 13 : 1;
  for (size_t i = 0; i < points; i += step) {
    double expected[4];
    diagram_expected(rows, score[i], sigma, expected);
    for (size_t c = 0; c < 4; c++) {
      const double found = given_column(results, 0, names[c], points)[i];
      if (!(fabs(found - expected[c]) <= tolerance * (1 + expected[c])))
        fail_msg("%s at %g: %.15g, not %.15g", names[c], score[i], found, expected[c]);
    }
  }
  pcal_results_free(results);
}

TEST(test_few_rows) {
  const double scores[] = {0.0, 0.05, 0.2, 0.2, 0.45, 0.7, 0.9, 1.0};
  const int32_t labels[] = {0, 1, 0, 1, 1, 0, 1, 1};
  diagram_check(&(diagram_rows){8, scores, NULL, labels}, 401, 0, 1e-13);
}

TEST(test_weights_are_copies) {
  const double scores[] = {0.1, 0.3, 0.8, 0.9}, weights[] = {2, 1, 3, 1};
  const int32_t labels[] = {0, 1, 1, 0};
  diagram_check(&(diagram_rows){4, scores, weights, labels}, 321, 0, 1e-13);
}

/* Edge cases 1 and 2: smece is 0, and the curve has two pieces, around 0.25 and 0.5. */
TEST(test_1_2_no_width) {
  const double scores[] = {0.25, 0.25, 0.25, 0.25, 0.5, 0.5};
  const int32_t labels[] = {0, 0, 0, 1, 0, 1};
  diagram_check(&(diagram_rows){6, scores, NULL, labels}, 8, 1.0 / PC_DIAGRAM_STEPS, 1e-13);
}

/* Edge case 4. */
TEST(test_4_all_hits) {
  const double scores[] = {0.6, 0.61, 0.7};
  const int32_t labels[] = {1, 1, 1};
  diagram_check(&(diagram_rows){3, scores, NULL, labels}, 41, 0, 1e-13);
}

/* Joined in cells: 6000 distinct scores. */
TEST(test_cells) {
  enum { ROWS = 6000 };
  static double scores[ROWS];
  static int32_t labels[ROWS];
  const pc_rng rng = {1, 2};
  for (size_t i = 0; i < ROWS; i++) {
    scores[i] = pc_rng_uniform(&rng, 2 * i);
    labels[i] = pc_rng_uniform(&rng, 2 * i + 1) < scores[i] * scores[i];
  }
  diagram_check(&(diagram_rows){ROWS, scores, NULL, labels}, 401, 0, 2e-6);
}

/* Numbers in brackets are the edge cases of temperature_ece.c. */
#include "calibrators/temperature/temperature_ece.h"

#include "convex_help.h"
#include "emulated.h"

enum { ROWS = 1200, K = 4 };

static double logits[ROWS * K], out[ROWS * K];
static int32_t labels[ROWS];

/* The metric, from its definition. */
static double ece_of(const double *probs, size_t rows, size_t columns) {
  double gaps[15] = {0.0}, sum = 0.0;
  for (size_t i = 0; i < rows; i++) {
    size_t top = 0, bin = 0;
    for (size_t j = 1; j < columns; j++)
      top = probs[i * columns + j] > probs[i * columns + top] ? j : top;
    const double score = probs[i * columns + top];
    const int hit = columns == 1 ? labels[i] == 1 : labels[i] == (int32_t)top;
    while (bin < 14 && score > (double)(bin + 1) / 15.0)
      bin++;
    gaps[bin] += score - hit;
  }
  for (size_t b = 0; b < 15; b++)
    sum += fabs(gaps[b]);
  return sum / (double)rows;
}

static double ece_at(const pcal_batch *batch, double temperature) {
  const size_t k = batch->columns;
  for (size_t i = 0; i < batch->rows; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < k; j++)
      sum += exp(logits[i * k + j] / temperature);
    for (size_t j = 0; j < k; j++)
      out[i * k + j] = k == 1 ? 1.0 / (1.0 + exp(-logits[i] / temperature))
                              : exp(logits[i * k + j] / temperature) / sum;
  }
  return ece_of(out, batch->rows, k);
}

/* Few rows, where ECE has hundreds of local minima: converged means that no T is lower by 0.1
 * %. */
TEST(converged_is_the_global_minimum) {
  static const size_t rows[] = {40, 150, 400};
  for (size_t s = 0; s < 9; s++) {
    const size_t n = rows[s % 3], k = 2 + s / 3;
    help_draw(logits, labels, n, k, 1.0 + (double)s / 4.0, 0.5 + (double)s / 5.0);
    const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, n, k);
    pcal_calibrator *calibrator = help_fit(&batch, "temperature:objective=ece");
    const double after = calibrator->fit.after;
    assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
    for (int i = 0; i < 6000; i += emulated() ? 40 : 1)
      assert_true(ece_at(&batch, 0.05 * pow(1.001, i)) >= after - 1e-6 - 1e-3 * after);
    pcal_calibrator_free(calibrator);
  }
}

/* No T of a fine grid is better, for several classes and for one column. */
TEST(result_is_the_lowest) {
  static const size_t columns[] = {K, 1};
  for (size_t c = 0; c < 2; c++) {
    help_draw(logits, labels, ROWS, columns[c], 3.0, 1.8);
    for (size_t i = 0; i < ROWS && columns[c] == 1; i++)
      labels[i] = logits[i] > 4.0 * ((double)(i % 100) / 50.0 - 1.0);
    const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, columns[c]);
    pcal_calibrator *calibrator = help_fit(&batch, "temperature:objective=ece");
    assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
    assert_near(calibrator->fit.before, ece_at(&batch, 1.0), 1e-12);
    help_apply(calibrator, &batch, out);
    assert_near(ece_of(out, ROWS, columns[c]), calibrator->fit.after, 1e-9);
    for (int i = 0; i < 300; i++)
      assert_true(ece_at(&batch, 0.5 * pow(1.01, i)) > 0.999 * calibrator->fit.after - 1e-6);
    pcal_calibrator_free(calibrator);
  }
}

/* [2] */
TEST(right_answers_stop_at_the_bound) {
  const double z[6] = {1, 0, 0, 2, 3, 0};
  const int32_t y[3] = {0, 1, 0};
  const pcal_batch batch = help_batch(PCAL_LOGIT, z, y, 3, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature:objective=ece");
  help_sound(calibrator, &batch);
  assert_true(calibrator->fit.after < 1e-12);
  pcal_calibrator_free(calibrator);
}

/* [3] */
TEST(constant_scores_stay) {
  const double z[6] = {1, 1, 1, 2, 2, 2};
  const int32_t y[2] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_LOGIT, z, y, 2, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature:objective=ece");
  assert_int_equal(calibrator->fit.status, PC_FIT_IDENTITY);
  assert_same(calibrator->fit.after, calibrator->fit.before);
  assert_same(calibrator->fit.gradient, 0.0);
  pcal_calibrator_free(calibrator);
}

TEST(extremes) {
  help_extremes("temperature:objective=ece");
}

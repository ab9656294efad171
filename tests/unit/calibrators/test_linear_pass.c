/* Derivatives against differences of the value, and of the gradient. */
#include "calibrators/linear/linear_pass.h"

#include "convex_help.h"

enum { ROWS = 200 };

typedef struct linear {
  help_task task;
  pc_fit_rows rows;
  pc_linear_pass pass;
  double at[20 * 21];
} linear;

static void linear_open(linear *out, size_t classes, unsigned want, const double *weights) {
  static double logits[ROWS * 20];
  static int32_t labels[ROWS];
  const pc_rng rng = {5, 5};
  help_draw(logits, labels, ROWS, classes, 2.0, 1.5);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, classes);
  batch.weights = weights;
  help_task_open(&out->task, &batch, "matrix", NULL);
  assert_int_equal(
      pc_fit_rows_open(&out->task.task, PC_FEATURE_LOG_PROBS, PC_FIT_FOLDED, &out->rows, NULL),
      PCAL_OK);
  assert_int_equal(pc_linear_pass_new(&out->rows, want, 0, &out->pass, NULL), PCAL_OK);
  for (size_t i = 0; i < out->pass.count; i++)
    out->at[i] = pc_rng_normal(&rng, i);
}

static void linear_close(linear *about) {
  help_task_close(&about->task);
}

static double value_at(linear *about, size_t i, double step) {
  about->at[i] += step;
  assert_int_equal(pc_linear_pass_run(&about->pass, about->at, PC_LINEAR_VALUE, NULL), PCAL_OK);
  about->at[i] -= step;
  return about->pass.value;
}

/* Some weights are too heavy for the lattice. */
static const double *heavy_weights(void) {
  static double weights[ROWS];
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = i % 50 == 3 ? 400.0 : 0.5 + (double)(i % 4);
  return weights;
}

TEST(gradients_are_slopes) {
  for (int weighted = 0; weighted < 2; weighted++) {
    linear about;
    linear_open(&about, 5, PC_LINEAR_GRADIENT, weighted ? heavy_weights() : NULL);
    assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_GRADIENT, NULL),
                     PCAL_OK);
    double gradient[30];
    memcpy(gradient, about.pass.gradient, about.pass.count * sizeof *gradient);
    for (size_t i = 0; i < about.pass.count; i++) {
      const double h = 1e-5;
      const double slope = (value_at(&about, i, h) - value_at(&about, i, -h)) / (2.0 * h);
      assert_true(fabs(slope - gradient[i]) < 1e-8);
    }
    linear_close(&about);
  }
}

static void check_hessian(const double *weights) {
  linear about;
  linear_open(&about, 4, PC_LINEAR_GRADIENT | PC_LINEAR_HESSIAN, weights);
  const size_t n = about.pass.count;
  assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_HESSIAN, NULL), PCAL_OK);
  double hessian[400], low[20];
  memcpy(hessian, about.pass.hessian, n * n * sizeof *hessian);
  for (size_t i = 0; i < n; i++) {
    const double h = 1e-5, kept = about.at[i];
    about.at[i] = kept - h;
    assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_GRADIENT, NULL),
                     PCAL_OK);
    memcpy(low, about.pass.gradient, n * sizeof *low);
    about.at[i] = kept + h;
    assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_GRADIENT, NULL),
                     PCAL_OK);
    about.at[i] = kept;
    for (size_t j = 0; j < n; j++) {
      const double slope = (about.pass.gradient[j] - low[j]) / (2.0 * h);
      assert_true(fabs(slope - hessian[i * n + j]) < 1e-7);
      assert_same(hessian[i * n + j], hessian[j * n + i]);
    }
  }
  linear_close(&about);
}

TEST(hessians_are_slopes_of_gradients) {
  check_hessian(NULL);
  check_hessian(heavy_weights());
}

/* p (1 - p) and products of two probabilities are at most 1/4; the trace of the Hessian by b is
 * the mean of the sum of all p (1 - p), and less without the small ones. */
TEST(small_terms_of_hessians_are_left_out) {
  static const double least[] = {0.0, 1e-12, 0.05, 0.25};
  double trace[4];
  linear about;
  linear_open(&about, 4, PC_LINEAR_GRADIENT | PC_LINEAR_HESSIAN, NULL);
  const size_t n = about.pass.count;
  for (size_t l = 0; l < 4; l++) {
    about.pass.least = least[l];
    assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_HESSIAN, NULL),
                     PCAL_OK);
    trace[l] = 0.0;
    for (size_t i = n - 4; i < n; i++)
      trace[l] += about.pass.hessian[i * n + i];
  }
  assert_near(trace[1], trace[0], 1e-11);
  assert_true(trace[2] < trace[0] && trace[2] > trace[0] - 4.0 * 0.05);
  assert_true(trace[3] == 0.0);
  linear_close(&about);
}

/* The folds together are all rows. */
TEST(folds_add_up) {
  linear about;
  linear_open(&about, 5, PC_LINEAR_GRADIENT, NULL);
  double inside = 0.0, outside = 0.0, weight = 0.0;
  for (uint8_t fold = 0; fold < PC_FIT_FOLDS; fold++) {
    about.pass.fold = fold;
    about.pass.which = PC_LINEAR_INSIDE_FOLD;
    assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_VALUE, NULL), PCAL_OK);
    inside += about.pass.value * about.pass.weight;
    weight += about.pass.weight;
    about.pass.which = PC_LINEAR_OUTSIDE_FOLD;
    assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_VALUE, NULL), PCAL_OK);
    outside += about.pass.value * about.pass.weight;
  }
  about.pass.which = PC_LINEAR_ALL;
  assert_int_equal(pc_linear_pass_run(&about.pass, about.at, PC_LINEAR_VALUE, NULL), PCAL_OK);
  assert_same(weight, (double)ROWS);
  assert_near(inside, about.pass.value * ROWS, 1e-13);
  assert_near(outside, 4.0 * inside, 1e-13);
  linear_close(&about);
}

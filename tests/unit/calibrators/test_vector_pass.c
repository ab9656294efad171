/* Derivatives against differences of the value, and of the gradient. */
#include "calibrators/linear/vector_pass.h"

#include "convex_help.h"

enum { ROWS = 203, K = 5 };

typedef struct diagonal {
  help_task task;
  pc_fit_rows rows;
  pc_vector_pass pass;
} diagonal;

static double logits[ROWS * K], weights[ROWS];
static int32_t labels[ROWS];
static double at[2 * K];

static void diagonal_open(diagonal *out, const pcal_batch *batch, const pcal_env *env) {
  const pc_rng rng = {5, 5};
  help_task_open(&out->task, batch, "vector", env);
  assert_int_equal(
      pc_fit_rows_open(&out->task.task, PC_FEATURE_SCORES, PC_FIT_TRANSPOSED, &out->rows, NULL),
      PCAL_OK);
  assert_int_equal(pc_vector_pass_new(&out->rows, NULL, out->rows.weight, &out->pass, NULL),
                   PCAL_OK);
  for (size_t i = 0; i < 2 * K; i++)
    at[i] = pc_rng_normal(&rng, i);
}

static void diagonal_close(diagonal *about) {
  pc_vector_pass_free(&about->pass);
  help_task_close(&about->task);
}

static pcal_batch drawn(int weighted) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.5);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = i % 50 == 3 ? 400.0 : 0.5 + (double)(i % 4);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  batch.weights = weighted ? weights : NULL;
  return batch;
}

static const pc_vector_pass *evaluated(diagonal *about, size_t i, double step) {
  at[i] += step;
  assert_int_equal(pc_vector_pass_evaluate(&about->pass, at, 0, NULL), PCAL_OK);
  at[i] -= step;
  return &about->pass;
}

TEST(derivatives_are_slopes) {
  for (int weighted = 0; weighted < 2; weighted++) {
    const pcal_batch batch = drawn(weighted);
    diagonal about;
    double gradient[2 * K], product[2 * K];
    diagonal_open(&about, &batch, NULL);
    memcpy(gradient, evaluated(&about, 0, 0.0)->gradient, sizeof gradient);
    for (size_t i = 0; i < 2 * K; i++) {
      const double h = 1e-5;
      double unit[2 * K] = {0.0}, slopes[2 * K];
      const double high = evaluated(&about, i, h)->value;
      memcpy(slopes, about.pass.gradient, sizeof slopes);
      const double low = evaluated(&about, i, -h)->value;
      for (size_t j = 0; j < 2 * K; j++)
        slopes[j] = (slopes[j] - about.pass.gradient[j]) / (2.0 * h);
      assert_true(fabs((high - low) / (2.0 * h) - gradient[i]) < 1e-8);
      evaluated(&about, 0, 0.0);
      unit[i] = 3.0;
      assert_int_equal(pc_vector_pass_multiply(&about.pass, unit, product, NULL), PCAL_OK);
      for (size_t j = 0; j < 2 * K; j++)
        assert_true(fabs(product[j] - 3.0 * slopes[j]) < 1e-7);
    }
    diagonal_close(&about);
  }
}

/* The class variances, from their definition. */
TEST(class_variances_are_means) {
  const pcal_batch batch = drawn(0);
  diagonal about;
  diagonal_open(&about, &batch, NULL);
  const double unit = ldexp(1.0, -about.rows.exponent);
  double expected[3] = {0.0};
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0.0, p = 0.0;
    for (size_t k = 0; k < K; k++) {
      const double term = exp(at[k] * unit * logits[i * K + k] + at[K + k]);
      sum += term;
      p = k == 2 ? term : p;
    }
    const double x = unit * logits[i * K + 2], c = p / sum * (1.0 - p / sum) / ROWS;
    expected[0] += c;
    expected[1] += c * x;
    expected[2] += c * x * x;
  }
  assert_int_equal(pc_vector_pass_evaluate(&about.pass, at, 1, NULL), PCAL_OK);
  for (size_t i = 0; i < 3; i++)
    assert_true(fabs(about.pass.class_variances[6 + i] - expected[i]) < 1e-10);
  diagonal_close(&about);
}

/* All results of a pass. */
static void look(const pcal_batch *batch, const pcal_env *env, double out[1 + 4 * K]) {
  diagonal about;
  diagonal_open(&about, batch, env);
  assert_int_equal(pc_vector_pass_evaluate(&about.pass, at, 1, NULL), PCAL_OK);
  out[0] = about.pass.value;
  memcpy(out + 1, about.pass.gradient, 2 * K * sizeof *out);
  assert_int_equal(pc_vector_pass_multiply(&about.pass, at, out + 1 + 2 * K, NULL), PCAL_OK);
  diagonal_close(&about);
}

/* Results have the same bits with and without kept rows and probabilities, and with repeated
 * rows in place of weights, also heavy ones. */
TEST(all_paths_agree) {
  static double many[30 * ROWS * K];
  static int32_t many_labels[30 * ROWS];
  static double whole[ROWS];
  double first[1 + 4 * K], second[1 + 4 * K];
  for (int weighted = 0; weighted < 2; weighted++) {
    const pcal_batch batch = drawn(weighted);
    look(&batch, NULL, first);
    for (uint64_t limit = 1000; limit <= 16000; limit *= 16) {
      pcal_env env = PCAL_ENV_INIT;
      env.memory_limit = limit;
      env.threads = 1;
      look(&batch, &env, second);
      assert_memory_equal(first, second, sizeof first);
    }
  }
  pcal_batch batch = drawn(0);
  size_t rows = 0;
  for (size_t i = 0; i < ROWS; i++) {
    whole[i] = i == 7 ? 700.0 : i / 16 == 2 ? 250.0 : (double)(1 + i % 3);
    for (size_t times = 0; times < (size_t)whole[i]; times++, rows++) {
      memcpy(many + rows * K, logits + i * K, K * sizeof *many);
      many_labels[rows] = labels[i];
    }
  }
  batch.weights = whole;
  look(&batch, NULL, first);
  const pcal_batch repeated = help_batch(PCAL_LOGIT, many, many_labels, rows, K);
  look(&repeated, NULL, second);
  assert_memory_equal(first, second, sizeof first);
}

/* Numbers in brackets are the edge cases of vector.c. */
#include "calibrators/linear/linear_model.h"
#include "convex_help.h"
#include "kernels/dispatch.h"

enum { ROWS = 3000, K = 4, WIDE = 40 };

static double logits[ROWS * WIDE], out[ROWS * WIDE];
static int32_t labels[ROWS];

/* Labels drawn from softmax(w z + b): the fit comes close, and its gradient vanishes. */
TEST(recovers_parameters) {
  static const double w[K] = {0.5, 0.8, 1.2, 0.6}, b[K] = {0.3, -0.4, 0.2, -0.1};
  const pc_rng noise = {HELP_SEED, 9};
  help_draw(logits, labels, ROWS, K, 2.0, 1.0);
  for (size_t i = 0; i < ROWS; i++) {
    double best = -INFINITY;
    for (size_t j = 0; j < K; j++) {
      const double score =
          w[j] * logits[i * K + j] + b[j] - log(-log(pc_rng_uniform(&noise, i * K + j)));
      labels[i] = score > best ? (int32_t)j : labels[i];
      best = fmax(best, score);
    }
  }
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *calibrator = help_fit(&batch, "vector");
  const pc_linear_model *model = calibrator->parameters;
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_true(calibrator->fit.gradient <= 1e-8);
  double mean = 0.0;
  for (size_t j = 0; j < K; j++) {
    assert_true(fabs(model->w[j] - w[j]) < 0.1);
    assert_true(fabs(model->b[j] - b[j]) < 0.2);
    mean += model->b[j];
  }
  assert_true(fabs(mean) < 1e-12); /* [2] */
  help_apply(calibrator, &batch, out);
  assert_near(help_log(out, labels, ROWS, K), calibrator->fit.after, 1e-12);
  pcal_calibrator_free(calibrator);
}

/* Two scores with a share f of right answers each: q is that share. */
TEST(closed_form) {
  static const double z[] = {1, 1, 1, 1, 1, -2, -2, -2, -2, -2};
  static const int32_t y[] = {1, 1, 1, 1, 0, 0, 0, 0, 1, 0};
  const pcal_batch batch = help_batch(PCAL_LOGIT, z, y, 10, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "vector");
  const pc_linear_model *model = calibrator->parameters;
  double probs[10];
  help_apply(calibrator, &batch, probs);
  assert_near(probs[0], 0.8, 1e-10);
  assert_near(probs[9], 0.2, 1e-10);
  assert_same(model->w[0], 0.0); /* [2] */
  assert_near(model->w[1], 2.0 * log(4.0) / 3.0, 1e-9);
  assert_near(calibrator->fit.after, -0.8 * log(0.8) - 0.2 * log(0.2), 1e-12);
  pcal_calibrator_free(calibrator);
}

/* [1] A constant added to a row changes results on logits, not on log-probabilities. */
TEST(input_of_the_map) {
  static double moved[ROWS * K], again[ROWS * K];
  help_draw(logits, labels, ROWS, K, 2.0, 1.7);
  for (size_t i = 0; i < ROWS * K; i++)
    moved[i] = logits[i] + 0.01 * (double)(i / K % 100);
  const pcal_batch a = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  const pcal_batch b = help_batch(PCAL_LOGIT, moved, labels, ROWS, K);
  pcal_calibrator *first = help_fit(&a, "vector:on=log-probs");
  pcal_calibrator *second = help_fit(&b, "vector:on=log-probs");
  pcal_calibrator *raw = help_fit(&b, "vector");
  assert_near(first->fit.after, second->fit.after, 1e-10);
  assert_true((pc_calibrator_traits(first) & PC_INJECTIVE) != 0);
  assert_true((pc_calibrator_traits(raw) & PC_INJECTIVE) == 0);
  help_apply(first, &a, out);
  help_apply(second, &b, again);
  for (size_t i = 0; i < ROWS * K; i++)
    assert_true(fabs(out[i] - again[i]) < 1e-6);
  pcal_calibrator_free(first);
  pcal_calibrator_free(second);
  pcal_calibrator_free(raw);
}

TEST(probabilities_enter_as_logarithms) {
  static double probs[ROWS * K];
  help_draw(logits, labels, ROWS, K, 2.0, 1.7);
  for (size_t i = 0; i < ROWS; i++)
    pc_kernels_best()->linear->softmax(logits + i * K, K, probs + i * K);
  const pcal_batch a = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  const pcal_batch b = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, K);
  pcal_calibrator *first = help_fit(&a, "vector:on=log-probs"),
                  *second = help_fit(&b, "vector");
  char spec[PC_SPEC_MAX];
  pc_options_write(&second->options, 1, spec, sizeof spec);
  assert_string_equal(spec, "vector:on=log-probs");
  assert_true(help_warns(second, "probabilities were given: w and b act on their logarithms"));
  assert_near(first->fit.after, second->fit.after, 1e-10);
  pcal_calibrator_free(first);
  pcal_calibrator_free(second);
}

/* [3] */
TEST(absent_class_and_separable_labels) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.7);
  for (size_t i = 0; i < ROWS; i++)
    labels[i] = labels[i] == 3 ? 0 : labels[i];
  const pcal_batch absent = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *calibrator = help_fit(&absent, "vector");
  assert_int_equal(calibrator->fit.status, PC_FIT_STOPPED);
  assert_true(help_warns(calibrator, "class 3 never occurs among the labels"));
  help_apply(calibrator, &absent, out);
  for (size_t i = 0; i < ROWS; i++)
    assert_true(out[i * K + 3] < 1e-4);
  help_sound(calibrator, &absent);
  pcal_calibrator_free(calibrator);
  for (size_t i = 0; i < ROWS; i++) {
    labels[i] = 0;
    for (size_t j = 1; j < K; j++)
      labels[i] =
          logits[i * K + j] > logits[i * K + (size_t)labels[i]] ? (int32_t)j : labels[i];
  }
  calibrator = help_fit(&absent, "vector");
  assert_int_equal(calibrator->fit.status, PC_FIT_STOPPED);
  assert_true(help_warns(calibrator, "the scores separate the labels"));
  assert_true(calibrator->fit.after < 1e-4);
  help_sound(calibrator, &absent);
  pcal_calibrator_free(calibrator);
}

/* [4] */
TEST(calibrated_rows_stay) {
  const double probs[] = {0.75, 0.75, 0.75, 0.75};
  const int32_t y[] = {1, 1, 0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, y, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "vector");
  double q[4];
  help_apply(calibrator, &batch, q);
  assert_near(q[0], 0.75, 1e-9);
  assert_true(calibrator->fit.after <= calibrator->fit.before);
  pcal_calibrator_free(calibrator);
}

/* [5] */
TEST(labels_of_probability_zero_count) {
  const double probs[][2] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1}};
  const int32_t y[] = {0, 0, 0, 1, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], y, 6, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "vector");
  assert_same(calibrator->fit.before, (double)INFINITY);
  assert_true(isfinite(calibrator->fit.after));
  double q[6][2];
  help_apply(calibrator, &batch, q);
  assert_near(q[0][0], 0.75, 1e-3);
  pcal_calibrator_free(calibrator);
}

/* Many classes. */
TEST(many_classes) {
  help_draw(logits, labels, ROWS, WIDE, 2.0, 1.7);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, WIDE);
  pcal_calibrator *calibrator = help_fit(&batch, "vector"),
                  *one = help_fit(&batch, "temperature");
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_true(calibrator->fit.gradient <= 1e-8);
  assert_true(calibrator->fit.after < one->fit.after);
  help_apply(calibrator, &batch, out);
  assert_near(help_log(out, labels, ROWS, WIDE), calibrator->fit.after, 1e-12);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(one);
}

/* Enough rows to start on a sample: for every class, or for one slope only.  The gradient at
 * the result vanishes; threads and memory do not matter. */
TEST(starts_on_a_sample) {
  enum { MANY = 5000 };
  static const size_t widths[] = {3, 16};
  static double scores[MANY * 16];
  static int32_t truth[MANY];
  for (size_t t = 0; t < UNIT_COUNT(widths); t++) {
    const size_t k = widths[t];
    help_draw(scores, truth, MANY, k, 2.0, 1.7);
    const pcal_batch batch = help_batch(PCAL_LOGIT, scores, truth, MANY, k);
    pcal_calibrator *calibrator = help_fit(&batch, "vector"), *other = NULL;
    const pc_linear_model *model = calibrator->parameters;
    double gradient[32] = {0.0};
    for (size_t i = 0; i < MANY; i++) {
      double p[16], sum = 0.0;
      for (size_t j = 0; j < k; j++)
        sum += p[j] = exp(model->w[j] * scores[i * k + j] + model->b[j]);
      for (size_t j = 0; j < k; j++) {
        const double r = p[j] / sum - (truth[i] == (int32_t)j);
        gradient[j] += r * scores[i * k + j] / MANY;
        gradient[k + j] += r / MANY;
      }
    }
    for (size_t j = 0; j < 2 * k; j++)
      assert_true(fabs(gradient[j]) < 1e-8);
    assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
    for (int way = 0; way < 2; way++) {
      pcal_env env = PCAL_ENV_INIT;
      env.threads = way == 0 ? 3 : 1;
      env.memory_limit = way == 0 ? 0 : 10000;
      assert_int_equal(help_try_fit(&batch, "vector", &env, &other, NULL), PCAL_OK);
      const pc_linear_model *same = other->parameters;
      assert_memory_equal(same->w, model->w, k * sizeof *model->w);
      assert_memory_equal(same->b, model->b, k * sizeof *model->b);
      pcal_calibrator_free(other);
    }
    pcal_calibrator_free(calibrator);
  }
}

/* Hardly more rows than parameters: conjugate gradients make no progress. */
TEST(hardly_enough_rows) {
  enum { FEW = 2 * WIDE + 5 };
  help_draw(logits, labels, FEW, WIDE, 2.0, 1.0);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, FEW, WIDE);
  pcal_calibrator *calibrator = help_fit(&batch, "vector"),
                  *one = help_fit(&batch, "temperature");
  assert_true(calibrator->fit.gradient <= 1e-7);
  assert_true(calibrator->fit.after < one->fit.after);
  help_sound(calibrator, &batch);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(one);
}

TEST(extremes) {
  help_extremes("vector");
  help_extremes("vector:on=log-probs");
}

/* [6] A row of weight w counts as w rows, and at least as one. */
TEST(few_rows_are_refused) {
  static const char sentence[] = "vector has 8 parameters, too many for 5 rows; use "
                                 "temperature, or give more rows";
  static const double twos[5] = {2, 2, 2, 2, 2};
  static const double small[9] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  help_draw(logits, labels, 9, K, 2.0, 1.7);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 5, K);
  help_refused(&batch, "vector", PCAL_USAGE, sentence);
  batch.weights = twos;
  pcal_calibrator_free(help_fit(&batch, "vector"));
  batch.rows = 9;
  batch.weights = small;
  pcal_calibrator_free(help_fit(&batch, "vector"));
}

TEST(memory_runs_out_with_many_classes) {
  help_draw(logits, labels, 90, WIDE, 2.0, 1.7);
  const pcal_batch wide = help_batch(PCAL_LOGIT, logits, labels, 90, WIDE);
  help_scenario about = {&wide, "vector"};
  unit_fail_each_allocation(help_fit_and_apply, &about);
}

TEST(reads_only_its_parameters) {
  help_refuses("vector", "{}", "cal.json, line 9: the parameters of vector are w and b");
  help_refuses("vector", "{\"w\": [1, 1], \"b\": [0, 0], \"c\": 1}",
               "cal.json, line 9: the parameters of vector are w and b");
  help_refuses("vector", "{\"w\": [1], \"b\": [0, 0]}",
               "cal.json, line 9: w must hold 2 numbers, one for each class");
  help_refuses("vector", "{\"w\": [1, 1], \"b\": [0, 1e101]}",
               "cal.json, line 9: b must hold numbers of at most 1e100 in size");
  help_refuses("vector", "{\"w\": [1, \"1\"], \"b\": [0, 0]}",
               "cal.json, line 9: w must hold numbers of at most 1e100 in size");
}

/* Numbers in brackets are the edge cases of odir.c. */
#include "calibrators/fit.h"
#include "calibrators/linear/linear_model.h"
#include "convex_help.h"
#include "emulated.h"
#include "io/source.h"

enum { ROWS = 600, FEW = 120, K = 3 }; /* few for the search of penalties */

static double logits[ROWS * K], out[ROWS * K];
static int32_t labels[ROWS];

static pcal_batch drawn(void) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.6);
  return help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
}

/* The objective is the log score and the penalty at W and b, and cannot be lowered near them.
 */
TEST(the_objective_is_penalised) {
  const pcal_batch batch = drawn();
  pcal_calibrator *calibrator = help_fit(&batch, "matrix-odir:lambda=0.05,mu=0.2");
  const pc_linear_model *model = calibrator->parameters;
  double penalty = 0.0;
  for (size_t j = 0; j < K; j++) {
    penalty += 0.2 * model->b[j] * model->b[j];
    for (size_t c = 0; c < K; c++)
      penalty += c == j
                     ? 0.0
                     : 0.05 * model->w[j * model->stride + c] * model->w[j * model->stride + c];
  }
  help_apply(calibrator, &batch, out);
  const double best = help_log(out, labels, ROWS, K) + penalty;
  assert_near(calibrator->fit.after, best, 1e-12);
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  for (size_t i = 0; i < K * K; i++) {
    double *entry = &model->w[i / K * model->stride + i % K];
    const double kept = *entry, square = i / K == i % K ? 0.0 : 0.05;
    for (int side = -1; side <= 1; side += 2) {
      *entry = kept + side * 0.01;
      help_apply(calibrator, &batch, out);
      assert_true(help_log(out, labels, ROWS, K) + penalty +
                      square * (*entry * *entry - kept * kept) >
                  best);
    }
    *entry = kept;
  }
  pcal_calibrator_free(calibrator);
}

/* [2] A large penalty leaves vector scaling; mu = 0 leaves the shift free. */
TEST(ends_of_the_penalty) {
  const pcal_batch batch = drawn();
  pcal_calibrator *vector = help_fit(&batch, "vector");
  pcal_calibrator *stiff = help_fit(&batch, "matrix-odir:lambda=1e9,mu=0");
  const pc_linear_model *model = stiff->parameters;
  assert_near(stiff->fit.after, vector->fit.after, 1e-6);
  assert_true(fabs(model->w[1]) < 1e-6);
  pcal_calibrator_free(vector);
  pcal_calibrator_free(stiff);
}

/* [3] The choice is on the grid, repeatable, and independent of memory and threads. */
TEST(chooses_by_cross_validation) {
  pcal_batch batch = drawn();
  batch.rows = FEW;
  sink_bytes texts[3];
  for (unsigned i = 0; i < 3; i++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_calibrator *calibrator = NULL;
    env.threads = i == 1 ? 3 : 1;
    env.memory_limit = i == 2 ? 1000 : 0;
    assert_int_equal(help_try_fit(&batch, "dirichlet-odir", &env, &calibrator, NULL), PCAL_OK);
    const pc_linear_model *model = calibrator->parameters;
    const double power = log10(model->mu);
    assert_near(power, round(power), 1e-9);
    assert_true(model->lambda >= 2.4e-6 && model->lambda <= 1e6);
    texts[i] = help_save(calibrator);
    pcal_calibrator_free(calibrator);
  }
  assert_string_equal(texts[0].bytes, texts[1].bytes);
  assert_string_equal(texts[0].bytes, texts[2].bytes);
  for (int i = 0; i < 3; i++)
    free(texts[i].bytes);
}

TEST(one_of_them_may_be_fixed) {
  pcal_batch batch = drawn();
  batch.rows = FEW;
  pcal_calibrator *calibrator = help_fit(&batch, "matrix-odir:lambda=0.125");
  const pc_linear_model *model = calibrator->parameters;
  assert_same(model->lambda, 0.125);
  assert_true(model->mu >= 1e-5 && model->mu <= 1e6);
  pcal_calibrator_free(calibrator);
}

TEST(nothing_to_choose_by) {
  const double same[6] = {1, 0, 1, 0, 1, 0};
  const int32_t ones[3] = {0, 0, 0};
  const pcal_batch batch = help_batch(PCAL_LOGIT, same, ones, 3, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "matrix-odir");
  const pc_linear_model *model = calibrator->parameters;
  assert_same(model->lambda, 1.0);
  assert_same(model->mu, 1.0);
  assert_true(help_warns(calibrator, "too few or too similar for cross-validation"));
  help_sound(calibrator, &batch);
  pcal_calibrator_free(calibrator);
}

/* [4] */
TEST(an_average_of_five) {
  const pcal_batch batch = drawn();
  pcal_calibrator *calibrator =
      help_fit(&batch, "dirichlet-odir:lambda=0.1,mu=0.01,ensemble=folds");
  pcal_calibrator *one = help_fit(&batch, "dirichlet-odir:lambda=0.1,mu=0.01");
  const pc_linear_model *model = calibrator->parameters;
  assert_int_equal(model->members, 5);
  help_apply(calibrator, &batch, out);
  assert_near(help_log(out, labels, ROWS, K), calibrator->fit.after, 1e-12);
  assert_near(calibrator->fit.after, one->fit.after, 0.05);
  for (size_t i = 0; i < ROWS; i++)
    assert_near(out[i * K] + out[i * K + 1] + out[i * K + 2], 1.0, 1e-14);
  char word[64];
  assert_string_equal(pc_calibrator_objective(calibrator, word, sizeof word), "log");
  assert_string_equal(pc_calibrator_objective(one, word, sizeof word), "log+penalty");
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(one);
}

/* A fit that starts from a similar calibrator has the same result. */
TEST(start_from_a_similar_one) {
  static const char *const methods[] = {"matrix-odir:lambda=0.02,mu=0.1", "matrix",
                                        "dirichlet-odir:lambda=0.02,mu=0.1,ensemble=folds"};
  const pcal_env env = pc_env_resolve(NULL);
  pcal_batch batch = drawn(), part = batch;
  part.rows = ROWS / 2;
  for (size_t m = 0; m < 3; m++) {
    pcal_calibrator *like = help_fit(&part, methods[m]), *cold = help_fit(&batch, methods[m]);
    pcal_calibrator *warm = NULL;
    pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
    pcal_source *source = NULL;
    config.method = methods[m];
    assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, NULL), PCAL_OK);
    assert_int_equal(pc_fit_run_like(source, &config, like, &env, &warm, NULL), PCAL_OK);
    const pc_linear_model *one = cold->parameters, *other = warm->parameters;
    for (size_t i = 0; i < one->members * K * one->stride; i++)
      assert_true(fabs(one->w[i] - other->w[i]) < 1e-7);
    assert_near(cold->fit.after, warm->fit.after, 1e-12);
    assert_true(warm->fit.iterations <= cold->fit.iterations);
    pcal_source_free(source);
    pcal_calibrator_free(like);
    pcal_calibrator_free(cold);
    pcal_calibrator_free(warm);
  }
}

/* With many classes, for which searches use products with the Hessian and folds follow each other:
 * the same choice for any number of threads and any memory. */
TEST(chooses_with_many_classes) {
  enum { MANY = 21, SOME = 300 };
  static double wide[SOME * MANY];
  static int32_t wide_labels[SOME];
  sink_bytes texts[3];
  help_draw(wide, wide_labels, SOME, MANY, 2.0, 1.2);
  const pcal_batch batch =
      help_batch(PCAL_LOGIT, wide, wide_labels, fewer_if_emulated(SOME, 100), MANY);
  for (unsigned i = 0; i < 3; i++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_calibrator *calibrator = NULL;
    env.threads = i == 1 ? 3 : 1;
    env.memory_limit = i == 2 ? 3000000 : 0;
    assert_int_equal(help_try_fit(&batch, "matrix-odir", &env, &calibrator, NULL), PCAL_OK);
    const pc_linear_model *model = calibrator->parameters;
    const double power = log10(model->lambda);
    assert_near(power, round(power), 1e-9);
    assert_true(model->mu == 1e-4 || model->mu == 0.1 || model->mu == 100.0);
    texts[i] = help_save(calibrator);
    pcal_calibrator_free(calibrator);
  }
  assert_string_equal(texts[0].bytes, texts[1].bytes);
  assert_string_equal(texts[0].bytes, texts[2].bytes);
  for (int i = 0; i < 3; i++)
    free(texts[i].bytes);
}

TEST(extremes) {
  help_extremes("dirichlet-odir:lambda=0.01,mu=0.01,ensemble=folds");
  if (emulated())
    return; /* the others take long */
  help_extremes("matrix-odir:lambda=0.01,mu=0.01");
  help_extremes("dirichlet-odir:lambda=1,mu=0");
  help_extremes("matrix-odir:mu=0.01");
}

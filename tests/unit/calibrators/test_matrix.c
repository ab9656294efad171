#include "calibrators/linear/linear_model.h"
#include "convex_help.h"

enum { ROWS = 2500, K = 4, WIDE = 16 };

static double logits[ROWS * WIDE], out[ROWS * WIDE];
static int32_t labels[ROWS];

/* Labels that confuse two classes: the matrix corrects that, the vector cannot. */
TEST(corrects_confusions) {
  static const size_t sizes[] = {K, WIDE};
  for (size_t s = 0; s < 2; s++) {
    const size_t k = sizes[s];
    help_draw(logits, labels, ROWS, k, 2.0, 1.3);
    for (size_t i = 0; i < ROWS; i++)
      labels[i] = labels[i] == 0 && i % 3 == 0 ? 1 : labels[i];
    const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, k);
    pcal_calibrator *matrix = help_fit(&batch, "matrix"), *vector = help_fit(&batch, "vector");
    assert_int_equal(matrix->fit.status, PC_FIT_CONVERGED);
    assert_true(matrix->fit.gradient <= 1e-8);
    assert_true(matrix->fit.after < vector->fit.after - 1e-3);
    help_apply(matrix, &batch, out);
    assert_near(help_log(out, labels, ROWS, k), matrix->fit.after, 1e-12);
    /* Columns of W and b have mean 0. */
    const pc_linear_model *model = matrix->parameters;
    for (size_t j = 0; j <= k; j++) {
      double mean = 0.0;
      for (size_t c = 0; c < k; c++)
        mean += j < k ? model->w[j * model->stride + c] : model->b[c];
      assert_true(fabs(mean) < 1e-10);
    }
    pcal_calibrator_free(matrix);
    pcal_calibrator_free(vector);
  }
}

/* Both searches find the same minimum: lambda = mu = 0 is no penalty. */
TEST(no_penalty_is_the_same) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.3);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *matrix = help_fit(&batch, "matrix");
  pcal_calibrator *odir = help_fit(&batch, "matrix-odir:lambda=0,mu=0");
  assert_near(odir->fit.after, matrix->fit.after, 1e-12);
  pcal_calibrator_free(matrix);
  pcal_calibrator_free(odir);
}

TEST(extremes) {
  help_extremes("matrix");
  help_extremes("matrix:on=log-probs");
}

TEST(few_rows_are_refused) {
  help_draw(logits, labels, 60, WIDE, 2.0, 1.3);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 60, WIDE);
  help_refused(&batch, "matrix", PCAL_USAGE,
               "matrix has 272 parameters, too many for 60 rows; use vector, or give more "
               "rows");
  help_refused(&batch, "matrix-odir:lambda=0,mu=1", PCAL_USAGE,
               "matrix-odir has 272 parameters, too many for 60 rows; use vector, or give "
               "more rows");
  pcal_calibrator *calibrator = help_fit(&batch, "matrix-odir:lambda=1,mu=1");
  help_sound(calibrator, &batch);
  pcal_calibrator_free(calibrator);
  batch.rows = 30;
  help_refused(&batch, "matrix", PCAL_USAGE,
               "matrix has 272 parameters, too many for 30 rows; use temperature, or give "
               "more rows");
}

/* Neither memory nor threads change the result of either search. */
TEST(memory_and_threads_do_not_matter) {
  help_draw(logits, labels, ROWS, WIDE, 2.0, 1.3);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, WIDE);
  sink_bytes texts[3];
  for (unsigned i = 0; i < 3; i++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_calibrator *calibrator = NULL;
    env.threads = i == 2 ? 3 : 1;
    env.memory_limit = i == 1 ? 1000 : 0;
    assert_int_equal(help_try_fit(&batch, "matrix", &env, &calibrator, NULL), PCAL_OK);
    texts[i] = help_save(calibrator);
    pcal_calibrator_free(calibrator);
  }
  assert_string_equal(texts[0].bytes, texts[1].bytes);
  assert_string_equal(texts[0].bytes, texts[2].bytes);
  for (int i = 0; i < 3; i++)
    free(texts[i].bytes);
}

TEST(memory_runs_out_with_many_classes) {
  help_draw(logits, labels, 280, WIDE, 2.0, 1.3);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 280, WIDE);
  help_scenario about = {&batch, "matrix"};
  unit_fail_each_allocation(help_fit_and_apply, &about);
}

TEST(reads_only_its_parameters) {
  help_refuses("matrix", "{\"w\": [1, 1], \"b\": [0, 0]}",
               "cal.json, line 9: the parameters of matrix are W and b");
  help_refuses("matrix", "{\"W\": [[1, 0]], \"b\": [0, 0]}",
               "cal.json, line 9: W must hold 2 rows, one for each class");
  help_refuses("matrix", "{\"W\": [[1, 0], [0]], \"b\": [0, 0]}",
               "cal.json, line 9: a row of W must hold 2 numbers, one for each class");
  help_refuses("matrix-odir", "{\"W\": [[1, 0], [0, 1]], \"b\": [0, 0]}",
               "cal.json, line 9: the parameters of matrix-odir are W, b, lambda and mu");
  help_refuses("dirichlet-odir",
               "{\"W\": [[1, 0], [0, 1]], \"b\": [0, 0], \"lambda\": -1, \"mu\": 0}",
               "cal.json, line 9: lambda and mu must be numbers, 0 or more");
  help_refuses("matrix-odir:ensemble=folds",
               "{\"W\": [[1, 0], [0, 1]], \"b\": [0, 0], \"lambda\": 1, \"mu\": 0}",
               "cal.json, line 9: W and b must hold 5 maps, one for each fold");
}

/* Products against the Hessian of linear_pass.h. */
#include "calibrators/linear/linear_curvature.h"

#include "convex_help.h"

enum { ROWS = 300, K = 5, N = K * (K + 1) };

static double logits[ROWS * K], weights[ROWS];
static int32_t labels[ROWS];

typedef struct curved {
  help_task task;
  pc_fit_rows rows;
  pc_linear_pass pass;
  pc_linear_curvature curvature;
  double at[N];
} curved;

static void curved_open(curved *out, int weighted, int limited) {
  const pc_rng rng = {6, 6};
  pcal_env env = PCAL_ENV_INIT;
  help_draw(logits, labels, ROWS, K, 2.0, 1.5);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = i % 40 == 3 ? 300.0 : (double)(1 + i % 3);
  batch.weights = weighted ? weights : NULL;
  env.memory_limit = limited ? 1000 : 0;
  help_task_open(&out->task, &batch, "matrix", &env);
  assert_int_equal(
      pc_fit_rows_open(&out->task.task, PC_FEATURE_SCORES, PC_FIT_PLAIN, &out->rows, NULL),
      PCAL_OK);
  assert_int_equal(pc_linear_pass_new(&out->rows, PC_LINEAR_GRADIENT | PC_LINEAR_HESSIAN, 0,
                                      &out->pass, NULL),
                   PCAL_OK);
  assert_int_equal(pc_linear_curvature_new(&out->pass, &out->curvature, NULL), PCAL_OK);
  for (size_t i = 0; i < N; i++)
    out->at[i] = 0.5 * pc_rng_normal(&rng, i);
  assert_int_equal(pc_linear_pass_run(&out->pass, out->at, PC_LINEAR_HESSIAN, NULL), PCAL_OK);
  out->curvature.off = 0.01;
  out->curvature.shift = 0.02;
  assert_int_equal(pc_linear_curvature_set_point(&out->curvature, out->at, NULL), PCAL_OK);
}

static void curved_close(curved *about) {
  help_task_close(&about->task);
}

TEST(products_are_those_of_the_hessian) {
  const pc_rng rng = {6, 7};
  double v[N], out[2][N];
  for (size_t i = 0; i < N; i++)
    v[i] = 30.0 * pc_rng_normal(&rng, i);
  for (int weighted = 0; weighted < 2; weighted++)
    for (int limited = 0; limited < 2; limited++) {
      curved about;
      curved_open(&about, weighted, limited);
      assert_int_equal(about.rows.kept, !limited);
      assert_int_equal(pc_linear_curvature_multiply(&about.curvature, v, out[limited], NULL),
                       PCAL_OK);
      for (size_t i = 0; i < N; i++) {
        const size_t j = i / K, c = i % K;
        double expected = 2.0 * (j == K ? 0.02 : j == c ? 0.0 : 0.01) * v[i];
        for (size_t l = 0; l < N; l++)
          expected += about.pass.hessian[i * N + l] * v[l];
        /* Small probabilities are left out, the others are floats. */
        assert_true(fabs(out[limited][i] - expected) < 2e-3);
      }
      if (limited)
        assert_memory_equal(out[0], out[1], sizeof out[0]);
      curved_close(&about);
    }
}

/* A block times its inverse is the identity, for a vector of one class. */
TEST(blocks_are_inverted) {
  curved about;
  double v[N] = {0.0}, product[N];
  curved_open(&about, 0, 0);
  for (size_t j = 0; j <= K; j++)
    v[j * K + 2] = 1.0 + (double)j;
  assert_int_equal(pc_linear_curvature_multiply(&about.curvature, v, product, NULL), PCAL_OK);
  for (size_t i = 0; i < N; i++)
    product[i] = i % K == 2 ? product[i] : 0.0;
  pc_linear_curvature_precondition(&about.curvature, product);
  for (size_t j = 0; j <= K; j++)
    assert_near(product[j * K + 2], v[j * K + 2], 0.1);
  curved_close(&about);
}

/* On one thread, as the folds of a cross-validation run, the bits are the same. */
TEST(serial_passes) {
  const pc_rng rng = {6, 8};
  double v[N], out[2][N], zero[N] = {0.0};
  for (size_t i = 0; i < N; i++)
    v[i] = pc_rng_normal(&rng, i);
  for (int serial = 0; serial < 2; serial++) {
    curved about;
    pc_linear_pass pass;
    pc_linear_curvature curvature;
    curved_open(&about, 1, 0);
    assert_int_equal(pc_linear_pass_new(&about.rows, PC_LINEAR_GRADIENT, serial, &pass, NULL),
                     PCAL_OK);
    assert_int_equal(pc_linear_curvature_new(&pass, &curvature, NULL), PCAL_OK);
    assert_int_equal(pc_linear_pass_run(&pass, about.at, PC_LINEAR_GRADIENT, NULL), PCAL_OK);
    assert_int_equal(pc_linear_curvature_set_point(&curvature, about.at, NULL), PCAL_OK);
    assert_int_equal(pc_linear_curvature_multiply(&curvature, v, out[serial], NULL), PCAL_OK);
    pc_linear_curvature_precondition(&curvature, out[serial]);
    assert_int_equal(pc_linear_curvature_multiply(&curvature, zero, zero, NULL), PCAL_OK);
    for (size_t i = 0; i < N; i++)
      assert_true(zero[i] == 0.0);
    curved_close(&about);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
}

/* Blocks stay from point to point after few products, but for the penalties. */
TEST(old_blocks) {
  curved about;
  double before[N], after[N];
  curved_open(&about, 0, 0);
  for (size_t i = 0; i < N; i++)
    before[i] = after[i] = 1.0;
  pc_linear_curvature_precondition(&about.curvature, before);
  for (size_t i = 0; i < N; i++)
    about.at[i] *= 0.5;
  assert_int_equal(pc_linear_curvature_set_point(&about.curvature, about.at, NULL), PCAL_OK);
  pc_linear_curvature_precondition(&about.curvature, after);
  assert_memory_equal(before, after, sizeof before);
  about.curvature.off = 1e9; /* W off the diagonal hardly moves */
  assert_int_equal(pc_linear_curvature_set_point(&about.curvature, about.at, NULL), PCAL_OK);
  for (size_t i = 0; i < N; i++)
    after[i] = 1.0;
  pc_linear_curvature_precondition(&about.curvature, after);
  for (size_t i = 0; i < K * K; i++)
    assert_int_equal(fabs(after[i]) < 1e-8, i % K != i / K);
  curved_close(&about);
}

/* Beyond PC_LINEAR_BLOCKS classes only the diagonal of a block is used: the entry of the Hessian that
 * a product with a unit vector gives. */
TEST(diagonals_of_many_classes) {
  enum { MANY = PC_LINEAR_BLOCKS + 1, FEW = 200 };
  static double scores[FEW * MANY], at[MANY * (MANY + 1)], v[MANY * (MANY + 1)];
  static double product[MANY * (MANY + 1)];
  static int32_t targets[FEW];
  const pcal_env env = PCAL_ENV_INIT;
  help_task task;
  pc_fit_rows rows;
  pc_linear_pass pass;
  pc_linear_curvature curvature;
  help_draw(scores, targets, FEW, MANY, 1.0, 1.0);
  pcal_batch batch = help_batch(PCAL_LOGIT, scores, targets, FEW, MANY);
  help_task_open(&task, &batch, "matrix", &env);
  assert_int_equal(pc_fit_rows_open(&task.task, PC_FEATURE_SCORES, PC_FIT_PLAIN, &rows, NULL),
                   PCAL_OK);
  assert_int_equal(pc_linear_pass_new(&rows, PC_LINEAR_GRADIENT, 0, &pass, NULL), PCAL_OK);
  assert_int_equal(pc_linear_curvature_new(&pass, &curvature, NULL), PCAL_OK);
  for (size_t c = 0; c < MANY; c++)
    at[c * MANY + c] = 1.0;
  assert_int_equal(pc_linear_pass_run(&pass, at, PC_LINEAR_GRADIENT, NULL), PCAL_OK);
  curvature.off = curvature.shift = 0.01;
  assert_int_equal(pc_linear_curvature_set_point(&curvature, at, NULL), PCAL_OK);
  for (size_t j = 0; j <= MANY; j += MANY / 3) {
    const size_t place = j * MANY + 2;
    memset(v, 0, sizeof v);
    v[place] = 1.0;
    assert_int_equal(pc_linear_curvature_multiply(&curvature, v, product, NULL), PCAL_OK);
    memset(v, 0, sizeof v);
    v[place] = product[place];
    pc_linear_curvature_precondition(&curvature, v);
    assert_near(v[place], 1.0, 0.05);
  }
  help_task_close(&task);
}

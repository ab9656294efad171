#include "calibrators/fit_rows.h"

#include "base/float_bits.h"
#include "convex_help.h"
#include "io/source.h"

enum { ROWS = 900, K = 4 };

static double logits[ROWS * K];
static int32_t labels[ROWS];

static pcal_batch drawn(void) {
  help_draw(logits, labels, ROWS, K, 3.0, 1.5);
  return help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
}

typedef struct seen {
  double sum;
  size_t rows, folds[PC_FIT_FOLDS];
  uint64_t mixed; /* does not depend on the order of rows */
} seen;

static pcal_status look(void *user, size_t worker, const pc_fit_block *block, pcal_error *err) {
  seen *out = user;
  (void)err;
  assert_int_equal(worker, 0);
  for (size_t i = 0; i < block->count; i++) {
    out->rows++;
    out->folds[block->folds[i]]++;
    for (size_t j = 0; j < K; j++) {
      out->sum += block->x[i * K + j];
      out->mixed += pc_double_bits(block->x[i * K + j]) * (block->folds[i] + 1u);
    }
  }
  return PCAL_OK;
}

TEST(finds_scale_and_counts) {
  const pcal_batch batch = drawn();
  pcal_env env = PCAL_ENV_INIT;
  help_task task;
  pc_fit_rows rows;
  double expected = 0.0, largest = 0.0, sum = 0.0, classes = 0.0;
  env.threads = 1;
  help_task_open(&task, &batch, "vector", &env);
  assert_int_equal(pc_fit_rows_open(&task.task, PC_FEATURE_SCORES, PC_FIT_FOLDED, &rows, NULL),
                   PCAL_OK);
  for (size_t i = 0; i < ROWS; i++) {
    double size = 0.0, norm = 0.0;
    for (size_t j = 0; j < K; j++) {
      size = fmax(size, fabs(logits[i * K + j]));
      norm += exp(logits[i * K + j]);
      sum += logits[i * K + j];
    }
    expected += ilogb(size) + 1;
    largest = fmax(largest, size);
    classes += log(norm) - logits[i * K + (size_t)labels[i]];
  }
  assert_int_equal(rows.exponent, (int)ceil(expected / ROWS));
  assert_true(ldexp(largest, -rows.exponent) * rows.shrink <= 1.0);
  assert_true(ldexp(largest, -rows.exponent) * rows.shrink > 0.5);
  assert_same(rows.weight, (double)ROWS);
  assert_near(rows.before, classes / ROWS, 1e-13);
  assert_near(rows.class_weight[0] + rows.class_weight[1] + rows.class_weight[2] +
                  rows.class_weight[3],
              (double)ROWS, 1e-15);
  assert_int_equal(rows.kept, 1);
  assert_int_equal(rows.count, ROWS);
  seen all = {0};
  assert_int_equal(pc_fit_rows_run(&rows, look, NULL, &all, NULL), PCAL_OK);
  assert_int_equal(all.rows, ROWS);
  assert_near(ldexp(all.sum, rows.exponent), sum, 1e-9);
  for (size_t f = 0; f < PC_FIT_FOLDS; f++)
    assert_true(all.folds[f] > ROWS / 8 && all.folds[f] < ROWS / 3);
  help_task_close(&task);
}

/* Labels that are distributions over classes: the rows of one row of the data are in one fold. */
static pcal_status look_soft(void *user, size_t worker, const pc_fit_block *block,
                             pcal_error *err) {
  size_t *counted = user;
  (void)err;
  (void)worker;
  for (size_t i = 0; i < block->count; i++) {
    const size_t first = i - i % K;
    assert_int_equal(block->labels[i], i % K);
    assert_int_equal(block->folds[i], block->folds[first]);
    counted[block->folds[i]]++;
  }
  return PCAL_OK;
}

TEST(shares_of_a_row_are_in_one_fold) {
  static double shares[ROWS * K];
  const pcal_batch batch = drawn();
  pcal_env env = PCAL_ENV_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_input scores = PCAL_INPUT_INIT, truth = PCAL_INPUT_INIT;
  pcal_source *source = NULL;
  help_task task;
  pc_fit_rows rows;
  size_t counted[PC_FIT_FOLDS] = {0};
  env.threads = 1;
  for (size_t i = 0; i < ROWS * K; i++)
    shares[i] = i % K == (size_t)labels[i / K] ? 0.625 : 0.125;
  scores.data = logits;
  truth.data = shares;
  scores.type = truth.type = PCAL_F64;
  scores.rows = truth.rows = ROWS;
  scores.columns = truth.columns = K;
  inputs.logits = &scores;
  inputs.labels = &truth;
  assert_int_equal(pcal_source_open(&inputs, &env, &source, NULL), PCAL_OK);
  pc_source_allow_soft(source);
  help_task_open(&task, &batch, "vector", &env);
  pc_fit_task soft = task.task;
  soft.source = source;
  assert_int_equal(pc_fit_rows_open(&soft, PC_FEATURE_SCORES, PC_FIT_FOLDED, &rows, NULL),
                   PCAL_OK);
  assert_int_equal(pc_fit_rows_run(&rows, look_soft, NULL, counted, NULL), PCAL_OK);
  for (size_t f = 0; f < PC_FIT_FOLDS; f++)
    assert_true(counted[f] > ROWS * K / 8);
  help_task_close(&task);
  pcal_source_free(source);
}

/* Kept rows and rows read again have the same features and folds. */
TEST(kept_and_reread_rows_agree) {
  static const pc_feature features[] = {PC_FEATURE_SCORES, PC_FEATURE_LOG_PROBS};
  const pcal_batch batch = drawn();
  for (size_t f = 0; f < 2; f++) {
    uint64_t mixed[3];
    for (int limited = 0; limited < 3; limited++) {
      pcal_env env = PCAL_ENV_INIT;
      help_task task;
      pc_fit_rows rows;
      seen all = {0};
      env.threads = 1;
      env.memory_limit = limited == 1 ? 1000 : 0;
      help_task_open(&task, &batch, "vector", &env);
      assert_int_equal(pc_fit_rows_open(&task.task, features[f], PC_FIT_FOLDED, &rows, NULL),
                       PCAL_OK);
      assert_int_equal(rows.kept, limited != 1);
      if (limited == 2)
        assert_int_equal(pc_fit_rows_run_serial(&rows, 0, look, &all, NULL), PCAL_OK);
      else
        assert_int_equal(pc_fit_rows_run(&rows, look, NULL, &all, NULL), PCAL_OK);
      mixed[limited] = all.mixed;
      help_task_close(&task);
    }
    assert_true(mixed[0] == mixed[1] && mixed[0] == mixed[2]);
  }
}

/* Equal rows are in one fold, wherever they are; another seed gives other folds. */
TEST(folds_depend_on_content) {
  pcal_batch batch = drawn();
  memcpy(logits + (ROWS - 1) * K, logits, K * sizeof *logits);
  labels[ROWS - 1] = labels[0];
  uint64_t mixed[2];
  for (uint64_t seed = 0; seed < 2; seed++) {
    pcal_env env = PCAL_ENV_INIT;
    help_task task;
    pc_fit_rows rows;
    seen all = {0};
    env.threads = 1;
    env.seed = seed;
    help_task_open(&task, &batch, "vector", &env);
    assert_int_equal(
        pc_fit_rows_open(&task.task, PC_FEATURE_SCORES, PC_FIT_FOLDED, &rows, NULL), PCAL_OK);
    assert_int_equal(pc_fit_rows_run(&rows, look, NULL, &all, NULL), PCAL_OK);
    mixed[seed] = all.mixed;
    help_task_close(&task);
  }
  assert_true(mixed[0] != mixed[1]);
}

/* Transposed rows are undivided, in tiles if they are kept. */
typedef struct turned {
  const pc_fit_rows *rows;
  double sum;
  size_t places;
} turned;

static pcal_status add_turned(void *user, size_t worker, const pc_fit_block *block,
                              pcal_error *err) {
  turned *out = user;
  (void)worker;
  (void)err;
  assert_int_equal(block->first % PC_LANES, 0);
  for (size_t i = 0; i < (block->count + PC_LANES - 1) / PC_LANES * PC_LANES; i++) {
    const size_t lane = i % PC_LANES;
    for (size_t j = 0; j < K; j++) {
      const size_t at = (i - lane) * K + j * PC_LANES + lane;
      const double x = block->transposed == NULL ? i < block->count ? block->x[i * K + j] : 0.0
                       : out->rows->floats ? (double)((const float *)block->transposed)[at]
                                           : ((const double *)block->transposed)[at];
      out->sum += x * (double)(i < block->count ? block->labels[i] + 1 + (int32_t)j : 1000);
    }
  }
  out->places += block->count;
  return PCAL_OK;
}

TEST(transposed_rows) {
  static float floats[ROWS * K];
  double expected = 0.0;
  pcal_batch batch = drawn();
  for (size_t i = 0; i < ROWS * K; i++) {
    floats[i] = (float)(logits[i] = ldexp(rint(ldexp(logits[i], 10)), -10));
    expected += logits[i] * (double)(labels[i / K] + 1 + (int32_t)(i % K));
  }
  for (int way = 0; way < 4; way++) {
    pcal_env env = PCAL_ENV_INIT;
    help_task task;
    pc_fit_rows rows;
    env.threads = 1;
    env.memory_limit = way & 1 ? 1000 : 0;
    batch.scores = way & 2 ? (const void *)floats : (const void *)logits;
    batch.type = way & 2 ? PCAL_F32 : PCAL_F64;
    batch.column_stride = way & 2 ? sizeof(float) : sizeof(double);
    batch.row_stride = K * batch.column_stride;
    help_task_open(&task, &batch, "vector", &env);
    assert_int_equal(
        pc_fit_rows_open(&task.task, PC_FEATURE_SCORES, PC_FIT_TRANSPOSED, &rows, NULL),
        PCAL_OK);
    assert_int_equal(rows.kept, !(way & 1));
    assert_int_equal(rows.floats, way >> 1);
    if (rows.kept)
      assert_int_equal(rows.padded_count, (ROWS + PC_LANES - 1) / PC_LANES * PC_LANES);
    turned seen_turned = {&rows, 0.0, 0};
    assert_int_equal(pc_fit_rows_run(&rows, add_turned, NULL, &seen_turned, NULL), PCAL_OK);
    assert_int_equal(seen_turned.places, ROWS);
    assert_same(seen_turned.sum, expected);
    help_task_close(&task);
  }
}

TEST(labels_of_probability_zero) {
  const double probs[] = {1.0, 0.0, 0.5, 0.5};
  const int32_t truth[] = {1, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, truth, 2, 2);
  help_task task;
  pc_fit_rows rows;
  help_task_open(&task, &batch, "vector", NULL);
  assert_int_equal(pc_fit_rows_open(&task.task, PC_FEATURE_SCORES, PC_FIT_PLAIN, &rows, NULL),
                   PCAL_OK);
  assert_int_equal(rows.impossible, 1);
  assert_same(rows.before, (double)INFINITY);
  help_task_close(&task);
}

#include "calibrators/linear/vector_sample.h"

#include "convex_help.h"

enum { ROWS = 4000, K = 3, WANTED = 400 };

static double logits[ROWS * K], weights[ROWS];
static int32_t labels[ROWS];

/* The contents of a sample, in any order. */
typedef struct held {
  size_t count;
  double weight, sum;
} held;

static held draw(const pcal_batch *batch, unsigned threads, uint64_t limit) {
  pcal_env env = PCAL_ENV_INIT;
  help_task task;
  pc_fit_rows rows;
  pc_vector_sample sample;
  env.threads = threads;
  env.memory_limit = limit;
  help_task_open(&task, batch, "vector", &env);
  assert_int_equal(
      pc_fit_rows_open(&task.task, PC_FEATURE_SCORES, PC_FIT_TRANSPOSED, &rows, NULL), PCAL_OK);
  assert_int_equal(pc_vector_sample_draw(&rows, WANTED, &sample, NULL), PCAL_OK);
  held out = {sample.block.count, sample.weight, 0.0};
  for (size_t i = 0; i < out.count; i++)
    for (size_t j = 0; j < K; j++) {
      const double x =
          ((const double *)
               sample.block.transposed)[(i / PC_LANES * K + j) * PC_LANES + i % PC_LANES];
      const double weight = sample.block.weights == NULL ? 1.0 : sample.block.weights[i];
      out.sum += weight * ldexp(rint(x * 1024.0), -10) * (double)(sample.block.labels[i] + 1);
    }
  pc_vector_sample_free(&sample);
  help_task_close(&task);
  return out;
}

static void assert_held(held a, held b) {
  assert_same(a.weight, b.weight);
  assert_same(a.sum, b.sum);
}

/* About as many rows as wanted, the same for any order, number of threads and memory. */
TEST(depends_on_rows_alone) {
  static double turned[ROWS * K];
  static int32_t turned_labels[ROWS];
  help_draw(logits, labels, ROWS, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  const held one = draw(&batch, 1, 0);
  assert_true(one.count > WANTED / 2 && one.count < 2 * WANTED);
  assert_same(one.weight, (double)one.count);
  assert_held(one, draw(&batch, 4, 0));
  assert_held(one, draw(&batch, 1, 1000));
  for (size_t i = 0; i < ROWS; i++) {
    memcpy(turned + i * K, logits + (ROWS - 1 - i) * K, K * sizeof *turned);
    turned_labels[i] = labels[ROWS - 1 - i];
  }
  const pcal_batch back = help_batch(PCAL_LOGIT, turned, turned_labels, ROWS, K);
  assert_held(one, draw(&back, 1, 0));
}

/* A row of weight 2 is two rows. */
TEST(weights_are_rows) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.5);
  for (size_t i = 0; i < ROWS / 2; i++) {
    memcpy(logits + (ROWS / 2 + i) * K, logits + i * K, K * sizeof *logits);
    labels[ROWS / 2 + i] = labels[i];
    weights[i] = 2.0;
  }
  const pcal_batch twice = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_batch once = help_batch(PCAL_LOGIT, logits, labels, ROWS / 2, K);
  once.weights = weights;
  const held a = draw(&twice, 1, 0), b = draw(&once, 1, 0);
  assert_held(a, b);
  assert_int_equal(a.count, 2 * b.count);
}

/* The sample is empty if all rows are equal, or few. */
TEST(may_be_empty) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.5);
  const pcal_batch few = help_batch(PCAL_LOGIT, logits, labels, WANTED, K);
  assert_int_equal(draw(&few, 1, 0).count, 0);
  for (size_t first = 0; first < 30; first++) {
    for (size_t i = 0; i < ROWS; i++) {
      for (size_t j = 0; j < K; j++)
        logits[i * K + j] = (double)(first + j);
      labels[i] = 1;
    }
    const pcal_batch same = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
    assert_int_equal(draw(&same, 1, 0).count, 0);
  }
}

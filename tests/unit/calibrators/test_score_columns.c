/* The columns that a fit gets, against scores sorted by hand. */
#include "calibrators/score_columns.h"

#include "calibrator_help.h"
#include "io/source.h"

#define ROWS 700
#define K 4

typedef struct seen {
  pcal_env env;
  size_t tables;
  pc_sorted_column misses[K], hits[K];
} seen;

static pc_sorted_column seen_copy(const pc_sorted_column *from) {
  pc_sorted_column copy = {malloc((from->count + 1) * sizeof(double)),
                           malloc((from->count + 1) * sizeof(double)), from->count};
  memcpy(copy.score, from->score, from->count * sizeof(double));
  for (size_t i = 0; i < from->count; i++)
    copy.weight[i] = from->weight == NULL ? 1.0 : from->weight[i];
  return copy;
}

static pcal_status seen_use(void *user, const pcal_env *scratch, size_t column,
                            const pc_sorted_column *misses, const pc_sorted_column *hits,
                            pcal_error *err) {
  seen *all = user;
  (void)scratch;
  (void)err;
  all->misses[column] = seen_copy(misses);
  all->hits[column] = seen_copy(hits);
  return PCAL_OK;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The pairs of columns [begin, end), one outcome, as qsort orders them. */
static void check_side(const pc_sorted_column *side, const pcal_batch *batch, size_t begin,
                       size_t end, int hit) {
  static double expected[ROWS * K], weights[ROWS * K], seen_weights[ROWS * K];
  const double *scores = batch->scores;
  size_t count = 0;
  for (size_t i = 0; i < batch->rows; i++)
    for (size_t c = begin; c < end; c++) {
      const int32_t label = batch->columns == 1 ? 1 : (int32_t)c;
      const double weight = batch->weights == NULL ? 1.0 : batch->weights[i];
      if (weight == 0.0 || (batch->labels[i] == label) != hit)
        continue;
      expected[count] = scores[i * batch->columns + c] + 0.0;
      weights[count++] = weight;
    }
  assert_int_equal(side->count, count);
  qsort(expected, count, sizeof *expected, by_value);
  assert_memory_equal(side->score, expected, count * sizeof *expected);
  memcpy(seen_weights, side->weight, count * sizeof *weights);
  qsort(weights, count, sizeof *weights, by_value);
  qsort(seen_weights, count, sizeof *weights, by_value);
  assert_memory_equal(seen_weights, weights, count * sizeof *weights);
  free(side->score);
  free(side->weight);
}

static void run(const pcal_batch *batch, int pooled, uint64_t limit, unsigned threads) {
  static seen all;
  const pc_calibrator_method *row = NULL;
  pc_options options;
  pc_layout layout;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  all.env = pc_env_resolve(NULL);
  all.env.memory_limit = limit;
  all.env.threads = threads;
  assert_int_equal(pc_calibrator_parse("identity", &row, &options, NULL), PCAL_OK);
  assert_int_equal(pc_layout_make(batch->kind, batch->columns, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_calibrator_new(&all.env, row, &options, &layout, &calibrator, NULL),
                   PCAL_OK);
  assert_int_equal(pc_source_borrow(batch, NULL, &all.env, &source, NULL), PCAL_OK);
  const pc_fit_task task = {source, &all.env, 0, calibrator};
  pc_score_columns_request request = pc_score_columns_of_classes(&layout);
  request.pooled = pooled;
  request.remedy = "give less";
  request.user = &all;
  request.use = seen_use;
  assert_int_equal(pc_score_columns_run(&task, &request, NULL), PCAL_OK);
  for (size_t c = 0; c < (pooled ? 1 : batch->columns); c++) {
    check_side(&all.misses[c], batch, c, pooled ? batch->columns : c + 1, 0);
    check_side(&all.hits[c], batch, c, pooled ? batch->columns : c + 1, 1);
  }
  pcal_source_free(source);
  pcal_calibrator_free(calibrator);
}

static void draw(double *probs, int32_t *labels, double *weights) {
  const pc_rng rng = {5, 5};
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0;
    for (size_t j = 0; j < K; j++)
      sum += probs[i * K + j] = i % 3 == 0 ? j == i % K : pc_rng_uniform(&rng, i * K + j);
    for (size_t j = 0; j < K; j++)
      probs[i * K + j] /= sum;
    labels[i] = (int32_t)(pc_rng_bits(&rng, 100000 + i) % (K - 1)); /* class 3 never */
    weights[i] = (double)(i % 4) / 2;
  }
}

TEST(classes) {
  static double probs[ROWS * K], weights[ROWS];
  static int32_t labels[ROWS];
  draw(probs, labels, weights);
  pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, K);
  const uint64_t column = ROWS * sizeof(double);
  for (int weighted = 0; weighted < 2; weighted++) {
    batch.weights = weighted ? weights : NULL;
    for (unsigned threads = 1; threads <= 3; threads++) {
      run(&batch, 0, 0, threads);
      run(&batch, 1, 0, threads);
      run(&batch, 0, 4 * column, threads); /* two columns at a time, or one with weights */
      run(&batch, 0, 6 * column, threads); /* three, then one */
    }
  }
}

TEST(one_column) {
  static double probs[ROWS], weights[ROWS];
  static int32_t labels[ROWS];
  const pc_rng rng = {6, 6};
  for (size_t i = 0; i < ROWS; i++) {
    probs[i] = i % 5 == 0 ? -0.0 : pc_rng_uniform(&rng, i);
    labels[i] = pc_rng_uniform(&rng, 10000 + i) < probs[i];
    weights[i] = (double)(i % 3);
  }
  pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  run(&batch, 0, 0, 2);
  batch.weights = weights;
  run(&batch, 0, 0, 2);
  batch.kind = PCAL_CONFIDENCE;
  run(&batch, 0, 0, 1);
}

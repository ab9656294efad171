/* Numbers in brackets are the edge cases of scaling_binning.c. */
#include "calibrator_help.h"
#include "calibrators/bin_maps.h"
#include "calibrators/binning/sigmoid_fit.h"

#define ROWS 90

/* The same first fields as the model. */
typedef struct model {
  pc_bin_maps *tables;
  size_t count;
  pc_sigmoid *sigmoids;
} model;

static const model *model_of(const pcal_calibrator *calibrator) {
  return calibrator->parameters;
}

static void draw(double *probs, int32_t *labels, size_t rows, int turned) {
  const pc_rng rng = {11, (uint64_t)turned};
  for (size_t i = 0; i < rows; i++) {
    probs[i] = pc_rng_uniform(&rng, i);
    labels[i] = pc_rng_uniform(&rng, 1000 + i) < (turned ? 1 - probs[i] : probs[i]);
  }
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* All rows for all steps, computed another way: the sigmoid fitted to unsorted rows, and the
 * mean of its values over each ninth of the sorted ones. */
TEST(without_split) {
  for (int turned = 0; turned < 2; turned++) {
    double probs[ROWS], x[ROWS], weight[ROWS], hits[ROWS], values[ROWS], out[ROWS];
    int32_t labels[ROWS];
    draw(probs, labels, ROWS, turned);
    const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
    pcal_calibrator *calibrator = help_fit(&batch, "scaling-binning:bins=9,split=no");
    for (size_t i = 0; i < ROWS; i++) {
      x[i] = log(probs[i] / (1 - probs[i]));
      weight[i] = 1;
      hits[i] = labels[i];
    }
    const pc_sigmoid sigmoid = pc_sigmoid_fit(x, weight, hits, ROWS);
    assert_near(model_of(calibrator)->sigmoids[0].a, sigmoid.a, 1e-8);
    assert_near(model_of(calibrator)->sigmoids[0].b, sigmoid.b, 1e-7);
    assert_true((sigmoid.a < 0) == turned);
    for (size_t i = 0; i < ROWS; i++)
      values[i] = pc_sigmoid_at(&sigmoid, x[i]);
    qsort(values, ROWS, sizeof *values, by_value);
    help_apply(calibrator, &batch, out);
    for (size_t i = 0; i < ROWS; i++) {
      const double value = pc_sigmoid_at(&sigmoid, x[i]);
      size_t rank = 0;
      double mean = 0;
      while (values[rank] < value)
        rank++;
      for (size_t j = 0; j < ROWS / 9; j++)
        mean += values[rank / (ROWS / 9) * (ROWS / 9) + j];
      assert_near(out[i], mean / (ROWS / 9.0), 1e-7);
    }
    pcal_calibrator_free(calibrator);
  }
}

/* [1] The seed draws the thirds; equal seeds give equal files.  With outcomes that follow the
 * score exactly, the means hardly depend on the draw. */
TEST(seeds_draw_thirds) {
  double probs[ROWS];
  int32_t labels[ROWS];
  draw(probs, labels, ROWS, 0);
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  sink_bytes texts[3];
  for (int i = 0; i < 3; i++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_calibrator *calibrator = NULL;
    env.seed = i == 2 ? 5 : 4;
    assert_int_equal(help_try_fit(&batch, "scaling-binning:bins=5", &env, &calibrator, NULL),
                     PCAL_OK);
    assert_int_equal(model_of(calibrator)->tables->maps[0].count, 5);
    assert_int_equal(calibrator->fit.warning_count, 0);
    texts[i] = help_save(calibrator);
    pcal_calibrator_free(calibrator);
  }
  assert_string_equal(texts[0].bytes, texts[1].bytes);
  assert_string_not_equal(texts[0].bytes, texts[2].bytes);
  for (int i = 0; i < 3; i++)
    free(texts[i].bytes);
}

/* [1] Fractional weights divide rows: three rows of weight 1/3 count as one. */
TEST(weights_may_be_divided) {
  double probs[ROWS], weights[ROWS];
  int32_t labels[ROWS];
  draw(probs, labels, ROWS, 0);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = 0.5 + (double)(i % 3);
  pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  batch.weights = weights;
  pcal_calibrator *calibrator = help_fit(&batch, "scaling-binning:bins=4");
  double out[ROWS];
  help_apply(calibrator, &batch, out);
  for (size_t i = 0; i < ROWS; i++)
    assert_true(out[i] > 0 && out[i] < 1);
  pcal_calibrator_free(calibrator);
}

/* [2] Too few rows to split: a warning, and all rows for all steps. */
TEST(few_rows) {
  double probs[10];
  int32_t labels[10];
  draw(probs, labels, 10, 0);
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 10, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "scaling-binning:bins=4");
  pcal_calibrator *whole = help_fit(&batch, "scaling-binning:bins=4,split=no");
  assert_string_equal(calibrator->fit.warnings[0],
                      "there are fewer rows than three times the bins, so every step used all "
                      "rows; use fewer bins, or temperature");
  assert_int_equal(whole->fit.warning_count, 0);
  const pc_bin_map *a = &model_of(calibrator)->tables->maps[0];
  const pc_bin_map *b = &model_of(whole)->tables->maps[0];
  assert_int_equal(a->count, b->count);
  assert_memory_equal(a->values, b->values, a->count * sizeof(double));
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(whole);
}

/* [6] */
TEST(constant_scores) {
  double probs[ROWS], out[ROWS];
  int32_t labels[ROWS];
  for (size_t i = 0; i < ROWS; i++) {
    probs[i] = 0.3;
    labels[i] = i % 3 == 0;
  }
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "scaling-binning");
  assert_int_equal(model_of(calibrator)->tables->maps[0].count, 1);
  assert_same(model_of(calibrator)->sigmoids[0].a, 0.0);
  help_apply(calibrator, &batch, out);
  assert_near(out[0], (10 * 11.0 / 12 + 20 / 22.0) / 30, 1e-9); /* Platt's targets */
  pcal_calibrator_free(calibrator);
}

TEST(files) {
  const char *method = "scaling-binning:bins=2";
  help_parameters(method, 1,
                  "{\"a\": [1], \"b\": [0], \"edges\": [[0.5]], \"values\": [[0, 1]]}", NULL);
  help_parameters(method, 1,
                  "{\"a\": [1], \"b\": [0, 1], \"edges\": [[0.5]], \"values\": [[0, 1]]}",
                  "cal.json, line 3: a and b must hold one number for each table");
  help_parameters(method, 1,
                  "{\"a\": [\"1\"], \"b\": [0], \"edges\": [[0.5]], \"values\": [[0, 1]]}",
                  "cal.json, line 3: a and b must be numbers of at most 1e6 in size");
  help_parameters(method, 1,
                  "{\"a\": [1], \"b\": [0], \"edges\": [[0.5, 0.6]], \"values\": [[0, 1, 1]]}",
                  "cal.json, line 3: a table of values must hold 1 to 2 numbers");
  help_parameters(method, 1, "{\"a\": [1], \"edges\": [[0.5]], \"values\": [[0, 1]]}",
                  "cal.json, line 3: the parameter \"b\" is missing; fit again");
}

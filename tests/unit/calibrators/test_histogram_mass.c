#include "calibrator_help.h"
#include "calibrators/binning/histogram.h"

static const pc_bin_map *table_of(const pcal_calibrator *calibrator, size_t t) {
  return &((const pc_bin_maps *)calibrator->parameters)->maps[t];
}

static void assert_table(const pc_bin_map *table, size_t count, const double *edges,
                         const double *values) {
  assert_int_equal(table->count, count);
  for (size_t b = 0; b + 1 < count; b++)
    assert_near(table->edges[b], edges[b], 1e-15);
  for (size_t b = 0; b < count; b++)
    assert_near(table->values[b], values[b], 1e-15);
}

/* Seven scores in three parts of 3, 2 and 2; edges midway. */
TEST(one_column_by_hand) {
  const double probs[] = {0.9, 0.1, 0.6, 0.2, 0.7, 0.3, 0.5};
  const int32_t labels[] = {1, 0, 1, 1, 1, 0, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 7, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=3,binning=mass");
  assert_table(table_of(calibrator, 0), 3, (const double[]){0.4, 0.65},
               (const double[]){1.0 / 3.0, 0.5, 1.0});
  const double fresh[] = {0.0, 0.4, 0.41, 0.64, 0.66, 1.0};
  const double expected[] = {1.0 / 3.0, 1.0 / 3.0, 0.5, 0.5, 1.0, 1.0};
  const pcal_batch other = help_batch(PCAL_PROBABILITY, fresh, NULL, 6, 1);
  double out[6];
  help_apply(calibrator, &other, out);
  for (int i = 0; i < 6; i++)
    assert_same(out[i], expected[i]);
  pcal_calibrator_free(calibrator);
}

/* Ties are never split, equal edges are joined, and an empty last bin gets its midpoint. */
TEST(ties_stay_together) {
  const double probs[] = {0.2, 0.2, 0.2, 0.2, 0.2, 0.8};
  const int32_t labels[] = {0, 0, 1, 0, 0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 6, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=3,binning=mass");
  assert_table(table_of(calibrator, 0), 2, (const double[]){0.2}, (const double[]){0.2, 1.0});
  pcal_calibrator_free(calibrator);
  const pcal_batch equal = help_batch(PCAL_PROBABILITY, probs, labels, 5, 1);
  calibrator = help_fit(&equal, "histogram:bins=2,binning=mass");
  assert_table(table_of(calibrator, 0), 2, (const double[]){0.2}, (const double[]){0.2, 0.6});
  assert_string_equal(calibrator->fit.warnings[0],
                      "1 of 2 bins have no rows and get their midpoint");
  pcal_calibrator_free(calibrator);
}

/* Exact zeros make an edge at 0, which reads back. */
TEST(zeros_make_an_edge) {
  const double probs[] = {0.0, 0.0, 0.0, 0.5, 0.75, 1.0};
  const int32_t labels[] = {0, 0, 0, 0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 6, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=6,binning=mass");
  assert_same(table_of(calibrator, 0)->edges[0], 0.0);
  sink_bytes text = help_save(calibrator);
  pcal_calibrator *again = help_load(text.bytes);
  sink_bytes second = help_save(again);
  assert_string_equal(text.bytes, second.bytes);
  free(text.bytes);
  free(second.bytes);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(again);
}

/* The table of each class is that of a fit to the class alone. */
TEST(classes_are_independent) {
  enum { ROWS = 200, K = 3 };
  static double logits[ROWS * K], probs[ROWS * K], column[ROWS];
  int32_t labels[ROWS], hits[ROWS];
  help_draw(logits, labels, ROWS, K, 2.0, 1.0);
  const pcal_batch raw = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *identity = help_fit(&raw, "identity");
  help_apply(identity, &raw, probs);
  pcal_calibrator_free(identity);
  const pcal_batch all = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, K);
  pcal_calibrator *together = help_fit(&all, "histogram:bins=8,binning=mass");
  for (int32_t k = 0; k < K; k++) {
    for (size_t i = 0; i < ROWS; i++) {
      column[i] = probs[i * K + (size_t)k];
      hits[i] = labels[i] == k;
    }
    const pcal_batch one = help_batch(PCAL_PROBABILITY, column, hits, ROWS, 1);
    pcal_calibrator *alone = help_fit(&one, "histogram:bins=8,binning=mass");
    const pc_bin_map *expected = table_of(alone, 0);
    assert_table(table_of(together, (size_t)k), expected->count, expected->edges,
                 expected->values);
    pcal_calibrator_free(alone);
  }
  pcal_calibrator_free(together);
}

/* Pooled: all pairs as if they were rows of one column. */
TEST(pooled_pairs) {
  const double probs[][2] = {{0.9, 0.1}, {0.6, 0.4}, {0.2, 0.8}};
  const int32_t labels[] = {0, 1, 1};
  const double pairs[] = {0.9, 0.1, 0.6, 0.4, 0.2, 0.8};
  const int32_t hits[] = {1, 0, 0, 1, 0, 1};
  const pcal_batch two = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 2);
  const pcal_batch one = help_batch(PCAL_PROBABILITY, pairs, hits, 6, 1);
  pcal_calibrator *pooled = help_fit(&two, "histogram:bins=3,binning=mass,classwise=no");
  pcal_calibrator *plain = help_fit(&one, "histogram:bins=3,binning=mass");
  const pc_bin_map *expected = table_of(plain, 0);
  assert_table(table_of(pooled, 0), expected->count, expected->edges, expected->values);
  pcal_calibrator_free(pooled);
  pcal_calibrator_free(plain);
}

/* Under a memory limit classes are processed one after the other, with the same result; a limit
 * too small for one class is refused. */
TEST(memory_limit) {
  enum { ROWS = 500, K = 5 };
  static double logits[ROWS * K];
  int32_t labels[ROWS];
  help_draw(logits, labels, ROWS, K, 2.0, 1.0);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *free_hand = help_fit(&batch, "histogram:bins=9,binning=mass"), *tight = NULL;
  pcal_env env = PCAL_ENV_INIT;
  pcal_error err;
  env.memory_limit = 4 * 2 * ROWS * sizeof(double);
  assert_int_equal(help_try_fit(&batch, "histogram:bins=9,binning=mass", &env, &tight, &err),
                   PCAL_OK);
  sink_bytes a = help_save(free_hand), b = help_save(tight);
  assert_string_equal(a.bytes, b.bytes);
  free(a.bytes);
  free(b.bytes);
  pcal_calibrator_free(free_hand);
  pcal_calibrator_free(tight);
  env.memory_limit = 100;
  assert_int_equal(help_try_fit(&batch, "histogram:bins=9,binning=mass", &env, &tight, &err),
                   PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "keeping the rows takes 1 MB, beyond the memory limit of 0 MB; use "
                  "binning=width");
}

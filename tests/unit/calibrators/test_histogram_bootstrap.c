#include "calibrator_help.h"
#include "calibrators/binning/histogram.h"

static const pc_bin_map *table_of(const pcal_calibrator *calibrator, size_t t) {
  return &((const pc_bin_maps *)calibrator->parameters)->maps[t];
}

/* Poisson(m) misses and Poisson(h) hits: the mean of h' / (m' + h') given that there are rows
 * is h / (m + h) exactly, and the middle has the weight exp(-(m + h)). */
TEST(the_mean_is_known) {
  const double probs[] = {0.1, 0.2, 0.3, 0.4, 0.9};
  const int32_t labels[] = {0, 1, 0, 0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 5, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2,bootstrap=1000");
  const double expected[] = {0.25, 1.0 + exp(-1.0) * (0.75 - 1.0)};
  const double deviation[] = {0.30, 0.13}; /* of one resample, approximately */
  for (int b = 0; b < 2; b++)
    assert_true(fabs(table_of(calibrator, 0)->values[b] - expected[b]) <
                5 * deviation[b] / sqrt(1000.0));
  pcal_calibrator_free(calibrator);
}

/* With many equal rows the table is nearly that of the rows. */
TEST(many_rows_hardly_vary) {
  const double probs[] = {0.1, 0.2, 0.7, 0.8}, weights[] = {5e6, 1e6, 2e6, 6e6};
  const int32_t labels[] = {0, 1, 0, 1};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 4, 1);
  batch.weights = weights;
  static const char *const specs[] = {"histogram:bins=2,bootstrap=20",
                                      "histogram:bins=2,binning=mass,bootstrap=20"};
  for (size_t s = 0; s < 2; s++) {
    pcal_calibrator *calibrator = help_fit(&batch, specs[s]);
    const pc_bin_map *table = table_of(calibrator, 0);
    assert_near(table->values[pc_bin_map_find(table, 0.1)], s == 0 ? 1.0 / 6.0 : 0.125, 1e-2);
    assert_near(table->values[pc_bin_map_find(table, 0.8)], s == 0 ? 0.75 : 1.0, 1e-2);
    pcal_calibrator_free(calibrator);
  }
}

TEST(seeds_decide) {
  enum { ROWS = 60 };
  double probs[ROWS];
  int32_t labels[ROWS];
  const pc_rng rng = {2, 2};
  for (size_t i = 0; i < ROWS; i++) {
    probs[i] = pc_rng_uniform(&rng, i);
    labels[i] = pc_rng_uniform(&rng, 1000 + i) < probs[i];
  }
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  pcal_env env = PCAL_ENV_INIT;
  pcal_calibrator *fits[3];
  for (int i = 0; i < 3; i++) {
    env.seed = i == 2;
    assert_int_equal(
        help_try_fit(&batch, "histogram:bins=4,binning=mass,bootstrap=9", &env, &fits[i], NULL),
        PCAL_OK);
  }
  sink_bytes a = help_save(fits[0]), b = help_save(fits[1]), c = help_save(fits[2]);
  assert_string_equal(a.bytes, b.bytes);
  assert_string_not_equal(a.bytes, c.bytes);
  assert_true(table_of(fits[0], 0)->count > 4);
  assert_true(table_of(fits[0], 0)->count <= 9 * 3 + 1);
  free(a.bytes);
  free(b.bytes);
  free(c.bytes);
  for (int i = 0; i < 3; i++)
    pcal_calibrator_free(fits[i]);
}

/* One resample of equal mass is a table with at most the bins asked for. */
TEST(one_resample) {
  const double probs[] = {0.1, 0.3, 0.5, 0.7};
  const int32_t labels[] = {0, 0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2,binning=mass,bootstrap=1");
  assert_true(table_of(calibrator, 0)->count <= 2);
  for (size_t b = 0; b < table_of(calibrator, 0)->count; b++)
    assert_true(table_of(calibrator, 0)->values[b] >= 0);
  pcal_calibrator_free(calibrator);
}

TEST(describes) {
  const double probs[] = {0.1, 0.8};
  const int32_t labels[] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 2, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2,bootstrap=3");
  sink_bytes text = {0};
  assert_int_equal(pcal_calibrator_describe(calibrator, PCAL_TEXT, sink_collect, &text, NULL),
                   PCAL_OK);
  assert_non_null(strstr(text.bytes, "learned      1 table of up to 2 bins of equal width, the "
                                     "mean of 3 resamples\n"));
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

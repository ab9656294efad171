/* Arguments of the public calls, and every failed allocation in fit, apply, save and load. */
#include "../calibrators/calibrator_help.h"
#include "io/source.h"

static void expect_usage(pcal_status status, const pcal_error *err, const char *sentence) {
  assert_int_equal(status, PCAL_USAGE);
  assert_sentence(*err, PCAL_USAGE, sentence);
}

static const double probs[][2] = {{0.8, 0.2}, {0.3, 0.7}, {0.6, 0.4}, {0.1, 0.9}};
static const int32_t labels[] = {0, 1, 1, 1};

static pcal_batch four_rows(void) {
  return help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 4, 2);
}

TEST(arguments_of_fit) {
  const pcal_batch batch = four_rows();
  pcal_source *source = NULL;
  pcal_calibrator *out = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_error err;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  expect_usage(pcal_fit_run(NULL, NULL, NULL, &out, &err), &err,
               "pcal_fit_run needs a source and an out pointer");
  expect_usage(pcal_fit_run(source, NULL, NULL, NULL, &err), &err,
               "pcal_fit_run needs a source and an out pointer");
  config.size = 0;
  expect_usage(pcal_fit_run(source, &config, NULL, &out, &err), &err,
               "the configuration's size is not set");
  config.size = sizeof config;
  config.method = NULL;
  expect_usage(pcal_fit_run(source, &config, NULL, &out, &err), &err,
               "pcal_fit_run needs a method such as \"temperature\"");
  /* A shorter, older configuration has no fields behind its size. */
  config = (pcal_fit_config){offsetof(pcal_fit_config, normalize), "identity", 1, 1, 0};
  assert_int_equal(pcal_fit_run(source, &config, NULL, &out, &err), PCAL_OK);
  assert_int_equal(out->normalize, 0);
  pcal_calibrator_free(out);
  pcal_source_free(source);
  pcal_calibrator_free(NULL);
}

TEST(arguments_of_the_others) {
  pcal_batch batch = four_rows();
  pcal_calibrator *calibrator = help_fit(&batch, "identity"), *out = NULL;
  pcal_source *source = NULL;
  pcal_error err;
  double values[8];
  sink_bytes text = {0};
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  expect_usage(pcal_calibrator_describe(NULL, PCAL_TEXT, sink_collect, &text, &err), &err,
               "pcal_calibrator_describe needs a calibrator and a sink");
  expect_usage(pcal_calibrator_describe(calibrator, PCAL_CSV, sink_collect, &text, &err), &err,
               "a calibrator is described as PCAL_TEXT or PCAL_JSON");
  expect_usage(pcal_calibrator_save(calibrator, NULL, NULL, &err), &err,
               "pcal_calibrator_save needs a calibrator and a sink");
  expect_usage(pcal_calibrator_load(NULL, 1, "x", NULL, &out, &err), &err,
               "pcal_calibrator_load needs bytes and an out pointer");
  expect_usage(pcal_calibrator_load("x", 1, "x", NULL, NULL, &err), &err,
               "pcal_calibrator_load needs bytes and an out pointer");
  expect_usage(pcal_calibrator_apply(NULL, &batch, NULL, values, &err), &err,
               "pcal_calibrator_apply needs a calibrator and a batch");
  expect_usage(pcal_calibrator_apply(calibrator, &batch, NULL, NULL, &err), &err,
               "pcal_calibrator_apply needs an out pointer");
  expect_usage(
      pcal_calibrator_apply_source(calibrator, source, PCAL_NPY, NULL, NULL, &text, &err), &err,
      "pcal_calibrator_apply_source needs a calibrator, a source and a sink");
  assert_int_equal(text.length, 0);
  pcal_source_free(source);
  pcal_calibrator_free(calibrator);
}

/* Calibrators are a kind of rows like any other. */
TEST(the_registry_shows_them) {
  assert_int_equal(pcal_registry_count(PCAL_CALIBRATORS), pc_calibrator_method_count());
  assert_string_equal(pcal_registry_find(PCAL_CALIBRATORS, "temperature")->title,
                      "temperature scaling");
  assert_string_equal(pcal_registry_nearest(PCAL_CALIBRATORS, "histogran"), "histogram");
  assert_null(pcal_registry_find(PCAL_CALIBRATORS, "ece"));
}

/* ---- Allocations ---- */

#include "../report/page_help.h"

static void reporting_refused(const pcal_report_config *config, const char *part) {
  pcal_error err;
  pcal_source *source = page_source(NULL, &err);
  pcal_report *report = (pcal_report *)(void *)source;
  assert_int_equal(pcal_report_run(source, config, NULL, &report, &err), PCAL_USAGE);
  assert_null(report);
  assert_contains(err.message, part);
  pcal_source_free(source);
}

TEST(test_what_is_refused) {
  static const char *const specs[] = {NULL};
  pcal_report_config config = page_config();
  pcal_report *report = NULL;
  pcal_error err;
  assert_int_equal(pcal_report_run(NULL, &config, NULL, &report, &err), PCAL_USAGE);
  config.interval = 1;
  reporting_refused(&config, "the level of an interval");
  config.interval = 0;
  config.specs = specs;
  config.spec_count = 1;
  reporting_refused(&config, "spec number 0 is NULL");
  config.spec_count = 0;
  config.method = "temprature";
  reporting_refused(&config, "temperature");
  config.calibrator = (const pcal_calibrator *)(const void *)&config;
  reporting_refused(&config, "fitted already");
  config.size = 1;
  reporting_refused(&config, "size is not set");
}

TEST(test_formats) {
  pcal_report_config config = page_config();
  pcal_report *report = NULL;
  pcal_error err;
  size_t length = 0;
  pcal_source *source = page_source(NULL, &err);
  config.interval = 0;
  assert_int_equal(pcal_report_run(source, &config, NULL, &report, &err), PCAL_OK);
  assert_int_equal(pcal_report_write(report, PCAL_CSV, sink_count, &length, &err), PCAL_USAGE);
  assert_int_equal(pcal_report_write(NULL, PCAL_HTML, sink_count, &length, &err), PCAL_USAGE);
  assert_int_equal(pcal_report_write(report, PCAL_HTML, NULL, &length, &err), PCAL_USAGE);
  assert_int_equal(length, 0);
  assert_int_equal(pcal_report_write(report, PCAL_HTML, sink_refuse, NULL, &err), PCAL_IO);
  pcal_report_free(report);
  pcal_report_free(NULL);
  pcal_source_free(source);
}

/* From results alone: verdict, table and reliability diagram, and a sentence about the rest. */
TEST(test_from_results) {
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  pcal_measure_config measured = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  pcal_report *report = NULL;
  pcal_error err;
  sink_bytes text = {0}, page = {0};
  pcal_source *source = page_source(NULL, &err);
  assert_int_equal(pcal_measure_run(source, &measured, NULL, &results, &err), PCAL_OK);
  config.title = "Of results";
  assert_int_equal(pcal_report_from_results(results, &config, &report, &err), PCAL_OK);
  assert_int_equal(pcal_report_write(report, PCAL_MARKDOWN, sink_collect, &text, &err),
                   PCAL_OK);
  assert_int_equal(pcal_report_write(report, PCAL_HTML, sink_collect, &page, &err), PCAL_OK);
  assert_contains(text.bytes, "Of results");
  assert_contains(
      text.bytes,
      "\n\nWell calibrated, as far as these rows show. The model claims 73.0 % on average ");
  assert_contains(page.bytes, "figures that need rows, and checks of rows, are left out.");
  assert_contains(page.bytes, "<svg");
  pcal_report_free(report);
  assert_int_equal(pcal_report_from_results(NULL, &config, &report, &err), PCAL_USAGE);
  assert_string_equal(err.message, "pcal_report_from_results needs results and an out pointer");
  free(text.bytes);
  free(page.bytes);
  pcal_results_free(results);
  pcal_source_free(source);
}

TEST(test_results_of_several_targets_have_no_report) {
  static const double samples[] = {0, 1, 2, 3, 1, 1, 2, 2}, targets[] = {0.5, 1.5, 1, 2};
  const char *const specs[] = {"energy-score"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_report *report = NULL;
  pcal_error err;
  config.kind = batch.kind = PCAL_SAMPLE_VECTORS;
  config.columns = batch.columns = 4;
  config.specs = specs;
  config.spec_count = 1;
  batch.type = PCAL_F64;
  batch.rows = 2;
  batch.dimensions = 2;
  batch.scores = samples;
  batch.targets = targets;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  assert_int_equal(pcal_report_from_results(results, NULL, &report, &err), PCAL_USAGE);
  assert_contains(err.message, "a report is about one number");
  assert_null(report);
  pcal_results_free(results);
  pcal_measure_free(measure);
}

/* With a second data set for fitting and no method given, the report chooses the method by
 * comparison. */
TEST(test_a_second_set) {
  pcal_report_config config = page_config();
  pcal_error err;
  config.val = page_source(NULL, &err);
  char *json = page_text(&config, PCAL_JSON);
  assert_contains(json, "\"comparison\": {");
  pcal_source_free(config.val);
  free(json);
}

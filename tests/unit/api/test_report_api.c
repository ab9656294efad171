#include "../report/page_help.h"

static int reporting_refuse(void *user, const char *bytes, size_t count) {
  (void)user;
  (void)bytes;
  (void)count;
  return 1;
}

static int reporting_count(void *user, const char *bytes, size_t count) {
  (void)bytes;
  *(size_t *)user += count;
  return 0;
}

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
  assert_int_equal(pcal_report_write(report, PCAL_CSV, reporting_count, &length, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_report_write(NULL, PCAL_HTML, reporting_count, &length, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_report_write(report, PCAL_HTML, NULL, &length, &err), PCAL_USAGE);
  assert_int_equal(length, 0);
  assert_int_equal(pcal_report_write(report, PCAL_HTML, reporting_refuse, NULL, &err), PCAL_IO);
  pcal_report_free(report);
  pcal_report_free(NULL);
  pcal_source_free(source);
}

/* With a second data set for fitting and no method given, the report chooses the method by
 * comparison. */
TEST(test_a_second_set) {
  pcal_report_config config = page_config();
  pcal_error err;
  config.fitting = page_source(NULL, &err);
  char *json = page_text(&config, PCAL_JSON);
  assert_contains(json, "\"comparison\": {");
  pcal_source_free(config.fitting);
  free(json);
}

static pcal_status reporting_all(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const specs[] = {"brier"};
  const pcal_format *formats = user;
  pcal_report_config config = page_config();
  pcal_report *report = NULL;
  size_t length = 0;
  pcal_env alone = *env;
  pcal_source *source = page_source(env, err);
  if (source == NULL)
    return PCAL_MEMORY;
  alone.threads = 1;
  config.specs = specs;
  config.spec_count = 1;
  config.interval = 0;
  config.method = "temperature";
  pcal_status status = pcal_report_run(source, &config, &alone, &report, err);
  for (size_t i = 0; status == PCAL_OK && i < 3; i++)
    status = pcal_report_write(report, formats[i], reporting_count, &length, err);
  pcal_report_free(report);
  pcal_source_free(source);
  return status;
}

/* Makes allocation n fail, for n = 1, 2, 3, ... with growing steps, because there are thousands
 * of allocations. */
TEST(test_allocations_may_fail) {
  pcal_format formats[] = {PCAL_HTML, PCAL_MARKDOWN, PCAL_JSON};
  for (size_t n = 1;; n += 1 + n / 16) {
    unit_memory memory = {0};
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    pcal_error err;
    const pcal_status status = reporting_all(&env, formats, &err);
    assert_int_equal(atomic_load(&memory.live), 0);
    if (status == PCAL_OK) {
      assert_true(atomic_load(&memory.calls) < n);
      return;
    }
    assert_int_equal(status, PCAL_MEMORY);
    assert_memory_equal(err.message, "out of memory while ", 20);
  }
}

/* Forty rows of one event, with ties, and the results of metrics with an interval.  Expected
 * numbers on these rows were computed with NumPy 2.4, SciPy 1.17 and statsmodels 0.15 from
 *   i = arange(40); p = ((7 i) % 20 + 0.5) / 20; y = (13 i i + 5 i) % 17 < 17 p */
#ifndef EVENT_ROWS_H
#define EVENT_ROWS_H

#include "../measure/measure_help.h"

#define EVENT_ROWS 40

typedef struct event_rows {
  double scores[EVENT_ROWS];
  int32_t labels[EVENT_ROWS];
} event_rows;

static inline given_data event_rows_given(event_rows *rows) {
  for (int i = 0; i < EVENT_ROWS; i++) {
    rows->scores[i] = ((7 * i) % 20 + 0.5) / 20;
    rows->labels[i] = (13 * i * i + 5 * i) % 17 < 17 * rows->scores[i];
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = EVENT_ROWS,
                      .columns = 1,
                      .scores = rows->scores,
                      .labels = rows->labels};
}

/* The result of a metric with intervals of 95 %; free the results. */
static inline pcal_result event_interval(const given_data *data, const char *spec,
                                         pcal_interval_method method, pcal_results **results) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  const pcal_batch batch = given_batch(data);
  pcal_measure *measure = NULL;
  pcal_error err;
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = &spec;
  config.spec_count = 1;
  config.interval = 0.95;
  config.interval_method = method;
  config.replicas = 200;
  pcal_status status = pcal_measure_new(&config, NULL, &measure, &err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, &err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, results, &err);
  if (status != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_measure_free(measure);
  return given_result(*results, spec);
}

static inline void event_check_interval(const given_data *data, const char *spec, double value,
                                        double low, double high) {
  pcal_results *results;
  const pcal_result result = event_interval(data, spec, PCAL_INTERVAL_AUTO, &results);
  assert_near(result.value, value, 1e-8);
  assert_true(result.has_interval);
  assert_near(result.low, low, 1e-8);
  assert_near(result.high, high, 1e-8);
  pcal_results_free(results);
}

static inline void event_check_undefined(const given_data *data, const char *spec,
                                         const char *why) {
  pcal_results *results = given_results(data, spec);
  const pcal_result result = given_result(results, spec);
  assert_false(result.defined);
  assert_contains(result.why, why);
  pcal_results_free(results);
}

#endif

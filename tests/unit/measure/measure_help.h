/* Small data sets, written out in a test, and what is measured on them. */
#ifndef MEASURE_HELP_H
#define MEASURE_HELP_H

#include "../unit.h"

#define GIVEN_SPECS_MAX 16

/* Rows of doubles, one after the other; weights, groups and names may be NULL. */
typedef struct given_data {
  pcal_kind kind;
  size_t rows, columns;
  const double *scores;
  const int32_t *labels;
  const double *weights;
  const uint32_t *groups;
  const char *const *class_names, *const *group_names;
  size_t class_count, group_count;
  int normalize, skip_missing;
} given_data;

static inline pcal_batch given_batch(const given_data *data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = data->kind;
  batch.type = PCAL_F64;
  batch.rows = data->rows;
  batch.columns = data->columns;
  batch.scores = data->scores;
  batch.row_stride = (ptrdiff_t)(data->columns * sizeof(double));
  batch.column_stride = (ptrdiff_t)sizeof(double);
  batch.labels = data->labels;
  batch.weights = data->weights;
  batch.groups = data->groups;
  return batch;
}

/* Specs are separated by blanks; "" asks for the defaults. */
static inline pcal_status given_new(const given_data *data, const char *specs,
                                    const pcal_env *env, pcal_measure **out, pcal_error *err) {
  char copy[2048];
  const char *list[GIVEN_SPECS_MAX];
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  snprintf(copy, sizeof copy, "%s", specs);
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = list;
  config.normalize = data->normalize;
  config.skip_missing = data->skip_missing;
  for (char *at = copy; *at != '\0';) {
    char *end = at + strcspn(at, " ");
    const int last = *end == '\0';
    *end = '\0';
    assert_true(config.spec_count < GIVEN_SPECS_MAX);
    list[config.spec_count++] = at;
    at = last ? end : end + 1;
  }
  return pcal_measure_new(&config, env, out, err);
}

static inline pcal_status given_try(const given_data *data, const char *specs,
                                    pcal_results **out, pcal_error *err) {
  pcal_measure *measure = NULL;
  const pcal_batch batch = given_batch(data);
  *out = NULL;
  pcal_status status = given_new(data, specs, NULL, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pcal_measure_set_names(measure, data->class_names, data->class_count,
                                    data->group_names, data->group_count, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, out, err);
  pcal_measure_free(measure);
  return status;
}

static inline pcal_results *given_results(const given_data *data, const char *specs) {
  pcal_results *results = NULL;
  pcal_error err;
  if (given_try(data, specs, &results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return results;
}

/* The same, with the curves behind the values. */
static inline pcal_results *given_results_with_curves(const given_data *data,
                                                      const char *specs) {
  const pcal_batch batch = given_batch(data);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  pcal_status status = given_new(data, specs, NULL, &measure, &err);
  pcal_measure_keep_curves(measure, 1);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, &err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, &err);
  if (status != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_measure_free(measure);
  return results;
}

/* A column of the curve of one result, which has as many points as expected. */
static inline const double *given_column(const pcal_results *results, size_t index,
                                         const char *name, size_t count) {
  pcal_curve curve = PCAL_CURVE_INIT;
  pcal_results_get_curve(results, index, &curve);
  assert_int_equal(curve.count, count);
  for (size_t c = 0; c < curve.column_count; c++)
    if (strcmp(curve.names[c], name) == 0)
      return curve.columns[c];
  fail_msg("the curve has no column %s", name);
  return NULL;
}

static inline void given_check_column(const pcal_results *results, size_t index,
                                      const char *name, const double *expected, size_t count) {
  const double *column = given_column(results, index, name, count);
  for (size_t i = 0; i < count; i++) {
    if (isnan(expected[i]))
      assert_true(isnan(column[i]));
    else
      assert_near(column[i] + 1, expected[i] + 1, 1e-15);
  }
}

/* One result over all rows. */
static inline pcal_result given_result(const pcal_results *results, const char *spec) {
  pcal_result result = {.size = sizeof result};
  pcal_error err;
  if (pcal_results_find(results, spec, &result, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return result;
}

/* The value of one metric on some data. */
static inline double given_value(const given_data *data, const char *spec) {
  pcal_results *results = given_results(data, spec);
  const pcal_result result = given_result(results, spec);
  assert_true(result.defined);
  pcal_results_free(results);
  return result.value;
}

static inline double given_part(const pcal_result *result, const char *name) {
  for (size_t p = 0; p < result->part_count; p++)
    if (strcmp(result->parts[p].name, name) == 0)
      return result->parts[p].value;
  fail_msg("%s has no part %s", result->spec, name);
  return 0;
}

/* A figure of results as SVG. */
static inline pcal_status given_figure(const pcal_results *results, const char *name,
                                       sink_bytes *out, pcal_error *err) {
  pcal_figure *figure = NULL;
  pcal_status status = pcal_figure_from_results(results, name, &figure, err);
  if (status == PCAL_OK)
    status = pcal_figure_write(figure, PCAL_SVG, PCAL_THEME_AUTO, sink_collect, out, err);
  pcal_figure_free(figure);
  return status;
}

static inline char *given_written(const pcal_results *results, pcal_format format) {
  sink_bytes text = {0};
  pcal_error err;
  if (pcal_results_write(results, format, sink_collect, &text, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return text.bytes;
}

/* Is this data and spec refused, with such a status and a sentence that has `part`? */
static inline void given_refused(const given_data *data, const char *specs, pcal_status status,
                                 const char *part) {
  pcal_results *results = NULL;
  pcal_error err;
  const pcal_status found = given_try(data, specs, &results, &err);
  pcal_results_free(results);
  if (found != status)
    fail_msg("%s: status %d, not %d: %s", specs, (int)found, (int)status,
             found == PCAL_OK ? "" : err.message);
  if (strstr(err.message, part) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", part, err.message);
}

#define assert_contains(text, part)                        \
  do {                                                     \
    if (strstr((text), (part)) == NULL)                    \
      fail_msg("\"%s\" is not in \"%s\"", (part), (text)); \
  } while (0)

#define assert_lacks(text, part)                       \
  do {                                                 \
    if (strstr((text), (part)) != NULL)                \
      fail_msg("\"%s\" is in \"%s\"", (part), (text)); \
  } while (0)

#endif

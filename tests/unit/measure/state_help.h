/* Small measures, their saved states, and what is loaded from them. */
#ifndef STATE_HELP_H
#define STATE_HELP_H

#include "measure_help.h"

static inline sink_bytes state_of(const pcal_measure *measure) {
  sink_bytes out = {0};
  pcal_error err;
  if (pcal_measure_save(measure, sink_collect, &out, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return out;
}

static inline pcal_measure *state_load(const sink_bytes *saved, const char *name) {
  pcal_measure *measure = NULL;
  pcal_error err;
  if (pcal_measure_load(saved->bytes, saved->length, name, NULL, &measure, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return measure;
}

/* Loads bytes that must be refused with this sentence. */
static inline void state_refused(const sink_bytes *saved, const char *sentence) {
  pcal_measure *measure = NULL;
  pcal_error err;
  assert_int_equal(
      pcal_measure_load(saved->bytes, saved->length, "part.pcal", NULL, &measure, &err),
      PCAL_DATA);
  assert_null(measure);
  assert_sentence(err, PCAL_DATA, sentence);
}

/* A measure of data whose rows begin at first_row. */
static inline pcal_measure *state_measure(const given_data *data, const char *specs,
                                          uint64_t first_row) {
  pcal_measure *measure = NULL;
  pcal_error err;
  pcal_batch batch = given_batch(data);
  batch.first_row = first_row;
  pcal_status status = given_new(data, specs, NULL, &measure, &err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, &err);
  if (status == PCAL_OK)
    status = pcal_measure_set_names(measure, data->class_names, data->class_count,
                                    data->group_names, data->group_count, &err);
  if (status != PCAL_OK)
    fail_msg("%s", err.message);
  return measure;
}

/* The same, saved and loaded again under a name. */
static inline pcal_measure *state_part(const given_data *data, const char *specs,
                                       uint64_t first_row, const char *name) {
  pcal_measure *measure = state_measure(data, specs, first_row);
  const sink_bytes saved = state_of(measure);
  pcal_measure *loaded = state_load(&saved, name);
  pcal_measure_free(measure);
  free(saved.bytes);
  return loaded;
}

static inline char *state_json(const pcal_measure *measure) {
  pcal_results *results = NULL;
  pcal_error err;
  if (pcal_measure_finish(measure, &results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  char *json = given_written(results, PCAL_JSON);
  pcal_results_free(results);
  return json;
}

/* Six rows of two classes. */
static const double state_scores[] = {0.75, 0.25, 0.5, 0.5, 0.125, 0.875,
                                      1.0,  0.0,  0.3, 0.7, 0.6,   0.4};
static const int32_t state_labels[] = {0, 1, 1, 1, 0, 0};

static inline given_data state_data(void) {
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = 6,
                      .columns = 2,
                      .scores = state_scores,
                      .labels = state_labels};
}

/* Rows [first, first + count) of data. */
static inline given_data state_slice(const given_data *data, size_t first, size_t count) {
  given_data slice = *data;
  slice.rows = count;
  slice.scores += first * data->columns;
  slice.labels += first;
  slice.weights = data->weights == NULL ? NULL : data->weights + first;
  slice.groups = data->groups == NULL ? NULL : data->groups + first;
  return slice;
}

#endif

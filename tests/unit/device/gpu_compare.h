/* Measures a batch in memory and on a GPU, for tests that compare the two. */
#ifndef GPU_COMPARE_H
#define GPU_COMPARE_H

#include "gpu_data_set.h"

/* Measures a batch; the results as JSON, or the message of the error. */
static inline char *measured(const pcal_batch *batch, const char *const *specs, size_t count,
                             pcal_status *status) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  sink_bytes text = {0};
  config.kind = batch->kind;
  config.columns = batch->columns;
  config.specs = specs;
  config.spec_count = count;
  *status = pcal_measure_new(&config, NULL, &measure, &err);
  if (*status == PCAL_OK)
    *status = pcal_measure_update(measure, batch, &err);
  if (*status == PCAL_OK)
    *status = pcal_measure_finish(measure, &results, &err);
  if (*status == PCAL_OK)
    *status = pcal_results_write(results, PCAL_JSON, sink_collect, &text, &err);
  if (*status != PCAL_OK)
    sink_collect(&text, err.message, strlen(err.message));
  pcal_results_free(results);
  pcal_measure_free(measure);
  return text.bytes;
}

static inline pcal_batch batch_of(const data_set *data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = ROWS;
  batch.columns = data->classes;
  batch.scores = data->logits;
  batch.labels = data->labels;
  return batch;
}

/* The same JSON, or the same error, from the GPU as from memory. */
static inline void check_same(pcal_batch batch, const char *const *specs, size_t count,
                              pcal_status expected) {
  pcal_status here, there;
  pcal_error err;
  const size_t size = batch.type == PCAL_F32 ? sizeof(float) : sizeof(double);
  char *in_memory = measured(&batch, specs, count, &here);
  void *scores = upload(batch.scores, batch.rows * batch.columns * size);
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, &err), PCAL_OK);
  batch.scores = scores;
  char *on_gpu = measured(&batch, specs, count, &there);
  assert_string_equal(in_memory, without_device(on_gpu));
  assert_int_equal(here, expected);
  assert_int_equal(there, expected);
  pcal_device_free(batch.device);
  drop(scores);
  free(in_memory);
  free(on_gpu);
  assert_int_equal(fake.blocks(), 0);
}

#endif

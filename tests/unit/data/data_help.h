/* Small batches and their conversion, for the tests of data. */
#ifndef DATA_HELP_H
#define DATA_HELP_H

#include "../unit.h"
#include "data/rows.h"

/* One conversion.  Release with data_free. */
typedef struct data_result {
  pc_layout layout;
  pc_scratch scratch;
  pc_rows rows;
  pc_row_counts counts;
  pcal_status status;
  pcal_error err;
} data_result;

/* Consecutive rows of doubles, with names. */
static inline pcal_batch data_batch(pcal_kind kind, size_t rows, size_t columns,
                                    const double *scores, const int32_t *labels) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = kind;
  batch.type = PCAL_F64;
  batch.rows = rows;
  batch.columns = columns;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(columns * sizeof(double));
  batch.column_stride = sizeof(double);
  batch.labels = labels;
  batch.scores_name = "s.npy";
  batch.labels_name = "l.npy";
  batch.weights_name = "w.npy";
  return batch;
}

/* The same with rows of floats. */
static inline pcal_batch data_batch_f32(pcal_kind kind, size_t rows, size_t columns,
                                        const float *scores, const int32_t *labels) {
  pcal_batch batch = data_batch(kind, rows, columns, NULL, labels);
  batch.type = PCAL_F32;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(columns * sizeof(float));
  batch.column_stride = sizeof(float);
  return batch;
}

/* Converts rows [begin, begin + count). */
static inline data_result data_derive_some(const pcal_batch *batch, pc_row_policy policy,
                                           size_t begin, size_t count) {
  const pcal_env env = pc_env_resolve(NULL);
  data_result out = {.counts = {0, 0, PCAL_NO_ROW}};
  pc_error_clear(&out.err);
  assert_int_equal(pc_layout_make(batch->kind, batch->columns, &out.layout, NULL), PCAL_OK);
  assert_int_equal(pc_scratch_new(&env, &out.layout, &out.scratch, NULL), PCAL_OK);
  assert_true(count <= out.scratch.capacity);
  out.status = pc_rows_convert(batch, &out.layout, &policy, begin, count, &out.scratch,
                               &out.rows, &out.counts, &out.err);
  return out;
}

static inline data_result data_derive(const pcal_batch *batch, pc_row_policy policy) {
  return data_derive_some(batch, policy, 0, batch->rows);
}

static inline data_result data_derive_well(const pcal_batch *batch, pc_row_policy policy) {
  const data_result out = data_derive(batch, policy);
  if (out.status != PCAL_OK)
    fail_msg("%s", out.err.message);
  return out;
}

static inline void data_free(data_result *result) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_scratch_free(&env, &result->scratch);
}

#endif

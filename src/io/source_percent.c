/* Scores that are changed window by window, in double.  Percentages: p = score / 100.  NaN stays
 * NaN. */
#include "io/source_state.h"

pcal_status pc_source_own_rows(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  const int narrow = source->scores.cells == PC_CELLS_F32;
  void *rows = source->own_rows;
  if (batch->scores == rows && rows != NULL)
    return PCAL_OK;
  const pcal_status status =
      pc_reserve(&source->env, &rows, &source->own_capacity, batch->rows * batch->columns,
                 sizeof *source->own_rows, err);
  source->own_rows = rows;
  PC_TRY(status);
  double *out = source->own_rows;
  for (size_t i = 0; i < batch->rows; i++) {
    const char *at = (const char *)batch->scores + (ptrdiff_t)i * batch->row_stride;
    for (size_t k = 0; k < batch->columns; k++, at += batch->column_stride)
      *out++ =
          narrow ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
  }
  batch->scores = source->own_rows;
  batch->row_stride = (ptrdiff_t)(batch->columns * sizeof(double));
  batch->column_stride = (ptrdiff_t)sizeof(double);
  return PCAL_OK;
}

pcal_status pc_source_scale_percent(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  PC_TRY(pc_source_own_rows(source, batch, err));
  for (size_t i = 0; i < batch->rows * batch->columns; i++)
    source->own_rows[i] /= 100.0;
  return PCAL_OK;
}

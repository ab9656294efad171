/* Percentages: p = score / 100, in double.  NaN stays NaN. */
#include "io/source_state.h"

pcal_status pc_source_scale_percent(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  const int narrow = source->scores.cells == PC_CELLS_F32;
  void *rows = source->percent_rows;
  const pcal_status status =
      pc_reserve(&source->env, &rows, &source->percent_capacity, batch->rows * batch->columns,
                 sizeof *source->percent_rows, err);
  source->percent_rows = rows;
  PC_TRY(status);
  double *out = source->percent_rows;
  for (size_t i = 0; i < batch->rows; i++) {
    const char *at = (const char *)batch->scores + (ptrdiff_t)i * batch->row_stride;
    for (size_t k = 0; k < batch->columns; k++, at += batch->column_stride)
      *out++ = (narrow ? (double)*(const float *)(const void *)at
                       : *(const double *)(const void *)at) /
               100.0;
  }
  batch->scores = source->percent_rows;
  batch->row_stride = (ptrdiff_t)(batch->columns * sizeof(double));
  batch->column_stride = (ptrdiff_t)sizeof(double);
  return PCAL_OK;
}

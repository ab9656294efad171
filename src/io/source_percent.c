/* Scores that are changed window by window, in double.  Percentages: p = score / 100.  NaN stays
 * NaN. */
#include <math.h>

#include "io/source_state.h"

/* A score of a row; NaN for a choice that no row has. */
static double percent_score(const char *row, size_t column, ptrdiff_t stride, int narrow) {
  if (column == PC_NO_DATA_COLUMN)
    return (double)NAN;
  const void *at = row + (ptrdiff_t)column * stride;
  return narrow ? (double)*(const float *)at : *(const double *)at;
}

pcal_status pc_source_own_rows(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  const int narrow = source->scores.cells == PC_CELLS_F32;
  const size_t *from = source->arranged.from;
  const size_t columns = from == NULL ? batch->columns : source->arranged.count;
  void *rows = source->own_rows;
  if (batch->scores == rows && rows != NULL)
    return PCAL_OK;
  const pcal_status status = pc_reserve(&source->env, &rows, &source->own_capacity,
                                        batch->rows * columns, sizeof *source->own_rows, err);
  source->own_rows = rows;
  PC_TRY(status);
  double *out = source->own_rows;
  for (size_t i = 0; i < batch->rows; i++) {
    const char *at = (const char *)batch->scores + (ptrdiff_t)i * batch->row_stride;
    for (size_t k = 0; k < columns; k++)
      *out++ = percent_score(at, from == NULL ? k : from[k], batch->column_stride, narrow);
  }
  batch->scores = source->own_rows;
  batch->columns = columns;
  batch->row_stride = (ptrdiff_t)(columns * sizeof(double));
  batch->column_stride = (ptrdiff_t)sizeof(double);
  return PCAL_OK;
}

pcal_status pc_source_scale_percent(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  PC_TRY(pc_source_own_rows(source, batch, err));
  for (size_t i = 0; i < batch->rows * batch->columns; i++)
    source->own_rows[i] /= 100.0;
  return PCAL_OK;
}

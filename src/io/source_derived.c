#include "io/source_derived.h"

#include "io/source.h"

#define SOURCE_DERIVED_CELLS ((size_t)1 << 20) /* scores of a window */

size_t pc_source_derived_window(size_t columns) {
  const size_t rows = SOURCE_DERIVED_CELLS / (columns == 0 ? 1 : columns);
  return rows < 1 ? 1 : rows;
}

pcal_status pc_source_derived_next(const pc_source_derived *derived, size_t max_rows,
                                   uint64_t position, pcal_batch *out, pcal_error *err) {
  const size_t wanted = max_rows < derived->window ? max_rows : derived->window;
  do {
    pcal_batch from = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(derived->base, wanted, &from, err));
    *out = from;
    if (from.rows == 0)
      return PCAL_OK;
    PC_TRY(derived->step(derived->user, &from, out, err));
  } while (out->rows == 0);
  if (derived->thinned)
    out->first_row = position;
  return PCAL_OK;
}

void pc_source_derived_shape(const pc_source_derived *derived, pcal_shape *out) {
  *out = (pcal_shape){.size = sizeof *out};
  pc_source_shape(derived->base, out);
  out->kind = derived->kind;
  out->type = derived->type;
  out->columns = derived->columns;
  if (derived->thinned)
    out->row_count = PCAL_NO_ROW;
}

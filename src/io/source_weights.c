/* The meaning of the weights of a source, and weights in units of effective rows
 * (data/weight_unit.h), for fits.
 *
 * Edge cases:
 *   1. Frequencies, and weights that are expected frequencies or already scaled, stay as they are.
 *   2. Rows with a missing label or score, or with a weight that is 0 or not valid, count for
 *      nothing: whoever reads them skips or refuses them.
 *   3. Of soft labels the rows of the data are the units, not those of their classes.
 * Cost:     one more pass over the rows, once for each source, unless there are no weights or they
 *           are declared to be frequencies. */
#include <math.h>
#include <string.h>

#include "data/rows.h"
#include "io/source_state.h"

#define SOURCE_WEIGHTS_ROWS ((size_t)1 << 16)

int pc_source_row_is_missing(const pcal_batch *batch, size_t row) {
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  const ptrdiff_t column = batch->column_stride == 0 ? (ptrdiff_t)size : batch->column_stride;
  const ptrdiff_t stride =
      batch->row_stride == 0 ? (ptrdiff_t)(size * batch->columns) : batch->row_stride;
  const char *cell = (const char *)batch->scores + (ptrdiff_t)row * stride;
  for (size_t c = 0; c < batch->columns; c++, cell += column) {
    double number;
    float single;
    if (batch->type == PCAL_F32) {
      memcpy(&single, cell, sizeof single);
      number = (double)single;
    } else
      memcpy(&number, cell, sizeof number);
    if (isnan(number))
      return 1;
  }
  return 0;
}

static int source_weights_counts(const pcal_batch *batch, size_t row) {
  return (batch->labels == NULL || batch->labels[row] != PCAL_MISSING_LABEL) &&
         (batch->targets == NULL || !isnan(batch->targets[row])) &&
         !pc_source_row_is_missing(batch, row);
}

/* Adds a window; *fractional is set if a weight is not whole. */
static void source_weights_add(const pcal_batch *batch, pc_weight_sums *sums, int *fractional) {
  for (size_t i = 0; i < batch->rows; i++) {
    const double weight = batch->weights[i];
    if (!pc_weight_counts(weight) || !source_weights_counts(batch, i))
      continue;
    *fractional |= weight != floor(weight);
    pc_weight_sums_add(sums, weight);
  }
}

/* Reads all rows, unless the first window shows that the weights are not to be scaled. */
static pcal_status source_weights_read(pcal_source *source, pcal_error *err) {
  pc_weight_sums sums;
  int meaning = PCAL_WEIGHTS_AUTO, fractional = 0;
  pc_weight_sums_clear(&sums);
  PC_TRY(pc_source_rewind(source, err));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, SOURCE_WEIGHTS_ROWS, &batch, err));
    if (batch.rows == 0)
      break;
    meaning = batch.weights_are;
    if (batch.weights == NULL ||
        (meaning != PCAL_WEIGHTS_AUTO && meaning != PCAL_WEIGHTS_IMPORTANCE))
      break;
    source_weights_add(&batch, &sums, &fractional);
    PC_TRY(pc_check_interrupt(&source->env, err));
  }
  if (meaning == PCAL_WEIGHTS_AUTO)
    meaning = fractional ? PCAL_WEIGHTS_IMPORTANCE : PCAL_WEIGHTS_FREQUENCY;
  source->scaling.meaning = meaning;
  source->scaling.unit = pc_weight_unit(source->soft.used ? &source->soft.sums : &sums);
  source->scaling.known = 1;
  return pc_source_rewind(source, err);
}

pcal_status pc_source_scale_weights(pcal_source *source, pcal_weights *meaning,
                                    pcal_error *err) {
  pc_source_scaling *scaling = &source->scaling;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(source, &shape);
  *meaning = PCAL_WEIGHTS_AUTO;
  if (!shape.weighted)
    return PCAL_OK;
  if (!scaling->known)
    PC_TRY(source_weights_read(source, err));
  if (scaling->meaning < PCAL_WEIGHTS_AUTO || scaling->meaning > PC_WEIGHTS_SCALED)
    return pc_fail(err, PCAL_USAGE, "weights_are %d is unknown; start from PCAL_BATCH_INIT",
                   scaling->meaning);
  scaling->used = scaling->meaning == PCAL_WEIGHTS_IMPORTANCE;
  *meaning = scaling->used || scaling->meaning == PC_WEIGHTS_SCALED ? PCAL_WEIGHTS_IMPORTANCE
                                                                    : PCAL_WEIGHTS_FREQUENCY;
  return PCAL_OK;
}

void pc_source_restore_weights(pcal_source *source) {
  source->scaling.used = 0;
}

pcal_status pc_source_scale_batch(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  pc_source_scaling *scaling = &source->scaling;
  if (!scaling->used || batch->weights == NULL)
    return PCAL_OK;
  void *weights = scaling->weights;
  const pcal_status status =
      pc_reserve(&source->env, &weights, &scaling->capacity, batch->rows, sizeof(double), err);
  scaling->weights = weights;
  PC_TRY(status);
  pc_weights_scale(batch->weights, batch->rows, scaling->unit, scaling->weights);
  batch->weights = scaling->weights;
  batch->weights_are = PC_WEIGHTS_SCALED;
  return PCAL_OK;
}

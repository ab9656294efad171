#include "calibrators/linear/vector_sample.h"

#include <math.h>

#include "base/rng.h"

#define VECTOR_SAMPLE_LOOKS 3 /* features in a key */

/* Feature j of row i of a block. */
static double vector_sample_feature(const pc_fit_rows *rows, const pc_fit_block *block,
                                    size_t i, size_t j) {
  const size_t lane = i % PC_LANES, at = ((i - lane) * rows->width) + j * PC_LANES + lane;
  if (block->transposed == NULL)
    return block->x[i * rows->width + j];
  return rows->floats ? (double)((const float *)block->transposed)[at]
                      : ((const double *)block->transposed)[at];
}

static uint64_t vector_sample_key(const pc_fit_rows *rows, const pc_fit_block *block,
                                  size_t i) {
  size_t j = (size_t)block->labels[i];
  uint64_t key = pc_hash_u64((uint64_t)j + UINT64_C(0x9e3779b97f4a7c15));
  for (size_t looks = 0; looks < VECTOR_SAMPLE_LOOKS; looks++) {
    const double x = vector_sample_feature(rows, block, i, j);
    key = pc_hash_u64(key + pc_double_bits(x + 0.0));
    j = j + 1 < rows->width ? j + 1 : 0;
  }
  return key;
}

static void vector_sample_take(pc_vector_sample *sample, const pc_fit_block *block, size_t i) {
  const size_t width = sample->rows->width;
  const double weight = block->weights == NULL ? 1.0 : block->weights[i];
  pc_mutex_lock(&sample->lock);
  const size_t at = sample->block.count, lane = at % PC_LANES;
  sample->chosen++;
  pc_sum_add(&sample->total, weight);
  if (at < sample->most) {
    double *tile = sample->tiles + (at - lane) * width;
    for (size_t j = 0; j < width; j++)
      tile[j * PC_LANES + lane] = vector_sample_feature(sample->rows, block, i, j);
    sample->weights[at] = weight;
    sample->labels[at] = block->labels[i];
    sample->block.count++;
  }
  pc_mutex_unlock(&sample->lock);
}

static pcal_status vector_sample_add(void *user, size_t w, const pc_fit_block *block,
                                     pcal_error *err) {
  pc_vector_sample *sample = user;
  (void)w;
  (void)err;
  for (size_t i = 0; i < block->count; i++)
    if (vector_sample_key(sample->rows, block, i) < sample->below)
      vector_sample_take(sample, block, i);
  return PCAL_OK;
}

/* Adds a row of a tally, which the keys have already chosen. */
static pcal_status vector_sample_take_row(pc_vector_sample *sample, const double *row,
                                          pcal_error *err) {
  const size_t width = sample->rows->width, at = sample->block.count, lane = at % PC_LANES;
  if (at >= sample->most || !(row[1] >= 0.0 && row[1] < (double)sample->rows->classes))
    return pc_fail(err, PCAL_DATA,
                   "the request or a tally is damaged: it names a class that does not exist");
  for (size_t j = 0; j < width; j++)
    sample->tiles[(at - lane) * width + j * PC_LANES + lane] = row[2 + j];
  sample->weights[at] = row[0];
  sample->labels[at] = (int32_t)row[1];
  sample->block.count++;
  return PCAL_OK;
}

static pcal_status vector_sample_give_rows(const pc_vector_sample *sample,
                                           pc_fit_fields *fields, pc_fit_field *field,
                                           pcal_error *err) {
  const size_t width = sample->rows->width;
  double *row = pc_alloc_raw(sample->rows->task->env, 2 + width, sizeof *row);
  if (row == NULL)
    return pc_fail_memory(err, "preparing a search");
  for (size_t i = 0; i < sample->block.count; i++) {
    const size_t lane = i % PC_LANES;
    row[0] = sample->weights[i];
    row[1] = sample->labels[i];
    for (size_t j = 0; j < width; j++)
      row[2 + j] = sample->tiles[(i - lane) * width + j * PC_LANES + lane];
    PC_TRY(pc_fit_field_add_row(fields, field, 0, row, err));
  }
  pc_free(sample->rows->task->env, row);
  return PCAL_OK;
}

static pcal_status vector_sample_list(void *user, size_t w, pc_fit_fields *fields,
                                      pcal_error *err) {
  pc_vector_sample *sample = user;
  uint64_t chosen = sample->chosen;
  pc_fit_field *field = NULL;
  if (w > 0)
    return PCAL_OK;
  PC_TRY(pc_fit_field_counts(fields, &chosen, 1, err));
  PC_TRY(pc_fit_field_sums(fields, &sample->total, 1, err));
  PC_TRY(pc_fit_field_rows(fields, PC_FIT_LIST, 2 + sample->rows->width, sample->most, &field,
                           err));
  if (!fields->taking)
    return vector_sample_give_rows(sample, fields, field, err);
  sample->chosen = (size_t)chosen;
  for (size_t i = 0; i < field->count; i++)
    PC_TRY(
        vector_sample_take_row(sample, (const double *)field->items + i * field->width, err));
  return PCAL_OK;
}

/* Completes the block; empties the sample if too many rows belong to it. */
static void vector_sample_finish(pc_vector_sample *sample) {
  pc_fit_block *block = &sample->block;
  sample->weight = pc_sum_value(&sample->total);
  if (sample->chosen > sample->most || !(sample->weight <= (double)sample->most))
    block->count = 0;
  block->transposed = sample->tiles;
  block->labels = sample->labels;
  block->weights = sample->rows->task->calibrator->fit.weighted ? sample->weights : NULL;
}

double pc_vector_sample_population(const pc_fit_rows *rows) {
  return fmax(rows->weight, (double)rows->task->calibrator->fit.rows);
}

pcal_status pc_vector_sample_draw(const pc_fit_rows *rows, size_t wanted, pc_vector_sample *out,
                                  pcal_error *err) {
  const pcal_env *env = rows->task->env;
  const double size = pc_vector_sample_population(rows);
  *out = (pc_vector_sample){.rows = NULL};
  if (size <= (double)wanted)
    return PCAL_OK;
  out->rows = rows;
  out->most = (2 * wanted + PC_LANES - 1) / PC_LANES * PC_LANES;
  out->below = (uint64_t)((double)wanted / size * 0x1p64);
  pc_sum_clear(&out->total);
  out->tiles = pc_alloc(env, out->most, rows->width * sizeof *out->tiles);
  out->weights = pc_alloc(env, out->most, sizeof *out->weights);
  out->labels = pc_alloc(env, out->most, sizeof *out->labels);
  if (out->tiles == NULL || out->weights == NULL || out->labels == NULL ||
      !pc_mutex_init(&out->lock))
    return pc_fail_memory(err, "preparing a search");
  const pcal_status status =
      pc_fit_rows_run(rows, vector_sample_add, vector_sample_list, out, err);
  pc_mutex_destroy(&out->lock);
  PC_TRY(status);
  vector_sample_finish(out);
  return PCAL_OK;
}

void pc_vector_sample_free(pc_vector_sample *sample) {
  if (sample->rows == NULL)
    return;
  const pcal_env *env = sample->rows->task->env;
  pc_free(env, sample->tiles);
  pc_free(env, sample->weights);
  pc_free(env, sample->labels);
  *sample = (pc_vector_sample){.rows = NULL};
}

/* The grid machine: counts and sums in cells known beforehand.
 *
 * State: for each cell the weight, the weight of hits, and the sums of score, score^2 and
 * score * hit, in 128-bit fixed point: exact integers, so any order of rows and merges gives
 * the same bits. */
#include <string.h>

#include "core/sum.h"
#include "machines/machine.h"

#define MACHINE_GRID_CELL_BYTES 80 /* as saved */

typedef struct grid_cell {
  pc_fixed weight, hits, score, score_square, score_hit;
} grid_cell;

typedef struct grid_state {
  pc_partition cells;
  size_t cell_count;
  grid_cell *cell;
} grid_state;

static void machine_grid_destroy(const pcal_env *env, void *opaque) {
  grid_state *state = opaque;
  pc_partition_free(env, &state->cells);
  pc_free(env, state->cell);
  pc_free(env, state);
}

static void machine_grid_clear(void *opaque) {
  grid_state *state = opaque;
  memset(state->cell, 0, state->cell_count * sizeof *state->cell);
}

static pcal_status machine_grid_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  (void)layout;
  grid_state *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "preparing bins");
  const pcal_status status =
      pc_partition_new(env, need->grid.rule, need->grid.bins, &state->cells, err);
  if (status != PCAL_OK) {
    pc_free(env, state);
    return status;
  }
  state->cell_count = state->cells.cut_count + 1;
  state->cell = pc_alloc(env, state->cell_count, sizeof *state->cell);
  if (state->cell == NULL) {
    machine_grid_destroy(env, state);
    return pc_fail_memory(err, "preparing bins");
  }
  *out = state;
  return PCAL_OK;
}

static void machine_grid_add(grid_cell *cell, double score, int hit) {
  const int64_t units = pc_fixed_units(score), one = pc_fixed_units(1.0);
  cell->weight.units += one;
  cell->hits.units += one & -(int64_t)hit;
  cell->score.units += units;
  cell->score_square.units += pc_fixed_units(score * score);
  cell->score_hit.units += units & -(int64_t)hit;
}

static void machine_grid_add_weighted(grid_cell *cell, double score, int hit, double weight) {
  pc_fixed_add_weighted(&cell->weight, weight, 1.0);
  pc_fixed_add_weighted(&cell->score, weight, score);
  pc_fixed_add_weighted(&cell->score_square, weight, score * score);
  if (hit) {
    pc_fixed_add_weighted(&cell->hits, weight, 1.0);
    pc_fixed_add_weighted(&cell->score_hit, weight, score);
  }
}

static pcal_status machine_grid_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                       const pc_columns *columns, pcal_error *err) {
  (void)env;
  (void)err;
  grid_state *state = opaque;
  for (size_t i = 0; i < rows->count; i++) {
    grid_cell *cell = &state->cell[pc_partition_find(&state->cells, columns->score[i])];
    if (rows->weights == NULL)
      machine_grid_add(cell, columns->score[i], columns->hit[i]);
    else
      machine_grid_add_weighted(cell, columns->score[i], columns->hit[i], rows->weights[i]);
  }
  return PCAL_OK;
}

static pcal_status machine_grid_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  (void)env;
  const grid_state *into = opaque, *from = other;
  for (size_t c = 0; c < into->cell_count; c++) {
    const grid_cell *a = &into->cell[c], *b = &from->cell[c];
    if (!pc_fixed_addable(&a->weight, &b->weight) || !pc_fixed_addable(&a->hits, &b->hits) ||
        !pc_fixed_addable(&a->score, &b->score) ||
        !pc_fixed_addable(&a->score_square, &b->score_square) ||
        !pc_fixed_addable(&a->score_hit, &b->score_hit))
      return pc_fail(err, PCAL_DATA, "the sums in the bins are too large to be added");
  }
  return PCAL_OK;
}

static void machine_grid_join(grid_cell *into, const grid_cell *from) {
  into->weight.units += from->weight.units;
  into->hits.units += from->hits.units;
  into->score.units += from->score.units;
  into->score_square.units += from->score_square.units;
  into->score_hit.units += from->score_hit.units;
}

static void machine_grid_merge(void *opaque, const void *other) {
  grid_state *into = opaque;
  const grid_state *from = other;
  for (size_t c = 0; c < into->cell_count; c++)
    machine_grid_join(&into->cell[c], &from->cell[c]);
}

static pcal_status machine_grid_finish(const pcal_env *env, const void *opaque,
                                       pc_evidence *out, pcal_error *err) {
  const grid_state *state = opaque;
  const size_t bins = state->cells.bin_count;
  out->grid.bin_count = bins;
  out->grid.bins = pc_alloc(env, bins, sizeof *out->grid.bins);
  if (out->grid.bins == NULL)
    return pc_fail_memory(err, "reading bins");
  for (size_t b = 0; b < bins; b++) {
    const struct pc_cell_run *run = &state->cells.runs[b];
    grid_cell sum = {{0}, {0}, {0}, {0}, {0}};
    for (size_t c = run->first; c <= run->last; c++)
      machine_grid_join(&sum, &state->cell[c]);
    out->grid.bins[b] = (pc_bin){run->low,
                                 run->high,
                                 pc_fixed_value(&sum.weight),
                                 pc_fixed_value(&sum.hits),
                                 pc_fixed_value(&sum.score),
                                 pc_fixed_value(&sum.score_square),
                                 pc_fixed_value(&sum.score_hit)};
  }
  return PCAL_OK;
}

static void machine_grid_release(const pcal_env *env, pc_evidence *evidence) {
  pc_free(env, evidence->grid.bins);
  evidence->grid.bins = NULL;
}

static pcal_status machine_grid_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  (void)env;
  (void)err;
  const grid_state *state = opaque;
  for (size_t c = 0; c < state->cell_count; c++) {
    pc_encode_fixed(out, &state->cell[c].weight);
    pc_encode_fixed(out, &state->cell[c].hits);
    pc_encode_fixed(out, &state->cell[c].score);
    pc_encode_fixed(out, &state->cell[c].score_square);
    pc_encode_fixed(out, &state->cell[c].score_hit);
  }
  return PCAL_OK;
}

static void machine_grid_load_cell(pc_decoder *in, grid_cell *cell) {
  pc_decode_fixed(in, &cell->weight);
  pc_decode_fixed(in, &cell->hits);
  pc_decode_fixed(in, &cell->score);
  pc_decode_fixed(in, &cell->score_square);
  pc_decode_fixed(in, &cell->score_hit);
  pc_decoder_expect(in, cell->hits.units >= 0 && cell->weight.units >= cell->hits.units &&
                            cell->score_square.units >= 0);
}

static pcal_status machine_grid_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  (void)totals;
  if (need->grid.bins > pc_decoder_left(in) / MACHINE_GRID_CELL_BYTES) {
    pc_decoder_fail(in);
    return PCAL_OK;
  }
  PC_TRY(machine_grid_create(env, need, layout, out, err));
  grid_state *state = *out;
  for (size_t c = 0; c < state->cell_count && !in->failed; c++)
    machine_grid_load_cell(in, &state->cell[c]);
  return PCAL_OK;
}

const pc_machine pc_machine_grid = {
    .name = "grid",
    .create = machine_grid_create,
    .destroy = machine_grid_destroy,
    .clear = machine_grid_clear,
    .update = machine_grid_update,
    .prepare = machine_grid_prepare,
    .merge = machine_grid_merge,
    .finish = machine_grid_finish,
    .release = machine_grid_release,
    .save = machine_grid_save,
    .load = machine_grid_load,
};

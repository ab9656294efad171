/* Edge cases:
 *  1. evidence has no bins, but a function that reads those of one part: all parts together
 *     would take more memory than the rows.
 *  2. column sums hold 4095 rows; beyond that a state becomes an ordinary grid, and also when
 *     one part in eight has cells.  Then the rows take more memory than the cells.
 *  3. saved bytes are those of the grid machine; a loaded state is an ordinary grid. */
#include "machines/machine_grid_sparse.h"

#include <math.h>
#include <string.h>

#include "kernels/dispatch.h"
#include "machines/grid_cells.h"

#define GRID_SPARSE_CELLS ((size_t)1 << 20) /* more cells than this: sparse */
#define GRID_SPARSE_SHARE 8
#define GRID_SPARSE_STEP \
  128 /* columns summed before looking for scores beyond the first cell */

typedef struct grid_sparse {
  pc_need need;
  pc_layout layout;
  pc_grid_state *dense;                 /* the ordinary grid; NULL: the fields below */
  pc_grid_state *few;                   /* cells of some parts, [place][cell]; columns of all */
  uint32_t *place;                      /* by part: 1 + its place in few; 0: it has no cells */
  uint32_t *part;                       /* by place */
  size_t used, capacity, part_capacity; /* of places */
} grid_sparse;

int pc_grid_is_sparse(const pc_need *need, const pc_layout *layout) {
  return need->machine == PC_GRID && need->grid.moments == 0 && need->grid.threshold <= 0 &&
         need->grid.bins > 1 &&
         pc_view_parts(&need->view, layout) > GRID_SPARSE_CELLS / need->grid.bins;
}

/* ---- making ---- */

static void grid_sparse_free_few(const pcal_env *env, grid_sparse *state) {
  pc_grid_free(env, state->few);
  pc_free(env, state->place);
  pc_free(env, state->part);
  state->few = NULL;
  state->place = state->part = NULL;
}

static void grid_sparse_destroy(const pcal_env *env, void *opaque) {
  grid_sparse *state = opaque;
  if (state == NULL)
    return;
  grid_sparse_free_few(env, state);
  pc_grid_free(env, state->dense);
  pc_free(env, state);
}

static grid_sparse *grid_sparse_new(const pcal_env *env, const pc_need *need,
                                    const pc_layout *layout) {
  grid_sparse *state = pc_alloc(env, 1, sizeof *state);
  if (state == NULL)
    return NULL;
  memcpy(&state->need, need, sizeof *need);
  state->layout = *layout;
  return state;
}

static pcal_status grid_sparse_create(const pcal_env *env, const pc_need *need,
                                      const pc_layout *layout, void **out, pcal_error *err) {
  grid_sparse *state = grid_sparse_new(env, need, layout);
  if (state == NULL)
    return pc_fail_memory(err, "preparing bins");
  const size_t parts = pc_view_parts(&need->view, layout);
  const pcal_status status = pc_grid_new_places(env, need, layout, 0, &state->few, err);
  if (status == PCAL_OK)
    state->place = pc_alloc(env, parts, sizeof *state->place);
  if (status != PCAL_OK || state->place == NULL) {
    grid_sparse_destroy(env, state);
    return status != PCAL_OK ? status : pc_fail_memory(err, "preparing bins");
  }
  *out = state;
  return PCAL_OK;
}

static void grid_sparse_clear(void *opaque) {
  grid_sparse *state = opaque;
  if (state->dense != NULL) {
    pc_grid_clear(state->dense);
    return;
  }
  for (size_t i = 0; i < state->used; i++)
    state->place[state->part[i]] = 0;
  state->used = 0;
  pc_grid_clear_columns(&state->few->columns);
  state->few->columns.rows = 0;
}

/* ---- places ---- */

static pcal_status grid_sparse_reserve(const pcal_env *env, grid_sparse *state, size_t places,
                                       pcal_error *err) {
  void *cells = state->few->cell, *parts = state->part;
  const size_t size = state->few->cell_count * sizeof *state->few->cell;
  pcal_status status = pc_reserve(env, &cells, &state->capacity, places, size, err);
  state->few->cell = cells;
  if (status == PCAL_OK)
    status = pc_reserve(env, &parts, &state->part_capacity, places, sizeof *state->part, err);
  state->part = parts;
  return status;
}

/* The cells of a part.  Requires a reserved place if it has none yet. */
static pc_grid_cell *grid_sparse_cells(grid_sparse *state, size_t part) {
  const size_t cells = state->few->cell_count;
  if (state->place[part] == 0) {
    state->part[state->used] = (uint32_t)part;
    memset(state->few->cell + state->used * cells, 0, cells * sizeof *state->few->cell);
    state->place[part] = (uint32_t)++state->used;
  }
  return state->few->cell + (state->place[part] - 1) * cells;
}

static const pc_grid_cell *grid_sparse_find(const grid_sparse *state, size_t part) {
  return state->place[part] == 0
             ? NULL
             : state->few->cell + (state->place[part] - 1) * state->few->cell_count;
}

static pcal_status grid_sparse_make_dense(const pcal_env *env, grid_sparse *state,
                                          pcal_error *err) {
  pc_grid_state *dense = NULL, *few = state->few;
  PC_TRY(pc_grid_new(env, &state->need, &state->layout, &dense, err));
  for (size_t i = 0; i < state->used; i++)
    memcpy(dense->cell + state->part[i] * few->cell_count, few->cell + i * few->cell_count,
           few->cell_count * sizeof *few->cell);
  const pc_grid_columns empty = dense->columns;
  dense->columns = few->columns;
  few->columns = empty;
  grid_sparse_free_few(env, state);
  state->dense = dense;
  return PCAL_OK;
}

/* True if that many more rows and places need an ordinary grid (2). */
static int grid_sparse_is_full(const grid_sparse *state, uint64_t rows, size_t places) {
  return state->few->columns.pending + rows > PC_CLASS_COLUMN_ROWS ||
         state->used + places > state->few->part_count / GRID_SPARSE_SHARE;
}

/* ---- updating ---- */

static pcal_status grid_sparse_add(const pcal_env *env, grid_sparse *state, size_t part,
                                   double score, int hit, pcal_error *err) {
  pc_grid_state *few = state->few;
  PC_TRY(grid_sparse_reserve(env, state, state->used + 1, err));
  const size_t first = (size_t)(grid_sparse_cells(state, part) - few->cell);
  pc_grid_add(few, first + pc_partition_find(&few->cells, score), score, 0.0, hit);
  return PCAL_OK;
}

/* Adds the scores beyond the first cell, from column `begin` on; there are `beyond` of them. */
static pcal_status grid_sparse_single(const pcal_env *env, grid_sparse *state,
                                      const double *scores, size_t begin, size_t beyond,
                                      pcal_error *err) {
  for (size_t j = begin; beyond > 0; j++)
    if (scores[j] > state->few->columns.rule.last) {
      beyond--;
      PC_TRY(grid_sparse_add(env, state, j, scores[j], 0, err));
    }
  return PCAL_OK;
}

static pcal_status grid_sparse_every_class(const pcal_env *env, grid_sparse *state,
                                           const double *scores, size_t label,
                                           pcal_error *err) {
  const pc_class_column_kernels *kernels = pc_kernels_best()->class_column;
  pc_grid_columns *columns = &state->few->columns;
  columns->pending++;
  columns->rows++;
  for (size_t begin = 0; begin < columns->count; begin += GRID_SPARSE_STEP) {
    const size_t left = columns->count - begin;
    const pc_class_column_sums sums = {columns->sums.score + begin, NULL, NULL};
    const size_t beyond =
        kernels->add(scores + begin, left < GRID_SPARSE_STEP ? left : GRID_SPARSE_STEP,
                     &columns->rule, &sums);
    PC_TRY(grid_sparse_single(env, state, scores, begin, beyond, err));
  }
  PC_TRY(grid_sparse_reserve(env, state, state->used + 1, err));
  grid_sparse_cells(state, label)[pc_partition_find(&state->few->cells, scores[label])].hits++;
  return PCAL_OK;
}

static pcal_status grid_sparse_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                      const pc_view_columns *columns, pcal_error *err) {
  grid_sparse *state = opaque;
  if (state->dense == NULL &&
      (rows->weights != NULL || grid_sparse_is_full(state, rows->count, 0)))
    PC_TRY(grid_sparse_make_dense(env, state, err));
  if (state->dense != NULL)
    return pc_machine_grid.update(env, state->dense, rows, columns, err);
  for (size_t i = 0; i < rows->count; i++)
    if (state->few->columns.count > 0)
      PC_TRY(grid_sparse_every_class(env, state, rows->probs + i * rows->classes,
                                     (size_t)rows->labels[i], err));
    else
      PC_TRY(grid_sparse_add(env, state, columns->part[i], columns->score[i], columns->hit[i],
                             err));
  return PCAL_OK;
}

/* ---- reading ---- */

static pc_grid_sums grid_sparse_read(const grid_sparse *state, size_t part, size_t cell) {
  const pc_grid_cell *cells = grid_sparse_find(state, part);
  const pc_grid_columns *columns = &state->few->columns;
  pc_grid_sums sums = {.weight = {0}};
  uint64_t count = cells == NULL ? 0 : cells[cell].count;
  if (cells != NULL) {
    sums.score = cells[cell].score;
    sums.hits = pc_grid_whole(cells[cell].hits);
  }
  if (columns->count > 0 && cell == 0) { /* counted nowhere: all rows less the other cells */
    count = columns->rows;
    for (size_t c = 1; cells != NULL && c < state->few->cell_count; c++)
      count -= cells[c].count;
    sums.score.units += pc_grid_pending_sum(columns, columns->sums.score, part).units;
  }
  sums.weight = pc_grid_whole(count);
  return sums;
}

static void grid_sparse_bins(const void *opaque, size_t part, pc_bin *out) {
  const grid_sparse *state = opaque;
  const pc_partition *cells = &state->few->cells;
  for (size_t b = 0; b < cells->bin_count; b++) {
    const struct pc_cell_run *run = &cells->runs[b];
    pc_grid_sums total = {.weight = {0}};
    for (size_t c = run->first; c <= run->last; c++) {
      const pc_grid_sums sums = grid_sparse_read(state, part, c);
      total.weight.units += sums.weight.units;
      total.hits.units += sums.hits.units;
      total.score.units += sums.score.units;
    }
    out[b] = (pc_bin){run->low,
                      run->high,
                      pc_fixed_value(&total.weight),
                      pc_fixed_value(&total.hits),
                      pc_fixed_value(&total.score),
                      (double)NAN,
                      (double)NAN};
  }
}

static pcal_status grid_sparse_finish(const pcal_env *env, const void *opaque, pc_evidence *out,
                                      pcal_error *err) {
  const grid_sparse *state = opaque;
  if (state->dense != NULL)
    return pc_machine_grid.finish(env, state->dense, out, err);
  out->grid.bin_count = state->few->cells.bin_count;
  out->grid.part_count = state->few->part_count;
  out->grid.bins = NULL;
  out->grid.logs = NULL;
  out->grid.read = grid_sparse_bins;
  out->grid.state = state;
  return PCAL_OK;
}

static void grid_sparse_release(const pcal_env *env, pc_evidence *evidence) {
  pc_machine_grid.release(env, evidence);
}

/* ---- merging ---- */

static pcal_status grid_sparse_check(const pc_grid_state *into, const grid_sparse *from,
                                     pcal_error *err) {
  for (size_t p = 0; p < into->part_count; p++)
    for (size_t c = 0; c < into->cell_count; c++) {
      const pc_grid_sums a = pc_grid_read(into, p * into->cell_count + c);
      const pc_grid_sums b = grid_sparse_read(from, p, c);
      if (!pc_fixed_addable(&a.weight, &b.weight) || !pc_fixed_addable(&a.hits, &b.hits) ||
          !pc_fixed_addable(&a.score, &b.score))
        return pc_fail(err, PCAL_DATA, "the sums in the bins are too large to be added");
    }
  return PCAL_OK;
}

static pcal_status grid_sparse_prepare(const pcal_env *env, void *opaque, const void *other,
                                       pcal_error *err) {
  grid_sparse *into = opaque;
  const grid_sparse *from = other;
  if (into->dense == NULL &&
      (from->dense != NULL ||
       grid_sparse_is_full(into, from->few->columns.pending, from->used)))
    PC_TRY(grid_sparse_make_dense(env, into, err));
  if (into->dense != NULL)
    return from->dense != NULL ? pc_machine_grid.prepare(env, into->dense, from->dense, err)
                               : grid_sparse_check(into->dense, from, err);
  return grid_sparse_reserve(env, into, into->used + from->used, err);
}

static void grid_sparse_merge(void *opaque, const void *other) {
  grid_sparse *into = opaque;
  const grid_sparse *from = other;
  if (from->dense != NULL) {
    pc_machine_grid.merge(into->dense, from->dense);
    return;
  }
  const size_t count = from->few->cell_count;
  for (size_t i = 0; i < from->used; i++) {
    pc_grid_cell *cells = into->dense != NULL ? into->dense->cell + from->part[i] * count
                                              : grid_sparse_cells(into, from->part[i]);
    for (size_t c = 0; c < count; c++) {
      cells[c].count += from->few->cell[i * count + c].count;
      cells[c].hits += from->few->cell[i * count + c].hits;
      cells[c].score.units += from->few->cell[i * count + c].score.units;
    }
  }
  const pc_grid_columns *more = &from->few->columns;
  pc_grid_columns *columns = into->dense != NULL ? &into->dense->columns : &into->few->columns;
  columns->rows += more->rows;
  if (into->dense != NULL) {
    pc_grid_add_columns(into->dense, more);
    return;
  }
  columns->pending += more->pending;
  for (size_t j = 0; j < columns->count; j++)
    columns->sums.score[j] += more->sums.score[j];
}

/* ---- saving ---- */

static pcal_status grid_sparse_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                    pcal_error *err) {
  const grid_sparse *state = opaque;
  if (state->dense != NULL)
    return pc_machine_grid.save(env, state->dense, out, err);
  for (size_t p = 0; p < state->few->part_count; p++)
    for (size_t c = 0; c < state->few->cell_count; c++) {
      const pc_grid_sums sums = grid_sparse_read(state, p, c);
      pc_encode_fixed(out, &sums.weight);
      pc_encode_fixed(out, &sums.hits);
      pc_encode_fixed(out, &sums.score);
    }
  return pc_check_interrupt(env, err);
}

static pcal_status grid_sparse_load(const pcal_env *env, const pc_need *need,
                                    const pc_layout *layout, const pc_saved_totals *totals,
                                    pc_decoder *in, void **out, pcal_error *err) {
  grid_sparse *state = grid_sparse_new(env, need, layout);
  void *dense = NULL;
  if (state == NULL)
    return pc_fail_memory(err, "loading a state");
  const pcal_status status = pc_machine_grid.load(env, need, layout, totals, in, &dense, err);
  state->dense = dense;
  if (dense != NULL)
    *out = state;
  else
    grid_sparse_destroy(env, state);
  return status;
}

const pc_machine pc_machine_grid_sparse = {
    .name = "grid",
    .create = grid_sparse_create,
    .destroy = grid_sparse_destroy,
    .clear = grid_sparse_clear,
    .update = grid_sparse_update,
    .prepare = grid_sparse_prepare,
    .merge = grid_sparse_merge,
    .finish = grid_sparse_finish,
    .release = grid_sparse_release,
    .save = grid_sparse_save,
    .load = grid_sparse_load,
};

/* The grid machine: counts and sums in cells with fixed edges.
 *
 * State: for each part of the view and each cell the weight, the weight of hits and the sum of
 * scores; if requested also the sums of score^2, score * hit (grid_cells.h) and logarithms
 * (grid_logs.h).  All are exact integers, so that any order of rows and merges gives the same
 * bits.
 *
 * Saved: part by part, cell by cell, these sums as fixed-point numbers of 16 bytes; after sums
 * of logarithms one byte that marks the infinite ones. */
#include <math.h>
#include <string.h>

#include "kernels/bin_index.h"
#include "kernels/dispatch.h"
#include "machines/grid_cells.h"

#define MACHINE_GRID_FIXED_BYTES 16
#define MACHINE_GRID_BANKS 8
#define MACHINE_GRID_FEW_ROWS ((size_t)1024) /* with fewer rows one bank is faster */
#define MACHINE_GRID_BANK_CELLS 32
#define MACHINE_GRID_BANK_ROWS ((size_t)4096) /* 512 per bank: sums stay below 2^63 units */

static void machine_grid_destroy(const pcal_env *env, void *opaque) {
  pc_grid_free(env, opaque);
}

static void machine_grid_clear(void *opaque) {
  pc_grid_clear(opaque);
}

static pcal_status machine_grid_create(const pcal_env *env, const pc_need *need,
                                       const pc_layout *layout, void **out, pcal_error *err) {
  pc_grid_state *grid = NULL;
  PC_TRY(pc_grid_new(env, need, layout, &grid, err));
  *out = grid;
  return PCAL_OK;
}

/* ---- updating ---- */

/* The common case: one part, few cells, no weights.  Neighbouring rows go to different banks,
 * so that additions do not wait for each other; a bank gets few enough rows for 64-bit sums. */
typedef struct grid_bank {
  uint64_t rows; /* rows in the lower half, hits in the upper */
  int64_t score, square, score_hit;
} grid_bank;

static void machine_grid_fold(pc_grid_state *grid, grid_bank banks[][MACHINE_GRID_BANK_CELLS],
                              size_t bank_count) {
  for (size_t b = 0; b < bank_count; b++)
    for (size_t c = 0; c < grid->cell_count; c++) {
      grid->cell[c].count += banks[b][c].rows & UINT32_MAX;
      grid->cell[c].hits += banks[b][c].rows >> 32;
      grid->cell[c].score.units += pc_grid_widen(banks[b][c].score);
      if (grid->square != NULL)
        grid->square[c].units += pc_grid_widen(banks[b][c].square);
      if (grid->score_hit != NULL)
        grid->score_hit[c].units += pc_grid_widen(banks[b][c].score_hit);
    }
}

static void machine_grid_bank(grid_bank banks[][MACHINE_GRID_BANK_CELLS], size_t bank_count,
                              const pc_bin_index_rows *rows, const uint8_t *hit, size_t count) {
  for (size_t i = 0; i < count; i++) {
    grid_bank *bank = &banks[i & (bank_count - 1)][rows->cell[i]];
    bank->rows += 1 + ((uint64_t)hit[i] << 32);
    bank->score += rows->score[i];
    bank->square += rows->square[i];
  }
}

/* The sums of the scores of hits. */
static void machine_grid_bank_hits(grid_bank banks[][MACHINE_GRID_BANK_CELLS],
                                   size_t bank_count, const pc_bin_index_rows *rows,
                                   const uint8_t *hit, size_t count) {
  for (size_t i = 0; i < count; i++)
    banks[i & (bank_count - 1)][rows->cell[i]].score_hit += hit[i] ? rows->score[i] : 0;
}

static void machine_grid_add_some(pc_grid_state *grid, const double *score, const uint8_t *hit,
                                  size_t count) {
  grid_bank banks[MACHINE_GRID_BANKS][MACHINE_GRID_BANK_CELLS];
  double cuts[MACHINE_GRID_BANK_CELLS]; /* adjusted so that a score on a cut is below it */
  pc_bin_index_rows rows;
  const size_t bank_count = count < MACHINE_GRID_FEW_ROWS ? 1 : MACHINE_GRID_BANKS;
  memset(banks, 0, bank_count * sizeof banks[0]);
  for (size_t c = 0; c < grid->cells.cut_count; c++)
    cuts[c] = grid->cells.closed_right ? grid->cells.cuts[c]
                                       : nextafter(grid->cells.cuts[c], -INFINITY);
  for (size_t i = 0; i < count; i += PC_BIN_INDEX_ROWS) {
    const size_t here = count - i < PC_BIN_INDEX_ROWS ? count - i : PC_BIN_INDEX_ROWS;
    pc_kernels_best()->bin_index->place(score + i, here, PC_GRID_ONE, cuts,
                                        grid->cells.cut_count, &rows);
    machine_grid_bank(banks, bank_count, &rows, hit + i, here);
    if (grid->score_hit != NULL)
      machine_grid_bank_hits(banks, bank_count, &rows, hit + i, here);
  }
  machine_grid_fold(grid, banks, bank_count);
}

static void machine_grid_add_plain(pc_grid_state *grid, const pc_view_columns *columns,
                                   size_t count) {
  for (size_t begin = 0; begin < count; begin += MACHINE_GRID_BANK_ROWS) {
    const size_t left = count - begin;
    machine_grid_add_some(grid, columns->score + begin, columns->hit + begin,
                          left < MACHINE_GRID_BANK_ROWS ? left : MACHINE_GRID_BANK_ROWS);
  }
}

static void machine_grid_add_rows(pc_grid_state *grid, const pc_view_columns *columns,
                                  const double *weights, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double score = columns->score[i];
    if (grid->threshold > 0 && !(score > grid->threshold))
      continue;
    const size_t part = columns->part == NULL ? 0 : columns->part[i];
    const size_t index = part * grid->cell_count + pc_partition_find(&grid->cells, score);
    const unsigned copies = pc_grid_copies(weights, i);
    for (unsigned copy = 0; copy < copies; copy++)
      pc_grid_add(grid, index, score, score * score, columns->hit[i]);
    if (copies == 0)
      pc_grid_add_weighted(grid, index, pc_grid_truncate(score),
                           pc_grid_truncate(score * score), columns->hit[i], weights[i]);
  }
}

static void machine_grid_add_log(pc_grid_state *grid, size_t part, double score, int hit,
                                 double weight) {
  if (grid->threshold > 0 && !(score > grid->threshold))
    return;
  const size_t index = part * grid->cell_count + pc_partition_find(&grid->cells, score);
  pc_grid_logs_add(&grid->logs[index], score, hit, weight);
}

static void machine_grid_add_logs(pc_grid_state *grid, const pc_rows *rows,
                                  const pc_view_columns *columns) {
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    if (grid->columns.count == 0)
      machine_grid_add_log(grid, columns->part == NULL ? 0 : columns->part[i],
                           columns->score[i], columns->hit[i], weight);
    for (size_t j = 0; j < grid->columns.count; j++)
      machine_grid_add_log(grid, grid->part_count == 1 ? 0 : j,
                           rows->probs[i * rows->classes + j], (size_t)rows->labels[i] == j,
                           weight);
  }
}

static pcal_status machine_grid_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                       const pc_view_columns *columns, pcal_error *err) {
  pc_grid_state *grid = opaque;
  if (grid->logs != NULL)
    machine_grid_add_logs(grid, rows, columns);
  if (grid->columns.count > 0)
    return pc_grid_add_every_class(env, grid, rows, err);
  if (rows->weights != NULL)
    PC_TRY(pc_grid_allow_weights(env, grid, err));
  const int plain = rows->weights == NULL && columns->part == NULL && grid->threshold <= 0 &&
                    grid->cell_count <= MACHINE_GRID_BANK_CELLS;
  if (plain)
    machine_grid_add_plain(grid, columns, rows->count);
  else
    machine_grid_add_rows(grid, columns, rows->weights, rows->count);
  return PCAL_OK;
}

/* ---- merging ---- */

/* True if no sum of a grid without weights and logarithms is so large that adding another such grid
 * could overflow.  Counts of rows cannot be. */
static int machine_grid_small(const pc_grid_state *grid) {
  const size_t total = grid->part_count * grid->cell_count;
  int small = 1;
  for (size_t i = 0; i < total; i++)
    small &= pc_fixed_addable(&grid->cell[i].score, &grid->cell[i].score);
  for (size_t i = 0; grid->square != NULL && i < total; i++)
    small &= pc_fixed_addable(&grid->square[i], &grid->square[i]);
  for (size_t i = 0; grid->score_hit != NULL && i < total; i++)
    small &= pc_fixed_addable(&grid->score_hit[i], &grid->score_hit[i]);
  return small;
}

static int machine_grid_addable(const pc_grid_state *into, const pc_grid_state *from) {
  if (into->mass == NULL && from->mass == NULL && into->logs == NULL)
    return machine_grid_small(into) && machine_grid_small(from);
  for (size_t i = 0; i < into->part_count * into->cell_count; i++) {
    const pc_grid_sums a = pc_grid_read(into, i), b = pc_grid_read(from, i);
    if (!pc_fixed_addable(&a.weight, &b.weight) || !pc_fixed_addable(&a.hits, &b.hits) ||
        !pc_fixed_addable(&a.score, &b.score) || !pc_fixed_addable(&a.square, &b.square) ||
        !pc_fixed_addable(&a.score_hit, &b.score_hit) ||
        (into->logs != NULL && !pc_grid_logs_addable(&into->logs[i], &from->logs[i])))
      return 0;
  }
  return 1;
}

static pcal_status machine_grid_prepare(const pcal_env *env, void *opaque, const void *other,
                                        pcal_error *err) {
  pc_grid_state *into = opaque;
  const pc_grid_state *from = other;
  if (!machine_grid_addable(into, from))
    return pc_fail(err, PCAL_DATA, "the sums in the bins are too large to be added");
  return from->mass == NULL ? PCAL_OK : pc_grid_allow_weights(env, into, err);
}

static void machine_grid_merge(void *opaque, const void *other) {
  pc_grid_merge(opaque, other);
}

/* ---- finishing ---- */

static pc_bin machine_grid_bin(const pc_grid_state *grid, size_t part,
                               const struct pc_cell_run *run) {
  pc_grid_sums total = {{0}, {0}, {0}, {0}, {0}};
  for (size_t c = run->first; c <= run->last; c++) {
    const pc_grid_sums sums = pc_grid_read(grid, part * grid->cell_count + c);
    total.weight.units += sums.weight.units;
    total.hits.units += sums.hits.units;
    total.score.units += sums.score.units;
    total.square.units += sums.square.units;
    total.score_hit.units += sums.score_hit.units;
  }
  return (pc_bin){run->low,
                  run->high,
                  pc_fixed_value(&total.weight),
                  pc_fixed_value(&total.hits),
                  pc_fixed_value(&total.score),
                  grid->square == NULL ? (double)NAN : pc_fixed_value(&total.square),
                  grid->score_hit == NULL ? (double)NAN : pc_fixed_value(&total.score_hit)};
}

static pc_bin_logs machine_grid_bin_logs(const pc_grid_state *grid, size_t part,
                                         const struct pc_cell_run *run) {
  pc_grid_logs total = {.infinite = 0};
  for (size_t c = run->first; c <= run->last; c++)
    pc_grid_logs_join(&total, &grid->logs[part * grid->cell_count + c]);
  return pc_grid_logs_value(&total);
}

static void machine_grid_release(const pcal_env *env, pc_evidence *evidence) {
  pc_free(env, evidence->grid.bins);
  pc_free(env, evidence->grid.logs);
  evidence->grid.bins = NULL;
  evidence->grid.logs = NULL;
}

static pcal_status machine_grid_finish(const pcal_env *env, const void *opaque,
                                       pc_evidence *out, pcal_error *err) {
  const pc_grid_state *grid = opaque;
  const size_t bins = grid->cells.bin_count;
  out->grid.bin_count = bins;
  out->grid.part_count = grid->part_count;
  out->grid.bins = pc_alloc(env, grid->part_count * bins, sizeof *out->grid.bins);
  if (grid->logs != NULL)
    out->grid.logs = pc_alloc(env, grid->part_count * bins, sizeof *out->grid.logs);
  if (out->grid.bins == NULL || (grid->logs != NULL && out->grid.logs == NULL)) {
    machine_grid_release(env, out);
    return pc_fail_memory(err, "reading bins");
  }
  for (size_t p = 0; p < grid->part_count; p++)
    for (size_t b = 0; b < bins; b++) {
      const struct pc_cell_run *run = &grid->cells.runs[b];
      out->grid.bins[p * bins + b] = machine_grid_bin(grid, p, run);
      if (grid->logs != NULL)
        out->grid.logs[p * bins + b] = machine_grid_bin_logs(grid, p, run);
    }
  return PCAL_OK;
}

/* ---- saving ---- */

static pcal_status machine_grid_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                     pcal_error *err) {
  const pc_grid_state *grid = opaque;
  for (size_t i = 0; i < grid->part_count * grid->cell_count; i++) {
    const pc_grid_sums sums = pc_grid_read(grid, i);
    pc_encode_fixed(out, &sums.weight);
    pc_encode_fixed(out, &sums.hits);
    pc_encode_fixed(out, &sums.score);
    if (grid->square != NULL)
      pc_encode_fixed(out, &sums.square);
    if (grid->score_hit != NULL)
      pc_encode_fixed(out, &sums.score_hit);
    if (grid->logs != NULL)
      pc_grid_logs_save(&grid->logs[i], out);
  }
  return pc_check_interrupt(env, err);
}

static void machine_grid_load_cell(pc_decoder *in, pc_grid_state *grid, size_t index) {
  pc_grid_mass *mass = &grid->mass[index];
  pc_decode_fixed(in, &mass->weight);
  pc_decode_fixed(in, &mass->hits);
  pc_decode_fixed(in, &grid->cell[index].score);
  if (grid->square != NULL) {
    pc_decode_fixed(in, &grid->square[index]);
    pc_decoder_expect(in, grid->square[index].units >= 0);
  }
  if (grid->score_hit != NULL)
    pc_decode_fixed(in, &grid->score_hit[index]);
  if (grid->logs != NULL)
    pc_grid_logs_load(&grid->logs[index], in);
  pc_decoder_expect(in, mass->hits.units >= 0 && mass->weight.units >= mass->hits.units);
}

static pcal_status machine_grid_load(const pcal_env *env, const pc_need *need,
                                     const pc_layout *layout, const pc_saved_totals *totals,
                                     pc_decoder *in, void **out, pcal_error *err) {
  (void)totals;
  const unsigned moments = need->grid.moments;
  const size_t sums =
      3 + ((moments & PC_MOMENT_SQUARE) != 0) + ((moments & PC_MOMENT_HIT) != 0);
  const size_t logs = (moments & PC_MOMENT_LOG) != 0 ? PC_GRID_LOGS_BYTES : 0;
  const size_t cells = pc_decoder_left(in) / (sums * MACHINE_GRID_FIXED_BYTES + logs);
  if (need->grid.bins > cells / pc_view_parts(&need->view, layout)) {
    pc_decoder_fail(in);
    return PCAL_OK;
  }
  PC_TRY(machine_grid_create(env, need, layout, out, err));
  pc_grid_state *grid = *out;
  PC_TRY(pc_grid_allow_weights(env, grid, err));
  for (size_t i = 0; i < grid->part_count * grid->cell_count && !in->failed; i++)
    machine_grid_load_cell(in, grid, i);
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

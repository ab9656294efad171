#include "measure/replicas/score_cells.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of bins of equal mass. */
static const size_t cells_bins[] = {10, 15, 20, 30, 50, 100, 256};
#define CELLS_BINS (sizeof cells_bins / sizeof *cells_bins)
#define CELLS_BINS_MOST 256

static int cells_have_bins(size_t bins) {
  for (size_t i = 0; i < CELLS_BINS; i++)
    if (cells_bins[i] == bins)
      return 1;
  return 0;
}

int pc_score_cells_suit(const pc_measure_plan *plan, size_t entry) {
  const pc_need *need = &plan->slots[plan->entries[entry].slot].need;
  return need->machine == PC_CURVE && pc_sorted_view_suits(need, &plan->layout) &&
         !pc_view_is_every_class(&need->view) &&
         pc_view_parts(&need->view, &plan->layout) == 1 &&
         pc_measure_plan_entry_can_refine(plan, entry) &&
         (plan->entries[entry].reading.on_cells ||
          cells_have_bins(plan->entries[entry].reading.mass_bins));
}

const pc_score_cells *pc_score_cells_of(const pc_score_cell_lists *lists, size_t slot) {
  for (size_t i = 0; lists != NULL && i < lists->count; i++)
    if (lists->list[i].slot == slot)
      return &lists->list[i];
  return NULL;
}

void pc_score_cells_free(const pcal_env *env, pc_score_cell_lists *lists) {
  for (size_t i = 0; i < lists->count; i++)
    pc_free(env, lists->list[i].ends);
  pc_free(env, lists->list);
  *lists = (pc_score_cell_lists){0};
}

/* Room for one more list; there is room for a power of two of them. */
static pcal_status cells_grow(const pcal_env *env, pc_score_cell_lists *lists,
                              pcal_error *err) {
  const size_t count = lists->count;
  if ((count & (count - 1)) != 0)
    return PCAL_OK;
  pc_score_cells *list = pc_alloc(env, count == 0 ? 1 : 2 * count, sizeof *list);
  if (list == NULL)
    return pc_fail_memory(err, "drawing replicas");
  if (count > 0)
    memcpy(list, lists->list, count * sizeof *list);
  pc_free(env, lists->list);
  lists->list = list;
  return PCAL_OK;
}

/* Room for the cells of another slot. */
static pcal_status cells_room(const pcal_env *env, pc_score_cell_lists *lists, size_t slot,
                              size_t ends, pc_score_cells **out, pcal_error *err) {
  PC_TRY(cells_grow(env, lists, err));
  double *block = pc_alloc_raw(env, ends, sizeof *block);
  if (block == NULL)
    return pc_fail_memory(err, "drawing replicas");
  *out = &lists->list[lists->count++];
  **out = (pc_score_cells){.slot = slot, .ends = block};
  return PCAL_OK;
}

size_t pc_score_cells_wants(const pc_curve_table *table, uint8_t *wanted) {
  size_t count = 0;
  for (size_t i = 0; table->total >= PC_CELLS_LEAST && i < CELLS_BINS; i++)
    count += pc_bins_by_mass_wants(table, cells_bins[i], wanted);
  return count;
}

static int cells_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Ends of the cells, each once, ascending. */
static void cells_fill(const pc_curve_table *table, pc_bin *bins, double *all,
                       pc_score_cells *out) {
  size_t count = 0;
  for (size_t i = 0; i < CELLS_BINS; i++) {
    const size_t found = pc_bins_by_mass(table, cells_bins[i], bins);
    for (size_t b = 0; b < found; b++)
      all[count++] = bins[b].high;
  }
  for (size_t k = 1; k <= PC_CELLS_WIDTH; k++)
    all[count++] = (double)k / PC_CELLS_WIDTH;
  qsort(all, count, sizeof *all, cells_compare);
  for (size_t i = 0; i < count; i++)
    if (out->count == 0 || all[i] > out->ends[out->count - 1])
      out->ends[out->count++] = all[i];
}

pcal_status pc_score_cells_add(const pcal_env *env, pc_score_cell_lists *lists, size_t slot,
                               const pc_curve_table *table, pcal_error *err) {
  pc_score_cells *cells = NULL;
  if (table->total < PC_CELLS_LEAST)
    return PCAL_OK;
  pc_bin *bins = pc_alloc(env, CELLS_BINS_MOST, sizeof *bins);
  double *all = pc_alloc_raw(env, PC_CELLS_MAX + CELLS_BINS, sizeof *all);
  pcal_status status = bins == NULL || all == NULL
                           ? pc_fail_memory(err, "drawing replicas")
                           : cells_room(env, lists, slot, PC_CELLS_MAX, &cells, err);
  if (status == PCAL_OK)
    cells_fill(table, bins, all, cells);
  pc_free(env, bins);
  pc_free(env, all);
  return status;
}

pcal_status pc_score_cells_add_view(const pcal_env *env, pc_score_cell_lists *lists,
                                    size_t slot, const pc_sorted_view *sorted,
                                    const pc_kept_rows *rows, pcal_error *err) {
  const size_t count = sorted->begin[1];
  pc_curve_table table;
  PC_TRY(pc_curve_table_room(env, count, &table, err));
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    const double weight = pc_kept_weight(rows, sorted->row[i]);
    table.total += weight;
    if (at > 0 && table.score[at - 1] == sorted->score[i]) {
      table.weight[at - 1] += weight;
      continue;
    }
    table.score[at] = sorted->score[i];
    table.weight[at] = weight;
    table.hits[at++] = 0.0;
  }
  table.count = at;
  const pcal_status status = pc_score_cells_add(env, lists, slot, &table, err);
  pc_curve_table_free(env, &table);
  return status;
}

/* ---- bytes ---- */

void pc_encode_score_cells(pc_encoder *out, const pc_score_cell_lists *lists) {
  pc_encode_varint(out, lists->count);
  for (size_t i = 0; i < lists->count; i++) {
    pc_encode_varint(out, lists->list[i].slot);
    pc_encode_varint(out, lists->list[i].count);
    pc_encode_doubles(out, lists->list[i].ends, lists->list[i].count - 1);
  }
}

static pcal_status cells_decode(pc_decoder *in, const pcal_env *env, pc_score_cell_lists *out,
                                pcal_error *err) {
  const pc_uint128 slot = pc_decode_varint(in), count = pc_decode_varint(in);
  pc_score_cells *cells = NULL;
  pc_decoder_expect(in, slot < SIZE_MAX && count >= 1 && count <= PC_CELLS_MAX &&
                            (out->count == 0 || slot > out->list[out->count - 1].slot));
  if (in->failed)
    return PCAL_OK;
  PC_TRY(cells_room(env, out, (size_t)slot, (size_t)count, &cells, err));
  cells->count = (size_t)count;
  pc_decode_doubles(in, cells->ends, cells->count - 1);
  cells->ends[cells->count - 1] = 1.0;
  for (size_t i = 0; i < cells->count && !in->failed; i++)
    pc_decoder_expect(in, cells->ends[i] >= 0.0 && cells->ends[i] <= 1.0 &&
                              (i == 0 || cells->ends[i] > cells->ends[i - 1]));
  return PCAL_OK;
}

pcal_status pc_decode_score_cells(pc_decoder *in, const pcal_env *env, pc_score_cell_lists *out,
                                  pcal_error *err) {
  const pc_uint128 count = pc_decode_varint(in);
  *out = (pc_score_cell_lists){0};
  pc_decoder_expect(in, count <= pc_decoder_left(in));
  for (pc_uint128 i = 0; i < count && !in->failed; i++)
    PC_TRY(cells_decode(in, env, out, err));
  return PCAL_OK;
}

#include "measure/replicas/score_cells.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of bins of equal mass. */
static const size_t cells_bins[] = {10, 15, 20, 30, 50, 100, 256};
#define CELLS_BINS (sizeof cells_bins / sizeof *cells_bins)
#define CELLS_COUNT_MAX ((pc_uint128)1 << 23) /* cells of all parts in bytes that are read */

static int cells_have_bins(const pc_curve_binning *binning) {
  for (size_t i = 0; binning->rule == PC_BINNING_MASS && i < CELLS_BINS; i++)
    if (cells_bins[i] == binning->bins)
      return 1;
  return 0;
}

int pc_score_cells_suit(const pc_measure_plan *plan, size_t entry) {
  const pc_need *need = &plan->slots[plan->entries[entry].slot].need;
  return need->machine == PC_CURVE && pc_sorted_view_suits(need, &plan->layout) &&
         !pc_view_is_every_class(&need->view) &&
         pc_view_parts(&need->view, &plan->layout) == 1 &&
         pc_measure_plan_entry_can_refine(plan, entry) &&
         (plan->entries[entry].config.on_cells ||
          cells_have_bins(&plan->entries[entry].config.binning));
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
  **out = (pc_score_cells){.slot = slot, .parts = 1, .ends = block};
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
static void cells_fill(const pc_curve_table *table, double *all, pc_score_cells *out) {
  size_t count = 0;
  for (size_t i = 0; i < CELLS_BINS; i++)
    count += pc_bins_by_mass_edges(table, cells_bins[i], all + count);
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
  double *all = pc_alloc_raw(env, PC_CELLS_MAX + CELLS_BINS, sizeof *all);
  const pcal_status status = all == NULL
                                 ? pc_fail_memory(err, "drawing replicas")
                                 : cells_room(env, lists, slot, PC_CELLS_MAX, &cells, err);
  if (status == PCAL_OK)
    cells_fill(table, all, cells);
  pc_free(env, all);
  return status;
}

/* The scores of one part of a view; its hits are not known. */
static pcal_status cells_table(const pcal_env *env, const pc_sorted_view *sorted, size_t part,
                               const pc_kept_rows *rows, pc_curve_table *out, pcal_error *err) {
  const size_t begin = sorted->begin[part], end = sorted->begin[part + 1];
  PC_TRY(pc_curve_table_room(env, end - begin, out, err));
  size_t at = 0;
  for (size_t i = begin; i < end; i++) {
    const double weight = pc_kept_weight(rows, sorted->row[i]);
    out->total += weight;
    if (at > 0 && out->score[at - 1] == sorted->score[i]) {
      out->weight[at - 1] += weight;
      continue;
    }
    out->score[at] = sorted->score[i];
    out->weight[at] = weight;
    out->hits[at++] = 0.0;
  }
  out->count = at;
  return PCAL_OK;
}

pcal_status pc_score_cells_add_view(const pcal_env *env, pc_score_cell_lists *lists,
                                    size_t slot, const pc_sorted_view *sorted,
                                    const pc_kept_rows *rows, pcal_error *err) {
  pc_curve_table table;
  PC_TRY(cells_table(env, sorted, 0, rows, &table, err));
  const pcal_status status = pc_score_cells_add(env, lists, slot, &table, err);
  pc_curve_table_free(env, &table);
  return status;
}

/* ---- bins of one metric ---- */

pcal_status pc_score_cells_add_bins(const pcal_env *env, pc_score_cell_lists *lists,
                                    size_t slot, const pc_curve_binning *binning, size_t parts,
                                    size_t bins, pc_score_cells **out, pcal_error *err) {
  PC_TRY(cells_room(env, lists, slot, parts * bins, out, err));
  (*out)->parts = parts;
  (*out)->count = bins;
  (*out)->open = binning->rule == PC_BINNING_ADAPTIVE;
  (*out)->threshold = binning->threshold;
  for (size_t i = 0; i < parts * bins; i++)
    (*out)->ends[i] = 1.0;
  return PCAL_OK;
}

pcal_status pc_score_cells_set_bins(const pcal_env *env, pc_score_cells *cells, size_t part,
                                    const pc_curve_binning *binning,
                                    const pc_curve_table *table, pcal_error *err) {
  pc_bin *bins = pc_alloc(env, cells->count, sizeof *bins);
  size_t found = cells->count;
  if (bins == NULL)
    return pc_fail_memory(err, "drawing replicas");
  if (binning->rule == PC_BINNING_MASS)
    found = pc_bins_by_mass(table, cells->count, bins);
  else
    pc_bins_adaptive(table, binning->threshold, cells->count, bins);
  for (size_t b = 0; b + 1 < found; b++)
    cells->ends[part * cells->count + b] = bins[b].high;
  pc_free(env, bins);
  return PCAL_OK;
}

pcal_status pc_score_cells_add_view_bins(const pcal_env *env, pc_score_cell_lists *lists,
                                         size_t slot, const pc_curve_binning *binning,
                                         size_t bins, const pc_sorted_view *sorted,
                                         const pc_kept_rows *rows, pcal_error *err) {
  pc_score_cells *cells = NULL;
  PC_TRY(pc_score_cells_add_bins(env, lists, slot, binning, sorted->part_count, bins, &cells,
                                 err));
  for (size_t p = 0; p < sorted->part_count; p++) {
    pc_curve_table table;
    PC_TRY(cells_table(env, sorted, p, rows, &table, err));
    const pcal_status status = pc_score_cells_set_bins(env, cells, p, binning, &table, err);
    pc_curve_table_free(env, &table);
    PC_TRY(status);
  }
  return PCAL_OK;
}

/* ---- bytes ---- */

void pc_encode_score_cells(pc_encoder *out, const pc_score_cell_lists *lists) {
  pc_encode_varint(out, lists->count);
  for (size_t i = 0; i < lists->count; i++) {
    const pc_score_cells *cells = &lists->list[i];
    pc_encode_varint(out, cells->slot);
    pc_encode_varint(out, cells->parts);
    pc_encode_varint(out, cells->count);
    pc_encode_u8(out, cells->open != 0);
    pc_encode_doubles(out, &cells->threshold, 1);
    for (size_t p = 0; p < cells->parts; p++)
      pc_encode_doubles(out, cells->ends + p * cells->count, cells->count - 1);
  }
}

/* Ends of one part, ascending. */
static void cells_decode_part(pc_decoder *in, pc_score_cells *cells, double *ends) {
  pc_decode_doubles(in, ends, cells->count - 1);
  ends[cells->count - 1] = 1.0;
  for (size_t i = 0; i < cells->count && !in->failed; i++)
    pc_decoder_expect(in,
                      ends[i] >= 0.0 && ends[i] <= 1.0 && (i == 0 || ends[i] >= ends[i - 1]));
}

static pcal_status cells_decode(pc_decoder *in, const pcal_env *env, pc_score_cell_lists *out,
                                pcal_error *err) {
  const pc_uint128 slot = pc_decode_varint(in), parts = pc_decode_varint(in),
                   count = pc_decode_varint(in);
  const unsigned open = pc_decode_u8(in);
  double threshold = 0.0;
  pc_decode_doubles(in, &threshold, 1);
  pc_score_cells *cells = NULL;
  pc_decoder_expect(in, slot < SIZE_MAX && parts >= 1 && count >= 1 && open <= 1 &&
                            threshold >= 0.0 && threshold <= 1.0 &&
                            (out->count == 0 || slot > out->list[out->count - 1].slot));
  pc_decoder_expect(in, parts <= CELLS_COUNT_MAX && count <= CELLS_COUNT_MAX &&
                            parts * count <= CELLS_COUNT_MAX);
  pc_decoder_expect(in, parts * (count - 1) <= pc_decoder_left(in) / sizeof(double));
  if (in->failed)
    return PCAL_OK;
  PC_TRY(cells_room(env, out, (size_t)slot, (size_t)(parts * count), &cells, err));
  cells->parts = (size_t)parts;
  cells->count = (size_t)count;
  cells->open = (int)open;
  cells->threshold = threshold;
  for (size_t p = 0; p < cells->parts && !in->failed; p++)
    cells_decode_part(in, cells, cells->ends + p * cells->count);
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

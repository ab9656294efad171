#include "measure/replicas/score_ranges.h"

#include <math.h>
#include <string.h>

#include "curve/point_masses.h"
#include "measure/replicas/draws.h"

#define RANGES_WEIGHT_MAX 1e6              /* larger counts are not exact as floats */
#define RANGES_INDEX_MAX ((size_t)1 << 22) /* scores that are indexed beside lists of them */
#define RANGES_SCORES 24                   /* scores of a range of a curve, ties not counted */

int pc_kept_weights_whole(const pc_kept_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (!(pc_kept_weight(rows, i) <= RANGES_WEIGHT_MAX) ||
        (float)rows->weights[i] != floorf((float)rows->weights[i]))
      return 0;
  return 1;
}

int pc_kept_rows_single(const pc_kept_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (rows->copies[i] != 1.0)
      return 0;
  return 1;
}

void pc_score_ranges_free(const pcal_env *env, pc_score_ranges *ranges) {
  pc_free(env, ranges->begin);
  pc_free(env, ranges->end);
  pc_free(env, ranges->part);
  pc_free(env, ranges->hit);
  pc_free(env, ranges->cells);
  pc_free(env, ranges->of_class);
  pc_replica_class_bins_free(env, &ranges->by_row);
  memset(ranges, 0, sizeof *ranges);
}

static void ranges_put(pc_score_ranges *ranges, size_t begin, size_t end) {
  ranges->begin[ranges->count] = begin;
  ranges->end[ranges->count++] = end;
}

/* Divides a part of a curve into ranges. */
static void ranges_of_curve(const pc_sorted_view *sorted, size_t part, int cells,
                            pc_score_ranges *ranges) {
  const size_t last = sorted->begin[part + 1];
  for (size_t begin = sorted->begin[part]; begin < last;) {
    const int64_t cell = pc_point_cell(sorted->score[begin], PC_PREFIX_LEVEL);
    size_t end = begin + 1;
    while (end < last &&
           (sorted->score[end] == sorted->score[end - 1] ||
            (end - begin < RANGES_SCORES &&
             (!cells || pc_point_cell(sorted->score[end], PC_PREFIX_LEVEL) == cell))))
      end++;
    ranges_put(ranges, begin, end);
    begin = end;
  }
}

/* Fills the first range of each cell. */
static void ranges_cells(const pc_sorted_view *sorted, size_t part, pc_score_ranges *ranges) {
  uint32_t *cells = ranges->cells + part * (PC_PREFIX_CELLS + 1);
  const size_t first = ranges->part[part], count = ranges->count - first;
  int64_t next = 0;
  for (size_t r = 0; r < count; r++) {
    const double score = sorted->score[ranges->begin[first + r]];
    while (next <= pc_point_cell(score, PC_PREFIX_LEVEL))
      cells[next++] = (uint32_t)r;
  }
  while (next <= PC_PREFIX_CELLS)
    cells[next++] = (uint32_t)count;
}

/* The first score from `at` on that is above cut number `cut`. */
static size_t ranges_skip(const pc_sorted_view *sorted, const pc_partition *cells, size_t at,
                          size_t end, size_t cut) {
  while (at < end &&
         !(cut < cells->cut_count && pc_partition_above(cells, sorted->score[at], cut)))
    at++;
  return at;
}

static void ranges_of_bins(const pc_need *need, const pc_sorted_view *sorted,
                           const pc_partition *cells, size_t part, pc_score_ranges *ranges) {
  const size_t end = sorted->begin[part + 1];
  size_t at = sorted->begin[part];
  while (need->grid.threshold > 0 && at < end && sorted->score[at] <= need->grid.threshold)
    at++;
  for (size_t b = 0; b < cells->bin_count; b++) {
    const struct pc_cell_run *run = &cells->runs[b];
    if (run->first > 0)
      at = ranges_skip(sorted, cells, at, end, run->first - 1);
    const size_t begin = at;
    at = ranges_skip(sorted, cells, at, end, run->last);
    ranges_put(ranges, begin, at);
  }
}

static pcal_status ranges_of_cells(const pcal_env *env, const pc_sorted_view *sorted,
                                   const pc_score_cells *cells, pc_score_ranges *out,
                                   pcal_error *err) {
  out->coarse = 1;
  out->begin = pc_alloc_raw(env, cells->parts * cells->count, sizeof *out->begin);
  out->end = pc_alloc_raw(env, cells->parts * cells->count, sizeof *out->end);
  if (out->begin == NULL || out->end == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t p = 0; p < cells->parts; p++) {
    const size_t end = sorted->begin[p + 1];
    size_t at = sorted->begin[p];
    while (cells->threshold > 0 && at < end && sorted->score[at] <= cells->threshold)
      at++;
    for (size_t c = 0; c < cells->count; c++) {
      const size_t begin = at;
      while (at < end && !pc_score_cells_above(cells, p, c, sorted->score[at]))
        at++;
      ranges_put(out, begin, at);
    }
    out->part[p + 1] = out->count;
  }
  return PCAL_OK;
}

static pcal_status ranges_fill(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                               const pc_sorted_view *sorted, pc_score_ranges *out,
                               pcal_error *err) {
  const pc_need *need = &plan->slots[slot].need;
  const int curve = need->machine == PC_CURVE;
  out->in_cells = pc_measure_plan_has_cells(plan, slot);
  pc_partition cells = {.cut_count = 0};
  if (!curve)
    PC_TRY(pc_partition_new(env, need->grid.rule, need->grid.bins, &cells, err));
  const size_t scores = sorted->begin[sorted->part_count];
  const size_t room = 1 + (curve ? scores : sorted->part_count * cells.bin_count);
  out->begin = pc_alloc_raw(env, room, sizeof *out->begin);
  out->end = pc_alloc_raw(env, room, sizeof *out->end);
  if (curve && out->in_cells)
    out->cells =
        pc_alloc_raw(env, sorted->part_count * (PC_PREFIX_CELLS + 1), sizeof *out->cells);
  const int enough = out->begin != NULL && out->end != NULL &&
                     (out->cells != NULL || !(curve && out->in_cells));
  for (size_t p = 0; enough && p < sorted->part_count; p++) {
    out->part[p] = out->count;
    if (curve)
      ranges_of_curve(sorted, p, out->in_cells, out);
    else
      ranges_of_bins(need, sorted, &cells, p, out);
    if (out->cells != NULL)
      ranges_cells(sorted, p, out);
  }
  out->part[sorted->part_count] = out->count;
  if (enough)
    out->begin[out->count] = scores;
  pc_partition_free(env, &cells);
  return enough ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
}

pcal_status pc_score_ranges_new(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                                const pc_sorted_view *sorted, const int32_t *labels,
                                const pc_score_cells *cells, pc_score_ranges *out,
                                pcal_error *err) {
  const size_t scores = sorted->begin[sorted->part_count];
  memset(out, 0, sizeof *out);
  out->part = pc_alloc(env, sorted->part_count + 1, sizeof *out->part);
  out->hit = pc_alloc_raw(env, scores, sizeof *out->hit);
  pcal_status status = out->part == NULL || out->hit == NULL
                           ? pc_fail_memory(err, "drawing replicas")
                       : cells != NULL ? ranges_of_cells(env, sorted, cells, out, err)
                                       : ranges_fill(env, plan, slot, sorted, out, err);
  for (size_t i = 0; status == PCAL_OK && i < scores; i++)
    out->hit[i] = labels[sorted->row[i]] == sorted->label[i] ? 1.0 : 0.0;
  if (status != PCAL_OK)
    pc_score_ranges_free(env, out);
  return status;
}

pcal_status pc_score_ranges_single(const pcal_env *env, const pc_measure_plan *plan,
                                   size_t slot, const pc_sorted_view *sorted,
                                   pc_score_ranges *out, pcal_error *err) {
  const size_t scores = sorted->begin[1];
  *out = (pc_score_ranges){.single = 1, .in_cells = pc_measure_plan_has_cells(plan, slot)};
  out->part = pc_alloc(env, 2, sizeof *out->part);
  out->hit = pc_alloc(env, scores, sizeof *out->hit);
  out->begin = pc_alloc_raw(env, scores + 1, sizeof *out->begin);
  out->end = pc_alloc_raw(env, scores + 1, sizeof *out->end);
  if (out->in_cells)
    out->cells = pc_alloc_raw(env, PC_PREFIX_CELLS + 1, sizeof *out->cells);
  if (out->part == NULL || out->hit == NULL || out->begin == NULL || out->end == NULL ||
      (out->in_cells && out->cells == NULL)) {
    pc_score_ranges_free(env, out);
    return pc_fail_memory(err, "evaluating replicas");
  }
  for (size_t i = 0; i < scores; i++)
    ranges_put(out, i, i + 1);
  out->begin[scores] = scores;
  out->part[1] = scores;
  if (out->in_cells)
    ranges_cells(sorted, 0, out);
  return PCAL_OK;
}

pcal_status pc_score_ranges_by_row(const pcal_env *env, const pc_need *need,
                                   const pc_layout *layout, const pc_kept_rows *rows,
                                   double lattice, pc_score_ranges *out, pcal_error *err) {
  *out = (pc_score_ranges){.lattice = lattice};
  PC_TRY(pc_replica_class_bins_new(env, need, layout, rows, lattice, &out->by_row, err));
  out->count = out->by_row.parts * out->by_row.bins;
  return PCAL_OK;
}

int pc_kept_rows_unit(const pc_kept_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (pc_kept_weight(rows, i) != 1.0)
      return 0;
  return 1;
}

/* True if the label of every score is the class of the natural view (draws.c). */
static int ranges_natural(const pc_kept_rows *rows, const pc_sorted_view *sorted) {
  const size_t count = sorted->begin[sorted->part_count];
  size_t same = 0;
  for (size_t i = 0; count == rows->count && i < count; i++)
    same += sorted->label[i] == pc_draw_first(rows, sorted->row[i]);
  return count == rows->count && same == count;
}

int pc_score_ranges_indexable(const pc_need *need) {
  return need->machine == PC_GRID && need->grid.moments == 0 &&
         pc_view_is_every_class(&need->view);
}

pcal_status pc_score_ranges_index(const pcal_env *env, const pc_need *need,
                                  const pc_kept_rows *rows, const pc_sorted_view *sorted,
                                  pc_score_ranges *ranges, pcal_error *err) {
  const int by_row = pc_score_ranges_are_by_row(ranges);
  ranges->unit = pc_kept_rows_unit(rows);
  ranges->natural = !by_row && ranges->unit && ranges_natural(rows, sorted);
  if (!pc_score_ranges_indexable(need) || ranges->count >= UINT16_MAX ||
      (by_row && rows->count * rows->classes > RANGES_INDEX_MAX))
    return PCAL_OK;
  ranges->rows = rows;
  ranges->of_class = pc_alloc(env, rows->count * rows->classes, sizeof *ranges->of_class);
  if (ranges->of_class == NULL)
    return pc_fail_memory(err, "drawing replicas");
  if (by_row) {
    pc_replica_class_bins_index(&ranges->by_row, ranges->of_class);
    return PCAL_OK;
  }
  for (size_t r = 0; r < ranges->count; r++)
    for (size_t i = ranges->begin[r]; i < ranges->end[r]; i++)
      ranges->of_class[sorted->row[i] * rows->classes + (size_t)sorted->label[i]] =
          (uint16_t)(r + 1);
  return PCAL_OK;
}

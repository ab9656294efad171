#include "measure/replicas/replica_batch.h"

#include <math.h>
#include <string.h>

#include "curve/point_masses.h"
#include "kernels/dispatch.h"

#define BATCH_WEIGHT_MAX 1e6  /* larger counts are not exact as floats */
#define BATCH_RANGE_SCORES 24 /* scores of a range of a curve, ties not counted */

int pc_kept_weights_whole(const pc_kept_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (!(pc_kept_weight(rows, i) <= BATCH_WEIGHT_MAX) ||
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

static int batch_refine(const pc_measure_plan *plan, size_t slot, const uint8_t *entries) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && (entries == NULL || entries[e]) &&
        !pc_measure_plan_entry_can_refine(plan, e))
      return 0;
  return 1;
}

int pc_replica_batch_applies(const pc_measure_plan *plan, size_t slot, const uint8_t *entries,
                             const pc_kept_rows *rows) {
  return plan->slots[slot].need.machine == PC_GRID ||
         (pc_kept_weights_whole(rows) && batch_refine(plan, slot, entries));
}

/* ---- ranges ---- */

void pc_score_ranges_free(const pcal_env *env, pc_score_ranges *ranges) {
  pc_free(env, ranges->begin);
  pc_free(env, ranges->end);
  pc_free(env, ranges->part);
  pc_free(env, ranges->hit);
  pc_free(env, ranges->cells);
  pc_free(env, ranges->of_class);
  memset(ranges, 0, sizeof *ranges);
}

static void batch_range(pc_score_ranges *ranges, size_t begin, size_t end) {
  ranges->begin[ranges->count] = begin;
  ranges->end[ranges->count++] = end;
}

/* Divides a part of a curve into ranges. */
static void batch_segments(const pc_sorted_view *sorted, size_t part, int cells,
                           pc_score_ranges *ranges) {
  const size_t last = sorted->begin[part + 1];
  for (size_t begin = sorted->begin[part]; begin < last;) {
    const int64_t cell = pc_point_cell(sorted->score[begin], PC_PREFIX_LEVEL);
    size_t end = begin + 1;
    while (end < last &&
           (sorted->score[end] == sorted->score[end - 1] ||
            (end - begin < BATCH_RANGE_SCORES &&
             (!cells || pc_point_cell(sorted->score[end], PC_PREFIX_LEVEL) == cell))))
      end++;
    batch_range(ranges, begin, end);
    begin = end;
  }
}

/* Fills the first range of each cell. */
static void batch_cells(const pc_sorted_view *sorted, size_t part, pc_score_ranges *ranges) {
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
static size_t batch_skip(const pc_sorted_view *sorted, const pc_partition *cells, size_t at,
                         size_t end, size_t cut) {
  while (at < end &&
         !(cut < cells->cut_count && pc_partition_above(cells, sorted->score[at], cut)))
    at++;
  return at;
}

static void batch_bins(const pc_need *need, const pc_sorted_view *sorted,
                       const pc_partition *cells, size_t part, pc_score_ranges *ranges) {
  const size_t end = sorted->begin[part + 1];
  size_t at = sorted->begin[part];
  while (need->grid.threshold > 0 && at < end && sorted->score[at] <= need->grid.threshold)
    at++;
  for (size_t b = 0; b < cells->bin_count; b++) {
    const struct pc_cell_run *run = &cells->runs[b];
    if (run->first > 0)
      at = batch_skip(sorted, cells, at, end, run->first - 1);
    const size_t begin = at;
    at = batch_skip(sorted, cells, at, end, run->last);
    batch_range(ranges, begin, at);
  }
}

static pcal_status batch_fill(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
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
      batch_segments(sorted, p, out->in_cells, out);
    else
      batch_bins(need, sorted, &cells, p, out);
    if (out->cells != NULL)
      batch_cells(sorted, p, out);
  }
  out->part[sorted->part_count] = out->count;
  if (enough)
    out->begin[out->count] = scores;
  pc_partition_free(env, &cells);
  return enough ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
}

pcal_status pc_score_ranges_new(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                                const pc_sorted_view *sorted, const int32_t *labels,
                                pc_score_ranges *out, pcal_error *err) {
  const size_t scores = sorted->begin[sorted->part_count];
  memset(out, 0, sizeof *out);
  out->part = pc_alloc(env, sorted->part_count + 1, sizeof *out->part);
  out->hit = pc_alloc_raw(env, scores, sizeof *out->hit);
  pcal_status status = out->part == NULL || out->hit == NULL
                           ? pc_fail_memory(err, "drawing replicas")
                           : batch_fill(env, plan, slot, sorted, out, err);
  for (size_t i = 0; status == PCAL_OK && i < scores; i++)
    out->hit[i] = labels[sorted->row[i]] == sorted->label[i] ? 1.0 : 0.0;
  if (status != PCAL_OK)
    pc_score_ranges_free(env, out);
  return status;
}

int pc_kept_rows_unit(const pc_kept_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (pc_kept_weight(rows, i) != 1.0)
      return 0;
  return 1;
}

pcal_status pc_score_ranges_index(const pcal_env *env, const pc_need *need,
                                  const pc_kept_rows *rows, const pc_sorted_view *sorted,
                                  pc_score_ranges *ranges, pcal_error *err) {
  if (need->machine != PC_GRID || need->grid.moments != 0 || ranges->count >= UINT16_MAX ||
      !pc_view_is_every_class(&need->view) || !pc_kept_rows_unit(rows))
    return PCAL_OK;
  ranges->rows = rows->count;
  ranges->classes = rows->classes;
  ranges->of_class = pc_alloc(env, rows->count * rows->classes, sizeof *ranges->of_class);
  if (ranges->of_class == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t r = 0; r < ranges->count; r++)
    for (size_t i = ranges->begin[r]; i < ranges->end[r]; i++)
      ranges->of_class[sorted->row[i] * rows->classes + (size_t)sorted->label[i]] =
          (uint16_t)(r + 1);
  return PCAL_OK;
}

/* ---- memory ---- */

void pc_replica_batch_free(const pcal_env *env, pc_replica_batch *batch) {
  pc_free(env, batch->evidence.curve.parts);
  pc_free(env, batch->evidence.grid.bins);
  pc_free(env, batch->sums);
  pc_free(env, batch->prefix);
  pc_free(env, batch->gaps);
  pc_free(env, batch->hits);
  memset(batch, 0, sizeof *batch);
}

/* The number of sums of one kind in one replica: one per range, and one more for each part of a
 * curve. */
static size_t batch_step(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                         const pc_replica_batch *batch) {
  return ranges->count + (batch->prefix == NULL ? 0 : sorted->part_count);
}

static int batch_curve_room(const pcal_env *env, const pc_sorted_view *sorted,
                            pc_replica_batch *out) {
  const size_t parts = sorted->part_count;
  out->prefix = pc_alloc(env, parts, sizeof *out->prefix);
  out->evidence.curve.parts = pc_alloc(env, parts, sizeof *out->evidence.curve.parts);
  out->evidence.curve.part_count = parts;
  return out->prefix != NULL && out->evidence.curve.parts != NULL;
}

static int batch_grid_room(const pcal_env *env, const pc_sorted_view *sorted,
                           const pc_score_ranges *ranges, pc_replica_batch *out) {
  out->evidence.grid.part_count = sorted->part_count;
  out->evidence.grid.bin_count = ranges->count / sorted->part_count;
  out->evidence.grid.bins = pc_alloc(env, ranges->count, sizeof(pc_bin));
  return out->evidence.grid.bins != NULL;
}

pcal_status pc_replica_batch_new(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                                 const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                 pc_replica_batch *out, pcal_error *err) {
  const pc_need *need = &plan->slots[slot].need;
  const int curve = need->machine == PC_CURVE;
  memset(out, 0, sizeof *out);
  out->evidence.machine = need->machine;
  out->evidence.rough = 1;
  out->three = curve ? !ranges->in_cells && sorted->part_count > 1 : need->grid.moments == 0;
  const int enough =
      curve ? batch_curve_room(env, sorted, out) : batch_grid_room(env, sorted, ranges, out);
  if (enough)
    out->sums = pc_alloc_raw(env, batch_step(sorted, ranges, out),
                             PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES * sizeof *out->sums);
  if (ranges->of_class != NULL)
    out->hits = pc_alloc_raw(env, ranges->count + 1, PC_REPLICA_LANES * sizeof *out->hits);
  if (out->sums != NULL && (out->hits != NULL || ranges->of_class == NULL))
    return PCAL_OK;
  pc_replica_batch_free(env, out);
  return pc_fail_memory(err, "drawing replicas");
}

/* ---- a batch ---- */

/* Stores sums replica by replica, the order in which they are read. */
static void batch_put(const double *sums, size_t kinds, size_t step, double *at) {
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++)
    for (size_t what = 0; what < kinds; what++)
      at[(lane * PC_REPLICA_SUM_COUNT + what) * step] = sums[what * PC_REPLICA_LANES + lane];
}

/* Adds up one range. */
static void batch_add_range(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                            const pc_batch_draws *drawn, size_t r, int three, double *sums) {
  const pc_replica_sum_kernels *kernels = pc_kernels_best()->replica_sum;
  const size_t at = ranges->begin[r], count = ranges->end[r] - at;
  if (drawn->labels != NULL)
    kernels->add_labels(drawn->weights, drawn->labels, sorted->row + at, sorted->label + at,
                        sorted->score + at, count, sums);
  else
    (three ? kernels->add_three : kernels->add)(
        drawn->weights, sorted->row + at, sorted->score + at, ranges->hit + at, count, sums);
}

/* Counts the hits of all ranges row by row.  The other sums are those of the batch before. */
static void batch_count_hits(const pc_score_ranges *ranges, const int32_t *labels,
                             pc_replica_batch *batch) {
  uint32_t *hits = batch->hits;
  memset(hits, 0, (ranges->count + 1) * PC_REPLICA_LANES * sizeof *hits);
  for (size_t i = 0; i < ranges->rows; i++) {
    const uint16_t *range = ranges->of_class + i * ranges->classes;
    for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++)
      hits[range[labels[i * PC_REPLICA_LANES + lane]] * PC_REPLICA_LANES + lane]++;
  }
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
    double *to =
        batch->sums + (lane * PC_REPLICA_SUM_COUNT + PC_REPLICA_SUM_HITS) * ranges->count;
    for (size_t r = 0; r < ranges->count; r++)
      to[r] = (double)hits[(r + 1) * PC_REPLICA_LANES + lane];
  }
}

void pc_replica_batch_add(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                          const pc_batch_draws *drawn, pc_replica_batch *batch) {
  if (batch->added && batch->hits != NULL && drawn->labels != NULL) {
    batch_count_hits(ranges, drawn->labels, batch);
    return;
  }
  batch->added = 1;
  const size_t step = batch_step(sorted, ranges, batch);
  const size_t kinds = batch->three ? 3 : PC_REPLICA_SUM_COUNT;
  double *to = batch->sums;
  for (size_t p = 0; p < sorted->part_count; p++) {
    double before[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES] = {0.0};
    for (size_t r = ranges->part[p]; r < ranges->part[p + 1]; r++) {
      double sums[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
      batch_add_range(sorted, ranges, drawn, r, batch->three, sums);
      batch_put(batch->prefix == NULL ? sums : before, kinds, step, to++);
      for (size_t i = 0; i < kinds * PC_REPLICA_LANES; i++)
        before[i] += sums[i];
    }
    if (batch->prefix != NULL)
      batch_put(before, kinds, step, to++);
  }
}

/* ---- one replica ---- */

static void batch_select_bins(const double *sums, size_t count, int three, pc_bin *bins) {
  for (size_t r = 0; r < count; r++)
    bins[r] = (pc_bin){
        .weight = sums[PC_REPLICA_SUM_WEIGHT * count + r],
        .hits = sums[PC_REPLICA_SUM_HITS * count + r],
        .score = sums[PC_REPLICA_SUM_SCORE * count + r],
        .score_square = three ? (double)NAN : sums[PC_REPLICA_SUM_SCORE_SQUARE * count + r],
        .score_hit = three ? (double)NAN : sums[PC_REPLICA_SUM_SCORE_HIT * count + r]};
}

static pc_prefix_sums batch_prefix_sums(const double *sums, size_t step, int three) {
  return (pc_prefix_sums){.rows = sums + PC_REPLICA_SUM_WEIGHT * step,
                          .hits = sums + PC_REPLICA_SUM_HITS * step,
                          .scores = sums + PC_REPLICA_SUM_SCORE * step,
                          .hit_scores = three ? NULL : sums + PC_REPLICA_SUM_SCORE_HIT * step};
}

static void batch_select_part(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                              const pc_batch_draws *drawn, const double *sums, size_t step,
                              size_t p, pc_replica_batch *batch) {
  pc_curve_prefix *prefix = &batch->prefix[p];
  *prefix = (pc_curve_prefix){
      .count = ranges->part[p + 1] - ranges->part[p],
      .begin = ranges->begin + ranges->part[p],
      .score = sorted->score,
      .hit = ranges->hit,
      .labels = drawn->labels,
      .label = sorted->label,
      .row = sorted->row,
      .weight = drawn->weights,
      .stride = PC_REPLICA_LANES,
      .sums = batch_prefix_sums(sums, step, batch->three),
      .cells = ranges->cells == NULL ? NULL : ranges->cells + p * (PC_PREFIX_CELLS + 1)};
  batch->evidence.curve.parts[p] = (pc_curve_table){.form = PC_CURVE_REPLICA,
                                                    .count = prefix->count,
                                                    .total = pc_curve_prefix_total(prefix),
                                                    .prefix = prefix};
}

void pc_replica_batch_select(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                             const pc_batch_draws *drawn, size_t lane, double total,
                             pc_replica_batch *batch) {
  const size_t step = batch_step(sorted, ranges, batch);
  const double *sums = batch->sums + lane * PC_REPLICA_SUM_COUNT * step;
  const pc_batch_draws here = {drawn->weights + lane,
                               drawn->labels == NULL ? NULL : drawn->labels + lane};
  batch->evidence.total = total;
  if (batch->prefix == NULL)
    batch_select_bins(sums, ranges->count, batch->three, batch->evidence.grid.bins);
  for (size_t p = 0; batch->prefix != NULL && p < sorted->part_count; p++) {
    batch_select_part(sorted, ranges, &here, sums, step, p, batch);
    sums += batch->prefix[p].count + 1;
  }
}

/* ---- gap points ---- */

void pc_replica_base_free(const pcal_env *env, pc_replica_base *base) {
  pc_free(env, base->sums);
  pc_free(env, base->tilt);
  pc_free(env, base->weight);
  memset(base, 0, sizeof *base);
}

/* Sums of tilts of the data, laid out like one kind of sums. */
static void batch_base_tilt(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                            int curve, pc_replica_base *out) {
  double rows = 0.0, all = 0.0, *to = out->tilt;
  for (size_t p = 0; p < sorted->part_count; p++) {
    double before = 0.0;
    for (size_t r = ranges->part[p]; r < ranges->part[p + 1]; r++) {
      double here = 0.0;
      for (size_t i = ranges->begin[r]; i < ranges->end[r]; i++) {
        const double weight = (double)out->weight[sorted->row[i]];
        here += weight * pc_gap_tilt(sorted->score[i]);
        rows += weight;
      }
      *to++ = curve ? before : here;
      before += here;
    }
    if (curve)
      *to++ = before;
    all += before;
  }
  out->tilt_mean = all > 0.0 ? all / rows : 1.0;
}

/* Sums of the data: a batch in which every replica has the weights of the data. */
static pcal_status batch_base_sums(const pcal_env *env, const pc_sorted_view *sorted,
                                   const pc_score_ranges *ranges, const pc_kept_rows *rows,
                                   pc_replica_batch *batch, pc_replica_base *out,
                                   pcal_error *err) {
  const size_t bytes =
      PC_REPLICA_SUM_COUNT * batch_step(sorted, ranges, batch) * sizeof(double);
  float *weights = pc_alloc_raw(env, rows->count * PC_REPLICA_LANES, sizeof *weights);
  out->sums = pc_alloc_raw(env, bytes, 1);
  out->tilt = pc_alloc_raw(env, bytes / PC_REPLICA_SUM_COUNT, 1);
  out->weight = pc_alloc_raw(env, rows->count, sizeof *out->weight);
  const int enough =
      weights != NULL && out->sums != NULL && out->tilt != NULL && out->weight != NULL;
  for (size_t i = 0; enough && i < rows->count; i++) {
    out->weight[i] = (float)pc_kept_weight(rows, i);
    out->total += pc_kept_weight(rows, i);
    for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++)
      weights[i * PC_REPLICA_LANES + lane] = out->weight[i];
  }
  if (enough) {
    const pc_batch_draws same = {.weights = weights};
    pc_replica_batch_add(sorted, ranges, &same, batch);
    memcpy(out->sums, batch->sums, bytes);
    batch_base_tilt(sorted, ranges, batch->prefix != NULL, out);
  }
  pc_free(env, weights);
  return enough ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
}

pcal_status pc_replica_base_new(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                                const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                const pc_kept_rows *rows, pc_replica_base *out,
                                pcal_error *err) {
  pc_replica_batch batch;
  memset(out, 0, sizeof *out);
  PC_TRY(pc_replica_batch_new(env, plan, slot, sorted, ranges, &batch, err));
  const pcal_status status = batch_base_sums(env, sorted, ranges, rows, &batch, out, err);
  pc_replica_batch_free(env, &batch);
  if (status != PCAL_OK)
    pc_replica_base_free(env, out);
  return status;
}

pcal_status pc_replica_batch_reserve_points(const pcal_env *env, const pc_sorted_view *sorted,
                                            pc_replica_batch *batch, pcal_error *err) {
  if (batch->prefix == NULL)
    return PCAL_OK;
  batch->gaps = pc_alloc(env, sorted->part_count, sizeof *batch->gaps);
  return batch->gaps != NULL ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
}

/* Sums of one replica and of the data, and the factors of their gaps. */
typedef struct batch_point {
  const double *drawn, *base, *tilt;
  size_t step;
  pc_prefix_gaps gaps;
} batch_point;

static double batch_hits_at_point(const batch_point *mix, size_t r) {
  const double *drawn = mix->drawn + r, *base = mix->base + r;
  const size_t hits = PC_REPLICA_SUM_HITS * mix->step,
               scores = PC_REPLICA_SUM_SCORE * mix->step;
  return base[scores] - mix->gaps.own * (base[scores] - base[hits]) -
         mix->gaps.drawn * (drawn[scores] - drawn[hits]) - mix->gaps.shift * mix->tilt[r];
}

static void batch_bins_at_point(const batch_point *mix, size_t count, pc_bin *bins) {
  for (size_t r = 0; r < count; r++)
    bins[r] = (pc_bin){.weight = mix->base[PC_REPLICA_SUM_WEIGHT * mix->step + r],
                       .hits = batch_hits_at_point(mix, r),
                       .score = mix->base[PC_REPLICA_SUM_SCORE * mix->step + r],
                       .score_square = (double)NAN,
                       .score_hit = (double)NAN};
}

/* Turns a selected part into one at a gap point: hits are computed from gaps, everything else
 * is taken from the data. */
static void batch_part_at_point(const batch_point *mix, size_t p, pc_replica_batch *batch) {
  pc_curve_prefix *prefix = &batch->prefix[p];
  batch->gaps[p] = mix->gaps;
  batch->gaps[p].data = batch_prefix_sums(mix->base, mix->step, batch->three);
  batch->gaps[p].replica = batch_prefix_sums(mix->drawn, mix->step, batch->three);
  batch->gaps[p].tilt = mix->tilt;
  prefix->sums = batch->gaps[p].data;
  prefix->gaps = &batch->gaps[p];
  batch->evidence.curve.parts[p].total = pc_curve_prefix_total(prefix);
}

void pc_replica_batch_select_point(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                   const pc_replica_base *base, const float *weights,
                                   size_t lane, double total, const pc_gap_point *point,
                                   pc_replica_batch *batch) {
  const size_t step = batch_step(sorted, ranges, batch);
  batch_point mix = {batch->sums + lane * PC_REPLICA_SUM_COUNT * step,
                     base->sums,
                     base->tilt,
                     step,
                     {.weight = base->weight,
                      .own = point->own - point->noise,
                      .drawn = point->noise * base->total / total,
                      .shift = point->shift / base->tilt_mean}};
  const pc_batch_draws here = {.weights = weights};
  pc_replica_batch_select(sorted, ranges, &here, lane, total, batch);
  batch->evidence.total = base->total;
  if (batch->prefix == NULL)
    batch_bins_at_point(&mix, ranges->count, batch->evidence.grid.bins);
  for (size_t p = 0; batch->prefix != NULL && p < sorted->part_count; p++) {
    const size_t count = batch->prefix[p].count + 1;
    batch_part_at_point(&mix, p, batch);
    mix.drawn += count;
    mix.base += count;
    mix.tilt += count;
  }
}

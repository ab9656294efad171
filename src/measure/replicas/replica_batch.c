#include "measure/replicas/replica_batch.h"

#include <math.h>
#include <string.h>

#include "curve/mass_bin_cache.h"
#include "curve/smooth_ladder.h"
#include "kernels/dispatch.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/row_moments.h"

/* True if an entry can be evaluated on ranges of sorted scores, which have no squares. */
static int batch_takes_ranges(const pc_measure_plan *plan, size_t entry) {
  return pc_measure_plan_entry_can_refine(plan, entry) &&
         !plan->entries[entry].config.scores_alone &&
         plan->entries[entry].config.need.grid.moments == 0;
}

static int batch_refine(const pc_measure_plan *plan, size_t slot, const uint8_t *entries) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && (entries == NULL || entries[e]) &&
        !batch_takes_ranges(plan, e))
      return 0;
  return 1;
}

int pc_replica_batch_applies(const pc_measure_plan *plan, size_t slot, const uint8_t *entries,
                             const pc_kept_rows *rows) {
  return plan->slots[slot].need.machine == PC_GRID ||
         (pc_kept_weights_whole(rows) && batch_refine(plan, slot, entries));
}

int pc_replica_has_points(const pc_measure_plan *plan, size_t entry, const pc_kept_rows *rows) {
  const pc_need *need = &plan->slots[plan->entries[entry].slot].need;
  if (!pc_sorted_view_applies(need, &plan->layout, rows))
    return pc_replica_class_bins_suit(need, &plan->layout, rows) &&
           pc_kept_lattice_bits(rows) > 0;
  return need->machine == PC_GRID ||
         (batch_takes_ranges(plan, entry) && pc_kept_weights_whole(rows));
}

/* ---- memory ---- */

void pc_replica_batch_free(const pcal_env *env, pc_replica_batch *batch) {
  pc_free(env, batch->evidence.curve.parts);
  pc_free(env, batch->evidence.grid.bins);
  pc_free(env, batch->sums);
  pc_free(env, batch->prefix);
  pc_free(env, batch->gaps);
  pc_free(env, batch->gap_sums);
  pc_free(env, batch->class_gaps);
  pc_smooth_ladder_free(env, batch->ladder);
  pc_mass_bin_cache_free(env, batch->mass_bins);
  pc_free(env, batch->hits);
  pc_free(env, batch->cells);
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
  const pc_replica_class_bins *by_row = &ranges->by_row;
  const int rows = pc_score_ranges_are_by_row(ranges);
  out->evidence.grid.part_count = rows ? by_row->parts : sorted->part_count;
  out->evidence.grid.bin_count = ranges->count / out->evidence.grid.part_count;
  out->evidence.grid.bins = pc_alloc(env, ranges->count, sizeof(pc_bin));
  if (rows)
    out->cells = pc_alloc_raw(
        env, pc_replica_class_bins_scratch(by_row) + pc_replica_columns_size(by_row->rows),
        sizeof *out->cells);
  return out->evidence.grid.bins != NULL && (out->cells != NULL || !rows);
}

pcal_status pc_replica_batch_new(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                                 const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                 pc_replica_batch *out, pcal_error *err) {
  const pc_need *need = &plan->slots[slot].need;
  const int curve = need->machine == PC_CURVE && !ranges->coarse;
  memset(out, 0, sizeof *out);
  out->evidence.machine = curve ? PC_CURVE : PC_GRID;
  out->evidence.rough = 1;
  out->three = curve ? !ranges->in_cells && sorted->part_count > 1
                     : ranges->coarse || need->grid.moments == 0;
  const int enough =
      curve ? batch_curve_room(env, sorted, out) : batch_grid_room(env, sorted, ranges, out);
  if (enough)
    out->sums = pc_alloc_raw(env, batch_step(sorted, ranges, out),
                             PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES * sizeof *out->sums);
  const int counted = ranges->of_class != NULL && ranges->unit;
  if (counted)
    out->hits = pc_alloc_raw(env, ranges->count + 1, PC_REPLICA_LANES * sizeof *out->hits);
  if (out->sums != NULL && (out->hits != NULL || !counted))
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

static void batch_put_kind(const double *sums, size_t what, size_t step, double *at) {
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++)
    at[(lane * PC_REPLICA_SUM_COUNT + what) * step] = sums[what * PC_REPLICA_LANES + lane];
}

/* Adds up one range. */
static void batch_add_range(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                            const pc_batch_draws *drawn, size_t r, int three, double *sums) {
  const pc_replica_sum_kernels *kernels = pc_kernels_best()->replica_sum;
  const size_t at = ranges->begin[r], count = ranges->end[r] - at;
  if (drawn->labels != NULL)
    kernels->add_labels(drawn->weights, drawn->labels, sorted->row + at, sorted->label + at,
                        sorted->score + at, count, ranges->lattice, sums);
  else
    (three ? kernels->add_three : kernels->add)(drawn->weights, sorted->row + at,
                                                sorted->score + at, ranges->hit + at, count,
                                                ranges->lattice, sums);
}

/* Counts the hits of all ranges row by row.  The other sums are those of the batch before. */
static void batch_count_hits(const pc_score_ranges *ranges, const int32_t *labels,
                             pc_replica_batch *batch) {
  uint32_t *hits = batch->hits;
  memset(hits, 0, (ranges->count + 1) * PC_REPLICA_LANES * sizeof *hits);
  for (size_t i = 0; i < ranges->rows->count; i++) {
    const uint16_t *range = ranges->of_class + i * ranges->rows->classes;
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

/* The same range by range, for ranges->natural: also the scores of hits. */
static void batch_natural_hits(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                               const uint8_t *drawn, pc_replica_batch *batch) {
  static const size_t kinds[] = {PC_REPLICA_SUM_HITS, PC_REPLICA_SUM_SCORE_HIT};
  const pc_replica_sum_kernels *kernels = pc_kernels_best()->replica_sum;
  const size_t step = batch_step(sorted, ranges, batch);
  double *to = batch->sums;
  for (size_t p = 0; p < sorted->part_count; p++) {
    double before[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES] = {0.0};
    for (size_t r = ranges->part[p]; r < ranges->part[p + 1]; r++) {
      const size_t at = ranges->begin[r];
      double sums[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
      kernels->add_hits(drawn, sorted->row + at, sorted->score + at, ranges->end[r] - at,
                        ranges->lattice, sums);
      for (size_t k = 0; k < 2; k++)
        batch_put_kind(batch->prefix == NULL ? sums : before, kinds[k], step, to);
      to++;
      for (size_t k = 0; k < 2; k++)
        for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++)
          before[kinds[k] * PC_REPLICA_LANES + lane] +=
              sums[kinds[k] * PC_REPLICA_LANES + lane];
    }
    for (size_t k = 0; batch->prefix != NULL && k < 2; k++)
      batch_put_kind(before, kinds[k], step, to);
    to += batch->prefix != NULL;
  }
}

/* Adds up the gaps of all ranges row by row: the difference of the sums SCORE and HITS, of which
 * gap points need no more. */
static void batch_add_class_gaps(const pc_score_ranges *ranges, const float *weights,
                                 pc_replica_batch *batch) {
  const pc_kept_rows *rows = ranges->rows;
  const size_t count = ranges->count;
  memset(batch->class_gaps, 0, (count + 1) * PC_REPLICA_LANES * sizeof *batch->class_gaps);
  pc_kernels_best()->replica_sum->add_class_gaps(weights, rows->probs, rows->labels,
                                                 ranges->of_class, rows->count, rows->classes,
                                                 batch->class_gaps);
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
    double *to = batch->sums + lane * PC_REPLICA_SUM_COUNT * count;
    for (size_t r = 0; r < count; r++) {
      to[PC_REPLICA_SUM_SCORE * count + r] =
          batch->class_gaps[(r + 1) * PC_REPLICA_LANES + lane];
      to[PC_REPLICA_SUM_HITS * count + r] = 0.0;
    }
  }
}

/* The sums of ranges->by_row.  Other labels change hits alone. */
static void batch_add_rows(const pc_score_ranges *ranges, const pc_batch_draws *drawn,
                           pc_replica_batch *batch) {
  const pc_replica_class_bins *by_row = &ranges->by_row;
  double *own = batch->cells + pc_replica_class_bins_scratch(by_row);
  const int same = batch->added && drawn->labels != NULL;
  if (!same && drawn->columns == NULL)
    pc_replica_columns_add(by_row->rows, by_row->lattice, drawn->weights, own);
  if (!same)
    pc_replica_class_bins_add(by_row, drawn->weights,
                              drawn->columns == NULL ? own : drawn->columns, batch->cells,
                              batch->sums);
  if (drawn->labels != NULL && batch->hits != NULL)
    batch_count_hits(ranges, drawn->labels, batch);
  else if (drawn->labels != NULL)
    pc_replica_class_bins_add_hits(by_row, drawn->weights, drawn->labels, batch->cells,
                                   batch->sums);
  batch->added = 1;
}

/* Adds up only what differs from the batch before; returns 0 if that is not possible. */
static int batch_add_changes(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                             const pc_batch_draws *drawn, pc_replica_batch *batch) {
  const int same = batch->added && drawn->labels != NULL;
  if (batch->class_gaps != NULL)
    batch_add_class_gaps(ranges, drawn->weights, batch);
  else if (same && batch->hits != NULL)
    batch_count_hits(ranges, drawn->labels, batch);
  else if (same && ranges->natural && drawn->hits != NULL)
    batch_natural_hits(sorted, ranges, drawn->hits, batch);
  else
    return 0;
  return 1;
}

void pc_replica_batch_add(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                          const pc_batch_draws *drawn, pc_replica_batch *batch) {
  batch->gap_lane = PC_REPLICA_LANES;
  if (pc_score_ranges_are_by_row(ranges)) {
    batch_add_rows(ranges, drawn, batch);
    return;
  }
  if (batch_add_changes(sorted, ranges, drawn, batch))
    return;
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

void pc_replica_bins(const double *sums, size_t count, int three, pc_bin *bins) {
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
      .single = ranges->single,
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
  const pc_batch_draws here = {.weights = drawn->weights + lane,
                               .labels = drawn->labels == NULL ? NULL : drawn->labels + lane};
  batch->evidence.total = total;
  if (batch->prefix == NULL)
    pc_replica_bins(sums, ranges->count, batch->three, batch->evidence.grid.bins);
  for (size_t p = 0; batch->prefix != NULL && p < sorted->part_count; p++) {
    batch_select_part(sorted, ranges, &here, sums, step, p, batch);
    sums += batch->prefix[p].count + 1;
  }
}

/* The range of the score of one class of a row; SIZE_MAX: none. */
static size_t batch_range_of(const pc_score_ranges *ranges, size_t row, int32_t class_index) {
  if (pc_score_ranges_are_by_row(ranges))
    return pc_replica_class_bins_range(&ranges->by_row, row, class_index);
  return (size_t)ranges->of_class[row * ranges->rows->classes + (size_t)class_index] - 1;
}

/* Adds the hits of a row of several copies. */
static void batch_count_copies(const pc_score_ranges *ranges, const pc_replica_draw *drawn,
                               size_t row, pc_bin *bins) {
  const pc_drawn_outcomes *outcomes = drawn->outcomes;
  const size_t number = (size_t)(-1 - drawn->labels[row]);
  for (size_t s = outcomes->begin[number]; s < pc_drawn_outcomes_end(outcomes, number); s++) {
    const size_t r = batch_range_of(ranges, row, (int32_t)outcomes->list[s].outcome);
    if (r != SIZE_MAX)
      bins[r].hits += drawn->each[row] * outcomes->list[s].copies;
  }
}

void pc_replica_batch_count(const pc_score_ranges *ranges, const pc_replica_base *base,
                            const pc_replica_draw *drawn, pc_replica_batch *batch) {
  const size_t rows =
      pc_score_ranges_are_by_row(ranges) ? ranges->by_row.rows->count : ranges->rows->count;
  pc_bin *bins = batch->evidence.grid.bins;
  pc_replica_bins(base->sums, ranges->count, 1, bins);
  for (size_t r = 0; r < ranges->count; r++)
    bins[r].hits = 0.0;
  for (size_t i = 0; i < rows; i++) {
    if (drawn->labels[i] < 0) {
      batch_count_copies(ranges, drawn, i, bins);
      continue;
    }
    const size_t r = batch_range_of(ranges, i, drawn->labels[i]);
    if (r != SIZE_MAX)
      bins[r].hits += (double)base->weight[i];
  }
  batch->evidence.total = drawn->total;
}

/* ---- gap points ---- */

void pc_replica_base_free(const pcal_env *env, pc_replica_base *base) {
  pc_free(env, base->sums);
  pc_free(env, base->tilt);
  pc_free(env, base->gap);
  pc_free(env, base->size);
  pc_free(env, base->tilt_size);
  pc_free(env, base->weight);
  memset(base, 0, sizeof *base);
}

void pc_replica_gap_sums(const double *sums, size_t step, int three, double *gap,
                         double *size) {
  const double *hits = sums + PC_REPLICA_SUM_HITS * step,
               *scores = sums + PC_REPLICA_SUM_SCORE * step,
               *both = sums + PC_REPLICA_SUM_SCORE_HIT * step;
  for (size_t r = 0; r < step; r++)
    gap[r] = scores[r] - hits[r];
  for (size_t r = 0; r + 1 < step; r++)
    size[r] = (scores[r + 1] - scores[r]) + (hits[r + 1] - hits[r]) -
              (three ? 0.0 : 2.0 * (both[r + 1] - both[r]));
  size[step - 1] = 0.0;
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
        here += weight * pc_lattice_round(pc_gap_tilt(sorted->score[i]), ranges->lattice);
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
  const size_t step = batch->prefix == NULL ? 0 : batch_step(sorted, ranges, batch);
  out->gap = pc_alloc_raw(env, step, sizeof *out->gap);
  out->size = pc_alloc_raw(env, step, sizeof *out->size);
  out->tilt_size = pc_alloc_raw(env, step, sizeof *out->tilt_size);
  const int enough = weights != NULL && out->sums != NULL && out->tilt != NULL &&
                     out->weight != NULL && out->gap != NULL && out->size != NULL &&
                     out->tilt_size != NULL;
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
    if (pc_score_ranges_are_by_row(ranges))
      out->tilt_mean = pc_replica_class_bins_tilt(&ranges->by_row, out->weight, out->tilt);
    else
      batch_base_tilt(sorted, ranges, batch->prefix != NULL, out);
    if (step > 0)
      pc_replica_gap_sums(out->sums, step, batch->three, out->gap, out->size);
    for (size_t r = 0; r + 1 < step; r++)
      out->tilt_size[r] = out->tilt[r + 1] - out->tilt[r];
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
                                            const pc_score_ranges *ranges,
                                            pc_replica_batch *batch, pcal_error *err) {
  batch->gap_lane = PC_REPLICA_LANES;
  if (batch->prefix == NULL) {
    const int gaps = ranges->of_class != NULL && !pc_score_ranges_are_by_row(ranges);
    if (gaps)
      batch->class_gaps =
          pc_alloc_raw(env, ranges->count + 1, PC_REPLICA_LANES * sizeof *batch->class_gaps);
    return batch->class_gaps != NULL || !gaps ? PCAL_OK
                                              : pc_fail_memory(err, "drawing replicas");
  }
  batch->gaps = pc_alloc(env, sorted->part_count, sizeof *batch->gaps);
  batch->gap_sums =
      pc_alloc_raw(env, 4 * batch_step(sorted, ranges, batch), sizeof *batch->gap_sums);
  if (batch->gaps == NULL || batch->gap_sums == NULL)
    return pc_fail_memory(err, "drawing replicas");
  if (sorted->part_count == 1)
    PC_TRY(pc_mass_bin_cache_new(env, &batch->mass_bins, err));
  return ranges->in_cells && sorted->part_count == 1
             ? pc_smooth_ladder_new(env, &batch->ladder, err)
             : PCAL_OK;
}

/* Sums of one replica and of the data, and the factors of their gaps. */
typedef struct batch_point {
  const double *drawn, *base, *tilt;
  size_t step;
  double factor[PC_GAP_PARTS];
} batch_point;

static double batch_hits_at_point(const batch_point *mix, size_t r) {
  const double *drawn = mix->drawn + r, *base = mix->base + r;
  const size_t hits = PC_REPLICA_SUM_HITS * mix->step,
               scores = PC_REPLICA_SUM_SCORE * mix->step;
  return base[scores] - mix->factor[PC_GAP_DATA] * (base[scores] - base[hits]) -
         mix->factor[PC_GAP_REPLICA] * (drawn[scores] - drawn[hits]) -
         mix->factor[PC_GAP_SHIFT] * mix->tilt[r];
}

static void batch_bins_at_point(const batch_point *mix, size_t count, pc_bin *bins) {
  for (size_t r = 0; r < count; r++)
    bins[r] = (pc_bin){.weight = mix->base[PC_REPLICA_SUM_WEIGHT * mix->step + r],
                       .hits = batch_hits_at_point(mix, r),
                       .score = mix->base[PC_REPLICA_SUM_SCORE * mix->step + r],
                       .score_square = (double)NAN,
                       .score_hit = (double)NAN};
}

/* Turns selected parts into those at a gap point: hits are computed from gaps, everything else
 * is taken from the data. */
static void batch_parts_at_point(const pc_sorted_view *sorted, const pc_replica_base *base,
                                 const batch_point *mix, pc_replica_batch *batch) {
  size_t at = 0;
  double *const drawn = batch->gap_sums;
  for (size_t p = 0; p < sorted->part_count; p++) {
    pc_curve_prefix *prefix = &batch->prefix[p];
    pc_prefix_gaps *gaps = &batch->gaps[p];
    *gaps = (pc_prefix_gaps){
        .weight = base->weight,
        .gap = {base->gap + at, drawn + at, base->tilt + at},
        .size = {base->size + at, drawn + mix->step + at, base->tilt_size + at},
        .spare = drawn + 2 * mix->step + 2 * at,
        .ladder = batch->ladder,
        .bins = batch->mass_bins};
    memcpy(gaps->factor, mix->factor, sizeof gaps->factor);
    prefix->sums = batch_prefix_sums(base->sums + at, mix->step, batch->three);
    prefix->gaps = gaps;
    batch->evidence.curve.parts[p].total = pc_curve_prefix_total(prefix);
    at += prefix->count + 1;
  }
}

/* Computes the gaps of a replica, once for all its gap points. */
static void batch_open_lane(const batch_point *mix, size_t lane, pc_replica_batch *batch) {
  if (batch->gap_lane == lane)
    return;
  pc_replica_gap_sums(mix->drawn, mix->step, batch->three, batch->gap_sums,
                      batch->gap_sums + mix->step);
  if (batch->ladder != NULL)
    pc_smooth_ladder_renew(batch->ladder);
  if (batch->mass_bins != NULL)
    pc_mass_bin_cache_renew(batch->mass_bins);
  batch->gap_lane = lane;
}

static batch_point batch_mix(const pc_replica_pair *sums, size_t step,
                             const pc_gap_point *point) {
  return (batch_point){sums->drawn,
                       sums->base,
                       sums->tilt,
                       step,
                       {point->own - point->noise,
                        point->noise * sums->base_total / sums->drawn_total,
                        point->shift / sums->tilt_mean}};
}

void pc_replica_bins_at_point(const pc_replica_pair *sums, size_t count,
                              const pc_gap_point *point, pc_bin *bins) {
  const batch_point mix = batch_mix(sums, count, point);
  batch_bins_at_point(&mix, count, bins);
}

void pc_replica_batch_select_point(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                   const pc_replica_base *base, const float *weights,
                                   size_t lane, double total, const pc_gap_point *point,
                                   pc_replica_batch *batch) {
  const size_t step = batch_step(sorted, ranges, batch);
  const pc_replica_pair sums = {batch->sums + lane * PC_REPLICA_SUM_COUNT * step,
                                base->sums,
                                base->tilt,
                                total,
                                base->total,
                                base->tilt_mean};
  const batch_point mix = batch_mix(&sums, step, point);
  batch->evidence.total = base->total;
  if (batch->prefix == NULL) {
    batch_bins_at_point(&mix, ranges->count, batch->evidence.grid.bins);
    return;
  }
  const pc_batch_draws here = {.weights = weights};
  pc_replica_batch_select(sorted, ranges, &here, lane, total, batch);
  batch->evidence.total = base->total;
  batch_open_lane(&mix, lane, batch);
  batch_parts_at_point(sorted, base, &mix, batch);
}

/* Edge cases:
 *   (1) a cell without rows has the score of the cell before it;
 *   (2) the mean of a cell is rounded: it is never below that of the cell before it. */
#include "measure/replicas/replica_tally_curve.h"

#include <math.h>
#include <string.h>

#include "curve/curve_prefix.h"

static const float curve_no_weights[PC_REPLICA_LANES]; /* ranges of one score need none */

void pc_tally_curve_free(pc_tally_curve *curve) {
  if (curve->env == NULL)
    return;
  pc_sorted_view_free(curve->env, &curve->sorted);
  pc_score_ranges_free(curve->env, &curve->ranges);
  pc_replica_base_free(curve->env, &curve->base);
  pc_replica_batch_free(curve->env, &curve->batch);
  *curve = (pc_tally_curve){0};
}

/* The means of all cells in the data. */
static void curve_scores(const pc_tally_slot *cells, double *out) {
  const double *weight = cells->sums + PC_REPLICA_SUM_WEIGHT * cells->ranges;
  const double *score = cells->sums + PC_REPLICA_SUM_SCORE * cells->ranges;
  double last = 0.0;
  for (size_t c = 0; c < cells->ranges; c++) {
    if (weight[c] > 0.0)
      last = fmin(fmax(last, score[c] / weight[c]), 1.0);
    out[c] = last;
  }
}

static pcal_status curve_view(pc_tally_curve *curve, pcal_error *err) {
  const pcal_env *env = curve->env;
  const size_t count = curve->cells->ranges;
  pc_sorted_view *view = &curve->sorted;
  view->part_count = 1;
  view->begin = pc_alloc(env, 2, sizeof *view->begin);
  view->score = pc_alloc_raw(env, count, sizeof *view->score);
  view->row = pc_alloc(env, count + PC_REPLICA_AHEAD, sizeof *view->row);
  view->label = pc_alloc(env, count, sizeof *view->label);
  if (view->begin == NULL || view->score == NULL || view->row == NULL || view->label == NULL)
    return pc_fail_memory(err, "evaluating replicas");
  view->begin[1] = count;
  curve_scores(curve->cells, view->score);
  return PCAL_OK;
}

/* Sums before each cell, then their totals: [kind][cell]. */
static void curve_add(const pc_tally_curve *curve, const double *sums, double *to) {
  const size_t count = curve->cells->ranges, step = count + 1;
  double before[PC_REPLICA_SUM_COUNT] = {0.0};
  for (size_t c = 0; c <= count; c++) {
    for (size_t k = 0; k < PC_REPLICA_SUM_COUNT; k++)
      to[k * step + c] = before[k];
    if (c == count)
      break;
    const double weight = sums[PC_REPLICA_SUM_WEIGHT * count + c];
    const double hits = sums[PC_REPLICA_SUM_HITS * count + c];
    const double score = curve->sorted.score[c];
    before[PC_REPLICA_SUM_WEIGHT] += weight;
    before[PC_REPLICA_SUM_HITS] += hits;
    before[PC_REPLICA_SUM_SCORE] += sums[PC_REPLICA_SUM_SCORE * count + c];
    before[PC_REPLICA_SUM_SCORE_HIT] += hits * score;
    before[PC_REPLICA_SUM_SCORE_SQUARE] += weight * score * score;
  }
}

/* The data. */
static pcal_status curve_base(pc_tally_curve *curve, pcal_error *err) {
  const pcal_env *env = curve->env;
  const size_t count = curve->cells->ranges, step = count + 1;
  pc_replica_base *base = &curve->base;
  base->sums = pc_alloc_raw(env, PC_REPLICA_SUM_COUNT * step, sizeof *base->sums);
  base->tilt = pc_alloc(env, step, sizeof *base->tilt);
  base->gap = pc_alloc_raw(env, step, sizeof *base->gap);
  base->size = pc_alloc_raw(env, step, sizeof *base->size);
  base->tilt_size = pc_alloc(env, step, sizeof *base->tilt_size);
  if (base->sums == NULL || base->tilt == NULL || base->gap == NULL || base->size == NULL ||
      base->tilt_size == NULL)
    return pc_fail_memory(err, "evaluating replicas");
  curve_add(curve, curve->cells->sums, base->sums);
  pc_replica_gap_sums(base->sums, step, 0, base->gap, base->size);
  for (size_t c = 0; c < count; c++) {
    base->tilt_size[c] = curve->cells->tilt[c];
    base->tilt[c + 1] = base->tilt[c] + curve->cells->tilt[c];
  }
  return PCAL_OK;
}

pcal_status pc_tally_curve_new(const pcal_env *env, const pc_measure_plan *plan,
                               const pc_tally_slot *cells, double total, double tilt_mean,
                               pc_tally_curve *out, pcal_error *err) {
  *out = (pc_tally_curve){.env = env, .cells = cells};
  PC_TRY(curve_view(out, err));
  PC_TRY(pc_score_ranges_single(env, plan, cells->slot, &out->sorted, &out->ranges, err));
  PC_TRY(pc_replica_batch_new(env, plan, cells->slot, &out->sorted, &out->ranges, &out->batch,
                              err));
  PC_TRY(pc_replica_batch_reserve_points(env, &out->sorted, &out->ranges, &out->batch, err));
  PC_TRY(curve_base(out, err));
  out->base.total = total;
  out->base.tilt_mean = tilt_mean;
  return PCAL_OK;
}

void pc_tally_curve_take(pc_tally_curve *curve, const double *sums) {
  curve_add(curve, sums, curve->batch.sums);
  curve->batch.gap_lane = PC_REPLICA_LANES;
}

void pc_tally_curve_select(pc_tally_curve *curve, double total) {
  const pc_batch_draws none = {.weights = curve_no_weights};
  pc_replica_batch_select(&curve->sorted, &curve->ranges, &none, 0, total, &curve->batch);
}

void pc_tally_curve_select_point(pc_tally_curve *curve, double total,
                                 const pc_gap_point *point) {
  pc_replica_batch_select_point(&curve->sorted, &curve->ranges, &curve->base, curve_no_weights,
                                0, total, point, &curve->batch);
}

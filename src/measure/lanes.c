#include "measure/lanes.h"

#include <math.h>
#include <string.h>

#include "stats/point_masses.h"

#define LANES_WEIGHT_MAX 1e4
#define LANES_SEGMENT 24 /* scores of a segment of a curve, without ties */

int pc_lanes_can(const pc_plan *plan, size_t slot, const pc_kept_rows *rows) {
  if (plan->slots[slot].need.machine == PC_GRID)
    return 1;
  for (size_t i = 0; i < rows->count; i++)
    if (!(rows->weights[i] <= LANES_WEIGHT_MAX) || rows->weights[i] != floor(rows->weights[i]))
      return 0;
  return pc_plan_refines(plan, slot);
}

/* ---- ranges ---- */

void pc_ranges_free(const pcal_env *env, pc_ranges *ranges) {
  pc_free(env, ranges->begin);
  pc_free(env, ranges->end);
  pc_free(env, ranges->part);
  pc_free(env, ranges->hit);
  memset(ranges, 0, sizeof *ranges);
}

static int lanes_in_cells(const pc_plan *plan, size_t slot) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && plan->entries[e].metric->cells != NULL)
      return 1;
  return 0;
}

static void lanes_range(pc_ranges *ranges, size_t begin, size_t end) {
  ranges->begin[ranges->count] = begin;
  ranges->end[ranges->count++] = end;
}

/* Cuts a part of a curve. */
static void lanes_segments(const pc_sorted_view *sorted, size_t part, int cells,
                           pc_ranges *ranges) {
  const size_t last = sorted->begin[part + 1];
  for (size_t begin = sorted->begin[part]; begin < last;) {
    const int64_t cell = pc_point_cell(sorted->score[begin], PC_LANES_LEVEL);
    size_t end = begin + 1;
    while (end < last &&
           (sorted->score[end] == sorted->score[end - 1] ||
            (end - begin < LANES_SEGMENT &&
             (!cells || pc_point_cell(sorted->score[end], PC_LANES_LEVEL) == cell))))
      end++;
    lanes_range(ranges, begin, end);
    begin = end;
  }
}

/* The first of the scores from `at` on that is above a cut. */
static size_t lanes_skip(const pc_sorted_view *sorted, const pc_partition *cells, size_t at,
                         size_t end, size_t cut) {
  while (at < end &&
         !(cut < cells->cut_count && pc_partition_above(cells, sorted->score[at], cut)))
    at++;
  return at;
}

static void lanes_bins(const pc_need *need, const pc_sorted_view *sorted,
                       const pc_partition *cells, size_t part, pc_ranges *ranges) {
  const size_t end = sorted->begin[part + 1];
  size_t at = sorted->begin[part];
  while (need->grid.threshold > 0 && at < end && sorted->score[at] <= need->grid.threshold)
    at++;
  for (size_t b = 0; b < cells->bin_count; b++) {
    const struct pc_cell_run *run = &cells->runs[b];
    if (run->first > 0)
      at = lanes_skip(sorted, cells, at, end, run->first - 1);
    const size_t begin = at;
    at = lanes_skip(sorted, cells, at, end, run->last);
    lanes_range(ranges, begin, at);
  }
}

static pcal_status lanes_fill(const pcal_env *env, const pc_plan *plan, size_t slot,
                              const pc_sorted_view *sorted, pc_ranges *out, pcal_error *err) {
  const pc_need *need = &plan->slots[slot].need;
  const int curve = need->machine == PC_CURVE;
  out->in_cells = lanes_in_cells(plan, slot);
  pc_partition cells = {.cut_count = 0};
  if (!curve)
    PC_TRY(pc_partition_new(env, need->grid.rule, need->grid.bins, &cells, err));
  const size_t scores = sorted->begin[sorted->part_count];
  const size_t room = curve ? scores : sorted->part_count * cells.bin_count;
  out->begin = pc_alloc_raw(env, room, sizeof *out->begin);
  out->end = pc_alloc_raw(env, room, sizeof *out->end);
  const int enough = out->begin != NULL && out->end != NULL;
  for (size_t p = 0; enough && p < sorted->part_count; p++) {
    out->part[p] = out->count;
    if (curve)
      lanes_segments(sorted, p, out->in_cells, out);
    else
      lanes_bins(need, sorted, &cells, p, out);
  }
  out->part[sorted->part_count] = out->count;
  pc_partition_free(env, &cells);
  return enough ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
}

pcal_status pc_ranges_new(const pcal_env *env, const pc_plan *plan, size_t slot,
                          const pc_sorted_view *sorted, const int32_t *labels, pc_ranges *out,
                          pcal_error *err) {
  const size_t scores = sorted->begin[sorted->part_count];
  memset(out, 0, sizeof *out);
  out->part = pc_alloc(env, sorted->part_count + 1, sizeof *out->part);
  out->hit = pc_alloc_raw(env, scores, sizeof *out->hit);
  pcal_status status = out->part == NULL || out->hit == NULL
                           ? pc_fail_memory(err, "drawing replicas")
                           : lanes_fill(env, plan, slot, sorted, out, err);
  for (size_t i = 0; status == PCAL_OK && i < scores; i++)
    out->hit[i] = labels[sorted->row[i]] == sorted->label[i] ? 1.0 : 0.0;
  if (status != PCAL_OK)
    pc_ranges_free(env, out);
  return status;
}

/* ---- room ---- */

void pc_lanes_free(const pcal_env *env, pc_lanes *lanes) {
  pc_evidence *evidence = &lanes->evidence;
  for (size_t p = 0; evidence->curve.parts != NULL && p < evidence->curve.part_count; p++)
    pc_curve_table_free(env, &evidence->curve.parts[p]);
  pc_free(env, evidence->curve.parts);
  pc_free(env, evidence->grid.bins);
  pc_free(env, lanes->sums);
  pc_free(env, lanes->open);
  pc_free(env, lanes->wanted);
  pc_free(env, lanes->from);
  memset(lanes, 0, sizeof *lanes);
}

static int lanes_curve_room(const pcal_env *env, const pc_sorted_view *sorted,
                            const pc_ranges *ranges, pc_lanes *out) {
  const size_t scores = sorted->begin[sorted->part_count];
  out->open = pc_alloc(env, ranges->count, 1);
  out->wanted = pc_alloc(env, scores, 1);
  out->from = pc_alloc_raw(env, scores, sizeof *out->from);
  out->evidence.curve.part_count = sorted->part_count;
  out->evidence.curve.parts =
      pc_alloc(env, sorted->part_count, sizeof *out->evidence.curve.parts);
  int enough = out->open != NULL && out->wanted != NULL && out->from != NULL &&
               out->evidence.curve.parts != NULL;
  for (size_t p = 0; enough && p < sorted->part_count; p++) {
    pc_curve_table *table = &out->evidence.curve.parts[p];
    table->owned =
        pc_alloc_raw(env, sorted->begin[p + 1] - sorted->begin[p], sizeof *table->owned);
    table->segments = table->owned;
    enough = table->owned != NULL;
  }
  return enough;
}

pcal_status pc_lanes_new(const pcal_env *env, const pc_plan *plan, size_t slot,
                         const pc_sorted_view *sorted, const pc_ranges *ranges, pc_lanes *out,
                         pcal_error *err) {
  const pc_machine_kind machine = plan->slots[slot].need.machine;
  memset(out, 0, sizeof *out);
  out->evidence.machine = machine;
  out->evidence.rough = 1;
  out->sums =
      pc_alloc_raw(env, ranges->count, PC_WEIGH_SUMS * PC_WEIGH_LANES * sizeof *out->sums);
  int enough = out->sums != NULL;
  if (enough && machine == PC_CURVE) {
    enough = lanes_curve_room(env, sorted, ranges, out);
  } else if (enough) {
    out->evidence.grid.part_count = sorted->part_count;
    out->evidence.grid.bin_count = ranges->count / sorted->part_count;
    out->evidence.grid.bins = pc_alloc(env, ranges->count, sizeof(pc_bin));
    enough = out->evidence.grid.bins != NULL;
  }
  if (enough)
    return PCAL_OK;
  pc_lanes_free(env, out);
  return pc_fail_memory(err, "drawing replicas");
}

/* ---- a batch ---- */

/* Sums lie lane by lane, since they are read so. */
void pc_lanes_add(const pc_sorted_view *sorted, const pc_ranges *ranges, const double *weights,
                  pc_lanes *lanes) {
  const pc_weigh_kernels *kernels = pc_weigh_kernels_best();
  const size_t step = ranges->count * PC_WEIGH_SUMS;
  for (size_t r = 0; r < ranges->count; r++) {
    const size_t at = ranges->begin[r];
    double sums[PC_WEIGH_SUMS * PC_WEIGH_LANES];
    kernels->add(weights, sorted->row + at, sorted->score + at, ranges->hit + at,
                 ranges->end[r] - at, sums);
    for (size_t lane = 0; lane < PC_WEIGH_LANES; lane++)
      for (size_t what = 0; what < PC_WEIGH_SUMS; what++)
        lanes->sums[lane * step + r * PC_WEIGH_SUMS + what] =
            sums[what * PC_WEIGH_LANES + lane];
  }
}

/* The sums of a range in one lane. */
static const double *lanes_sums(const pc_lanes *lanes, const pc_ranges *ranges, size_t range,
                                size_t lane) {
  return lanes->sums + (lane * ranges->count + range) * PC_WEIGH_SUMS;
}

static void lanes_show_bins(const pc_ranges *ranges, size_t lane, pc_lanes *lanes) {
  for (size_t r = 0; r < ranges->count; r++) {
    const double *sums = lanes_sums(lanes, ranges, r, lane);
    lanes->evidence.grid.bins[r] = (pc_bin){.weight = sums[PC_WEIGH_WEIGHT],
                                            .hits = sums[PC_WEIGH_HITS],
                                            .score = sums[PC_WEIGH_SCORE],
                                            .score_square = sums[PC_WEIGH_SCORE_SQUARE],
                                            .score_hit = sums[PC_WEIGH_SCORE_HIT]};
  }
}

/* ---- curves ---- */

/* A sum of many scores, to 2^-44 where it is not large. */
static pc_fixed lanes_fixed(double sum) {
  if (sum >= 0.0 && sum < 0x1p18)
    return (pc_fixed){(pc_int128)(int64_t)(sum * 0x1p44) << 17};
  return (pc_fixed){(pc_int128)(sum * PC_FIXED_ONE)};
}

/* One lane of a part being shown. */
typedef struct lanes_view {
  const pc_sorted_view *sorted;
  const pc_ranges *ranges;
  const double *weights;
  size_t part, lane;
  pc_lanes *lanes;
} lanes_view;

static void lanes_put_range(const lanes_view *view, pc_curve_table *table, size_t r) {
  const pc_lanes *lanes = view->lanes;
  const double *sums = lanes_sums(lanes, view->ranges, r, view->lane);
  const size_t at = table->count;
  if (sums[PC_WEIGH_WEIGHT] <= 0.0)
    return;
  pc_segment *segment = &table->owned[at];
  segment->low = view->sorted->score[view->ranges->begin[r]];
  segment->high = view->sorted->score[view->ranges->end[r] - 1];
  segment->rows = (uint64_t)sums[PC_WEIGH_WEIGHT];
  segment->hits = (uint64_t)sums[PC_WEIGH_HITS];
  segment->score = lanes_fixed(sums[PC_WEIGH_SCORE]);
  segment->hit_score = lanes_fixed(sums[PC_WEIGH_SCORE_HIT]);
  segment->square = (pc_int128)(int64_t)(sums[PC_WEIGH_SCORE_SQUARE] * 0x1p40) << 13;
  table->total += sums[PC_WEIGH_WEIGHT];
  lanes->from[at] = r;
  table->count++;
}

/* The scores of a range one by one. */
static void lanes_put_scores(const lanes_view *view, pc_curve_table *table, size_t r) {
  const pc_sorted_view *sorted = view->sorted;
  for (size_t e = view->ranges->begin[r]; e < view->ranges->end[r]; e++) {
    const double weight = view->weights[(size_t)sorted->row[e] * PC_WEIGH_LANES + view->lane];
    const double score = sorted->score[e];
    size_t at = table->count;
    if (weight <= 0.0)
      continue;
    if (at > 0 && table->owned[at - 1].high == score) {
      at--;
    } else {
      table->owned[at] = pc_segment_none;
      view->lanes->from[at] = r;
      table->count++;
    }
    const uint64_t rows = (uint64_t)weight;
    pc_segment_add(&table->owned[at], score, rows, view->ranges->hit[e] > 0 ? rows : 0);
    table->total += weight;
  }
}

static void lanes_build(const lanes_view *view, pc_curve_table *table) {
  const pc_ranges *ranges = view->ranges;
  table->count = 0;
  table->total = 0.0;
  for (size_t r = ranges->part[view->part]; r < ranges->part[view->part + 1]; r++)
    if (view->lanes->open[r])
      lanes_put_scores(view, table, r);
    else
      lanes_put_range(view, table, r);
}

/* Opens the ranges that the metrics of a slot want; returns how many. */
static size_t lanes_open(const pc_plan *plan, size_t slot, const pc_curve_table *table,
                         pc_lanes *lanes) {
  size_t opened = 0;
  memset(lanes->wanted, 0, table->count);
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && plan->entries[e].metric->wants != NULL)
      plan->entries[e].metric->wants(&plan->entries[e].options, table, lanes->wanted);
  for (size_t i = 0; i < table->count; i++)
    if (lanes->wanted[i] && !lanes->open[lanes->from[i]]) {
      lanes->open[lanes->from[i]] = 1;
      opened++;
    }
  return opened;
}

void pc_lanes_show(const pc_plan *plan, size_t slot, const pc_sorted_view *sorted,
                   const pc_ranges *ranges, const double *weights, size_t lane, double total,
                   pc_lanes *lanes) {
  lanes->evidence.total = total;
  if (lanes->evidence.machine == PC_GRID) {
    lanes_show_bins(ranges, lane, lanes);
    return;
  }
  memset(lanes->open, 0, ranges->count);
  for (size_t p = 0; p < sorted->part_count; p++) {
    const lanes_view view = {sorted, ranges, weights, p, lane, lanes};
    pc_curve_table *table = &lanes->evidence.curve.parts[p];
    do
      lanes_build(&view, table);
    while (lanes_open(plan, slot, table, lanes) > 0);
  }
}

/* Layout:   for each view the scores in ascending order (measure/replicas/sorted_view.h) and
 *           the position of each score of a row; for each grid the bin of each score; for each
 *           sum the terms of each row.  Positions of a subset are marked in a bit set, which
 *           yields the curve of the subset in order without sorting.
 * Edge cases:
 *   (1) a view with more scores than sorted_view.h takes, and machines other than sums, grids and
 *       curves: the rows of the subset are measured in the usual way;
 *   (2) overlapping bins and sums of logarithms in bins: the same;
 *   (3) an infinite value, such as log of an exact 0, is reported as undefined.
 * Accuracy: sums of a subset are added in double, in the order of rows, and agree with the
 *           usual measurement to 1e-13.
 * Cost:     O(n K + N K / 64) for a subset, where metrics read K scores of a row. */
#include "studies/subset_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "measure/measure_source.h"
#include "measure/replicas/sorted_view.h"

#define SUBSET_HIT UINT32_C(0x80000000) /* beside the bin of a score */

/* ---- columns ---- */

/* The scores of one view, for all rows. */
typedef struct subset_view {
  pc_sorted_view sorted; /* without parts if the view is unused */
  size_t scores;         /* of a row */
  uint32_t *place;       /* in sorted, of each score of each row */
  uint8_t *hit;          /* of each place */
  double *score;         /* of each score of each row */
} subset_view;

/* Precomputed columns of a slot of the plan. */
typedef struct subset_slot {
  int fast, used;
  double *values;     /* of a sum: row by row */
  pc_partition cells; /* of a grid */
  uint32_t *bin;      /* of a grid: of each score of each row, over all parts, with its hit */
} subset_slot;

struct pc_subset_metrics {
  pcal_env env;   /* of a single thread, for evaluations */
  pc_arena arena; /* holds everything below, and all scratch memory */
  const pc_study_probs *data;
  pcal_batch batch; /* all rows */
  pc_measure_plan plan;
  subset_view *views;
  subset_slot *slots;
  const char **slow; /* specs of the metrics measured in the usual way */
  char (*specs)[PC_SPEC_MAX];
  size_t *slow_entries; /* their indices in the plan */
  size_t slow_count;
};

typedef struct subset_bin_sums {
  double score;
  uint64_t rows; /* hits in the upper 32 bits */
} subset_bin_sums;

struct pc_subset_scratch {
  uint64_t *marks;
  pc_replica_evidence *refilled; /* by slot */
  subset_bin_sums *bin_sums;
  double *squares, *hit_scores; /* of bins */
  double *probs;
  int32_t *labels;
};

int pc_subset_metrics_slow(const pc_subset_metrics *metrics) {
  return metrics->slow_count > 0;
}

size_t pc_subset_metrics_count(const pc_subset_metrics *metrics) {
  return metrics->plan.entry_count;
}

void pc_subset_metrics_name(const pc_subset_metrics *metrics, size_t index, char *out,
                            size_t size) {
  pc_options_write(&metrics->plan.entries[index].options, 0, out, size);
}

int pc_subset_metrics_squared(const pc_subset_metrics *metrics, size_t index) {
  return (metrics->plan.entries[index].config.traits & PC_SQUARED) != 0;
}

static size_t subset_bins(const subset_slot *slot, const subset_view *view) {
  return slot->cells.bin_count * view->sorted.part_count;
}

void pc_subset_metrics_free(pc_subset_metrics *metrics) {
  if (metrics == NULL)
    return;
  const pcal_env env = metrics->env;
  pc_arena_close(&metrics->arena);
  pc_free(&env, metrics);
}

/* Inverts `sorted`: the position of each score of each row. */
static pcal_status subset_view_fill(const pc_subset_metrics *metrics, const pc_kept_rows *rows,
                                    const pc_view *view, subset_view *out, pcal_error *err) {
  const pcal_env *env = &metrics->arena.env;
  const int32_t *labels = metrics->data->labels;
  PC_TRY(pc_sorted_view_new(env, view, &metrics->plan.layout, rows, &out->sorted, err));
  out->scores = pc_view_scores_per_row(view, &metrics->plan.layout);
  const size_t count = rows->count * out->scores;
  out->place = pc_alloc_raw(env, count, sizeof *out->place);
  out->hit = pc_alloc_raw(env, count, sizeof *out->hit);
  out->score = pc_alloc_raw(env, count, sizeof *out->score);
  if (out->place == NULL || out->hit == NULL || out->score == NULL)
    return pc_fail_memory(err, "preparing to draw rows");
  for (size_t e = 0; e < count; e++) {
    const size_t row = out->sorted.row[e];
    const size_t at = row * out->scores + (out->scores > 1 ? (size_t)out->sorted.label[e] : 0);
    out->place[at] = (uint32_t)e;
    out->score[at] = out->sorted.score[e];
    out->hit[e] = labels[row] == out->sorted.label[e];
  }
  return PCAL_OK;
}

static size_t subset_bin_of(const pc_partition *cells, double score) {
  const size_t cell = pc_partition_find(cells, score);
  for (size_t b = 0; b < cells->bin_count; b++)
    if (cell >= cells->runs[b].first && cell <= cells->runs[b].last)
      return b;
  return SIZE_MAX;
}

/* Scores in no bin are counted in an extra bin behind the last. */
static pcal_status subset_grid_fill(const pc_subset_metrics *metrics, const pc_need *need,
                                    const subset_view *view, subset_slot *out,
                                    pcal_error *err) {
  const pc_sorted_view *sorted = &view->sorted;
  const size_t count = sorted->begin[sorted->part_count];
  PC_TRY(pc_partition_new(&metrics->arena.env, need->grid.rule, need->grid.bins, &out->cells,
                          err));
  out->bin = pc_alloc_raw(&metrics->arena.env, count, sizeof *out->bin);
  if (out->bin == NULL)
    return pc_fail_memory(err, "preparing to draw rows");
  const size_t bins = out->cells.bin_count;
  for (size_t p = 0; p < sorted->part_count; p++)
    for (size_t e = sorted->begin[p]; e < sorted->begin[p + 1]; e++) {
      const size_t at =
          sorted->row[e] * view->scores + (view->scores > 1 ? (size_t)sorted->label[e] : 0);
      const size_t bin = need->grid.threshold > 0 && sorted->score[e] <= need->grid.threshold
                             ? SIZE_MAX
                             : subset_bin_of(&out->cells, sorted->score[e]);
      const size_t where = bin == SIZE_MAX ? bins * sorted->part_count : p * bins + bin;
      out->bin[at] = (uint32_t)where | (view->hit[e] ? SUBSET_HIT : 0);
    }
  return PCAL_OK;
}

/* ---- preparing ---- */

/* Columns of all rows from which the views are computed. */
typedef struct subset_facts {
  pc_kept_rows rows;
  pc_scratch scratch;
} subset_facts;

static pcal_status subset_facts_new(const pc_subset_metrics *metrics, subset_facts *out,
                                    pcal_error *err) {
  const pc_study_probs *data = metrics->data;
  memset(out, 0, sizeof *out);
  PC_TRY(pc_scratch_new(&metrics->arena.env, &metrics->plan.layout, &out->scratch, err));
  out->rows.count = data->rows;
  out->rows.classes = data->classes;
  out->rows.labels = data->labels;
  out->rows.probs = data->classes > 1 ? data->probs : NULL;
  out->rows.score = pc_alloc_raw(&metrics->arena.env, data->rows, sizeof(double));
  out->rows.top_label = pc_alloc_raw(&metrics->arena.env, data->rows, sizeof(int32_t));
  return out->rows.score != NULL && out->rows.top_label != NULL
             ? PCAL_OK
             : pc_fail_memory(err, "preparing to draw rows");
}

static void subset_facts_add(const pc_subset_metrics *metrics, const pc_rows *rows,
                             size_t begin, subset_facts *facts) {
  const int several = metrics->plan.layout.columns > 1;
  memcpy(facts->rows.score + begin, several ? rows->top : rows->positive,
         rows->count * sizeof(double));
  if (several)
    memcpy(facts->rows.top_label + begin, rows->top_label, rows->count * sizeof(int32_t));
  for (size_t s = 0; s < metrics->plan.slot_count; s++) {
    const pc_need *need = &metrics->plan.slots[s].need;
    const subset_slot *slot = &metrics->slots[s];
    if (slot->values != NULL)
      need->sum.values(need->sum.params, rows, 0, rows->count,
                       slot->values + begin * need->sum.value_count);
  }
}

static pcal_status subset_facts_read(const pc_subset_metrics *metrics, subset_facts *facts,
                                     pcal_error *err) {
  const pc_row_policy policy = {.need_log = metrics->plan.needs_log};
  const size_t rows = metrics->data->rows, step = facts->scratch.capacity;
  for (size_t begin = 0; begin < rows; begin += step) {
    pc_rows some;
    pc_row_counts counts = {0, 0, PCAL_NO_ROW};
    PC_TRY(pc_rows_convert(&metrics->batch, &metrics->plan.layout, &policy, begin,
                           rows - begin < step ? rows - begin : step, &facts->scratch, &some,
                           &counts, err));
    subset_facts_add(metrics, &some, begin, facts);
  }
  return PCAL_OK;
}

static pcal_status subset_slot_fill(pc_subset_metrics *metrics, size_t s,
                                    const pc_kept_rows *rows, pcal_error *err) {
  const pc_plan_slot *planned = &metrics->plan.slots[s];
  subset_slot *slot = &metrics->slots[s];
  if (!slot->used || planned->need.machine == PC_SUM)
    return PCAL_OK;
  slot->fast = pc_sorted_view_applies(&planned->need, &metrics->plan.layout, rows) &&
               rows->count < SUBSET_HIT;
  if (!slot->fast)
    return PCAL_OK;
  subset_view *view = &metrics->views[planned->view];
  if (view->sorted.begin == NULL)
    PC_TRY(subset_view_fill(metrics, rows, &planned->need.view, view, err));
  return planned->need.machine == PC_GRID
             ? subset_grid_fill(metrics, &planned->need, view, slot, err)
             : PCAL_OK;
}

/* Marks the slots in use and allocates the terms of sums. */
static pcal_status subset_slots(pc_subset_metrics *metrics, pcal_error *err) {
  const pc_measure_plan *plan = &metrics->plan;
  for (size_t e = 0; e < plan->entry_count; e++) {
    subset_slot *slot = &metrics->slots[plan->entries[e].slot];
    const pc_need *need = &plan->slots[plan->entries[e].slot].need;
    slot->used = 1;
    if (need->machine != PC_SUM || slot->values != NULL)
      continue;
    slot->fast = 1;
    slot->values = pc_alloc_raw(
        &metrics->arena.env, metrics->data->rows * need->sum.value_count, sizeof *slot->values);
    if (slot->values == NULL)
      return pc_fail_memory(err, "preparing to draw rows");
  }
  return PCAL_OK;
}

static void subset_list_slow(pc_subset_metrics *metrics) {
  const pc_measure_plan *plan = &metrics->plan;
  for (size_t e = 0; e < plan->entry_count; e++) {
    if (metrics->slots[plan->entries[e].slot].fast)
      continue;
    const size_t i = metrics->slow_count++;
    pc_options_write(&plan->entries[e].options, 1, metrics->specs[i], PC_SPEC_MAX);
    metrics->slow[i] = metrics->specs[i];
    metrics->slow_entries[i] = e;
  }
}

static pcal_status subset_prepare(pc_subset_metrics *metrics, pcal_error *err) {
  const pc_measure_plan *plan = &metrics->plan;
  const pcal_env *env = &metrics->arena.env;
  subset_facts facts;
  metrics->views = pc_alloc(env, plan->view_count, sizeof *metrics->views);
  metrics->slots = pc_alloc(env, plan->slot_count, sizeof *metrics->slots);
  metrics->slow = pc_alloc(env, plan->entry_count, sizeof *metrics->slow);
  metrics->specs = pc_alloc(env, plan->entry_count, sizeof *metrics->specs);
  metrics->slow_entries = pc_alloc(env, plan->entry_count, sizeof *metrics->slow_entries);
  if (metrics->views == NULL || metrics->slots == NULL || metrics->slow == NULL ||
      metrics->specs == NULL || metrics->slow_entries == NULL)
    return pc_fail_memory(err, "preparing to draw rows");
  PC_TRY(subset_slots(metrics, err));
  PC_TRY(subset_facts_new(metrics, &facts, err));
  PC_TRY(subset_facts_read(metrics, &facts, err));
  for (size_t s = 0; s < plan->slot_count; s++)
    PC_TRY(subset_slot_fill(metrics, s, &facts.rows, err));
  subset_list_slow(metrics);
  return PCAL_OK;
}

pcal_status pc_subset_metrics_new(const pcal_env *env, const pc_study_probs *data,
                                  const char *const *specs, size_t count,
                                  pc_subset_metrics **out, pcal_error *err) {
  const pc_interval_request plain = {.level = 0};
  pc_layout layout;
  pc_subset_metrics *metrics = pc_alloc(env, 1, sizeof *metrics);
  if (metrics == NULL)
    return pc_fail_memory(err, "preparing to draw rows");
  metrics->env = pc_study_task_env(env);
  const pcal_status opened = pc_arena_open(&metrics->arena, &metrics->env, err);
  if (opened != PCAL_OK) {
    pc_free(env, metrics);
    return opened;
  }
  metrics->data = data;
  pc_study_probs_batch(data, &metrics->batch);
  pcal_status status =
      data->rows > INT32_MAX
          ? pc_fail(err, PCAL_USAGE, "subsets are drawn from at most 2147483647 rows")
          : pc_layout_make(metrics->batch.kind, metrics->batch.columns, &layout, err);
  if (status == PCAL_OK)
    status = pc_measure_plan_new(&metrics->arena.env, &layout, &plain, specs, count,
                                 &metrics->plan, err);
  if (status == PCAL_OK)
    status = subset_prepare(metrics, err);
  if (status == PCAL_OK)
    *out = metrics;
  else
    pc_subset_metrics_free(metrics);
  return status;
}

/* ---- scratch memory ---- */

/* Prepares the evidence of a slot; raises *bins and *places to what it needs. */
static pcal_status subset_scratch_slot(const pc_subset_metrics *metrics, size_t s,
                                       pc_replica_evidence *out, size_t *bins, size_t *places,
                                       pcal_error *err) {
  const pc_plan_slot *planned = &metrics->plan.slots[s];
  const subset_slot *slot = &metrics->slots[s];
  if (slot->fast && planned->need.machine != PC_SUM) {
    const subset_view *view = &metrics->views[planned->view];
    const size_t scores = metrics->data->rows * view->scores, count = subset_bins(slot, view);
    PC_TRY(pc_replica_evidence_new(&metrics->arena.env, &planned->need, &view->sorted, NULL,
                                   out, err));
    *places = scores > *places ? scores : *places;
    *bins = count > *bins ? count : *bins;
  }
  out->evidence.machine = planned->need.machine;
  out->evidence.layout = &metrics->plan.layout;
  return PCAL_OK;
}

static pcal_status subset_scratch_fill(const pc_subset_metrics *metrics,
                                       pc_subset_scratch *scratch, pcal_error *err) {
  const pcal_env *env = &metrics->arena.env;
  const size_t rows = metrics->slow_count > 0 ? metrics->data->rows : 0;
  size_t bins = 0, places = 0;
  scratch->refilled = pc_alloc(env, metrics->plan.slot_count, sizeof *scratch->refilled);
  if (scratch->refilled == NULL)
    return pc_fail_memory(err, "preparing to draw rows");
  for (size_t s = 0; s < metrics->plan.slot_count; s++)
    PC_TRY(subset_scratch_slot(metrics, s, &scratch->refilled[s], &bins, &places, err));
  scratch->marks = pc_alloc(env, pc_subset_words(places), sizeof *scratch->marks);
  scratch->bin_sums = pc_alloc(env, bins + 1, sizeof *scratch->bin_sums);
  scratch->squares = pc_alloc(env, bins + 1, sizeof *scratch->squares);
  scratch->hit_scores = pc_alloc(env, bins + 1, sizeof *scratch->hit_scores);
  scratch->probs = pc_alloc(env, rows * metrics->data->classes, sizeof *scratch->probs);
  scratch->labels = pc_alloc(env, rows, sizeof *scratch->labels);
  return scratch->marks == NULL || scratch->bin_sums == NULL || scratch->squares == NULL ||
                 scratch->hit_scores == NULL || scratch->probs == NULL ||
                 scratch->labels == NULL
             ? pc_fail_memory(err, "preparing to draw rows")
             : PCAL_OK;
}

pcal_status pc_subset_scratch_new(const pc_subset_metrics *metrics, pc_subset_scratch **out,
                                  pcal_error *err) {
  *out = pc_alloc(&metrics->arena.env, 1, sizeof **out);
  return *out == NULL ? pc_fail_memory(err, "preparing to draw rows")
                      : subset_scratch_fill(metrics, *out, err);
}

/* ---- a subset ---- */

static void subset_add_sum(const pc_need *need, const subset_slot *slot, const uint32_t *rows,
                           size_t count, pc_evidence *out) {
  const size_t width = need->sum.value_count;
  out->sum.count = width;
  for (size_t v = 0; v < width; v++) {
    double sum = 0.0, infinite = 0.0;
    for (size_t i = 0; i < count; i++) {
      const double value = slot->values[rows[i] * width + v];
      if (isinf(value) && infinite++ == 0.0)
        out->sum.infinite_row[v] = rows[i];
      else if (!isinf(value))
        sum += value;
    }
    out->sum.value[v] = sum;
    out->sum.infinite[v] = infinite;
  }
}

static void subset_bin_moments(const subset_slot *slot, const subset_view *view,
                               const uint32_t *rows, size_t count, pc_subset_scratch *scratch) {
  const size_t scores = view->scores;
  for (size_t i = 0; i < count; i++)
    for (size_t at = rows[i] * scores; at < (rows[i] + (size_t)1) * scores; at++) {
      const uint32_t bin = slot->bin[at] & ~SUBSET_HIT;
      scratch->squares[bin] += view->score[at] * view->score[at];
      scratch->hit_scores[bin] += slot->bin[at] & SUBSET_HIT ? view->score[at] : 0.0;
    }
}

static void subset_add_grid(const pc_need *need, const subset_slot *slot,
                            const subset_view *view, const uint32_t *rows, size_t count,
                            pc_subset_scratch *scratch, pc_evidence *out) {
  const size_t bins = subset_bins(slot, view), scores = view->scores;
  const int moments = need->grid.moments != 0;
  memset(scratch->bin_sums, 0, (bins + 1) * sizeof *scratch->bin_sums);
  for (size_t i = 0; i < count; i++)
    for (size_t at = rows[i] * scores; at < (rows[i] + (size_t)1) * scores; at++) {
      subset_bin_sums *sums = &scratch->bin_sums[slot->bin[at] & ~SUBSET_HIT];
      sums->score += view->score[at];
      sums->rows += 1 + ((uint64_t)(slot->bin[at] / SUBSET_HIT) << 32);
    }
  if (moments) {
    memset(scratch->squares, 0, (bins + 1) * sizeof *scratch->squares);
    memset(scratch->hit_scores, 0, (bins + 1) * sizeof *scratch->hit_scores);
    subset_bin_moments(slot, view, rows, count, scratch);
  }
  for (size_t b = 0; b < bins; b++) {
    const struct pc_cell_run *run = &slot->cells.runs[b % slot->cells.bin_count];
    out->grid.bins[b] = (pc_bin){run->low,
                                 run->high,
                                 (double)(uint32_t)scratch->bin_sums[b].rows,
                                 (double)(scratch->bin_sums[b].rows >> 32),
                                 scratch->bin_sums[b].score,
                                 moments ? scratch->squares[b] : (double)NAN,
                                 moments ? scratch->hit_scores[b] : (double)NAN};
  }
}

static void subset_put_place(const subset_view *view, size_t place, pc_curve_table *table) {
  const double score = view->sorted.score[place], hit = view->hit[place];
  table->total += 1.0;
  if (table->count > 0 && table->score[table->count - 1] == score) {
    table->weight[table->count - 1] += 1.0;
    table->hits[table->count - 1] += hit;
    return;
  }
  table->score[table->count] = score;
  table->weight[table->count] = 1.0;
  table->hits[table->count++] = hit;
}

static void subset_add_curve(const subset_view *view, const uint32_t *rows, size_t count,
                             size_t all_rows, pc_subset_scratch *scratch, pc_evidence *out) {
  const size_t scores = view->scores, words = pc_subset_words(all_rows * scores);
  size_t part = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t at = rows[i] * scores; at < (rows[i] + (size_t)1) * scores; at++)
      scratch->marks[view->place[at] / 64] |= UINT64_C(1) << (view->place[at] % 64);
  for (size_t p = 0; p < out->curve.part_count; p++) {
    out->curve.parts[p].count = 0;
    out->curve.parts[p].total = 0.0;
  }
  for (size_t w = 0; w < words; w++) {
    for (uint64_t word = scratch->marks[w]; word != 0; word &= word - 1) {
      const size_t place = w * 64 + (size_t)__builtin_ctzll(word);
      while (place >= view->sorted.begin[part + 1])
        part++;
      subset_put_place(view, place, &out->curve.parts[part]);
    }
    scratch->marks[w] = 0;
  }
}

static void subset_store(const pc_metric_result *outcome, double *value,
                         char why[PC_SUBSET_REASON_MAX]) {
  const int known = !outcome->undefined && isfinite(outcome->value);
  *value = known ? outcome->value : (double)NAN;
  if (why != NULL)
    snprintf(why, PC_SUBSET_REASON_MAX, "%s", known ? "" : outcome->why);
}

static pcal_status subset_entries(const pc_subset_metrics *metrics, size_t slot,
                                  const pc_evidence *evidence, double *values,
                                  char (*why)[PC_SUBSET_REASON_MAX], pcal_error *err) {
  const pc_measure_plan *plan = &metrics->plan;
  for (size_t e = 0; e < plan->entry_count; e++) {
    pc_metric_result outcome;
    if (plan->entries[e].slot != slot)
      continue;
    memset(&outcome, 0, sizeof outcome);
    const pcal_status status = plan->entries[e].metric->evaluate(
        &plan->entries[e].options, evidence, &metrics->env, &outcome, err);
    pc_free(&metrics->env, outcome.class_values);
    PC_TRY(status);
    subset_store(&outcome, &values[e], why == NULL ? NULL : why[e]);
  }
  return PCAL_OK;
}

/* Measures the rows of the subset in the usual way, for the metrics that need it. */
static pcal_status subset_slow(const pc_subset_metrics *metrics, pc_subset_scratch *scratch,
                               const uint32_t *rows, size_t count, double *values,
                               char (*why)[PC_SUBSET_REASON_MAX], pcal_error *err) {
  const pc_study_probs *data = metrics->data;
  const pc_study_probs some = {.env = &metrics->env,
                               .layout = data->layout,
                               .rows = count,
                               .classes = data->classes,
                               .probs = scratch->probs,
                               .labels = scratch->labels};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  pcal_batch batch;
  for (size_t i = 0; i < count; i++) {
    memcpy(scratch->probs + i * data->classes, data->probs + rows[i] * data->classes,
           data->classes * sizeof *scratch->probs);
    scratch->labels[i] = data->labels[rows[i]];
  }
  pc_study_probs_batch(&some, &batch);
  config.kind = batch.kind;
  config.columns = batch.columns;
  config.specs = metrics->slow;
  config.spec_count = metrics->slow_count;
  const pcal_status status = pc_measure_batch(&batch, &config, &metrics->env, &results, err);
  for (size_t i = 0; status == PCAL_OK && i < metrics->slow_count; i++) {
    const size_t entry = metrics->slow_entries[i];
    subset_store(&results->records[i].outcome, &values[entry], why == NULL ? NULL : why[entry]);
  }
  pc_results_free(results);
  return status;
}

pcal_status pc_subset_metrics_measure(const pc_subset_metrics *metrics,
                                      pc_subset_scratch *scratch, const uint32_t *rows,
                                      size_t count, double *values,
                                      char (*why)[PC_SUBSET_REASON_MAX], pcal_error *err) {
  const pc_measure_plan *plan = &metrics->plan;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_need *need = &plan->slots[s].need;
    const subset_slot *slot = &metrics->slots[s];
    pc_evidence *evidence = &scratch->refilled[s].evidence;
    if (!slot->used || !slot->fast)
      continue;
    evidence->total = (double)count;
    if (need->machine == PC_SUM)
      subset_add_sum(need, slot, rows, count, evidence);
    else if (need->machine == PC_GRID)
      subset_add_grid(need, slot, &metrics->views[plan->slots[s].view], rows, count, scratch,
                      evidence);
    else
      subset_add_curve(&metrics->views[plan->slots[s].view], rows, count, metrics->data->rows,
                       scratch, evidence);
    PC_TRY(subset_entries(metrics, s, evidence, values, why, err));
  }
  return metrics->slow_count == 0
             ? PCAL_OK
             : subset_slow(metrics, scratch, rows, count, values, why, err);
}

#include "measure/replicas/replica_tally.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "measure/replicas/interval_inversion.h"
#include "measure/replicas/replica_intervals.h"
#include "measure/replicas/replica_tally_curve.h"
#include "measure/replicas/tally_slots.h"

#define TALLY_TOGETHER 4     /* replicas that a task evaluates */
#define TALLY_RANGE_COST 2.0 /* nanoseconds per bin or cell of a replica, for the executor */

/* ---- form ---- */

static const pc_tally_slot *tally_slot(const pc_replica_tally *tally, size_t slot) {
  for (size_t s = 0; s < tally->slot_count; s++)
    if (tally->slots[s].slot == slot)
      return &tally->slots[s];
  return NULL;
}

static pc_tally_sums *tally_sums_of(const pc_replica_tally *tally, size_t slot) {
  for (size_t s = 0; s < tally->sum_count; s++)
    if (tally->sums[s].slot == slot)
      return &tally->sums[s];
  return NULL;
}

static int tally_needs_entry(const pc_measure_plan *plan, size_t entry) {
  return pc_measure_plan_resampled(plan, entry) || pc_measure_plan_relabelled(plan, entry);
}

/* True if an entry needs replicas, and sums of bins or cells are enough for them. */
static int tally_suits_entry(const pc_measure_plan *plan, size_t entry) {
  const pc_need *need = &plan->slots[plan->entries[entry].slot].need;
  return tally_needs_entry(plan, entry) &&
         (need->machine == PC_GRID
              ? pc_sorted_view_suits(need, &plan->layout)
              : pc_score_cells_suit(plan, entry) || pc_tally_own_bins(plan, entry));
}

static int tally_suits_slot(const pc_measure_plan *plan, size_t slot) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (pc_tally_slot_of(plan, e) == slot && tally_suits_entry(plan, e))
      return 1;
  return 0;
}

static int tally_is_curve(const pc_measure_plan *plan, size_t slot) {
  return pc_tally_slot_need(plan, slot)->machine == PC_CURVE;
}

/* True for the common cells of a curve. */
static int tally_has_cells(const pc_measure_plan *plan, size_t slot) {
  return slot < pc_tally_shared_slots(plan) && tally_is_curve(plan, slot);
}

static int tally_over_classes(const pc_measure_plan *plan, size_t slot) {
  return pc_view_is_every_class(&pc_tally_slot_need(plan, slot)->view);
}

/* Labels are drawn for the null, and for intervals of errors over all classes. */
static void tally_count(const pc_measure_plan *plan, size_t counts[PC_TALLY_KINDS]) {
  const size_t asked = plan->intervals.replicas;
  int classes = 0;
  for (size_t e = 0; e < plan->entry_count; e++)
    classes |= tally_suits_entry(plan, e) && tally_over_classes(plan, plan->entries[e].slot);
  const size_t some = asked < PC_INVERSION_NULLS ? asked : PC_INVERSION_NULLS;
  const int intervals = plan->intervals.level > 0;
  counts[PC_TALLY_DATA] = 1;
  counts[PC_TALLY_WEIGHTS] = intervals ? asked : 0;
  counts[PC_TALLY_BLOCKS] = intervals ? PC_JACKKNIFE_BLOCKS : 0;
  counts[PC_TALLY_LABELS] = plan->intervals.null ? asked : intervals && classes ? some : 0;
}

static pcal_status tally_ranges(const pcal_env *env, const pc_measure_plan *plan, size_t slot,
                                size_t *out, pcal_error *err) {
  const pc_need *need = &plan->slots[slot].need;
  pc_partition bins;
  PC_TRY(pc_partition_new(env, need->grid.rule, need->grid.bins, &bins, err));
  *out = bins.bin_count * pc_view_parts(&need->view, &plan->layout);
  pc_partition_free(env, &bins);
  return PCAL_OK;
}

static size_t tally_kinds(const pc_measure_plan *plan, size_t slot) {
  return tally_is_curve(plan, slot) || pc_tally_slot_need(plan, slot)->grid.moments == 0
             ? 3
             : PC_REPLICA_SUM_COUNT;
}

static uint64_t tally_replicas(const pc_measure_plan *plan) {
  size_t counts[PC_TALLY_KINDS];
  uint64_t replicas = 0;
  tally_count(plan, counts);
  for (size_t k = 0; k < PC_TALLY_KINDS; k++)
    replicas += counts[k];
  return replicas;
}

/* At least the numbers of one replica of a slot. */
static uint64_t tally_slot_size(const pc_measure_plan *plan, size_t slot) {
  return (uint64_t)tally_kinds(plan, slot) * pc_tally_slot_ranges(plan, slot) *
         pc_tally_slot_parts(plan, slot);
}

int pc_replica_tally_alone(const pc_measure_plan *plan, size_t slot) {
  return tally_suits_slot(plan, slot) &&
         tally_slot_size(plan, slot) <= PC_ROUND_DRAWS_MAX / tally_replicas(plan);
}

int pc_replica_tally_takes(const pc_measure_plan *plan, size_t slot) {
  const uint64_t most = PC_ROUND_DRAWS_MAX / tally_replicas(plan);
  uint64_t numbers = 0;
  int fits = 0;
  for (size_t s = 0; s <= slot; s++) {
    const uint64_t here = tally_suits_slot(plan, s) ? tally_slot_size(plan, s) : 0;
    fits = here > 0 && here <= most - numbers;
    numbers += fits ? here : 0;
  }
  return fits;
}

/* Why the tally lacks sums for this null; NULL: it has them. */
static const char *tally_lacks_sums(const pc_replica_tally *tally, const pc_measure_plan *plan,
                                    size_t slot) {
  if (!pc_tally_sums_take(plan, slot))
    return "its replicas have too many sums for rounds; ask for fewer replicas or metrics, or "
           "measure it in one process";
  return tally != NULL && tally_sums_of(tally, slot) != NULL
             ? NULL
             : "the null draws labels: rows of weight 0 have none, and small groups share 256 "
               "MiB; measure in one process";
}

/* True if the cells of an entry are too wide. */
static int tally_cells_end(const pc_replica_tally *tally, const pc_measure_plan *plan,
                           size_t entry) {
  const pc_metric_config *config = &plan->entries[entry].config;
  return config->cells_end > 0.0 && tally->totals[0] >= config->cells_end;
}

const char *pc_replica_tally_lacks(const pc_replica_tally *tally, const pc_measure_plan *plan,
                                   size_t entry) {
  const size_t slot = pc_tally_slot_of(plan, entry);
  if (!tally_needs_entry(plan, entry))
    return NULL;
  if (pc_tally_sums_suit(plan, entry))
    return tally_lacks_sums(tally, plan, slot);
  if (!tally_suits_entry(plan, entry))
    return "its replicas need all rows at once; measure it in one process";
  if (!pc_replica_tally_takes(plan, slot))
    return "its replicas have too many bins for rounds; ask for fewer replicas or metrics, or "
           "measure it in one process";
  if (tally != NULL && tally_slot(tally, slot) != NULL)
    return tally_cells_end(tally, plan, entry)
               ? "no interval or null from 2^27 rows on in rounds; measure it in one process"
               : NULL;
  if (plan->entries[entry].config.binning.per_bin > 0)
    return "needs 16384 rows and at most 256 bins in rounds; measure it in one process";
  return tally_is_curve(plan, slot) ? "needs 16384 rows in rounds; measure it in one process"
                                    : "needs 1024 rows in rounds; measure it in one process";
}

int pc_replica_tally_has_curve(const pc_replica_tally *tally, const pc_measure_plan *plan,
                               size_t entry) {
  return (pc_score_cells_suit(plan, entry) || pc_tally_own_bins(plan, entry)) &&
         tally_slot(tally, pc_tally_slot_of(plan, entry)) != NULL &&
         !tally_cells_end(tally, plan, entry);
}

pcal_status pc_replica_tally_size(const pcal_env *env, const pc_measure_plan *plan,
                                  uint64_t *numbers, pcal_error *err) {
  const uint64_t replicas = tally_replicas(plan);
  *numbers = 0;
  for (size_t s = 0; s < pc_tally_slot_count(plan); s++) {
    if (!pc_replica_tally_takes(plan, s))
      continue;
    size_t ranges = pc_tally_slot_ranges(plan, s) * pc_tally_slot_parts(plan, s);
    if (!tally_is_curve(plan, s))
      PC_TRY(tally_ranges(env, plan, s, &ranges, err));
    *numbers += replicas * ranges * tally_kinds(plan, s);
  }
  *numbers += pc_tally_sums_bytes(plan) / sizeof(double);
  return PCAL_OK;
}

/* ---- memory ---- */

void pc_replica_tally_free(pc_replica_tally *tally) {
  if (tally->env == NULL)
    return;
  for (size_t s = 0; tally->slots != NULL && s < tally->slot_count; s++) {
    pc_free(tally->env, tally->slots[s].sums);
    pc_free(tally->env, tally->slots[s].tilt);
  }
  pc_free(tally->env, tally->slots);
  pc_tally_sums_free(tally->env, tally->sums, tally->sum_count);
  pc_free(tally->env, tally->totals);
  pc_free(tally->env, tally->gaps);
  *tally = (pc_replica_tally){0};
}

pcal_status pc_replica_tally_room(const pcal_env *env, pc_replica_tally *tally,
                                  pcal_error *err) {
  tally->replicas = 0;
  for (size_t k = 0; k < PC_TALLY_KINDS; k++)
    tally->replicas += tally->counts[k];
  tally->totals = pc_alloc(env, tally->replicas, sizeof *tally->totals);
  tally->gaps = pc_alloc(env, tally->entry_count, sizeof *tally->gaps);
  int enough = tally->totals != NULL && tally->gaps != NULL;
  for (size_t s = 0; enough && s < tally->slot_count; s++) {
    pc_tally_slot *at = &tally->slots[s];
    at->sums = pc_alloc_large(env, tally->replicas * at->kinds * at->ranges, sizeof(double));
    at->tilt = pc_alloc(env, at->ranges, sizeof(double));
    enough = at->sums != NULL && at->tilt != NULL;
  }
  for (size_t s = 0; enough && s < tally->sum_count; s++)
    PC_TRY(pc_tally_sums_room(env, tally->counts[PC_TALLY_LABELS], &tally->sums[s], err));
  return enough ? PCAL_OK : pc_fail_memory(err, "tallying replicas");
}

static void tally_form_sums(const pc_measure_plan *plan, pc_replica_tally *out) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (pc_tally_sums_take(plan, s))
      out->sums[out->sum_count++] =
          (pc_tally_sums){.slot = s, .values = plan->slots[s].need.sum.value_count};
}

static pcal_status tally_form(const pc_measure_plan *plan, const pc_score_cell_lists *lists,
                              unsigned contents, pc_replica_tally *out, pcal_error *err) {
  const int grids = (contents & PC_TALLY_WITH_GRIDS) != 0;
  out->slots = pc_alloc(out->env, pc_tally_slot_count(plan), sizeof *out->slots);
  out->sums = pc_alloc(out->env, plan->slot_count, sizeof *out->sums);
  if (out->slots == NULL || out->sums == NULL)
    return pc_fail_memory(err, "tallying replicas");
  if (contents & PC_TALLY_WITH_SUMS)
    tally_form_sums(plan, out);
  for (size_t s = 0; s < pc_tally_slot_count(plan); s++) {
    const pc_score_cells *cells = pc_score_cells_of(lists, s);
    if (tally_is_curve(plan, s) ? cells == NULL : !grids || !pc_replica_tally_takes(plan, s))
      continue;
    pc_tally_slot *slot = &out->slots[out->slot_count++];
    const pc_view *view = &pc_tally_slot_need(plan, s)->view;
    *slot = (pc_tally_slot){.slot = s,
                            .kinds = tally_kinds(plan, s),
                            .row_scores = pc_view_scores_per_row(view, &plan->layout)};
    if (cells != NULL)
      slot->ranges = cells->parts * cells->count;
    else
      PC_TRY(tally_ranges(out->env, plan, s, &slot->ranges, err));
  }
  return pc_replica_tally_room(out->env, out, err);
}

pcal_status pc_replica_tally_new(const pcal_env *env, const pc_measure_plan *plan,
                                 unsigned bits, const pc_score_cell_lists *cells,
                                 unsigned contents, pc_replica_tally *out, pcal_error *err) {
  *out = (pc_replica_tally){.env = env, .bits = bits, .entry_count = plan->entry_count};
  tally_count(plan, out->counts);
  const pcal_status status = tally_form(plan, cells, contents, out, err);
  if (status != PCAL_OK)
    pc_replica_tally_free(out);
  return status;
}

static size_t tally_first(const pc_replica_tally *tally, pc_tally_kind kind) {
  size_t first = 0;
  for (int k = 0; k < (int)kind; k++)
    first += tally->counts[k];
  return first;
}

static double *tally_sums(const pc_tally_slot *slot, size_t replica) {
  return slot->sums + replica * slot->kinds * slot->ranges;
}

/* ---- drawing ---- */

/* The user data of tally_collect. */
typedef struct tally_collector {
  const pc_replica_tally *tally;
  size_t first; /* replica of the tally */
} tally_collector;

static void tally_collect(void *user, size_t slot, size_t replica,
                          const pc_evidence *evidence) {
  const tally_collector *to = user;
  const pc_tally_slot *at = tally_slot(to->tally, slot);
  double *sums = tally_sums(at, to->first + replica);
  to->tally->totals[to->first + replica] = evidence->total;
  for (size_t r = 0; r < at->ranges; r++) {
    const pc_bin *bin = &evidence->grid.bins[r];
    sums[PC_REPLICA_SUM_WEIGHT * at->ranges + r] = bin->weight;
    sums[PC_REPLICA_SUM_HITS * at->ranges + r] = bin->hits;
    sums[PC_REPLICA_SUM_SCORE * at->ranges + r] = bin->score;
    if (at->kinds == 3)
      continue;
    sums[PC_REPLICA_SUM_SCORE_HIT * at->ranges + r] = bin->score_hit;
    sums[PC_REPLICA_SUM_SCORE_SQUARE * at->ranges + r] = bin->score_square;
  }
}

static void tally_collect_sums(void *user, size_t slot, size_t replica, double total,
                               const void *state) {
  const tally_collector *to = user;
  to->tally->totals[to->first + replica] = total;
  pc_tally_sums_set(tally_sums_of(to->tally, slot), replica, state);
}

/* The entries with replicas of a kind: `binned` ones, and with other labels sums.  Returns
 * how many. */
static size_t tally_choose(const pc_measure_plan *plan, const pc_replica_tally *tally,
                           const uint8_t *binned, int labels, uint8_t *chosen) {
  size_t count = 0;
  for (size_t e = 0; e < plan->entry_count; e++) {
    const int sums = labels && pc_tally_sums_suit(plan, e) &&
                     tally_sums_of(tally, plan->entries[e].slot) != NULL;
    chosen[e] = (uint8_t)(binned[e] || sums);
    count += chosen[e];
  }
  return count;
}

/* entries: 2 plan->entry_count flags; the first half marks those in bins, the second half is
 * scratch. */
static pcal_status tally_draw_kinds(const pcal_env *env, pc_replica_views *views,
                                    uint8_t *entries, pc_replica_tally *out, pcal_error *err) {
  uint8_t *chosen = entries + views->plan->entry_count;
  static const pc_replica_kind drawn[] = {PC_REPLICA_AS_IS, PC_REPLICA_WEIGHTS,
                                          PC_REPLICA_WITHOUT, PC_REPLICA_LABELS};
  for (int k = 0; k < PC_TALLY_KINDS; k++) {
    tally_collector to = {out, tally_first(out, (pc_tally_kind)k)};
    const pc_replica_request request = {.plan = views->plan,
                                        .entries = chosen,
                                        .rows = views->rows,
                                        .kind = drawn[k],
                                        .count = out->counts[k],
                                        .views = views,
                                        .collect = tally_collect,
                                        .collect_sums = tally_collect_sums,
                                        .user = &to};
    const size_t count =
        tally_choose(views->plan, out, entries, drawn[k] == PC_REPLICA_LABELS, chosen);
    if (out->counts[k] > 0 && count > 0)
      PC_TRY(pc_replicas_measure(env, &request, NULL, err));
  }
  for (size_t s = 0; s < out->slot_count; s++) {
    pc_tally_slot *slot = &out->slots[s];
    PC_TRY(pc_replica_views_add_data(views, slot->slot, err));
    memcpy(slot->tilt, views->base[slot->slot].tilt, slot->ranges * sizeof *slot->tilt);
  }
  return PCAL_OK;
}

/* Rows whose sums would not be exact on the lattice were not in the first round. */
static pcal_status tally_check_rows(const pc_measure_plan *plan, const pc_kept_rows *rows,
                                    const pc_replica_tally *tally, pcal_error *err) {
  double weight = 0.0;
  for (size_t i = 0; i < rows->count; i++)
    weight += rows->copies[i];
  if (!(weight < ldexp(1.0, 52 - (int)tally->bits)))
    return pc_fail(err, PCAL_DATA,
                   "these rows have more weight than those of the first round; store the table "
                   "before measuring it, so that every round reads the same rows");
  for (size_t s = 0; s < tally->slot_count; s++)
    if (!pc_sorted_view_applies(pc_tally_slot_need(plan, tally->slots[s].slot), &plan->layout,
                                rows))
      return pc_fail(err, PCAL_USAGE,
                     "one worker has too many rows for their replicas; give each worker fewer "
                     "rows");
  return PCAL_OK;
}

/* Draws with the slots of the tally in place of those of the plan. */
static pcal_status tally_draw_rows(const pcal_env *env, const pc_measure_plan *plan,
                                   const pc_kept_rows *rows, const pc_score_cell_lists *cells,
                                   uint8_t *entries, pc_replica_tally *out, pcal_error *err) {
  pc_replica_views views;
  pc_measure_plan drawn;
  pcal_status status = pc_tally_plan_new(env, plan, &drawn, err);
  if (status == PCAL_OK)
    status = pc_replica_views_new(env, &drawn, rows, &views, err);
  if (status == PCAL_OK) {
    views.bits = out->bits;
    views.cells = cells;
    status = tally_draw_kinds(env, &views, entries, out, err);
    pc_replica_views_free(&views);
  }
  pc_tally_plan_free(env, &drawn);
  return status;
}

/* Moments, and the weight of the data.  Rows without classes have no hits and no score. */
static void tally_take_rows(const pc_measure_plan *plan, const pc_kept_rows *rows,
                            int over_classes, pc_replica_tally *out) {
  double weight = 0.0;
  for (size_t i = 0; i < rows->count; i++)
    weight += rows->copies[i];
  out->totals[0] = weight;
  out->moments = plan->layout.form == PC_FORM_CLASSES
                     ? pc_row_moments_of(rows, out->bits, over_classes)
                     : (pc_row_moments){.total = weight, .copies = weight};
}

pcal_status pc_replica_tally_draw(const pcal_env *env, const pc_measure_plan *plan,
                                  const pc_kept_rows *rows, const pc_score_cell_lists *cells,
                                  pc_replica_tally *out, pcal_error *err) {
  int classes = 0;
  PC_TRY(tally_check_rows(plan, rows, out, err));
  uint8_t *entries = pc_alloc(env, plan->entry_count, 2);
  if (entries == NULL)
    return pc_fail_memory(err, "tallying replicas");
  for (size_t e = 0; e < plan->entry_count; e++) {
    entries[e] = (uint8_t)(tally_suits_entry(plan, e) &&
                           tally_slot(out, pc_tally_slot_of(plan, e)) != NULL);
    classes |= entries[e] && tally_over_classes(plan, plan->entries[e].slot);
  }
  const pcal_status status = tally_draw_rows(env, plan, rows, cells, entries, out, err);
  tally_take_rows(plan, rows, classes, out);
  for (size_t e = 0; e < plan->entry_count; e++)
    if (entries[e])
      out->gaps[e] = pc_gap_moments_of(plan, e, rows, out->bits);
  pc_free(env, entries);
  return status;
}

/* ---- values ---- */

static pc_tally_kind tally_kind_of(pc_replica_kind kind) {
  return kind == PC_REPLICA_WEIGHTS   ? PC_TALLY_WEIGHTS
         : kind == PC_REPLICA_WITHOUT ? PC_TALLY_BLOCKS
         : kind == PC_REPLICA_LABELS  ? PC_TALLY_LABELS
                                      : PC_TALLY_DATA;
}

static double tally_tilt_mean(const pc_tally_slot *slot) {
  double all = 0.0, rows = 0.0;
  for (size_t r = 0; r < slot->ranges; r++) {
    all += slot->tilt[r];
    rows += slot->sums[PC_REPLICA_SUM_WEIGHT * slot->ranges + r]; /* of the data */
  }
  return all > 0.0 ? all / rows : 1.0;
}

/* One entry of a request, and where the sums of its replicas are. */
typedef struct tally_job {
  const pcal_env *env;
  const pc_replica_request *request;
  const pc_replica_tally *tally;
  const pc_tally_slot *slot;
  size_t entry;
  pc_evidence evidence; /* of bins */
  pc_tally_curve curve; /* of the common cells of a curve, in place of it */
} tally_job;

static int tally_job_is_curve(const tally_job *job) {
  return job->curve.env != NULL;
}

/* The evidence of a replica, at a gap point or (NULL) as it is. */
static const pc_evidence *tally_evidence(tally_job *job, const double *sums, double total,
                                         const pc_gap_point *point) {
  const pc_replica_pair pair = {sums,  job->slot->sums,       job->slot->tilt,
                                total, job->tally->totals[0], tally_tilt_mean(job->slot)};
  if (tally_job_is_curve(job)) {
    if (point == NULL)
      pc_tally_curve_select(&job->curve, total);
    else
      pc_tally_curve_select_point(&job->curve, total, point);
    return &job->curve.batch.evidence;
  }
  pc_bin *bins = job->evidence.grid.bins;
  job->evidence.total = point == NULL ? total : pair.base_total;
  if (point == NULL)
    pc_replica_bins(sums, job->slot->ranges, job->slot->kinds == 3, bins);
  else
    pc_replica_bins_at_point(&pair, job->slot->ranges, point, bins);
  return &job->evidence;
}

static pcal_status tally_points(tally_job *job, const double *sums, double total,
                                double *values, size_t replica, pcal_error *err) {
  const pc_replica_request *request = job->request;
  for (size_t p = 0; p < request->point_count; p++) {
    const size_t i = job->entry * request->point_count + p;
    if (isnan(request->points[i].noise))
      continue;
    PC_TRY(pc_replica_value(job->env, &request->plan->entries[job->entry],
                            tally_evidence(job, sums, total, &request->points[i]),
                            &values[i * request->count + replica], err));
  }
  return PCAL_OK;
}

static pcal_status tally_replica(tally_job *job, double *values, size_t replica,
                                 pcal_error *err) {
  const pc_replica_request *request = job->request;
  const size_t at = tally_first(job->tally, tally_kind_of(request->kind)) + replica;
  const double *sums = tally_sums(job->slot, at), total = job->tally->totals[at];
  if (!(total > 0.0))
    return PCAL_OK;
  if (tally_job_is_curve(job))
    pc_tally_curve_take(&job->curve, sums);
  if (request->points != NULL)
    return tally_points(job, sums, total, values, replica, err);
  return pc_replica_evaluate(
      job->env, &request->plan->entries[job->entry], tally_evidence(job, sums, total, NULL),
      request->count, &values[job->entry * PC_REPLICA_VALUES * request->count + replica], err);
}

static pcal_status tally_open(tally_job *job, pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  if (tally_has_cells(plan, job->slot->slot))
    return pc_tally_curve_new(job->env, plan, job->slot, job->tally->totals[0],
                              tally_tilt_mean(job->slot), &job->curve, err);
  job->evidence = (pc_evidence){.machine = PC_GRID, .rough = 1};
  job->evidence.grid.part_count = pc_tally_slot_parts(plan, job->slot->slot);
  job->evidence.grid.bin_count = job->slot->ranges / job->evidence.grid.part_count;
  job->evidence.grid.bins = pc_alloc(job->env, job->slot->ranges, sizeof(pc_bin));
  return job->evidence.grid.bins == NULL ? pc_fail_memory(err, "evaluating replicas") : PCAL_OK;
}

static pcal_status tally_sums_entry(const pc_replica_request *request,
                                    const pc_replica_tally *tally, size_t entry, double *values,
                                    pcal_error *err) {
  const pc_tally_sums *sums = tally_sums_of(tally, request->plan->entries[entry].slot);
  if (sums == NULL || request->kind != PC_REPLICA_LABELS ||
      request->count > tally->counts[PC_TALLY_LABELS])
    return pc_fail(err, PCAL_USAGE, "these replicas were not tallied");
  return pc_tally_sums_measure(sums, tally->totals + tally_first(tally, PC_TALLY_LABELS),
                               request, entry, values, err);
}

/* The replicas of one entry, some for each task; every worker has a job of its own. */
typedef struct tally_entry_work {
  tally_job form; /* of all workers, not opened */
  tally_job *jobs;
  double *values;
} tally_entry_work;

static pcal_status tally_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const tally_entry_work *work = user;
  tally_job *job = &work->jobs[worker];
  const size_t begin = index * TALLY_TOGETHER, left = work->form.request->count - begin;
  if (job->env == NULL) {
    *job = work->form;
    PC_TRY(tally_open(job, err));
  }
  for (size_t i = 0; i < (left < TALLY_TOGETHER ? left : TALLY_TOGETHER); i++)
    PC_TRY(tally_replica(job, work->values, begin + i, err));
  return PCAL_OK;
}

static pcal_status tally_entry(const pcal_env *env, tally_entry_work *work, pcal_error *err) {
  const pc_replica_request *request = work->form.request;
  const size_t workers = pc_worker_count(env);
  const size_t times = request->points == NULL ? 1 : request->point_count;
  const double cost =
      TALLY_RANGE_COST * (double)work->form.slot->ranges * (double)(request->count * times);
  work->jobs = pc_alloc(work->form.env, workers, sizeof *work->jobs);
  if (work->jobs == NULL)
    return pc_fail_memory(err, "evaluating replicas");
  const pcal_status status = pc_run(env, (request->count + TALLY_TOGETHER - 1) / TALLY_TOGETHER,
                                    cost, tally_task, work, err);
  for (size_t w = 0; w < workers; w++) {
    pc_free(work->form.env, work->jobs[w].evidence.grid.bins);
    pc_tally_curve_free(&work->jobs[w].curve);
  }
  pc_free(work->form.env, work->jobs);
  return status;
}

pcal_status pc_replica_tally_measure(const pcal_env *env, const pc_replica_tally *tally,
                                     const pc_replica_request *request, double *values,
                                     pcal_error *err) {
  const pc_measure_plan *plan = request->plan;
  for (size_t e = 0; e < plan->entry_count; e++) {
    if (!request->entries[e])
      continue;
    if (plan->slots[plan->entries[e].slot].need.machine == PC_SUM) {
      PC_TRY(tally_sums_entry(request, tally, e, values, err));
      continue;
    }
    const pc_tally_slot *slot = tally_slot(tally, pc_tally_slot_of(plan, e));
    if (slot == NULL || request->count > tally->counts[tally_kind_of(request->kind)])
      return pc_fail(err, PCAL_USAGE, "these replicas were not tallied");
    tally_entry_work work = {.form = {.env = &request->views->env,
                                      .request = request,
                                      .tally = tally,
                                      .slot = slot,
                                      .entry = e},
                             .values = values};
    PC_TRY(tally_entry(env, &work, err));
    PC_TRY(pc_check_interrupt(env, err));
  }
  return PCAL_OK;
}

#include "measure/replicas/replica_cells.h"

#include <math.h>
#include <string.h>

#include "measure/replicas/tally_slots.h"

/* The least bits of a lattice.  With 2^34 rows a score moves by up to 2^-19, which is an eighth
 * of what chance moves the share of hits in one of 15 bins. */
#define CELLS_LEAST_BITS 18
/* With fewer bits, values of grids on the lattice differ from exact ones by much of what chance
 * moves them: the difference counts as hidden. */
#define CELLS_FINE_BITS 20
/* Values that differ by less are the same. */
#define CELLS_SLACK 0x1p-40

void pc_replica_cells_free(pc_replica_cells *cells) {
  if (cells->env == NULL)
    return;
  pc_score_cells_free(cells->env, &cells->lists);
  pc_replica_tally_free(&cells->tally);
  *cells = (pc_replica_cells){0};
}

int pc_replica_cells_apply(const pc_replica_views *views, double total) {
  return views->bits > 0 && total >= PC_CELLS_LEAST && !views->plan->intervals.paired;
}

/* The cells of one slot, if an entry needs them. */
static pcal_status cells_of_slot(const pcal_env *env, pc_replica_views *views, size_t slot,
                                 pc_replica_cells *out, pcal_error *err) {
  const pc_measure_plan *plan = views->plan;
  int wanted = 0;
  for (size_t e = 0; e < plan->entry_count; e++)
    wanted |= plan->entries[e].slot == slot && pc_score_cells_suit(plan, e) &&
              (pc_measure_plan_resampled(plan, e) || pc_measure_plan_relabelled(plan, e));
  if (!wanted || !pc_sorted_view_applies(&plan->slots[slot].need, &plan->layout, views->rows))
    return PCAL_OK;
  PC_TRY(pc_replica_views_sort(views, slot, err));
  return pc_score_cells_add_view(env, &out->lists, slot, views->sorted[slot], views->rows, err);
}

/* The bins of one entry, if it has bins of its own. */
static pcal_status cells_of_entry(const pcal_env *env, pc_replica_views *views, size_t entry,
                                  pc_replica_cells *out, pcal_error *err) {
  const pc_measure_plan *plan = views->plan;
  const size_t slot = plan->entries[entry].slot;
  const pc_curve_binning *binning = &plan->entries[entry].config.binning;
  double total = 0.0;
  if (!pc_tally_own_bins(plan, entry) ||
      !pc_replica_tally_alone(plan, pc_tally_slot_of(plan, entry)) ||
      !pc_sorted_view_applies(&plan->slots[slot].need, &plan->layout, views->rows))
    return PCAL_OK;
  for (size_t i = 0; i < views->rows->count; i++)
    total += pc_kept_weight(views->rows, i);
  const size_t bins = pc_curve_binning_count(binning, total);
  if (bins > pc_tally_slot_ranges(plan, pc_tally_slot_of(plan, entry)))
    return PCAL_OK;
  PC_TRY(pc_replica_views_sort(views, slot, err));
  return pc_score_cells_add_view_bins(env, &out->lists, pc_tally_slot_of(plan, entry), binning,
                                      bins, views->sorted[slot], views->rows, err);
}

pcal_status pc_replica_cells_new(const pcal_env *env, const pc_measure_plan *plan,
                                 const pc_kept_rows *rows, pc_replica_cells *out,
                                 pcal_error *err) {
  pc_replica_views views;
  *out = (pc_replica_cells){.env = env};
  PC_TRY(pc_replica_views_new(env, plan, rows, &views, err));
  const unsigned bits = views.bits;
  pcal_status status = PCAL_OK;
  for (size_t s = 0; status == PCAL_OK && s < plan->slot_count; s++)
    status = cells_of_slot(env, &views, s, out, err);
  for (size_t e = 0; status == PCAL_OK && e < plan->entry_count; e++)
    status = cells_of_entry(env, &views, e, out, err);
  pc_replica_views_free(&views);
  PC_TRY(status);
  if (out->lists.count == 0)
    return PCAL_OK;
  PC_TRY(pc_replica_tally_new(env, plan, bits, &out->lists, 0u, &out->tally, err));
  return pc_replica_tally_draw(env, plan, rows, &out->lists, &out->tally, err);
}

const pc_replica_tally *pc_replica_cells_tally(const pc_replica_views *views, size_t entry) {
  const pc_replica_cells *coarse = views->on_rows ? NULL : views->coarse;
  const pc_replica_tally *tally =
      views->tally == NULL && coarse != NULL ? &coarse->tally : views->tally;
  return tally != NULL && pc_replica_tally_has_curve(tally, views->plan, entry) ? tally : NULL;
}

const char *pc_replica_cells_lack(const pc_replica_views *views, size_t entry) {
  const char *why =
      views->rows == NULL ? pc_replica_tally_lacks(views->tally, views->plan, entry) : NULL;
  if (why == NULL && views->bits < CELLS_LEAST_BITS &&
      pc_replica_cells_lattice(views, entry) > 0.0)
    why = "replicas of 2^34 rows or more are not exact enough";
  return why;
}

/* Entries on cells from their tally, all others from rows. */
static pcal_status cells_measure(const pcal_env *env, const pc_replica_request *request,
                                 double *values, pcal_error *err) {
  const pc_replica_views *views = request->views;
  const size_t n = request->plan->entry_count;
  if (views->coarse == NULL || views->on_rows)
    return pc_replicas_measure(env, request, values, err);
  uint8_t *chosen = pc_alloc(env, n, 2);
  if (chosen == NULL)
    return pc_fail_memory(err, "drawing replicas");
  pc_replica_request fine = *request, coarse = *request;
  size_t fines = 0;
  for (size_t e = 0; e < n; e++) {
    const int on_cells = pc_replica_cells_tally(views, e) != NULL;
    chosen[e] = request->entries[e] && !on_cells;
    chosen[n + e] = request->entries[e] && on_cells;
    fines += chosen[e];
  }
  fine.entries = chosen;
  coarse.entries = chosen + n;
  pc_replica_values_clear(request, values);
  pcal_status status = fines > 0 ? pc_replicas_measure(env, &fine, values, err) : PCAL_OK;
  if (status == PCAL_OK)
    status = pc_replica_tally_measure(env, &views->coarse->tally, &coarse, values, err);
  pc_free(env, chosen);
  return status;
}

/* The lowest value of a series: that of the metric's range, none for its parts. */
static double cells_lowest(const pc_measure_plan *plan, size_t series) {
  return series % PC_REPLICA_VALUES == 0
             ? plan->entries[series / PC_REPLICA_VALUES].config.range.low
             : -INFINITY;
}

pcal_status pc_replica_cells_measure(const pcal_env *env, const pc_replica_request *request,
                                     double *values, pcal_error *err) {
  const pc_replica_views *views = request->views;
  const size_t count = request->count, series = request->plan->entry_count * PC_REPLICA_VALUES;
  const double *hidden = request->points == NULL && !views->on_rows ? views->hidden : NULL;
  PC_TRY(cells_measure(env, request, values, err));
  for (size_t i = 0; hidden != NULL && i < series; i++) {
    const double low = cells_lowest(request->plan, i);
    for (size_t r = 0; hidden[i] != 0.0 && r < count; r++)
      if (!isnan(values[i * count + r]))
        values[i * count + r] = fmax(values[i * count + r] + hidden[i], low);
  }
  return PCAL_OK;
}

double pc_replica_cells_lattice(const pc_replica_views *views, size_t entry) {
  return pc_replica_cells_tally(views, entry) != NULL
             ? pc_row_lattice(views->bits)
             : pc_replica_views_lattice(views, views->plan->entries[entry].slot);
}

double pc_replica_cells_slack(const pc_replica_views *views, size_t entry) {
  if (!(pc_replica_cells_lattice(views, entry) > 0.0))
    return 0.0;
  return views->bits < CELLS_FINE_BITS ? CELLS_SLACK : ldexp(4.0, -(int)views->bits);
}

/* True if replicas of an entry are on cells, or on a coarse lattice. */
static int cells_hide(const pc_replica_views *views, size_t entry) {
  const pc_measure_plan *plan = views->plan;
  return pc_replica_cells_tally(views, entry) != NULL ||
         (views->bits > 0 && views->bits < CELLS_FINE_BITS &&
          plan->slots[plan->entries[entry].slot].need.machine == PC_GRID &&
          (pc_measure_plan_resampled(plan, entry) || pc_measure_plan_relabelled(plan, entry)) &&
          pc_replica_cells_lack(views, entry) == NULL);
}

/* What cells hide of one series; 0 if it has no value. */
static double cells_hidden(double value, double on_cells) {
  const double hidden = value - on_cells;
  return isfinite(hidden) ? hidden : 0.0;
}

static void cells_hidden_of(const pc_metric_result *outcome, const double *on_cells,
                            double *hidden) {
  hidden[0] = cells_hidden(outcome->value, on_cells[0]);
  if (outcome->inner_power != 0)
    hidden[PC_REPLICA_INNER] = cells_hidden(outcome->inner, on_cells[PC_REPLICA_INNER]);
  for (size_t p = 0; p < outcome->part_count; p++)
    hidden[PC_REPLICA_PARTS + p] =
        cells_hidden(outcome->parts[p].value, on_cells[PC_REPLICA_PARTS + p]);
}

pcal_status pc_replica_cells_hidden(const pcal_env *env, pc_replica_views *views,
                                    const pc_result_record *records, double *hidden,
                                    pcal_error *err) {
  const size_t n = views->plan->entry_count;
  int any = 0;
  uint8_t *entries = pc_alloc(env, n, 1);
  double *values = pc_alloc_raw(env, n * PC_REPLICA_VALUES, sizeof *values);
  pcal_status status =
      entries == NULL || values == NULL ? pc_fail_memory(err, "drawing replicas") : PCAL_OK;
  memset(hidden, 0, n * PC_REPLICA_VALUES * sizeof *hidden);
  for (size_t e = 0; status == PCAL_OK && e < n; e++) {
    entries[e] = cells_hide(views, e) && !records[e].outcome.undefined;
    any |= entries[e];
  }
  const pc_replica_request request = {.plan = views->plan,
                                      .entries = entries,
                                      .rows = views->rows,
                                      .kind = PC_REPLICA_AS_IS,
                                      .count = 1,
                                      .views = views};
  if (status == PCAL_OK && any) {
    pc_replica_values_clear(&request, values);
    status = cells_measure(env, &request, values, err);
  }
  for (size_t e = 0; status == PCAL_OK && e < n; e++)
    if (entries[e])
      cells_hidden_of(&records[e].outcome, values + e * PC_REPLICA_VALUES,
                      hidden + e * PC_REPLICA_VALUES);
  pc_free(env, entries);
  pc_free(env, values);
  return status;
}

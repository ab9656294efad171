#include "measure/measure_plan.h"

#include <string.h>

#include "machines/grid_shared.h"
#include "machines/machine_grid_sparse.h"

static int plan_pairs(pc_machine_kind machine) {
  return machine == PC_PAIR || machine == PC_BLOCK;
}

static int plan_takes_rows(pc_machine_kind machine) {
  return machine == PC_SUM || machine == PC_ROWS || plan_pairs(machine);
}

int pc_need_all_probs(const pc_need *need) {
  const int top = need->view.kind == PC_VIEW_RANK && need->view.index == 1;
  return plan_pairs(need->machine) || need->rows.all_probs ||
         (!plan_takes_rows(need->machine) && !top);
}

static pcal_status plan_view(const pcal_env *env, pc_measure_plan *plan, const pc_view *view,
                             size_t *index, pcal_error *err) {
  for (*index = 0; *index < plan->view_count; (*index)++)
    if (memcmp(&plan->views[*index], view, sizeof *view) == 0)
      return PCAL_OK;
  void *block = plan->views;
  const pcal_status status = pc_reserve(env, &block, &plan->view_capacity, plan->view_count + 1,
                                        sizeof *plan->views, err);
  plan->views = block;
  if (status == PCAL_OK)
    plan->views[plan->view_count++] = *view;
  return status;
}

/* Grids that differ only in their moments share a slot with all of these moments.  Grids with
 * logarithms are kept apart: their replicas are drawn in another way, and the interval of a
 * metric must not depend on the other metrics of the plan. */
static int plan_shares(pc_plan_slot *slot, const pc_need *need) {
  pc_need both;
  if ((slot->need.grid.moments ^ need->grid.moments) & PC_MOMENT_LOG)
    return 0;
  memcpy(&both, need, sizeof both);
  both.grid.moments = slot->need.grid.moments;
  if (memcmp(&slot->need, &both, sizeof both) != 0)
    return 0;
  slot->need.grid.moments |= need->grid.moments;
  return 1;
}

/* The slot that has what a need asks for, if need be with more moments; slot_count if none. */
static size_t plan_find_slot(const pc_measure_plan *plan, const pc_need *need) {
  size_t slot = 0;
  while (slot < plan->slot_count && !plan_shares(&plan->slots[slot], need))
    slot++;
  return slot;
}

static pcal_status plan_slot(const pcal_env *env, pc_measure_plan *plan, const pc_need *need,
                             size_t *index, pcal_error *err) {
  *index = plan_find_slot(plan, need);
  if (*index < plan->slot_count)
    return PCAL_OK;
  size_t view = PC_NO_VIEW;
  if (!plan_takes_rows(need->machine))
    PC_TRY(plan_view(env, plan, &need->view, &view, err));
  void *block = plan->slots;
  const pcal_status status = pc_reserve(env, &block, &plan->slot_capacity, plan->slot_count + 1,
                                        sizeof *plan->slots, err);
  plan->slots = block;
  if (status != PCAL_OK)
    return status;
  pc_plan_slot *slot = &plan->slots[plan->slot_count++];
  memset(slot, 0, sizeof *slot);
  memcpy(&slot->need, need, sizeof *need);
  slot->machine = pc_machine_of(need->machine);
  slot->view = view;
  slot->curve = slot->shared_grid = PC_NO_SLOT;
  plan->needs_row_terms |=
      plan_takes_rows(need->machine) ||
      (plan->layout.classes > 1 && (need->view.kind != PC_VIEW_CLASS || need->view.index != 1));
  plan->needs_rows |= plan_takes_rows(need->machine);
  plan->needs_probs |= pc_need_all_probs(need);
  plan->needs_log |= need->machine == PC_SUM && need->sum.needs_log;
  return PCAL_OK;
}

static int plan_has(const pc_measure_plan *plan, const pc_plan_entry *entry) {
  for (size_t i = 0; i < plan->entry_count; i++)
    if (plan->entries[i].metric == entry->metric &&
        pc_options_equal(&plan->entries[i].options, &entry->options))
      return 1;
  return 0;
}

static pcal_status plan_configure(const pc_measure_plan *plan, const char *spec,
                                  pc_plan_entry *entry, pcal_error *err) {
  memset(entry, 0, sizeof *entry);
  PC_TRY(pc_metric_parse_for(plan->layout.form, spec, &entry->metric, &entry->options, err));
  if (plan->layout.kind == PCAL_CONFIDENCE && (entry->metric->traits & PC_NEEDS_CLASSES))
    return pc_fail(
        err, PCAL_USAGE,
        "%s needs the probabilities of all classes; give them as {probs} or {logits} "
        "instead of {confidence}",
        entry->metric->row.name);
  entry->config.notion = entry->metric->row.notion;
  entry->config.bound = entry->metric->row.bound;
  entry->config.traits = entry->metric->traits;
  entry->config.range = pc_metric_range(entry->metric);
  return entry->metric->configure(&entry->options, &plan->layout, &entry->config, err);
}

/* Restrictions of one metric that hold for the whole measure. */
static void plan_refuse(pc_measure_plan *plan, const pc_metric *metric, unsigned traits) {
  const char *name = metric->row.name;
  if (traits & PC_WHOLE_WEIGHTS) {
    plan->whole_weights = name;
    plan->instead = metric->for_any_weights;
  }
  if (traits & PC_NO_WEIGHTS)
    plan->no_weights = name;
  if (traits & PC_BY_INDEX)
    plan->by_index = name;
}

static pcal_status plan_add(const pcal_env *env, pc_measure_plan *plan, const char *spec,
                            int optional, pcal_error *err) {
  pc_plan_entry entry;
  const pcal_status fits = plan_configure(plan, spec, &entry, optional ? NULL : err);
  if (fits != PCAL_OK)
    return optional ? PCAL_OK : fits;
  if (plan_has(plan, &entry))
    return PCAL_OK;
  entry.config.need.sum.products =
      entry.config.need.machine == PC_SUM && plan->intervals.level > 0;
  PC_TRY(plan_slot(env, plan, &entry.config.need, &entry.slot, err));
  void *block = plan->entries;
  const pcal_status status = pc_reserve(env, &block, &plan->entry_capacity,
                                        plan->entry_count + 1, sizeof *plan->entries, err);
  plan->entries = block;
  if (status != PCAL_OK)
    return status;
  plan->entries[plan->entry_count++] = entry;
  plan_refuse(plan, entry.metric, entry.config.traits);
  return PCAL_OK;
}

static pcal_status plan_spec(const pcal_env *env, pc_measure_plan *plan, const char *spec,
                             pcal_error *err) {
  const pcal_registry_row *group = pc_metric_group_find(spec);
  if (group == NULL)
    return plan_add(env, plan, spec, 0, err);
  for (const char *member = group->formula; *member != '\0';) {
    char one[PC_SPEC_MAX];
    const size_t length = strcspn(member, " ");
    memcpy(one, member, length);
    one[length] = '\0';
    PC_TRY(plan_add(env, plan, one, 1, err));
    member += length + strspn(member + length, " ");
  }
  return PCAL_OK;
}

/* The slot for the verdict: the natural view in 15 bins; for samples and quantiles, the rank of
 * each target among them. */
static pcal_status plan_reliability(const pcal_env *env, pc_measure_plan *plan,
                                    pcal_error *err) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = pc_layout_is_binary(&plan->layout) ? PC_VIEW_CLASS : PC_VIEW_RANK;
  need.view.index = 1;
  if (plan->layout.form != PC_FORM_CLASSES)
    need.view = pc_view_pit(&plan->layout);
  if (plan->layout.form == PC_FORM_SAMPLES || plan->layout.form == PC_FORM_QUANTILES) {
    need.machine = PC_CURVE; /* every rank counts, see metrics/target_ranks.h */
    return plan_slot(env, plan, &need, &plan->reliability_slot, err);
  }
  need.grid.rule = PC_EDGES_RIGHT;
  need.grid.bins = PC_RELIABILITY_BINS;
  need.grid.moments = PC_MOMENT_SQUARE;
  return plan_slot(env, plan, &need, &plan->reliability_slot, err);
}

static pc_machine_kind plan_machine(const pc_measure_plan *plan, size_t entry) {
  return plan->slots[plan->entries[entry].slot].need.machine;
}

int pc_measure_plan_pairs_rows(const pc_measure_plan *plan, size_t entry) {
  return plan_machine(plan, entry) == PC_PAIR;
}

int pc_measure_plan_resampled(const pc_measure_plan *plan, size_t entry) {
  const pc_machine_kind machine = plan_machine(plan, entry);
  const int own = plan->entries[entry].config.has_se;
  const int has_formula = machine == PC_SUM || machine == PC_BLOCK || own;
  return plan->intervals.level > 0 &&
         !(plan->entries[entry].config.traits & PC_OF_THE_SAMPLE) &&
         (!has_formula || ((machine == PC_SUM || own) &&
                           (plan->intervals.by_cluster || plan->intervals.paired ||
                            !pc_interval_request_allows_formula(&plan->intervals))));
}

const char *pc_measure_plan_no_null(const pc_measure_plan *plan, size_t entry) {
  if (plan->layout.form == PC_FORM_QUANTILES)
    return "quantiles do not determine the distribution between and beyond them, so outcomes "
           "cannot be drawn from it";
  if (plan->layout.form == PC_FORM_DISTANCES)
    return "targets of several numbers are not drawn from the samples";
  if (plan->entries[entry].config.traits & PC_NO_OUTCOMES)
    return "it ignores the targets, so a calibrated model has the same value";
  if (plan->entries[entry].metric->bounds != NULL)
    return "its interval allows for chance in all groups together";
  if (plan->entries[entry].config.traits & PC_KNOWN_IF_CALIBRATED)
    return "a calibrated model has a known value, which the interval contains or not";
  if (plan->layout.form != PC_FORM_CLASSES && plan_machine(plan, entry) == PC_BLOCK)
    return "blocks of rows are not resampled; choose estimator=unbiased for a null";
  return NULL;
}

int pc_measure_plan_relabelled(const pc_measure_plan *plan, size_t entry) {
  return plan->intervals.null && pc_measure_plan_no_null(plan, entry) == NULL;
}

/* Adds a slot for stored rows if any entry is measured again: with all probabilities if an
 * entry needs more than the score of the natural view. */
static pcal_status plan_keep(const pcal_env *env, pc_measure_plan *plan, pcal_error *err) {
  const pc_view natural = plan->slots[plan->reliability_slot].need.view;
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_ROWS;
  need.rows.clusters = plan->intervals.by_cluster;
  int needed = 0;
  for (size_t e = 0; e < plan->entry_count; e++) {
    const pc_need *here = &plan->slots[plan->entries[e].slot].need;
    if (!pc_measure_plan_resampled(plan, e) && !pc_measure_plan_relabelled(plan, e))
      continue;
    needed = 1;
    need.rows.all_probs |= plan_takes_rows(here->machine) ||
                           plan->layout.form != PC_FORM_CLASSES ||
                           memcmp(&here->view, &natural, sizeof natural) != 0;
  }
  plan->rows_slot = PC_NO_SLOT;
  return needed ? plan_slot(env, plan, &need, &plan->rows_slot, err) : PCAL_OK;
}

/* Grids of very many classes keep only the cells that have rows. */
static void plan_sparse_grids(pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (pc_grid_is_sparse(&plan->slots[s].need, &plan->layout))
      plan->slots[s].machine = &pc_machine_grid_sparse;
}

pcal_status pc_measure_plan_new(const pcal_env *env, const pc_layout *layout,
                                const pc_interval_request *request, const char *const *specs,
                                size_t count, pc_measure_plan *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  out->layout = *layout;
  out->classes_slot = PC_NO_SLOT;
  if (request != NULL)
    out->intervals = *request;
  pcal_status status = PCAL_OK;
  if (count == 0)
    status = plan_spec(env, out, "default", err);
  for (size_t i = 0; i < count && status == PCAL_OK; i++)
    status = plan_spec(env, out, specs[i], err);
  if (status == PCAL_OK && out->entry_count == 0)
    status = pc_fail(err, PCAL_USAGE,
                     "none of the requested metrics fits %s; {list_metrics} shows "
                     "all metrics",
                     pcal_kind_name(layout->kind));
  if (status == PCAL_OK)
    status = plan_reliability(env, out, err);
  if (status == PCAL_OK)
    status = plan_keep(env, out, err);
  if (status == PCAL_OK)
    plan_sparse_grids(out);
  else
    pc_measure_plan_free(env, out);
  return status;
}

/* The bins of class 1 of two are those that one column has, with their squares: those of a metric
 * of class 1, else of every class, which devices can add up too. */
static pcal_status plan_judge_class_1(const pcal_env *env, pc_measure_plan *plan, pc_need *need,
                                      pcal_error *err) {
  need->view.kind = PC_VIEW_CLASS;
  need->view.index = 1;
  need->grid.moments = PC_MOMENT_SQUARE;
  plan->classes_slot = plan_find_slot(plan, need);
  if (plan->classes_slot < plan->slot_count)
    return PCAL_OK;
  need->view.kind = PC_VIEW_CLASSES;
  need->view.index = 0;
  return plan_slot(env, plan, need, &plan->classes_slot, err);
}

pcal_status pc_measure_plan_judge_classes(const pcal_env *env, pc_measure_plan *plan,
                                          pcal_error *err) {
  const pc_layout *layout = &plan->layout;
  pc_need need;
  if (layout->form != PC_FORM_CLASSES || layout->kind == PCAL_CONFIDENCE || layout->columns < 2)
    return PCAL_OK;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = PC_VIEW_CLASSES;
  need.grid.rule = PC_EDGES_RIGHT;
  need.grid.bins = PC_RELIABILITY_BINS;
  if (layout->classes == 2)
    PC_TRY(plan_judge_class_1(env, plan, &need, err));
  else {
    const size_t slot = plan_find_slot(plan, &need);
    plan->classes_slot = slot < plan->slot_count ? slot : PC_NO_SLOT;
  }
  plan_sparse_grids(plan);
  return PCAL_OK;
}

void pc_measure_plan_free(const pcal_env *env, pc_measure_plan *plan) {
  pc_free(env, plan->entries);
  pc_free(env, plan->slots);
  pc_free(env, plan->views);
  memset(plan, 0, sizeof *plan);
}

void pc_measure_plan_share_grids(pc_measure_plan *plan) {
  for (size_t first = 0; first < plan->slot_count; first++) {
    pc_need *need = &plan->slots[first].need;
    for (size_t s = 0; s < plan->slot_count; s++) {
      pc_plan_slot *slot = &plan->slots[s];
      if (slot->shared_grid != PC_NO_SLOT || slot->machine != plan->slots[first].machine ||
          slot->machine == &pc_machine_grid_sparse || !pc_grid_can_share(need, &slot->need))
        continue;
      slot->shared_grid = first;
      need->grid.moments |= slot->need.grid.moments;
      break; /* a grid fills at most one other */
    }
  }
}

/* True if rounds can refine the curve of an entry. */
static int plan_entry_can_round(const pc_measure_plan *plan, size_t entry) {
  const pc_metric *metric = plan->entries[entry].metric;
  return (metric->wants != NULL || metric->cells != NULL) &&
         !plan->entries[entry].config.whole_curve;
}

int pc_measure_plan_entry_can_refine(const pc_measure_plan *plan, size_t entry) {
  return plan_entry_can_round(plan, entry) && !plan->entries[entry].config.sorts_alone;
}

int pc_measure_plan_can_refine(const pc_measure_plan *plan, size_t slot) {
  if (slot == plan->reliability_slot) /* the verdict reads the whole curve */
    return 0;
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && !pc_measure_plan_entry_can_refine(plan, e))
      return 0;
  return 1;
}

int pc_measure_plan_entry_sums_logits(const pc_measure_plan *plan, size_t entry) {
  return plan->entries[entry].metric->next_points != NULL &&
         !plan->entries[entry].config.whole_curve;
}

int pc_measure_plan_can_round(const pc_measure_plan *plan, size_t slot) {
  if (slot == plan->reliability_slot)
    return 0;
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && !plan_entry_can_round(plan, e) &&
        !pc_measure_plan_entry_sums_logits(plan, e))
      return 0;
  return 1;
}

int pc_measure_plan_reads(const pc_measure_plan *plan, size_t slot) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot)
      return 1;
  return slot == plan->reliability_slot || slot == plan->classes_slot;
}

int pc_measure_plan_has_cells(const pc_measure_plan *plan, size_t slot) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && plan->entries[e].metric->cells != NULL)
      return 1;
  return 0;
}

int pc_measure_plan_wants_scores(const pc_measure_plan *plan, size_t slot) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && plan->entries[e].metric->wants != NULL)
      return 1;
  return 0;
}

int pc_measure_plan_equal(const pc_measure_plan *a, const pc_measure_plan *b) {
  if (!pc_layout_equal(&a->layout, &b->layout) || a->entry_count != b->entry_count ||
      !pc_interval_request_equal(&a->intervals, &b->intervals))
    return 0;
  for (size_t i = 0; i < a->entry_count; i++)
    if (a->entries[i].metric != b->entries[i].metric ||
        !pc_options_equal(&a->entries[i].options, &b->entries[i].options))
      return 0;
  return 1;
}

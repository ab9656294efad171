#include "measure/refine_ask.h"

#include <math.h>
#include <string.h>

#include "curve/point_masses.h"
#include "machines/machine_curve_buckets.h"
#include "measure/replicas/score_cells.h"

static void refine_ask_point(const pc_logit_point *point, pc_refine_need *wish) {
  for (size_t i = 0; i < wish->point_count; i++)
    if (pc_logit_points_equal(&wish->points[i], point))
      return;
  if (wish->point_count < PC_REFINE_POINTS_MAX)
    wish->points[wish->point_count++] = *point;
}

/* Adds the next points of entries of a slot; those for which there is no room wait for a later
 * pass.  The most urgent one of each entry comes first, so that all entries get on. */
static void refine_ask_points(const pc_measure_plan *plan, size_t slot,
                              const pc_curve_table *table, pc_refine_need *wish) {
  pc_logit_point points[PC_REFINE_POINTS_MAX];
  for (int urgent = 1; urgent >= 0; urgent--)
    for (size_t e = 0; e < plan->entry_count; e++) {
      const pc_plan_entry *entry = &plan->entries[e];
      if (entry->slot != slot || !pc_measure_plan_entry_sums_logits(plan, e))
        continue;
      const size_t count = entry->metric->next_points(&entry->options, table, points);
      for (size_t i = urgent ? 0 : 1; i < (urgent && count > 1 ? 1 : count); i++)
        refine_ask_point(&points[i], wish);
    }
}

int pc_refine_asks_apart(const pc_measure_plan *plan, size_t slot) {
  int cells = 0, others = plan->slots[slot].replica_cells;
  for (size_t e = 0; e < plan->entry_count; e++) {
    const pc_metric *metric = plan->entries[e].metric;
    cells |= plan->entries[e].slot == slot && metric->cells != NULL;
    others |= plan->entries[e].slot == slot && metric->cells == NULL;
  }
  return cells && others && plan->slots[slot].machine == &pc_machine_curve_rounds;
}

static int refine_asks(const pc_plan_entry *entry, size_t slot, pc_refine_whom whom) {
  return entry->slot == slot && (whom == PC_REFINE_ALL || (whom == PC_REFINE_WITH_CELLS) ==
                                                              (entry->metric->cells != NULL));
}

pcal_status pc_refine_ask(const pcal_measure *measure, size_t slot, pc_refine_whom whom,
                          const pc_curve_table *table, pc_refine_need *wish, pcal_error *err) {
  for (size_t e = 0; e < measure->plan.entry_count; e++) {
    const pc_plan_entry *entry = &measure->plan.entries[e];
    unsigned asked = 0;
    if (!refine_asks(entry, slot, whom))
      continue;
    if (entry->metric->wants != NULL)
      wish->wants += entry->metric->wants(&entry->options, table, wish->wanted);
    if (entry->metric->cells != NULL)
      PC_TRY(entry->metric->cells(&entry->options, table, &measure->env, &asked, err));
    wish->level = asked > wish->level ? asked : wish->level;
  }
  if (whom != PC_REFINE_WITH_CELLS)
    refine_ask_points(&measure->plan, slot, table, wish);
  if (whom != PC_REFINE_WITH_CELLS && measure->plan.slots[slot].replica_cells)
    wish->wants += pc_score_cells_wants(table, wish->wanted);
  if (wish->level == PC_EACH_SCORE)
    wish->wants += pc_point_masses_wants(table, PC_EACH_SCORE, wish->wanted);
  return PCAL_OK;
}

pcal_status pc_refine_compact(const pcal_measure *measure, size_t slot, pc_bucket_curve *curve,
                              pcal_error *err) {
  const pcal_env *env = &measure->env;
  pc_bucket_curve merged = *curve;
  const size_t bytes = curve->count * sizeof *curve->segments;
  pc_refine_need wish = {.wanted = pc_alloc(env, 2 * curve->count, 1)};
  merged.segments = pc_alloc_raw(env, bytes, 1);
  pcal_status status = wish.wanted == NULL || merged.segments == NULL
                           ? pc_fail_memory(err, "refining a curve")
                           : PCAL_OK;
  for (size_t i = 0; status == PCAL_OK && i < curve->count; i++) {
    merged.segments[i] = curve->segments[i];
    if (merged.segments[i].low == merged.segments[i].high) /* only open segments are wanted */
      merged.segments[i].high = nextafter(merged.segments[i].high, INFINITY);
  }
  pc_curve_table table = pc_bucket_curve_table(&merged);
  if (status == PCAL_OK)
    status = pc_refine_ask(measure, slot, PC_REFINE_ALL, &table, &wish, err);
  if (status == PCAL_OK) {
    memcpy(merged.segments, curve->segments, bytes);
    pc_bucket_curve_merge(&merged, wish.wanted);
    table = pc_bucket_curve_table(&merged);
    wish = (pc_refine_need){.wanted = wish.wanted + curve->count};
    status = pc_refine_ask(measure, slot, PC_REFINE_ALL, &table, &wish, err);
    wish.wanted -= curve->count;
  }
  if (status == PCAL_OK && wish.wants == 0 && wish.level == 0) {
    memcpy(curve->segments, merged.segments, merged.count * sizeof *curve->segments);
    curve->count = merged.count;
    status = pc_bucket_curve_shrink(curve, err);
  }
  pc_free(env, merged.segments);
  pc_free(env, wish.wanted);
  return status;
}

#include "measure/replicas/replica_views.h"

#include <string.h>

#include "base/budget.h"
#include "measure/replicas/row_moments.h"

pcal_status pc_replica_views_new(const pcal_env *env, const pc_measure_plan *plan,
                                 const pc_kept_rows *rows, pc_replica_views *out,
                                 pcal_error *err) {
  const size_t slots = plan->slot_count;
  *out = (pc_replica_views){
      .env = pc_env_for_use(env, PC_MEMORY_REPLICAS), .plan = plan, .rows = rows};
  out->bits = rows == NULL ? 0 : pc_kept_lattice_bits(rows);
  out->env.progress = NULL;
  out->env.interrupted = NULL;
  out->team = out->env;
  out->env.threads = 1;
  out->env.pool = NULL;
  out->sorted = pc_alloc(&out->env, slots, sizeof *out->sorted);
  out->owned = pc_alloc(&out->env, slots, sizeof *out->owned);
  out->ranges = pc_alloc(&out->env, slots, sizeof *out->ranges);
  out->base = pc_alloc(&out->env, slots, sizeof *out->base);
  if (out->sorted != NULL && out->owned != NULL && out->ranges != NULL && out->base != NULL)
    return PCAL_OK;
  pc_replica_views_free(out);
  return pc_fail_memory(err, "drawing replicas");
}

void pc_replica_views_free(pc_replica_views *views) {
  const size_t slots = views->plan == NULL ? 0 : views->plan->slot_count;
  for (size_t s = 0; views->owned != NULL && s < slots; s++)
    pc_sorted_view_free(&views->env, &views->owned[s]);
  for (size_t s = 0; views->ranges != NULL && s < slots; s++)
    pc_score_ranges_free(&views->env, &views->ranges[s]);
  for (size_t s = 0; views->base != NULL && s < slots; s++)
    pc_replica_base_free(&views->env, &views->base[s]);
  pc_free(&views->env, views->sorted);
  pc_free(&views->env, views->owned);
  pc_free(&views->env, views->ranges);
  pc_free(&views->env, views->base);
  pc_free(&views->env, views->columns);
  pc_free(&views->env, views->columns_known);
  memset(views, 0, sizeof *views);
}

static const pc_view *replica_views_view(const pc_replica_views *views, size_t slot) {
  return &views->plan->slots[slot].need.view;
}

static int replica_views_equal(const pc_view *a, const pc_view *b) {
  return a->kind == b->kind && a->index == b->index && a->by_label == b->by_label;
}

int pc_replica_views_by_row(const pc_replica_views *views, size_t slot) {
  return views->bits > 0 && pc_replica_class_bins_suit(&views->plan->slots[slot].need,
                                                       &views->plan->layout, views->rows);
}

pcal_status pc_replica_views_sort(pc_replica_views *views, size_t slot, pcal_error *err) {
  const pc_view *view = replica_views_view(views, slot);
  if (pc_replica_views_by_row(views, slot))
    return PCAL_OK;
  for (size_t s = 0; views->sorted[slot] == NULL && s < views->plan->slot_count; s++)
    if (views->sorted[s] != NULL && replica_views_equal(view, replica_views_view(views, s)))
      views->sorted[slot] = views->sorted[s];
  if (views->sorted[slot] != NULL)
    return PCAL_OK;
  PC_TRY(pc_sorted_view_new(&views->team, view, &views->plan->layout, views->rows,
                            &views->owned[slot], err));
  views->sorted[slot] = &views->owned[slot];
  return PCAL_OK;
}

double pc_replica_views_lattice(const pc_replica_views *views, size_t slot) {
  return views->plan->slots[slot].need.machine == PC_GRID ||
                 pc_score_cells_of(views->cells, slot) != NULL
             ? pc_row_lattice(views->bits)
             : 0.0;
}

pcal_status pc_replica_views_divide(pc_replica_views *views, size_t slot, pcal_error *err) {
  pc_score_ranges *ranges = &views->ranges[slot];
  PC_TRY(pc_replica_views_sort(views, slot, err));
  if (ranges->part != NULL || pc_score_ranges_are_by_row(ranges))
    return PCAL_OK;
  if (pc_replica_views_by_row(views, slot))
    return pc_score_ranges_by_row(&views->env, &views->plan->slots[slot].need,
                                  &views->plan->layout, views->rows,
                                  pc_replica_views_lattice(views, slot), ranges, err);
  PC_TRY(pc_score_ranges_new(&views->env, views->plan, slot, views->sorted[slot],
                             views->rows->labels, pc_score_cells_of(views->cells, slot), ranges,
                             err));
  ranges->lattice = pc_replica_views_lattice(views, slot);
  return PCAL_OK;
}

pcal_status pc_replica_views_index(pc_replica_views *views, size_t slot, pcal_error *err) {
  return views->ranges[slot].of_class != NULL || views->ranges[slot].unit
             ? PCAL_OK
             : pc_score_ranges_index(&views->env, &views->plan->slots[slot].need, views->rows,
                                     views->sorted[slot], &views->ranges[slot], err);
}

pcal_status pc_replica_views_add_data(pc_replica_views *views, size_t slot, pcal_error *err) {
  PC_TRY(pc_replica_views_divide(views, slot, err));
  return views->base[slot].sums != NULL
             ? PCAL_OK
             : pc_replica_base_new(&views->env, views->plan, slot, views->sorted[slot],
                                   &views->ranges[slot], views->rows, &views->base[slot], err);
}

pcal_status pc_replica_views_ready(pc_replica_views *views, size_t slot, int data, int index,
                                   pcal_error *err) {
  PC_TRY(pc_replica_views_divide(views, slot, err));
  if (data)
    PC_TRY(pc_replica_views_add_data(views, slot, err));
  return index ? pc_replica_views_index(views, slot, err) : PCAL_OK;
}

pcal_status pc_replica_views_evidence(const pc_replica_views *views, size_t slot,
                                      pc_replica_evidence *out, pcal_error *err) {
  PC_TRY(pc_replica_evidence_new(&views->env, &views->plan->slots[slot].need,
                                 views->sorted[slot], pc_score_cells_of(views->cells, slot),
                                 out, err));
  out->lattice = pc_replica_views_lattice(views, slot);
  return PCAL_OK;
}

void pc_replica_views_keep_columns(pc_replica_views *views, size_t batches) {
  if (views->columns != NULL || batches * PC_REPLICA_LANES > views->rows->count)
    return;
  views->columns = pc_alloc_raw(&views->env, batches * pc_replica_columns_size(views->rows),
                                sizeof *views->columns);
  views->columns_known = pc_alloc(&views->env, batches, sizeof *views->columns_known);
  views->column_batches = batches;
  if (views->columns != NULL && views->columns_known != NULL)
    return;
  pc_free(&views->env, views->columns);
  pc_free(&views->env, views->columns_known);
  views->columns = NULL;
  views->columns_known = NULL;
}

const double *pc_replica_views_columns(const pc_replica_views *views, int keep, size_t batch,
                                       const float *weights, double *room) {
  const int kept = keep && views->columns != NULL && batch < views->column_batches;
  double *out = kept ? views->columns + batch * pc_replica_columns_size(views->rows) : room;
  if (!kept || !views->columns_known[batch])
    pc_replica_columns_add(views->rows, pc_row_lattice(views->bits), weights, out);
  if (kept)
    views->columns_known[batch] = 1;
  return out;
}

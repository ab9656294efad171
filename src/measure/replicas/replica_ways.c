#include "measure/replicas/replica_ways.h"

#include "measure/replicas/replica_batch.h"
#include "measure/replicas/replica_label_sums.h"

#define WAYS_EXACT_ROWS 1024 /* fewer rows: curves with other labels are exact */

int pc_replica_wants_slot(const pc_replica_request *request, size_t slot) {
  for (size_t e = 0; e < request->plan->entry_count; e++)
    if (request->entries[e] && request->plan->entries[e].slot == slot)
      return 1;
  return 0;
}

/* True if a curve is added up in cells. */
static int ways_coarse(const pc_replica_request *request, size_t slot) {
  return request->views != NULL && pc_score_cells_of(request->views->cells, slot) != NULL;
}

/* True if a batch evaluates the replicas of a slot.  Values of curves from prefix sums are not
 * exact in the last digits; with other labels of few rows they may equal the observed value, so
 * that every bit matters. */
static int ways_batched(const pc_replica_request *request, size_t slot, int lanes) {
  if (request->kind != PC_REPLICA_LABELS)
    return 1;
  return lanes && (request->plan->slots[slot].need.machine == PC_GRID ||
                   ways_coarse(request, slot) || request->rows->count >= WAYS_EXACT_ROWS);
}

/* True if rows stand for several copies or have other weights than 1, so that
 * labels of a grid over every class are counted row by row. */
static int ways_counts(const pc_replica_request *request, const pc_need *need, int lanes) {
  return request->kind == PC_REPLICA_LABELS && pc_score_ranges_indexable(need) &&
         !(lanes && pc_kept_rows_unit(request->rows));
}

static pc_replica_way ways_of_sorted(const pc_replica_request *request, size_t slot,
                                     int lanes) {
  const uint8_t *entries = request->points == NULL ? NULL : request->entries;
  if (ways_counts(request, &request->plan->slots[slot].need, lanes))
    return PC_REPLICA_WAY_COUNT;
  return ways_batched(request, slot, lanes) &&
                 (ways_coarse(request, slot) ||
                  pc_replica_batch_applies(request->plan, slot, entries, request->rows))
             ? PC_REPLICA_WAY_IN_BATCH
             : PC_REPLICA_WAY_REFILL;
}

pc_replica_way pc_replica_choose_way(const pc_replica_request *request,
                                     const pc_replica_views *views, size_t slot, int lanes) {
  const pc_need *need = &request->plan->slots[slot].need;
  if (!pc_replica_wants_slot(request, slot))
    return PC_REPLICA_WAY_NONE;
  if (pc_replica_views_by_row(views, slot))
    return request->kind == PC_REPLICA_LABELS && !lanes ? PC_REPLICA_WAY_COUNT
                                                        : PC_REPLICA_WAY_IN_BATCH;
  if (pc_sorted_view_applies(need, &request->plan->layout, request->rows))
    return ways_of_sorted(request, slot, lanes);
  if (need->machine != PC_SUM)
    return PC_REPLICA_WAY_STATE;
  if (request->kind != PC_REPLICA_LABELS)
    return PC_REPLICA_WAY_ROW_SUMS;
  return lanes && pc_replica_label_sums_apply(request->rows) ? PC_REPLICA_WAY_LABEL_SUMS
                                                             : PC_REPLICA_WAY_STATE;
}

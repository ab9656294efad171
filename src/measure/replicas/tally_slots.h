/* The slots of a tally of replicas (replica_tally.h).
 *
 * Entries of a plan that read the same grid, or the same common cells of a curve
 * (score_cells.h), share the slot of the plan.  After those follows a slot for each entry,
 * which is used if its replicas are added up in bins of its own; so no interval depends on
 * which other metrics are measured. */
#ifndef PC_TALLY_SLOTS_H
#define PC_TALLY_SLOTS_H

#include "measure/measure_plan.h"

/* Bins of a fixed number of rows, whose number is not known before the rows: at most so many. */
#define PC_OWN_BINS_MAX 256

/* True if replicas of an entry are evaluated in the bins of the data: a curve whose metric
 * names its bins, and has no common cells.  Not for roots of unbiased squares: if bins do not
 * move, their jackknife is too narrow (over ten classes intervals of level 0.95 covered in
 * 86 to 95 % of simulated sets). */
int pc_tally_own_bins(const pc_measure_plan *plan, size_t entry);

/* Slots of the plan without that of stored rows, and slots of the tally. */
size_t pc_tally_shared_slots(const pc_measure_plan *plan);
size_t pc_tally_slot_count(const pc_measure_plan *plan);

/* The slot of an entry. */
size_t pc_tally_slot_of(const pc_measure_plan *plan, size_t entry);
/* The need behind a slot, and the number of its bins or cells in each part, at most. */
const pc_need *pc_tally_slot_need(const pc_measure_plan *plan, size_t slot);
size_t pc_tally_slot_parts(const pc_measure_plan *plan, size_t slot);
size_t pc_tally_slot_ranges(const pc_measure_plan *plan, size_t slot);
/* Scores up to it are in no bin; 0: all scores are. */
double pc_tally_slot_threshold(const pc_measure_plan *plan, size_t slot);

/* A plan with these slots, for drawing replicas; it borrows all else.  Freed with
 * pc_tally_plan_free, also on failure. */
PC_CHECKED pcal_status pc_tally_plan_new(const pcal_env *env, const pc_measure_plan *plan,
                                         pc_measure_plan *out, pcal_error *err);
void pc_tally_plan_free(const pcal_env *env, pc_measure_plan *plan);

#endif

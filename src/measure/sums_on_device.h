/* Rows on a device that are added up there (device/row_sums_body.h,
 * device/class_bins_body.h, device/class_moments_body.h): sums come back, and for curves the
 * top score of each row, or buckets of them if they stay on the device
 * (device/score_buckets_body.h). */
#ifndef PC_SUMS_ON_DEVICE_H
#define PC_SUMS_ON_DEVICE_H

#include "data/pass.h"
#include "device/device_scores.h"
#include "machines/grid_cells.h"
#include "measure/group_states.h"

/* True if a device has kernels for all slots of the plan, or for the slots of some metrics. */
int pc_measure_plan_fits_device(const pc_measure_plan *plan);
int pc_measure_plan_uses_device(const pc_measure_plan *plan);

/* True if a slot holds curves of every class that are only counted in the first pass. */
int pc_slot_has_class_counts(const pc_measure_plan *plan, const pc_plan_slot *slot);

/* True if a grid of every class has only sums that a device has kernels for. */
int pc_slot_has_class_sums(const pc_plan_slot *slot);

/* Adds the cuts of such a grid, and its cells for every class, to those of a launch. */
void pc_class_bins_put_grid(const pc_grid_state *grid, pc_class_bins *bins);

/* How rows are added, and what happened to them. */
typedef struct pc_sums_options {
  int fast; /* exponentials of float32 may be computed in float; set to 0 if they were not */
  int normalize;     /* as in pc_row_policy */
  uint64_t rescaled; /* out: rows that were */
} pc_sums_options;

/* Adds the rows of a batch without weights, at most PC_DEVICE_SUMS_ROWS, to group 0, if the
 * device has kernels for slots of the plan and all rows are valid; *done says whether all slots
 * have them, some, or none.  added: one element for each slot, set to 0 if the slot needs rows
 * from the host, else to another number.  scores: those of earlier batches, if the plan has
 * scores_on_device. */
PC_CHECKED pcal_status pc_group_states_add_device(pc_group_states *groups,
                                                  const pcal_batch *batch,
                                                  const pc_device_labels *labels,
                                                  pc_device_scores *scores,
                                                  pc_sums_options *options, uint8_t *added,
                                                  pc_pass_done *done, pcal_error *err);

#endif

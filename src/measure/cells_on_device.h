/* Grids of every class for rows with weights or groups that a device adds up
 * (device/class_cells_body.h). */
#ifndef PC_CELLS_ON_DEVICE_H
#define PC_CELLS_ON_DEVICE_H

#include "measure/sums_on_device.h"

/* Adds the rows of a batch to the grids of every class, without totals, if the device has
 * kernels and memory for them and all rows are valid; *done says so.  by_groups: rows go to
 * the states of their groups.  added: as pc_group_states_add_device. */
PC_CHECKED pcal_status pc_group_states_add_cells(pc_group_states *groups,
                                                 const pcal_batch *batch,
                                                 const pc_device_labels *labels, int by_groups,
                                                 int normalize, uint8_t *added, int *done,
                                                 pcal_error *err);

#endif

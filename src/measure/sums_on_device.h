/* Rows of logits on a device that are added up there (device/row_sums_body.h): only sums come
 * back. */
#ifndef PC_SUMS_ON_DEVICE_H
#define PC_SUMS_ON_DEVICE_H

#include "measure/group_states.h"

/* Adds the rows of a batch without weights to group 0 and sets *done to 1, if the device has
 * kernels for all slots of the plan and all rows are valid; otherwise *done is 0 and no row is
 * added.  labels and label_size: as in pc_device_row_sums. */
PC_CHECKED pcal_status pc_group_states_add_device(pc_group_states *groups,
                                                  const pcal_batch *batch, const void *labels,
                                                  uint32_t label_size, int *done,
                                                  pcal_error *err);

#endif

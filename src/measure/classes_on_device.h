/* Curves of every class whose rows a device counts and adds up (device/class_curves_body.h). */
#ifndef PC_CLASSES_ON_DEVICE_H
#define PC_CLASSES_ON_DEVICE_H

#include "data/lazy_labels.h"
#include "measure/refine_jobs.h"

/* First pass: counts the rows of a batch without weights and groups.  state: of a slot with
 * pc_slot_has_class_counts.  *done is 0, and no row is counted, if the device cannot. */
PC_CHECKED pcal_status pc_class_counts_on_device(const pcal_batch *batch,
                                                 const pc_device_labels *labels, int normalize,
                                                 void *state, int *done, pcal_error *err);

/* Later passes: adds the rows of a batch to jobs about such slots, and sets `added` of those.
 * *done is 0 if some job needs rows from the host. */
PC_CHECKED pcal_status pc_refine_classes_on_device(pc_refine_jobs *jobs,
                                                   const pcal_batch *batch,
                                                   const pc_lazy_labels *labels, int *done,
                                                   pcal_error *err);

#endif

/* Sums over all pairs of rows, computed by all threads; the result does not depend on the
 * number of threads. */
#ifndef PC_PAIR_SUM_H
#define PC_PAIR_SUM_H

#include "base/executor.h"
#include "device/device.h"
#include "kernels/pair_kernels.h"

/* True if the device computes the sum over pairs of these rows. */
int pc_pair_sum_on_device(const pc_device_queue *queue, const pc_pair_rows *rows);

/* sum over i < j of w_i w_j k(p_i, p_j) <e_{y_i} - p_i, e_{y_j} - p_j>.  queue: its
 * device computes the sum of many rows, with the same bits. */
PC_CHECKED pcal_status pc_pair_sum(const pcal_env *env, const pc_pair_form *form,
                                   const pc_pair_rows *rows, const pc_device_queue *queue,
                                   double *out, pcal_error *err);

#endif

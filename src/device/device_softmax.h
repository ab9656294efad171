/* softmax(beta scores) on the GPU of the scores, and copies of results to it. */
#ifndef PC_DEVICE_SOFTMAX_H
#define PC_DEVICE_SOFTMAX_H

#include <stdint.h>

#include "device/device.h"

#define PC_DEVICE_ROWS_MAX (SIZE_MAX >> 31) /* of one launch: 2^33 - 1 where a GPU can be */

/* True if the device has kernels for PCAL_F32 or PCAL_F64 and the number of classes. */
int pc_device_has_scaled_softmax(const pcal_device *device, pcal_type type, size_t classes);

/* Writes softmax(beta scores) of a batch of logits to `out` on the device, of the type and shape of the
 * scores.  *odd: 1 if a logit is not finite; `out` then has no meaning. */
PC_CHECKED pcal_status pc_device_scaled_softmax(pcal_device *device, const pcal_batch *batch,
                                                double beta, void *out, int *odd,
                                                pcal_error *err);

#endif

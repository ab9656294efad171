/* Sums of the SKCE over pairs of rows, by a GPU: the rows are in memory and are copied there. */
#ifndef PC_DEVICE_PAIRS_H
#define PC_DEVICE_PAIRS_H

#include "device/device.h"
#include "device/pair_sums.h"
#include "kernels/pair_kernels.h"

typedef struct pc_device_pairs {
  pc_device_queue queue;
  pc_pair_sums sums;
  void *arrays[5]; /* of the device: probs, halves, weights, labels, limbs */
} pc_device_pairs;

/* True if the device has kernels for pairs. */
int pc_device_has_pairs(const pcal_device *device);

/* Copies the rows to the device.  strip_packs: packs of a strip, as in stats/pair_sum.c.  The caller
 * ends with pc_device_pairs_close, also after failure. */
PC_CHECKED pcal_status pc_device_pairs_open(const pc_device_queue *queue,
                                            const pc_pair_form *form, const pc_pair_rows *rows,
                                            size_t strip_packs, const pcal_env *env,
                                            pc_device_pairs *out, pcal_error *err);
void pc_device_pairs_close(pc_device_pairs *pairs); /* zeroed is allowed */

/* Adds the pairs inside packs. */
PC_CHECKED pcal_status pc_device_pairs_inside(pc_device_pairs *pairs, pcal_error *err);

/* Adds the other pairs of strips [first, first + count), and waits for them. */
PC_CHECKED pcal_status pc_device_pairs_strips(pc_device_pairs *pairs, size_t first,
                                              size_t count, pcal_error *err);

/* Copies the sums back: PC_PAIR_SUMS_LIMBS limbs for each strip. */
PC_CHECKED pcal_status pc_device_pairs_sums(pc_device_pairs *pairs, uint64_t *limbs,
                                            pcal_error *err);

#endif

/* Sums of Dirichlet kernels, by a GPU: the rows are in memory and are copied there. */
#ifndef PC_DEVICE_DIRICHLET_H
#define PC_DEVICE_DIRICHLET_H

#include "device/device.h"
#include "device/dirichlet_sums.h"
#include "kernels/pair_rows.h"

typedef struct pc_device_dirichlet {
  pc_device_queue queue;
  pc_dirichlet_sums sums;
  /* Of the device: logs, probs, offsets, weights, labels, labels of packs, values, classes. */
  void *arrays[8];
} pc_device_dirichlet;

/* What is copied to the device; logs and probs are those of pc_dirichlet_kde. */
typedef struct pc_device_dirichlet_rows {
  const pc_pair_rows *rows;
  const double *logs, *probs;
  const double *offsets;    /* [bandwidth][row] */
  const double *bandwidths; /* at most PC_DIRICHLET_SUMS_SCALES */
  size_t bandwidth_count;
  int by_label; /* sums of each class, of one bandwidth; otherwise log densities */
} pc_device_dirichlet_rows;

/* True if the device has the kernels. */
int pc_device_has_dirichlet(const pcal_device *device);

/* Copies the rows to the device.  The caller ends with pc_device_dirichlet_close, also after failure. */
PC_CHECKED pcal_status pc_device_dirichlet_open(const pc_device_queue *queue,
                                                const pc_device_dirichlet_rows *from,
                                                const pcal_env *env, pc_device_dirichlet *out,
                                                pcal_error *err);
void pc_device_dirichlet_close(pc_device_dirichlet *dirichlet); /* zeroed is allowed */

/* Computes rows [first, first + count), and waits for them. */
PC_CHECKED pcal_status pc_device_dirichlet_run(pc_device_dirichlet *dirichlet, size_t first,
                                               size_t count, pcal_error *err);

/* Copies the results back: values of padded rows [bandwidth][row], and [row][class] if `classes` is not
 * NULL. */
PC_CHECKED pcal_status pc_device_dirichlet_results(pc_device_dirichlet *dirichlet,
                                                   double *values, double *classes,
                                                   pcal_error *err);

#endif

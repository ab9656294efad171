/* Fits of the temperature to logits on a GPU: the passes over the rows run there, with the bits of
 * the CPU. */
#ifndef PC_TEMPERATURE_ON_DEVICE_H
#define PC_TEMPERATURE_ON_DEVICE_H

#include "calibrators/calibrator.h"
#include "device/device.h"
#include "optim/scalar_search.h"

typedef struct pc_temperature_device {
  int used; /* else everything else is zero */
  int odd;  /* a row must be checked on the host: fit there */
  pcal_batch batch;
  pc_device_labels labels;
  void *uploaded; /* the labels if they were on the host; owned by the device */
  unsigned level; /* of the sample */
  size_t sample_count;
  uint64_t *keys;   /* of the sample */
  uint32_t *sample; /* its rows */
  uint32_t *chosen; /* room for a part of it */
} pc_temperature_device;

/* Sums over rows, for one trial. */
typedef struct pc_temperature_device_sums {
  pc_scalar_derivatives mean;
  double one; /* mean loss at beta = 1, if it was asked for */
  int missed; /* a label does not have the largest score of its row */
} pc_temperature_device_sums;

/* Uses the device if the objective is the log score, and the source is one array of logits on a
 * device with kernels for it, without weights; otherwise `used` stays 0.  Sets the counts of rows
 * in the calibrator's fit. */
PC_CHECKED pcal_status pc_temperature_device_open(const pc_fit_task *task,
                                                  pc_temperature_device *out, pcal_error *err);
void pc_temperature_device_close(pc_temperature_device *device); /* zeroed is allowed */

/* Draws the sample of calibrators/temperature/row_sample.h, of at most `limit` rows. */
PC_CHECKED pcal_status pc_temperature_device_draw(const pc_fit_task *task,
                                                  pc_temperature_device *device, size_t limit,
                                                  pcal_error *err);

/* Sums over all rows; on_sample: over 2^-bits of the sample.  Fails with PCAL_DATA and sets
 * `odd` if a row must be checked on the host. */
PC_CHECKED pcal_status pc_temperature_device_on_all(const pc_fit_task *task,
                                                    pc_temperature_device *device, double beta,
                                                    int with_one,
                                                    pc_temperature_device_sums *out,
                                                    pcal_error *err);
PC_CHECKED pcal_status pc_temperature_device_on_sample(const pc_fit_task *task,
                                                       pc_temperature_device *device,
                                                       double beta, unsigned bits,
                                                       pc_temperature_device_sums *out,
                                                       pcal_error *err);

#endif

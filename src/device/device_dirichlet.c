/* See device_dirichlet.h and dirichlet_sums_body.h. */
#include "device/device_dirichlet.h"

#include <string.h>

#include "device/device_state.h"
#include "kernels/pair_tile.h"

enum {
  DIRICHLET_LOGS,
  DIRICHLET_PROBS,
  DIRICHLET_OFFSETS,
  DIRICHLET_WEIGHTS,
  DIRICHLET_LABELS,
  DIRICHLET_PACK_LABELS,
  DIRICHLET_VALUES,
  DIRICHLET_CLASSES
};

int pc_device_has_dirichlet(const pcal_device *device) {
  return device->dirichlet_density != NULL && device->dirichlet_labels != NULL;
}

void pc_device_dirichlet_close(pc_device_dirichlet *dirichlet) {
  for (size_t i = 0; i < sizeof dirichlet->arrays / sizeof *dirichlet->arrays; i++)
    pc_device_drop(dirichlet->queue.device, dirichlet->arrays[i]);
  memset(dirichlet, 0, sizeof *dirichlet);
}

static size_t device_dirichlet_padded(const pc_device_dirichlet *dirichlet) {
  return (size_t)dirichlet->sums.packs * PC_LANES;
}

static pcal_status device_dirichlet_upload(pc_device_dirichlet *dirichlet, size_t index,
                                           const void *from, size_t bytes, pcal_error *err) {
  return pc_device_upload(dirichlet->queue.device, dirichlet->queue.stream, from, bytes,
                          &dirichlet->arrays[index], err);
}

/* Copies the inputs. */
static pcal_status device_dirichlet_inputs(pc_device_dirichlet *dirichlet,
                                           const pc_device_dirichlet_rows *from,
                                           pcal_error *err) {
  const size_t lanes = device_dirichlet_padded(dirichlet) * sizeof(double);
  const size_t all = lanes * from->rows->classes;
  PC_TRY(device_dirichlet_upload(dirichlet, DIRICHLET_LOGS, from->logs, all, err));
  PC_TRY(device_dirichlet_upload(dirichlet, DIRICHLET_PROBS, from->probs, all, err));
  PC_TRY(device_dirichlet_upload(dirichlet, DIRICHLET_OFFSETS, from->offsets,
                                 lanes * from->bandwidth_count, err));
  PC_TRY(
      device_dirichlet_upload(dirichlet, DIRICHLET_WEIGHTS, from->rows->weights, lanes, err));
  return device_dirichlet_upload(dirichlet, DIRICHLET_LABELS, from->rows->labels,
                                 device_dirichlet_padded(dirichlet) * sizeof(int32_t), err);
}

/* Results begin as 0. */
static pcal_status device_dirichlet_outputs(pc_device_dirichlet *dirichlet,
                                            const pc_device_dirichlet_rows *from,
                                            const pcal_env *env, pcal_error *err) {
  const size_t rows = device_dirichlet_padded(dirichlet);
  const size_t columns =
      from->bandwidth_count > from->rows->classes ? from->bandwidth_count : from->rows->classes;
  double *zeros = pc_alloc(env, rows * columns, sizeof *zeros);
  if (zeros == NULL)
    return pc_fail_memory(err, "preparing kernels");
  pcal_status status = device_dirichlet_upload(
      dirichlet, DIRICHLET_VALUES, zeros, rows * from->bandwidth_count * sizeof *zeros, err);
  if (status == PCAL_OK && from->by_label)
    status = device_dirichlet_upload(dirichlet, DIRICHLET_CLASSES, zeros,
                                     rows * from->rows->classes * sizeof *zeros, err);
  pc_free(env, zeros);
  return status;
}

static pcal_status device_dirichlet_pack_labels(pc_device_dirichlet *dirichlet,
                                                const pc_pair_rows *rows, const pcal_env *env,
                                                pcal_error *err) {
  const size_t packs = dirichlet->sums.packs;
  int32_t *labels = pc_alloc(env, packs, sizeof *labels);
  if (labels == NULL)
    return pc_fail_memory(err, "preparing kernels");
  for (size_t p = 0; p < packs; p++)
    labels[p] = pc_pair_pack_at(rows, p).label;
  const pcal_status status = device_dirichlet_upload(dirichlet, DIRICHLET_PACK_LABELS, labels,
                                                     packs * sizeof *labels, err);
  pc_free(env, labels);
  return status;
}

pcal_status pc_device_dirichlet_open(const pc_device_queue *queue,
                                     const pc_device_dirichlet_rows *from, const pcal_env *env,
                                     pc_device_dirichlet *out, pcal_error *err) {
  pc_dirichlet_sums *sums = &out->sums;
  *out = (pc_device_dirichlet){.queue = *queue};
  *sums = (pc_dirichlet_sums){.rows = from->rows->count,
                              .classes_count = (uint32_t)from->rows->classes,
                              .packs = (uint32_t)pc_pair_pack_count(from->rows),
                              .scale_count = (uint32_t)from->bandwidth_count};
  for (size_t b = 0; b < from->bandwidth_count; b++)
    sums->scale[b] = 1.0 / from->bandwidths[b];
  PC_TRY(device_dirichlet_inputs(out, from, err));
  PC_TRY(device_dirichlet_pack_labels(out, from->rows, env, err));
  PC_TRY(device_dirichlet_outputs(out, from, env, err));
  sums->logs = out->arrays[DIRICHLET_LOGS];
  sums->probs = out->arrays[DIRICHLET_PROBS];
  sums->offsets = out->arrays[DIRICHLET_OFFSETS];
  sums->weights = out->arrays[DIRICHLET_WEIGHTS];
  sums->labels = out->arrays[DIRICHLET_LABELS];
  sums->pack_labels = out->arrays[DIRICHLET_PACK_LABELS];
  sums->values = out->arrays[DIRICHLET_VALUES];
  sums->classes = out->arrays[DIRICHLET_CLASSES];
  return PCAL_OK;
}

pcal_status pc_device_dirichlet_run(pc_device_dirichlet *dirichlet, size_t first, size_t count,
                                    pcal_error *err) {
  pcal_device *device = dirichlet->queue.device;
  const pc_cuda_driver *driver = &device->driver;
  void *parameters[] = {&dirichlet->sums};
  dirichlet->sums.first_row = first;
  dirichlet->sums.row_count = count;
  PC_TRY(pc_device_enter(device, err));
  cuda_result result = driver->launch(
      dirichlet->sums.classes == NULL ? device->dirichlet_density : device->dirichlet_labels,
      (unsigned)pc_dirichlet_sums_blocks(&dirichlet->sums), 1, 1, PC_DIRICHLET_SUMS_THREADS, 1,
      1, 0, dirichlet->queue.stream, parameters, NULL);
  if (result == 0)
    result = driver->synchronize(dirichlet->queue.stream);
  const pcal_status status =
      pc_cuda_check(driver, result, "comparing rows with their neighbours on the GPU", err);
  pc_device_leave(device);
  return status;
}

pcal_status pc_device_dirichlet_results(pc_device_dirichlet *dirichlet, double *values,
                                        double *classes, pcal_error *err) {
  const pc_dirichlet_sums *sums = &dirichlet->sums;
  const size_t lanes = device_dirichlet_padded(dirichlet) * sizeof(double);
  PC_TRY(pc_device_copy(dirichlet->queue.device, dirichlet->queue.stream, sums->values,
                        lanes * sums->scale_count, values, err));
  return classes == NULL
             ? PCAL_OK
             : pc_device_copy(dirichlet->queue.device, dirichlet->queue.stream, sums->classes,
                              lanes * sums->classes_count, classes, err);
}

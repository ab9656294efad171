/* See device_pairs.h and pair_sums_body.h. */
#include "device/device_pairs.h"

#include <math.h>
#include <string.h>

#include "device/device_state.h"

#define DEVICE_PAIRS_ACTIVITY "pairing rows on the GPU"

int pc_device_has_pairs(const pcal_device *device) {
  return device->pair_strips != NULL && device->pair_packs != NULL;
}

void pc_device_pairs_close(pc_device_pairs *pairs) {
  for (size_t i = 0; i < sizeof pairs->arrays / sizeof *pairs->arrays; i++)
    pc_device_drop(pairs->queue.device, pairs->arrays[i]);
  memset(pairs, 0, sizeof *pairs);
}

static size_t device_pairs_limbs(const pc_device_pairs *pairs) {
  return (size_t)pc_pair_sums_strips(&pairs->sums) * PC_PAIR_SUMS_LIMBS * sizeof(uint64_t);
}

/* Copies one array; NULL: zeros. */
static pcal_status device_pairs_upload(pc_device_pairs *pairs, size_t index, const void *from,
                                       size_t bytes, const pcal_env *env, pcal_error *err) {
  void *zeros = from == NULL ? pc_alloc(env, bytes, 1) : NULL;
  if (from == NULL && zeros == NULL)
    return pc_fail_memory(err, "summing pairs");
  const pcal_status status =
      pc_device_upload(pairs->queue.device, pairs->queue.stream, from == NULL ? zeros : from,
                       bytes, &pairs->arrays[index], err);
  pc_free(env, zeros);
  return status;
}

pcal_status pc_device_pairs_open(const pc_device_queue *queue, const pc_pair_form *form,
                                 const pc_pair_rows *rows, size_t strip_packs,
                                 const pcal_env *env, pc_device_pairs *out, pcal_error *err) {
  const size_t packs = pc_pair_pack_count(rows), lanes = packs * PC_LANES;
  pc_pair_sums *sums = &out->sums;
  *out = (pc_device_pairs){.queue = *queue};
  *sums = (pc_pair_sums){.rows = rows->count,
                         .classes = (uint32_t)rows->classes,
                         .packs = (uint32_t)packs,
                         .strip_packs = (uint32_t)strip_packs};
  sums->form = (pc_pair_sums_form){form->tv != 0,       form->gaussian != 0, form->near != 0,
                                   form->weighted != 0, form->factor,        form->close};
  PC_TRY(device_pairs_upload(out, 0, rows->probs, lanes * rows->classes * sizeof(double), env,
                             err));
  PC_TRY(device_pairs_upload(out, 1, rows->halves, lanes * sizeof(double), env, err));
  PC_TRY(device_pairs_upload(out, 2, rows->weights, lanes * sizeof(double), env, err));
  PC_TRY(device_pairs_upload(out, 3, rows->labels, lanes * sizeof(int32_t), env, err));
  PC_TRY(device_pairs_upload(out, 4, NULL, device_pairs_limbs(out), env, err));
  sums->probs = out->arrays[0];
  sums->halves = out->arrays[1];
  sums->weights = out->arrays[2];
  sums->labels = out->arrays[3];
  sums->limbs = out->arrays[4];
  return PCAL_OK;
}

/* Launches a kernel and waits for it. */
static pcal_status device_pairs_run(pc_device_pairs *pairs, cuda_function *kernel,
                                    uint64_t blocks, pcal_error *err) {
  pcal_device *device = pairs->queue.device;
  const pc_cuda_driver *driver = &device->driver;
  void *parameters[] = {&pairs->sums};
  PC_TRY(pc_device_enter(device, err));
  cuda_result result = driver->launch(kernel, (unsigned)blocks, 1, 1, PC_PAIR_SUMS_THREADS, 1,
                                      1, 0, pairs->queue.stream, parameters, NULL);
  if (result == 0)
    result = driver->synchronize(pairs->queue.stream);
  const pcal_status status = pc_cuda_check(driver, result, DEVICE_PAIRS_ACTIVITY, err);
  pc_device_leave(device);
  return status;
}

pcal_status pc_device_pairs_inside(pc_device_pairs *pairs, pcal_error *err) {
  return device_pairs_run(pairs, pairs->queue.device->pair_packs,
                          (pairs->sums.rows + PC_PAIR_SUMS_THREADS - 1) / PC_PAIR_SUMS_THREADS,
                          err);
}

pcal_status pc_device_pairs_strips(pc_device_pairs *pairs, size_t first, size_t count,
                                   pcal_error *err) {
  pairs->sums.first_strip = (uint32_t)first;
  return device_pairs_run(pairs, pairs->queue.device->pair_strips,
                          (uint64_t)count * pc_pair_sums_groups(&pairs->sums), err);
}

pcal_status pc_device_pairs_sums(pc_device_pairs *pairs, uint64_t *limbs, pcal_error *err) {
  return pc_device_copy(pairs->queue.device, pairs->queue.stream, pairs->sums.limbs,
                        device_pairs_limbs(pairs), limbs, err);
}

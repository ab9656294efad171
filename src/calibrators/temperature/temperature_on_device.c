/* Edge cases:
 *   1. A row that is not finite or whose label is no class, and a sample that must be drawn again
 *      because many rows are equal: `odd` is set, and the fit begins again on the host.
 *   2. Labels on the host are copied to the device once.
 * Cost: as on the CPU (temperature.c), but what comes back for each value of beta is some
 *       kilobytes. */
#include "calibrators/temperature/temperature_on_device.h"

#include <string.h>

#include "base/executor.h"
#include "base/sum.h"
#include "io/source.h"
#include "kernels/sample_key.h"

_Static_assert(PC_VALUE_SUMS_LIMBS == PC_SUM_LIMBS, "limbs are those of pc_sum");

#define TEMPERATURE_DEVICE_ROWS ((uint64_t)1 << 28)

/* ---- Opening ---- */

static int temperature_device_fits(const pc_fit_task *task) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(task->source, &shape);
  return task->replay == NULL &&
         (pc_source_on_device(task->source) || pc_source_uploads(task->source)) &&
         shape.kind == PCAL_LOGIT && shape.columns > 1 && !shape.weighted &&
         shape.row_count != PCAL_NO_ROW && shape.row_count > 0 &&
         shape.row_count <= TEMPERATURE_DEVICE_ROWS;
}

/* The labels of the batch on its device. */
static pcal_status temperature_device_labels(pc_temperature_device *device,
                                             const pc_lazy_labels *lazy, pcal_error *err) {
  const pcal_batch *batch = &device->batch;
  if (lazy->device == batch->device && lazy->stream == batch->stream &&
      lazy->on_device != NULL) {
    device->labels = (pc_device_labels){lazy->on_device, lazy->size};
    return PCAL_OK;
  }
  PC_TRY(pc_lazy_labels_fill(lazy, 0, batch->rows, err));
  PC_TRY(pc_device_upload(batch->device, batch->stream, batch->labels,
                          batch->rows * sizeof *batch->labels, &device->uploaded, err));
  device->labels = (pc_device_labels){device->uploaded, sizeof *batch->labels};
  return PCAL_OK;
}

static void temperature_device_count(const pc_fit_task *task, uint64_t rows) {
  pc_fit_info *fit = &task->calibrator->fit;
  fit->rows = rows;
  fit->weight = (double)rows;
  fit->weighted = 0;
  fit->normalized = 0;
  fit->skipped = 0;
}

pcal_status pc_temperature_device_open(const pc_fit_task *task, pc_temperature_device *out,
                                       pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_lazy_labels lazy;
  memset(out, 0, sizeof *out);
  if (!temperature_device_fits(task))
    return PCAL_OK;
  pcal_batch batch = PCAL_BATCH_INIT;
  pc_source_shape(task->source, &shape);
  PC_TRY(pc_source_rewind(task->source, err));
  PC_TRY(pc_source_next_lazy(task->source, (size_t)shape.row_count, &batch, &lazy, err));
  if (batch.rows == shape.row_count)
    PC_TRY(pc_source_upload(task->source, &batch, err));
  if (batch.device == NULL || batch.rows != shape.row_count ||
      !pc_device_has_temperature(batch.device, batch.type, batch.columns))
    return PCAL_OK;
  out->batch = batch;
  PC_TRY(temperature_device_labels(out, &lazy, err));
  temperature_device_count(task, batch.rows);
  out->used = 1;
  return PCAL_OK;
}

void pc_temperature_device_close(pc_temperature_device *device) {
  if (device->uploaded != NULL)
    pc_device_drop(device->batch.device, device->uploaded);
  memset(device, 0, sizeof *device);
}

/* ---- Sums ---- */

static pcal_status temperature_device_odd(pc_temperature_device *device, pcal_error *err) {
  device->odd = 1;
  return pc_fail(err, PCAL_DATA, "some rows must be checked on the host");
}

static double temperature_device_sum(const uint64_t *words, size_t column) {
  pc_sum sum;
  pc_sum_clear(&sum);
  memcpy(sum.limb, words + PC_TEMPERATURE_ROWS_FIRST + column * PC_VALUE_SUMS_LIMBS,
         sizeof sum.limb);
  return pc_sum_value(&sum);
}

static pcal_status temperature_device_sums(const pc_fit_task *task,
                                           pc_temperature_device *device,
                                           const pc_device_trial *trial, size_t rows,
                                           pc_temperature_device_sums *out, pcal_error *err) {
  uint64_t words[PC_TEMPERATURE_ROWS_WORDS];
  PC_TRY(pc_check_interrupt(task->env, err));
  PC_TRY(pc_device_temperature(device->batch.device, &device->batch, &device->labels, trial,
                               words, err));
  if (words[PC_TEMPERATURE_ROWS_ODD] != 0)
    return temperature_device_odd(device, err);
  const double total = (double)rows;
  out->missed = words[PC_TEMPERATURE_ROWS_MISSED] != 0;
  out->mean.value = temperature_device_sum(words, 0) / total;
  for (size_t k = 0; k < PC_SCALAR_DERIVATIVES; k++)
    out->mean.slope[k] = temperature_device_sum(words, k + 1) / total;
  out->one = temperature_device_sum(words, PC_TEMPERATURE_ROWS_ONE) / total;
  return PCAL_OK;
}

pcal_status pc_temperature_device_on_all(const pc_fit_task *task, pc_temperature_device *device,
                                         double beta, int with_one,
                                         pc_temperature_device_sums *out, pcal_error *err) {
  const pc_device_trial trial = {.beta = beta, .with_one = with_one};
  pc_progress(task->env, "fitting", device->batch.rows, device->batch.rows);
  return temperature_device_sums(task, device, &trial, device->batch.rows, out, err);
}

pcal_status pc_temperature_device_on_sample(const pc_fit_task *task,
                                            pc_temperature_device *device, double beta,
                                            unsigned bits, pc_temperature_device_sums *out,
                                            pcal_error *err) {
  pc_device_trial trial = {.beta = beta, .chosen = device->chosen};
  for (size_t i = 0; i < device->sample_count; i++)
    if (pc_sample_key_within(device->level + bits, device->keys[i]))
      device->chosen[trial.chosen_count++] = device->sample[i];
  if (trial.chosen_count == 0) {
    memset(out, 0, sizeof *out);
    return PCAL_OK;
  }
  return temperature_device_sums(task, device, &trial, trial.chosen_count, out, err);
}

/* ---- The sample ---- */

/* Raises the level until at most `limit` rows are left, and counts them. */
static size_t temperature_device_sift(const pc_sample_found *found, unsigned *level,
                                      size_t limit) {
  for (;; ++*level) {
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
      count += (size_t)pc_sample_key_within(*level, found->key[i]);
    if (count <= limit)
      return count;
  }
}

static pcal_status temperature_device_keep(const pcal_env *env, const pc_sample_found *found,
                                           size_t count, pc_temperature_device *device,
                                           pcal_error *err) {
  const size_t room = count > 0 ? count : 1;
  device->keys = pc_alloc(env, room, sizeof *device->keys);
  device->sample = pc_alloc(env, room, sizeof *device->sample);
  device->chosen = pc_alloc(env, room, sizeof *device->chosen);
  if (device->keys == NULL || device->sample == NULL || device->chosen == NULL)
    return pc_fail_memory(err, "keeping a sample of rows");
  for (size_t i = 0; i < found->count; i++)
    if (pc_sample_key_within(device->level, found->key[i])) {
      device->keys[device->sample_count] = found->key[i];
      device->sample[device->sample_count++] = found->row[i];
    }
  return PCAL_OK;
}

pcal_status pc_temperature_device_draw(const pc_fit_task *task, pc_temperature_device *device,
                                       size_t limit, pcal_error *err) {
  const pcal_batch *batch = &device->batch;
  unsigned start = 0;
  while ((uint64_t)batch->rows >> start > limit + limit / 4)
    start++;
  pc_sample_found *found = pc_alloc(task->env, 1, sizeof *found);
  if (found == NULL)
    return pc_fail_memory(err, "keeping a sample of rows");
  device->level = start;
  pcal_status status = pc_device_sample(batch->device, batch, &device->labels,
                                        start > 0 ? start - 1 : 0, found, err);
  if (status == PCAL_OK && (found->odd || found->count > PC_SAMPLE_ROWS_MAX ||
                            (start > 0 && found->count <= limit))) /* edge case 1 */
    status = temperature_device_odd(device, err);
  if (status == PCAL_OK) {
    const size_t count = temperature_device_sift(found, &device->level, limit);
    status = temperature_device_keep(task->env, found, count, device, err);
  }
  pc_free(task->env, found);
  return status;
}

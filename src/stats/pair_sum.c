/* Edge cases:
 *  1. few rows, or more packs than a launch has blocks for: computed here although there is a
 *     device.
 *  2. the sum of each strip is rounded, on the device as here. */
#include "stats/pair_sum.h"

#include <string.h>

#include "base/sum.h"
#include "device/device_pairs.h"
#include "kernels/pair_tile.h"

#define PAIR_SUM_PACKS 16     /* upper bound on the packs of a strip */
#define PAIR_SUM_CLASSES 2048 /* upper bound on packs times classes: a quarter of a megabyte */

_Static_assert(PC_PAIR_SUMS_LIMBS == PC_SUM_LIMBS, "limbs are those of pc_sum");

typedef struct pair_sum_work {
  const pc_pair_form *form;
  const pc_pair_rows *rows;
  size_t packs;
  double *sums; /* of each task */
} pair_sum_work;

static pcal_status pair_sum_task(void *user, size_t index, size_t worker, pcal_error *err) {
  (void)worker;
  (void)err;
  const pair_sum_work *work = user;
  const size_t first = index * work->packs, all = pc_pair_pack_count(work->rows);
  const size_t end = first + work->packs < all ? first + work->packs : all;
  pc_sum sum;
  pc_sum_clear(&sum);
  pc_skce_strip(work->form, work->rows, first, end, &sum);
  work->sums[index] = pc_sum_value(&sum);
  return PCAL_OK;
}

/* ---- On a device ---- */

#define PAIR_SUM_DEVICE_ROWS 2000
#define PAIR_SUM_DEVICE_PACKS ((size_t)1 << 20)
#define PAIR_SUM_LAUNCH ((size_t)1 << 19) /* pairs of packs of a launch: some milliseconds */

int pc_pair_sum_on_device(const pc_device_queue *queue, const pc_pair_rows *rows) {
  return queue->device != NULL && rows->count >= PAIR_SUM_DEVICE_ROWS &&
         pc_pair_pack_count(rows) <= PAIR_SUM_DEVICE_PACKS &&
         pc_device_has_pairs(queue->device);
}

static pcal_status pair_sum_launch(const pcal_env *env, pc_device_pairs *pairs, size_t strips,
                                   pcal_error *err) {
  const size_t step = PAIR_SUM_LAUNCH / pairs->sums.packs + 1;
  PC_TRY(pc_device_pairs_inside(pairs, err));
  for (size_t first = 0; first < strips; first += step) {
    const size_t left = strips - first;
    PC_TRY(pc_device_pairs_strips(pairs, first, left < step ? left : step, err));
    pc_progress(env, "pairing rows", first, strips);
    PC_TRY(pc_check_interrupt(env, err));
  }
  return PCAL_OK;
}

/* Fills the sums of the strips. */
static pcal_status pair_sum_there(const pcal_env *env, const pair_sum_work *work,
                                  const pc_device_queue *queue, size_t strips,
                                  pcal_error *err) {
  uint64_t *limbs = pc_alloc(env, strips, PC_PAIR_SUMS_LIMBS * sizeof *limbs);
  pc_device_pairs pairs = {.queue = *queue};
  if (limbs == NULL)
    return pc_fail_memory(err, "summing pairs");
  pcal_status status =
      pc_device_pairs_open(queue, work->form, work->rows, work->packs, env, &pairs, err);
  if (status == PCAL_OK)
    status = pair_sum_launch(env, &pairs, strips, err);
  if (status == PCAL_OK)
    status = pc_device_pairs_sums(&pairs, limbs, err);
  pc_device_pairs_close(&pairs);
  for (size_t s = 0; s < strips && status == PCAL_OK; s++) {
    pc_sum sum;
    pc_sum_clear(&sum);
    memcpy(sum.limb, limbs + s * PC_PAIR_SUMS_LIMBS, sizeof sum.limb);
    work->sums[s] = pc_sum_value(&sum);
  }
  pc_free(env, limbs);
  return status;
}

pcal_status pc_pair_sum(const pcal_env *env, const pc_pair_form *form, const pc_pair_rows *rows,
                        const pc_device_queue *queue, double *out, pcal_error *err) {
  const size_t few = PAIR_SUM_CLASSES / rows->classes;
  pair_sum_work work = {.form = form, .rows = rows};
  work.packs = few < 1 ? 1 : few > PAIR_SUM_PACKS ? PAIR_SUM_PACKS : few;
  const size_t tasks = (pc_pair_pack_count(rows) + work.packs - 1) / work.packs;
  const double nanoseconds = 0.5 + 0.1 * (double)rows->classes;
  work.sums = pc_alloc(env, tasks, sizeof(double));
  if (work.sums == NULL)
    return pc_fail_memory(err, "summing pairs");
  const double cost = nanoseconds * (double)rows->count * (double)rows->count / 2;
  const pcal_status status =
      pc_pair_sum_on_device(queue, rows)
          ? pair_sum_there(env, &work, queue, tasks, err)
          : pc_run_with_progress(env, "pairing rows", tasks, cost, pair_sum_task, &work, err);
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t t = 0; t < tasks && status == PCAL_OK; t++)
    pc_sum_add(&sum, work.sums[t]);
  *out = pc_sum_value(&sum);
  pc_free(env, work.sums);
  return status;
}

#include "stats/pair_sum.h"

#include "kernels/pair_tile.h"

#define PAIR_SUM_PACKS 16     /* upper bound on the packs of a strip */
#define PAIR_SUM_CLASSES 2048 /* upper bound on packs times classes: a quarter of a megabyte */

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

pcal_status pc_pair_sum(const pcal_env *env, const pc_pair_form *form, const pc_pair_rows *rows,
                        double *out, pcal_error *err) {
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
      pc_run_with_progress(env, "pairing rows", tasks, cost, pair_sum_task, &work, err);
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t t = 0; t < tasks && status == PCAL_OK; t++)
    pc_sum_add(&sum, work.sums[t]);
  *out = pc_sum_value(&sum);
  pc_free(env, work.sums);
  return status;
}

/* Intervals and null distributions by measuring kept rows again. */
#ifndef PC_RESAMPLE_H
#define PC_RESAMPLE_H

#include "machines/machine_keep.h"
#include "measure/results.h"

/* Blocks of rows for the jackknife. */
#define PC_RESAMPLE_BLOCKS 50
#define PC_RESAMPLE_PAIR_BLOCKS 20 /* for metrics over pairs, whose every value is dear */

/* Values of each entry (the inner ones where it has some) that the caller keeps: in each
 * replica and, for metrics over pairs, without each block; NaN where there is none.  And the
 * rows, which the caller frees; none when they take more than PC_RESAMPLE_KEPT_MAX bytes. NULL:
 * not kept. */
#define PC_RESAMPLE_KEPT_MAX ((size_t)1 << 28)
typedef struct pc_resample_kept {
  double *replicas, *left_out;
  pc_kept_rows *rows;
} pc_resample_kept;

/* Fills the surety of those records (one for each entry of the plan) that need replicas; `keep`
 * is the state of the plan's keep slot, and `how` says what is drawn. */
PC_CHECKED pcal_status pc_resample(const pcal_env *env, const pc_plan *plan, const void *keep,
                                   const pc_keep_how *how, const pc_resample_kept *values,
                                   pc_result_record *records, pcal_error *err);

#endif

/* A pass over rows: workers check and convert the chunks of each batch. */
#ifndef PC_PASS_H
#define PC_PASS_H

#include "data/lazy_labels.h"
#include "data/rows.h"

/* Receives a chunk of checked rows.  `worker` < pc_worker_count(env) is the index of the
 * worker: several threads call it at once, but never two with the same worker.  The result must
 * not depend on the order of the chunks. */
typedef pcal_status (*pc_pass_add)(void *user, size_t worker, const pc_rows *rows,
                                   pcal_error *err);

/* The same for plain rows used as stored, without conversion (pc_stored_rows in rows.h). */
typedef pcal_status (*pc_pass_take)(void *user, size_t worker, const pc_stored_rows *rows,
                                    pcal_error *err);

typedef enum pc_pass_done {
  PC_PASS_NONE, /* rows are passed on */
  PC_PASS_SOME, /* they were added, and are passed on for what is left */
  PC_PASS_ALL
} pc_pass_done;

/* Adds all rows of a batch on a device at once, at most PC_DEVICE_SUMS_ROWS, if it can: *done
 * says so.  It may set `rescaled` and `rest` of the pass, which are 0 before. */
typedef pcal_status (*pc_pass_sum)(void *user, const pcal_batch *batch,
                                   const pc_device_labels *labels, pc_pass_done *done,
                                   pcal_error *err);

/* Who needs the rows that are passed on. */
typedef enum pc_pass_rest {
  PC_REST_FULL, /* somebody needs all columns of the policy */
  PC_REST_LEAN, /* nobody needs the probabilities of every class */
  PC_REST_SPLIT /* both: rows may be passed on twice */
} pc_pass_rest;

typedef enum pc_pass_stage {
  PC_STAGE_ONLY, /* for all */
  PC_STAGE_LEAN, /* for those that do not need the probabilities of every class */
  PC_STAGE_FULL  /* then for the others, without counting them again */
} pc_pass_stage;

/* The ways that rows on a device have taken; combined with |. */
typedef enum pc_pass_way {
  PC_WAY_SUMMED = 1,  /* by pc_pass_sum */
  PC_WAY_SOFTMAX = 2, /* passed on from the softmax that the device has computed */
  PC_WAY_COPIED = 4,  /* copied to the host */
  PC_WAY_MISSED = 32  /* pc_pass_sum has not added some rows, which were then passed on twice */
} pc_pass_way;

/* The ways of rows that are passed on after PC_PASS_SOME are shifted by this, and those of
 * PC_STAGE_FULL by the second. */
#define PC_WAY_REST 2
#define PC_WAY_FULL 8

/* A pass.  Start from pc_pass_init. */
typedef struct pc_pass {
  const pcal_env *env;
  pc_layout layout;
  pc_row_policy policy;
  pc_pass_add add;
  void *user;
  pc_pass_take take;              /* or NULL, the default: all rows are converted */
  pc_pass_sum sum;                /* or NULL, the default: rows on a device are converted */
  uint64_t rescaled;              /* rows of probabilities that `sum` has rescaled */
  pc_pass_rest rest;              /* who needs the rows that `sum` leaves */
  pc_pass_stage stage;            /* of the rows that are being passed on */
  unsigned ways;                  /* of pc_pass_way, of the last batch */
  pc_lazy_labels lazy_labels;     /* of the next batch; default: none */
  struct pc_pass_worker *workers; /* scratch of each worker, allocated when first needed */
  size_t worker_count;
} pc_pass;

PC_CHECKED pcal_status pc_pass_init(pc_pass *pass, const pcal_env *env, const pc_layout *layout,
                                    const pc_row_policy *policy, pc_pass_add add, void *user,
                                    pcal_error *err);
void pc_pass_free(pc_pass *pass);

/* Passes every row of a batch to `add` (or `take`), chunk by chunk, and fills counts.  On
 * failure some chunks may have been added; the error is that of the first bad row. */
PC_CHECKED pcal_status pc_pass_batch(pc_pass *pass, const pcal_batch *batch,
                                     pc_row_counts *counts, pcal_error *err);

#endif

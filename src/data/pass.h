/* A pass over rows: batches cut into chunks, checked and converted by workers. */
#ifndef PC_PASS_H
#define PC_PASS_H

#include "data/lazy_labels.h"
#include "data/rows.h"

/* Adds a chunk of checked rows; `worker` < pc_worker_count(env) tells whose turn it is.
 * Called from several threads at once, never twice at once for one worker.  What it gathers
 * must not depend on the order of chunks. */
typedef pcal_status (*pc_pass_add)(void *user, size_t worker, const pc_rows *rows,
                                   pcal_error *err);

/* The same for rows as they are stored that are plain (rows.h). */
typedef pcal_status (*pc_pass_take)(void *user, size_t worker, const pc_stored_rows *rows,
                                    pcal_error *err);

/* Everything that stays the same over a pass.  Start from pc_pass_init. */
typedef struct pc_pass {
  const pcal_env *env;
  pc_layout layout;
  pc_row_policy policy;
  pc_pass_add add;
  void *user;
  pc_pass_take take;              /* or NULL, as pc_pass_init leaves it */
  pc_lazy_labels feed;            /* of the next batch; none, as pc_pass_init leaves it */
  struct pc_pass_worker *workers; /* scratch, made when first needed */
  size_t worker_count;
} pc_pass;

PC_CHECKED pcal_status pc_pass_init(pc_pass *pass, const pcal_env *env, const pc_layout *layout,
                                    const pc_row_policy *policy, pc_pass_add add, void *user,
                                    pcal_error *err);
void pc_pass_free(pc_pass *pass);

/* Hands every row of a batch to `add`, chunk by chunk, and tells what happened on the way.
 * When it fails, some chunks may have been added: the error is that of the first bad row. */
PC_CHECKED pcal_status pc_pass_batch(pc_pass *pass, const pcal_batch *batch,
                                     pc_row_counts *counts, pcal_error *err);

#endif

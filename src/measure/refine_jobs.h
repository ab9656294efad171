/* One more pass over the rows for the bucket curves of one state (machine_curve_buckets.h).
 *
 * Three steps, which may run in different processes (rounds.h):
 *   1. pc_refine_jobs_ask: the metrics name the parts of each curve that they still need, which
 *      become the targets of the pass;
 *   2. pc_refine_jobs_open, pc_refine_jobs_add and pc_refine_jobs_collect: rows are added to
 *      tallies, each worker to its own, which are then merged;
 *   3. pc_refine_jobs_absorb: the targets are replaced by what the tallies hold. */
#ifndef PC_REFINE_JOBS_H
#define PC_REFINE_JOBS_H

#include "curve/class_sums.h"
#include "measure/measure.h"

/* The curves of one slot in one pass. */
typedef struct pc_refine_job {
  size_t slot;
  const pc_view *view;
  int stored;        /* the scores of the view are the stored ones */
  int all_float32;   /* and they are float32 */
  size_t view_parts; /* of the view */
  /* Twice as many if metrics that join scores in cells are asked apart: their curves come last. */
  size_t part_count;
  pc_bucket_curve **curves;   /* by part; NULL where only rows are added */
  pc_refine_targets *targets; /* by part; empty if the part is exact */
  pc_bucket_tally *tallies;   /* [worker][part] */
  int added;                  /* a device has added the rows of the present batch */
  int counted_only;           /* the curves are; then: */
  pc_class_segments segments;
  pc_class_sums *sums; /* by worker */
} pc_refine_job;

typedef struct pc_refine_jobs {
  const pcal_env *env;
  pcal_env alone; /* the same with a single thread, for tasks */
  const pcal_measure *measure;
  const pc_group_state *group; /* whose curves are refined; NULL where only rows are added */
  pc_refine_job *list;
  size_t count;
  size_t workers;
  size_t keep_limit; /* scores that the pass may store for a slot, or 0: the usual number */
  /* Cells that a part may have in one pass, or 0: all; more for narrow cells. */
  size_t cell_limit;
  /* Bytes that the tallies of a slot with one part should have, or 0: any number. */
  size_t tally_limit;
  int float16;         /* stored scores are 16-bit floats */
  uint64_t byte_limit; /* slots are asked until their targets reach it, or 0: all; the others
                          wait for a later pass */
} pc_refine_jobs;

/* True if the scores of a view are the stored ones. */
int pc_refine_scores_stored(const pc_layout *layout, const pc_view *view);

/* An empty list with room for every slot; freed with pc_refine_jobs_free.  It keeps a pointer to
 * the measure.  group: NULL if only rows will be added. */
PC_CHECKED pcal_status pc_refine_jobs_new(const pcal_measure *measure,
                                          const pc_group_state *group, pc_refine_jobs *out,
                                          pcal_error *err);
void pc_refine_jobs_free(pc_refine_jobs *jobs); /* or zeroed ones */

/* Adds a job for a slot, without targets. */
PC_CHECKED pcal_status pc_refine_jobs_add_slot(pc_refine_jobs *jobs, size_t slot,
                                               pc_refine_job **out, pcal_error *err);

/* Memory of all targets (pc_refine_targets_bytes). */
uint64_t pc_refine_jobs_bytes(const pc_refine_jobs *jobs);

/* Adds a job for every slot whose curves are not exact.  type: of the stored scores. */
PC_CHECKED pcal_status pc_refine_jobs_ask(pc_refine_jobs *jobs, pcal_type type,
                                          pcal_error *err);

/* Allocates the tallies. */
PC_CHECKED pcal_status pc_refine_jobs_open(pc_refine_jobs *jobs, pcal_error *err);

/* View columns of the slots of jobs, by worker and view. */
typedef struct pc_refine_columns {
  size_t view_count, worker_count;
  pc_view_columns *list; /* [worker][view] */
} pc_refine_columns;

PC_CHECKED pcal_status pc_refine_columns_new(const pcal_measure *measure,
                                             pc_refine_columns *out, pcal_error *err);
void pc_refine_columns_free(const pcal_env *env, pc_refine_columns *columns);

/* Adds rows to the tallies of a worker. */
PC_CHECKED pcal_status pc_refine_jobs_add(pc_refine_jobs *jobs, size_t worker,
                                          const pc_rows *rows, pc_refine_columns *columns,
                                          pcal_error *err);

/* Merges the tallies of all workers into those of the first. */
PC_CHECKED pcal_status pc_refine_jobs_collect(pc_refine_jobs *jobs, pcal_error *err);

/* Gives the curves what the pass has found; after pc_refine_jobs_collect. */
PC_CHECKED pcal_status pc_refine_jobs_absorb(pc_refine_jobs *jobs, pcal_error *err);

#endif

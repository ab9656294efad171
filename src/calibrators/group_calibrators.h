/* A calibrator for each group of rows, mixed with the calibrator of all rows. */
#ifndef PC_GROUP_CALIBRATORS_H
#define PC_GROUP_CALIBRATORS_H

#include "calibrators/calibrator.h"

#define PC_GROUP_CALIBRATORS_MAX 10000

typedef struct pc_group_member {
  char *name;
  pcal_calibrator *calibrator; /* of the same method, options and layout as that of all rows */
} pc_group_member;

/* A group with weight n gets the share n / (n + kappa) of its own calibrator. */
struct pc_group_calibrators {
  double kappa; /* infinite: every group gets the calibrator of all rows */
  pc_group_member *members;
  size_t count;
};

double pc_group_share(const pc_group_member *member, double kappa);

/* Sets calibrator->groups to `count` members whose names and calibrators are NULL. */
PC_CHECKED pcal_status pc_group_calibrators_new(pcal_calibrator *calibrator, size_t count,
                                                pcal_error *err);
void pc_group_calibrators_free(
    pc_group_calibrators *groups); /* frees the calibrators of the members */

/* Two maps of the same rows: by_all by `pooled`; by_group by the member of each row's group, or
 * by `pooled` where members[group] is NULL or the group is `count` or above.  The batch holds
 * doubles row after row, with groups; both results have pc_calibrator_columns(pooled)
 * columns. */
PC_CHECKED pcal_status pc_group_calibrators_map_both(const pcal_calibrator *pooled,
                                                     const pcal_calibrator *const *members,
                                                     size_t count, const pcal_batch *batch,
                                                     const pcal_env *env, double *by_all,
                                                     double *by_group, pcal_error *err);

/* As pc_calibrator_apply, for a calibrator with groups.  Groups of the batch are indices of
 * members; a row of any other group gets the calibrator of all rows. */
PC_CHECKED pcal_status pc_group_calibrators_apply(const pcal_calibrator *calibrator,
                                                  const pcal_batch *batch, const pcal_env *env,
                                                  void *out, pcal_error *err);

/* out[i]: index of the member called names[i]; else of the member whose name has the most fields
 * of names[i] and no other (measure/overlapping_groups.h), of several the first; else
 * UINT32_MAX. */
void pc_group_calibrators_match(const pc_group_calibrators *groups, const char *const *names,
                                size_t count, uint32_t *out);

/* Fits calibrators of the task's method to each group, and chooses kappa. */
PC_CHECKED pcal_status pc_group_calibrators_fit(const pc_fit_task *task,
                                                const pcal_fit_config *config, pcal_error *err);

#endif

/* A calibrator for each group of rows, mixed with the one of all rows. */
#ifndef PC_GROUP_CALIBRATORS_H
#define PC_GROUP_CALIBRATORS_H

#include "calibrators/calibrator.h"

#define PC_GROUP_CALIBRATORS_MAX 10000

typedef struct pc_group_member {
  char *name;
  pcal_calibrator *calibrator; /* of the same method, options and layout */
} pc_group_member;

/* Group g with weight n_g has the share n_g / (n_g + kappa) of its own calibrator. */
struct pc_group_calibrators {
  double kappa; /* infinite: all rows together */
  pc_group_member *members;
  size_t count;
};

double pc_group_share(const pc_group_member *member, double kappa);

/* Makes room for members, whose names and calibrators are still NULL. */
PC_CHECKED pcal_status pc_group_calibrators_new(const pcal_env *env, size_t count,
                                                pc_group_calibrators **out, pcal_error *err);
void pc_group_calibrators_free(const pcal_env *env,
                               pc_group_calibrators *grouping); /* NULL is fine */

/* Two maps of the same rows: by `pooled`, and by the member of each row's group, or by pooled
 * where there is none.  batch holds doubles row after row, with groups; both results have as
 * many columns as the calibrator tells. */
PC_CHECKED pcal_status pc_group_calibrators_map_both(const pcal_calibrator *pooled,
                                                     const pcal_calibrator *const *members,
                                                     size_t count, const pcal_batch *batch,
                                                     const pcal_env *env, double *by_all,
                                                     double *by_group, pcal_error *err);

/* As pc_calibrator_apply for a calibrator with a grouping; groups of the batch are numbers of
 * its members, others belong to none. */
PC_CHECKED pcal_status pc_group_calibrators_apply(const pcal_calibrator *calibrator,
                                                  const pcal_batch *batch, const pcal_env *env,
                                                  void *out, pcal_error *err);

/* Numbers of members for the group numbers of a source with these names; UINT32_MAX where a
 * group has no member.  `out` has room for `count`. */
void pc_group_calibrators_match(const pc_group_calibrators *grouping, const char *const *names,
                                size_t count, uint32_t *out);

/* Fits calibrators of the task's method to each group, and chooses kappa. */
PC_CHECKED pcal_status pc_group_calibrators_fit(const pc_fit_task *task,
                                                const pcal_fit_config *config, pcal_error *err);

#endif

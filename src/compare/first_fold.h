/* The Brier score of each row of the first fold, by which `compare` gives up hopeless methods
 * before it fits them to the other folds. */
#ifndef PC_FIRST_FOLD_H
#define PC_FIRST_FOLD_H

#include "compare/held_out.h"

typedef struct pc_first_fold {
  double *scores, *weights; /* of each row; weights NULL: all 1 */
  size_t count;
  double mean;
} pc_first_fold;

/* Scores the rows of the first fold under the calibrator fitted to the other rows.  Only for
 * predictions of classes without missing values.  Free out in any case. */
PC_CHECKED pcal_status pc_first_fold_score(const pc_held_out *held_out,
                                           const pcal_calibrator *calibrator,
                                           pc_first_fold *out, pcal_error *err);
void pc_first_fold_free(const pcal_env *env, pc_first_fold *fold); /* a zeroed one is allowed */

/* By how many standard errors of the mean difference the mean of `fold` is above that of `best`;
 * 0 if it is not above. */
double pc_first_fold_excess(const pc_first_fold *fold, const pc_first_fold *best);

#endif

/* DeLong's test of the areas under the ROC curves of two models on the same rows. */
#ifndef PC_PAIRED_DELONG_H
#define PC_PAIRED_DELONG_H

#include "machines/machine.h"
#include "measure/replicas/paired_test.h"

/* Compares the scores of class 1 of two classes; rows[0] and rows[1] hold the same rows in the same
 * order.  unit: the weight of one row.  difference: of the areas.  *found is 0 if there is no
 * variance to judge by. */
PC_CHECKED pcal_status pc_paired_delong(const pcal_env *env, const pc_kept_rows *rows[2],
                                        double unit, double difference, double level,
                                        int *found, pc_paired_finding *out, pcal_error *err);

#endif

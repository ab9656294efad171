/* Kept rows as units of random draws. */
#ifndef PC_MACHINE_ROWS_H
#define PC_MACHINE_ROWS_H

#include "machines/machine.h"

/* What a unit is, and what its draws depend on. */
typedef struct pc_distinct_rule {
  int by_position; /* draws belong to the index of a row, so that two models draw the same rows;
                      nothing is joined */
  int identified;  /* keys are ids, and none may come twice */
  int importance;  /* each row is a unit, whatever its weight; else a row of weight m is m */
  double scale;    /* of importance weights */
  const uint64_t *cluster_keys; /* by the number of a cluster; beyond them the number itself */
  size_t cluster_count;
} pc_distinct_rule;

/* The rows of a state of the keep machine, equal ones joined, in an order that depends only on
 * what they say.  Released as what finish gives. */
PC_CHECKED pcal_status pc_machine_rows_distinct(const pcal_env *env, const void *state,
                                                const pc_distinct_rule *how, pc_evidence *out,
                                                pcal_error *err);

#endif

/* Distinct rows: stored rows as units of random draws, in general with equal rows joined. */
#ifndef PC_MACHINE_ROWS_H
#define PC_MACHINE_ROWS_H

#include "machines/machine.h"

/* Which rows form a unit, and what its random draws depend on. */
typedef struct pc_distinct_rule {
  int by_position; /* draws depend on the index of a row, so that two models draw the same rows;
                      equal rows are not joined */
  int identified;  /* keys are ids, which must be unique */
  int importance;  /* each row is one unit; else a row of weight m counts as m units */
  double scale;    /* factor of importance weights */
  const uint64_t *cluster_keys; /* key by cluster number; beyond cluster_count the number */
  size_t cluster_count;
} pc_distinct_rule;

/* The rows of a state of the rows machine with equal rows joined, in an order that depends only
 * on their contents.  Freed with pc_machine_rows.release. */
PC_CHECKED pcal_status pc_machine_rows_distinct(const pcal_env *env, const void *state,
                                                const pc_distinct_rule *how, pc_evidence *out,
                                                pcal_error *err);

#endif

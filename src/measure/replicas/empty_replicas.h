/* Replicas of very few rows, many of which draw none of them and have no value. */
#ifndef PC_EMPTY_REPLICAS_H
#define PC_EMPTY_REPLICAS_H

#include "measure/replicas/replicas.h"

/* True if more than the share `lacking` of the planned replicas by weights are empty, so that no
 * interval comes from them and they need not be evaluated.  Never for a comparison, which reads
 * them all the same, nor without rows (NULL). */
int pc_empty_replicas(const pcal_env *env, const pc_measure_plan *plan,
                      const pc_kept_rows *rows, double lacking);

#endif

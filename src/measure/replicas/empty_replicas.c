/* A replica of n rows is empty with probability exp(-n): 37 % of those of one row, 14 % of two,
 * 2 % of four.  Cost: the draws. */
#include "measure/replicas/empty_replicas.h"

#include "measure/replicas/replica_weights.h"

#define EMPTY_REPLICAS_ROWS 4 /* most distinct rows that are looked at */

int pc_empty_replicas(const pcal_env *env, const pc_measure_plan *plan,
                      const pc_kept_rows *rows, double lacking) {
  const size_t count = plan->intervals.replicas;
  const pc_replica_request request = {
      .plan = plan, .rows = rows, .kind = PC_REPLICA_WEIGHTS, .count = count};
  float drawn[EMPTY_REPLICAS_ROWS * PC_REPLICA_LANES];
  double total[PC_REPLICA_LANES];
  size_t kept = 0;
  if (rows == NULL || rows->count > EMPTY_REPLICAS_ROWS || plan->intervals.paired)
    return 0;
  for (size_t r = 0; r < count; r++) {
    if (r % PC_REPLICA_LANES == 0)
      pc_replica_weights(&request, env->seed, r / PC_REPLICA_LANES, NULL, drawn, total);
    kept += total[r % PC_REPLICA_LANES] > 0.0;
  }
  return (double)kept < (1.0 - lacking) * (double)count;
}

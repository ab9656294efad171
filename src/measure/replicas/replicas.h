/* Measuring kept rows again, many times: replicas are ordinary states, with other weights or
 * labels.
 *
 * Draws are pure functions of the seed, the replica and the row's index (or its cluster), so
 * neither threads nor the way in which rows came together show in the values. */
#ifndef PC_REPLICAS_H
#define PC_REPLICAS_H

#include "measure/replicas/replica_batch.h"

typedef enum pc_replica_kind {
  PC_REPLICA_WEIGHTS = 1, /* each row or cluster occurs Poisson(1) times as often */
  PC_REPLICA_LABELS,      /* labels drawn from the predicted probabilities */
  PC_REPLICA_WITHOUT,     /* one block of rows or clusters left out */
  PC_REPLICA_EXCHANGE /* two models (measure/replicas/exchange.h): replica 2 e is the first and 2 e + 1
                         the second one in exchange e */
} pc_replica_kind;

/* What to measure again. */
typedef struct pc_replica_request {
  const pc_measure_plan *plan;
  const uint8_t *entries; /* which of the plan's entries */
  const pc_kept_rows *rows;
  pc_replica_kind kind;
  size_t count;
  const pc_gap_point *points; /* NULL: the replicas themselves; else entry by entry */
  size_t point_count;         /* of each entry; one whose noise is NaN is left out */
  size_t half;                /* of an exchange: how many of the rows are the first model's */
  int whole;                  /* of an exchange: weights count rows */
} pc_replica_request;

/* Can the replicas of an entry be shown at gap points? */
int pc_replica_has_points(const pc_measure_plan *plan, size_t entry, const pc_kept_rows *rows);

/* An entry has PC_REPLICA_VALUES series of values: its own, its inner ones (pc_metric_result), and
 * those of its parts.  Series v of entry e is values[(e * PC_REPLICA_VALUES + v) * count +
 * replica]; NaN where a value is undefined or infinite, and for entries that were not asked
 * for.  With gap points the series are the values at each point, point_count of them. */
#define PC_REPLICA_INNER 1
#define PC_REPLICA_PARTS 2
#define PC_REPLICA_VALUES (PC_REPLICA_PARTS + PC_PARTS_MAX)

void pc_replica_values_clear(const pc_replica_request *request, double *values);
PC_CHECKED pcal_status pc_replicas_measure(const pcal_env *env,
                                           const pc_replica_request *request, double *values,
                                           pcal_error *err);

#endif

/* Measuring stored rows again, with other weights or labels.
 *
 * Draws are pure functions of the seed, the replica and the key of a row (or of its cluster),
 * so that values depend neither on threads nor on the order of rows. */
#ifndef PC_REPLICAS_H
#define PC_REPLICAS_H

#include "measure/replicas/replica_views.h"

typedef enum pc_replica_kind {
  PC_REPLICA_WEIGHTS = 1, /* bootstrap: each row or cluster is drawn Poisson(1) times */
  PC_REPLICA_LABELS,      /* null: labels are drawn from the predictions */
  PC_REPLICA_AS_IS,       /* the rows as they are */
  PC_REPLICA_WITHOUT,     /* jackknife: one block of rows or clusters is left out */
  PC_REPLICA_EXCHANGE /* two models (exchange.h): replica 2 e is the first model in exchange e,
                         replica 2 e + 1 the second */
} pc_replica_kind;

/* Which replicas of which entries to measure. */
typedef struct pc_replica_request {
  const pc_measure_plan *plan;
  const uint8_t *entries; /* by entry of the plan: true if it is measured */
  const pc_kept_rows *rows;
  pc_replica_kind kind;
  size_t count;
  const pc_gap_point *points; /* [entry][point]; NULL: plain replicas */
  size_t point_count;         /* per entry; a point whose noise is NaN is skipped */
  size_t half;                /* exchange: number of rows of the first model */
  int whole;                  /* exchange: weights count rows */
  pc_replica_views *views;    /* of the same plan and rows, for several requests; or NULL */
  /* Takes the bins of each requested grid in each replica, in place of evaluating entries; called
   * by several threads; or NULL. */
  void (*collect)(void *user, size_t slot, size_t replica, const pc_evidence *evidence);
  /* The same for the state of each requested sum, with other labels; total: weight of the
   * replica. */
  void (*collect_sums)(void *user, size_t slot, size_t replica, double total,
                       const void *state);
  void *user;
} pc_replica_request;

/* An entry has PC_REPLICA_VALUES series of values: its value, its inner value
 * (pc_metric_result), and the values of its parts.  Series v of entry e is
 *   values[(e * PC_REPLICA_VALUES + v) * count + replica],
 * NaN if a value is undefined or infinite, or the entry was not requested.  With gap points
 * there are point_count series instead, one for each point. */
#define PC_REPLICA_INNER 1
#define PC_REPLICA_PARTS 2
#define PC_REPLICA_VALUES (PC_REPLICA_PARTS + PC_PARTS_MAX)

/* Evaluates an entry; out[series * count]: its values, NaN where it has none. */
PC_CHECKED pcal_status pc_replica_evaluate(const pcal_env *env, const pc_plan_entry *entry,
                                           const pc_evidence *evidence, size_t count,
                                           double *out, pcal_error *err);
/* The value alone. */
PC_CHECKED pcal_status pc_replica_value(const pcal_env *env, const pc_plan_entry *entry,
                                        const pc_evidence *evidence, double *out,
                                        pcal_error *err);

void pc_replica_values_clear(const pc_replica_request *request, double *values);
PC_CHECKED pcal_status pc_replicas_measure(const pcal_env *env,
                                           const pc_replica_request *request, double *values,
                                           pcal_error *err);

#endif

/* A worker of rounds (rounds.h): answers one request over its rows. */
#ifndef PC_ROUNDS_WORKER_H
#define PC_ROUNDS_WORKER_H

#include "io/name_table.h"
#include "measure/round_request.h"
#include "measure/round_tally.h"

typedef struct pc_measure_rounds_worker {
  pcal_env env;
  pc_round_request request;
  pcal_measure *measure; /* first rounds: holds the rows; NULL: there are none yet */
  /* Later rounds: */
  pc_pass pass;
  pc_refine_columns columns;
  pc_name_table names; /* of groups: number n is state n + 1 */
  pc_group_rows *group_rows;
  pc_row_fingerprint *rows; /* by thread, as are group_rows */
  size_t *map;              /* by group number of the batch: its state */
  size_t map_count, map_capacity;
  uint64_t *group_hashes; /* by group number of the batch: the hash of its name */
  size_t hash_count, hash_capacity;
  int begun;    /* rows were added */
  int failed;   /* an update failed */
  int answered; /* the tally was written */
} pc_measure_rounds_worker;

PC_CHECKED pcal_status pc_measure_rounds_worker_new(const void *request, size_t length,
                                                    const pcal_env *env,
                                                    pc_measure_rounds_worker **out,
                                                    pcal_error *err);
void pc_measure_rounds_worker_free(pc_measure_rounds_worker *worker);

/* After a failure the worker takes no more rows and gives no tally. */
PC_CHECKED pcal_status pc_measure_rounds_worker_update(pc_measure_rounds_worker *worker,
                                                       const pcal_batch *batch,
                                                       pcal_error *err);
/* The same for all rows of a source, from where it stands. */
PC_CHECKED pcal_status pc_measure_rounds_worker_update_source(pc_measure_rounds_worker *worker,
                                                              pcal_source *source,
                                                              pcal_error *err);
PC_CHECKED pcal_status pc_measure_rounds_worker_tally(pc_measure_rounds_worker *worker,
                                                      pcal_sink sink, void *user,
                                                      pcal_error *err);

#endif

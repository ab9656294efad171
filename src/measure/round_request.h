/* Requests of rounds (rounds.h) as bytes.
 *
 * The layout, in order:
 *   magic "PCALRQST", format version, length (base/envelope.h);
 *   round (u32);
 *   whether targets follow, whole curves, whether groups for replicas follow (u8 each);
 *   seed (u64);
 *   kind (u8), columns (u64; 0: those of the data);
 *   normalize, skip_missing, fast (u8 each);
 *   level of intervals (double), replicas (u64), method, null (u8 each);
 *   number of specs (u64), specs (texts);
 *   later rounds: number of states (u64); for each state:
 *     whether it has a name (u8), the name of its group (text);
 *     number of slots (varint);
 *     for each slot its number (varint) and the targets of each part (curve/refine_targets.h);
 *   rounds of replicas: number of groups (u64); for each group:
 *     whether it has a name (u8), its name (text);
 *     bits of its lattice (u8);
 *     its cells (replicas/score_cells.h);
 *   checksum. */
#ifndef PC_ROUND_REQUEST_H
#define PC_ROUND_REQUEST_H

#include "base/envelope.h"
#include "measure/refine_jobs.h"
#include "measure/round_draws.h"

extern const pc_envelope pc_round_request_envelope;

/* What all requests of one measurement hold. */
typedef struct pc_round_config {
  const pcal_env *env;
  pcal_measure_config measure; /* specs are owned */
  char **specs;
  uint32_t round;   /* from 1 */
  int later;        /* the request has targets */
  int whole_curves; /* curves hold all scores: weights are not whole numbers */
  int draws;        /* the request asks for replicas; it has no targets */
  uint64_t seed;    /* of random draws */
} pc_round_config;

/* Copies a configuration; freed with pc_round_config_free. */
PC_CHECKED pcal_status pc_round_config_new(const pcal_env *env, const pcal_measure_config *from,
                                           pc_round_config *out, pcal_error *err);
void pc_round_config_free(pc_round_config *config); /* or a zeroed one */

/* An empty measure whose curves are kept as buckets, or whole (whole_curves).  It keeps rows for
 * replicas only in rounds of them (draws).  It fingerprints its rows.  kind, columns: of the data,
 * used where the configuration leaves the columns open.
 * PCAL_USAGE: a metric cannot be measured in rounds. */
PC_CHECKED pcal_status pc_round_measure_new(const pc_round_config *config, pcal_kind kind,
                                            size_t columns, const pcal_env *env,
                                            pcal_measure **out, pcal_error *err);
/* The changes of a plan behind it: no rows are kept, and curves are buckets. */
void pc_round_plan_drop_rows(pc_measure_plan *plan);
void pc_round_plan_use_buckets(pc_measure_plan *plan);

/* Memory of the targets and tallies of one request, over all states: the coordinator asks for
 * about the first number in one round, and requests beyond the second are refused. */
#define PC_ROUND_ASKED_BYTES ((uint64_t)1 << 28)
#define PC_ROUND_ASKED_MAX ((uint64_t)1 << 29)

/* The rows of one state: all rows, or one group. */
typedef struct pc_round_state {
  char *group; /* its name; NULL: all rows */
  pc_refine_jobs jobs;
} pc_round_state;

/* Frees the states and the list. */
void pc_round_states_free(const pcal_env *env, pc_round_state *states, size_t count);

PC_CHECKED pcal_status pc_round_request_write(const pc_round_config *config,
                                              const pc_round_state *states, size_t count,
                                              const pc_group_tally *draws, size_t draw_count,
                                              pcal_sink sink, void *user, pcal_error *err);

/* Reads a request.  Later rounds: *measure is a measure without rows, and the jobs of *states
 * refer to it; else NULL.  The caller frees all of them, also on failure. */
typedef struct pc_round_request {
  pc_round_config config;
  uint64_t id; /* of the request: a hash of its bytes */
  pcal_measure *measure;
  pc_round_state *states;
  size_t state_count;
  pc_group_tally *draws; /* groups and bits; without tallies */
  size_t draw_count;
} pc_round_request;

PC_CHECKED pcal_status pc_round_request_read(const void *bytes, size_t length, const char *name,
                                             const pcal_env *env, pc_round_request *out,
                                             pcal_error *err);
void pc_round_request_free(pc_round_request *request);

uint64_t pc_round_request_id(const void *bytes, size_t length);

#endif

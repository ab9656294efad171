/* Sums of row values in replicas with other labels: the null of scores such as brier and log
 * needs nothing else.  They are exact, so that those of parts of the rows add up to the bits
 * of all rows (rounds.h). */
#ifndef PC_TALLY_SUMS_H
#define PC_TALLY_SUMS_H

#include "base/codec.h"
#include "measure/replicas/replicas.h"

/* One value in one replica. */
typedef struct pc_tally_sum {
  pc_sum finite, infinite; /* finite values; the weight of rows whose value is infinite */
} pc_tally_sum;

/* The sums of one slot. */
typedef struct pc_tally_sums {
  size_t slot;        /* of the plan */
  size_t values;      /* of a row */
  pc_tally_sum *sums; /* [replica][value] */
} pc_tally_sums;

/* Memory that the sums of one request may take for a group. */
#define PC_TALLY_SUMS_BYTES ((uint64_t)1 << 26)
/* Memory that those of groups of few rows may take together, for all requests. */
#define PC_TALLY_SUMS_FEW_BYTES ((uint64_t)1 << 28)

/* True if the null of an entry needs these sums. */
int pc_tally_sums_suit(const pc_measure_plan *plan, size_t entry);
/* True if rounds tally those of a slot: slots are taken in their order as long as they do not
 * exceed PC_TALLY_SUMS_BYTES. */
int pc_tally_sums_take(const pc_measure_plan *plan, size_t slot);
/* Bytes of all of them. */
uint64_t pc_tally_sums_bytes(const pc_measure_plan *plan);

/* Allocates the sums of `replicas` replicas: all are 0. */
PC_CHECKED pcal_status pc_tally_sums_room(const pcal_env *env, size_t replicas,
                                          pc_tally_sums *sums, pcal_error *err);
void pc_tally_sums_free(const pcal_env *env, pc_tally_sums *list, size_t count);

/* Reads the state of a replica (machine_sum.c). */
void pc_tally_sums_set(pc_tally_sums *sums, size_t replica, const void *state);
/* The values of an entry, as of pc_replicas_measure; totals: weight of each replica. */
PC_CHECKED pcal_status pc_tally_sums_measure(const pc_tally_sums *sums, const double *totals,
                                             const pc_replica_request *request, size_t entry,
                                             double *values, pcal_error *err);

/* Adds sums of the same form.  PCAL_DATA: they are too large, and then *into is not changed. */
PC_CHECKED pcal_status pc_tally_sums_merge(pc_tally_sums *into, const pc_tally_sums *from,
                                           size_t replicas, pcal_error *err);

/* As bytes: of each value of each replica its sum, whether a value is infinite (u8), and the
 * weight of such rows.  Invalid bytes fail the decoder. */
#define PC_TALLY_SUM_BYTES_LEAST 11
void pc_encode_tally_sums(pc_encoder *out, const pc_tally_sums *sums, size_t replicas);
void pc_decode_tally_sums(pc_decoder *in, pc_tally_sums *sums, size_t replicas);

#endif

/* Tallies: the answers of workers to one request (rounds.h), as bytes that merge in any order.
 *
 * The layout, in order: magic "PCALTALY", format version, length (base/envelope.h); id of the
 * request (u64), content (u8), fingerprint of the rows (data/row_fingerprint.h).  First rounds:
 * a saved state (saved_state.h) to the end.  Later rounds: number of parts (u64), sparse tallies
 * (curve/sparse_tally.h), one for each part of each slot of each state of the request.  Rounds of
 * replicas: round_draws.h.  Checksum. */
#ifndef PC_ROUND_TALLY_H
#define PC_ROUND_TALLY_H

#include "base/envelope.h"
#include "curve/sparse_tally.h"
#include "measure/measure.h"
#include "measure/round_draws.h"

typedef enum pc_round_content {
  PC_ROUND_EMPTY,   /* no rows */
  PC_ROUND_BUCKETS, /* a first round: sums, bins, and buckets of curves */
  PC_ROUND_WHOLE,   /* the same with whole curves */
  PC_ROUND_TARGETS, /* a later round */
  PC_ROUND_DRAWS    /* replicas */
} pc_round_content;

typedef struct pc_round_tally {
  const pcal_env *env; /* outlives the tally */
  uint64_t id;
  pc_round_content content;
  pc_row_fingerprint rows;
  pcal_measure *measure;  /* of first rounds */
  pc_sparse_tally *parts; /* of later rounds */
  size_t part_count;
  pc_round_draws draws; /* of replicas */
} pc_round_tally;

void pc_round_tally_free(pc_round_tally *tally); /* or a zeroed one */

/* Allocates `count` parts without rows. */
PC_CHECKED pcal_status pc_round_tally_room(pc_round_tally *tally, size_t count,
                                           pcal_error *err);

PC_CHECKED pcal_status pc_round_tally_write(const pc_round_tally *tally, pcal_sink sink,
                                            void *user, pcal_error *err);
/* The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_round_tally_read(const void *bytes, size_t length, const char *name,
                                           const pcal_env *env, pc_round_tally *out,
                                           pcal_error *err);

/* The fingerprint alone. */
PC_CHECKED pcal_status pc_round_tally_rows(const void *bytes, size_t length, const char *name,
                                           pc_row_fingerprint *out, pcal_error *err);

/* Adds the rows of `from`, which becomes empty.  PCAL_USAGE: the tallies answer different
 * requests. */
PC_CHECKED pcal_status pc_round_tally_merge(pc_round_tally *into, pc_round_tally *from,
                                            pcal_error *err);

/* Removes the row numbers of a measure: workers do not know them.  Groups are then ordered by
 * name. */
void pc_round_forget_rows(pcal_measure *measure);

#endif

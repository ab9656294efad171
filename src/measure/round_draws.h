/* Replicas of rows that no single process has, in rounds (rounds.h): workers tally them
 * (replicas/replica_tally.h) for all rows and for each group.
 *
 * A row draws by its key and its number of copies (data/row_keys.h), so equal rows must be in
 * one part, or be joined into one row with a weight; ids of rows must differ.  Whether they are
 * is checked on a sample: the PC_KEY_SAMPLE lowest hashes of keys, of all rows and of rows of
 * several copies, and whether two parts have them. */
#ifndef PC_ROUND_DRAWS_H
#define PC_ROUND_DRAWS_H

#include "measure/measure.h"
#include "measure/replicas/replica_tally.h"

#define PC_KEY_SAMPLE 512

/* Zeroed: no rows. */
typedef struct pc_key_sample {
  size_t count;
  uint64_t hashes[PC_KEY_SAMPLE]; /* ascending */
  uint8_t shared[PC_KEY_SAMPLE];  /* of each: several parts have it */
} pc_key_sample;

/* The answer to a request for replicas. */
typedef struct pc_round_draws {
  const pcal_env *env; /* outlives it; NULL: empty */
  pc_key_sample all, repeated;
  pc_replica_tally *list; /* one for each group of the request */
  size_t count;
} pc_round_draws;

void pc_round_draws_free(pc_round_draws *draws); /* or a zeroed one */

/* Draws the replicas of the rows of a measure for the given groups. */
PC_CHECKED pcal_status pc_round_draws_new(const pcal_env *env, const pcal_measure *measure,
                                          const pc_group_tally *asked, size_t count,
                                          pc_round_draws *out, pcal_error *err);
PC_CHECKED pcal_status pc_round_draws_merge(pc_round_draws *into, const pc_round_draws *from,
                                            pcal_error *err);
/* PCAL_DATA: equal rows, or rows of one id, are in several parts. */
PC_CHECKED pcal_status pc_round_draws_check(const pc_round_draws *draws, pcal_error *err);

/* As bytes: the samples (number, hashes, whether shared), number of tallies (varint), tallies. */
void pc_encode_round_draws(pc_encoder *out, const pc_round_draws *draws);
/* The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_decode_round_draws(pc_decoder *in, const pcal_env *env,
                                             pc_round_draws *out, pcal_error *err);

/* The groups of a measure that need replicas: all rows, then each group with rows.  The caller
 * frees *out with pc_group_tallies_free. */
PC_CHECKED pcal_status pc_group_tallies_new(const pcal_measure *measure,
                                            const pc_group_state *total, pc_group_tally **out,
                                            size_t *count, pcal_error *err);
/* What the tally of a group holds: of PC_TALLY_WITH_GRIDS ... */
unsigned pc_group_tally_contents(const pc_group_tally *tally);
void pc_group_tallies_free(const pcal_env *env, pc_group_tally *list, size_t count);

#endif

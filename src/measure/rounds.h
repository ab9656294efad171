/* Measuring rows that no single process reads: in rounds.
 *
 * The coordinator (pc_measure_rounds) writes a request.  Workers (rounds_worker.h) answer it
 * over their rows with tallies, which merge in any order (round_tally.h).  The coordinator
 * absorbs the merged tally and has another request, or the results.
 *
 *   first round    sums, bins, and the coarse buckets of every curve, as a saved state
 *   later rounds   the parts of curves that metrics still need (refine_jobs.h)
 *   replicas       for intervals and nulls: sums of the bins of every replica (round_draws.h)
 *
 * The results have the bits of one process on all rows.  Weights that are not whole numbers
 * cannot be counted in buckets: the first round is then repeated with all scores of the curves,
 * whose tallies grow with the rows.
 *
 * Every tally has the fingerprint of its rows.  A round whose fingerprint differs from that of
 * the first is refused: the rows have changed.  Equal rows joined into one with a whole weight are
 * the same rows. */
#ifndef PC_ROUNDS_H
#define PC_ROUNDS_H

#include "base/text.h"
#include "measure/round_request.h"
#include "measure/round_tally.h"

typedef struct pc_measure_rounds {
  pcal_env env;
  pc_round_config config;
  pc_text request; /* bytes of the current one */
  uint64_t id;     /* of the request */
  pc_row_fingerprint rows;
  int known;             /* rows is that of the first round */
  pcal_measure *measure; /* after the first round */
  pc_group_states total; /* all groups together; without groups unused */
  pc_round_state *states;
  size_t state_count;
  pc_group_tally *draws; /* replicas of all rows and of groups; NULL: not begun, or none */
  size_t draw_count;
  size_t draws_done;  /* the first of them that was not asked for */
  size_t draws_asked; /* the end of those in the present request */
  uint64_t room;      /* memory that one request asks for: PC_ROUND_ASKED_BYTES */
  int done;
  int failed; /* absorbing a tally failed half way */
} pc_measure_rounds;

PC_CHECKED pcal_status pc_measure_rounds_new(const pcal_measure_config *config,
                                             const pcal_env *env, pc_measure_rounds **out,
                                             pcal_error *err);
/* From the bytes of a first request. */
PC_CHECKED pcal_status pc_measure_rounds_resume(const void *request, size_t length,
                                                const pcal_env *env, pc_measure_rounds **out,
                                                pcal_error *err);
void pc_measure_rounds_free(pc_measure_rounds *rounds);

/* A refused tally leaves the rounds as they were. */
PC_CHECKED pcal_status pc_measure_rounds_absorb(pc_measure_rounds *rounds, const void *tally,
                                                size_t length, pcal_error *err);

/* The results, without the verdict, once the rounds are done. */
PC_CHECKED pcal_status pc_measure_rounds_finish(const pc_measure_rounds *rounds,
                                                pcal_results **out, pcal_error *err);

#endif

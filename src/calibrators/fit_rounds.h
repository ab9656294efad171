/* Fitting a calibrator to rows that no single process reads: in rounds.
 *
 * As in measure/rounds.h, a coordinator writes a request, workers answer it over their rows with
 * tallies, tallies merge in any order, and the coordinator absorbs their sum, until the
 * calibrator is known.  A round is a pass of the fit over all rows (fit_replay.h); a request
 * holds the merged tallies of all passes before it.  The calibrator has the bytes of a fit in one
 * process. */
#ifndef PC_FIT_ROUNDS_H
#define PC_FIT_ROUNDS_H

#include "base/text.h"
#include "calibrators/calibrator.h"
#include "calibrators/fit_round_bytes.h"

typedef struct pc_fit_rounds {
  pcal_env env;
  pc_fit_request next; /* the current request */
  pc_text request;     /* its bytes */
  uint64_t id;
  pc_row_fingerprint rows;     /* of the first round */
  pcal_calibrator *calibrator; /* once it is known */
  int failed;                  /* absorbing a tally failed half way */
} pc_fit_rounds;

/* PCAL_USAGE: the method cannot be fitted in rounds. */
PC_CHECKED pcal_status pc_fit_rounds_new(const pcal_fit_config *config, const pcal_env *env,
                                         pc_fit_rounds **out, pcal_error *err);
/* From the bytes of a first request. */
PC_CHECKED pcal_status pc_fit_rounds_resume(const void *request, size_t length,
                                            const pcal_env *env, pc_fit_rounds **out,
                                            pcal_error *err);
void pc_fit_rounds_free(pc_fit_rounds *rounds); /* NULL is allowed */

/* A refused tally leaves the rounds as they were. */
PC_CHECKED pcal_status pc_fit_rounds_absorb(pc_fit_rounds *rounds, const void *tally,
                                            size_t length, pcal_error *err);

/* The calibrator, as a copy that the caller frees. */
PC_CHECKED pcal_status pc_fit_rounds_finish(const pc_fit_rounds *rounds, pcal_calibrator **out,
                                            pcal_error *err);

/* ---- Workers ---- */

typedef struct pc_fit_rounds_worker {
  pcal_env env; /* with the seed of the request */
  pc_fit_request request;
  pc_fit_answer answer;
  int failed, answered;
} pc_fit_rounds_worker;

PC_CHECKED pcal_status pc_fit_rounds_worker_new(const void *request, size_t length,
                                                const pcal_env *env, pc_fit_rounds_worker **out,
                                                pcal_error *err);
void pc_fit_rounds_worker_free(pc_fit_rounds_worker *worker); /* NULL is allowed */

/* Adds all rows of a source, from its first one on. */
PC_CHECKED pcal_status pc_fit_rounds_worker_update(pc_fit_rounds_worker *worker,
                                                   pcal_source *source, pcal_error *err);
PC_CHECKED pcal_status pc_fit_rounds_worker_tally(pc_fit_rounds_worker *worker, pcal_sink sink,
                                                  void *user, pcal_error *err);

#endif

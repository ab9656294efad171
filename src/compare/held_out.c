/* Threads: the first fold is fitted alone, with all threads; the others side by side, each on one
 *          thread, if the rows are kept.  Results do not depend on it. */
#include "compare/held_out.h"

#include <stdatomic.h>
#include <string.h>

#include "base/executor.h"
#include "calibrators/fit.h"
#include "io/source.h"
#include "measure/measure_source.h"
#include "system/clock.h"

/* ---- one fit ---- */

/* The callbacks of a fit, with the deadline. */
typedef struct pc_held_out_watch held_out_watch;

#define HELD_OUT_STEPS 1000 /* of the progress of a fold */

static int held_out_interrupted(void *user) {
  held_out_watch *watch = user;
  const pcal_env *given = watch->given;
  if ((watch->deadline > 0.0 && pc_clock_seconds() > watch->deadline) ||
      (given != NULL && given->interrupted != NULL && given->interrupted(given->user)))
    atomic_store(watch->stop, 1);
  return atomic_load(watch->stop);
}

/* Reports the progress of one fit, or that of all folds as one.  Steps of a fit begin anew: the
 * report never goes back. */
static void held_out_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  held_out_watch *watch = user;
  if (watch->given == NULL)
    return;
  if (watch->folds < 2) {
    pc_progress(watch->given, what, done, total);
    return;
  }
  const double share = total > 0 ? (double)done / (double)total : 0.0;
  const uint64_t reached =
      (uint64_t)(HELD_OUT_STEPS * ((double)watch->fold + (share < 1.0 ? share : 1.0)));
  watch->done = reached > watch->done ? reached : watch->done;
  pc_progress(watch->given, "fitting folds", watch->done, HELD_OUT_STEPS * watch->folds);
}

/* The environment of a fit on `threads` threads; 0: as many as given. */
static pcal_env held_out_env(const pc_held_out *held_out, unsigned threads,
                             held_out_watch *watch) {
  pcal_env env = *held_out->env;
  env.user = watch;
  env.interrupted = held_out_interrupted;
  env.progress = held_out_progress;
  env.threads = threads == 0 ? env.threads : threads;
  env.pool = threads == 1 ? NULL : env.pool;
  return env;
}

/* Replaces the callbacks of a fit, which end with it, by the given ones. */
static void held_out_restore(const pcal_env *given, pcal_env *env) {
  env->user = given->user;
  env->interrupted = given->interrupted;
  env->progress = given->progress;
  env->threads = given->threads;
  env->pool = given->pool;
}

static pcal_status held_out_run(const pc_held_out *held_out, pcal_source *source,
                                const char *method, const pcal_calibrator *like,
                                const pcal_env *env, pcal_calibrator **out, pcal_error *err) {
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = method,
                                  .normalize = held_out->normalize,
                                  .skip_missing = held_out->skip_missing};
  PC_TRY(pc_fit_run_like(source, &config, like, env, out, err));
  held_out_restore(held_out->env, &(*out)->env);
  held_out_restore(held_out->env, &(*out)->arena.env);
  return PCAL_OK;
}

static pcal_status held_out_fold(const pc_held_out *held_out, pcal_source *source, size_t fold,
                                 const char *method, const pcal_env *env, pcal_calibrator **out,
                                 pcal_error *err) {
  pc_fold_source training;
  pcal_weights meaning; /* of the weights of all rows, so that no fold decides for itself */
  PC_TRY(pc_source_scale_weights(source, &meaning, err));
  pcal_status status = pc_fold_source_open(source, &held_out->folds, fold, env, &training, err);
  if (status == PCAL_OK)
    status = held_out_run(held_out, training.source, method, fold == 0 ? NULL : out[0], env,
                          &out[fold], err);
  pc_fold_source_close(&training);
  pc_source_restore_weights(source);
  return status;
}

pcal_status pc_held_out_fit_first(const pc_held_out *held_out, const char *method,
                                  pcal_calibrator **out, pcal_error *err) {
  atomic_int stop = 0;
  held_out_watch watch = {.given = held_out->env,
                          .deadline = held_out->deadline,
                          .stop = &stop,
                          .folds = held_out->val != NULL ? 1 : held_out->folds.count};
  const pcal_env env = held_out_env(held_out, 0, &watch);
  return held_out->val != NULL
             ? held_out_run(held_out, held_out->val, method, NULL, &env, &out[0], err)
             : held_out_fold(held_out, held_out->source, 0, method, &env, out, err);
}

/* ---- folds side by side ---- */

typedef struct held_out_job {
  const pc_held_out *held_out;
  const char *method;
  pcal_calibrator **out;
  atomic_int stop;
} held_out_job;

pcal_status pc_held_out_alone_open(const pc_held_out *given, size_t worker, atomic_int *stop,
                                   pc_held_out_alone *out, pcal_error *err) {
  *out = (pc_held_out_alone){.held_out = *given, .given = given};
  out->watch = (held_out_watch){.given = worker == 0 ? given->env : NULL,
                                .deadline = given->deadline,
                                .stop = stop,
                                .folds = given->val != NULL ? 1 : given->folds.count};
  out->env = held_out_env(given, 1, &out->watch);
  out->held_out.env = &out->env;
  out->held_out.source = NULL;
  return pc_memory_source_open(given->kept, &out->env, &out->held_out.source, err);
}

void pc_held_out_alone_close(pc_held_out_alone *alone) {
  pc_source_free(alone->held_out.source);
  alone->held_out.source = NULL;
}

pcal_status pc_held_out_alone_fit(pc_held_out_alone *alone, const char *method, size_t fold,
                                  pcal_calibrator **out, pcal_error *err) {
  alone->watch.fold = fold;
  PC_TRY(held_out_fold(&alone->held_out, alone->held_out.source, fold, method, &alone->env, out,
                       err));
  held_out_restore(alone->given->env, &out[fold]->env);
  held_out_restore(alone->given->env, &out[fold]->arena.env);
  return PCAL_OK;
}

static pcal_status held_out_task(void *user, size_t index, size_t worker, pcal_error *err) {
  held_out_job *job = user;
  pc_held_out_alone alone;
  pcal_status status = pc_held_out_alone_open(job->held_out, worker, &job->stop, &alone, err);
  if (status == PCAL_OK)
    status = pc_held_out_alone_fit(&alone, job->method, index + 1, job->out, err);
  pc_held_out_alone_close(&alone);
  return status;
}

int pc_held_out_is_kept(const pc_held_out *held_out) {
  return held_out->kept != NULL && held_out->kept->batch.rows > 0;
}

pcal_status pc_held_out_fit_others(const pc_held_out *held_out, const char *method,
                                   pcal_calibrator **out, pcal_error *err) {
  const double always = 1e12; /* enough work for all threads */
  held_out_job job = {held_out, method, out, 0};
  if (held_out->val != NULL || held_out->folds.count < 2)
    return PCAL_OK;
  if (pc_held_out_is_kept(held_out))
    return pc_run(held_out->env, held_out->folds.count - 1, always, held_out_task, &job, err);
  held_out_watch watch = {.given = held_out->env,
                          .deadline = held_out->deadline,
                          .stop = &job.stop,
                          .folds = held_out->folds.count};
  const pcal_env env = held_out_env(held_out, 0, &watch);
  for (watch.fold = 1; watch.fold < held_out->folds.count; watch.fold++)
    PC_TRY(held_out_fold(held_out, held_out->source, watch.fold, method, &env, out, err));
  return PCAL_OK;
}

pcal_status pc_held_out_fit(const pc_held_out *held_out, const char *method,
                            pcal_calibrator **out, pcal_error *err) {
  PC_TRY(pc_held_out_fit_first(held_out, method, out, err));
  return pc_held_out_fit_others(held_out, method, out, err);
}

/* ---- judging ---- */

pcal_status pc_held_out_open(const pc_held_out *held_out, pcal_calibrator *const *calibrators,
                             pc_recalibrated_source *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  PC_TRY(pc_source_rewind(held_out->source, err));
  return pc_recalibrated_source_open(held_out->source, &held_out->folds, calibrators,
                                     held_out->skip_missing, held_out->env, out, err);
}

pcal_status pc_held_out_measure(const pc_held_out *held_out,
                                pcal_calibrator *const *calibrators,
                                const pcal_measure_config *config, pcal_results **out,
                                pcal_error *err) {
  pc_recalibrated_source mapped;
  pcal_status status = pc_held_out_open(held_out, calibrators, &mapped, err);
  if (status == PCAL_OK)
    status = pc_measure_whole(mapped.source, config, held_out->env, out, err);
  pc_recalibrated_source_close(&mapped);
  return status;
}

pcal_status pc_held_out_alone_measure(pc_held_out_alone *alone,
                                      pcal_calibrator *const *calibrators,
                                      const pcal_measure_config *config, pcal_results **out,
                                      pcal_error *err) {
  PC_TRY(pc_held_out_measure(&alone->held_out, calibrators, config, out, err));
  (*out)->env.user = alone->given->env->user;
  (*out)->env.threads = alone->given->env->threads;
  (*out)->notation = pc_source_notation(alone->given->source);
  return PCAL_OK;
}

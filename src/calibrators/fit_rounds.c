#include "calibrators/fit_rounds.h"

#include "base/rng.h"
#include "calibrators/calibrator_file.h"
#include "calibrators/fit.h"
#include "calibrators/fit_replay.h"
#include "io/source.h"

static int fit_rounds_sink(void *user, const char *bytes, size_t count) {
  pc_text *text = user;
  pc_text_add_bytes(text, bytes, count);
  return text->failed;
}

static pcal_status fit_rounds_write(pc_fit_rounds *rounds, pcal_error *err) {
  pc_text_free(&rounds->request);
  pc_text_init(&rounds->request, &rounds->env);
  rounds->next.round++;
  const pcal_status status =
      pc_fit_request_write(&rounds->next, fit_rounds_sink, &rounds->request, err);
  PC_TRY(pc_text_status(&rounds->request, err));
  PC_TRY(status);
  rounds->id = pc_hash_bytes(rounds->request.bytes, rounds->request.length);
  return PCAL_OK;
}

static pcal_status fit_rounds_check(const pcal_fit_config *config, pcal_error *err) {
  const pc_calibrator_method *method = NULL;
  pc_options options;
  PC_TRY(pc_calibrator_parse(config->method, &method, &options, err));
  if (config->by_group)
    return pc_fail(err, PCAL_USAGE,
                   "calibrators of groups need all rows at once, so they cannot be fitted in "
                   "rounds; leave the groups out, or fit in one process");
  return method->in_rounds && (method->can_round == NULL || method->can_round(&options))
             ? PCAL_OK
             : pc_fail(err, PCAL_USAGE,
                       "%s needs all rows at once, so it cannot be fitted in rounds; fit it in "
                       "one process on a sample of the rows",
                       method->row.name);
}

pcal_status pc_fit_rounds_new(const pcal_fit_config *config, const pcal_env *env,
                              pc_fit_rounds **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  PC_TRY(fit_rounds_check(config, err));
  pc_fit_rounds *rounds = pc_alloc(&resolved, 1, sizeof *rounds);
  if (rounds == NULL)
    return pc_fail_memory(err, "preparing to fit");
  rounds->env = resolved;
  pc_text_init(&rounds->request, &rounds->env);
  rounds->next = (pc_fit_request){.env = &rounds->env,
                                  .method = pc_copy_text(&rounds->env, config->method),
                                  .normalize = config->normalize != 0,
                                  .skip_missing = config->skip_missing != 0,
                                  .seed = rounds->env.seed};
  const pcal_status status = rounds->next.method == NULL
                                 ? pc_fail_memory(err, "preparing to fit")
                                 : fit_rounds_write(rounds, err);
  if (status != PCAL_OK) {
    pc_fit_rounds_free(rounds);
    return status;
  }
  *out = rounds;
  return PCAL_OK;
}

void pc_fit_rounds_free(pc_fit_rounds *rounds) {
  if (rounds == NULL)
    return;
  const pcal_env env = rounds->env;
  pc_fit_request_free(&rounds->next);
  pc_text_free(&rounds->request);
  pc_calibrator_free(rounds->calibrator);
  pc_free(&env, rounds);
}

static pcal_status fit_rounds_resume(const pc_fit_request *first, const pcal_env *env,
                                     pc_fit_rounds **out, pcal_error *err) {
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = first->method,
                                  .normalize = first->normalize,
                                  .skip_missing = first->skip_missing};
  pcal_env seeded = *env;
  if (first->round != 1 || first->count > 0)
    return pc_fail(err, PCAL_USAGE,
                   "this is the request of a later round; resume rounds from their first one");
  seeded.seed = first->seed;
  return pc_fit_rounds_new(&config, &seeded, out, err);
}

pcal_status pc_fit_rounds_resume(const void *request, size_t length, const pcal_env *env,
                                 pc_fit_rounds **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_fit_request first;
  pcal_status status =
      pc_fit_request_read(request, length, "the request", &resolved, &first, err);
  if (status == PCAL_OK)
    status = fit_rounds_resume(&first, &resolved, out, err);
  pc_fit_request_free(&first);
  return status;
}

/* ---- Absorbing ---- */

/* Runs the fit with the tallies so far, over a source that has the shape of the data. */
static pcal_status fit_rounds_run(pc_fit_rounds *rounds, pcal_error *err) {
  const pc_fit_request *next = &rounds->next;
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = next->method,
                                  .normalize = next->normalize,
                                  .skip_missing = next->skip_missing};
  const int32_t label = 0;
  const double target = 0.0;
  pc_fit_replay replay = {.answers = next->answers, .count = next->count};
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  double *scores = pc_alloc(&rounds->env, next->shape.columns, sizeof *scores);
  if (scores == NULL)
    return pc_fail_memory(err, "fitting");
  batch.kind = next->shape.kind;
  batch.type = PCAL_F64;
  batch.rows = 1;
  batch.columns = next->shape.columns;
  batch.scores = scores;
  batch.labels = pc_kind_form(batch.kind) == PC_FORM_CLASSES ? &label : NULL;
  batch.targets = batch.labels == NULL ? &target : NULL;
  batch.levels = batch.kind == PCAL_QUANTILES ? next->shape.levels : NULL;
  pcal_status status = pc_source_borrow(&batch, (const char *const *)next->shape.class_names,
                                        &rounds->env, &source, err);
  if (status == PCAL_OK)
    status =
        pc_fit_run_replay(source, &config, &replay, &rounds->env, &rounds->calibrator, err);
  pc_source_free(source);
  pc_free(&rounds->env, scores);
  if (!replay.stopped)
    return status;
  pc_error_clear(err);
  return fit_rounds_write(rounds, err);
}

static pcal_status fit_rounds_check_answer(const pc_fit_rounds *rounds,
                                           const pc_fit_answer *answer, pcal_error *err) {
  if (answer->id != rounds->id)
    return pc_fail(err, PCAL_USAGE,
                   "the tally answers another request; absorb the tally of the latest one");
  if (rounds->next.count == 0)
    return answer->any ? PCAL_OK
                       : pc_fail(err, PCAL_DATA, "there are no rows to fit; give more data");
  if (!pc_row_fingerprint_equal(&rounds->rows, &answer->rows))
    return pc_fail(err, PCAL_DATA,
                   "the rows of this round differ from those of the first (%llu rows then, "
                   "%llu now); store the table before fitting, so that every round reads the "
                   "same rows",
                   (unsigned long long)rounds->rows.rows,
                   (unsigned long long)answer->rows.rows);
  return pc_fit_data_shape_check(&rounds->next.shape, &answer->shape, err);
}

/* Moves the contents of a tally to the answers. */
static pcal_status fit_rounds_take(pc_fit_rounds *rounds, pc_fit_answer *answer,
                                   pcal_error *err) {
  pc_fit_request *next = &rounds->next;
  void *answers = next->answers;
  const pcal_status status = pc_reserve(&rounds->env, &answers, &next->capacity,
                                        next->count + 1, sizeof *next->answers, err);
  next->answers = answers;
  PC_TRY(status);
  if (next->count == 0) {
    next->shape = answer->shape;
    rounds->rows = answer->rows;
    answer->shape = (pc_fit_data_shape){0};
  }
  next->answers[next->count++] = answer->tally;
  pc_fit_tally_init(&answer->tally, answer->env);
  return PCAL_OK;
}

static pcal_status fit_rounds_absorb(pc_fit_rounds *rounds, pc_fit_answer *answer,
                                     pcal_error *err) {
  PC_TRY(fit_rounds_check_answer(rounds, answer, err));
  PC_TRY(fit_rounds_take(rounds, answer, err));
  rounds->failed = 1; /* until the next request is written */
  PC_TRY(fit_rounds_run(rounds, err));
  rounds->failed = 0;
  return PCAL_OK;
}

static pcal_status fit_rounds_usable(const pc_fit_rounds *rounds, pcal_error *err) {
  return rounds->failed
             ? pc_fail(err, PCAL_USAGE, "absorbing a tally failed; begin the rounds again")
             : PCAL_OK;
}

pcal_status pc_fit_rounds_absorb(pc_fit_rounds *rounds, const void *tally, size_t length,
                                 pcal_error *err) {
  pc_fit_answer answer;
  PC_TRY(fit_rounds_usable(rounds, err));
  if (rounds->calibrator != NULL)
    return pc_fail(err, PCAL_USAGE, "the rounds are done; ask for the calibrator");
  pcal_status status =
      pc_fit_answer_read(tally, length, "the tally", &rounds->env, &answer, err);
  if (status == PCAL_OK)
    status = fit_rounds_absorb(rounds, &answer, err);
  pc_fit_answer_free(&answer);
  return status;
}

pcal_status pc_fit_rounds_finish(const pc_fit_rounds *rounds, pcal_calibrator **out,
                                 pcal_error *err) {
  pc_text text;
  PC_TRY(fit_rounds_usable(rounds, err));
  if (rounds->calibrator == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "the rounds are not done; answer the request and absorb its tally");
  pc_text_init(&text, &rounds->env);
  pc_calibrator_save(rounds->calibrator, &text);
  pcal_status status = pc_text_status(&text, err);
  if (status == PCAL_OK)
    status = pc_calibrator_load(text.bytes, text.length, "calibrator", &rounds->env, out, err);
  pc_text_free(&text);
  return status;
}

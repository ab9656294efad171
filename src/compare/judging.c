/* Given up: a slow method of the default list whose Brier score on the first fold is more than
 *           JUDGING_HOPELESS standard errors above that of the best method so far. */
#include "compare/judging.h"

#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "calibrators/fit.h"
#include "system/clock.h"

#define JUDGING_HOPELESS 4.0
/* Scores of rows: of more, the fits of all contestants at once could need much memory, and each
 * has enough work for all threads. */
#define JUDGING_STAGES_CELLS ((size_t)1 << 21)
#define JUDGING_ONE_RUN_CELLS ((size_t)1 << 18)

/* ---- one contestant ---- */

pc_held_out pc_judging_held_out(const pc_judging *state, size_t index) {
  const pcal_model *model = &state->models[index];
  return (pc_held_out){.env = &state->env,
                       .source = model->source,
                       .val = model->val,
                       .folds = {state->env.seed, model->val != NULL ? 1 : state->table->folds,
                                 state->by_cluster},
                       .normalize = state->config->normalize,
                       .skip_missing = state->config->skip_missing,
                       .kept = &state->kept,
                       .deadline = state->deadline};
}

static pcal_measure_config judging_value_config(const pc_judging *state, size_t spec_count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.specs = state->specs;
  config.spec_count = spec_count;
  config.skip_missing = state->config->skip_missing;
  return config;
}

/* Gains need replicas; the interval of a value is not shown, so the cheapest one is requested. */
static pcal_measure_config judging_gain_config(const pc_judging *state, size_t spec_count) {
  pcal_measure_config config = judging_value_config(state, spec_count);
  config.interval = state->table->level;
  config.interval_method = PCAL_INTERVAL_NORMAL;
  config.replicas = state->config->replicas;
  config.paired = 1;
  config.by_cluster = state->by_cluster;
  return config;
}

/* Stores the traits that all fits share, and the worst of their statuses. */
static void judging_store_fit(pc_contestant *contestant, pcal_calibrator *const *calibrators,
                              size_t count) {
  pc_fit_status status = calibrators[0]->fit.status;
  contestant->traits = ~0u;
  for (size_t i = 0; i < count; i++) {
    const pc_fit_status here = calibrators[i]->fit.status;
    contestant->traits &= pc_calibrator_traits(calibrators[i]);
    if (here == PC_FIT_STOPPED || (status == PC_FIT_IDENTITY && here != PC_FIT_IDENTITY))
      status = here;
  }
  contestant->status = pc_fit_status_name(status);
  pc_options_write(&calibrators[0]->options, 1, contestant->spec, sizeof contestant->spec);
  pc_options_write(&calibrators[0]->options, 0, contestant->label, sizeof contestant->label);
}

/* True for a method of the default list, which may be left out. */
static int judging_is_optional(const pc_judging *state, const pc_contestant *contestant) {
  return state->config->method_count == 0 && strcmp(contestant->spec, "identity") != 0;
}

/* True if methods that take long may be given up after the first fold. */
static int judging_gives_up(const pc_judging *state) {
  return state->config->method_count == 0 && state->table->model_count == 1 &&
         state->table->folds > 0 && state->form == PC_FORM_CLASSES &&
         !state->config->skip_missing;
}

void pc_judging_count(const pc_judging *state, const pc_contestant *contestant,
                      uint64_t steps) {
  atomic_fetch_add(&state->table->progress.done, steps * pc_judging_share(contestant));
}

static void judging_write_hopeless(const pc_judging *state, const pc_first_fold *fold,
                                   double excess, pc_contestant *contestant) {
  char score[PC_NUMBER_MAX], above[PC_NUMBER_MAX], errors[PC_NUMBER_MAX];
  pc_number_round(fold->mean, 4, score);
  pc_number_round(fold->mean - state->leader.mean, 2, above);
  pc_number_round(excess, 2, errors);
  contestant->omission = PC_OMITTED_HOPELESS;
  snprintf(
      contestant->why, sizeof contestant->why,
      "given up after the first of %zu folds: its Brier score there, %.16s, is %.16s above "
      "that of %.60s, which is %.16s standard errors",
      state->table->folds, score, above, state->leader_name, errors);
}

/* True if a contestant is scored on the first fold. */
static int judging_scores_first(const pc_judging *state, const pc_held_out *held_out,
                                const pcal_calibrator *first) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(held_out->source, &shape);
  return judging_gives_up(state) && pc_calibrator_columns(first) == shape.columns;
}

/* Compares a first fold with the best so far, and takes it over; returns true if the contestant
 * is given up. */
static int judging_compare_first(pc_judging *state, pc_first_fold *fold,
                                 pc_contestant *contestant) {
  const double excess = pc_first_fold_excess(fold, &state->leader);
  const int hopeless = excess > JUDGING_HOPELESS && contestant->slow;
  if (hopeless)
    judging_write_hopeless(state, fold, excess, contestant);
  if (state->leader.count == 0 || fold->mean < state->leader.mean) {
    pc_first_fold_free(&state->env, &state->leader);
    state->leader = *fold;
    snprintf(state->leader_name, sizeof state->leader_name, "%s", contestant->label);
    *fold = (pc_first_fold){0};
  }
  pc_first_fold_free(&state->env, fold);
  return hopeless;
}

/* Scores the first fold; *hopeless: the contestant is given up. */
static pcal_status judging_first_fold(pc_judging *state, const pc_held_out *held_out,
                                      const pcal_calibrator *first, pc_contestant *contestant,
                                      int *hopeless, pcal_error *err) {
  pc_first_fold fold = {0};
  if (!judging_scores_first(state, held_out, first))
    return PCAL_OK;
  const pcal_status status = pc_first_fold_score(held_out, first, &fold, err);
  if (status == PCAL_OK)
    *hopeless = judging_compare_first(state, &fold, contestant);
  pc_first_fold_free(&state->env, &fold);
  return status;
}

/* Measures what the fits of a contestant predict.  alone: NULL, or the task that does it. */
static pcal_status judging_measure(const pc_held_out *held_out, pc_held_out_alone *alone,
                                   pcal_calibrator *const *calibrators,
                                   const pcal_measure_config *config, pcal_results **out,
                                   pcal_error *err) {
  return alone == NULL ? pc_held_out_measure(held_out, calibrators, config, out, err)
                       : pc_held_out_alone_measure(alone, calibrators, config, out, err);
}

static pcal_status judging_judge_fits(const pc_judging *state, const pc_held_out *held_out,
                                      pc_held_out_alone *alone,
                                      pcal_calibrator *const *calibrators,
                                      pc_contestant *contestant, pcal_error *err) {
  /* Clusters need a level: one measurement then has values and replicas. */
  const int rank_only = state->config->rank_only && state->spec_count > 1 && !state->by_cluster;
  const pcal_measure_config values = judging_value_config(state, state->spec_count);
  const pcal_measure_config gains =
      judging_gain_config(state, rank_only ? 1 : state->spec_count);
  if (rank_only)
    PC_TRY(judging_measure(held_out, alone, calibrators, &gains, &contestant->ranked, err));
  PC_TRY(judging_measure(held_out, alone, calibrators, rank_only ? &values : &gains,
                         &contestant->results, err));
  judging_store_fit(contestant, calibrators, held_out->folds.count);
  return PCAL_OK;
}

static pcal_status judging_judge(pc_judging *state, pc_contestant *contestant,
                                 pcal_error *err) {
  pc_held_out held_out = pc_judging_held_out(state, contestant->model);
  pcal_calibrator *calibrators[PC_FOLDS_MAX] = {NULL};
  char method[PC_SPEC_MAX];
  int hopeless = 0;
  snprintf(method, sizeof method, "%s", contestant->spec);
  if (strcmp(method, "identity") == 0)
    held_out.deadline = 0.0;
  pcal_status status = pc_held_out_fit_first(&held_out, method, calibrators, err);
  if (status == PCAL_OK)
    status = judging_first_fold(state, &held_out, calibrators[0], contestant, &hopeless, err);
  if (status == PCAL_OK && !hopeless)
    status = pc_held_out_fit_others(&held_out, method, calibrators, err);
  if (status == PCAL_OK && !hopeless)
    status = judging_judge_fits(state, &held_out, NULL, calibrators, contestant, err);
  for (size_t i = 0; i < held_out.folds.count; i++)
    pc_calibrator_free(calibrators[i]);
  return status;
}

/* ---- or the reason why not ---- */

/* Fails for a method of the default list whose map is that of another one. */
static pcal_status judging_check_same(const pcal_model *model, const char *spec,
                                      pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  const pc_calibrator_method *method = NULL;
  pc_options options;
  pc_source_shape(model->source, &shape);
  PC_TRY(pc_calibrator_parse(spec, &method, &options, err));
  if (shape.kind == PCAL_LOGIT || method->same_without_logits == NULL)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "without logits %s fits the same map as %s; to fit it too, name it with "
                 "{method_begin}%s{method_end}",
                 spec, method->same_without_logits, spec);
}

/* Fails for a method of the default list that would take hours. */
static pcal_status judging_check_cost(const pc_judging *state, const pcal_model *model,
                                      const char *method, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(model->val != NULL ? model->val : model->source, &shape);
  const uint64_t fits = model->val != NULL ? 1 : state->table->folds;
  return pc_fit_check_cost(method, fits * shape.row_count, shape.columns, err);
}

static int judging_is_late(const pc_judging *state) {
  return state->deadline > 0.0 && pc_clock_seconds() > state->deadline;
}

static void judging_write_late(const pc_judging *state, const char *when,
                               pc_contestant *contestant) {
  char seconds[PC_NUMBER_MAX];
  contestant->omission = PC_OMITTED_LATE;
  snprintf(contestant->why, sizeof contestant->why,
           "the time budget of %s s ended %s; give more time",
           pc_show(state->config->budget, seconds), when);
}

/* Records why a contestant was not judged, or returns the error. */
static pcal_status judging_excuse(const pc_judging *state, pc_contestant *contestant,
                                  pcal_status status, const pcal_error *why, pcal_error *err) {
  if (status == PCAL_OK)
    return PCAL_OK;
  if (status == PCAL_INTERRUPTED && judging_is_late(state)) {
    judging_write_late(state, "during its fit", contestant);
    return PCAL_OK;
  }
  if (judging_is_optional(state, contestant) && (status == PCAL_DATA || status == PCAL_USAGE)) {
    pcal_error_text(why, state->env.caller, contestant->why, sizeof contestant->why);
    return PCAL_OK;
  }
  if (err != NULL)
    *err = *why;
  return status;
}

static pcal_status judging_check(const pc_judging *state, const pc_contestant *contestant,
                                 pcal_error *err) {
  const pcal_model *model = &state->models[contestant->model];
  if (!judging_is_optional(state, contestant))
    return PCAL_OK;
  PC_TRY(judging_check_same(model, contestant->spec, err));
  return judging_check_cost(state, model, contestant->spec, err);
}

pcal_status pc_judging_try(pc_judging *state, pc_contestant *contestant, pcal_error *err) {
  const int plain = strcmp(contestant->spec, "identity") == 0;
  pcal_error why = PCAL_ERROR_INIT;
  if (!plain && judging_is_late(state)) {
    judging_write_late(state, "before its fit", contestant);
    return PCAL_OK;
  }
  pcal_status status = judging_check(state, contestant, &why);
  if (status == PCAL_OK)
    status = judging_judge(state, contestant, &why);
  return judging_excuse(state, contestant, status, &why, err);
}

/* ---- several contestants side by side ---- */

/* One contestant on its way through the stages. */
typedef struct judging_entrant {
  pc_contestant *contestant;
  char method[PC_SPEC_MAX];
  pcal_calibrator **calibrators; /* one for each fold */
  pc_first_fold fold;
  int scored, out;   /* the first fold is; the contestant goes no further */
  atomic_int failed; /* a later fold has */
  int measured;      /* by a task, or it was tried */
  pcal_status status;
  pcal_error why;
} judging_entrant;

/* The user data of the tasks of all stages. */
typedef struct judging_stages {
  pc_judging *state;
  pc_held_out held_out;
  judging_entrant *list;
  size_t count;
  atomic_int stop;
} judging_stages;

static int judging_goes_on(const judging_entrant *entrant) {
  return entrant->status == PCAL_OK && !entrant->out;
}

/* Keeps the status of an entrant; only an interruption ends the stage. */
static pcal_status judging_keep(judging_entrant *entrant, pcal_status status, pcal_error *err) {
  if (status == PCAL_OK || status == PCAL_INTERRUPTED)
    return status;
  entrant->status = status;
  entrant->why = *err;
  return PCAL_OK;
}

/* The same outside tasks, where err is the caller's and may be NULL. */
static pcal_status judging_keep_here(judging_entrant *entrant, pcal_status status,
                                     pcal_error *why, pcal_error *err) {
  status = judging_keep(entrant, status, why);
  if (status != PCAL_OK && err != NULL)
    *err = *why;
  return status;
}

static void judging_forget_fits(judging_entrant *entrant, size_t from, size_t folds) {
  for (size_t fold = from; fold < folds; fold++) {
    pc_calibrator_free(entrant->calibrators[fold]);
    entrant->calibrators[fold] = NULL;
  }
}

static pcal_status judging_fit_first_task(void *user, size_t index, size_t worker,
                                          pcal_error *err) {
  judging_stages *all = user;
  judging_entrant *entrant = &all->list[all->count - 1 - index]; /* slow ones first */
  pc_held_out_alone alone;
  if (!judging_goes_on(entrant))
    return PCAL_OK;
  pcal_status status = pc_held_out_alone_open(&all->held_out, worker, &all->stop, &alone, err);
  if (status == PCAL_OK)
    status = pc_held_out_alone_fit(&alone, entrant->method, 0, entrant->calibrators, err);
  entrant->scored = status == PCAL_OK &&
                    judging_scores_first(all->state, &alone.held_out, entrant->calibrators[0]);
  if (entrant->scored)
    status = pc_first_fold_score(&alone.held_out, entrant->calibrators[0], &entrant->fold, err);
  pc_held_out_alone_close(&alone);
  pc_judging_count(all->state, entrant->contestant, 1);
  return judging_keep(entrant, status, err);
}

static pcal_status judging_fit_other_task(void *user, size_t index, size_t worker,
                                          pcal_error *err) {
  judging_stages *all = user;
  const size_t others = all->held_out.folds.count - 1;
  judging_entrant *entrant = &all->list[all->count - 1 - index / others];
  pc_held_out_alone alone;
  if (entrant->out || entrant->calibrators[0] == NULL)
    return PCAL_OK;
  pcal_status status = pc_held_out_alone_open(&all->held_out, worker, &all->stop, &alone, err);
  if (status == PCAL_OK)
    status = pc_held_out_alone_fit(&alone, entrant->method, index % others + 1,
                                   entrant->calibrators, err);
  pc_held_out_alone_close(&alone);
  pc_judging_count(all->state, entrant->contestant, 1);
  if (status == PCAL_OK || status == PCAL_INTERRUPTED)
    return status;
  atomic_store(&entrant->failed, 1);
  return PCAL_OK;
}

/* Fits the first fold of an entrant once more, alone: side by side the fits took too much
 * memory. */
static pcal_status judging_fit_first_again(judging_stages *all, judging_entrant *entrant,
                                           pcal_error *err) {
  const pc_held_out *held_out = &all->held_out;
  pcal_error why = PCAL_ERROR_INIT;
  judging_forget_fits(entrant, 0, 1);
  pc_first_fold_free(&all->state->env, &entrant->fold);
  entrant->fold = (pc_first_fold){0};
  entrant->status = PCAL_OK;
  pcal_status status =
      pc_held_out_fit_first(held_out, entrant->method, entrant->calibrators, &why);
  entrant->scored =
      status == PCAL_OK && judging_scores_first(all->state, held_out, entrant->calibrators[0]);
  if (entrant->scored)
    status = pc_first_fold_score(held_out, entrant->calibrators[0], &entrant->fold, &why);
  return judging_keep_here(entrant, status, &why, err);
}

/* Fits the later folds of an entrant once more, for the error of the first that fails. */
static pcal_status judging_fit_again(judging_stages *all, judging_entrant *entrant,
                                     pcal_error *err) {
  pcal_error why = PCAL_ERROR_INIT;
  judging_forget_fits(entrant, 1, all->held_out.folds.count);
  const pcal_status status =
      pc_held_out_fit_others(&all->held_out, entrant->method, entrant->calibrators, &why);
  return judging_keep_here(entrant, status, &why, err);
}

static pcal_status judging_measure_task(void *user, size_t index, size_t worker,
                                        pcal_error *err) {
  judging_stages *all = user;
  judging_entrant *entrant = &all->list[index];
  pc_held_out_alone alone;
  if (!judging_goes_on(entrant))
    return PCAL_OK;
  entrant->measured = 1;
  pcal_status status = pc_held_out_alone_open(&all->held_out, worker, &all->stop, &alone, err);
  if (status == PCAL_OK)
    status = judging_judge_fits(all->state, &all->held_out, &alone, entrant->calibrators,
                                entrant->contestant, err);
  pc_held_out_alone_close(&alone);
  pc_judging_count(all->state, entrant->contestant, 1);
  return judging_keep(entrant, status, err);
}

/* Fits all entrants to all folds, except those that are given up after the first. */
static pcal_status judging_fit_stages(judging_stages *all, pcal_error *err) {
  const double always = 1e12; /* enough work for all threads */
  const pcal_env *env = &all->state->env;
  for (size_t i = 0; i < all->count; i++)
    all->list[i].status = judging_check(all->state, all->list[i].contestant, &all->list[i].why);
  PC_TRY(pc_run(env, all->count, always, judging_fit_first_task, all, err));
  for (size_t i = 0; i < all->count; i++) {
    judging_entrant *entrant = &all->list[i];
    if (entrant->status == PCAL_MEMORY)
      PC_TRY(judging_fit_first_again(all, entrant, err));
    if (judging_goes_on(entrant) && entrant->scored)
      entrant->out = judging_compare_first(all->state, &entrant->fold, entrant->contestant);
    else if (!judging_goes_on(entrant))
      entrant->out = 1;
  }
  PC_TRY(pc_run(env, all->count * (all->held_out.folds.count - 1), always,
                judging_fit_other_task, all, err));
  for (size_t i = 0; i < all->count; i++)
    if (atomic_load(&all->list[i].failed))
      PC_TRY(judging_fit_again(all, &all->list[i], err));
  return PCAL_OK;
}

/* How many entrants are measured by one task each; the others, too few to keep all threads
 * busy, are measured one after the other with all threads. */
static size_t judging_task_count(const judging_stages *all, size_t workers) {
  size_t live = 0, taken = 0, end = 0;
  for (size_t i = 0; i < all->count; i++)
    live += (size_t)judging_goes_on(&all->list[i]);
  const size_t rest = live % workers, wanted = 2 * rest > workers ? live : live - rest;
  while (taken < wanted)
    taken += (size_t)judging_goes_on(&all->list[end++]);
  return end;
}

/* Measures an entrant with all threads. */
static pcal_status judging_measure_here(judging_stages *all, judging_entrant *entrant,
                                        pcal_error *err) {
  pcal_error why = PCAL_ERROR_INIT;
  const pcal_status status = judging_judge_fits(
      all->state, &all->held_out, NULL, entrant->calibrators, entrant->contestant, &why);
  return judging_keep_here(entrant, status, &why, err);
}

/* The same once more, alone: side by side the measurements took too much memory. */
static pcal_status judging_measure_again(judging_stages *all, judging_entrant *entrant,
                                         pcal_error *err) {
  pc_contestant *contestant = entrant->contestant;
  pc_results_free(contestant->ranked);
  pc_results_free(contestant->results);
  contestant->ranked = contestant->results = NULL;
  entrant->status = PCAL_OK;
  return judging_measure_here(all, entrant, err);
}

static pcal_status judging_measure_stage(judging_stages *all, pcal_error *err) {
  const double always = 1e12; /* enough work for all threads */
  const pcal_env *env = &all->state->env;
  const size_t tasks = judging_task_count(all, pc_worker_count(env));
  PC_TRY(pc_run(env, tasks, always, judging_measure_task, all, err));
  for (size_t i = 0; i < tasks; i++)
    if (judging_goes_on(&all->list[i])) /* measured */
      judging_forget_fits(&all->list[i], 0, all->held_out.folds.count);
  for (size_t i = 0; i < all->count; i++) {
    judging_entrant *entrant = &all->list[i];
    if (entrant->measured && entrant->status == PCAL_MEMORY)
      PC_TRY(judging_measure_again(all, entrant, err));
    if (entrant->measured || !judging_goes_on(entrant))
      continue;
    PC_TRY(judging_measure_here(all, entrant, err));
    pc_judging_count(all->state, entrant->contestant, 1);
  }
  return PCAL_OK;
}

static void judging_stages_free(judging_stages *all) {
  const pcal_env *env = &all->state->env;
  for (size_t i = 0; all->list != NULL && i < all->count; i++) {
    for (size_t f = 0; all->list[i].calibrators != NULL && f < all->held_out.folds.count; f++)
      pc_calibrator_free(all->list[i].calibrators[f]);
    pc_free(env, all->list[i].calibrators);
    pc_first_fold_free(env, &all->list[i].fold);
  }
  pc_free(env, all->list);
}

static pcal_status judging_stages_open(judging_stages *all, pc_contestant *const *contestants,
                                       pcal_error *err) {
  const pcal_env *env = &all->state->env;
  all->list = pc_alloc(env, all->count, sizeof *all->list);
  for (size_t i = 0; all->list != NULL && i < all->count; i++) {
    judging_entrant *entrant = &all->list[i];
    entrant->contestant = contestants[i];
    entrant->why = (pcal_error)PCAL_ERROR_INIT;
    atomic_init(&entrant->failed, 0);
    snprintf(entrant->method, sizeof entrant->method, "%s", contestants[i]->spec);
    entrant->calibrators = pc_alloc(env, all->held_out.folds.count, sizeof(pcal_calibrator *));
    if (entrant->calibrators == NULL)
      return pc_fail_memory(err, "comparing");
  }
  return all->list == NULL ? pc_fail_memory(err, "comparing") : PCAL_OK;
}

int pc_judging_suits_stages(const pc_judging *state) {
  const pcal_batch *rows = &state->kept.batch;
  return rows->rows > 0 && rows->rows * rows->columns <= JUDGING_STAGES_CELLS &&
         rows->groups == NULL && rows->ids == NULL && state->deadline <= 0.0 &&
         !state->by_cluster && !state->config->skip_missing && state->form == PC_FORM_CLASSES &&
         state->table->folds > 1 && !pc_source_is_soft(state->models[0].source) &&
         state->table->model_count == 1 && pc_worker_count(&state->env) > 1;
}

int pc_judging_suits_one_run(const pc_judging *state) {
  return state->kept.batch.rows * state->kept.batch.columns <= JUDGING_ONE_RUN_CELLS;
}

pcal_status pc_judging_try_all(pc_judging *state, pc_contestant *const *contestants,
                               size_t count, pcal_error *err) {
  judging_stages all = {
      .state = state, .held_out = pc_judging_held_out(state, 0), .count = count};
  atomic_uint_least64_t *done = &state->table->progress.done;
  uint64_t end = atomic_load(done);
  atomic_init(&all.stop, 0);
  for (size_t i = 0; i < count; i++)
    end += pc_judging_steps(state) * pc_judging_share(contestants[i]);
  pcal_status status = judging_stages_open(&all, contestants, err);
  if (status == PCAL_OK)
    status = judging_fit_stages(&all, err);
  if (status == PCAL_OK)
    status = judging_measure_stage(&all, err);
  for (size_t i = 0; i < count && status == PCAL_OK; i++)
    status = judging_excuse(state, contestants[i], all.list[i].status, &all.list[i].why, err);
  judging_stages_free(&all);
  atomic_store(done, end); /* with the steps of those that were given up */
  return status;
}

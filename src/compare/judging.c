/* Given up: a slow method of the default list whose Brier score on the first fold is more than
 *           JUDGING_HOPELESS standard errors above that of the best method so far. */
#include "compare/judging.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "calibrators/fit.h"
#include "system/clock.h"

#define JUDGING_HOPELESS 4.0

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

int pc_judging_is_slow(const char *spec) {
  const pc_calibrator_method *method = NULL;
  pc_options options;
  return pc_calibrator_parse(spec, &method, &options, NULL) == PCAL_OK && method->slow;
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

/* Scores the first fold; *hopeless: the contestant is given up. */
static pcal_status judging_first_fold(pc_judging *state, const pc_held_out *held_out,
                                      const pcal_calibrator *first, pc_contestant *contestant,
                                      int *hopeless, pcal_error *err) {
  pc_first_fold fold = {0};
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(held_out->source, &shape);
  if (!judging_gives_up(state) || pc_calibrator_columns(first) != shape.columns)
    return PCAL_OK;
  pcal_status status = pc_first_fold_score(held_out, first, &fold, err);
  const double excess = status == PCAL_OK ? pc_first_fold_excess(&fold, &state->leader) : 0.0;
  *hopeless = excess > JUDGING_HOPELESS && pc_judging_is_slow(contestant->spec);
  if (*hopeless)
    judging_write_hopeless(state, &fold, excess, contestant);
  if (status == PCAL_OK && (state->leader.count == 0 || fold.mean < state->leader.mean)) {
    pc_first_fold_free(&state->env, &state->leader);
    state->leader = fold;
    snprintf(state->leader_name, sizeof state->leader_name, "%s", contestant->label);
    fold = (pc_first_fold){0};
  }
  pc_first_fold_free(&state->env, &fold);
  return status;
}

static pcal_status judging_judge_fits(const pc_judging *state, const pc_held_out *held_out,
                                      pcal_calibrator *const *calibrators,
                                      pc_contestant *contestant, pcal_error *err) {
  /* Clusters need a level: one measurement then has values and replicas. */
  const int rank_only = state->config->rank_only && state->spec_count > 1 && !state->by_cluster;
  const pcal_measure_config values = judging_value_config(state, state->spec_count);
  const pcal_measure_config gains =
      judging_gain_config(state, rank_only ? 1 : state->spec_count);
  if (rank_only)
    PC_TRY(pc_held_out_measure(held_out, calibrators, &gains, &contestant->ranked, err));
  PC_TRY(pc_held_out_measure(held_out, calibrators, rank_only ? &values : &gains,
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
    status = judging_judge_fits(state, &held_out, calibrators, contestant, err);
  for (size_t i = 0; i < held_out.folds.count; i++)
    pc_calibrator_free(calibrators[i]);
  return status;
}

/* ---- or the reason why not ---- */

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

/* Judges a contestant, or records why it is left out. */
pcal_status pc_judging_try(pc_judging *state, pc_contestant *contestant, pcal_error *err) {
  const int optional = judging_is_optional(state, contestant);
  const int plain = strcmp(contestant->spec, "identity") == 0;
  pcal_error why = PCAL_ERROR_INIT;
  if (!plain && judging_is_late(state)) {
    judging_write_late(state, "before its fit", contestant);
    return PCAL_OK;
  }
  pcal_status status = optional ? judging_check_cost(state, &state->models[contestant->model],
                                                     contestant->spec, &why)
                                : PCAL_OK;
  if (status == PCAL_OK)
    status = judging_judge(state, contestant, &why);
  if (status == PCAL_OK)
    return PCAL_OK;
  if (status == PCAL_INTERRUPTED && judging_is_late(state)) {
    judging_write_late(state, "during its fit", contestant);
    return PCAL_OK;
  }
  if (optional && (status == PCAL_DATA || status == PCAL_USAGE)) {
    pcal_error_text(&why, state->env.caller, contestant->why, sizeof contestant->why);
    return PCAL_OK;
  }
  if (err != NULL)
    *err = why;
  return status;
}

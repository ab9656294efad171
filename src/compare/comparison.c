/* Formula:  every method is fitted to rows that it is not judged on: to a second set, or to all
 *           rows outside a fold, and then maps the rows of the fold.  With T the metric, m a method
 *           and 0 the first model without a method,
 *             gain(m) = T(0) - T(m),     behind(m) = T(m) - T(best),
 *           with intervals from exchanging the two row by row, or cluster by cluster
 *           (measure/replicas/paired_difference.c).
 * Chosen:   among the methods whose interval of the gain is above 0, the one with the best T; if
 *           there is none, the first model without a method.  Among several models, the best T.
 * Edge cases:
 *   (1) an infinite or undefined T ranks last;
 *   (2) a method of the default list that does not suit the data, would take hours, or fits the
 *       map of another one, is listed with the reason; one that was named is fitted or an error;
 *   (3) of equal T the method listed first ranks first;
 *   (4) where higher is better, as for accuracy, the sign of gains is reversed, so that above 0 is
 *       better; metrics that only describe, such as mean-variance, have no gain and cannot rank;
 *   (5) with cross-validation the calibrator returned is fitted to all rows, unless the caller
 *       does not want one;
 *   (6) cheap methods come first.  A slow method of the default list is given up after the first
 *       fold if its Brier score there is more than 4 standard errors above the best so far; this
 *       depends on the rows alone, not on time;
 *   (7) with a time budget, methods not fitted in time are listed with that reason; the fit of
 *       the chosen method to all rows is not limited.
 * Source:   the change of a proper score under an injective map is the change of its calibration
 *           error (Gruber & Buettner 2022, Proposition 4.5).
 * Cost:     for each method a fit for each fold, and one measurement with its replicas. */
#include "compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/aliases.h"
#include "base/assert.h"
#include "base/number.h"
#include "compare/judging.h"
#include "measure/measure_source.h"
#include "measure/replicas/paired_difference.h"
#include "system/clock.h"

#define COMPARISON_FOLDS 5
#define COMPARISON_LEVEL 0.95
#define COMPARISON_CHECK_REPLICAS 20

/* ---- the list of contestants ---- */

/* True for a method that takes long; false for an unknown one. */
static int comparison_is_slow(const char *spec) {
  const pc_calibrator_method *method = NULL;
  pc_options options;
  return pc_calibrator_parse(spec, &method, &options, NULL) == PCAL_OK && method->slow;
}

static pcal_status comparison_add(const pc_judging *state, size_t model, const char *method,
                                  pcal_error *err) {
  pcal_comparison *table = state->table;
  void *block = table->contestants;
  const pcal_status room = pc_reserve(&table->env, &block, &table->capacity, table->count + 1,
                                      sizeof *table->contestants, err);
  table->contestants = block;
  if (room != PCAL_OK)
    return room;
  pc_contestant *contestant = &table->contestants[table->count++];
  memset(contestant, 0, sizeof *contestant);
  contestant->model = model;
  snprintf(contestant->spec, sizeof contestant->spec, "%s", method);
  snprintf(contestant->label, sizeof contestant->label, "%s", method);
  contestant->slow = comparison_is_slow(method);
  return PCAL_OK;
}

/* Adds the methods named or, for one model without any, all of the default list. */
static pcal_status comparison_add_methods(const pc_judging *state, size_t model,
                                          pcal_error *err) {
  const pcal_compare_config *config = state->config;
  for (size_t i = 0; i < config->method_count; i++)
    if (strcmp(config->methods[i], "identity") != 0)
      PC_TRY(comparison_add(state, model, config->methods[i], err));
  if (config->method_count > 0 || state->table->model_count > 1)
    return PCAL_OK;
  const int regression = state->form != PC_FORM_CLASSES;
  for (size_t i = 0; i < pc_calibrator_method_count(); i++) {
    const pc_calibrator_method *row = pc_calibrator_method_at(i);
    const char *method = row->comparison_spec == NULL ? row->row.name : row->comparison_spec;
    if (*method != '\0' && regression == (row->row.task == PCAL_REGRESSION) &&
        strcmp(method, "identity") != 0)
      PC_TRY(comparison_add(state, model, method, err));
  }
  return PCAL_OK;
}

/* Checks the rows before any method maps them, so that errors name the original values. */
static pcal_status comparison_check(const pc_judging *state, pcal_source *source,
                                    int source_is_judged, pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  config.specs = state->specs;
  config.spec_count = 1;
  config.normalize = state->config->normalize;
  config.skip_missing = state->config->skip_missing;
  config.by_cluster = state->by_cluster && source_is_judged;
  config.interval = config.by_cluster ? state->table->level : 0.0;
  config.interval_method = PCAL_INTERVAL_NORMAL;
  config.replicas = COMPARISON_CHECK_REPLICAS;
  pcal_status status = pc_measure_whole(source, &config, &state->env, &results, err);
  if (status == PCAL_OK && results->only_label >= 0)
    status = pc_fail(err, PCAL_DATA,
                     "every label is class %d, and nothing can be learned or judged from one "
                     "class; give rows of at least two classes",
                     (int)results->only_label);
  pc_results_free(results);
  return status;
}

/* ---- progress ---- */

static void comparison_report_progress(void *user, const char *what, uint64_t done,
                                       uint64_t total) {
  pc_comparison_progress *progress = user;
  (void)what;
  (void)done;
  (void)total;
  const uint64_t steps = atomic_load(&progress->done);
  pc_progress(&progress->given, "comparing", steps < progress->total ? steps : progress->total,
              progress->total);
}

static int comparison_interrupted(void *user) {
  const pc_comparison_progress *progress = user;
  return progress->given.interrupted != NULL &&
         progress->given.interrupted(progress->given.user);
}

/* Begins to report progress as one comparison: returns the environment of what it calls. */
static pcal_env comparison_begin_progress(pcal_comparison *table) {
  pcal_env env = table->env;
  table->progress.given = table->env;
  env.progress = comparison_report_progress;
  env.interrupted = comparison_interrupted;
  env.user = &table->progress;
  return env;
}

/* Counts the contestants of a model, from `first` on, for itself and the models after it. */
static void comparison_expect(pc_judging *state, size_t first, size_t model) {
  pcal_comparison *table = state->table;
  uint64_t share = 0;
  for (size_t i = first; i < table->count; i++)
    share += pc_judging_share(&table->contestants[i]) * pc_judging_steps(state);
  table->progress.total =
      atomic_load(&table->progress.done) + share * (table->model_count - model);
}

/* ---- one after the other ---- */

/* Hands the outcome of a contestant to the caller. */
static void comparison_show(const pc_judging *state, const pc_contestant *contestant) {
  const pcal_comparison *table = state->table;
  char name[PC_SPEC_MAX + 128], outcome[PC_SPEC_MAX + PC_NUMBER_MAX + 300],
      value[PC_NUMBER_MAX];
  if (state->config->judged == NULL)
    return;
  pc_contestant_name(table, contestant, name, sizeof name);
  if (contestant->results == NULL) {
    snprintf(outcome, sizeof outcome, "not judged: %s", contestant->why);
  } else {
    const pc_result_record *record = &contestant->results->records[0];
    pc_number_round(record->outcome.value, 4, value);
    snprintf(outcome, sizeof outcome, "%s %s", record->label,
             record->outcome.undefined ? "undefined" : value);
  }
  state->config->judged(state->config->user, name, outcome);
}

/* Makes the outcome of a contestant known. */
static void comparison_done(const pc_judging *state, const pc_contestant *contestant) {
  comparison_show(state, contestant);
  pc_progress(&state->env, "comparing", 0, 0);
}

/* Judges contestants from `first` on side by side: those that are not slow, then those that
 * are; with few rows all together. */
static pcal_status comparison_run_stages(pc_judging *state, size_t first, int slow,
                                         pcal_error *err) {
  const int together = pc_judging_suits_one_run(state);
  pcal_comparison *table = state->table;
  if (together && slow)
    return PCAL_OK; /* they were judged with the others */
  pc_contestant **some = pc_alloc(&state->env, table->count, sizeof *some);
  size_t count = 0;
  if (some == NULL)
    return pc_fail_memory(err, "comparing");
  const int last = together ? 1 : slow;
  for (int now = slow; now <= last; now++)
    for (size_t i = first; i < table->count; i++)
      if (table->contestants[i].slow == now)
        some[count++] = &table->contestants[i];
  pcal_status status = pc_judging_try_all(state, some, count, err);
  for (size_t i = 0; i < count && status == PCAL_OK; i++)
    comparison_done(state, some[i]);
  pc_free(&state->env, some);
  return status;
}

/* Judges them one after the other, or in stages. */
static pcal_status comparison_run(pc_judging *state, size_t first, int slow, pcal_error *err) {
  pcal_comparison *table = state->table;
  if (pc_judging_suits_stages(state))
    return comparison_run_stages(state, first, slow, err);
  for (size_t i = first; i < table->count; i++) {
    pc_contestant *contestant = &table->contestants[i];
    if (contestant->slow != slow)
      continue;
    PC_TRY(pc_judging_try(state, contestant, err));
    pc_judging_count(state, contestant, pc_judging_steps(state));
    comparison_done(state, contestant);
  }
  return PCAL_OK;
}

/* Folds keep the rows of a cluster together, so that one cluster alone cannot be divided. */
static pcal_status comparison_check_clusters(const pc_judging *state, const pcal_model *model,
                                             pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(model->source, &shape);
  state->table->clusters = state->by_cluster ? shape.group_count : 0;
  if (!state->by_cluster || model->val != NULL || shape.group_count != 1)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "all rows are in one cluster, and the rows of a cluster are in one fold of the "
      "cross-validation; give several clusters, or leave out {cluster}");
}

static pcal_status comparison_add_model(pc_judging *state, size_t index, pcal_error *err) {
  const pcal_model *model = &state->models[index];
  const size_t first = state->table->count;
  PC_TRY(comparison_check(state, model->source, 1, err));
  PC_TRY(comparison_check_clusters(state, model, err));
  if (model->val != NULL)
    PC_TRY(comparison_check(state, model->val, 0, err));
  PC_TRY(comparison_add(state, index, "identity", err));
  PC_TRY(comparison_add_methods(state, index, err));
  if (model->val == NULL)
    PC_TRY(pc_memory_source_read(model->source, &state->env, &state->kept, err));
  comparison_expect(state, first, index);
  PC_TRY(comparison_run(state, first, 0, err));
  return comparison_run(state, first, 1, err);
}

static pcal_status comparison_add_models(pc_judging *state, pcal_error *err) {
  pcal_status status = PCAL_OK;
  for (size_t i = 0; status == PCAL_OK && i < state->table->model_count; i++) {
    status = comparison_add_model(state, i, err);
    pc_memory_source_close(&state->kept);
  }
  pc_first_fold_free(&state->env, &state->leader);
  return status;
}

/* ---- ranks and gains ---- */

/* +1 where lower values are better, -1 where higher ones are, 0 where neither. */
static double comparison_sign(const pc_result_record *record) {
  const pc_metric *metric = pc_metric_find(record->metric);
  pc_assert(metric != NULL);
  const pcal_better better = metric->row.better;
  return better == PCAL_BETTER_LOWER ? 1.0 : better == PCAL_BETTER_HIGHER ? -1.0 : 0.0;
}

static double comparison_loss(const pc_contestant *contestant) {
  if (contestant->results == NULL)
    return (double)INFINITY;
  const pc_result_record *record = &contestant->results->records[0];
  if (record->outcome.undefined || isnan(record->outcome.value))
    return (double)INFINITY;
  return comparison_sign(record) * record->outcome.value;
}

static void comparison_rank(pcal_comparison *table) {
  for (size_t i = 0; i < table->count; i++) {
    pc_contestant *here = &table->contestants[i];
    const double loss = comparison_loss(here);
    if (here->results == NULL)
      continue;
    here->rank = 1;
    for (size_t j = 0; j < table->count; j++) {
      const double other = comparison_loss(&table->contestants[j]);
      here->rank +=
          table->contestants[j].results != NULL && (other < loss || (other == loss && j < i));
    }
    if (here->rank == 1)
      table->best = i;
  }
}

/* The gain of a record's model, from its difference to the other one. */
static pc_gain comparison_gain(const pc_result_record *record) {
  const pc_interval_result *interval_result = &record->interval_result;
  const double sign = comparison_sign(record);
  pc_gain gain = {.known = interval_result->has_difference && sign != 0,
                  .sure = interval_result->has_difference_interval && sign != 0};
  gain.value =
      sign > 0 ? 0.0 - interval_result->difference : interval_result->difference; /* never -0 */
  gain.low =
      sign > 0 ? 0.0 - interval_result->difference_high : interval_result->difference_low;
  gain.high =
      sign > 0 ? 0.0 - interval_result->difference_low : interval_result->difference_high;
  return gain;
}

/* The results that have replicas. */
static pcal_results *comparison_paired(const pc_contestant *contestant) {
  return contestant->ranked != NULL ? contestant->ranked : contestant->results;
}

static pcal_status comparison_gains(pcal_comparison *table, pc_contestant *contestant,
                                    pcal_error *err) {
  pcal_results *results = comparison_paired(contestant);
  if (results == NULL || contestant->results == NULL)
    return PCAL_OK;
  contestant->gains = pc_alloc(&table->env, contestant->results->metric_count, sizeof(pc_gain));
  if (contestant->gains == NULL)
    return pc_fail_memory(err, "comparing");
  PC_TRY(pc_paired_differences(results, comparison_paired(&table->contestants[0]), err));
  for (size_t m = 0; m < results->metric_count; m++)
    contestant->gains[m] = comparison_gain(&results->records[m]);
  PC_TRY(pc_paired_difference(results, comparison_paired(&table->contestants[table->best]), 0,
                              err));
  const pc_gain gain = comparison_gain(&results->records[0]);
  contestant->behind =
      (pc_gain){gain.known, gain.sure, 0.0 - gain.value, 0.0 - gain.high, 0.0 - gain.low};
  return PCAL_OK;
}

static void comparison_choose(pcal_comparison *table) {
  table->chosen = 0;
  for (size_t i = 1; i < table->count; i++) {
    const pc_contestant *here = &table->contestants[i];
    if (here->results == NULL)
      continue;
    const pc_gain *gain = &here->gains[0];
    const int real = gain->sure && gain->low > 0;
    if ((real || table->model_count > 1) &&
        comparison_loss(here) < comparison_loss(&table->contestants[table->chosen]))
      table->chosen = i;
  }
  pc_contestant_name(table, &table->contestants[table->chosen], table->name,
                     sizeof table->name);
}

static pcal_status comparison_refit(const pc_judging *state, pcal_error *err) {
  pcal_comparison *table = state->table;
  const pc_contestant *chosen = &table->contestants[table->chosen];
  pc_held_out all = pc_judging_held_out(state, chosen->model);
  all.env = &table->env; /* the calibrator keeps it */
  all.deadline = 0.0;
  all.val = all.val != NULL ? all.val : all.source;
  return pc_held_out_fit(&all, chosen->spec, &table->calibrator, err);
}

static pcal_status comparison_finish(const pc_judging *state, pcal_error *err) {
  pcal_comparison *table = state->table;
  comparison_rank(table);
  for (size_t i = 0; i < table->count; i++)
    PC_TRY(comparison_gains(table, &table->contestants[i], err));
  comparison_choose(table);
  return state->config->no_calibrator ? PCAL_OK : comparison_refit(state, err);
}

/* ---- entry point ---- */

static pcal_status comparison_names(pcal_comparison *table, const pcal_model *models,
                                    pcal_error *err) {
  if (table->model_count < 2)
    return PCAL_OK;
  table->model_names = pc_alloc(&table->env, table->model_count, sizeof *table->model_names);
  if (table->model_names == NULL)
    return pc_fail_memory(err, "comparing");
  for (size_t i = 0; i < table->model_count; i++) {
    table->model_names[i] = pc_copy_text(&table->env, models[i].name);
    if (table->model_names[i] == NULL)
      return pc_fail_memory(err, "comparing");
  }
  return PCAL_OK;
}

static const char *comparison_score(pc_form form) {
  return form == PC_FORM_CLASSES ? "brier" : form == PC_FORM_GAUSSIAN ? "dss" : "crps";
}

/* Methods are ranked by one metric whose row says which values are better. */
static pcal_status comparison_check_by(const char *by, pc_form form, pcal_error *err) {
  const char *more = form == PC_FORM_CLASSES ? "log" : "pinball";
  char spec[PC_SPEC_MAX], name[PC_SPEC_MAX];
  PC_TRY(pc_spec_resolve(PCAL_METRICS, by, spec, err));
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  if (pc_metric_group_find(by) != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "methods are ranked by one metric, such as %s or %s; \"%s\" is a group",
                   comparison_score(form), more, by);
  const pc_metric *metric = pc_metric_find_for(form, name);
  if (metric != NULL && metric->row.better == PCAL_BETTER_NONE)
    return pc_fail(err, PCAL_USAGE,
                   "methods cannot be ranked by %s: neither low nor high values are better; "
                   "rank by %s or %s",
                   name, comparison_score(form), more);
  return PCAL_OK;
}

static pcal_status comparison_specs(pc_judging *state, pcal_error *err) {
  const pcal_compare_config *config = state->config;
  const size_t count = config->spec_count == 0 ? 1 : config->spec_count;
  state->specs = pc_alloc(&state->env, count + 1, sizeof *state->specs);
  if (state->specs == NULL)
    return pc_fail_memory(err, "comparing");
  state->specs[state->spec_count++] =
      config->by == NULL ? comparison_score(state->form) : config->by;
  if (config->spec_count == 0)
    state->specs[state->spec_count++] = "compare";
  for (size_t i = 0; i < config->spec_count; i++)
    state->specs[state->spec_count++] = config->specs[i];
  return comparison_check_by(state->specs[0], state->form, err);
}

pcal_status pc_compare(const pcal_model *models, size_t model_count,
                       const pcal_compare_config *config, int by_cluster, const pcal_env *env,
                       pcal_comparison **out, pcal_error *err) {
  pcal_comparison *table = pc_alloc(env, 1, sizeof *table);
  if (table == NULL)
    return pc_fail_memory(err, "comparing");
  table->env = *env;
  table->model_count = model_count;
  table->folds = models[0].val != NULL ? 0
                 : config->folds == 0  ? COMPARISON_FOLDS
                                       : config->folds;
  table->level = config->interval > 0 ? config->interval : COMPARISON_LEVEL;
  pc_judging state = {.table = table,
                      .models = models,
                      .config = config,
                      .env = comparison_begin_progress(table),
                      .by_cluster = by_cluster};
  state.deadline = config->budget > 0.0 ? pc_clock_seconds() + config->budget : 0.0;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(models[0].source, &shape);
  state.form = pc_kind_form(shape.kind);
  pcal_status status =
      state.form == PC_FORM_DISTANCES
          ? pc_fail(err, PCAL_USAGE,
                    "a comparison is about one number, and {target} has several columns; give "
                    "one of them, with its samples, or measure energy-score of each model")
          : comparison_names(table, models, err);
  if (status == PCAL_OK)
    status = comparison_specs(&state, err);
  if (status == PCAL_OK)
    status = comparison_add_models(&state, err);
  if (status == PCAL_OK)
    status = comparison_finish(&state, err);
  pc_free(env, state.specs);
  if (status == PCAL_OK)
    *out = table;
  else
    pc_comparison_free(table);
  return status;
}

void pc_comparison_free(pcal_comparison *comparison) {
  if (comparison == NULL)
    return;
  const pcal_env env = comparison->env;
  for (size_t i = 0; i < comparison->count; i++) {
    pc_results_free(comparison->contestants[i].results);
    pc_results_free(comparison->contestants[i].ranked);
    pc_free(&env, comparison->contestants[i].gains);
  }
  pc_free(&env, comparison->contestants);
  for (size_t i = 0; comparison->model_names != NULL && i < comparison->model_count; i++)
    pc_free(&env, comparison->model_names[i]);
  pc_free(&env, comparison->model_names);
  pc_calibrator_free(comparison->calibrator);
  pc_free(&env, comparison);
}

void pc_contestant_name(const pcal_comparison *comparison, const pc_contestant *contestant,
                        char *out, size_t size) {
  const int plain = strcmp(contestant->label, "identity") == 0;
  if (comparison->model_names == NULL)
    snprintf(out, size, "%s", contestant->label);
  else
    snprintf(out, size, "%.100s%s%s", comparison->model_names[contestant->model],
             plain ? "" : " + ", plain ? "" : contestant->label);
}

/* Laws of every registry row: rows that another thread overwrites during a call may give wrong
 * numbers or an error, but never a crash, and the call comes back.
 *
 * Arrays of scores, outcomes, weights, groups and ids are changed cell by cell while every
 * metric, calibrator, figure and study works on them, each in a child process
 * (forked_cases.h): between two reads of one thread (row_trap.h) and by another thread
 * (row_writer.h), in turn.
 *
 *   PROPERCAL_CHANGING=SECONDS    every spec of every row on every set, together about so long;
 *                                 an hour is 3600.  Not set: few specs, about 10 seconds.
 *   PROPERCAL_CHANGING_ONLY=TEXT  only the cases whose name has this text */
#include "sinks.h"
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrator_specs.h"
#include "changing_sets.h"
#include "forked_cases.h"
#include "io/source.h"
#include "law_specs.h"
#include "row_trap.h"
#include "row_writer.h"

#define CHANGING_CASES 8192
#define CHANGING_TEXT 256
#define CHANGING_PATIENCE \
  300 /* seconds for a case, on a busy machine and with sanitizers too */

typedef enum changing_call {
  CHANGING_MEASURE,
  CHANGING_UPDATE,
  CHANGING_FIT,
  CHANGING_APPLY,
  CHANGING_APPLY_GROUPS,
  CHANGING_FIGURE,
  CHANGING_STUDY,
  CHANGING_COMPARE,
  CHANGING_REPORT,
  CHANGING_INSPECT,
  CHANGING_ROUNDS,
  CHANGING_FIT_ROUNDS,
  CHANGING_WATCH
} changing_call;

static const char *const changing_verbs[] = {
    "measure", "update", "fit",     "apply",  "apply by group", "figure", "study",
    "compare", "report", "inspect", "rounds", "fit in rounds",  "watch"};

typedef struct changing_case {
  changing_call call;
  size_t set;
  char spec[CHANGING_TEXT];
} changing_case;

static changing_case *changing_list;
static size_t changing_count;
static int changing_long;       /* every spec of every row, on every set */
static double changing_seconds; /* for each case */

static int changing_is_regression(const law_set *set) {
  return set->kind >= PCAL_MEAN_VARIANCE;
}

/* ---- Cases ---- */

static void changing_name(size_t index, char *out, size_t out_size) {
  const changing_case *one = &changing_list[index];
  snprintf(out, out_size, "%s %s, %s", changing_verbs[one->call], one->spec,
           changing_set(one->set)->name);
}

static void changing_add(changing_call call, size_t set, const char *spec) {
  const char *only = getenv("PROPERCAL_CHANGING_ONLY");
  char name[2 * CHANGING_TEXT];
  assert_true(changing_count < CHANGING_CASES);
  changing_case *one = &changing_list[changing_count];
  one->call = call;
  one->set = set;
  snprintf(one->spec, sizeof one->spec, "%s", spec);
  changing_name(changing_count, name, sizeof name);
  if (only == NULL || strstr(name, only) != NULL)
    changing_count++;
}

static int changing_is_small(size_t number) {
  return changing_set(number)->rows == CHANGING_ROWS;
}

/* Large sets are there for curves, which look at them again and again. */
static int changing_suits(size_t number, const pc_metric *metric) {
  return changing_long || changing_is_small(number) ||
         metric->row.machine == PCAL_MACHINE_CURVE;
}

/* Every spec on small sets, if there is time, else one spec for each metric. */
static void changing_add_metrics(size_t number) {
  law_specs specs;
  law_specs_make(changing_set(number), 0, 0, &specs);
  for (size_t i = 0; i < specs.count; i++)
    if (changing_suits(number, specs.metric[i]) &&
        ((changing_long && changing_is_small(number)) || i == 0 ||
         specs.metric[i] != specs.metric[i - 1]))
      changing_add(CHANGING_MEASURE, number, specs.text[i]);
  law_specs_free(&specs);
}

/* Every metric with groups, ids and huge weights. */
static void changing_add_updates(size_t number) {
  law_specs specs;
  law_specs_make(changing_set(number), 0, 0, &specs);
  for (size_t i = 0; i < specs.count; i++)
    if (changing_long || i == 0 || specs.metric[i] != specs.metric[i - 1])
      changing_add(CHANGING_UPDATE, number, specs.text[i]);
  law_specs_free(&specs);
}

static void changing_add_rows(changing_call call, pcal_registry kind, size_t number) {
  for (size_t i = 0; i < pcal_registry_count(kind); i++) {
    const pcal_registry_row *row = pcal_registry_at(kind, i);
    const int regression = row->task == PCAL_REGRESSION;
    if (!regression || changing_is_regression(changing_set(number)))
      changing_add(call, number, row->name);
  }
}

static void changing_cases_make(void) {
  const size_t few[] = {0, 2,
                        6}; /* rows of logits, binary probabilities, means and variances */
  changing_list = changing_room(CHANGING_CASES, sizeof *changing_list);
  for (size_t s = 0; s < changing_set_count(); s++) {
    const int chosen = s == few[0] || s == few[1] || s == few[2];
    changing_add_metrics(s);
    if (changing_long || chosen) {
      changing_add_rows(CHANGING_FIT, PCAL_CALIBRATORS, s);
      changing_add_rows(CHANGING_APPLY, PCAL_CALIBRATORS, s);
      changing_add(CHANGING_INSPECT, s, "");
    }
    if (chosen)
      changing_add_updates(s);
    if (changing_long ? changing_is_small(s) : chosen)
      changing_add_rows(CHANGING_FIGURE, PCAL_FIGURES, s);
  }
  for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
    for (size_t c = 0; changing_long && c < calibrator_spec_count(); c++)
      changing_add(CHANGING_FIT, few[i], calibrator_spec_at(c));
    changing_add_rows(CHANGING_STUDY, PCAL_STUDIES, few[i]);
    changing_add(CHANGING_COMPARE, few[i], "");
    changing_add(CHANGING_REPORT, few[i], "");
    changing_add(CHANGING_WATCH, few[i], "");
  }
  for (size_t i = 0; i < 2; i++) {
    changing_add(CHANGING_APPLY_GROUPS, few[i], "temperature");
    changing_add(CHANGING_APPLY_GROUPS, few[i], "isotonic");
    changing_add(CHANGING_ROUNDS, few[i], "ks");
    changing_add(CHANGING_ROUNDS, few[i], "smece");
    changing_add(CHANGING_ROUNDS, few[i], "ece:binning=mass");
    changing_add(CHANGING_FIT_ROUNDS, few[i], "temperature");
    changing_add(CHANGING_FIT_ROUNDS, few[i], "isotonic");
    changing_add(CHANGING_FIT_ROUNDS, few[i], "histogram");
  }
}

/* ---- Calls ---- */

/* One round of a case: how it is called changes from round to round. */
typedef struct changing_round {
  const changing_case *about;
  const law_set *set;
  unsigned number;
  double until; /* seconds of the clock */
  pcal_env env;
  pcal_source *source, *other;
  pcal_calibrator *calibrator; /* for CHANGING_APPLY and CHANGING_APPLY_GROUPS */
} changing_round;

static double changing_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int changing_late(void *user) {
  const changing_round *round = user;
  return changing_clock() > round->until;
}

/* Updates always have groups and huge or fractional weights. */
static void changing_attach(const changing_round *round, pcal_batch *batch) {
  const unsigned way = round->number / 2;
  const int update = round->about->call == CHANGING_UPDATE;
  const size_t set = round->about->set;
  const double *const weights[] = {NULL, round->set->whole, changing_set_huge(set),
                                   round->set->fractional};
  batch->weights = weights[update ? 2 + way % 2 : way % 4];
  if (update || way % 3 == 2)
    batch->groups = round->set->groups;
  if (way % 5 < 2)
    batch->ids = changing_set_ids(set);
}

static pcal_batch changing_batch(const changing_round *round) {
  const law_set *set = round->set;
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = set->kind;
  batch.type = set->type;
  batch.rows = set->rows;
  batch.columns = set->columns;
  batch.scores = set->scores;
  batch.labels = changing_is_regression(set) ? NULL : set->labels;
  batch.targets = changing_is_regression(set) ? set->targets : NULL;
  batch.dimensions = set->kind == PCAL_SAMPLE_VECTORS ? 1 : 0;
  batch.levels = set->levels;
  changing_attach(round, &batch);
  return batch;
}

static void changing_measure(changing_round *round) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  const char *spec = round->about->spec;
  config.specs = &spec;
  config.spec_count = 1;
  config.normalize = round->number / 2 % 2 == 0;
  config.skip_missing = round->number / 2 % 3 == 0;
  config.fast = round->number / 2 % 5 == 4;
  config.curves = round->number / 2 % 7 == 6;
  if (round->number / 2 % 4 >= 2) {
    config.interval = 0.9;
    config.null = round->number / 2 % 4 == 3; /* of huge weights skce takes minutes */
    config.replicas = 20;
  }
  if (pcal_measure_run(round->source, &config, &round->env, &results, NULL) == PCAL_OK)
    pcal_results_write(results, PCAL_TEXT, sink_count, NULL, NULL);
  pcal_results_free(results);
}

/* Batches, as C and Python give them; the second one is the same rows with other indices. */
static void changing_update(changing_round *round) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_batch batch = changing_batch(round);
  const char *spec = round->about->spec;
  config.specs = &spec;
  config.spec_count = 1;
  config.kind = batch.kind;
  config.columns = batch.columns;
  config.levels = batch.levels;
  config.normalize = round->number / 2 % 2 == 0;
  if (round->number / 2 % 3 == 0) {
    config.interval = 0.9;
    config.replicas = 20;
  }
  if (pcal_measure_new(&config, &round->env, &measure, NULL) != PCAL_OK)
    return;
  pcal_measure_update(measure, &batch, NULL);
  batch.first_row = batch.rows;
  pcal_measure_update(measure, &batch, NULL);
  pcal_measure_save(measure, sink_count, NULL, NULL);
  if (pcal_measure_finish(measure, &results, NULL) == PCAL_OK)
    pcal_results_write(results, PCAL_TEXT, sink_count, NULL, NULL);
  pcal_results_free(results);
  pcal_measure_free(measure);
}

static pcal_calibrator *changing_fit(changing_round *round) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  config.method = round->about->spec;
  config.normalize = round->number / 2 % 2 == 0;
  config.skip_missing = round->number / 2 % 3 == 0;
  config.by_group = round->about->call == CHANGING_APPLY_GROUPS;
  pcal_fit_run(round->source, &config, &round->env, &calibrator, NULL);
  return calibrator;
}

static void changing_apply_groups(changing_round *round) {
  if (round->calibrator == NULL)
    return;
  pcal_batch batch = changing_batch(round);
  double *out =
      changing_room(batch.rows * pcal_calibrator_column_count(round->calibrator), sizeof *out);
  batch.groups = round->set->groups;
  pcal_calibrator_apply(round->calibrator, &batch, &round->env, out, NULL);
  free(out);
}

static void changing_figure(changing_round *round) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_figure *figure = NULL;
  config.figure = round->about->spec;
  config.val = round->number / 2 % 2 == 0 ? round->other : NULL;
  config.skip_missing = round->number / 2 % 3 == 0;
  config.replicas = 20;
  if (pcal_figure_run(round->source, &config, &round->env, &figure, NULL) == PCAL_OK)
    pcal_figure_write(figure, PCAL_SVG, PCAL_THEME_LIGHT, sink_count, NULL, NULL);
  pcal_figure_free(figure);
}

static void changing_study(changing_round *round) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_study *study = NULL;
  model.source = round->source;
  model.val = round->number / 2 % 2 == 0 ? round->other : NULL;
  config.models = &model;
  config.model_count = 1;
  config.sets = 5;
  config.replicas = 20;
  config.repeats = 2;
  config.skip_missing = round->number / 2 % 3 == 0;
  if (pcal_study_run(round->about->spec, &config, &round->env, &study, NULL) == PCAL_OK)
    pcal_study_write(study, PCAL_TEXT, sink_count, NULL, NULL);
  pcal_study_free(study);
}

static void changing_compare(changing_round *round) {
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_comparison *comparison = NULL;
  const char *const methods[] = {round->number / 2 % 2 == 0 ? "temperature" : "isotonic",
                                 "histogram"};
  model.source = round->source;
  model.val = round->number / 2 % 3 == 0 ? round->other : NULL;
  config.replicas = 20;
  config.methods = methods;
  config.method_count = changing_is_regression(round->set) ? 0 : 2;
  pcal_compare_run(&model, 1, &config, &round->env, &comparison, NULL);
  pcal_comparison_free(comparison);
}

static void changing_report(changing_round *round) {
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  pcal_report *report = NULL;
  config.replicas = 20;
  config.method = changing_is_regression(round->set) ? NULL : "platt";
  if (pcal_report_run(round->source, &config, &round->env, &report, NULL) == PCAL_OK)
    pcal_report_write(report, PCAL_HTML, sink_count, NULL, NULL);
  pcal_report_free(report);
}

/* Answers a request over the rows and gives the tally to the rounds. */
static pcal_status changing_answer(const changing_round *round, pcal_rounds *rounds) {
  const pcal_batch batch = changing_batch(round);
  sink_bytes request = {0}, tally = {0};
  pcal_rounds_worker *worker = NULL;
  pcal_status status = pcal_rounds_request(rounds, sink_collect, &request, NULL);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_new(request.bytes, request.length, &round->env, &worker, NULL);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_update(worker, &batch, NULL);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_tally(worker, sink_collect, &tally, NULL);
  if (status == PCAL_OK)
    status = pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL);
  pcal_rounds_worker_free(worker);
  free(request.bytes);
  free(tally.bytes);
  return status;
}

static void changing_rounds(changing_round *round) {
  const char *spec = round->about->spec;
  pcal_measure_config measured = PCAL_MEASURE_CONFIG_INIT;
  pcal_fit_config fitted = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  pcal_calibrator *calibrator = NULL;
  measured.kind = round->set->kind;
  measured.specs = &spec;
  measured.spec_count = 1;
  fitted.method = spec;
  pcal_status status = round->about->call == CHANGING_ROUNDS
                           ? pcal_rounds_new(&measured, &round->env, &rounds, NULL)
                           : pcal_rounds_new_fit(&fitted, &round->env, &rounds, NULL);
  while (status == PCAL_OK && !pcal_rounds_done(rounds))
    status = changing_answer(round, rounds);
  if (status == PCAL_OK && round->about->call == CHANGING_ROUNDS)
    pcal_rounds_finish(rounds, &results, NULL);
  else if (status == PCAL_OK)
    pcal_rounds_calibrator(rounds, &calibrator, NULL);
  pcal_results_free(results);
  pcal_calibrator_free(calibrator);
  pcal_rounds_free(rounds);
}

static void changing_watch(changing_round *round) {
  pcal_watch *watch = NULL;
  if (pcal_watch_new(0.05, &round->env, &watch, NULL) == PCAL_OK &&
      pcal_watch_update(watch, round->source, 0, NULL) == PCAL_OK)
    pcal_watch_write(watch, PCAL_TEXT, sink_count, NULL, NULL);
  pcal_watch_free(watch);
}

static void changing_once(changing_round *round) {
  size_t problems = 0;
  switch (round->about->call) {
  case CHANGING_MEASURE:
    changing_measure(round);
    break;
  case CHANGING_UPDATE:
    changing_update(round);
    break;
  case CHANGING_FIT:
    pcal_calibrator_free(changing_fit(round));
    break;
  case CHANGING_APPLY:
    if (round->calibrator != NULL)
      pcal_calibrator_apply_source(round->calibrator, round->source, PCAL_NPY, &round->env,
                                   sink_count, NULL, NULL);
    break;
  case CHANGING_APPLY_GROUPS:
    changing_apply_groups(round);
    break;
  case CHANGING_FIGURE:
    changing_figure(round);
    break;
  case CHANGING_STUDY:
    changing_study(round);
    break;
  case CHANGING_COMPARE:
    changing_compare(round);
    break;
  case CHANGING_REPORT:
    changing_report(round);
    break;
  case CHANGING_INSPECT:
    pcal_inspect_source(round->source, &round->env, PCAL_TEXT, sink_count, NULL, &problems,
                        NULL);
    break;
  case CHANGING_ROUNDS:
  case CHANGING_FIT_ROUNDS:
    changing_rounds(round);
    break;
  case CHANGING_WATCH:
    changing_watch(round);
    break;
  }
}

/* ---- Sources ---- */

/* Opens arrays, as Python does: groups and ids are read by readers of their own. */
static pcal_status changing_open_arrays(const changing_round *round, const pcal_batch *batch,
                                        pcal_source **out) {
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_input scores = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT, weights = PCAL_INPUT_INIT,
             groups = PCAL_INPUT_INIT, ids = PCAL_INPUT_INIT;
  scores.data = batch->scores;
  scores.type = batch->type;
  scores.columns = batch->columns;
  labels.data = batch->labels;
  weights.data = batch->weights;
  groups.data = batch->groups;
  ids.data = batch->ids;
  labels.type = groups.type = PCAL_I32;
  weights.type = PCAL_F64;
  ids.type = PCAL_U64;
  scores.rows = labels.rows = weights.rows = groups.rows = ids.rows = batch->rows;
  *(batch->kind == PCAL_LOGIT ? &inputs.logits : &inputs.probs) = &scores;
  inputs.labels = &labels;
  inputs.weights = batch->weights == NULL ? NULL : &weights;
  inputs.groups = batch->groups == NULL ? NULL : &groups;
  inputs.ids = batch->ids == NULL ? NULL : &ids;
  return pcal_source_open(&inputs, &round->env, out, NULL);
}

static pcal_status changing_open(const changing_round *round, pcal_source **out) {
  pcal_batch batch = changing_batch(round);
  const int by_group = round->about->call == CHANGING_APPLY_GROUPS;
  if (by_group)
    batch.groups = round->set->groups;
  if ((batch.kind == PCAL_LOGIT || batch.kind == PCAL_PROBABILITY) &&
      (by_group || round->number / 2 % 2 == 1))
    return changing_open_arrays(round, &batch, out);
  return pc_source_borrow(&batch, NULL, &round->env, out, NULL);
}

static void changing_call_sources(changing_round *round) {
  if (changing_open(round, &round->source) != PCAL_OK)
    return;
  if (changing_open(round, &round->other) == PCAL_OK) {
    changing_once(round);
    pcal_source_free(round->other);
  }
  pcal_source_free(round->source);
}

/* The call, while rows change. */
static void changing_disturbed(changing_round *round) {
  const law_set *set = round->set;
  const size_t number = round->about->set;
  static const unsigned rarities[] = {1, 8, 100};
  const row_writer_cells type = set->type == PCAL_F32 ? ROW_WRITER_F32 : ROW_WRITER_F64;
  const row_writer_array arrays[] = {
      {set->scores, set->rows * set->columns, type},
      {set->labels, set->rows, ROW_WRITER_LABELS},
      {set->targets, changing_is_regression(set) ? set->rows : 0, ROW_WRITER_F64},
      {set->whole, set->rows, ROW_WRITER_WEIGHTS},
      {changing_set_huge(number), set->rows, ROW_WRITER_WEIGHTS},
      {set->fractional, set->rows, ROW_WRITER_WEIGHTS},
      {set->groups, set->rows, ROW_WRITER_GROUPS},
      {changing_set_ids(number), set->rows, ROW_WRITER_IDS}};
  const size_t count = sizeof arrays / sizeof *arrays;
  const unsigned rarity = rarities[round->number / 2 % 3], seed = round->number + 1;
  if (round->number % 2 == 0 && row_trap_possible()) {
    round->env.threads = 1;
    row_trap_start(arrays, count, seed, 20 * rarity);
    changing_call_sources(round);
    row_trap_stop();
    return;
  }
  row_writer *writer = row_writer_start(arrays, count, seed, rarity);
  changing_call_sources(round);
  row_writer_stop(writer);
}

static int changing_applies(const changing_round *round) {
  return round->about->call == CHANGING_APPLY || round->about->call == CHANGING_APPLY_GROUPS;
}

static void changing_run_round(changing_round *round) {
  round->env = (pcal_env)PCAL_ENV_INIT;
  round->env.threads = 1 + round->number / 2 % 2;
  round->env.interrupted = changing_late;
  round->env.user = round;
  if (changing_applies(round) && round->calibrator == NULL &&
      changing_open(round, &round->source) == PCAL_OK) {
    round->calibrator = changing_fit(round);
    pcal_source_free(round->source);
  }
  changing_disturbed(round);
}

static void changing_run(size_t index) {
  const changing_case *about = &changing_list[index];
  changing_round round = {.about = about, .set = changing_set(about->set)};
  round.number = 2 * (unsigned)(index % 97);
  round.until = changing_clock() + changing_seconds;
  do {
    changing_run_round(&round);
    round.number++;
  } while (changing_clock() < round.until);
  pcal_calibrator_free(round.calibrator);
}

TEST(test_rows_may_change_during_any_call) {
  const char *wanted = getenv("PROPERCAL_CHANGING");
  const double total = wanted == NULL ? 10.0 : strtod(wanted, NULL);
  changing_long = wanted != NULL;
  changing_sets_make();
  changing_cases_make();
  changing_seconds = total / (double)changing_count;
  const forked_cases cases = {.count = changing_count,
                              .name = changing_name,
                              .run = changing_run,
                              .seconds = CHANGING_PATIENCE + (unsigned)changing_seconds};
  printf("%zu cases\n", changing_count);
  assert_int_equal(forked_cases_run(&cases), 0);
  changing_sets_free();
  free(changing_list);
}

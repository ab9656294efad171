/* The n-th allocation fails, for every n, in data that are more than rows: class prevalences, events
 * about a number, names of classes and groups in rounds, and the results of an earlier run. */
#include "../io/io_help.h"
#include "../measure/rounds_help.h"

#include "file_inputs.h"

/* ---- prevalences and events ---- */

typedef struct memory_inputs {
  pcal_inputs inputs;
  const char *spec;
  double interval;
} memory_inputs;

static pcal_status memory_measure(const pcal_env *env, void *user, pcal_error *err) {
  const memory_inputs *all = user;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = &all->spec;
  config.spec_count = 1;
  config.interval = all->interval;
  config.replicas = 20;
  pcal_status status = pcal_source_open(&all->inputs, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, err);
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

static pcal_input memory_input(const char *name, const void *data, pcal_type type, size_t rows,
                               size_t columns) {
  pcal_input input = PCAL_INPUT_INIT;
  input.name = name;
  input.data = data;
  input.type = type;
  input.rows = rows;
  input.columns = columns;
  return input;
}

TEST(prevalences) {
  static const double prevalence[] = {0.5, 0.25, 0.25};
  static const float scores[] = {0.5f, 0.25f, 0.25f, 0.125f, 0.125f, 0.75f, 0.25f, 0.5f, 0.25f};
  static const int32_t labels[] = {0, 1, 2};
  static const double weights[] = {1, 2, 3};
  const pcal_input probs = memory_input("probs", scores, PCAL_F32, 3, 3),
                   truth = memory_input("labels", labels, PCAL_I32, 3, 0),
                   weight = memory_input("weights", weights, PCAL_F64, 3, 0);
  memory_inputs all = {.inputs = PCAL_INPUTS_INIT, .spec = "brier"};
  all.inputs.probs = &probs;
  all.inputs.labels = &truth;
  all.inputs.prevalence = prevalence;
  all.inputs.prevalence_count = 3;
  unit_fail_each_allocation(memory_measure, &all);
  all.inputs.weights = &weight;
  all.interval = 0.9;
  unit_fail_each_allocation(memory_measure, &all);
}

/* Each of these is refused in one sentence. */
static void memory_refused(memory_inputs *all, pcal_status status, const char *message) {
  pcal_error err;
  assert_int_equal(memory_measure(NULL, all, &err), status);
  assert_string_equal(err.message, message);
}

TEST(prevalences_that_do_not_fit) {
  static const double high[] = {1.5, 0.25}, rare[] = {0.5, 0.5};
  static const double scores[] = {0.5, 0.25};
  static const int32_t labels[] = {0, 0};
  const pcal_input probs = memory_input("probs", scores, PCAL_F64, 2, 0),
                   truth = memory_input("labels", labels, PCAL_I32, 2, 0);
  memory_inputs all = {.inputs = PCAL_INPUTS_INIT, .spec = "brier"};
  all.inputs.probs = &probs;
  all.inputs.labels = &truth;
  all.inputs.prevalence = high;
  all.inputs.prevalence_count = 2;
  memory_refused(&all, PCAL_USAGE, "prevalence has numbers from 0 to 1, not 1.5");
  all.inputs.prevalence = rare;
  memory_refused(&all, PCAL_DATA,
                 "prevalence is 0.5 for class 1, which no row has; give 0 for it");
}

TEST(events) {
  static const double means[] = {0, 1, 2, 3}, deviations[] = {1, 1, 2, 2},
                      targets[] = {0.5, 2, 1, 4};
  const pcal_input mean = memory_input("mean", means, PCAL_F64, 4, 0),
                   std = memory_input("std", deviations, PCAL_F64, 4, 0),
                   target = memory_input("target", targets, PCAL_F64, 4, 0);
  memory_inputs all = {.inputs = PCAL_INPUTS_INIT, .spec = "ece"};
  all.inputs.mean = &mean;
  all.inputs.std = &std;
  all.inputs.target = &target;
  all.inputs.event = "> 1.5";
  unit_fail_each_allocation(memory_measure, &all);
}

/* ---- names in rounds ---- */

typedef struct memory_named {
  const char *file;
  const char *method; /* or NULL: measures */
} memory_named;

static pcal_status memory_answer(const memory_named *all, const sink_bytes *request,
                                 const pcal_env *env, sink_bytes *tally, pcal_error *err) {
  const file_inputs files = {.data = all->file};
  pcal_rounds_worker *worker = NULL;
  pcal_source *source = NULL;
  pcal_status status =
      pcal_rounds_worker_new(request->bytes, request->length, env, &worker, err);
  if (status == PCAL_OK)
    status = file_inputs_open(&files, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_update_source(worker, source, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_tally(worker, sink_collect, tally, err);
  pcal_source_free(source);
  pcal_rounds_worker_free(worker);
  return status;
}

static pcal_status memory_begin(const memory_named *all, const pcal_env *env, pcal_rounds **out,
                                pcal_error *err) {
  static const char *const specs[] = {"ks", "ece:binning=mass"};
  const rounds_data data = {.kind = PCAL_PROBABILITY, .columns = 2};
  const pcal_measure_config measured = rounds_config(&data, specs, 2);
  pcal_fit_config fitted = PCAL_FIT_CONFIG_INIT;
  fitted.method = all->method;
  return all->method == NULL ? pcal_rounds_new(&measured, env, out, err)
                             : pcal_rounds_new_fit(&fitted, env, out, err);
}

static pcal_status memory_rounds(const pcal_env *env, void *user, pcal_error *err) {
  const memory_named *all = user;
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  pcal_status status = memory_begin(all, env, &rounds, err);
  while (status == PCAL_OK && !pcal_rounds_done(rounds)) {
    sink_bytes request = {0}, tally = {0};
    status = pcal_rounds_request(rounds, sink_collect, &request, err);
    if (status == PCAL_OK)
      status = memory_answer(all, &request, env, &tally, err);
    if (status == PCAL_OK)
      status = pcal_rounds_absorb(rounds, tally.bytes, tally.length, err);
    free(request.bytes);
    free(tally.bytes);
  }
  if (status == PCAL_OK && all->method == NULL)
    status = pcal_rounds_finish(rounds, &results, err);
  pcal_results_free(results);
  pcal_rounds_free(rounds);
  return status;
}

TEST(names_in_rounds) {
  memory_named all = {.file = help_text("named.csv", "probs.a,probs.b,labels,groups\n"
                                                     "0.5,0.5,a,north\n0.25,0.75,b,south\n"
                                                     "0.250001,0.749999,a,north\n"
                                                     "0.75,0.25,b,south\n")};
  unit_fail_each_allocation(memory_rounds, &all);
  all.file = help_text("classes.csv", "probs.a,probs.b,labels\n0.5,0.5,a\n0.25,0.75,b\n"
                                      "0.125,0.875,a\n0.75,0.25,b\n");
  all.method = "histogram";
  unit_fail_each_allocation(memory_rounds, &all);
}

TEST_GROUP(help_setup, help_teardown)

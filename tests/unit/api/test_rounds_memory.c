/* The n-th allocation fails, for every n, in rounds, fits by rounds and watches: each time a clean
 * PCAL_MEMORY and nothing left over. */
#include "../measure/rounds_help.h"

enum { MEMORY_ROWS = 40 };

/* Two workers answer a request, each with half of the rows; their tallies are merged. */
static pcal_status memory_answer(const pcal_env *env, const rounds_data *data,
                                 const sink_bytes *request, sink_bytes *out, pcal_error *err) {
  pcal_bytes tallies[2];
  sink_bytes half[2] = {{0}, {0}};
  pcal_status status = PCAL_OK;
  for (size_t w = 0; w < 2 && status == PCAL_OK; w++) {
    pcal_rounds_worker *worker = NULL;
    const pcal_batch batch = rounds_batch(data, w * MEMORY_ROWS / 2, (w + 1) * MEMORY_ROWS / 2);
    status = pcal_rounds_worker_new(request->bytes, request->length, env, &worker, err);
    if (status == PCAL_OK)
      status = pcal_rounds_worker_update(worker, &batch, err);
    if (status == PCAL_OK)
      status = pcal_rounds_worker_tally(worker, sink_collect, &half[w], err);
    tallies[w] = (pcal_bytes){half[w].bytes, half[w].length};
    pcal_rounds_worker_free(worker);
  }
  if (status == PCAL_OK)
    status = pcal_tally_merge(tallies, 2, env, sink_collect, out, err);
  free(half[0].bytes);
  free(half[1].bytes);
  return status;
}

static pcal_status memory_rounds(const pcal_env *env, pcal_rounds *rounds,
                                 const rounds_data *data, pcal_error *err) {
  pcal_status status = PCAL_OK;
  while (status == PCAL_OK && !pcal_rounds_done(rounds)) {
    sink_bytes request = {0}, tally = {0};
    status = pcal_rounds_request(rounds, sink_collect, &request, err);
    if (status == PCAL_OK)
      status = memory_answer(env, data, &request, &tally, err);
    if (status == PCAL_OK)
      status = pcal_rounds_absorb(rounds, tally.bytes, tally.length, err);
    free(request.bytes);
    free(tally.bytes);
  }
  return status;
}

typedef struct memory_task {
  const rounds_data *data;
  const char *const *specs;
  size_t spec_count;
  const char *method;
  double interval;
  int null;
} memory_task;

static pcal_status memory_measure(const pcal_env *env, void *user, pcal_error *err) {
  const memory_task *task = user;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  config.kind = task->data->kind;
  config.columns = task->data->columns;
  config.specs = task->specs;
  config.spec_count = task->spec_count;
  config.interval = task->interval;
  config.null = task->null;
  config.replicas = 20;
  pcal_status status = pcal_rounds_new(&config, env, &rounds, err);
  if (status == PCAL_OK)
    status = memory_rounds(env, rounds, task->data, err);
  if (status == PCAL_OK)
    status = pcal_rounds_finish(rounds, &results, err);
  pcal_results_free(results);
  pcal_rounds_free(rounds);
  return status;
}

static pcal_status memory_fit(const pcal_env *env, void *user, pcal_error *err) {
  const memory_task *task = user;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_calibrator *calibrator = NULL;
  config.method = task->method;
  pcal_status status = pcal_rounds_new_fit(&config, env, &rounds, err);
  if (status == PCAL_OK)
    status = memory_rounds(env, rounds, task->data, err);
  if (status == PCAL_OK)
    status = pcal_rounds_calibrator(rounds, &calibrator, err);
  pcal_calibrator_free(calibrator);
  pcal_rounds_free(rounds);
  return status;
}

TEST(measures_by_rounds) {
  static const char *const specs[] = {"brier", "ks", "ece:binning=mass"};
  rounds_data plain = rounds_data_draw(MEMORY_ROWS, ROUNDS_CLASSES, 0, 0, 0);
  rounds_data grouped = rounds_data_draw(MEMORY_ROWS, ROUNDS_CLASSES, 1, 1, 3);
  memory_task task = {&plain, specs, UNIT_COUNT(specs), NULL, 0, 0};
  unit_fail_each_allocation(memory_measure, &task);
  task = (memory_task){&grouped, specs, 1, NULL, 0, 0};
  unit_fail_each_allocation(memory_measure, &task);
  rounds_data_free(&plain);
  rounds_data_free(&grouped);
}

/* A curve that is refined for cells and for single scores. */
TEST(curves_that_are_refined_twice) {
  static const char *const specs[] = {"ks", "smece"};
  rounds_data data = rounds_data_draw(MEMORY_ROWS, 1, 0, 0, 0);
  memory_task task = {&data, specs, UNIT_COUNT(specs), NULL, 0, 0};
  unit_fail_each_allocation(memory_measure, &task);
  rounds_data_free(&data);
}

/* Sums of replicas with other labels. */
TEST(nulls_by_rounds) {
  static const char *const specs[] = {"brier", "log"};
  rounds_data data = rounds_data_draw(MEMORY_ROWS, ROUNDS_CLASSES, 0, 0, 0);
  memory_task task = {&data, specs, UNIT_COUNT(specs), NULL, 0, 1};
  unit_fail_each_allocation(memory_measure, &task);
  rounds_data_free(&data);
}

/* Replicas, of few rows that stand for many. */
TEST(intervals_by_rounds) {
  static const char *const specs[] = {"ece", "sce"};
  rounds_data data = rounds_data_draw(MEMORY_ROWS, ROUNDS_CLASSES, 0, 1, 2);
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] = 100;
  memory_task task = {&data, specs, UNIT_COUNT(specs), NULL, 0.9, 0};
  unit_fail_each_allocation(memory_measure, &task);
  rounds_data_free(&data);
}

/* The same of curves, on cells. */
TEST(intervals_of_curves_by_rounds) {
  static const char *const specs[] = {"ks"};
  rounds_data data = rounds_data_draw(MEMORY_ROWS, 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] = 400;
  memory_task task = {&data, specs, UNIT_COUNT(specs), NULL, 0.9, 0};
  unit_fail_each_allocation(memory_measure, &task);
  rounds_data_free(&data);
}

/* Rows that stand for more than 2^25 scores: one process draws replicas on cells too. */
static pcal_status memory_one_process(const pcal_env *env, void *user, pcal_error *err) {
  const memory_task *task = user;
  const pcal_batch batch = rounds_batch(task->data, 0, MEMORY_ROWS);
  pcal_measure_config config = rounds_config(task->data, task->specs, task->spec_count);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.interval = task->interval;
  config.replicas = 20;
  pcal_status status = pcal_measure_new(&config, env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

/* Some of the allocations: a run draws replicas on hundreds of cells. */
static void memory_fail_some(unit_scenario scenario, void *user) {
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n += 1 + n / 50) {
    unit_memory memory = {0};
    pcal_error err;
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    status = scenario(&env, user, &err);
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_int_equal(status, atomic_load(&memory.calls) < n ? PCAL_OK : PCAL_MEMORY);
  }
}

TEST(intervals_of_very_many_rows) {
  static const char *const specs[] = {"ks", "ks:class=0"};
  rounds_data data = rounds_data_draw(MEMORY_ROWS, 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] = 2e6;
  memory_task task = {&data, specs, UNIT_COUNT(specs), NULL, 0.9, 0};
  memory_fail_some(memory_one_process, &task);
  memory_fail_some(memory_measure, &task);
  rounds_data_free(&data);
}

TEST(fits_by_rounds) {
  static const char *const methods[] = {"temperature", "isotonic"};
  rounds_data data = rounds_data_draw(MEMORY_ROWS, 1, 0, 1, 0);
  for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
    memory_task task = {&data, NULL, 0, methods[m], 0, 0};
    unit_fail_each_allocation(memory_fit, &task);
  }
  rounds_data_free(&data);
}

/* ---- watches ---- */

static pcal_status memory_watch_rows(const pcal_env *env, pcal_watch *watch,
                                     const rounds_data *data, pcal_error *err) {
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  const pcal_input probs = {.size = sizeof(pcal_input),
                            .name = "probs",
                            .data = data->scores,
                            .type = PCAL_F64,
                            .rows = data->rows};
  const pcal_input labels = {.size = sizeof(pcal_input),
                             .name = "labels",
                             .data = data->labels,
                             .type = PCAL_I32,
                             .rows = data->rows};
  inputs.probs = &probs;
  inputs.labels = &labels;
  pcal_status status = pcal_source_open(&inputs, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_watch_update(watch, source, 0, err);
  pcal_source_free(source);
  return status;
}

static pcal_status memory_watch(const pcal_env *env, void *user, pcal_error *err) {
  pcal_watch *watch = NULL, *loaded = NULL;
  sink_bytes saved = {0};
  size_t length = 0;
  pcal_status status = pcal_watch_new(0.05, env, &watch, err);
  if (status == PCAL_OK)
    status = memory_watch_rows(env, watch, user, err);
  for (int format = PCAL_TEXT; format <= PCAL_JSON && status == PCAL_OK; format++)
    status = pcal_watch_write(watch, (pcal_format)format, sink_count, &length, err);
  if (status == PCAL_OK)
    status = pcal_watch_save(watch, sink_collect, &saved, err);
  if (status == PCAL_OK)
    status = pcal_watch_load(saved.bytes, saved.length, "saved", env, &loaded, err);
  free(saved.bytes);
  pcal_watch_free(watch);
  pcal_watch_free(loaded);
  return status;
}

TEST(watches) {
  rounds_data data = rounds_data_draw(MEMORY_ROWS, 1, 0, 0, 0);
  unit_fail_each_allocation(memory_watch, &data);
  rounds_data_free(&data);
}

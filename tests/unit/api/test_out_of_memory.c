/* The n-th allocation fails, for every n, in everything that a measure does: each time a clean
 * PCAL_MEMORY, nothing left over, and what was there before is as it was. */
#include "../io/io_help.h"
#include "../measure/measure_help.h"
#include "base/rng.h"
#include "file_inputs.h"

#define OUT_ROWS 24

/* ---- a full measure from files ---- */

typedef struct out_files {
  file_inputs inputs;
  const char *const *specs;
  size_t spec_count;
} out_files;

static pcal_status out_write(const pcal_results *results, pcal_error *err) {
  size_t length = 0;
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(pcal_results_write(results, (pcal_format)format, sink_count, &length, err));
  pcal_figure *figure = NULL;
  PC_TRY(pcal_figure_from_results(results, "reliability", &figure, err));
  pcal_status status =
      pcal_figure_write(figure, PCAL_SVG, PCAL_THEME_AUTO, sink_count, &length, err);
  if (status == PCAL_OK)
    status = pcal_figure_write(figure, PCAL_JSON, PCAL_THEME_AUTO, sink_count, &length, err);
  pcal_figure_free(figure);
  PC_TRY(status);
  assert_true(length > 1000);
  return PCAL_OK;
}

static pcal_status out_inspect(pcal_source *source, const pcal_env *env, pcal_error *err) {
  size_t length = 0, problems = 1;
  PC_TRY(pcal_source_rewind(source, err));
  PC_TRY(pcal_inspect_source(source, env, PCAL_TEXT, sink_count, &length, &problems, err));
  assert_int_equal(problems, 0);
  return PCAL_OK;
}

static pcal_status out_measure(const pcal_env *env, void *user, pcal_error *err) {
  const out_files *files = user;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = files->specs;
  config.spec_count = files->spec_count;
  pcal_status status = file_inputs_open(&files->inputs, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, err);
  if (status == PCAL_OK)
    status = out_write(results, err);
  if (status == PCAL_OK)
    status = out_inspect(source, env, err);
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

static pcal_status out_measure_two_threads(const pcal_env *env, void *user, pcal_error *err) {
  pcal_env two = *env;
  two.threads = 2;
  return out_measure(&two, user, err);
}

static pcal_status out_measure_one_thread(const pcal_env *env, void *user, pcal_error *err) {
  pcal_env one = *env;
  one.threads = 1;
  return out_measure(&one, user, err);
}

static void out_make_csv(char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "probs.a,probs.b,probs.c,labels,groups,weights\n");
  for (size_t i = 0; i < OUT_ROWS; i++)
    used += (size_t)snprintf(text + used, size - used, "%s,%s,%zu\n",
                             i % 3 == 0   ? "0.5,0.25,0.25,a"
                             : i % 3 == 1 ? "0.125,0.75,0.125,c"
                                          : "0,0,1,c",
                             i % 2 == 0 ? "even" : "odd", i % 4);
}

TEST(test_measure_from_csv) {
  static const char *const specs[] = {"all", "ece:binning=mass,norm=l2,debias=yes",
                                      "ks:by=label", "log:clip=0.001", "mce:convention=kull"};
  char text[2048];
  out_make_csv(text, sizeof text);
  out_files files = {.inputs = {0}, .specs = specs, .spec_count = UNIT_COUNT(specs)};
  files.inputs.data = help_text("data.csv", text);
  unit_fail_each_allocation(out_measure_one_thread, &files);
  unit_fail_each_allocation(out_measure_two_threads, &files);
}

TEST(test_measure_from_npy) {
  static const char *const specs[] = {"all", "ks:within=2",
                                      "decomposition:score=log,view=classwise",
                                      "decomposition:score=log,by=corp,view=classwise"};
  float logits[3 * OUT_ROWS];
  int64_t labels[OUT_ROWS];
  double weights[OUT_ROWS];
  char groups[1024] = "group\n";
  for (size_t i = 0; i < OUT_ROWS; i++) {
    for (size_t j = 0; j < 3; j++)
      logits[3 * i + j] = (float)((i * 7 + j * 5) % 11) - 5;
    labels[i] = (int64_t)(i % 3);
    weights[i] = (double)(i % 5);
    snprintf(groups + strlen(groups), 32, "group %zu\n", i % 3);
  }
  out_files files = {.inputs = {0}, .specs = specs, .spec_count = UNIT_COUNT(specs)};
  files.inputs.logits = help_npy_file("logits.npy", "=f4", "(24, 3)", logits, sizeof logits);
  files.inputs.labels = help_npy_file("labels.npy", "=i8", "(24,)", labels, sizeof labels);
  files.inputs.weights = help_npy_file("weights.npy", "=f8", "(24,)", weights, sizeof weights);
  files.inputs.groups = help_text("groups.csv", groups);
  unit_fail_each_allocation(out_measure_one_thread, &files);
  unit_fail_each_allocation(out_measure_two_threads, &files);
}

static pcal_status out_inspect_file(const pcal_env *env, void *user, pcal_error *err) {
  size_t length = 0;
  PC_TRY(pcal_inspect_file(user, 0, env, PCAL_TEXT, sink_count, &length, NULL, err));
  return pcal_inspect_file(user, 0, env, PCAL_JSON, sink_count, &length, NULL, err);
}

TEST(test_inspect_files) {
  static const double numbers[] = {1, 2, 3, 4};
  char text[2048], path[256];
  out_make_csv(text, sizeof text);
  snprintf(path, sizeof path, "%s", help_text("inspect.csv", text));
  unit_fail_each_allocation(out_inspect_file, path);
  snprintf(path, sizeof path, "%s",
           help_npy_file("inspect.npy", "=f8", "(2, 2)", numbers, sizeof numbers));
  unit_fail_each_allocation(out_inspect_file, path);
}

/* ---- with threads that are really started ---- */

#define OUT_WIDE_ROWS 1024
#define OUT_WIDE_COLUMNS 256

typedef struct out_wide {
  double *scores;
  int32_t labels[OUT_WIDE_ROWS];
  uint32_t groups[OUT_WIDE_ROWS];
  given_data data;
  int with_pool;
} out_wide;

static pcal_status out_measure_wide(const pcal_env *env, void *user, pcal_error *err) {
  const out_wide *wide = user;
  const pcal_batch batch = given_batch(&wide->data);
  pcal_env threaded = *env;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_status status = PCAL_OK;
  threaded.threads = 2;
  if (wide->with_pool)
    status = pcal_pool_new(2, env, &threaded.pool, err);
  if (status == PCAL_OK)
    status = given_new(&wide->data, "ece ece:binning=mass log ks:by=label", &threaded, &measure,
                       err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  pcal_pool_free(threaded.pool);
  return status;
}

/* The order of allocations differs from run to run here, so that their number does too: the
 * failures are spread over all of them instead of taking each once. */
static void out_fail_some(out_wide *wide) {
  size_t failures = 0, calls;
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_error err;
  assert_int_equal(out_measure_wide(&env, wide, &err), PCAL_OK);
  assert_int_equal(atomic_load(&memory.live), 0);
  calls = atomic_load(&memory.calls);
  for (size_t n = 1; n <= calls; n += 1 + calls / 150) {
    atomic_store(&memory.calls, 0);
    atomic_store(&memory.fail_at, n);
    const pcal_status status = out_measure_wide(&env, wide, &err);
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_true(status == PCAL_MEMORY || status == PCAL_OK);
    failures += status == PCAL_MEMORY;
  }
  assert_true(failures > 50);
}

TEST(test_threads_run_out_of_memory) {
  static out_wide wide;
  const pc_rng rng = {3, 4};
  const size_t count = (size_t)OUT_WIDE_ROWS * OUT_WIDE_COLUMNS;
  wide.scores = malloc(count * sizeof *wide.scores);
  pc_rng_normals(&rng, 0, count, wide.scores);
  for (size_t i = 0; i < OUT_WIDE_ROWS; i++) {
    wide.labels[i] = (int32_t)(i % OUT_WIDE_COLUMNS);
    wide.groups[i] = i / 600;
  }
  wide.data = (given_data){.kind = PCAL_LOGIT,
                           .rows = OUT_WIDE_ROWS,
                           .columns = OUT_WIDE_COLUMNS,
                           .scores = wide.scores,
                           .labels = wide.labels,
                           .groups = wide.groups};
  out_fail_some(&wide);
  wide.with_pool = 1;
  out_fail_some(&wide);
  free(wide.scores);
}

/* ---- what was there before is as it was ---- */

static const given_data out_first = {
    .kind = PCAL_PROBABILITY,
    .rows = 2,
    .columns = 2,
    .scores = (const double[]){0.5, 0.5, 0.25, 0.75},
    .labels = (const int32_t[]){0, 1},
    .groups = (const uint32_t[]){0, 1},
};

/* More rows, weights and groups than before. */
static const given_data out_second = {
    .kind = PCAL_PROBABILITY,
    .rows = 20,
    .columns = 2,
    .scores =
        (const double[]){0.5, 0.5, 0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.6, 0.4, 0.7, 0.3,
                         0.8, 0.2, 0.9, 0.1, 1,   0,   0,   1,   0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
                         0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
    .labels = (const int32_t[]){0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .weights = (const double[]){1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .groups = (const uint32_t[]){0, 5, 2, 3, 4, 1, 0, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
};

typedef struct out_pair {
  unit_memory memory;
  pcal_env env;
  pcal_measure *measure, *other;
} out_pair;

static pcal_measure *out_new(out_pair *pair, const given_data *data) {
  const pcal_batch batch = given_batch(data);
  pcal_measure *measure = NULL;
  pcal_error err;
  if (given_new(data, "all ece:binning=mass ks:by=label", &pair->env, &measure, &err) !=
          PCAL_OK ||
      pcal_measure_update(measure, &batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return measure;
}

static char *out_json(const pcal_measure *measure) {
  pcal_results *results = NULL;
  pcal_error err;
  if (pcal_measure_finish(measure, &results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  char *json = given_written(results, PCAL_JSON);
  pcal_results_free(results);
  return json;
}

typedef pcal_status (*out_action)(out_pair *pair, pcal_error *err);

static pcal_status out_update(out_pair *pair, pcal_error *err) {
  const pcal_batch batch = given_batch(&out_second);
  return pcal_measure_update(pair->measure, &batch, err);
}

static pcal_status out_merge(out_pair *pair, pcal_error *err) {
  return pcal_measure_merge(pair->measure, pair->other, err);
}

static pcal_status out_name(out_pair *pair, pcal_error *err) {
  return pcal_measure_set_names(pair->measure, (const char *const[]){"a", "b"}, 2,
                                (const char *const[]){"x", "y", "z"}, 3, err);
}

static pcal_status out_finish(out_pair *pair, pcal_error *err) {
  pcal_results *results = NULL;
  const pcal_status status = pcal_measure_finish(pair->measure, &results, err);
  assert_true((status == PCAL_OK) == (results != NULL));
  pcal_results_free(results);
  return status;
}

/* Fails the action at its n-th allocation on a fresh measure; tells whether it failed. */
static int out_try(out_action action, size_t n, char **after_success) {
  out_pair pair = {.measure = NULL};
  pcal_error err;
  pair.env = unit_env(&pair.memory);
  pair.measure = out_new(&pair, &out_first);
  pair.other = out_new(&pair, &out_second);
  char *before = out_json(pair.measure);
  atomic_store(&pair.memory.calls, 0);
  atomic_store(&pair.memory.fail_at, n);
  const pcal_status status = action(&pair, &err);
  atomic_store(&pair.memory.fail_at, 0);
  if (status != PCAL_OK) {
    assert_int_equal(status, PCAL_MEMORY);
    char *after = out_json(pair.measure);
    assert_string_equal(after, before);
    free(after);
    assert_int_equal(action(&pair, &err), PCAL_OK);
  }
  *after_success = out_json(pair.measure);
  pcal_measure_free(pair.measure);
  pcal_measure_free(pair.other);
  assert_int_equal(atomic_load(&pair.memory.live), 0);
  free(before);
  return status != PCAL_OK;
}

/* However often it failed before, in the end the outcome is the same. */
static void out_action_is_whole_or_not(out_action action) {
  char *expected, *found;
  size_t n = 1;
  assert_false(out_try(action, SIZE_MAX, &expected));
  for (int failed = 1; failed; n++) {
    failed = out_try(action, n, &found);
    assert_string_equal(found, expected);
    free(found);
  }
  assert_true(n > 3);
  free(expected);
}

TEST(test_update_is_whole_or_not) {
  out_action_is_whole_or_not(out_update);
}

TEST(test_merge_is_whole_or_not) {
  out_action_is_whole_or_not(out_merge);
}

TEST(test_name_is_whole_or_not) {
  out_action_is_whole_or_not(out_name);
}

TEST(test_finish_changes_nothing) {
  out_action_is_whole_or_not(out_finish);
}

TEST_GROUP(help_setup, help_teardown)

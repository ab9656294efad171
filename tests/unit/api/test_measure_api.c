#include <pthread.h>

#include "../io/io_help.h"
#include "../measure/measure_help.h"
#include "base/rng.h"
#include "file_inputs.h"

static const given_data measuring_data = {
    .kind = PCAL_PROBABILITY,
    .rows = 3,
    .columns = 2,
    .scores = (const double[]){0.5, 0.5, 0.25, 0.75, 1, 0},
    .labels = (const int32_t[]){0, 1, 0},
};

static pcal_measure *measuring_new(const given_data *data, const char *specs) {
  pcal_measure *measure = NULL;
  pcal_error err;
  if (given_new(data, specs, NULL, &measure, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return measure;
}

/* ---- arguments ---- */

TEST(test_nothing_may_be_missing) {
  pcal_measure *measure = measuring_new(&measuring_data, "accuracy");
  pcal_results *results = NULL;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  const pcal_batch batch = given_batch(&measuring_data);
  assert_int_equal(pcal_measure_new(NULL, NULL, &measure, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_new(&config, NULL, NULL, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_update(NULL, &batch, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_update(measure, NULL, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_merge(measure, NULL, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_merge(NULL, measure, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_merge(measure, measure, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_set_names(NULL, NULL, 0, NULL, 0, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_finish(NULL, &results, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_finish(measure, NULL, NULL), PCAL_USAGE);
  assert_int_equal(pcal_measure_run(NULL, NULL, NULL, &results, NULL), PCAL_USAGE);
  pcal_measure_free(measure);
  pcal_measure_free(NULL);
}

TEST(test_configuration_is_checked) {
  static const char *const holes[] = {"ece", NULL};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  config.columns = 2;
  config.specs = holes;
  config.spec_count = 2;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "spec number 1 is NULL");
  config.specs = NULL;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "spec_count is 2 but there are no specs");
  config.size = 0;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the configuration's size is not set");
  config = (pcal_measure_config)PCAL_MEASURE_CONFIG_INIT;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_DATA);
  config.kind = (pcal_kind)77;
  config.columns = 2;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_null(measure);
}

/* ---- structs of an older version are shorter ---- */

/* Metrics of the group "default" for classes: words separated by blanks. */
static size_t measuring_default_count(void) {
  size_t count = 0;
  for (const char *at = pcal_registry_find(PCAL_GROUPS, "default")->formula; *at != '\0';) {
    char name[64];
    const size_t length = strcspn(at, ": ");
    memcpy(name, at, length);
    name[length] = '\0';
    count += pcal_registry_find_for_task(PCAL_METRICS, PCAL_CLASSIFICATION, name) != NULL;
    at += strcspn(at, " ");
    at += strspn(at, " ");
  }
  return count;
}

TEST(test_shorter_structs_work) {
  pcal_measure_config config;
  pcal_batch batch;
  pcal_env env;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  memset(&config, 0x5a, sizeof config);
  memset(&batch, 0x5a, sizeof batch);
  memset(&env, 0x5a, sizeof env);
  config.size = offsetof(pcal_measure_config, specs);
  config.kind = PCAL_PROBABILITY;
  config.columns = 2;
  env.size = offsetof(pcal_env, threads);
  env.allocator = (pcal_allocator){NULL, NULL, NULL};
  const pcal_batch full = given_batch(&measuring_data);
  memcpy(&batch, &full, offsetof(pcal_batch, weights));
  batch.size = offsetof(pcal_batch, weights);
  assert_int_equal(pcal_measure_new(&config, &env, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  assert_int_equal(pcal_results_count(results), measuring_default_count());
  assert_same(given_result(results, "accuracy").value, 1.0);
  pcal_results_free(results);
  pcal_measure_free(measure);
}

TEST(test_shorter_inputs_and_shape_work) {
  const char *path = help_text("short.csv", "probs.a,probs.b\n0.5,0.5\n0.25,0.75\n");
  struct {
    pcal_shape shape;
    char guard[8];
  } place;
  pcal_input probs;
  pcal_inputs inputs;
  pcal_source *source = NULL;
  pcal_error err;
  memset(&probs, 0x5a, sizeof probs);
  memset(&inputs, 0x5a, sizeof inputs);
  memset(&place, 0x5a, sizeof place);
  inputs.size = offsetof(pcal_inputs, weights);
  memset((char *)&inputs + sizeof inputs.size, 0, inputs.size - sizeof inputs.size);
  inputs.probs = &probs;
  probs.size = offsetof(pcal_input, data);
  probs.name = NULL;
  probs.file = path;
  place.shape.size = offsetof(pcal_shape, row_count);
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, &err), PCAL_OK);
  pcal_source_get_shape(source, &place.shape);
  assert_int_equal(place.shape.kind, PCAL_PROBABILITY);
  assert_int_equal(place.shape.type, PCAL_F64);
  assert_int_equal(place.shape.size, offsetof(pcal_shape, row_count));
  for (const char *at = (const char *)&place.shape.row_count; at < (const char *)(&place + 1);
       at++)
    assert_int_equal(*at, 0x5a);
  pcal_source_free(source);
}

/* ---- updating ---- */

TEST(test_batches_must_fit) {
  pcal_measure *measure = measuring_new(&measuring_data, "accuracy");
  pcal_batch batch = given_batch(&measuring_data);
  pcal_error err;
  batch.columns = 3;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
  assert_contains(err.message, "a batch of probability with 3 columns does not fit");
  batch = given_batch(&measuring_data);
  batch.kind = PCAL_LOGIT;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
  batch = given_batch(&measuring_data);
  batch.type = (pcal_type)9;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
  batch = given_batch(&measuring_data);
  batch.labels = NULL;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
  assert_contains(err.message, "labels");
  batch = given_batch(&measuring_data);
  batch.scores = NULL;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
  pcal_measure_free(measure);
}

TEST(test_groups_for_all_rows_or_none) {
  static const uint32_t groups[] = {0, 1, 0};
  pcal_measure *measure = measuring_new(&measuring_data, "accuracy");
  pcal_measure *other = measuring_new(&measuring_data, "accuracy");
  pcal_batch batch = given_batch(&measuring_data);
  pcal_error err;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  batch.groups = groups;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "some rows have groups and some have none; give all or none");
  assert_int_equal(pcal_measure_update(other, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_merge(measure, other, &err), PCAL_USAGE);
  assert_contains(err.message, "groups");
  pcal_measure_free(measure);
  pcal_measure_free(other);
}

TEST(test_too_many_groups) {
  static const uint32_t groups[] = {0, 1048576, 0};
  given_data data = measuring_data;
  data.groups = groups;
  given_refused(&data, "accuracy", PCAL_DATA, "groups");
}

TEST(test_different_measures_do_not_merge) {
  given_data other_data = measuring_data, normalizing = measuring_data;
  other_data.columns = 3;
  normalizing.normalize = 1;
  pcal_measure *measure = measuring_new(&measuring_data, "ece");
  pcal_measure *others[] = {
      measuring_new(&measuring_data, "ece:bins=16"), measuring_new(&measuring_data, "ece mce"),
      measuring_new(&other_data, "ece"), measuring_new(&normalizing, "ece")};
  for (size_t i = 0; i < UNIT_COUNT(others); i++) {
    pcal_error err;
    assert_int_equal(pcal_measure_merge(measure, others[i], &err), PCAL_USAGE);
    assert_contains(err.message, "measure");
    pcal_measure_free(others[i]);
  }
  pcal_measure *same = measuring_new(&measuring_data, "ece:bins=15,view=top");
  assert_int_equal(pcal_measure_merge(measure, same, NULL), PCAL_OK);
  pcal_measure_free(same);
  pcal_measure_free(measure);
}

TEST(test_nothing_to_measure) {
  given_data data = measuring_data;
  data.rows = 0;
  given_refused(&data, "", PCAL_DATA, "there are no rows to measure");
  data = measuring_data;
  data.weights = (const double[]){0, 0, 0};
  given_refused(&data, "", PCAL_DATA, "all weights are zero");
  data.weights = NULL;
  data.labels = (const int32_t[]){PCAL_MISSING_LABEL, PCAL_MISSING_LABEL, PCAL_MISSING_LABEL};
  given_refused(&data, "", PCAL_DATA, "row 0: the label is missing");
  data.skip_missing = 1;
  given_refused(&data, "", PCAL_DATA, "no rows are left: every row has a missing value");
}

TEST(test_memory_limit) {
  pcal_env env = PCAL_ENV_INIT;
  const pcal_batch batch = given_batch(&measuring_data);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  env.threads = 1;
  env.memory_limit = 23;
  assert_int_equal(given_new(&measuring_data, "ks ece", &env, &measure, &err), PCAL_MEMORY);
  assert_contains(err.message, "the current step reached the memory limit of 23 bytes");
  assert_null(measure);
  env.memory_limit = 300000; /* for a measure, but not for its workers */
  assert_int_equal(given_new(&measuring_data, "ks ece", &env, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_MEMORY);
  assert_contains(err.message, "reached the memory limit of 300 kB");
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_DATA);
  pcal_measure_free(measure);
  env.memory_limit = 10000000;
  assert_int_equal(given_new(&measuring_data, "ece accuracy", &env, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  pcal_measure_free(measure);
  pcal_results_free(results); /* outlives its measure, and so does the budget */
}

enum { GROWING_ROWS = 1000, GROWING_UPDATES = 4000 };

/* Rows that no update has given before; with groups each is a group of its own. */
typedef struct growing_rows {
  double scores[GROWING_ROWS];
  int32_t labels[GROWING_ROWS];
  uint32_t groups[GROWING_ROWS];
  uint32_t drawn;
} growing_rows;

static pcal_batch growing_batch(growing_rows *rows, int grouped) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = GROWING_ROWS,
                           .columns = 1,
                           .scores = rows->scores,
                           .labels = rows->labels,
                           .groups = grouped ? rows->groups : NULL};
  for (size_t i = 0; i < GROWING_ROWS; i++, rows->drawn++) {
    rows->scores[i] = (double)(uint32_t)(rows->drawn * 2654435761u) * 0x1p-32;
    rows->labels[i] = (int32_t)(rows->drawn % 3 == 0);
    rows->groups[i] = rows->drawn;
  }
  pcal_batch batch = given_batch(&data);
  batch.first_row = rows->drawn - GROWING_ROWS;
  return batch;
}

/* Updates until one is refused; returns how many were not. */
static size_t growing_until_refused(pcal_measure *measure, int grouped, pcal_error *err) {
  static growing_rows rows;
  rows.drawn = 0;
  for (size_t done = 0; done < GROWING_UPDATES; done++) {
    const pcal_batch batch = growing_batch(&rows, grouped);
    const pcal_status status = pcal_measure_update(measure, &batch, err);
    if (status == PCAL_OK)
      continue;
    if (status != PCAL_MEMORY)
      fail_msg("%s", err->message);
    return done;
  }
  fail_msg("memory did not grow");
  return 0;
}

/* Whatever is kept between updates counts against the limit; the error names it, and the
 * refused update leaves no trace. */
TEST(test_memory_limit_between_updates) {
  static const struct {
    const char *spec;
    double interval;
    int grouped;
    const char *grew;
  } cases[] = {
      {"ks", 0, 0, "scores kept for sorting reached the memory limit of 8.00 MB"},
      {"skce", 0, 0, "rows kept for comparing pairs reached the memory limit of 8.00 MB"},
      {"ece", 0.9, 0, "rows kept for replicas reached the memory limit of 8.00 MB"},
      {"brier", 0, 1, "the states of groups reached the memory limit of 8.00 MB"},
      {"ks", 0, 1, "the states of groups reached the memory limit of 8.00 MB"},
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
    pcal_measure *measure = NULL;
    pcal_error err;
    env.threads = 2;
    assert_int_equal(pcal_budget_new(8000000, NULL, &env.budget, &err), PCAL_OK);
    config.columns = 1;
    config.specs = &cases[i].spec;
    config.spec_count = 1;
    config.interval = cases[i].interval;
    if (pcal_measure_new(&config, &env, &measure, &err) != PCAL_OK)
      fail_msg("%s", err.message);
    const size_t done = growing_until_refused(measure, cases[i].grouped, &err);
    assert_contains(err.message, cases[i].grew);
    assert_contains(err.message, "or raise memory_limit");
    assert_true(done > 0);
    assert_true(pcal_budget_peak(env.budget) <= 8000000);
    assert_int_equal(growing_until_refused(measure, cases[i].grouped, &err), 0);
    pcal_measure_free(measure);
    pcal_budget_free(env.budget);
  }
}

TEST(test_names_are_copied_and_replaced) {
  char first[] = "cat", second[] = "dog";
  const char *names[] = {first, second};
  const pcal_batch batch = given_batch(&measuring_data);
  pcal_measure *measure = measuring_new(&measuring_data, "accuracy");
  pcal_results *results = NULL;
  pcal_error err;
  assert_int_equal(
      pcal_measure_set_names(measure, (const char *const[]){"x", "y"}, 2, NULL, 0, &err),
      PCAL_OK);
  assert_int_equal(pcal_measure_set_names(measure, names, 2, NULL, 0, &err), PCAL_OK);
  memset(first, '?', 3);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  pcal_measure_free(measure);
  char *text = given_written(results, PCAL_TEXT);
  assert_contains(text, "classes: cat, dog\n");
  free(text);
  pcal_results_free(results);
}

/* ---- callbacks ---- */

typedef struct measuring_calls {
  size_t progress, asked;
  uint64_t done, total;
  int stop;
} measuring_calls;

static void measuring_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  measuring_calls *calls = user;
  assert_string_equal(what, "measuring");
  calls->progress++;
  calls->done = done;
  calls->total = total;
}

static int measuring_interrupted(void *user) {
  measuring_calls *calls = user;
  calls->asked++;
  return calls->stop;
}

static pcal_source *measuring_source(void) {
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  pcal_error err;
  inputs.data = help_text("data.csv", "probs.cat,probs.dog,labels,groups\n0.5,0.5,cat,x\n"
                                      "0.25,0.75,dog,y\n1,0,cat,x\n");
  if (file_inputs_open(&inputs, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return source;
}

TEST(test_progress_and_interruption) {
  measuring_calls calls = {0};
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = measuring_source();
  pcal_results *results = NULL;
  pcal_error err;
  env.progress = measuring_progress;
  env.interrupted = measuring_interrupted;
  env.user = &calls;
  assert_int_equal(pcal_measure_run(source, NULL, &env, &results, &err), PCAL_OK);
  assert_true(calls.progress > 0 && calls.asked > 0);
  assert_int_equal(calls.done, 3);
  pcal_results_free(results);
  calls.stop = 1;
  assert_int_equal(pcal_source_rewind(source, &err), PCAL_OK);
  assert_int_equal(pcal_measure_run(source, NULL, &env, &results, &err), PCAL_INTERRUPTED);
  assert_null(results);
  assert_int_equal(err.status, PCAL_INTERRUPTED);
  pcal_source_free(source);
}

/* Calls of callbacks on the thread that measures, and on others. */
typedef struct measuring_threads {
  pthread_t caller;
  atomic_long here, elsewhere;
} measuring_threads;

static int measuring_count_call(void *user) {
  measuring_threads *calls = user;
  atomic_fetch_add(
      pthread_equal(pthread_self(), calls->caller) ? &calls->here : &calls->elsewhere, 1);
  return 0;
}

enum { MEASURING_MANY = 100000, MEASURING_CLASSES = 20 };

/* Curves of twenty classes, which threads resolve side by side. */
TEST(test_callbacks_are_for_the_caller) {
  static const char *const specs[] = {"ace"};
  static double probs[MEASURING_MANY * MEASURING_CLASSES];
  static int32_t labels[MEASURING_MANY];
  measuring_threads calls = {.caller = pthread_self()};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  for (size_t r = 0; r < MEASURING_MANY; r++) {
    for (size_t j = 0; j < MEASURING_CLASSES; j++)
      probs[r * MEASURING_CLASSES + j] = (double)(1 + (r * 7 + j) % 20) / 210;
    labels[r] = (int32_t)(r % MEASURING_CLASSES);
  }
  batch.type = PCAL_F64;
  batch.rows = MEASURING_MANY;
  batch.columns = config.columns = MEASURING_CLASSES;
  batch.scores = probs;
  batch.labels = labels;
  config.specs = specs;
  config.spec_count = 1;
  env.threads = 4;
  env.interrupted = measuring_count_call;
  env.user = &calls;
  assert_int_equal(pcal_measure_new(&config, &env, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  assert_true(atomic_load(&calls.here) > 0);
  assert_int_equal(atomic_load(&calls.elsewhere), 0);
  pcal_results_free(results);
  pcal_measure_free(measure);
}

/* ---- workers without rows ---- */

#define IDLE_ROWS ((size_t)1 << 17)
#define IDLE_BATCHES 12

/* The KS error of rows of group 0, with 100 rows of group 1 in the second batch. */
static double idle_measure(unsigned threads, pcal_pool *pool, const double *scores,
                           const int32_t *hits, const uint32_t *groups) {
  const char *const specs[] = {"ks"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.columns = 1;
  config.specs = specs;
  config.spec_count = 1;
  env.threads = threads;
  env.pool = pool;
  assert_int_equal(pcal_measure_new(&config, &env, &measure, NULL), PCAL_OK);
  for (size_t b = 0; b < IDLE_BATCHES; b++) {
    pcal_batch batch = PCAL_BATCH_INIT;
    batch.type = PCAL_F64;
    batch.rows = IDLE_ROWS;
    batch.columns = 1;
    batch.scores = scores + b * IDLE_ROWS;
    batch.labels = hits + b * IDLE_ROWS;
    batch.groups = groups + b * IDLE_ROWS;
    batch.first_row = b * IDLE_ROWS;
    assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  }
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  const double value = given_result(results, "ks").value;
  pcal_results_free(results);
  pcal_measure_free(measure);
  return value;
}

/* Batches have fewer chunks than there are workers: those without rows must not take over the rows of others. */
TEST(test_rows_of_workers_that_were_idle) {
  const size_t n = IDLE_BATCHES * IDLE_ROWS;
  double *scores = calloc(n, sizeof *scores);
  int32_t *hits = calloc(n, sizeof *hits);
  uint32_t *groups = calloc(n, sizeof *groups);
  const pc_rng rng = {61, 0};
  for (size_t i = 0; i < n; i++) {
    scores[i] = pc_rng_uniform(&rng, 2 * i);
    hits[i] = pc_rng_uniform(&rng, 2 * i + 1) < scores[i] * scores[i];
    groups[i] = i >= IDLE_ROWS && i < IDLE_ROWS + 100;
  }
  const double one = idle_measure(1, NULL, scores, hits, groups);
  pcal_pool *pool = NULL;
  assert_int_equal(pcal_pool_new(8, NULL, &pool, NULL), PCAL_OK);
  for (int repeat = 0; repeat < 6; repeat++)
    assert_same(idle_measure(8, pool, scores, hits, groups), one);
  pcal_pool_free(pool);
  free(scores);
  free(hits);
  free(groups);
}

/* ---- from a source ---- */

TEST(test_run_takes_names_from_the_source) {
  pcal_source *source = measuring_source();
  pcal_results *results = NULL;
  pcal_error err;
  assert_int_equal(pcal_measure_run(source, NULL, NULL, &results, &err), PCAL_OK);
  char *json = given_written(results, PCAL_JSON);
  assert_contains(json, "\"class_names\": [\n      \"cat\",\n      \"dog\"\n");
  assert_contains(json, "\"group_names\": [\n      \"x\",\n      \"y\"\n");
  assert_same(given_result(results, "accuracy").value, 1.0);
  free(json);
  pcal_results_free(results);
  pcal_source_free(source);
}

TEST(test_run_needs_labels) {
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  inputs.confidence = help_text("only.csv", "confidence\n0.5\n");
  assert_int_equal(file_inputs_open(&inputs, NULL, &source, &err), PCAL_OK);
  assert_int_equal(pcal_measure_run(source, NULL, NULL, &results, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "measuring needs the true outcomes; give them with correct");
  pcal_source_free(source);
}

TEST_GROUP(help_setup, help_teardown)

/* Comparisons: values against measures of calibrated rows, the choice, bits, failures. */
#include "../calibrators/calibrator_help.h"
#include "base/number.h"
#include "calibrators/folds.h"
#include "compare/comparison.h"
#include "io/source.h"

#define COMPARED_ROWS 400
#define COMPARED_CLASSES 3
#define COMPARED_REPLICAS 50

typedef struct compared_data {
  double logits[COMPARED_ROWS * COMPARED_CLASSES];
  int32_t labels[COMPARED_ROWS];
  pcal_batch batch;
} compared_data;

static void compared_draw(compared_data *data, double truth) {
  help_draw(data->logits, data->labels, COMPARED_ROWS, COMPARED_CLASSES, 4, truth);
  data->batch =
      help_batch(PCAL_LOGIT, data->logits, data->labels, COMPARED_ROWS, COMPARED_CLASSES);
}

static pcal_status compared_try(const compared_data *data, pcal_compare_config *config,
                                const pcal_env *env, pcal_comparison **out, pcal_error *err) {
  pcal_model model = PCAL_MODEL_INIT;
  if (config->replicas == 0)
    config->replicas = COMPARED_REPLICAS;
  pcal_status status = pc_source_borrow(&data->batch, NULL, env, &model.source, err);
  if (status == PCAL_OK)
    status = pcal_compare_run(&model, 1, config, env, out, err);
  pcal_source_free(model.source);
  return status;
}

static pcal_comparison *compared_run(const compared_data *data, pcal_compare_config *config,
                                     const pcal_env *env) {
  pcal_comparison *comparison = NULL;
  pcal_error err;
  if (compared_try(data, config, env, &comparison, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return comparison;
}

static double compared_brier(const double *probs, const int32_t *labels) {
  double sum = 0;
  for (size_t i = 0; i < COMPARED_ROWS * COMPARED_CLASSES; i++)
    sum += pow(probs[i] - (labels[i / COMPARED_CLASSES] == (int)(i % COMPARED_CLASSES)), 2);
  return sum / COMPARED_ROWS;
}

/* Cross-validation by hand: rows outside a fold copied, fitted, applied to those inside. */
static double compared_by_hand(const compared_data *data, const char *method, size_t count) {
  static double scores[COMPARED_ROWS * COMPARED_CLASSES], made[2 * COMPARED_ROWS * 3],
      probs[COMPARED_ROWS * COMPARED_CLASSES];
  int32_t labels[COMPARED_ROWS];
  const pc_folds folds = {0, count, 0};
  for (size_t fold = 0; fold < count; fold++) {
    size_t rows = 0;
    for (size_t i = 0; i < COMPARED_ROWS; i++) {
      if (pc_fold_of(&folds, i) == fold)
        continue;
      memcpy(scores + 3 * rows, data->logits + 3 * i, 3 * sizeof(double));
      labels[rows++] = data->labels[i];
    }
    const pcal_batch rest = help_batch(PCAL_LOGIT, scores, labels, rows, COMPARED_CLASSES);
    pcal_calibrator *fitted = help_fit(&rest, method);
    help_apply(fitted, &data->batch, made);
    for (size_t i = 0; i < COMPARED_ROWS; i++)
      if (pc_fold_of(&folds, i) == fold)
        memcpy(probs + 3 * i, made + 3 * i, 3 * sizeof(double));
    pcal_calibrator_free(fitted);
  }
  return compared_brier(probs, data->labels);
}

TEST(compared_values) {
  static const char *const methods[] = {"temperature", "isotonic", "histogram"};
  compared_data data;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 3);
  config.methods = methods;
  config.method_count = 3;
  config.folds = 4;
  pcal_comparison *comparison = compared_run(&data, &config, NULL);
  assert_int_equal(comparison->count, 4);
  const double before = comparison->contestants[0].results->records[0].outcome.value;
  for (size_t i = 1; i < 4; i++) {
    const pc_contestant *here = &comparison->contestants[i];
    const double value = here->results->records[0].outcome.value;
    assert_near(value, compared_by_hand(&data, methods[i - 1], 4), 1e-13);
    assert_near(here->gains[0].value, before - value, 1e-9);
    assert_true(here->gains[0].low < here->gains[0].value);
    assert_true(here->gains[0].high > here->gains[0].value);
  }
  assert_string_equal(pcal_comparison_chosen(comparison), "temperature");
  assert_int_equal(comparison->contestants[1].rank, 1);
  assert_near(comparison->contestants[1].behind.value + 1, 1.0, 0);
  /* The calibrator that is given out has seen all rows. */
  pcal_calibrator *whole = help_fit(&data.batch, "temperature");
  sink_bytes one = help_save(whole), other = help_save(pcal_comparison_calibrator(comparison));
  assert_string_equal(one.bytes, other.bytes);
  free(one.bytes);
  free(other.bytes);
  pcal_calibrator_free(whole);
  pcal_comparison_free(comparison);
}

/* no_calibrator: the same choice without its last fit. */
TEST(compared_no_calibrator) {
  static const char *const methods[] = {"temperature"};
  compared_data data;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 3);
  config.methods = methods;
  config.method_count = 1;
  config.no_calibrator = 1;
  pcal_comparison *comparison = compared_run(&data, &config, NULL);
  assert_string_equal(pcal_comparison_chosen(comparison), "temperature");
  assert_null(pcal_comparison_calibrator(comparison));
  pcal_comparison_free(comparison);
}

/* rank_only: the same table; gains of the ranking metric alone. */
TEST(compared_rank_only) {
  static const char *const methods[] = {"temperature", "isotonic"};
  compared_data data;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 0.4);
  config.methods = methods;
  config.method_count = 2;
  pcal_comparison *all = compared_run(&data, &config, NULL);
  config.rank_only = 1;
  pcal_comparison *one = compared_run(&data, &config, NULL);
  assert_int_equal(one->count, all->count);
  assert_int_equal(one->chosen, all->chosen);
  for (size_t i = 0; i < all->count; i++) {
    const pc_contestant *a = &all->contestants[i], *b = &one->contestants[i];
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->results->metric_count, b->results->metric_count);
    assert_memory_equal(&a->gains[0], &b->gains[0], sizeof(pc_gain));
    assert_memory_equal(&a->behind, &b->behind, sizeof(pc_gain));
    for (size_t m = 0; m < a->results->metric_count; m++) {
      assert_same(a->results->records[m].outcome.value, b->results->records[m].outcome.value);
      assert_int_equal(b->gains[m].known, m == 0 && a->gains[m].known);
    }
  }
  assert_true(all->contestants[1].gains[0].sure);
  pcal_comparison_free(all);
  pcal_comparison_free(one);
}

TEST(compared_leave_alone) {
  compared_data data;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 1);
  pcal_comparison *comparison = compared_run(&data, &config, NULL);
  assert_string_equal(pcal_comparison_chosen(comparison), "identity");
  sink_bytes text = {0};
  assert_int_equal(pcal_comparison_write(comparison, PCAL_TEXT, sink_collect, &text, NULL),
                   PCAL_OK);
  assert_non_null(strstr(text.bytes, "Leave it alone"));
  free(text.bytes);
  pcal_comparison_free(comparison);
}

/* A second set: fitted there, judged here; the same bits for any number of threads. */
TEST(compared_second_set) {
  static const char *const methods[] = {"temperature"};
  compared_data data, second;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  sink_bytes texts[2] = {{0}};
  compared_draw(&data, 3);
  compared_draw(&second, 2);
  config.methods = methods;
  config.method_count = 1;
  config.replicas = COMPARED_REPLICAS;
  for (unsigned t = 0; t < 2; t++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_comparison *comparison = NULL;
    env.threads = 1 + 2 * t;
    assert_int_equal(pc_source_borrow(&data.batch, NULL, NULL, &model.source, NULL), PCAL_OK);
    assert_int_equal(pc_source_borrow(&second.batch, NULL, NULL, &model.val, NULL), PCAL_OK);
    assert_int_equal(pcal_compare_run(&model, 1, &config, &env, &comparison, NULL), PCAL_OK);
    pcal_calibrator *fitted = help_fit(&second.batch, "temperature");
    static double probs[COMPARED_ROWS * COMPARED_CLASSES];
    help_apply(fitted, &data.batch, probs);
    assert_near(comparison->contestants[1].results->records[0].outcome.value,
                compared_brier(probs, data.labels), 1e-13);
    assert_int_equal(
        pcal_comparison_write(comparison, PCAL_JSON, sink_collect, &texts[t], NULL), PCAL_OK);
    pcal_calibrator_free(fitted);
    pcal_comparison_free(comparison);
    pcal_source_free(model.source);
    pcal_source_free(model.val);
  }
  assert_string_equal(texts[0].bytes, texts[1].bytes);
  free(texts[0].bytes);
  free(texts[1].bytes);
}

static void compared_refused(const compared_data *data, pcal_compare_config *config,
                             const char *sentence) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_comparison *comparison = NULL;
  pcal_error err;
  assert_true(compared_try(data, config, &env, &comparison, &err) != PCAL_OK);
  assert_string_equal(err.message, sentence);
  assert_null(comparison);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(compared_bad) {
  static const char *const wrong[] = {"temprature"};
  compared_data data;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 1);
  config.folds = 1;
  compared_refused(&data, &config, "cross-validation takes 2 to 100 folds, not 1");
  config.folds = 0;
  config.budget = -1;
  compared_refused(&data, &config, "the time budget is a number of seconds, at least 0");
  config.budget = 0;
  config.by = "default";
  compared_refused(&data, &config,
                   "methods are ranked by one metric, such as brier or log; \"default\" is a "
                   "group");
  config.by = NULL;
  config.methods = wrong;
  config.method_count = 1;
  compared_refused(&data, &config,
                   "there is no calibrator \"temprature\" (did you mean \"temperature\"?); "
                   "pcal_registry_at shows them all");
  config.method_count = 0;
  for (size_t i = 0; i < COMPARED_ROWS; i++)
    data.labels[i] = 2;
  compared_refused(&data, &config,
                   "every label is class 2, and nothing can be learned or judged from one "
                   "class; give rows of at least two classes");
}

typedef struct compared_calls {
  size_t count, refused;
  char last[64], outcome[256];
} compared_calls;

static void compared_judged(void *user, const char *name, const char *outcome) {
  compared_calls *calls = user;
  calls->refused += strncmp(outcome, "not judged: ", 12) == 0;
  snprintf(calls->last, sizeof calls->last, "%s", name);
  if (calls->count++ == 0)
    snprintf(calls->outcome, sizeof calls->outcome, "%s", outcome);
}

/* Every contestant is shown once, slow methods last. */
TEST(compared_shown) {
  static const char *const methods[] = {"diag", "temperature"};
  compared_data data;
  compared_calls calls = {0};
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 3);
  config.methods = methods;
  config.method_count = 2;
  config.folds = 2;
  config.judged = compared_judged;
  config.user = &calls;
  pcal_comparison *comparison = compared_run(&data, &config, NULL);
  char value[PC_NUMBER_MAX], outcome[64];
  pc_number_round(comparison->contestants[0].results->records[0].outcome.value, 4, value);
  snprintf(outcome, sizeof outcome, "brier %s", value);
  assert_int_equal(calls.count, 3);
  assert_int_equal(calls.refused, 0);
  assert_string_equal(calls.outcome, outcome);
  assert_string_equal(calls.last, "diag");
  assert_string_equal(comparison->contestants[1].label, "diag");
  pcal_comparison_free(comparison);
}

static void compared_keep_outcomes(void *user, const char *name, const char *outcome) {
  char *out = user;
  const size_t used = strlen(out);
  snprintf(out + used, 200 - used, "%s: %s\n", name, outcome);
}

/* (1), (3) Without a wrong prediction the ranking metric is undefined: the first listed ranks first, and
 * nothing is better. */
TEST(compared_undefined) {
  static const char *const methods[] = {"temperature", "vector"};
  char seen[200] = "";
  compared_data data;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 3);
  for (size_t i = 0; i < COMPARED_ROWS; i++)
    data.logits[i * COMPARED_CLASSES + (size_t)data.labels[i]] = 20.0;
  config.methods = methods;
  config.method_count = 2;
  config.by = "failure-auroc";
  config.judged = compared_keep_outcomes;
  config.user = seen;
  pcal_comparison *comparison = compared_run(&data, &config, NULL);
  assert_string_equal(seen, "identity: failure-auroc undefined\n"
                            "temperature: failure-auroc undefined\n"
                            "vector: failure-auroc undefined\n");
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(comparison->contestants[i].rank, i + 1);
  assert_string_equal(pcal_comparison_chosen(comparison), "identity");
  pcal_comparison_free(comparison);
}

/* Judging side by side, with several threads, writes what judging one after the other does: the methods that are
 * given up after the first fold, those that do not suit the rows, ranks and gains. */
TEST(compared_stages) {
  static compared_data data;
  sink_bytes text[3] = {{0}};
  compared_draw(&data, 0.6);
  for (unsigned t = 0; t < 3; t++) {
    pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
    pcal_env env = PCAL_ENV_INIT;
    env.threads = 1 + 2 * t;
    pcal_comparison *comparison = compared_run(&data, &config, &env);
    assert_int_equal(pcal_comparison_write(comparison, PCAL_JSON, sink_collect, &text[t], NULL),
                     PCAL_OK);
    pcal_comparison_free(comparison);
    assert_string_equal(text[t].bytes, text[0].bytes);
  }
  for (unsigned t = 0; t < 3; t++)
    free(text[t].bytes);
}

/* A failing method of the list that was given is the error, also side by side. */
TEST(compared_stages_bad) {
  static const char *const methods[] = {"temperature", "isotonic", "venn-abers:no=1"};
  compared_data data;
  pcal_error first = PCAL_ERROR_INIT, other = PCAL_ERROR_INIT;
  compared_draw(&data, 3);
  for (unsigned t = 0; t < 2; t++) {
    pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
    pcal_env env = PCAL_ENV_INIT;
    pcal_comparison *comparison = NULL;
    env.threads = 1 + 3 * t;
    config.methods = methods;
    config.method_count = UNIT_COUNT(methods);
    assert_int_equal(compared_try(&data, &config, &env, &comparison, t == 0 ? &first : &other),
                     PCAL_USAGE);
    assert_null(comparison);
  }
  assert_string_equal(first.message, other.message);
}

/* Memory that ends with the n-th allocation, for callers that ask for no error: a status, and nothing left over. */
static void *compared_end_of_memory(void *user, void *block, size_t size) {
  unit_memory *memory = user;
  if (atomic_load(&memory->calls) + 1 >= atomic_load(&memory->fail_at)) {
    atomic_fetch_add(&memory->calls, 1);
    return NULL;
  }
  return unit_resize(user, block, size);
}

TEST(compared_stages_without_memory) {
  static const char *const methods[] = {"temperature", "isotonic", "vector"};
  static compared_data data;
  pcal_status status = PCAL_MEMORY;
  compared_draw(&data, 3);
  for (size_t n = 1; status != PCAL_OK; n += 1 + n / 4) {
    unit_memory memory = {0};
    pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
    pcal_env env = unit_env(&memory);
    pcal_comparison *comparison = NULL;
    atomic_store(&memory.fail_at, n);
    env.allocator.resize = compared_end_of_memory;
    env.threads = 3;
    config.methods = methods;
    config.method_count = UNIT_COUNT(methods);
    status = compared_try(&data, &config, &env, &comparison, NULL);
    assert_true(status == PCAL_OK || status == PCAL_MEMORY);
    pcal_comparison_free(comparison);
    assert_int_equal(atomic_load(&memory.live), 0);
  }
}

/* A single allocation that fails side by side is tried again alone. */
TEST(compared_stages_try_again) {
  static const char *const methods[] = {"temperature", "isotonic", "vector"};
  static compared_data data;
  sink_bytes text[2] = {{0}};
  size_t calls = 0, again = 0;
  compared_draw(&data, 3);
  for (size_t n = 0; n <= calls; n += 1 + calls / 30) {
    unit_memory memory = {0};
    pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
    pcal_env env = unit_env(&memory);
    pcal_comparison *comparison = NULL;
    atomic_store(&memory.fail_at, n);
    env.threads = 3;
    config.methods = methods;
    config.method_count = UNIT_COUNT(methods);
    const pcal_status status = compared_try(&data, &config, &env, &comparison, NULL);
    if (n == 0)
      calls = atomic_load(&memory.calls);
    if (status == PCAL_OK) {
      sink_bytes *out = &text[n > 0];
      out->length = 0;
      again += n > 0;
      assert_int_equal(pcal_comparison_write(comparison, PCAL_JSON, sink_collect, out, NULL),
                       PCAL_OK);
      assert_string_equal(text[n > 0].bytes, text[0].bytes);
    }
    pcal_comparison_free(comparison);
    assert_int_equal(atomic_load(&memory.live), 0);
  }
  assert_true(again > 0);
  free(text[0].bytes);
  free(text[1].bytes);
}

/* One step, "comparing", that never goes back and ends with all contestants; a slow one counts as eight. */
typedef struct compared_steps {
  uint64_t done, total;
  size_t calls, others;
} compared_steps;

static void compared_step(void *user, const char *what, uint64_t done, uint64_t total) {
  compared_steps *steps = user;
  steps->others += strcmp(what, "comparing") != 0;
  assert_true(done >= steps->done && (total == 0 || done <= total));
  steps->done = done;
  steps->total = total;
  steps->calls++;
}

TEST(compared_progress) {
  static const char *const methods[] = {"temperature", "vector", "diag"};
  static compared_data data;
  compared_steps steps = {0};
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  config.methods = methods;
  config.method_count = UNIT_COUNT(methods);
  config.no_calibrator = 1;
  env.progress = compared_step;
  env.user = &steps;
  compared_draw(&data, 0.6);
  pcal_comparison_free(compared_run(&data, &config, &env));
  assert_true(steps.calls > UNIT_COUNT(methods));
  assert_int_equal(steps.others, 0);
  /* Without a method, two fast ones and a slow one; five folds each, and measuring. */
  assert_int_equal(steps.total, (3 + 8) * 6);
  assert_int_equal(steps.done, steps.total);
}

/* Without time, only the predictions themselves are judged, and the reason is given. */
TEST(compared_budget) {
  static const char *const methods[] = {"temperature"};
  compared_data data;
  compared_calls calls = {0};
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  compared_draw(&data, 3);
  config.methods = methods;
  config.method_count = 1;
  config.budget = 1e-9;
  config.judged = compared_judged;
  config.user = &calls;
  pcal_comparison *comparison = compared_run(&data, &config, NULL);
  assert_string_equal(pcal_comparison_chosen(comparison), "identity");
  assert_int_equal(calls.refused, 1);
  assert_null(comparison->contestants[1].results);
  assert_string_equal(comparison->contestants[1].why,
                      "the time budget of 1e-09 s ended before its fit; give more time");
  sink_bytes text = {0};
  assert_int_equal(pcal_comparison_write(comparison, PCAL_JSON, sink_collect, &text, NULL),
                   PCAL_OK);
  assert_non_null(strstr(text.bytes, "\"status\": \"out of time\""));
  free(text.bytes);
  pcal_comparison_free(comparison);
}

/* The n-th allocation fails in everything that rows of the registry do, on a few rows of data:
 * each time PCAL_MEMORY, and nothing is left over.
 *
 * For every metric, calibrator and figure, with each word of each of its choices, quick studies,
 * reports, comparisons and learning by group: what is made is also written in every format,
 * and calibrators are loaded again.  The first failing calls are tried one by one, later ones in
 * steps; MEMORY_POINTS bounds the runs of one spec. */
#include "../unit/unit.h"

#include <time.h>

#include "base/options.h"
#include "io/source.h"
#include "propercal.h"

#define MEMORY_ROWS 96
#define MEMORY_CLASSES 3
#define MEMORY_POINTS 90
#define MEMORY_FEW_POINTS 12 /* with sanitizers, and with PROPERCAL_LAWS=few */
#define MEMORY_SLOW 0.03     /* seconds of one run; a study that takes longer is left out */

typedef enum memory_data {
  MEMORY_LOGITS,
  MEMORY_CONFIDENCES,
  MEMORY_NORMALS,
  MEMORY_SAMPLES,
  MEMORY_QUANTILES
} memory_data;

typedef struct memory_case {
  memory_data data;
  const char *name; /* spec of the row */
} memory_case;

/* ---- data ---- */

static float memory_scores[MEMORY_ROWS * MEMORY_CLASSES];
static double memory_targets[MEMORY_ROWS], memory_weights[MEMORY_ROWS];
static int32_t memory_labels[MEMORY_ROWS];
static uint32_t memory_groups[MEMORY_ROWS];

static pcal_batch memory_batch(memory_data data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const int of_number = data == MEMORY_NORMALS || data == MEMORY_SAMPLES;
  for (size_t i = 0; i < MEMORY_ROWS; i++) {
    for (size_t c = 0; c < MEMORY_CLASSES; c++)
      memory_scores[i * MEMORY_CLASSES + c] = data == MEMORY_LOGITS
                                                  ? (float)((i * 7 + c * 5) % 11) / 3.0f
                                                  : (float)(1 + (i * 5 + c * 3) % 9) / 10.0f;
    memory_labels[i] = (int32_t)((i * i + i / 3) % (data == MEMORY_LOGITS ? 3 : 2));
    memory_targets[i] = (double)(i % 5) / 4.0;
    memory_weights[i] = 1.0 + (double)(i % 2);
    memory_groups[i] = (uint32_t)(i % 2);
  }
  batch.kind = data == MEMORY_LOGITS        ? PCAL_LOGIT
               : data == MEMORY_CONFIDENCES ? PCAL_CONFIDENCE
               : data == MEMORY_SAMPLES     ? PCAL_SAMPLES
                                            : PCAL_MEAN_STD;
  batch.rows = MEMORY_ROWS;
  batch.columns = data == MEMORY_LOGITS || data == MEMORY_SAMPLES ? MEMORY_CLASSES
                  : data == MEMORY_NORMALS                        ? 2
                                                                  : 1;
  batch.scores = memory_scores;
  batch.labels = of_number ? NULL : memory_labels;
  batch.targets = of_number ? memory_targets : NULL;
  batch.weights = memory_weights;
  batch.groups = memory_groups;
  return batch;
}

/* Three quantiles of each row, ascending. */
static pcal_status memory_quantiles(const pcal_env *env, pcal_source **out, pcal_error *err) {
  static const double levels[] = {0.05, 0.5, 0.95};
  const pcal_batch batch = memory_batch(MEMORY_NORMALS);
  pcal_input quantiles = PCAL_INPUT_INIT, target = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  for (size_t i = 0; i < MEMORY_ROWS; i++)
    for (size_t c = 0; c < MEMORY_CLASSES; c++)
      memory_scores[i * MEMORY_CLASSES + c] = (float)(i % 4) / 8.0f + (float)c / 4.0f;
  quantiles.data = memory_scores;
  quantiles.columns = MEMORY_CLASSES;
  target.data = batch.targets;
  target.type = PCAL_F64;
  quantiles.rows = target.rows = MEMORY_ROWS;
  inputs.quantiles = &quantiles;
  inputs.target = &target;
  inputs.levels = levels;
  inputs.level_count = MEMORY_CLASSES;
  return pcal_source_open(&inputs, env, out, err);
}

static pcal_status memory_source(memory_data data, const pcal_env *env, pcal_source **out,
                                 pcal_error *err) {
  if (data == MEMORY_QUANTILES)
    return memory_quantiles(env, out, err);
  const pcal_batch batch = memory_batch(data);
  return pc_source_borrow(&batch, NULL, env, out, err);
}

/* The same without groups. */
static pcal_status memory_plain_source(memory_data data, const pcal_env *env, pcal_source **out,
                                       pcal_error *err) {
  if (data == MEMORY_QUANTILES)
    return memory_quantiles(env, out, err);
  pcal_batch batch = memory_batch(data);
  batch.groups = NULL;
  return pc_source_borrow(&batch, NULL, env, out, err);
}

/* The same with groups that have names, which learning by group needs. */
static pcal_status memory_named_source(memory_data data, const pcal_env *env, pcal_source **out,
                                       pcal_error *err) {
  static const char *const names[] = {"north", "south"};
  const pcal_batch batch = memory_batch(data);
  pcal_input scores = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT, groups = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  scores.data = batch.scores;
  labels.data = batch.labels;
  groups.data = batch.groups;
  labels.type = groups.type = PCAL_I32;
  scores.rows = labels.rows = groups.rows = MEMORY_ROWS;
  scores.columns = batch.columns;
  groups.meanings = names;
  groups.meaning_count = 2;
  if (batch.kind == PCAL_CONFIDENCE) {
    inputs.confidence = &scores;
    inputs.correct = &labels;
  } else {
    inputs.logits = &scores;
    inputs.labels = &labels;
  }
  inputs.groups = &groups;
  return pcal_source_open(&inputs, env, out, err);
}

/* A format or a target that a row does not have is no matter here. */
static pcal_status memory_unless_refused(pcal_status status) {
  return status == PCAL_USAGE || status == PCAL_DATA ? PCAL_OK : status;
}

/* ---- what rows do ---- */

static pcal_status memory_write_results(const pcal_results *results, pcal_error *err) {
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(pcal_results_write(results, (pcal_format)format, sink_count, NULL, err));
  return PCAL_OK;
}

static pcal_status memory_metric(const pcal_env *env, void *user, pcal_error *err) {
  const memory_case *one = user;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = &one->name;
  config.spec_count = 1;
  config.interval = 0.9;
  config.replicas = 20;
  config.null = 1;
  config.curves = 1;
  pcal_status status = memory_source(one->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, err);
  if (status == PCAL_OK)
    status = memory_write_results(results, err);
  if (status == PCAL_OK) /* nothing to compare, after all allocations */
    status = memory_unless_refused(
        pcal_results_add_baseline(results, "{\"results\": []}", 15, NULL, err));
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

static pcal_status memory_load_again(const pcal_calibrator *calibrator, const pcal_env *env,
                                     pcal_error *err) {
  sink_bytes file = {0};
  pcal_calibrator *again = NULL;
  pcal_status status = pcal_calibrator_save(calibrator, sink_collect, &file, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_load(file.bytes, file.length, "cal.json", env, &again, err);
  pcal_calibrator_free(again);
  free(file.bytes);
  return status;
}

static pcal_status memory_use_calibrator(const pcal_calibrator *calibrator, memory_data data,
                                         const pcal_env *env, pcal_error *err) {
  float out[MEMORY_ROWS * MEMORY_CLASSES];
  PC_TRY(pcal_calibrator_describe(calibrator, PCAL_TEXT, sink_count, NULL, err));
  PC_TRY(pcal_calibrator_describe(calibrator, PCAL_JSON, sink_count, NULL, err));
  PC_TRY(memory_load_again(calibrator, env, err));
  if (data != MEMORY_QUANTILES) { /* their levels are in the source */
    const pcal_batch batch = memory_batch(data);
    PC_TRY(pcal_calibrator_apply(calibrator, &batch, env, out, err));
  }
  PC_TRY(memory_unless_refused(
      pcal_calibrator_export(calibrator, PCAL_C, NULL, sink_count, NULL, err)));
  return memory_unless_refused(
      pcal_calibrator_export(calibrator, PCAL_ONNX, NULL, sink_count, NULL, err));
}

static pcal_status memory_fit(const memory_case *one, int by_group, const pcal_env *env,
                              pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  config.method = one->name;
  config.by_group = by_group;
  pcal_status status = by_group ? memory_named_source(one->data, env, &source, err)
                                : memory_source(one->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, &calibrator, err);
  if (status == PCAL_OK)
    status = memory_use_calibrator(calibrator, one->data, env, err);
  for (int npy = 0; npy < 2 && status == PCAL_OK; npy++)
    status = pcal_calibrator_apply_source(calibrator, source, npy ? PCAL_NPY : PCAL_CSV, env,
                                          sink_count, NULL, err);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  return status;
}

static pcal_status memory_calibrator(const pcal_env *env, void *user, pcal_error *err) {
  return memory_fit(user, 0, env, err);
}

static pcal_status memory_grouped(const pcal_env *env, void *user, pcal_error *err) {
  return memory_fit(user, 1, env, err);
}

static pcal_status memory_draw(const pcal_figure *figure, pcal_error *err) {
  PC_TRY(pcal_figure_write(figure, PCAL_SVG, PCAL_THEME_LIGHT, sink_count, NULL, err));
  return pcal_figure_write(figure, PCAL_JSON, PCAL_THEME_AUTO, sink_count, NULL, err);
}

static pcal_status memory_figure_of(const memory_case *one, int groups, const pcal_env *env,
                                    pcal_error *err) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_figure *figure = NULL;
  config.figure = one->name;
  config.replicas = 20;
  pcal_status status = groups ? memory_named_source(one->data, env, &source, err)
                              : memory_plain_source(one->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_figure_run(source, &config, env, &figure, err);
  if (status == PCAL_OK)
    status = memory_draw(figure, err);
  pcal_figure_free(figure);
  pcal_source_free(source);
  return status;
}

static pcal_status memory_figure(const pcal_env *env, void *user, pcal_error *err) {
  return memory_figure_of(user, 0, env, err);
}

static pcal_status memory_figure_of_groups(const pcal_env *env, void *user, pcal_error *err) {
  return memory_figure_of(user, 1, env, err);
}

static pcal_status memory_write_study(const pcal_study *study, pcal_error *err) {
  pcal_figure *figure = NULL;
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(pcal_study_write(study, (pcal_format)format, sink_count, NULL, err));
  pcal_status status = pcal_figure_from_study(study, NULL, &figure, err);
  if (status == PCAL_OK)
    status = memory_draw(figure, err);
  pcal_figure_free(figure);
  return memory_unless_refused(status);
}

static pcal_status memory_study(const pcal_env *env, void *user, pcal_error *err) {
  const memory_case *one = user;
  static const uint64_t row_counts[] = {12};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_study *study = NULL;
  config.simulation = (pcal_simulation){sizeof(pcal_simulation), 12, 3, 2.0, 0.01, 0};
  config.sets = config.null_sets = 2;
  config.replicas = 20;
  config.repeats = 2;
  config.row_counts = row_counts;
  config.row_count_count = 1;
  model.name = "model";
  pcal_status status = memory_source(one->data, env, &model.source, err);
  if (status == PCAL_OK)
    status = memory_source(one->data, env, &model.val, err);
  config.models = &model;
  config.model_count = 1;
  if (status == PCAL_OK)
    status = pcal_study_run(one->name, &config, env, &study, err);
  if (status == PCAL_OK)
    status = memory_write_study(study, err);
  pcal_study_free(study);
  pcal_source_free(model.source);
  pcal_source_free(model.val);
  return status;
}

static pcal_status memory_report(const pcal_env *env, void *user, pcal_error *err) {
  const memory_case *one = user;
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_report *report = NULL;
  config.method = one->name;
  config.replicas = 20;
  config.command = "propercal report";
  pcal_status status = memory_source(one->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_report_run(source, &config, env, &report, err);
  for (int format = PCAL_TEXT; status == PCAL_OK && format <= PCAL_HTML; format++)
    status = memory_unless_refused(
        pcal_report_write(report, (pcal_format)format, sink_count, NULL, err));
  pcal_report_free(report);
  pcal_source_free(source);
  return status;
}

static pcal_status memory_compare(const pcal_env *env, void *user, pcal_error *err) {
  const memory_case *one = user;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_comparison *comparison = NULL;
  config.methods = &one->name;
  config.method_count = 1;
  config.replicas = 20;
  config.folds = 2;
  pcal_status status = memory_source(one->data, env, &model.source, err);
  if (status == PCAL_OK)
    status = pcal_compare_run(&model, 1, &config, env, &comparison, err);
  for (int format = PCAL_TEXT; status == PCAL_OK && format <= PCAL_LATEX; format++)
    status = pcal_comparison_write(comparison, (pcal_format)format, sink_count, NULL, err);
  pcal_comparison_free(comparison);
  pcal_source_free(model.source);
  return status;
}

/* ---- the sweep ---- */

/* One run with the n-th allocation failing (0: none); returns how many there were. */
static size_t memory_run(unit_scenario scenario, void *user, size_t n, pcal_status *status) {
  unit_memory memory = {0};
  pcal_error err;
  atomic_store(&memory.fail_at, n);
  pcal_env env = unit_env(&memory);
  env.threads = 1;
  pc_error_clear(&err);
  *status = scenario(&env, user, &err);
  if (atomic_load(&memory.live) != 0)
    fail_msg("%s: %zu blocks left when allocation %zu failed",
             ((const memory_case *)user)->name, atomic_load(&memory.live), n);
  if (*status == PCAL_MEMORY)
    assert_memory_equal(err.message, "out of memory while ", 20);
  return atomic_load(&memory.calls);
}

static size_t memory_points(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return MEMORY_FEW_POINTS;
#else
  const char *laws = getenv("PROPERCAL_LAWS");
  return laws != NULL && strcmp(laws, "few") == 0 ? MEMORY_FEW_POINTS : MEMORY_POINTS;
#endif
}

/* 1 when the row suits the data and was swept. */
static int memory_sweep(unit_scenario scenario, memory_case one) {
  pcal_status status;
  const clock_t begun = clock();
  const size_t calls = memory_run(scenario, &one, 0, &status);
  const double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
  if (status != PCAL_OK || (scenario == memory_study && seconds > MEMORY_SLOW))
    return 0;
  const size_t points = memory_points();
  const size_t step = 1 + calls / points;
  for (size_t n = 1; n <= calls; n += n < points / 3 ? 1 : step) {
    memory_run(scenario, &one, n, &status);
    if (status != PCAL_MEMORY)
      fail_msg("%s: status %d when allocation %zu of %zu failed", one.name, (int)status, n,
               calls);
  }
  return 1;
}

static int memory_sweep_spec(unit_scenario scenario, const char *spec) {
  int swept = 0;
  for (memory_data data = MEMORY_LOGITS; data <= MEMORY_QUANTILES; data++)
    swept |= memory_sweep(scenario, (memory_case){data, spec});
  return swept;
}

/* Sweeps a row with each word of one of its options. */
static void memory_sweep_words(unit_scenario scenario, const pcal_registry_row *row,
                               const pcal_option *option) {
  const char *word = option->type == PCAL_OPTION_BOOL ? "no|yes" : option->choices;
  while (word != NULL) {
    char spec[PC_SPEC_MAX];
    const size_t length = strcspn(word, "|");
    snprintf(spec, sizeof spec, "%s:%s=%.*s", row->name, option->name, (int)length, word);
    memory_sweep_spec(scenario, spec);
    word = word[length] == '|' ? word + length + 1 : NULL;
  }
}

/* Returns how many rows were swept. */
static size_t memory_sweep_rows(pcal_registry kind, unit_scenario scenario) {
  size_t swept = 0;
  for (size_t i = 0; i < pcal_registry_count(kind); i++) {
    const pcal_registry_row *row = pcal_registry_at(kind, i);
    swept += (size_t)memory_sweep_spec(scenario, row->name);
    for (size_t o = 0; kind != PCAL_STUDIES && o < row->option_count; o++)
      memory_sweep_words(scenario, row, &row->options[o]);
  }
  return swept;
}

TEST(test_metrics) {
  assert_int_equal(memory_sweep_rows(PCAL_METRICS, memory_metric),
                   pcal_registry_count(PCAL_METRICS));
}

/* Options that allocate only together, or for numbers other than the default. */
static const char *const memory_together[] = {
    "histogram:bootstrap=2",
    "histogram:binning=mass,bins=4,bootstrap=2",
    "matrix-odir:lambda=0.1",
    "spline:target=all,constrained=yes,knots=4",
    "spline:target=within,rank=2,convention=gupta",
};

TEST(test_calibrators) {
  assert_int_equal(memory_sweep_rows(PCAL_CALIBRATORS, memory_calibrator),
                   pcal_registry_count(PCAL_CALIBRATORS));
  for (size_t i = 0; i < UNIT_COUNT(memory_together); i++)
    assert_true(memory_sweep_spec(memory_calibrator, memory_together[i]));
}

TEST(test_figures) {
  assert_true(memory_sweep_rows(PCAL_FIGURES, memory_figure) >=
              pcal_registry_count(PCAL_FIGURES) / 2);
  assert_true(
      memory_sweep(memory_figure_of_groups, (memory_case){MEMORY_LOGITS, "reliability"}));
  assert_true(memory_sweep(memory_figure_of_groups, (memory_case){MEMORY_LOGITS, "drift"}));
}

TEST(test_studies) {
  assert_true(memory_sweep_rows(PCAL_STUDIES, memory_study) > 0);
}

TEST(test_grouped) {
  assert_true(memory_sweep(memory_grouped, (memory_case){MEMORY_LOGITS, "temperature"}));
  assert_true(memory_sweep(memory_grouped, (memory_case){MEMORY_CONFIDENCES, "isotonic"}));
}

TEST(test_reports) {
  assert_true(memory_sweep(memory_report, (memory_case){MEMORY_LOGITS, "temperature"}));
  assert_true(memory_sweep(memory_report, (memory_case){MEMORY_CONFIDENCES, "isotonic"}));
}

TEST(test_comparisons) {
  assert_true(memory_sweep(memory_compare, (memory_case){MEMORY_LOGITS, "temperature"}));
  assert_true(memory_sweep(memory_compare, (memory_case){MEMORY_LOGITS, "isotonic"}));
  assert_true(memory_sweep(memory_compare, (memory_case){MEMORY_NORMALS, "variance-scale"}));
}

/* Public functions without their arguments, and without memory for a budget. */
#include "../unit.h"

static const float missing_scores[] = {0.25f, 0.75f, 0.5f, 0.125f};
static const int32_t missing_labels[] = {0, 1, 1, 0};

static pcal_source *missing_source(void) {
  pcal_input probs = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  probs.data = missing_scores;
  labels.data = missing_labels;
  labels.type = PCAL_I32;
  probs.rows = labels.rows = 4;
  inputs.probs = &probs;
  inputs.labels = &labels;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  return source;
}

static int missing_sink(void *user, const char *bytes, size_t count) {
  (void)user;
  (void)bytes;
  (void)count;
  return 0;
}

#define EXPECT_USAGE(call) assert_int_equal((call), PCAL_USAGE)

TEST(test_results_and_measures) {
  pcal_interval_method method = PCAL_INTERVAL_AUTO;
  pcal_measure *measure = NULL;
  size_t count = 7;
  EXPECT_USAGE(pcal_interval_method_parse(NULL, &method, NULL));
  EXPECT_USAGE(pcal_interval_method_parse("bca", NULL, NULL));
  EXPECT_USAGE(pcal_interval_method_parse("wilson", &method, NULL));
  assert_int_equal(pcal_interval_method_parse("bca", &method, NULL), PCAL_OK);
  assert_string_equal(pcal_interval_method_name(method), "bca");
  assert_null(pcal_interval_method_name((pcal_interval_method)99));
  assert_null(pcal_interval_method_name((pcal_interval_method)-1));
  assert_null(pcal_difference_method_name((pcal_difference_method)99));
  assert_null(pcal_difference_method_name((pcal_difference_method)-1));
  assert_non_null(pcal_difference_method_name(PCAL_DIFFERENCE_REPLICAS));
  EXPECT_USAGE(pcal_measure_from_source(NULL, NULL, NULL, &measure, NULL));
  EXPECT_USAGE(pcal_measure_describe(NULL, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_results_add_difference(NULL, NULL, NULL));
  pcal_results_set_injective(NULL);
  assert_null(pcal_results_bins(NULL, &count));
  assert_null(pcal_results_bins(NULL, NULL));
  assert_int_equal(pcal_results_weights_are(NULL), PCAL_WEIGHTS_AUTO);
  assert_true(pcal_results_effective_rows(NULL) == 0.0);
  assert_int_equal(pcal_results_only_label(NULL), -1);
  assert_true(pcal_results_abstained(NULL) == PCAL_NO_ROW);
  assert_null(pcal_source_data_column(NULL, "labels"));
}

TEST(test_describes_a_measure) {
  pcal_source *source = missing_source();
  pcal_measure *measure = NULL;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  EXPECT_USAGE(pcal_measure_from_source(source, NULL, NULL, NULL, NULL));
  config.size = 0;
  EXPECT_USAGE(pcal_measure_from_source(source, &config, NULL, &measure, NULL));
  assert_int_equal(pcal_measure_from_source(source, NULL, NULL, &measure, NULL), PCAL_OK);
  EXPECT_USAGE(pcal_measure_describe(measure, NULL, NULL, NULL));
  assert_int_equal(pcal_measure_describe(measure, missing_sink, NULL, NULL), PCAL_OK);
  pcal_measure_free(measure);
  pcal_source_free(source);
}

TEST(test_models_to_compare) {
  pcal_source *source = missing_source();
  pcal_model two[2] = {PCAL_MODEL_INIT, PCAL_MODEL_INIT};
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_comparison *comparison = NULL;
  EXPECT_USAGE(pcal_compare_run(two, 1, NULL, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_compare_run(NULL, 1, NULL, NULL, &comparison, NULL));
  EXPECT_USAGE(pcal_compare_run(two, 0, NULL, NULL, &comparison, NULL));
  EXPECT_USAGE(pcal_compare_run(two, 1, NULL, NULL, &comparison, NULL));
  two[0].source = two[1].source = source;
  EXPECT_USAGE(pcal_compare_run(two, 2, NULL, NULL, &comparison, NULL));
  two[0].name = "a";
  two[1].name = "b";
  two[1].val = source;
  EXPECT_USAGE(pcal_compare_run(two, 2, NULL, NULL, &comparison, NULL));
  two[1].size = 0;
  EXPECT_USAGE(pcal_compare_run(two, 2, NULL, NULL, &comparison, NULL));
  config.size = 0;
  EXPECT_USAGE(pcal_compare_run(two, 1, &config, NULL, &comparison, NULL));
  EXPECT_USAGE(pcal_comparison_write(NULL, PCAL_TEXT, missing_sink, NULL, NULL));
  assert_null(pcal_comparison_chosen(NULL));
  assert_null(pcal_comparison_calibrator(NULL));
  pcal_comparison_free(NULL);
  pcal_source_free(source);
}

TEST(test_simulations_studies_and_plans) {
  static const char *const specs[] = {"ece"};
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  pcal_plan_config plan = PCAL_PLAN_CONFIG_INIT;
  pcal_study *study = NULL;
  double value = 0.0;
  EXPECT_USAGE(pcal_simulation_population_values(NULL, specs, 1, NULL, &value, NULL));
  EXPECT_USAGE(pcal_simulation_population_values(&simulation, NULL, 1, NULL, &value, NULL));
  EXPECT_USAGE(pcal_simulation_population_values(&simulation, specs, 1, NULL, NULL, NULL));
  simulation.classes = 1;
  EXPECT_USAGE(pcal_simulation_population_values(&simulation, specs, 1, NULL, &value, NULL));
  EXPECT_USAGE(pcal_study_run(NULL, NULL, NULL, &study, NULL));
  EXPECT_USAGE(pcal_study_run("ece-bias", NULL, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_study_run("nothing", NULL, NULL, &study, NULL));
  EXPECT_USAGE(pcal_study_write(NULL, PCAL_TEXT, missing_sink, NULL, NULL));
  pcal_study_free(NULL);
  EXPECT_USAGE(pcal_plan_write(NULL, &plan, PCAL_TEXT, missing_sink, NULL, NULL));
}

TEST(test_figures_and_reports) {
  pcal_source *source = missing_source();
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_figure *figure = NULL;
  const pcal_model nameless = PCAL_MODEL_INIT;
  EXPECT_USAGE(pcal_figure_run(source, NULL, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_figure_from_study(NULL, NULL, &figure, NULL));
  EXPECT_USAGE(pcal_figure_from_results(NULL, "reliability", NULL, NULL));
  EXPECT_USAGE(pcal_theme_parse("light", NULL, NULL));
  config.model_count = 1;
  EXPECT_USAGE(pcal_figure_run(NULL, &config, NULL, &figure, NULL));
  config.models = &nameless;
  EXPECT_USAGE(pcal_figure_run(NULL, &config, NULL, &figure, NULL));
  config.size = 0;
  EXPECT_USAGE(pcal_figure_run(source, &config, NULL, &figure, NULL));
  EXPECT_USAGE(pcal_report_run(source, NULL, NULL, NULL, NULL));
  pcal_source_free(source);
}

TEST(test_outputs) {
  pcal_output *none = NULL;
  EXPECT_USAGE(pcal_output_flush(NULL, NULL));
  EXPECT_USAGE(pcal_output_commit_all(NULL, 1, NULL));
  EXPECT_USAGE(pcal_output_commit_all(&none, 1, NULL));
  assert_int_equal(pcal_output_commit_all(NULL, 0, NULL), PCAL_OK);
  EXPECT_USAGE(pcal_output_open("x", NULL, NULL, NULL));
  pcal_output_recover(NULL);
  assert_int_equal(pcal_calibrator_group_count(NULL), 0);
}

/* ---- no memory for a budget ---- */

static void *missing_resize(void *user, void *block, size_t size) {
  (void)user;
  (void)block;
  (void)size;
  return NULL;
}

static void missing_release(void *user, void *block) {
  (void)user;
  (void)block;
}

#define EXPECT_MEMORY(call) assert_int_equal((call), PCAL_MEMORY)

TEST(test_no_memory_for_a_budget) {
  static const char *const specs[] = {"ece"};
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = missing_source(), *opened = NULL;
  pcal_input probs = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_comparison *comparison = NULL;
  pcal_figure *figure = NULL;
  pcal_report *report = NULL;
  pcal_output *output = NULL;
  pcal_study *study = NULL;
  float logits[4];
  int32_t labels[2];
  double value;
  env.allocator = (pcal_allocator){missing_resize, missing_release, NULL};
  env.memory_limit = 1000000;
  probs.data = missing_scores;
  probs.rows = 4;
  inputs.probs = &probs;
  config.columns = 2;
  config.specs = specs;
  config.spec_count = 1;
  simulation.rows = simulation.classes = 2;
  model.source = source;
  EXPECT_MEMORY(pcal_source_open(&inputs, &env, &opened, NULL));
  EXPECT_MEMORY(pcal_measure_new(&config, &env, &measure, NULL));
  EXPECT_MEMORY(pcal_measure_from_source(source, &config, &env, &measure, NULL));
  EXPECT_MEMORY(pcal_measure_run(source, &config, &env, &results, NULL));
  EXPECT_MEMORY(pcal_measure_load("x", 1, "x", &env, &measure, NULL));
  EXPECT_MEMORY(pcal_fit_run(source, NULL, &env, &calibrator, NULL));
  EXPECT_MEMORY(pcal_calibrator_load("{}", 2, "x", &env, &calibrator, NULL));
  EXPECT_MEMORY(pcal_compare_run(&model, 1, NULL, &env, &comparison, NULL));
  EXPECT_MEMORY(pcal_figure_run(source, NULL, &env, &figure, NULL));
  EXPECT_MEMORY(pcal_report_run(source, NULL, &env, &report, NULL));
  EXPECT_MEMORY(pcal_simulate(&simulation, &env, logits, labels, NULL, NULL));
  EXPECT_MEMORY(pcal_simulation_population_values(&simulation, specs, 1, &env, &value, NULL));
  EXPECT_MEMORY(pcal_study_run("ece-bias", NULL, &env, &study, NULL));
  EXPECT_MEMORY(pcal_output_open("x", &env, &output, NULL));
  EXPECT_MEMORY(pcal_inspect_file("x", PCAL_HEADER_AUTO, &env, PCAL_TEXT, missing_sink, NULL,
                                  NULL, NULL));
  EXPECT_MEMORY(pcal_inspect_source(source, &env, PCAL_TEXT, missing_sink, NULL, NULL, NULL));
  pcal_source_free(source);
}

/* ---- rounds, watches and tables ---- */

TEST(test_rounds) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_rounds_worker *worker = NULL;
  pcal_results *results = NULL;
  pcal_calibrator *calibrator = NULL;
  const pcal_bytes hollow = {NULL, 3};
  pcal_batch batch = PCAL_BATCH_INIT;
  EXPECT_USAGE(pcal_rounds_new(NULL, NULL, &rounds, NULL));
  EXPECT_USAGE(pcal_rounds_new(&config, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_rounds_new_fit(NULL, NULL, NULL, NULL));
  config.size = 0;
  EXPECT_USAGE(pcal_rounds_new(&config, NULL, &rounds, NULL));
  assert_int_equal(pcal_rounds_done(NULL), 0);
  assert_int_equal(pcal_rounds_round(NULL), 0);
  assert_int_equal(pcal_rounds_draws(NULL), 0);
  EXPECT_USAGE(pcal_rounds_request(NULL, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_rounds_absorb(NULL, "x", 1, NULL));
  EXPECT_USAGE(pcal_rounds_finish(NULL, &results, NULL));
  EXPECT_USAGE(pcal_rounds_calibrator(NULL, &calibrator, NULL));
  EXPECT_USAGE(pcal_rounds_worker_new(NULL, 3, NULL, &worker, NULL));
  EXPECT_USAGE(pcal_rounds_worker_new("x", 1, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_rounds_worker_update(NULL, &batch, NULL));
  EXPECT_USAGE(pcal_rounds_worker_update_source(NULL, NULL, NULL));
  EXPECT_USAGE(pcal_rounds_worker_tally(NULL, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_tally_merge(NULL, 1, NULL, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_tally_merge(&hollow, 0, NULL, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_tally_merge(&hollow, 1, NULL, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_tally_merge(&hollow, 1, NULL, missing_sink, NULL, NULL));
  pcal_rounds_worker_free(NULL);
  pcal_rounds_free(NULL);
}

TEST(test_rounds_out_of_order) {
  static const char *const specs[] = {"brier"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_rounds *measuring = NULL, *fitting = NULL;
  pcal_results *results = NULL;
  pcal_calibrator *calibrator = NULL;
  config.columns = 2;
  config.specs = specs;
  config.spec_count = 1;
  assert_int_equal(pcal_rounds_new(&config, NULL, &measuring, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_new_fit(NULL, NULL, &fitting, NULL), PCAL_OK);
  EXPECT_USAGE(pcal_rounds_finish(measuring, &results, NULL));
  EXPECT_USAGE(pcal_rounds_finish(fitting, &results, NULL));
  EXPECT_USAGE(pcal_rounds_calibrator(measuring, &calibrator, NULL));
  EXPECT_USAGE(pcal_rounds_calibrator(fitting, &calibrator, NULL));
  EXPECT_USAGE(pcal_rounds_request(measuring, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_rounds_absorb(measuring, NULL, 4, NULL));
  pcal_rounds_free(measuring);
  pcal_rounds_free(fitting);
}

TEST(test_watches) {
  pcal_watch *watch = NULL;
  pcal_watch_report report = PCAL_WATCH_REPORT_INIT;
  EXPECT_USAGE(pcal_watch_new(0.05, NULL, NULL, NULL));
  assert_int_equal(pcal_watch_new(0.05, NULL, &watch, NULL), PCAL_OK);
  EXPECT_USAGE(pcal_watch_update(NULL, NULL, 0, NULL));
  EXPECT_USAGE(pcal_watch_update(watch, NULL, 0, NULL));
  EXPECT_USAGE(pcal_watch_get(NULL, &report, NULL));
  EXPECT_USAGE(pcal_watch_get(watch, NULL, NULL));
  report.size = 0;
  EXPECT_USAGE(pcal_watch_get(watch, &report, NULL));
  EXPECT_USAGE(pcal_watch_write(NULL, PCAL_TEXT, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_watch_write(watch, PCAL_TEXT, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_watch_write(watch, PCAL_CSV, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_watch_save(NULL, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_watch_save(watch, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_watch_load(NULL, 3, NULL, NULL, &watch, NULL));
  EXPECT_USAGE(pcal_watch_load("x", 1, NULL, NULL, NULL, NULL));
  pcal_watch_free(watch);
  pcal_watch_free(NULL);
}

TEST(test_tables) {
  pcal_source *source = missing_source();
  pcal_results *results = NULL;
  assert_null(pcal_results_table_name(NULL, 0));
  assert_null(pcal_study_table_name(NULL, 0));
  EXPECT_USAGE(pcal_results_table_write(NULL, 0, missing_sink, NULL, NULL));
  EXPECT_USAGE(pcal_study_table_write(NULL, 0, missing_sink, NULL, NULL));
  assert_int_equal(pcal_measure_run(source, NULL, NULL, &results, NULL), PCAL_OK);
  EXPECT_USAGE(pcal_results_table_write(results, 0, NULL, NULL, NULL));
  EXPECT_USAGE(pcal_results_table_write(results, 99, missing_sink, NULL, NULL));
  pcal_results_free(results);
  pcal_source_free(source);
}

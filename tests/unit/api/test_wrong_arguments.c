/* Public functions with arguments out of their range: whole sentences. */
#include "../unit.h"

#include "base/rng.h"

#define WRONG_ROWS 40

static float wrong_scores[WRONG_ROWS];
static int32_t wrong_labels[WRONG_ROWS];

static pcal_source *wrong_source(void) {
  static const pc_rng draws = {7, 7};
  pcal_input probs = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  for (size_t i = 0; i < WRONG_ROWS; i++) {
    wrong_scores[i] = (float)(i + 1) / (WRONG_ROWS + 1);
    wrong_labels[i] = pc_rng_uniform(&draws, i) < (double)wrong_scores[i];
  }
  probs.data = wrong_scores;
  labels.data = wrong_labels;
  labels.type = PCAL_I32;
  probs.rows = labels.rows = WRONG_ROWS;
  inputs.probs = &probs;
  inputs.labels = &labels;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  return source;
}

static int wrong_sink(void *user, const char *bytes, size_t count) {
  (void)user;
  (void)bytes;
  (void)count;
  return 0;
}

#define EXPECT_REFUSED(call, sentence)          \
  do {                                          \
    pcal_error err = PCAL_ERROR_INIT;           \
    assert_int_equal((call), PCAL_USAGE);       \
    assert_sentence(err, PCAL_USAGE, sentence); \
  } while (0)

static const pcal_format wrong_formats[] = {(pcal_format)-1, (pcal_format)99};
static const char *const wrong_format_sentences[] = {"the format -1 is unknown",
                                                     "the format 99 is unknown"};

TEST(formats_of_tables) {
  static const char *const methods[] = {"temperature"}, *const specs[] = {"brier"};
  pcal_compare_config comparing = PCAL_COMPARE_CONFIG_INIT;
  pcal_measure_config measuring = PCAL_MEASURE_CONFIG_INIT;
  pcal_study_config studying = PCAL_STUDY_CONFIG_INIT;
  pcal_plan_config plan = PCAL_PLAN_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_comparison *comparison = NULL;
  pcal_results *results = NULL;
  pcal_study *study = NULL;
  model.source = wrong_source();
  comparing.methods = methods;
  comparing.method_count = 1;
  comparing.folds = 2;
  comparing.replicas = 20;
  measuring.specs = specs;
  measuring.spec_count = 1;
  measuring.interval = 0.9;
  pcal_model named = model;
  named.name = "model";
  studying.models = &named;
  studying.model_count = 1;
  studying.replicas = 20;
  pcal_error why;
  if (pcal_compare_run(&model, 1, &comparing, NULL, &comparison, &why) != PCAL_OK)
    fail_msg("%s", why.message);
  assert_int_equal(pcal_source_rewind(model.source, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_run(model.source, &measuring, NULL, &results, NULL), PCAL_OK);
  assert_int_equal(pcal_source_rewind(model.source, NULL), PCAL_OK);
  assert_int_equal(pcal_study_run("taxonomy", &studying, NULL, &study, NULL), PCAL_OK);
  for (size_t i = 0; i < UNIT_COUNT(wrong_formats); i++) {
    const pcal_format format = wrong_formats[i];
    const char *sentence = wrong_format_sentences[i];
    EXPECT_REFUSED(pcal_comparison_write(comparison, format, wrong_sink, NULL, &err), sentence);
    EXPECT_REFUSED(pcal_study_write(study, format, wrong_sink, NULL, &err), sentence);
    EXPECT_REFUSED(pcal_plan_write(results, &plan, format, wrong_sink, NULL, &err), sentence);
  }
  EXPECT_REFUSED(pcal_comparison_write(comparison, PCAL_TEXT, NULL, NULL, &err),
                 "pcal_comparison_write needs a comparison and a sink");
  EXPECT_REFUSED(pcal_study_write(study, PCAL_TEXT, NULL, NULL, &err),
                 "pcal_study_write needs a study and a sink");
  EXPECT_REFUSED(pcal_study_table_write(study, 0, NULL, NULL, &err),
                 "pcal_study_table_write needs a study, a sink and the index of a table");
  EXPECT_REFUSED(pcal_study_table_write(study, 99, wrong_sink, NULL, &err),
                 "pcal_study_table_write needs a study, a sink and the index of a table");
  assert_null(pcal_study_table_name(study, 99));
  assert_int_equal(pcal_study_table_write(study, 0, wrong_sink, NULL, NULL), PCAL_OK);
  EXPECT_REFUSED(pcal_plan_write(results, &plan, PCAL_TEXT, NULL, NULL, &err),
                 "pcal_plan_write needs results, a configuration and a sink");
  EXPECT_REFUSED(pcal_plan_write(results, NULL, PCAL_TEXT, wrong_sink, NULL, &err),
                 "pcal_plan_write needs results, a configuration and a sink");
  plan.size = 0;
  EXPECT_REFUSED(pcal_plan_write(results, &plan, PCAL_TEXT, wrong_sink, NULL, &err),
                 "the configuration's size is not set");
  pcal_study_free(study);
  studying.size = 0;
  EXPECT_REFUSED(pcal_study_run("taxonomy", &studying, NULL, &study, &err),
                 "the configuration's size is not set");
  assert_null(study);
  pcal_comparison_free(comparison);
  pcal_results_free(results);
  pcal_source_free(model.source);
}

TEST(figures) {
  static const double levels[] = {-0.1, 1.0, 7.0, NAN}, sides[] = {239.0, 10001.0, -300.0, NAN};
  pcal_source *source = wrong_source();
  pcal_figure *figure = NULL;
  pcal_model models[2] = {PCAL_MODEL_INIT, PCAL_MODEL_INIT};
  for (size_t i = 0; i < UNIT_COUNT(levels); i++) {
    pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
    config.figure = "reliability";
    config.interval = levels[i];
    EXPECT_REFUSED(pcal_figure_run(source, &config, NULL, &figure, &err),
                   "the level of an interval must be between 0 and 1, such as 0.95; 0 means "
                   "none");
    config.interval = 0.0;
    config.width = sides[i];
    EXPECT_REFUSED(pcal_figure_run(source, &config, NULL, &figure, &err),
                   "the width of a figure must be between 240 and 10000");
    config.width = 300.0;
    config.height = sides[i];
    EXPECT_REFUSED(pcal_figure_run(source, &config, NULL, &figure, &err),
                   "the height of a figure must be between 240 and 10000");
  }
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  config.figure = NULL;
  EXPECT_REFUSED(pcal_figure_run(source, &config, NULL, &figure, &err),
                 "pcal_figure_run needs the name of a figure");
  config.figure = "reliability";
  config.models = models;
  config.model_count = 2;
  models[0].source = models[1].source = source;
  EXPECT_REFUSED(pcal_figure_run(NULL, &config, NULL, &figure, &err),
                 "each of several models needs a name and a source");
  models[0].name = "a";
  EXPECT_REFUSED(pcal_figure_run(NULL, &config, NULL, &figure, &err),
                 "each of several models needs a name and a source");
  models[1].name = "a";
  EXPECT_REFUSED(pcal_figure_run(NULL, &config, NULL, &figure, &err),
                 "two models are called \"a\"; give each a name of its own");
  models[1].name = "b";
  models[1].source = NULL;
  EXPECT_REFUSED(pcal_figure_run(NULL, &config, NULL, &figure, &err),
                 "each of several models needs a name and a source");
  assert_null(figure);
  pcal_source_free(source);
}

TEST(reports) {
  static const double levels[] = {-0.1, 1.0, NAN};
  static const char *const hollow[] = {"brier", NULL};
  pcal_source *source = wrong_source();
  pcal_report *report = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  for (size_t i = 0; i < UNIT_COUNT(levels); i++) {
    config.interval = levels[i];
    EXPECT_REFUSED(pcal_report_run(source, &config, NULL, &report, &err),
                   "the level of an interval must be between 0 and 1, such as 0.95; 0 means "
                   "none");
  }
  config.interval = 0.0;
  config.spec_count = 2;
  EXPECT_REFUSED(pcal_report_run(source, &config, NULL, &report, &err),
                 "spec number 0 is NULL");
  config.specs = hollow;
  EXPECT_REFUSED(pcal_report_run(source, &config, NULL, &report, &err),
                 "spec number 1 is NULL");
  config.spec_count = 1;
  assert_int_equal(pcal_fit_run(source, NULL, NULL, &calibrator, NULL), PCAL_OK);
  config.calibrator = calibrator;
  config.method = "temperature";
  static const char both[] = "a calibrator that is fitted already needs neither a method nor a "
                             "second set; give one or the other";
  EXPECT_REFUSED(pcal_report_run(source, &config, NULL, &report, &err), both);
  config.method = NULL;
  config.val = source;
  EXPECT_REFUSED(pcal_report_run(source, &config, NULL, &report, &err), both);
  config.size = 0;
  EXPECT_REFUSED(pcal_report_run(source, &config, NULL, &report, &err),
                 "the configuration's size is not set");
  EXPECT_REFUSED(pcal_report_from_results(NULL, NULL, &report, &err),
                 "pcal_report_from_results needs results and an out pointer");
  EXPECT_REFUSED(pcal_report_from_results(NULL, NULL, NULL, &err),
                 "pcal_report_from_results needs results and an out pointer");
  EXPECT_REFUSED(pcal_report_write(NULL, PCAL_HTML, wrong_sink, NULL, &err),
                 "pcal_report_write needs a report and a sink");
  assert_null(report);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
}

TEST(sources) {
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  inputs.size = 0;
  EXPECT_REFUSED(pcal_source_open(&inputs, NULL, &source, &err),
                 "pcal_source_open: the size of the inputs is not set; start from "
                 "PCAL_INPUTS_INIT");
  source = wrong_source();
  static const char sentence[] = "pcal_source_next needs max_rows above 0 and a batch that "
                                 "starts from PCAL_BATCH_INIT";
  EXPECT_REFUSED(pcal_source_next(source, 0, &batch, &err), sentence);
  batch.size = 0;
  EXPECT_REFUSED(pcal_source_next(source, 4, &batch, &err), sentence);
  EXPECT_REFUSED(pcal_npy_header_write((pcal_type)77, 1, 1, wrong_sink, NULL, &err),
                 "element type 77 cannot be written; use PCAL_F32, PCAL_F64 or PCAL_I32");
  assert_null(pcal_source_notation(NULL));
  pcal_source_free(source);
}

/* Rows of no group, and groups that a fit of rounds would ignore. */
TEST(rounds_of_a_fit) {
  static const uint32_t groups[WRONG_ROWS];
  sink_bytes request = {0};
  pcal_rounds *rounds = NULL;
  pcal_rounds_worker *worker = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = wrong_source();
  assert_int_equal(pcal_source_next(source, WRONG_ROWS, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_new_fit(NULL, NULL, &rounds, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_request(rounds, sink_collect, &request, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_worker_new(request.bytes, request.length, NULL, &worker, NULL),
                   PCAL_OK);
  batch.groups = groups;
  EXPECT_REFUSED(pcal_rounds_worker_update(worker, &batch, &err),
                 "calibrators of groups cannot be fitted in rounds; remove groups, or fit in "
                 "one process");
  batch.groups = NULL;
  batch.rows = 0;
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, NULL), PCAL_OK);
  batch.rows = WRONG_ROWS;
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, NULL), PCAL_OK);
  pcal_rounds_worker_free(worker);
  pcal_rounds_free(rounds);
  free(request.bytes);
  pcal_source_free(source);
}

TEST(groups_of_calibrators) {
  static const uint32_t groups[WRONG_ROWS] = {[20] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                              1,        1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const char *const names[] = {"north", "south"};
  pcal_input probs = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT, where = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_source *source = wrong_source();
  pcal_calibrator *calibrator = NULL;
  pcal_source_free(source); /* its arrays are filled */
  probs.data = wrong_scores;
  labels.data = wrong_labels;
  where.data = groups;
  labels.type = where.type = PCAL_I32;
  probs.rows = labels.rows = where.rows = WRONG_ROWS;
  where.meanings = names;
  where.meaning_count = 2;
  inputs.probs = &probs;
  inputs.labels = &labels;
  inputs.groups = &where;
  config.by_group = 1;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, NULL), PCAL_OK);
  assert_int_equal(pcal_calibrator_find_group(calibrator, "south"), 1);
  assert_true(pcal_calibrator_find_group(calibrator, "east") == PCAL_NO_COLUMN);
  assert_true(pcal_calibrator_find_group(calibrator, NULL) == PCAL_NO_COLUMN);
  assert_true(pcal_calibrator_find_group(NULL, "south") == PCAL_NO_COLUMN);
  assert_null(pcal_calibrator_group_name(calibrator, 2));
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
}

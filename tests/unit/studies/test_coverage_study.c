#include "../measure/measure_help.h"

#include "emulated.h"
#include "studies/study.h"

#define COVERAGE_TRIES 12
#define COVERAGE_SET_ROWS 30
#define COVERAGE_CLASSES 3

/* What the table says of one metric, from results of the same sets. */
typedef struct coverage_expected {
  double mean, sd, inside, below, above, width;
} coverage_expected;

static int coverage_ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static pcal_result coverage_measure_set(size_t set, const char *spec, pcal_results **results) {
  static float logits[COVERAGE_SET_ROWS * COVERAGE_CLASSES];
  static int32_t labels[COVERAGE_SET_ROWS];
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  simulation.rows = COVERAGE_SET_ROWS;
  simulation.classes = COVERAGE_CLASSES;
  simulation.factor = 1.5;
  simulation.first_row = set * COVERAGE_SET_ROWS;
  assert_int_equal(pcal_simulate(&simulation, NULL, logits, labels, NULL, NULL), PCAL_OK);
  batch.kind = config.kind = PCAL_LOGIT;
  batch.rows = COVERAGE_SET_ROWS;
  batch.columns = config.columns = COVERAGE_CLASSES;
  batch.scores = logits;
  batch.row_stride = sizeof(float) * COVERAGE_CLASSES;
  batch.column_stride = sizeof(float);
  batch.labels = labels;
  config.specs = &spec;
  config.spec_count = 1;
  config.interval = 0.5;
  config.replicas = 20;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return given_result(*results, spec);
}

static coverage_expected coverage_expect(const char *spec, double truth) {
  coverage_expected out = {0};
  double value[COVERAGE_TRIES], width[COVERAGE_TRIES];
  for (size_t s = 0; s < COVERAGE_TRIES; s++) {
    pcal_results *results = NULL;
    const pcal_result result = coverage_measure_set(s, spec, &results);
    assert_true(result.has_interval);
    value[s] = result.value;
    width[s] = result.high - result.low;
    out.mean += result.value / COVERAGE_TRIES;
    out.below += (result.high < truth) / (double)COVERAGE_TRIES;
    out.above += (result.low > truth) / (double)COVERAGE_TRIES;
    pcal_results_free(results);
  }
  for (size_t s = 0; s < COVERAGE_TRIES; s++)
    out.sd += (value[s] - out.mean) * (value[s] - out.mean) / COVERAGE_TRIES;
  out.sd = sqrt(out.sd);
  out.inside = 1 - out.below - out.above;
  qsort(width, COVERAGE_TRIES, sizeof *width, coverage_ascending);
  out.width = (width[COVERAGE_TRIES / 2 - 1] + width[COVERAGE_TRIES / 2]) / 2;
  return out;
}

static void coverage_check_row(const pc_table *table, size_t row, const char *spec) {
  const pc_table_cell *cells = &table->cells[row * table->column_count];
  const coverage_expected expected = coverage_expect(spec, cells[3].number);
  assert_string_equal(cells[0].word, spec);
  assert_near(cells[1].number, COVERAGE_SET_ROWS, 0);
  assert_near(cells[2].number, 1.5, 0);
  assert_near(cells[4].number, expected.mean, 1e-12);
  assert_near(cells[5].number, expected.sd, 1e-12);
  assert_near(cells[6].number, expected.inside, 1e-12);
  assert_near(cells[7].number, expected.below, 1e-12);
  assert_near(cells[8].number, expected.above, 1e-12);
  assert_near(cells[9].number, expected.width, 1e-12);
}

/* The truth is that of a population from other rows of the same simulation. */
TEST(test_a_small_study) {
  static const char *const specs[] = {"brier", "ece"};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  double truth[UNIT_COUNT(specs)];
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.simulation.rows = COVERAGE_SET_ROWS;
  config.simulation.classes = simulation.classes = COVERAGE_CLASSES;
  simulation.factor = 1.5;
  config.sets = COVERAGE_TRIES;
  config.null_sets = 1;
  config.interval = 0.5;
  config.replicas = 20;
  pc_findings_init(&findings, &env, "coverage");
  assert_int_equal(pc_study_run("coverage", &config, &findings, NULL), PCAL_OK);
  const pc_table *table = &findings.tables[0];
  assert_int_equal(findings.table_count, 1);
  assert_int_equal(table->row_count, UNIT_COUNT(specs));
  assert_int_equal(table->column_count, 15);
  assert_int_equal(pcal_simulation_population_values(&simulation, specs, UNIT_COUNT(specs),
                                                     NULL, truth, NULL),
                   PCAL_OK);
  for (size_t m = 0; m < UNIT_COUNT(specs); m++) {
    assert_near(table->cells[m * 15 + 3].number, truth[m], 0.01);
    coverage_check_row(table, m, specs[m]);
  }
  pc_findings_free(&findings);
}

/* The trial set has too few rows for this test, the sets themselves have enough. */
TEST(test_size_of_a_test_that_needs_rows) {
  static const char *const spec = "hosmer-lemeshow";
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = &spec;
  config.spec_count = 1;
  config.simulation.rows = 1000;
  config.simulation.classes = 10;
  config.sets = config.null_sets = 2;
  pc_findings_init(&findings, &env, "coverage");
  assert_int_equal(pc_study_run("coverage", &config, &findings, NULL), PCAL_OK);
  assert_false(isnan(findings.tables[0].cells[13].number));
  pc_findings_free(&findings);
}

/* An oracle that knows the distribution of errors of a Brier score, which are nearly normal, has an
 * interval of 3.92 standard deviations; that of some sets must not be narrower on average. */
TEST(test_width_of_the_oracle) {
  skip_if_emulated();
  static const char *const spec = "brier";
  static pc_findings findings;
  double ratio = 0.0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    pcal_env given = {.size = sizeof given, .seed = seed};
    const pcal_env env = pc_env_resolve(&given);
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    config.specs = &spec;
    config.spec_count = 1;
    config.simulation.rows = 300;
    config.simulation.classes = 3;
    config.simulation.scale = 0.1;
    config.sets = 50;
    config.null_sets = 1;
    pc_findings_init(&findings, &env, "coverage");
    assert_int_equal(pc_study_run("coverage", &config, &findings, NULL), PCAL_OK);
    const pc_table_cell *cells = findings.tables[0].cells;
    ratio += cells[10].number / (3.92 * cells[5].number) / 20.0;
    pc_findings_free(&findings);
  }
  assert_true(ratio > 0.96 && ratio < 1.06);
}

/* About six of 1,000 rows are wrong, so that few bins have two of them: without an allowance for bins
 * that the data lack a quarter of these intervals lay below the truth. */
TEST(test_debiased_classes_with_few_wrong_rows) {
  skip_if_emulated();
  static const char *const spec = "cwce:debias=yes";
  static const double factor = 2.5;
  static pc_findings findings;
  pcal_env given = {.size = sizeof given, .seed = 31010};
  const pcal_env env = pc_env_resolve(&given);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = &spec;
  config.spec_count = 1;
  config.factors = &factor;
  config.factor_count = 1;
  config.simulation.rows = 1000;
  config.simulation.classes = 10;
  config.sets = 40;
  config.null_sets = 1;
  config.replicas = 20;
  pc_findings_init(&findings, &env, "coverage:scale=0.00004");
  assert_int_equal(pc_study_run("coverage:scale=0.00004", &config, &findings, NULL), PCAL_OK);
  assert_true(findings.tables[0].cells[6].number > 0.9);
  pc_findings_free(&findings);
}

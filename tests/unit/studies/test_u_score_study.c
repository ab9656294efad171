#include "study_help.h"

#define U_SETS 400

static pc_findings findings;

static pcal_status u_run(const char *spec, pcal_study_config *config, pcal_error *err) {
  const pcal_env env = pc_env_resolve(NULL);
  static const uint64_t rows[] = {5, 40};
  config->row_counts = rows;
  config->row_count_count = UNIT_COUNT(rows);
  return study_unit_run(spec, &env, config, &findings, err);
}

static const char *u_word(const pc_table *table, size_t row, const char *column) {
  const size_t place = pc_table_find_column(table, column);
  assert_true(row < table->row_count && place < table->column_count);
  return pc_table_at(table, row, place)->word;
}

static void u_check_laws(const pc_table *laws) {
  for (size_t r = 0; r < laws->row_count; r++) {
    const double u_score = study_unit_number(laws, r, "u_score");
    const double u_ce = study_unit_number(laws, r, "u_ce");
    assert_same(study_unit_number(laws, r, "entropy"), 0.0);
    assert_same(study_unit_number(laws, r, "u_sharpness"), 0.0);
    assert_true(fabs(u_score - u_ce) < 1e-14);
    assert_true((u_score == 0) == (study_unit_number(laws, r, "ce") == 0));
    assert_string_equal(u_word(laws, r, "u_score_zero"), u_word(laws, r, "calibrated"));
  }
  assert_string_equal(u_word(laws, 0, "calibrated"), "no");
  assert_string_equal(u_word(laws, 1, "calibrated"), "yes");
  assert_string_equal(u_word(laws, 4, "law"), "class frequencies");
  assert_string_equal(u_word(laws, 4, "calibrated"), "yes");
}

/* Means of unbiased estimates; also u-divergence, whose bias has a formula. */
static void u_check_samples(const pc_table *samples) {
  assert_int_equal(samples->row_count, 8);
  for (size_t r = 0; r < samples->row_count; r++) {
    const double error = study_unit_number(samples, r, "standard_error");
    const double mean = study_unit_number(samples, r, "u_score");
    const double truth = study_unit_number(samples, r, "truth");
    assert_true(error > 0 && fabs(mean - truth) < 4.5 * error);
    assert_near(study_unit_number(samples, r, "standard_errors_off"), (mean - truth) / error,
                1e-9);
    assert_true(study_unit_number(samples, r, "u_ce") >= mean);
    assert_true(fabs(study_unit_number(samples, r, "u_divergence") -
                     study_unit_number(samples, r, "u_divergence_expected")) < 4.5 * error);
    assert_true(study_unit_number(samples, r, "u_divergence") > truth);
  }
}

static void u_check_maps(const pc_table *maps) {
  assert_int_equal(maps->row_count, 7);
  for (size_t r = 0; r < maps->row_count; r++) {
    const double brier = study_unit_number(maps, r, "brier_gain");
    const double ce = study_unit_number(maps, r, "ce_gain");
    const double lost = study_unit_number(maps, r, "lost_sharpness");
    const int injective = strcmp(u_word(maps, r, "injective"), "yes") == 0;
    assert_true(fabs(brier - ce + lost) < 1e-12);
    assert_true(injective == (lost == 0));
    assert_string_equal(u_word(maps, r, "brier_equals_ce"), injective ? "yes" : "no");
    assert_string_equal(u_word(maps, r, "u_score_equals_u_ce"), "yes");
    assert_true(injective == (r < 3 || r == 6));
  }
  assert_true(study_unit_number(maps, 6, "brier_gain") > 0.0149);
  assert_true(study_unit_number(maps, 6, "u_score_gain") < -0.001);
}

TEST(test_every_kernel) {
  static const char *const specs[] = {"u-score", "u-score:distance=tv,scale=0.5,points=12",
                                      "u-score:kernel=gaussian,scale=0.3,model=3"};
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    config.sets = U_SETS;
    assert_int_equal(u_run(specs[s], &config, NULL), PCAL_OK);
    assert_int_equal(findings.table_count, 3);
    u_check_laws(&findings.tables[0]);
    u_check_samples(&findings.tables[1]);
    u_check_maps(&findings.tables[2]);
    assert_string_equal(u_word(&findings.tables[0], 5, "law"), "Proposition 3.2");
    assert_string_equal(u_word(&findings.tables[0], 5, "calibrated"), "no");
    pc_findings_free(&findings);
  }
}

TEST(test_1_two_classes) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.sets = 50;
  config.simulation.classes = 2;
  assert_int_equal(u_run("u-score:kernel=gaussian,distance=tv", &config, NULL), PCAL_OK);
  assert_int_equal(findings.tables[0].row_count, 5);
  u_check_laws(&findings.tables[0]);
  pc_findings_free(&findings);
}

TEST(test_refusals) {
  static const double none[] = {0};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_error err;
  assert_int_equal(u_run("u-score:kernel=gaussian,distance=tv", &config, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "study u-score: kernel=gaussian with distance=tv is not positive "
                      "definite for more than two classes; change one of the two");
  pc_findings_free(&findings);
  config.sets = 1;
  assert_int_equal(u_run("u-score", &config, &err), PCAL_USAGE);
  assert_string_equal(err.message, "study u-score takes sets of 2 to 100000 rows, and at least "
                                   "2 sets; see rows and sets");
  pc_findings_free(&findings);
  config.factors = none;
  config.factor_count = 1;
  assert_int_equal(u_run("u-score", &config, &err), PCAL_USAGE);
  assert_string_equal(err.message, "study u-score: a factor must be above 0 and below 1e6");
  pc_findings_free(&findings);
  config.simulation.classes = 101;
  assert_int_equal(u_run("u-score", &config, &err), PCAL_USAGE);
  assert_string_equal(err.message, "study u-score takes 2 to 100 classes; see classes");
  pc_findings_free(&findings);
}

TEST(test_no_memory) {
  pcal_status status = PCAL_MEMORY;
  static const uint64_t rows[] = {3};
  static const double factors[] = {2};
  for (size_t n = 1; status != PCAL_OK; n += 3) {
    unit_memory memory = {0};
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    pcal_error err;
    config.sets = 3;
    config.row_counts = rows;
    config.row_count_count = 1;
    config.factors = factors;
    config.factor_count = 1;
    status = study_unit_run("u-score:points=5", &env, &config, &findings, &err);
    pc_findings_free(&findings);
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_int_equal(status, atomic_load(&memory.calls) < n ? PCAL_OK : PCAL_MEMORY);
  }
}

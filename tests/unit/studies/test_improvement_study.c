#include "../unit.h"

#include "io/source.h"
#include "studies/size_sweep.h"

#define IMPROVEMENT_ROWS 24

/* Logits of three classes, three times as large as they should be. */
static pcal_status improvement_by(const pcal_env *env, const char *spec, const char *method,
                                  const char *metric, pc_findings *findings, pcal_error *err) {
  const char *const specs[] = {metric};
  static const uint64_t rows[] = {10};
  float logits[IMPROVEMENT_ROWS * 3];
  int32_t labels[IMPROVEMENT_ROWS];
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  for (size_t i = 0; i < IMPROVEMENT_ROWS; i++) {
    for (size_t k = 0; k < 3; k++)
      logits[3 * i + k] = (float)(3 * ((i + k) % 3)) + 0.1f * (float)(i % 7);
    labels[i] = (int32_t)((i % 4 == 0 ? i : i + 1) * 2 % 3);
  }
  batch.kind = PCAL_LOGIT;
  batch.rows = IMPROVEMENT_ROWS;
  batch.columns = 3;
  batch.scores = logits;
  batch.row_stride = 3 * (ptrdiff_t)sizeof(float);
  batch.column_stride = (ptrdiff_t)sizeof(float);
  batch.labels = labels;
  config.specs = specs;
  config.spec_count = 1;
  config.methods = &method;
  config.method_count = 1;
  config.row_counts = rows;
  config.row_count_count = 1;
  config.repeats = 3;
  config.models = &model;
  config.model_count = 1;
  pc_findings_init(findings, env, "improvement");
  PC_TRY(pc_source_borrow(&batch, NULL, env, &model.source, err));
  const pcal_status status = pc_study_run(spec, &config, findings, err);
  pc_source_free(model.source);
  return status;
}

static pcal_status improvement_small(const pcal_env *env, const char *spec, const char *method,
                                     pc_findings *findings, pcal_error *err) {
  return improvement_by(env, spec, method, "ece", findings, err);
}

/* The reference comes with any metric; folds keep the rows in their order. */
TEST(test_a_small_study) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(improvement_small(&env, "improvement", "temperature", &findings, NULL),
                   PCAL_OK);
  const pc_table *table = &findings.tables[0];
  const size_t mean = pc_table_find_column(table, "mean");
  assert_int_equal(table->row_count, 4);
  assert_string_equal(pc_table_at(table, 0, 0)->word, "ece");
  assert_string_equal(pc_table_at(table, 3, 0)->word, "rbs");
  assert_true(pc_table_at(table, 3, mean)->number != 0);
  assert_non_null(strstr(findings.summary, "fitted in 5-fold cross-validation"));
  pc_findings_free(&findings);
  assert_int_equal(
      improvement_small(&env, "improvement:space=squared", "identity", &findings, NULL),
      PCAL_OK);
  for (size_t r = 0; r < 4; r++)
    assert_true(pc_table_at(&findings.tables[0], r, mean)->number == 0);
  pc_findings_free(&findings);
}

/* In squared space rbs becomes the Brier score; scores and powers are not squared again. */
TEST(test_squared_once) {
  static const char *const squares[] = {"brier",           "log",          "spherical",
                                        "upper-bound",     "skce",         "decomposition",
                                        "tce-kde:root=no", "scaled-brier", "auc"};
  static pc_findings plain, squared;
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t i = 0; i < UNIT_COUNT(squares); i++) {
    assert_int_equal(
        improvement_by(&env, "improvement", "temperature", squares[i], &plain, NULL), PCAL_OK);
    assert_int_equal(improvement_by(&env, "improvement:space=squared", "temperature",
                                    squares[i], &squared, NULL),
                     PCAL_OK);
    const size_t mean = pc_table_find_column(&plain.tables[0], "mean");
    for (size_t r = 0; r < 2; r++) {
      const double value = pc_table_at(&squared.tables[0], r, mean)->number;
      assert_true(value == pc_table_at(&plain.tables[0], r, mean)->number);
      if (i == 0)
        assert_near(pc_table_at(&squared.tables[0], r + 2, mean)->number, value, 1e-12);
    }
    pc_findings_free(&plain);
    pc_findings_free(&squared);
  }
}

static pcal_status improvement_all(const pcal_env *env, void *user, pcal_error *err) {
  static pc_findings findings;
  (void)user;
  const pcal_status status = improvement_small(env, "improvement", "identity", &findings, err);
  pc_findings_free(&findings);
  return status;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(improvement_all, NULL);
}

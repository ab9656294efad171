#include "../unit.h"

#include <math.h>
#include <string.h>

#include "studies/size_sweep.h"

#define SIZE_ROWS 120

static double size_probs[SIZE_ROWS * 2];
static int32_t size_labels[SIZE_ROWS];

/* Row i is right when i is even, with probability 0.6 or 0.9. */
static void size_rows(size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    size_probs[2 * i] = i % 4 < 2 ? 0.6 : 0.9;
    size_probs[2 * i + 1] = 1 - size_probs[2 * i];
    size_labels[i] = i % 2 == 0 ? 0 : 1;
  }
}

static pcal_status size_run(const char *spec, size_t rows, pcal_study_config *config,
                            const pcal_env *env, pc_findings *findings, pcal_error *err) {
  static const char *const specs[] = {"brier", "log", "ece"};
  const pc_study_probs data = {.env = env,
                               .layout = {.kind = PCAL_PROBABILITY, .columns = 2, .classes = 2},
                               .rows = rows,
                               .classes = 2,
                               .probs = size_probs,
                               .labels = size_labels};
  pcal_model models[2] = {PCAL_MODEL_INIT, PCAL_MODEL_INIT};
  pc_findings_init(findings, env, "test-size");
  PC_TRY(pc_study_probs_source(&data, &models[0].source, err));
  models[0].name = "first";
  models[1] = models[0];
  models[1].name = "second";
  config->models = models;
  config->model_count = config->model_count == 0 ? 1 : config->model_count;
  config->specs = specs;
  config->spec_count = UNIT_COUNT(specs);
  const pcal_status status = pc_study_run(spec, config, findings, err);
  pc_source_free(models[0].source);
  return status;
}

static double size_number(const pc_table *table, size_t row, const char *column) {
  return pc_table_at(table, row, pc_table_find_column(table, column))->number;
}

/* One row at a time has a Brier score of 0.02, 0.72, 0.32 or 1.62, of mean 0.67, in squared
 * space too: a score is not squared again; all rows have their mean, without error. */
TEST(test_means) {
  static const uint64_t rows[] = {1, 40};
  static const char *const specs[] = {"test-size", "test-size:space=squared"};
  static const double singles[] = {2 * 0.16, 2 * 0.36, 2 * 0.01, 2 * 0.81};
  const pcal_env env = pc_env_resolve(NULL);
  size_rows(SIZE_ROWS);
  for (size_t squared = 0; squared < 2; squared++) {
    static pc_findings findings;
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    double mean = 0, square = 0;
    for (size_t i = 0; i < 4; i++) {
      mean += singles[i] / 4;
      square += singles[i] * singles[i] / 4;
    }
    const double full = 0.67;
    config.row_counts = rows;
    config.row_count_count = 2;
    config.repeats = 4000;
    assert_int_equal(size_run(specs[squared], SIZE_ROWS, &config, &env, &findings, NULL),
                     PCAL_OK);
    const pc_table *table = &findings.tables[0];
    assert_int_equal(findings.table_count, 1);
    assert_int_equal(table->row_count, 9);
    const double error = sqrt((square - mean * mean) / 4000);
    assert_near(size_number(table, 0, "standard_error"), error, 0.05);
    assert_true(fabs(size_number(table, 0, "mean") - mean) < 4 * error);
    assert_true(size_number(table, 2, "rows") == SIZE_ROWS);
    assert_true(size_number(table, 2, "subsets") == 2);
    assert_near(size_number(table, 2, "mean"), full, 1e-13);
    assert_true(size_number(table, 2, "standard_error") == 0);
    assert_true(size_number(table, 2, "relative") == 1);
    assert_near(size_number(table, 0, "relative"), size_number(table, 0, "mean") / full, 1e-13);
    pc_findings_free(&findings);
  }
}

/* Two models that are the same one: the same subsets, and no spread over models. */
TEST(test_several_models) {
  static const uint64_t rows[] = {20};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  size_rows(SIZE_ROWS);
  config.row_counts = rows;
  config.row_count_count = 1;
  config.repeats = 50;
  config.model_count = 2;
  assert_int_equal(size_run("test-size", SIZE_ROWS, &config, &env, &findings, NULL), PCAL_OK);
  const pc_table *each = &findings.tables[0], *all = &findings.tables[1];
  assert_int_equal(findings.table_count, 2);
  assert_int_equal(each->row_count, 12);
  assert_int_equal(all->row_count, 6);
  assert_string_equal(pc_table_at(each, 6, 0)->word, "second");
  for (size_t r = 0; r < 6; r++) {
    assert_true(size_number(each, r, "mean") == size_number(each, r + 6, "mean"));
    assert_near(size_number(all, r, "mean"), size_number(each, r, "mean"), 1e-14);
    assert_near(size_number(all, r, "relative"), size_number(each, r, "relative"), 1e-14);
    assert_true(size_number(all, r, "relative_error") < 1e-12);
    assert_near(size_number(all, r, "standard_error") * sqrt(2),
                size_number(each, r, "standard_error"), 1e-12);
  }
  pc_findings_free(&findings);
}

/* A row with probability 0 for its label: log is left out at sizes whose subsets contain it. */
TEST(test_left_out) {
  static const uint64_t rows[] = {60};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  size_rows(SIZE_ROWS);
  size_probs[2] = 1;
  size_probs[3] = 0;
  config.row_counts = rows;
  config.row_count_count = 1;
  config.repeats = 30;
  assert_int_equal(size_run("test-size", SIZE_ROWS, &config, &env, &findings, NULL), PCAL_OK);
  const pc_table *table = &findings.tables[0];
  assert_true(isnan(size_number(table, 2, "mean")) && isnan(size_number(table, 3, "mean")));
  assert_true(isfinite(size_number(table, 0, "mean")));
  assert_non_null(strstr(findings.summary, "Left out: log at 60 rows, undefined in "));
  assert_non_null(
      strstr(findings.summary, "Left out: log at 120 rows, undefined in 2 of 2 subsets: "));
  pc_findings_free(&findings);
}

static pc_sizes size_make(size_t all_rows, uint64_t repeats, pcal_error *err) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  const pc_options options = {.name = "test-size"};
  const pc_study_job job = {&config, &options, NULL, NULL};
  pc_sizes sizes;
  config.repeats = repeats;
  pc_error_clear(err);
  if (pc_sizes_make(&job, all_rows, PC_SIZE_SMALLEST, &sizes, err) != PCAL_OK)
    sizes.count = 0;
  return sizes;
}

TEST(test_sizes) {
  static const size_t rows[] = {100, 167, 278, 464, 774, 1292, 2154, 3594, 5995, 10000};
  static const size_t repeats[] = {20000, 15842, 12168, 8978, 6272, 4050, 2312, 1058, 288, 2};
  pcal_error err;
  pc_sizes sizes = size_make(10000, 0, &err);
  assert_int_equal(sizes.count, 10);
  assert_memory_equal(sizes.rows, rows, sizeof rows);
  assert_memory_equal(sizes.repeats, repeats, sizeof repeats);
  sizes = size_make(10000, 30, &err);
  assert_int_equal(sizes.repeats[0], 30);
  assert_int_equal(sizes.repeats[8], 30);
  assert_int_equal(sizes.repeats[9], 2);
  sizes = size_make(103, 1, &err);
  assert_int_equal(sizes.count, 4);
  assert_int_equal(sizes.rows[3], 103);
  assert_int_equal(sizes.repeats[3], 1);
  assert_int_equal(size_make(100, 0, &err).count, 0);
  assert_sentence(err, PCAL_USAGE,
                  "study test-size draws subsets of 100 rows and more, but there are only 100 "
                  "rows; give more rows, or smaller sizes with rows");
}

static pcal_status size_all(const pcal_env *env, void *user, pcal_error *err) {
  static const uint64_t rows[] = {5};
  static pc_findings findings;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  (void)user;
  config.row_counts = rows;
  config.row_count_count = 1;
  config.repeats = 2;
  config.model_count = 2;
  const pcal_status status = size_run("test-size", 8, &config, env, &findings, err);
  pc_findings_free(&findings);
  return status;
}

TEST(test_out_of_memory) {
  size_rows(8);
  size_probs[2] = 1;
  size_probs[3] = 0;
  unit_fail_each_allocation(size_all, NULL);
}

/* Progress counts rows, not subsets: those of the largest size come first. */
typedef struct size_steps {
  uint64_t first, done, total;
  size_t calls;
} size_steps;

static void size_step(void *user, const char *what, uint64_t done, uint64_t total) {
  size_steps *steps = user;
  if (strcmp(what, "drawing subsets") != 0)
    return;
  steps->first = steps->calls++ == 0 ? done : steps->first;
  assert_true(done >= steps->done && done <= total);
  steps->done = done;
  steps->total = total;
}

TEST(test_progress) {
  static const uint64_t rows[] = {10, 40};
  static pc_findings findings;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  size_steps steps = {0};
  pcal_env env = pc_env_resolve(NULL);
  env.threads = 1;
  env.progress = size_step;
  env.user = &steps;
  size_rows(SIZE_ROWS);
  config.row_counts = rows;
  config.row_count_count = 2;
  config.repeats = 7;
  assert_int_equal(size_run("test-size", SIZE_ROWS, &config, &env, &findings, NULL), PCAL_OK);
  assert_int_equal(steps.first, SIZE_ROWS); /* all rows, twice */
  assert_int_equal(steps.calls, 2 + 14);
  assert_int_equal(steps.done, 2 * SIZE_ROWS + 7 * 40 + 7 * 10);
  assert_int_equal(steps.total, steps.done);
  pc_findings_free(&findings);
}

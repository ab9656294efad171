#include "../unit.h"

#include <math.h>
#include <string.h>

#include "measure/measure.h"
#include "studies/subset_metrics.h"

#define SUBSET_ROWS 260
#define SUBSET_CLASSES 4

/* ---- drawing ---- */

static void subset_count(size_t rows, size_t count, size_t draws, size_t *singles,
                         size_t *pair) {
  uint64_t marks[4] = {0};
  uint32_t drawn[200];
  for (size_t d = 0; d < draws; d++) {
    const pc_rng rng = {7, d};
    int first = 0, last = 0;
    pc_subset_draw(&rng, rows, count, marks, drawn);
    for (size_t i = 0; i < count; i++) {
      assert_true(drawn[i] < rows && (i == 0 || drawn[i] > drawn[i - 1]));
      singles[drawn[i]]++;
      first |= drawn[i] == 0;
      last |= drawn[i] == rows - 1;
    }
    *pair += first && last;
    for (size_t w = 0; w < 4; w++)
      assert_int_equal(marks[w], 0);
  }
}

/* Each row comes with probability n / N, two rows with n (n - 1) / (N (N - 1)), below one half
 * and above it. */
TEST(test_all_subsets_alike) {
  static const size_t counts[] = {3, 9};
  for (size_t c = 0; c < 2; c++) {
    const double n = (double)counts[c], draws = 20000;
    size_t singles[12] = {0}, pair = 0;
    subset_count(12, counts[c], (size_t)draws, singles, &pair);
    const double share = n / 12, both = n * (n - 1) / (12 * 11);
    for (size_t i = 0; i < 12; i++)
      assert_true(fabs((double)singles[i] / draws - share) <
                  4.5 * sqrt(share * (1 - share) / draws));
    assert_true(fabs((double)pair / draws - both) < 4.5 * sqrt(both * (1 - both) / draws));
  }
}

TEST(test_whole_words) {
  static const size_t rows[] = {1, 63, 64, 65, 128, 200};
  for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
    size_t singles[200] = {0}, pair = 0;
    subset_count(rows[r], rows[r], 1, singles, &pair);
    for (size_t i = 0; i < rows[r]; i++)
      assert_int_equal(singles[i], 1);
    if (rows[r] > 1)
      subset_count(rows[r], rows[r] - 1, 1, singles, &pair);
  }
}

/* ---- metrics ---- */

/* Rows with ties, a few certain predictions, and probabilities on the edges of bins. */
static void subset_make(size_t classes, double *probs, int32_t *labels) {
  const pc_rng rng = {11, classes};
  for (size_t i = 0; i < SUBSET_ROWS; i++) {
    double sum = 0;
    double *row = probs + i * classes;
    for (size_t k = 0; k < classes; k++) {
      row[k] = exp(2.0 * pc_rng_normal(&rng, i * classes + k));
      row[k] = i % 3 == 0 ? ceil(4 * row[k]) : row[k];
      sum += row[k];
    }
    const double u = pc_rng_uniform(&rng, (1u << 20) + i);
    labels[i] = (int32_t)classes - 1;
    for (size_t k = classes; k-- > 0;)
      row[k] /= sum;
    double upto = 0;
    for (size_t k = 0; k < classes; k++) {
      upto += row[k];
      if (u < upto) {
        labels[i] = (int32_t)k;
        break;
      }
    }
  }
}

static pc_study_probs subset_data(const pcal_env *env, pcal_kind kind, size_t columns,
                                  double *probs, int32_t *labels) {
  pc_study_probs data = {.env = env, .rows = SUBSET_ROWS, .probs = probs, .labels = labels};
  assert_int_equal(pc_layout_make(kind, columns, &data.layout, NULL), PCAL_OK);
  data.classes = data.layout.classes;
  subset_make(data.classes == 1 ? 2 : data.classes, probs, labels);
  for (size_t i = 0; columns == 1 && data.classes == 2 && i < SUBSET_ROWS; i++)
    probs[2 * i] = 1 - probs[2 * i + 1];
  for (size_t i = 0; data.classes == 1 && i < SUBSET_ROWS; i++) {
    probs[i] = fmax(probs[2 * i], probs[2 * i + 1]);
    labels[i] = labels[i] == 0;
  }
  return data;
}

/* The engine on the rows of a subset. */
static pcal_results *subset_engine(const pc_study_probs *data, const uint32_t *rows,
                                   size_t count, const char *const *specs, size_t spec_count) {
  static double probs[SUBSET_ROWS * SUBSET_CLASSES];
  static int32_t labels[SUBSET_ROWS];
  pc_study_probs some = *data;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure;
  pcal_results *results;
  pcal_batch batch;
  some.rows = count;
  some.probs = probs;
  some.labels = labels;
  for (size_t i = 0; i < count; i++) {
    memcpy(probs + i * data->classes, data->probs + rows[i] * data->classes,
           data->classes * sizeof *probs);
    labels[i] = data->labels[rows[i]];
  }
  pc_study_probs_batch(&some, &batch);
  config.kind = batch.kind;
  config.columns = batch.columns;
  config.specs = specs;
  config.spec_count = spec_count;
  assert_int_equal(pc_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pc_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pc_measure_finish(measure, &results, NULL), PCAL_OK);
  pc_measure_free(measure);
  return results;
}

static void subset_compare(const pc_study_probs *data, const char *const *specs, size_t count) {
  static const size_t sizes[] = {1, 7, 40, 133, SUBSET_ROWS - 1, SUBSET_ROWS};
  const pcal_env env = pc_env_resolve(NULL);
  uint64_t marks[SUBSET_ROWS / 64 + 1] = {0};
  uint32_t rows[SUBSET_ROWS];
  double values[64];
  char why[64][PC_SUBSET_REASON_MAX];
  pc_subset_metrics *metrics;
  pc_subset_scratch *room;
  assert_int_equal(pc_subset_metrics_new(&env, data, specs, count, &metrics, NULL), PCAL_OK);
  assert_int_equal(pc_subset_scratch_new(metrics, &room, NULL), PCAL_OK);
  for (size_t s = 0; s < 4 * UNIT_COUNT(sizes); s++) {
    const size_t size = sizes[s % UNIT_COUNT(sizes)];
    const pc_rng rng = {3, s};
    pc_subset_draw(&rng, SUBSET_ROWS, size, marks, rows);
    assert_int_equal(pc_subset_metrics_measure(metrics, room, rows, size, values, why, NULL),
                     PCAL_OK);
    pcal_results *results = subset_engine(data, rows, size, specs, count);
    assert_int_equal(results->count, pc_subset_metrics_count(metrics));
    for (size_t m = 0; m < results->count; m++) {
      const pc_metric_result *want = &results->records[m].outcome;
      const int known = !want->undefined && isfinite(want->value);
      char name[PC_SPEC_MAX];
      pc_subset_metrics_name(metrics, m, name, sizeof name);
      assert_string_equal(name, results->records[m].label);
      if (known ? !(fabs(values[m] - want->value) <= 1e-12) : !isnan(values[m]))
        fail_msg("%s of %zu rows: %.17g, not %.17g", name, size, values[m], want->value);
      assert_string_equal(why[m], known ? "" : want->why);
    }
    pc_results_free(results);
  }
  pc_subset_metrics_free(metrics);
}

/* Sums, grids with and without moments, curves of one and many parts, pairs. */
TEST(test_as_the_engine) {
  static const char *const specs[] = {"paper",
                                      "brier",
                                      "log",
                                      "accuracy",
                                      "ece:binning=mass",
                                      "ece:binning=sweep",
                                      "ece:convention=guo2017",
                                      "ece:convention=kull,bins=6",
                                      "ece:convention=nixon",
                                      "mce",
                                      "ace",
                                      "tace",
                                      "sce",
                                      "gce:variant=25",
                                      "gce:variant=4",
                                      "cwce:binning=mass,debias=yes",
                                      "ece-expected",
                                      "decomposition",
                                      "ks:by=label",
                                      "ks:rank=2",
                                      "smece",
                                      "spiegelhalter",
                                      "skce"};
  static double probs[SUBSET_ROWS * SUBSET_CLASSES];
  static int32_t labels[SUBSET_ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  const pc_study_probs data =
      subset_data(&env, PCAL_PROBABILITY, SUBSET_CLASSES, probs, labels);
  subset_compare(&data, specs, UNIT_COUNT(specs));
}

TEST(test_one_column) {
  static const char *const specs[] = {"paper", "ece:view=top", "log", "cwce:p=1", "ks:class=1"};
  static double probs[SUBSET_ROWS * 2];
  static int32_t labels[SUBSET_ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  const pc_study_probs data = subset_data(&env, PCAL_PROBABILITY, 1, probs, labels);
  subset_compare(&data, specs, UNIT_COUNT(specs));
}

TEST(test_confidences) {
  static const char *const specs[] = {"paper"};
  static double probs[SUBSET_ROWS * 2];
  static int32_t labels[SUBSET_ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  const pc_study_probs data = subset_data(&env, PCAL_CONFIDENCE, 1, probs, labels);
  subset_compare(&data, specs, UNIT_COUNT(specs));
}

/* An exact 0 for the true class: log is infinite in subsets that have the row. */
TEST(test_infinite) {
  static const char *const specs[] = {"log", "brier"};
  double probs[] = {0.5, 0.5, 1, 0, 0.25, 0.75}, values[2];
  int32_t labels[] = {0, 1, 1};
  static const uint32_t all[] = {0, 1, 2}, some[] = {0, 2};
  const pcal_env env = pc_env_resolve(NULL);
  pc_study_probs data = {.env = &env, .rows = 3, .probs = probs, .labels = labels};
  pc_subset_metrics *metrics;
  pc_subset_scratch *room;
  char why[2][PC_SUBSET_REASON_MAX];
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, 2, &data.layout, NULL), PCAL_OK);
  data.classes = 2;
  assert_int_equal(pc_subset_metrics_new(&env, &data, specs, 2, &metrics, NULL), PCAL_OK);
  assert_int_equal(pc_subset_scratch_new(metrics, &room, NULL), PCAL_OK);
  assert_int_equal(pc_subset_metrics_measure(metrics, room, all, 3, values, why, NULL),
                   PCAL_OK);
  assert_true(isnan(values[0]) && why[0][0] != '\0');
  assert_near(values[1], (0.5 + 2 + 0.125) / 3, 1e-15);
  assert_int_equal(pc_subset_metrics_measure(metrics, room, some, 2, values, why, NULL),
                   PCAL_OK);
  assert_near(values[0], -(log(0.5) + log(0.75)) / 2, 1e-15);
  assert_string_equal(why[0], "");
  pc_subset_metrics_free(metrics);
}

static pcal_status subset_all(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const specs[] = {"brier", "ece", "ks", "cwce", "skce"};
  double probs[] = {0.5, 0.5, 0.9, 0.1, 0.25, 0.75}, values[5];
  int32_t labels[] = {0, 1, 1};
  static const uint32_t rows[] = {0, 2};
  pc_study_probs data = {.env = env, .rows = 3, .classes = 2, .probs = probs, .labels = labels};
  pc_subset_metrics *metrics = NULL;
  pc_subset_scratch *room = NULL;
  (void)user;
  PC_TRY(pc_layout_make(PCAL_PROBABILITY, 2, &data.layout, err));
  PC_TRY(pc_subset_metrics_new(env, &data, specs, 5, &metrics, err));
  pcal_status status = pc_subset_scratch_new(metrics, &room, err);
  if (status == PCAL_OK)
    status = pc_subset_metrics_measure(metrics, room, rows, 2, values, NULL, err);
  pc_subset_metrics_free(metrics);
  return status;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(subset_all, NULL);
}

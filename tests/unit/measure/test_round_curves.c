/* Intervals and nulls of metrics of sorted scores by rounds, on cells: the bytes of one process. */
#include "rounds_help.h"

#include <math.h>

#include "base/checksum.h"
#include "base/envelope.h"
#include "emulated.h"
#include "measure/replicas/score_cells.h"

static const char *const curve_specs[] = {
    "ks",
    "smece",
    "ece:binning=mass",
    "tce:p=2,binning=mass",
    "tce:p=2,binning=mass,debias=yes",
    "tce:binning=mass,bins=30",
    "ece:binning=mass,bins=17",
    "rmsce",
    "gce:variant=22",
    "mmce",
    "tce-kde",
};
#define CURVE_SPECS UNIT_COUNT(curve_specs)

/* The same for models of several classes; they are evaluated in the bins of the data. */
static const char *const class_specs[] = {
    "ace",
    "tace",
    "cwce:p=2,binning=mass",
    "gce:variant=16", /* slices by predicted class */
    "gce:variant=28", /* scores of all classes together */
    "gce:variant=27",
    "ece:binning=mass,bins=17",
    "rmsce:per-bin=200",
    "gce:variant=23",
    "mmce:estimator=u",
    "tce-kde:p=1",
};
#define CLASS_SPECS UNIT_COUNT(class_specs)

static pcal_measure_config curves_config(const rounds_data *data, const char *const *specs,
                                         size_t count) {
  pcal_measure_config config = rounds_config(data, specs, count);
  config.interval = 0.9;
  config.replicas = fewer_if_emulated(40, 20);
  return config;
}

static size_t curves_count(const char *text, const char *word) {
  size_t found = 0;
  for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
    found++;
  return found;
}

/* The default metrics, for any number of workers; weights stand for copies of a row. */
TEST(intervals_of_the_default_metrics) {
  for (int weighted = emulated() ? 1 : 0; weighted < 2; weighted++) {
    rounds_data data = rounds_data_draw(17000, ROUNDS_CLASSES, 0, weighted, 0);
    const pcal_measure_config config = curves_config(&data, NULL, 0);
    assert_in_range(rounds_compare(&data, &config, weighted ? 1 : 3).rounds, 2, 7);
    rounds_data_free(&data);
  }
}

/* Methods other than test inversion, and nulls. */
TEST(other_methods_and_nulls) {
  const pcal_interval_method methods[] = {PCAL_INTERVAL_BCA, PCAL_INTERVAL_PERCENTILE,
                                          PCAL_INTERVAL_BASIC};
  rounds_data data = rounds_data_draw(17000, 1, 0, 0, 0);
  pcal_measure_config config = curves_config(&data, curve_specs, CURVE_SPECS);
  for (size_t m = 0; m < fewer_if_emulated(UNIT_COUNT(methods), 1); m++) {
    config.interval_method = methods[m];
    rounds_compare(&data, &config, 2);
  }
  config.interval_method = PCAL_INTERVAL_AUTO;
  config.null = 1;
  rounds_compare(&data, &config, 3);
  config.interval = 0.0;
  rounds_compare(&data, &config, 2);
  rounds_data_free(&data);
}

/* Errors over classes and in any number of bins, for any division of the rows; some rows stand for
 * several. */
TEST(intervals_in_the_bins_of_the_data) {
  for (int weighted = 0; weighted < 2; weighted++) {
    rounds_data data = rounds_data_draw(17000, ROUNDS_CLASSES, 0, weighted, 0);
    pcal_measure_config config = curves_config(&data, class_specs, CLASS_SPECS);
    config.null = 1;
    rounds_cost cost;
    sink_bytes found = rounds_run(&data, &config, 3, &cost);
    sink_bytes expected = rounds_in_one_process(&data, &config);
    assert_string_equal(found.bytes, expected.bytes);
    assert_int_equal(curves_count(found.bytes, "\"interval\": {"), CLASS_SPECS);
    assert_int_equal(curves_count(found.bytes, "\"null\": {"), CLASS_SPECS);
    free(expected.bytes);
    free(found.bytes);
    rounds_data_free(&data);
  }
}

/* Few distinct scores: bins share edges, and some are empty. */
TEST(ties_in_the_bins_of_the_data) {
  rounds_data data = rounds_data_draw(17000, ROUNDS_CLASSES, 1, 0, 0);
  for (size_t i = 0; i < data.rows * data.columns; i++)
    data.scores[i] += i % data.columns == 0 ? 1e-13 * (double)i : 0.0; /* no equal rows */
  pcal_measure_config config = curves_config(&data, class_specs, CLASS_SPECS);
  rounds_compare(&data, &config, 2);
  rounds_data_free(&data);
}

/* Groups have bins of their own. */
TEST(groups_in_the_bins_of_the_data) {
  const char *const specs[] = {"ace", "rmsce"};
  rounds_data data = rounds_data_draw(36000, ROUNDS_CLASSES, 0, 0, 2);
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = i % 2;
  const pcal_measure_config config = curves_config(&data, specs, 2);
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* One metric of all rows in one process, with its null. */
static pcal_result curves_null(const rounds_data *data, const char *spec, double level,
                               char why[128]) {
  pcal_measure_config config = curves_config(data, &spec, 1);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_result found = {.size = sizeof found};
  config.interval = level;
  config.null = 1;
  const pcal_batch batch = rounds_batch(data, 0, data->rows);
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  assert_int_equal(pcal_results_get(results, 0, &found), PCAL_OK);
  snprintf(why, 128, "%s", found.unsure != NULL ? found.unsure : "");
  pcal_results_free(results);
  pcal_measure_free(measure);
  return found;
}

/* The interval of a metric does not depend on those beside it. */
TEST(metrics_do_not_depend_on_each_other) {
  char why[128];
  rounds_data data = rounds_data_draw(17000, ROUNDS_CLASSES, 0, 0, 0);
  pcal_measure_config config = curves_config(&data, class_specs, CLASS_SPECS);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.null = 1;
  const pcal_batch batch = rounds_batch(&data, 0, data.rows);
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  for (size_t m = 0; m < CLASS_SPECS; m++) {
    const pcal_result alone = curves_null(&data, class_specs[m], 0.9, why);
    pcal_result beside = {.size = sizeof beside};
    assert_int_equal(pcal_results_get(results, m, &beside), PCAL_OK);
    assert_same(alone.low, beside.low);
    assert_same(alone.high, beside.high);
    assert_same(alone.null_mean, beside.null_mean);
  }
  pcal_results_free(results);
  pcal_measure_free(measure);
  rounds_data_free(&data);
}

/* Most scores are nearly 1, in few buckets of the first round; some rows stand for several. */
TEST(certain_scores) {
  rounds_data data = rounds_data_draw(16000, ROUNDS_CLASSES, 0, 1, 0);
  for (size_t i = 0; i < data.rows * data.columns; i++)
    data.scores[i] *= 6.0;
  pcal_measure_config config = curves_config(&data, curve_specs, CURVE_SPECS);
  config.null = 1;
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* Groups have cells of their own; one of fewer rows says that it has no interval. */
TEST(groups_with_and_without_cells) {
  const char *const specs[] = {"ks", "ece"};
  rounds_data data = rounds_data_draw(40000, 1, 0, 0, 3);
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = i % 8 == 0 ? 2 : i % 2;
  const pcal_measure_config config = curves_config(&data, specs, 2);
  rounds_cost cost;
  sink_bytes found = rounds_run(&data, &config, 3, &cost);
  assert_int_equal(curves_count(found.bytes, "needs 16384 rows in rounds"),
                   2); /* groups 0 and 2 */
  free(found.bytes);
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = i % 2;
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* Groups that have no replicas, between others, cost no further rounds. */
TEST(small_groups_between_large_ones) {
  const char *const spec = "ece";
  rounds_data data = rounds_data_draw(24000, 1, 0, 0, 20);
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = (uint32_t)(2 * (i % 10) + (i < 1000));
  const pcal_measure_config config = curves_config(&data, &spec, 1);
  rounds_cost cost;
  sink_bytes found = rounds_run(&data, &config, 2, &cost);
  assert_int_equal(cost.rounds, 2);
  assert_int_equal(curves_count(found.bytes, "\"inversion\""), 11);
  free(found.bytes);
  rounds_data_free(&data);
}

/* Metrics without replicas say so beside others that have them. */
TEST(metrics_without_replicas) {
  const char *const specs[] = {"mmce:width=0.01", "ks", "rmsce:per-bin=10",
                               "ece:bins=9999,binning=mass",
                               "tce:bins=17,binning=mass,debias=yes"};
  rounds_data data = rounds_data_draw(17000, 1, 0, 0, 0);
  pcal_measure_config config = curves_config(&data, specs, 5);
  config.replicas = 300;
  rounds_cost cost;
  sink_bytes found = rounds_run(&data, &config, 2, &cost);
  assert_int_equal(curves_count(found.bytes, "its replicas need all rows at once"), 2);
  assert_int_equal(curves_count(found.bytes, "needs 16384 rows and at most 256 bins in rounds"),
                   1);
  assert_int_equal(curves_count(found.bytes, "its replicas have too many bins for rounds"), 1);
  assert_int_equal(curves_count(found.bytes, "\"inversion\""), 1);
  free(found.bytes);
  rounds_data_free(&data);
}

/* Few rows of one outcome have intervals on all scores; their nulls are the same without one, and none is
 * below 0. */
TEST(nulls_do_not_depend_on_intervals) {
  char why[128];
  rounds_data data = rounds_data_draw(17000, 1, 0, 0, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.labels[i] = i >= 60;
  for (size_t m = 0; m < CURVE_SPECS; m++) {
    const pcal_result with = curves_null(&data, curve_specs[m], 0.9, why);
    const pcal_result without = curves_null(&data, curve_specs[m], 0.0, why);
    assert_true(with.has_interval && with.has_null && !without.has_interval);
    assert_same(with.null_mean, without.null_mean);
    assert_same(with.null_low, without.null_low);
    assert_true(with.null_low >= 0.0);
  }
  rounds_data_free(&data);
}

/* Ten billion rows as 17,000 rows with weights: a calibrated model, two rows for each score.  Labels move
 * by chance.  Scores are not on the lattice. */
static rounds_data curves_of_ten_billion(void) {
  const pc_rng rng = {9, 4};
  rounds_data data = rounds_data_draw(17000, 1, 0, 1, 0);
  const double copies = 1e10 / 8500;
  for (size_t i = 0; i < data.rows; i += 2) {
    const double p = ((double)i + 0.123) / 17001;
    double deviate = -6.0; /* of variance 1 */
    for (size_t k = 0; k < 12; k++)
      deviate += pc_rng_uniform(&rng, 12 * i + k);
    const double hits = floor(copies * p + deviate * sqrt(copies * p * (1 - p)));
    data.scores[i] = data.scores[i + 1] = p;
    data.labels[i] = 1;
    data.labels[i + 1] = 0;
    data.weights[i] = fmin(fmax(hits, 1), floor(copies) - 1);
    data.weights[i + 1] = floor(copies) - data.weights[i];
  }
  return data;
}

/* The expected ece of a calibrated model, 15 bins of equal width. */
static double curves_expected_ece(const rounds_data *data) {
  double variance[15] = {0}, total = 0.0, expected = 0.0;
  for (size_t i = 0; i < data->rows; i++) {
    const double p = data->scores[i];
    variance[(size_t)fmin(floor(p * 15), 14)] += data->weights[i] * p * (1 - p);
    total += data->weights[i];
  }
  for (size_t b = 0; b < 15; b++)
    expected += sqrt(variance[b] * 2 / 3.14159265358979) / total;
  return expected;
}

/* Intervals and nulls of ten billion rows; chance is 10^-5. */
TEST(ten_billion_rows) {
  skip_if_emulated();
  const char *const specs[] = {"ece", "ks", "ece:binning=mass",
                               "tce:p=2,binning=mass,debias=yes"};
  rounds_data data = curves_of_ten_billion();
  const double expected = curves_expected_ece(&data);
  char why[128];
  for (size_t m = 0; m < 4; m++) {
    const pcal_result found = curves_null(&data, specs[m], 0.9, why);
    assert_true(found.has_interval && found.has_null);
    assert_true(found.low <= found.value && found.value <= found.high);
    assert_true(found.high < 1e-4);
    if (m < 3) /* the debiased square is negative, so the last value is 0 */
      assert_true(found.null_p_value > 0.1 && found.null_p_value < 0.9);
    if (m == 0)
      assert_true(found.null_mean > 0.9 * expected && found.null_mean < 1.1 * expected);
  }
  pcal_measure_config config = curves_config(&data, specs, 4);
  config.interval = 0.9;
  config.null = 1;
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* A score of all rows that is not on the lattice: the interval contains the value. */
TEST(ten_billion_rows_of_one_score) {
  char why[128];
  rounds_data data = rounds_data_draw(17000, 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i++) {
    data.scores[i] = 0.3 + 1e-12 * (double)(i / 2); /* below the lattice */
    data.labels[i] = (int32_t)(i % 2);
    data.weights[i] = i % 2 ? 300000 : 880000; /* 0.254 */
  }
  const pcal_result found = curves_null(&data, "ece", 0.9, why);
  assert_true(found.has_interval && found.null_p_value < 0.05);
  const double middle = 0.5 * (found.low + found.high);
  assert_true(fabs(middle - found.value) <
              0.2 * (found.high - found.low)); /* not moved by rounding */
  rounds_data_free(&data);
}

/* Sums on a lattice are rounded by more than chance moves them with so many rows. */
TEST(too_many_rows_for_replicas) {
  skip_if_emulated();
  char why[128];
  rounds_data data = rounds_data_draw(17000, 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] = 1 << 20; /* 2^34.05 rows */
  for (size_t m = 0; m < CURVE_SPECS; m++) {
    const pcal_result found = curves_null(&data, curve_specs[m], 0.9, why);
    if (strcmp(curve_specs[m], "tce-kde") == 0) { /* on all scores, which are not rounded */
      assert_true(found.has_interval && found.has_null);
      assert_true(found.low <= found.value && found.value <= found.high);
      assert_true(found.high - found.low < 1e-3 && found.null_mean < 1e-3);
      continue;
    }
    assert_true(!found.has_interval && !found.has_null);
    assert_string_equal(why, "replicas of 2^34 rows or more are not exact enough");
  }
  rounds_data_free(&data);
}

/* ---- against all scores ---- */

/* The interval of each metric in one process. */
static void curves_intervals(const rounds_data *data, size_t rows, const char *const *specs,
                             size_t count, pc_interval *out) {
  pcal_measure_config config = curves_config(data, specs, count);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.replicas = fewer_if_emulated(400, 100);
  const pcal_batch batch = rounds_batch(data, 0, rows);
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  for (size_t m = 0; m < count; m++) {
    pcal_result found = {.size = sizeof found};
    assert_int_equal(pcal_results_get(results, m, &found), PCAL_OK);
    assert_true(found.has_interval);
    out[m] = (pc_interval){found.low, found.high};
  }
  pcal_results_free(results);
  pcal_measure_free(measure);
}

static void curves_compare_cells(const rounds_data *data, const char *const *specs,
                                 size_t count) {
  pc_interval without[CURVE_SPECS + CLASS_SPECS], with[CURVE_SPECS + CLASS_SPECS];
  curves_intervals(data, 16383, specs, count, without);
  curves_intervals(data, 16384, specs, count, with);
  for (size_t m = 0; m < count; m++) {
    const double width = without[m].high - without[m].low;
    if (!(fabs(with[m].low - without[m].low) < 0.1 * width &&
          fabs(with[m].high - without[m].high) < 0.1 * width))
      fail_msg("%s: %g to %g with cells, %g to %g without", specs[m], with[m].low, with[m].high,
               without[m].low, without[m].high);
  }
}

/* One row more brings the cells; it changes intervals by little. */
TEST(cells_change_intervals_by_little) {
  for (int confident = emulated() ? 1 : 0; confident < 2; confident++) {
    rounds_data data = rounds_data_draw(16384, ROUNDS_CLASSES, 0, 0, 0);
    for (size_t i = 0; confident && i < data.rows * data.columns; i++)
      data.scores[i] *= 1.5;
    curves_compare_cells(&data, curve_specs, CURVE_SPECS);
    curves_compare_cells(&data, class_specs, CLASS_SPECS);
    rounds_data_free(&data);
  }
}

/* ---- cells ---- */

/* Scores 1/n .. 1, of which the last tenth is 1. */
TEST(ends_of_cells) {
  enum { ROWS = 20000 };
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table;
  pc_score_cell_lists lists = {0};
  assert_int_equal(pc_curve_table_room(&env, ROWS, &table, NULL), PCAL_OK);
  for (size_t i = 0; i <= ROWS - ROWS / 10; i++) {
    table.score[i] = i == ROWS - ROWS / 10 ? 1.0 : (double)(i + 1) / ROWS;
    table.weight[i] = i == ROWS - ROWS / 10 ? ROWS / 10 : 1.0;
    table.hits[i] = 0.0;
  }
  table.count = ROWS - ROWS / 10 + 1;
  table.total = ROWS;
  assert_int_equal(pc_score_cells_add(&env, &lists, 7, &table, NULL), PCAL_OK);
  table.total = 16000; /* too few rows */
  assert_int_equal(pc_score_cells_add(&env, &lists, 8, &table, NULL), PCAL_OK);
  assert_int_equal(lists.count, 1);
  const pc_score_cells *cells = pc_score_cells_of(&lists, 7);
  assert_null(pc_score_cells_of(&lists, 8));
  assert_in_range(cells->count, 300, PC_CELLS_MAX);
  assert_true(cells->ends[cells->count - 1] == 1.0);
  for (size_t c = 1; c < cells->count; c++)
    assert_true(cells->ends[c] > cells->ends[c - 1]);
  /* the first of 10 bins ends after 2,000 rows, midway to the next; widths are at most 1/128 */
  int tenth = 0;
  for (size_t c = 0; c < cells->count; c++) {
    tenth |= cells->ends[c] == (2000.0 / ROWS + 2001.0 / ROWS) / 2.0;
    assert_true(cells->ends[c] - (c == 0 ? 0.0 : cells->ends[c - 1]) <= 1.0 / 128);
  }
  assert_true(tenth);
  pc_score_cells_free(&env, &lists);
  pc_curve_table_free(&env, &table);
}

/* Requests whose bytes are forged: refused, or other cells, which a worker answers. */
TEST(forged_cells) {
  const char *const specs[] = {"ks"};
  rounds_data data = rounds_data_draw(17000, 1, 0, 0, 0),
              few = rounds_data_draw(20, 1, 0, 0, 0);
  pcal_measure_config config = curves_config(&data, specs, 1);
  config.replicas = 20;
  pcal_rounds *rounds = NULL;
  sink_bytes request = {0};
  size_t refused = 0, tried = 0;
  assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, NULL), PCAL_OK);
  while (request.length < 1000) { /* that for replicas is the longest */
    free(request.bytes);
    request = rounds_request(rounds);
    if (request.length >= 1000)
      break;
    sink_bytes tally = rounds_answer(&data, &request, 2);
    assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL), PCAL_OK);
    free(tally.bytes);
    assert_false(pcal_rounds_done(rounds));
  }
  for (size_t at = 0; at + PC_CHECKSUM_BYTES < request.length; at += 1 + at / 100) {
    pcal_rounds_worker *worker = NULL;
    pcal_error err;
    request.bytes[at] ^= (char)(1 << (at % 8));
    rounds_seal(&request);
    const pcal_status status =
        pcal_rounds_worker_new(request.bytes, request.length, NULL, &worker, &err);
    assert_true(status == PCAL_OK || status == PCAL_DATA || status == PCAL_USAGE ||
                status == PCAL_MEMORY);
    if (status == PCAL_OK) {
      const pcal_batch batch = rounds_batch(&few, 0, few.rows);
      size_t written = 0;
      pcal_status answered = pcal_rounds_worker_update(worker, &batch, &err);
      if (answered == PCAL_OK)
        answered = pcal_rounds_worker_tally(worker, sink_count, &written, &err);
      assert_true(answered == PCAL_OK || answered == PCAL_DATA || answered == PCAL_USAGE);
    }
    pcal_rounds_worker_free(worker);
    request.bytes[at] ^= (char)(1 << (at % 8));
    tried++;
    refused += status != PCAL_OK;
  }
  assert_true(tried > 200 && refused > tried / 8 && refused < tried);
  free(request.bytes);
  pcal_rounds_free(rounds);
  rounds_data_free(&data);
  rounds_data_free(&few);
}

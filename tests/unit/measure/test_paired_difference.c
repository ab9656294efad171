#include "measure_help.h"

#include <math.h>

#include "base/rng.h"
#include "emulated.h"
#include "measure/results.h"

#define DIFFERENCE_ROWS 300

static double difference_mine[DIFFERENCE_ROWS], difference_other[DIFFERENCE_ROWS];
static int32_t difference_labels[DIFFERENCE_ROWS];

static void difference_fill(void) {
  const pc_rng rng = {9, 9};
  for (size_t i = 0; i < DIFFERENCE_ROWS; i++) {
    difference_mine[i] = pc_rng_uniform(&rng, 2 * i);
    difference_labels[i] = pc_rng_uniform(&rng, 2 * i + 1) < difference_mine[i];
    difference_other[i] = difference_mine[i] * difference_mine[i];
  }
}

static pcal_results *difference_measure_specs(const double *scores, size_t rows,
                                              size_t replicas, int paired,
                                              const char *const *specs, size_t count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = rows,
                           .columns = 1,
                           .scores = scores,
                           .labels = difference_labels};
  const pcal_batch batch = given_batch(&data);
  config.columns = 1;
  config.specs = specs;
  config.spec_count = count;
  config.interval = 0.95;
  config.replicas = replicas;
  config.paired = paired;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

static pcal_results *difference_measure(const double *scores, size_t rows, size_t replicas,
                                        int paired) {
  static const char *const specs[] = {"brier", "ece", "skce"};
  return difference_measure_specs(scores, rows, replicas, paired, specs, UNIT_COUNT(specs));
}

/* Exchanging rows changes the signs of the differences d of row values: the spread of D* is
 * sqrt(sum d^2) / n. */
TEST(test_difference_of_sums) {
  difference_fill();
  double mean = 0, square = 0;
  for (size_t i = 0; i < DIFFERENCE_ROWS; i++) {
    const double a = difference_mine[i] - difference_labels[i],
                 b = difference_other[i] - difference_labels[i];
    const double d = 2 * a * a - 2 * b * b;
    mean += d / DIFFERENCE_ROWS;
    square += d * d;
  }
  const double spread = sqrt(square) / DIFFERENCE_ROWS;
  pcal_results *mine =
      difference_measure(difference_mine, DIFFERENCE_ROWS, fewer_if_emulated(4000, 1000), 1);
  pcal_results *other =
      difference_measure(difference_other, DIFFERENCE_ROWS, fewer_if_emulated(4000, 1000), 1);
  assert_int_equal(pcal_results_add_difference(mine, other, NULL), PCAL_OK);
  const pcal_result brier = given_result(mine, "brier");
  assert_true(brier.has_difference && brier.has_difference_interval);
  assert_int_equal(brier.difference_method, PCAL_DIFFERENCE_EXCHANGE);
  assert_int_equal(brier.difference_rows, DIFFERENCE_ROWS);
  assert_near(brier.difference, mean, 1e-12);
  assert_near(brier.difference_low + brier.difference_high, 2 * mean, 1e-12);
  assert_true(fabs((brier.difference_high - brier.difference_low) / (2 * 1.96 * spread) - 1) <
              0.06);
  assert_true(brier.difference_p_value < 0.01);
  const pcal_result skce = given_result(mine, "skce");
  assert_true(skce.has_difference && skce.has_difference_interval);
  assert_true(skce.difference_low < skce.difference && skce.difference < skce.difference_high);
  pcal_results_free(mine);
  pcal_results_free(other);
}

/* Four rows differ: of the 16 exchanges the p-value is the share whose |D*| is as large. */
TEST(test_few_rows_differ) {
  difference_fill();
  double d[4], large = 0, sum = 0;
  for (size_t i = 0; i < DIFFERENCE_ROWS; i++)
    difference_other[i] = difference_mine[i];
  for (size_t i = 0; i < 4; i++) {
    difference_other[i] = 0.25 + 0.125 * (double)i;
    const double a = difference_mine[i] - difference_labels[i],
                 b = difference_other[i] - difference_labels[i];
    d[i] = a * a - b * b;
    sum += d[i];
  }
  for (unsigned pattern = 0; pattern < 16; pattern++) {
    double here = 0;
    for (unsigned i = 0; i < 4; i++)
      here += (pattern >> i & 1) != 0 ? -d[i] : d[i];
    large += fabs(here) >= fabs(sum) - 1e-12;
  }
  pcal_results *mine =
      difference_measure(difference_mine, DIFFERENCE_ROWS, fewer_if_emulated(4000, 1000), 1);
  pcal_results *other =
      difference_measure(difference_other, DIFFERENCE_ROWS, fewer_if_emulated(4000, 1000), 1);
  assert_int_equal(pcal_results_add_difference(mine, other, NULL), PCAL_OK);
  const pcal_result brier = given_result(mine, "brier");
  assert_int_equal(brier.difference_rows, 4);
  assert_true(fabs(brier.difference_p_value - large / 16) < 0.025);
  assert_true(given_result(mine, "ece").difference_p_value > 0.1);
  assert_true(given_result(mine, "skce").difference_p_value > 0.05);
  pcal_results_free(mine);
  pcal_results_free(other);
}

/* Exchanging an over-confident with an under-confident model cancels the errors of both: that
 * is seen for every metric that is 0 for a calibrated model, and for no score. */
TEST(test_errors_in_opposite_directions) {
  static const char *const specs[] = {
      "brier", "ece",   "tace:threshold=0.001", "ace", "ks", "tce-kde", "mmce", "skce",
      "kce",   "ce-kde"};
  const double strong = 2.5, weak = 0.4;
  difference_fill();
  for (size_t i = 0; i < DIFFERENCE_ROWS; i++) {
    const double odds = difference_mine[i] / (1 - difference_mine[i]);
    difference_mine[i] = 1 / (1 + pow(odds, -strong));
    difference_other[i] = 1 / (1 + pow(odds, -weak));
  }
  pcal_results *mine = difference_measure_specs(difference_mine, DIFFERENCE_ROWS, 40, 1, specs,
                                                UNIT_COUNT(specs));
  pcal_results *other = difference_measure_specs(difference_other, DIFFERENCE_ROWS, 40, 1,
                                                 specs, UNIT_COUNT(specs));
  assert_int_equal(pcal_results_add_difference(mine, other, NULL), PCAL_OK);
  assert_int_equal(given_result(mine, specs[0]).difference_method, PCAL_DIFFERENCE_EXCHANGE);
  for (size_t m = 1; m < UNIT_COUNT(specs); m++) {
    const pcal_result result = given_result(mine, specs[m]);
    if (result.difference_method != PCAL_DIFFERENCE_EXCHANGE_WIDE)
      fail_msg("%s: %s", specs[m], pcal_difference_method_name(result.difference_method));
  }
  pcal_results_free(mine);
  pcal_results_free(other);
}

TEST(test_equal_models) {
  static const char *const specs[] = {"brier", "ece", "skce"};
  difference_fill();
  pcal_results *mine = difference_measure(difference_mine, DIFFERENCE_ROWS, 100, 1);
  pcal_results *other = difference_measure(difference_mine, DIFFERENCE_ROWS, 100, 1);
  assert_int_equal(pcal_results_add_difference(mine, other, NULL), PCAL_OK);
  for (size_t m = 0; m < UNIT_COUNT(specs); m++) {
    const pcal_result found = given_result(mine, specs[m]);
    assert_int_equal(found.difference_rows, 0);
    assert_true(found.difference == 0.0 && found.difference_p_value == 1.0);
    assert_true(fabs(found.difference_low) < 1e-9 && fabs(found.difference_high) < 1e-9);
  }
  pcal_results_free(mine);
  pcal_results_free(other);
}

static void difference_refused(pcal_results *a, pcal_results *b, pcal_status status,
                               const char *sentence) {
  pcal_error err;
  assert_int_equal(pcal_results_add_difference(a, b, &err), status);
  assert_contains(err.message, sentence);
  pcal_results_free(a);
  pcal_results_free(b);
}

TEST(test_what_is_refused) {
  difference_fill();
  difference_refused(difference_measure(difference_mine, 50, 20, 1),
                     difference_measure(difference_mine, 40, 20, 1), PCAL_DATA,
                     "different rows (50 and 40)");
  difference_refused(difference_measure(difference_mine, 50, 20, 1),
                     difference_measure(difference_mine, 50, 24, 1), PCAL_USAGE,
                     "same metrics");
  difference_refused(difference_measure(difference_mine, 50, 20, 1),
                     difference_measure(difference_mine, 50, 20, 0), PCAL_USAGE, "`paired`");
}

/* ---- room for differences ---- */

#define DIFFERENCE_GUARD 512
#define DIFFERENCE_HEAD 64

typedef struct difference_block {
  size_t size;
  int overrun; /* bytes behind a block were written */
} difference_block;

/* Blocks begin with their size and end with guard bytes. */
static void difference_release(void *user, void *block) {
  difference_block *out = user;
  if (block == NULL)
    return;
  unsigned char *bytes = (unsigned char *)block - DIFFERENCE_HEAD;
  size_t size;
  memcpy(&size, bytes, sizeof size);
  out->size += size;
  for (size_t i = 0; i < DIFFERENCE_GUARD; i++)
    out->overrun |= bytes[DIFFERENCE_HEAD + size + i] != 0xA5;
  free(bytes);
}

static void *difference_resize(void *user, void *block, size_t size) {
  unsigned char *bytes = malloc(DIFFERENCE_HEAD + size + DIFFERENCE_GUARD);
  memcpy(bytes, &size, sizeof size);
  memset(bytes + DIFFERENCE_HEAD, 0xA5, size + DIFFERENCE_GUARD);
  if (block != NULL) {
    size_t old;
    memcpy(&old, (unsigned char *)block - DIFFERENCE_HEAD, sizeof old);
    memcpy(bytes + DIFFERENCE_HEAD, block, old < size ? old : size);
    difference_release(user, block);
  }
  return bytes + DIFFERENCE_HEAD;
}

/* Metrics over pairs have one difference for each block of rows, however few replicas there
 * are; pcal_measure_new takes 20 replicas at least, which the results here are made to lack. */
TEST(test_fewer_replicas_than_blocks) {
  difference_fill();
  pcal_results *mine = difference_measure(difference_mine, 50, 20, 1);
  pcal_results *other = difference_measure(difference_other, 50, 20, 1);
  const pcal_env env = mine->env;
  difference_block block = {0, 0};
  for (size_t i = 0; i < mine->metric_count * mine->replica_count; i++)
    mine->replicas[i] = (double)NAN;
  mine->replica_count = other->replica_count = 4;
  mine->env.threads = 1;
  mine->env.allocator = (pcal_allocator){difference_resize, difference_release, &block};
  const pcal_status status = pcal_results_add_difference(mine, other, NULL);
  mine->env = env;
  assert_int_equal(status, PCAL_OK);
  assert_true(block.size > 0);
  assert_false(block.overrun);
  assert_true(given_result(mine, "skce").has_difference_interval);
  pcal_results_free(mine);
  pcal_results_free(other);
}
